//! Names of files and refs. To git they are bytes; the operating system has its own type.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Converts `bytes` into a string of the operating system.
#[cfg(unix)]
pub(super) fn os(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).to_owned()
}

/// Converts `bytes`, which are UTF-8 on this system, into a string of the operating system.
#[cfg(not(unix))]
pub(super) fn os(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Converts `bytes` into a path.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    os(bytes).into()
}

/// Returns git's name of `path`, which is below the top of the work tree.
pub(super) fn bytes(path: &Path) -> Vec<u8> {
    let parts: Vec<&[u8]> = path.iter().map(std::ffi::OsStr::as_encoded_bytes).collect();
    parts.join(&b'/')
}

/// Returns whether a file may be written to `path`: below the top, and not into git's own folder. Git
/// makes no other trees, but another program may have made the ref.
pub(super) fn is_safe(path: &[u8]) -> bool {
    path.split(|&byte| byte == b'/')
        .all(|part| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git"))
        && (cfg!(unix) || !path.iter().any(|byte| matches!(byte, b'\\' | b':')))
}

/// Returns the folders around `path`, the uppermost first.
pub(super) fn parents(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate().filter(|&(_, &byte)| byte == b'/').map(|(end, _)| end);
    ends.filter_map(|end| path.get(..end))
}

/// Returns the last part of `path`.
pub(super) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// Quotes `path` as git reads it from a line. Each special byte becomes an octal number.
pub(super) fn quoted(path: &[u8]) -> String {
    let mut quoted = String::from("\"");
    for &byte in path {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'_' | b'-') {
            quoted.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(quoted, "\\{byte:03o}");
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leads_out_is_not_safe() {
        for path in ["a", "a/b", ".github/x", "a/...", "-rf", "a b", ".gitignore", "x.git/y"] {
            assert!(is_safe(path.as_bytes()), "{path}");
        }
        for path in ["", "/a", "a/", "a//b", "..", "a/../b", "./a", ".git", "a/.GIT/hooks/x"] {
            assert!(!is_safe(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn the_parents_of_a_path_come_from_the_top() {
        let parents: Vec<_> = parents(b"a/bc/d").collect();
        assert_eq!(parents, [&b"a"[..], b"a/bc"]);
        assert_eq!(super::parents(b"a").count(), 0);
        assert_eq!((file_name(b"a/bc/d"), file_name(b"a")), (&b"d"[..], &b"a"[..]));
    }

    #[test]
    fn what_a_line_cannot_hold_is_quoted() {
        assert_eq!(quoted(b"a/b-c.d"), "\"a/b-c.d\"");
        assert_eq!(quoted(b"a\n\"\\\xff "), "\"a\\012\\042\\134\\377\\040\"");
    }

    #[test]
    fn a_path_below_the_top_is_spelled_with_slashes() {
        assert_eq!(bytes(&Path::new("a").join("b c").join("d")), b"a/b c/d");
        assert_eq!(bytes(&path(b"a/b c/d")), b"a/b c/d");
    }
}
