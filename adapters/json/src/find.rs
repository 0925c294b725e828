//! One member looked up: the text of a string, without a tree.

use heapless::Vec;

use crate::DEPTH_MAX;
use crate::cursor::{Cursor, Fault};
use crate::error::JsonError;
use crate::number::{Integer, Number};
use crate::string::Text;
use crate::walk::{Container, Visitor, Word, walk};

/// The characters of the top-level member `name`, unescaped into `buffer`; `None` if there is
/// no such member, it is no string, or it is longer than `buffer`. Of several, the last.
///
/// For the few members whose text says what a call is about, like a shell's command. O(n).
///
/// # Errors
///
/// Those of [`fingerprint`](crate::fingerprint).
///
/// ```
/// use unstuck_json::string_member;
///
/// let call = br#"{"command": "cat \u0022a b\u0022", "timeout": 30}"#;
/// let mut buffer = [0; 64];
/// assert_eq!(string_member(call, "command", &mut buffer)?, Some("cat \"a b\""));
/// assert_eq!(string_member(call, "timeout", &mut buffer)?, None);
/// assert_eq!(string_member(call, "command", &mut [0; 4])?, None);
/// # Ok::<(), unstuck_json::JsonError>(())
/// ```
pub fn string_member<'b>(
    json: &[u8],
    name: &str,
    buffer: &'b mut [u8],
) -> Result<Option<&'b str>, JsonError> {
    let mut finder = Finder { name, outer: Vec::new(), asked: false, found: None };
    walk::<DEPTH_MAX>(json, &mut finder)?;
    Ok(finder.found.and_then(|text| text.unescape(buffer)))
}

/// Looks for a member of the outermost object.
struct Finder<'a, 'n> {
    name: &'n str,
    /// What is around the container that is open.
    outer: Vec<Option<Container>, DEPTH_MAX>,
    /// Whether that value is the one asked for, if it is a string.
    asked: bool,
    found: Option<Text<'a>>,
}

impl<'a> Visitor<'a> for Finder<'a, '_> {
    fn word(&mut self, _: Word) {}

    fn integer(&mut self, _: Integer) {}

    fn number(&mut self, number: &Number<'a>) -> Result<(), Fault> {
        number.decimal().map(drop)
    }

    fn string(&mut self, text: Text<'a>) {
        if self.outer.len() == 1 && self.asked {
            self.found = Some(text);
        }
    }

    fn open(&mut self, outer: Option<Container>) -> Option<()> {
        self.outer.push(outer).ok()
    }

    fn name(&mut self, name: Text<'a>, _: Cursor<'a>) {
        if self.outer.len() == 1 {
            self.asked = name.spells(self.name);
            if self.asked {
                self.found = None;
            }
        }
    }

    fn add(&mut self, _: Container) {}

    fn close(&mut self, _: Container) -> Result<Option<Container>, Fault> {
        Ok(self.outer.pop().flatten())
    }
}
