//! Labels: the judgement of a person who read a run.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::{fmt, fs};

use serde::Deserialize;
use unstuck_report::shown::counted;

use crate::exit::Exit;
use crate::output::complain;
use crate::setup::BOM;

/// The source of a run whose file is in no folder.
const NO_SOURCE: &str = ".";

/// The judgement of a person who read the run.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Label {
    pub(super) file: PathBuf,
    r#loop: HasLoop,
    /// The first call of the loop. A finding before it is a false alarm.
    pub(super) start: Option<usize>,
    /// The call at which a supervisor would step in.
    pub(super) stuck_at: Option<usize>,
    /// The last call of the loop, or `None` if it lasts to the end of the run.
    end: Option<usize>,
    #[serde(default)]
    pub(super) kind: String,
    /// The number of calls in the run, if the person has counted them.
    calls: Option<usize>,
    /// The loop consists of messages, and the numbers count these.
    #[serde(default)]
    text_only: bool,
    /// The run is left out, because nobody can judge it.
    #[serde(default)]
    exclude: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HasLoop {
    Yes,
    No,
}

/// The outcome of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The loop was found, `lag` calls after a supervisor would have stepped in and `saved` calls
    /// before it ended.
    Hit { lag: Option<i64>, saved: usize },
    /// There is a loop, and nothing was found.
    Missed,
    /// There is a loop, and something was found before it began.
    Early,
    /// There is no loop, and something was found.
    FalseAlarm,
    /// There is no loop, and nothing was found.
    Quiet,
}

/// The number of calls in a run, or of messages if there are no calls. Labels count the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Calls(usize),
    Messages(usize),
}

impl Count {
    pub(super) fn of(calls: usize, messages: usize) -> Self {
        if calls == 0 { Self::Messages(messages) } else { Self::Calls(calls) }
    }

    /// Returns the index of a finding: of its call, or of its `message` if there are no calls.
    pub(super) fn index(self, calls_before: usize, message: Option<usize>) -> usize {
        match self {
            Self::Calls(_) => calls_before,
            Self::Messages(_) => message.unwrap_or(calls_before),
        }
    }

    fn last(self) -> usize {
        self.number().saturating_sub(1)
    }

    fn number(self) -> usize {
        let (Self::Calls(count) | Self::Messages(count)) = self;
        count
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if matches!(self, Self::Calls(_)) { "call" } else { "message" };
        f.write_str(&counted(self.number(), what))
    }
}

impl Label {
    /// Judges the first finding, at `at`, in a run with `count` calls or messages.
    pub(super) fn outcome(&self, at: Option<usize>, count: Count) -> Outcome {
        match (self.r#loop, at) {
            (HasLoop::No, None) => Outcome::Quiet,
            (HasLoop::No, Some(_)) => Outcome::FalseAlarm,
            (HasLoop::Yes, None) => Outcome::Missed,
            (HasLoop::Yes, Some(at)) if at < self.start.unwrap_or(0) => Outcome::Early,
            (HasLoop::Yes, Some(at)) => {
                let saved = self.end.unwrap_or(count.last()).saturating_sub(at);
                Outcome::Hit { lag: self.lag(at), saved }
            }
        }
    }

    /// Returns whether the person saw that there is no loop.
    pub(super) fn is_good(&self) -> bool {
        self.r#loop == HasLoop::No && !self.exclude
    }

    fn lag(&self, at: usize) -> Option<i64> {
        let stuck = i64::try_from(self.stuck_at?).ok()?;
        Some(i64::try_from(at).ok()? - stuck)
    }

    /// Returns the numbers of calls in the label with their names, in the order that they must have.
    fn numbers(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let all = [("start", self.start), ("stuck_at", self.stuck_at), ("end", self.end)];
        all.into_iter().filter_map(|(name, number)| Some((name, number?)))
    }

    /// Checks that a run can have this label.
    fn check(&self) -> Result<(), String> {
        if let (HasLoop::No, Some((name, _))) = (self.r#loop, self.numbers().next()) {
            return Err(format!("\"loop\" is \"no\", and the label has \"{name}\""));
        }
        let later = self.numbers().skip(1);
        match self.numbers().zip(later).find(|((_, first), (_, then))| first > then) {
            None => Ok(()),
            Some(((first, at), (then, before))) => {
                Err(format!("\"{then}\" is {before}, before \"{first}\", which is {at}"))
            }
        }
    }

    /// Checks that the label is of a run with `count` calls or messages.
    pub(super) fn fits(&self, count: Count) -> Result<(), String> {
        if self.text_only && matches!(count, Count::Calls(_)) {
            return Err(format!("the label has \"text_only\", and the run has {count}"));
        }
        let made = if let Count::Calls(made) = count { made } else { 0 };
        let calls = self.calls.filter(|calls| *calls != made);
        let beyond = self.numbers().find(|(_, number)| *number > count.last());
        match calls.map(|calls| ("calls", calls)).or(beyond) {
            None => Ok(()),
            Some((name, number)) => {
                Err(format!("the label has \"{name}\":{number}, and the run has {count}, from #0"))
            }
        }
    }

    /// Returns the source of the run: the first folder of its file.
    pub(super) fn source(&self) -> &str {
        let mut parts = self.file.components().filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        });
        let first = parts.next();
        first.filter(|_| parts.next().is_some()).unwrap_or(NO_SOURCE)
    }
}

/// Reads the labels. Returns the exit code as well, because some may be unreadable. Labels with `exclude` are left out.
pub(super) fn read(path: &Path) -> Result<(Vec<Label>, Exit), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (labels, wrong) = parsed(text.trim_start_matches(BOM));
    for why in &wrong {
        complain(&path.display().to_string(), why);
    }
    if labels.is_empty() {
        return Err("holds no label; expected JSON Lines of {\"file\", \"loop\", …}".to_owned());
    }
    let labels = labels.into_iter().filter(|label| !label.exclude).collect();
    Ok((labels, if wrong.is_empty() { Exit::Clean } else { Exit::Input }))
}

/// Returns the labels in a text, and what is wrong with the others.
fn parsed(text: &str) -> (Vec<Label>, Vec<String>) {
    let (mut labels, mut wrong) = (Vec::new(), Vec::new());
    let mut lines: HashMap<PathBuf, usize> = HashMap::new();
    let numbered = text.lines().enumerate().map(|(n, line)| (n + 1, line));
    for (n, line) in numbered.filter(|(_, line)| !line.trim().is_empty()) {
        let label = label(line).and_then(|label| {
            // `./a` and `a` are one file.
            let file: PathBuf =
                label.file.components().filter(|part| *part != Component::CurDir).collect();
            if let Some(first) = lines.get(&file) {
                return Err(format!("the file has a label in line {first} already"));
            }
            label.check()?;
            lines.insert(file, n);
            Ok(label)
        });
        match label {
            Ok(label) => labels.push(label),
            Err(why) => wrong.push(format!("line {n}: {why}")),
        }
    }
    (labels, wrong)
}

/// Reads the label in one line of JSON. The error says what is expected.
pub(super) fn label(line: &str) -> Result<Label, String> {
    serde_json::from_str(line).map_err(|error| {
        // The parser gets one line at a time, so its line number is always 1.
        let error = error.to_string();
        let error = error.split(" at line 1 column").next().unwrap_or_default();
        format!(
            "not a label: {error}; expected {{\"file\":…, \"loop\":\"yes\" or \"no\", \"start\":…, \
             \"stuck_at\":…, \"end\":…}}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;

    const CASES: &str = include_str!("labels.txt");

    /// Splits a case into its label and what stands behind it.
    fn split(given: &str) -> (Label, &str) {
        let end = given.find("} ").expect("a label") + 1;
        let (labels, wrong) = parsed(&given[..end]);
        assert_eq!(wrong, Vec::<String>::new(), "{given}");
        (labels.into_iter().next().expect("a label"), given[end..].trim())
    }

    #[test]
    fn a_finding_is_judged_by_where_the_loop_begins_and_ends() {
        for (given, expected) in cases(CASES, "outcomes") {
            let (label, at) = split(given);
            let outcome = label.outcome(at.parse().ok(), Count::Calls(11));
            assert_eq!(format!("{outcome:?}"), expected, "{given}");
        }
    }

    #[test]
    fn a_run_comes_from_the_first_folder_of_its_file() {
        let (label, _) = split("{\"file\":\"a\",\"loop\":\"no\"} ");
        for (file, source) in cases(CASES, "sources") {
            let label = Label { file: file.into(), ..label.clone() };
            assert_eq!(label.source(), source, "{file}");
        }
    }

    #[test]
    fn labels_that_no_run_can_have_are_refused() {
        for (label, expected) in cases(CASES, "refused") {
            let (labels, wrong) = parsed(label);
            assert_eq!(labels.len() + wrong.len(), 1, "{label}");
            let found = wrong.first().map_or("fine", String::as_str);
            assert!(found.contains(expected), "{label}: {found}");
        }
    }

    #[test]
    fn a_file_has_one_label() {
        let text = ["a", "x/a", "./a", "a", "y/a"]
            .map(|file| format!(r#"{{"file":"{file}","loop":"no"}}"#));
        let (labels, wrong) = parsed(&text.join("\n\n"));
        assert_eq!((labels.len(), wrong.len()), (3, 2), "{wrong:?}");
        assert_eq!(wrong[0], "line 5: the file has a label in line 1 already");
    }

    #[test]
    fn a_label_is_of_its_run() {
        for (given, expected) in cases(CASES, "runs") {
            let (label, run) = split(given);
            let (count, unit) = run.split_once(' ').expect("a number and a noun");
            let of = if unit == "calls" { Count::Calls } else { Count::Messages };
            let fits = label.fits(of(count.parse().expect("a number")));
            let found = fits.map_or_else(|why| why, |()| "fits".to_owned());
            assert!(found.contains(expected), "{given}: {found}");
        }
    }
}
