//! The line that a run leaves in the table: how the model's calls went, and how the run ended.

use std::fmt;
use std::fs;
use std::path::Path;

/// A run as the table shows it.
#[derive(Debug, Default)]
pub(super) struct Observation {
    /// How each call went, in order.
    pub(super) calls: Vec<String>,
    /// How many commands of the project ran, if the scenario has such commands.
    pub(super) ran: Option<usize>,
    /// How each prompt ended.
    pub(super) ends: Vec<End>,
    /// The comparison with a scan of the transcript.
    pub(super) scan: String,
}

/// How a prompt ended.
#[derive(Debug)]
pub(super) struct End {
    pub(super) by: String,
    pub(super) code: Option<i32>,
}

impl Observation {
    /// Reads the calls from the log of the model.
    pub(super) fn read(logs: &Path) -> Self {
        let text = fs::read_to_string(logs.join("calls.txt")).unwrap_or_default();
        let rows = text.lines().filter(|line| !line.starts_with("end "));
        let calls = rows.filter_map(|row| row.split(' ').nth(2)).map(String::from);
        Self { calls: calls.collect(), ..Self::default() }
    }

    /// The numbers of the calls that went so.
    fn numbers(&self, kind: &str) -> String {
        let calls = self.calls.iter().enumerate().filter(|(_, call)| *call == kind);
        ranges(&calls.map(|(index, _)| index + 1).collect::<Vec<_>>())
    }
}

/// Returns the words with which the model ended the turn, if it did.
pub(super) fn last_words(logs: &Path) -> Option<String> {
    let text = fs::read_to_string(logs.join("calls.txt")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("end ")).map(String::from)
}

/// Writes `3 4 5 6 9` as `3-6 9`. Up to three numbers in a row are written out.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let words = runs.map(|run| match run {
        [first, _, _, .., last] => format!("{first}-{last}"),
        run => run.iter().map(usize::to_string).collect::<Vec<_>>().join(" "),
    });
    words.collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "calls {}", self.calls.len())?;
        if let Some(ran) = self.ran {
            write!(f, " · ran {ran}")?;
        }
        for kind in ["told", "refused"] {
            let numbers = self.numbers(kind);
            if !numbers.is_empty() {
                write!(f, " · {kind} {numbers}")?;
            }
        }
        for (index, End { by, code }) in self.ends.iter().enumerate() {
            let open = if index == 0 { " · ended by" } else { ", then by" };
            match code {
                Some(code) => write!(f, "{open} {by}, exit {code}")?,
                None => write!(f, "{open} {by}")?,
            }
        }
        if self.scan.is_empty() { Ok(()) } else { write!(f, " · scan {}", self.scan) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_only_the_parts_that_were_seen() {
        let calls = |text: &str| text.split(' ').map(String::from).collect();
        let mut seen = Observation { calls: calls("plain plain"), ..Observation::default() };
        assert_eq!(seen.to_string(), "calls 2");
        seen.calls = calls("plain plain told told told refused refused open");
        seen.ran = Some(5);
        seen.ends = vec![
            End { by: "the hook".into(), code: Some(0) },
            End { by: "the time limit".into(), code: None },
        ];
        seen.scan = "=".into();
        assert_eq!(
            seen.to_string(),
            "calls 8 · ran 5 · told 3 4 5 · refused 6 7 · ended by the hook, exit 0, then by the time limit · scan ="
        );
    }

    #[test]
    fn long_rows_of_numbers_are_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8, 9, 10]), "1 2 3 5 7-10");
        assert_eq!(ranges(&[]), "");
    }
}
