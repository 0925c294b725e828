//! Names of sessions, agents and tools, in bounded memory.

use core::fmt::Write as _;

use super::dialect::Meaning;
use crate::pairing::digest;

/// The longest name of a session, an agent or a tool, in bytes. A longer one is cut and ends with a digest of
/// the whole, so that two long names stay different.
const NAME_MAX: usize = 256;

/// The length of a digest in hexadecimal digits, and of the mark before it.
const DIGEST: usize = 17;

/// Cuts the names in the meaning of a span.
pub(super) fn cut(meaning: &mut Meaning) {
    let Meaning { session, agent, call, asked, .. } = meaning;
    let of_tools = call.iter_mut().map(|call| &mut call.tool);
    let of_tools = of_tools.chain(asked.iter_mut().map(|asked| &mut asked.name));
    for name in session.iter_mut().chain(agent).chain(of_tools) {
        cut_name(name);
    }
}

fn cut_name(name: &mut String) {
    if name.len() <= NAME_MAX {
        return;
    }
    let digest = digest(&*name);
    let end = (0..=NAME_MAX - DIGEST).rev().find(|end| name.is_char_boundary(*end));
    name.truncate(end.unwrap_or_default());
    // Writing to a string cannot fail.
    let _ = write!(name, "~{digest:016x}");
    name.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn only_long_names_are_cut_and_they_stay_different() {
        let of = |letter: &str, count: usize, end: &str| letter.repeat(count) + end;
        let short = [of("a", NAME_MAX, ""), of("é", NAME_MAX / 2, ""), String::new()];
        for name in short {
            let mut cut = name.clone();
            cut_name(&mut cut);
            assert_eq!(cut, name);
        }
        let long = [
            of("a", NAME_MAX, "1"),
            of("a", NAME_MAX, "2"),
            of("a", 1 << 20, ""),
            of("é", NAME_MAX, "1"),
            of("é", NAME_MAX, "2"),
            of("😀", NAME_MAX, ""),
        ];
        let cut: BTreeSet<String> = long
            .iter()
            .map(|name| {
                let mut cut = name.clone();
                cut_name(&mut cut);
                assert!(cut.len() <= NAME_MAX && cut.len() > NAME_MAX - 4, "{cut}");
                assert!(name.starts_with(&cut[..200]), "{cut}");
                cut
            })
            .collect();
        assert_eq!(cut.len(), long.len());
    }
}
