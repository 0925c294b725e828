//! The end of a transcript, for agents whose transcript tells more than their events.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// The number of bytes that are read: enough for the calls of one answer.
const TAIL: u64 = 256 * 1024;

/// Reads the end of the file. Its first line may be cut off.
pub(super) fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let begin = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use super::{TAIL, tail};

    #[test]
    fn only_the_end_of_a_file_is_read() {
        let path = env::temp_dir().join(format!("unstuck-tail-{}", process::id()));
        for (length, expected) in [(0, 0), (10, 10), (TAIL + 7, TAIL)] {
            let length = usize::try_from(length).expect("a short file");
            fs::write(&path, "a".repeat(length)).expect("a file");
            assert_eq!(tail(&path).expect("the file").len() as u64, expected);
        }
        fs::remove_file(&path).expect("the file");
        assert!(tail(&path).is_err());
    }
}
