//! The numbers of all inputs of a scan, and a former scan to compare with: a loop is new, there again, or gone.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::BufRead;

use serde::{Deserialize, Serialize};
use unstuck_core::{Action, LoopId};

use crate::line::SCHEMA;
use crate::replay::ReplayFinding;
use crate::shown::{COLUMNS, counted, plain, shortened, tool_name};

/// The most loops that are listed as gone in a text.
const LISTED_MAX: usize = 20;

/// The most columns of a tool's name.
const TOOL_MAX: usize = 24;

/// The loops of a former scan.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Baseline(BTreeMap<LoopId, Known>);

/// A loop of a former scan.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Known {
    pub(crate) rule: String,
    /// `None` for a loop of text.
    pub(crate) tool: Option<String>,
    /// The first run that had it.
    pub(crate) path: String,
    /// The number of runs that had it.
    pub(crate) runs: usize,
}

/// The loops of one run, compared with the baseline.
pub struct Compared {
    baseline: &'static Baseline,
    /// The strongest action about a new loop.
    pub worst_new: Action,
    /// The loops that were found.
    pub found: BTreeSet<LoopId>,
}

/// The difference of all runs to the baseline, in loops.
#[derive(Debug, Default)]
pub struct Difference {
    pub(crate) new: usize,
    pub(crate) again: usize,
    /// The loops that no run has any more, in the order of their ids.
    pub(crate) gone: Vec<(LoopId, &'static Known)>,
}

/// A line of `--format jsonl`.
#[derive(Deserialize)]
struct Line<'l> {
    schema: u32,
    #[serde(borrow)]
    path: Cow<'l, str>,
    #[serde(borrow)]
    findings: Vec<Finding<'l>>,
}

#[derive(Deserialize)]
struct Finding<'l> {
    #[serde(borrow)]
    rule: Cow<'l, str>,
    #[serde(borrow)]
    tool: Option<Cow<'l, str>>,
    #[serde(borrow)]
    r#loop: Cow<'l, str>,
}

/// The part of a line that every version has.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// A loop that is gone, for programs.
#[derive(Serialize)]
pub(crate) struct GoneLine {
    r#loop: String,
    #[serde(flatten)]
    known: &'static Known,
}

impl Baseline {
    /// Reads the lines of former scans, as `--format jsonl` prints them.
    ///
    /// # Errors
    ///
    /// Says what is wrong, and in which line.
    pub fn read(mut lines: impl BufRead) -> Result<Self, String> {
        let (mut baseline, mut text) = (Self::default(), Vec::new());
        for number in 1_u64.. {
            text.clear();
            let length = lines.read_until(b'\n', &mut text);
            if length.map_err(|error| format!("cannot be read: {error}"))? == 0 {
                break;
            }
            if !text.trim_ascii().is_empty() {
                baseline.take(&text).map_err(|why| format!("line {number}: {why}"))?;
            }
        }
        Ok(baseline)
    }

    /// Takes in one line.
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let known = |version: &u32| *version == SCHEMA;
        let schema = |schema: u32| {
            format!("schema {schema}, but this version of unstuck reads schema {SCHEMA}")
        };
        let line: Line<'_> =
            serde_json::from_slice(line).map_err(|error| match serde_json::from_slice(line) {
                Ok(Version { schema: other }) if !known(&other) => schema(other),
                _ => format!("expected a line that scan --format jsonl prints: {error}"),
            })?;
        if !known(&line.schema) {
            return Err(schema(line.schema));
        }
        let mut here = BTreeSet::new();
        for Finding { rule, tool, r#loop } in line.findings {
            let id: LoopId = r#loop.parse().map_err(|error| format!("not a loop id: {error}"))?;
            let known = self.0.entry(id).or_insert_with(|| Known {
                rule: rule.into_owned(),
                tool: tool.map(Cow::into_owned),
                path: line.path.clone().into_owned(),
                runs: 0,
            });
            known.runs += usize::from(here.insert(id));
        }
        Ok(())
    }

    /// Forgets loops that are ignored now, which are therefore not gone. They are sorted.
    pub fn forget(&mut self, ignored: &[LoopId]) {
        self.0.retain(|id, _| ignored.binary_search(id).is_err());
    }

    /// Returns the difference of the loops `found` to this baseline.
    pub fn difference(&'static self, found: &BTreeSet<LoopId>) -> Difference {
        let again = found.iter().filter(|id| self.0.contains_key(id)).count();
        let gone = self.0.iter().filter(|(id, _)| !found.contains(id));
        let gone = gone.map(|(id, known)| (*id, known)).collect();
        Difference { new: found.len() - again, again, gone }
    }
}

impl Compared {
    pub(crate) fn new(baseline: &'static Baseline) -> Self {
        Self { baseline, worst_new: Action::Proceed, found: BTreeSet::new() }
    }

    /// Takes in a finding. Returns whether the baseline has its loop.
    pub(crate) fn take(&mut self, found: &ReplayFinding) -> bool {
        let id = found.finding.loop_id;
        self.found.insert(id);
        let is_known = self.baseline.0.contains_key(&id);
        if !is_known {
            self.worst_new = self.worst_new.max(found.action);
        }
        is_known
    }
}

impl Difference {
    /// Returns the numbers in one line, for example `2 new, 14 again, 1 gone`.
    pub(crate) fn counts(&self) -> String {
        format!("{} new, {} again, {} gone", self.new, self.again, self.gone.len())
    }

    /// Returns the numbers and the loops that are gone, for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("loops: {}\n", self.counts());
        for line in self.listed() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {}", shortened(&line, COLUMNS - 2));
        }
        text
    }

    /// Returns a line for each of the first loops that are gone, and one for the others.
    pub(crate) fn listed(&self) -> Vec<String> {
        let line = |(id, known): &(LoopId, &Known)| format!("gone: loop {id}; {}", known.about());
        let mut lines: Vec<_> = self.gone.iter().take(LISTED_MAX).map(line).collect();
        if let Some(more @ 1..) = self.gone.len().checked_sub(LISTED_MAX) {
            lines.push(format!("and {more} more: --format json has all"));
        }
        lines
    }

    /// Returns the loops that are gone, for programs.
    pub(crate) fn lines(&self) -> Vec<GoneLine> {
        let line = |&(id, known): &(LoopId, _)| GoneLine { r#loop: id.to_string(), known };
        self.gone.iter().map(line).collect()
    }
}

impl Known {
    /// Returns the rule, the tool and the runs of the loop in one line.
    fn about(&self) -> String {
        let tool = self
            .tool
            .as_deref()
            .map_or_else(String::new, |tool| format!(", `{}`", tool_name(tool, TOOL_MAX)));
        let (rule, path) = (plain(&self.rule), plain(&self.path));
        let more = match self.runs.saturating_sub(1) {
            0 => String::new(),
            more => format!(" and {}", counted(more, "more run")),
        };
        format!("rule {rule}{tool}; was in {path}{more}")
    }
}

/// The number of inputs by result, for the end of a report.
#[derive(Debug, Default)]
pub struct Tally {
    /// The runs with a finding.
    pub stuck: usize,
    /// The runs without a finding.
    pub clean: usize,
    /// The runs without calls.
    pub empty: usize,
    /// The inputs that could not be read.
    pub unread: usize,
    /// The inputs that were read only in part.
    pub partly: usize,
    /// The files of folders that are no recordings.
    pub left_out: usize,
    /// The files of folders that are older than those wanted.
    pub older: usize,
    /// The difference to the baseline, if there is one.
    pub difference: Option<Difference>,
}

impl Tally {
    /// Returns the number of runs in words, for example `1 run`. Those without calls do not count.
    pub(crate) fn runs(&self) -> String {
        counted(self.stuck + self.clean, "run")
    }

    /// Returns the numbers in one line, for example `2 stuck, 3 clean, 1 input could not be read`.
    pub(crate) fn results(&self) -> String {
        let mut parts = vec![format!("{} stuck", self.stuck), format!("{} clean", self.clean)];
        if self.empty > 0 {
            parts.push(format!("{} empty", self.empty));
        }
        if self.unread > 0 {
            parts.push(format!("{} could not be read", counted(self.unread, "input")));
        }
        if self.partly > 0 {
            parts.push(format!("{} only in part", self.partly));
        }
        parts.join(", ")
    }

    /// Returns the numbers and the difference to the baseline in one line.
    pub(crate) fn counts(&self) -> String {
        let loops =
            self.difference.iter().map(|difference| format!(", loops: {}", difference.counts()));
        loops.fold(self.results(), |text, loops| text + &loops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::check;

    const ONE: &str = "9f0c5e8b2a7d4411";
    const TWO: &str = "1bffe941b5572d23";

    fn line(path: &str, loops: &[&str]) -> String {
        let finding = |id: &&str| format!(r#"{{"rule":"r","tool":"a\tb","loop":"{id}","x":1}}"#);
        let findings: Vec<_> = loops.iter().map(finding).collect();
        format!(r#"{{"schema":1,"path":"{path}","calls":3,"findings":[{}]}}"#, findings.join(","))
    }

    fn read(text: &str) -> Result<Baseline, String> {
        Baseline::read(text.as_bytes())
    }

    #[test]
    fn the_loops_of_all_lines_are_known_with_their_runs() {
        for text in ["", "\n \r\n", &line("a", &[])] {
            assert_eq!(read(text), Ok(Baseline::default()), "{text}");
        }
        let text = [line("a", &[ONE, ONE]), String::new(), line("b", &[TWO, ONE])].join("\r\n");
        let baseline = read(&text).expect("a baseline");
        let known = |id: &str| &baseline.0[&id.parse().expect("an id")];
        assert_eq!(known(ONE).about(), "rule r, `a b`; was in a and 1 more run");
        assert_eq!(known(TWO).about(), "rule r, `a b`; was in b");
    }

    #[test]
    fn a_wrong_line_is_named() {
        let good = line("a", &[ONE]);
        check("baseline: lines that are no former scan", |bad| {
            let error = read(&format!("{good}\n\n{bad}\n{good}")).expect_err(bad);
            error.strip_prefix("line 3: ").map_or_else(|| format!("not {error}"), str::to_owned)
        });
        let error = Baseline::read(&b"\xff\n"[..]).expect_err("not UTF-8");
        assert!(error.starts_with("line 1: "), "{error}");
    }

    #[test]
    fn a_loop_is_new_again_or_gone() {
        let mut baseline = read(&line("a", &[ONE, TWO, "7abd7265cf7d09f6"])).expect("a baseline");
        let id = |text: &str| text.parse::<LoopId>().expect("an id");
        baseline.forget(&[id("7abd7265cf7d09f6")]);
        let baseline: &'static Baseline = Box::leak(Box::new(baseline));
        check("baseline: loops that are found", |found| {
            baseline.difference(&found.split_whitespace().map(id).collect()).counts()
        });
    }

    #[test]
    fn a_long_list_of_gone_loops_is_cut() {
        let ids: Vec<_> = (1..=30_u64).map(|bits| LoopId::from_bits(bits).to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let baseline: &'static Baseline =
            Box::leak(Box::new(read(&line("\\u001b[31m", &ids)).expect("a baseline")));
        let text = baseline.difference(&BTreeSet::new()).text();
        assert_eq!(text.lines().count(), 1 + LISTED_MAX + 1);
        assert!(text.ends_with("and 10 more: --format json has all\n"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
