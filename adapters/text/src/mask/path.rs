//! The made-up parts of paths under temporary folders.

use super::digits::ends_with;
use super::kind::{Mask, Part, Span};

/// Folders whose entries come and go.
const FOLDERS: [&[u8]; 4] = [b"/tmp/", b"\\Temp\\", b"/T/", b"/tmp\\"];

/// The fewest bytes of a name that somebody made up.
const NAME_MIN: usize = 6;

/// The name that a temporary folder at `place` holds, if a program made it up.
pub(super) fn temporary(text: &[u8], place: usize) -> Option<Span> {
    let rest = text.get(place..)?;
    let folder = FOLDERS.iter().find(|folder| rest.starts_with(folder))?;
    let before = text.get(..place)?;
    // A folder called tmp inside of a project keeps what somebody put there; so does one behind what
    // was masked, which ends with a bracket.
    let is_system = *folder == b"\\Temp\\"
        || *folder == b"/T/"
        || [&b"/var"[..], b"/private"].iter().any(|parent| ends_with(before, parent))
        || before
            .last()
            .is_none_or(|byte| !(byte.is_ascii_alphanumeric() || b"._-~>".contains(byte)));
    let start = place + folder.len();
    let end = name_end(text, start);
    let name = text.get(start..end)?;
    // pytest numbers its runs one folder further down.
    let start = if name.starts_with(b"pytest-of-") { end + 1 } else { start };
    let end = name_end(text, start);
    let name = text.get(start..end)?;
    (is_system && is_made_up(name)).then_some(Span { start, end, part: Part::of(Mask::TempPaths) })
}

fn name_end(text: &[u8], start: usize) -> usize {
    let name = text.get(start..).unwrap_or_default().iter();
    start + name.take_while(|byte| byte.is_ascii_alphanumeric() || b"._-+".contains(byte)).count()
}

/// Returns whether a program made up `name`. Such a name starts with `tmp`, or mixes digits or
/// capitals into letters and has no extension. People give their files extensions.
fn is_made_up(name: &[u8]) -> bool {
    let name = name.strip_suffix(b".").unwrap_or(name);
    if name.len() < NAME_MIN {
        return false;
    }
    if name.starts_with(b"tmp") {
        return name.len() > NAME_MIN;
    }
    let has = |kind: fn(&u8) -> bool| name.iter().any(kind);
    let mixed = has(u8::is_ascii_lowercase) && name.iter().skip(1).any(u8::is_ascii_uppercase);
    let is_bare = name.iter().all(|byte| *byte != b'.');
    is_bare && has(u8::is_ascii_alphabetic) && (has(u8::is_ascii_digit) || mixed)
}
