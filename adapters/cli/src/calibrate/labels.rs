//! Labels: the judgement of a person who read a run.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use crate::exit::Exit;
use crate::output::complain;

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
        let (Self::Calls(count) | Self::Messages(count)) = self;
        count.saturating_sub(1)
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

    fn lag(&self, at: usize) -> Option<i64> {
        let stuck = i64::try_from(self.stuck_at?).ok()?;
        Some(i64::try_from(at).ok()? - stuck)
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

/// Reads the labels. Returns the exit code as well, because some may be unreadable.
pub(super) fn read(path: &Path) -> Result<(Vec<Label>, Exit), String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut labels = Vec::new();
    let mut exit = Exit::Clean;
    for (n, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(line) {
            Ok(label) => labels.push(label),
            Err(error) => {
                exit = Exit::Input;
                // The parser gets one line at a time, so its line number is always 1.
                let error = error.to_string();
                let error = error.split(" at line 1 column").next().unwrap_or_default();
                let why = format!(
                    "line {}: not a label: {error}; expected {{\"file\":…, \"loop\":\"yes\" or \
                     \"no\", \"start\":…, \"stuck_at\":…, \"end\":…}}",
                    n + 1
                );
                complain(&path.display().to_string(), &why);
            }
        }
    }
    if labels.is_empty() {
        return Err("holds no label; expected JSON Lines of {\"file\", \"loop\", …}".to_owned());
    }
    Ok((labels, exit))
}

#[cfg(test)]
mod tests {
    use super::{Count, HasLoop, Label, Outcome};

    const COUNT: Count = Count::Calls(11);

    fn label(has_loop: HasLoop, start: Option<usize>, end: Option<usize>) -> Label {
        Label {
            file: "a.jsonl".into(),
            r#loop: has_loop,
            start,
            stuck_at: Some(5),
            end,
            kind: String::new(),
        }
    }

    #[test]
    fn a_finding_is_judged_by_where_the_loop_begins_and_ends() {
        let yes = label(HasLoop::Yes, Some(3), Some(8));
        let hit = |lag, saved| Outcome::Hit { lag: Some(lag), saved };
        assert_eq!(yes.outcome(None, COUNT), Outcome::Missed);
        assert_eq!(yes.outcome(Some(2), COUNT), Outcome::Early);
        assert_eq!(yes.outcome(Some(3), COUNT), hit(-2, 5));
        assert_eq!(yes.outcome(Some(9), COUNT), hit(4, 0), "after the loop, nothing is saved");
        assert_eq!(label(HasLoop::Yes, None, None).outcome(Some(0), COUNT), hit(-5, 10));
        let no = label(HasLoop::No, None, None);
        assert_eq!(no.outcome(None, COUNT), Outcome::Quiet);
        assert_eq!(no.outcome(Some(9), COUNT), Outcome::FalseAlarm);
    }

    #[test]
    fn a_run_comes_from_the_first_folder_of_its_file() {
        for (file, source) in [
            ("a.jsonl", "."),
            ("x/a.jsonl", "x"),
            ("./x/y/a.jsonl", "x"),
            ("/x/a.jsonl", "x"),
            ("../x/a.jsonl", "x"),
            ("", "."),
        ] {
            let label = Label { file: file.into(), ..label(HasLoop::No, None, None) };
            assert_eq!(label.source(), source, "{file}");
        }
    }
}
