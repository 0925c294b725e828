//! A report in words that several outputs share, and the evidence of a loop as plain text.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::iter;

use unstuck_core::Action;
use unstuck_trace::Tokens;

use crate::cost::Spent;
use crate::groups::Group;
use crate::recurring::what_recurs;
use crate::replay::{Excerpt, ResultLine, Step};
use crate::report::{Loop, Loops, Report};
use crate::shown::{counted, plain, shortened, tool_name};

/// The most columns of a name.
const NAME_MAX: usize = 60;

/// The first loops of a run, over the same calls, and their cost.
pub struct Story<'r> {
    /// The noun for one step of the loops.
    pub noun: &'static str,
    /// The first step of the loops.
    pub begin: usize,
    /// The last step of the loops.
    pub end: usize,
    /// The step at which the first of the loops was found.
    pub at: usize,
    /// What recurs, in one line.
    pub what: String,
    /// The result of the last call, if it failed.
    pub failure: Option<&'r ResultLine>,
    /// The part of the run after the finding, for example `9 calls came after that, 50% of the run's calls`.
    pub after: Option<String>,
}

impl Report {
    /// Returns the facts about the run.
    pub fn about(&self) -> String {
        let trace = &self.trace;
        let mut text = format!("{} transcript, {}", trace.format, self.cost.total);
        // Writing to a string cannot fail.
        if let Some(session) = &trace.session {
            let _ = write!(text, ", session {}", shortened(&plain(session), NAME_MAX));
        }
        if trace.workers > trace.runs {
            let _ = write!(text, ", {}", counted(trace.workers, "worker"));
        }
        if let Some(errors @ 1..) = trace.errors {
            let _ = write!(text, ", {errors} flagged as failed");
        }
        if let Some(bare) = self.without_content() {
            let _ = write!(text, ", {bare}");
        }
        if trace.skipped > 0 {
            let _ = write!(text, ", {} could not be read", counted(trace.skipped, "record"));
        }
        text
    }

    /// Returns the loops that are kept. What the run spent after its first finding is the cost of the first one.
    pub(crate) fn loops(&self) -> impl Iterator<Item = (&Loop, Option<Spent>)> {
        let costs = iter::once(self.cost.after).chain(iter::repeat(None));
        self.judged.loops.shown.iter().zip(costs)
    }

    /// Returns what the run spent after its first finding, if it made a call there.
    pub(crate) fn after(&self) -> Option<Spent> {
        self.cost.after.filter(|after| after.calls > 0)
    }

    /// Returns the story of `first`, the first loops of the run.
    pub fn story<'r>(&self, first: &Group<'r>) -> Story<'r> {
        let found = first.strongest.first();
        let numbers = || first.all().map(Loop::numbers);
        let begin = numbers().map(|(begin, _, _)| begin).min().unwrap_or(0);
        let at = numbers().map(|(_, at, _)| at).min().unwrap_or(0);
        let end = numbers().map(|(_, _, end)| end).max().unwrap_or(0);
        let line = found.proof.iter().rev().find_map(|call| call.result.as_ref());
        let calls = self.trace.calls;
        let after = self.after().map(|after| {
            // Rounded to the nearest.
            let share = (after.calls * 100 + calls / 2).checked_div(calls);
            let share = share.map(|share| format!(", {share}% of the run's calls"));
            format!("{after} came after that{}", share.unwrap_or_default())
        });
        Story {
            noun: found.location.noun(),
            begin,
            end,
            at,
            what: first.strongest.title(),
            failure: line.filter(|line| line.failed && !line.text.is_empty()),
            after,
        }
    }

    /// Returns the steps of the loop `one`, as far as they are kept. Another session of the input may have a loop with
    /// the same id, whose steps are not among them.
    pub fn steps_of(&self, one: &Loop) -> Vec<Step> {
        let (id, worker) = (one.first().finding.loop_id, &*one.first().worker);
        let (begin, _, end) = one.numbers();
        let mut steps = Vec::new();
        for explained in self.explained.iter().filter(|explained| explained.worker == worker) {
            let of_loop = || explained.steps.iter().filter(|step| step.loops.contains(&id));
            if of_loop().any(|step| (begin..=end).contains(&step.excerpt.index)) {
                steps.extend(of_loop().cloned());
            }
        }
        steps
    }
}

impl Loop {
    /// Describes what recurs, in one line.
    pub fn title(&self) -> String {
        what_recurs(&self.first().finding, &self.first().tool)
    }

    /// Returns the numbers of the first call, of the call at which the loop was found, and of the last one. For
    /// a loop of text these are messages.
    pub fn numbers(&self) -> (usize, usize, usize) {
        let (first, at, last) = self.first().location.numbers();
        (first, at, self.end.unwrap_or(last))
    }

    /// Returns a line for each rung that the loop reached and for its end.
    pub fn milestones(&self) -> Vec<(usize, String)> {
        let (mut course, mut worst) = (Vec::new(), Action::Proceed);
        for found in &self.rungs {
            let (_, at, _) = found.location.numbers();
            if found.action > worst {
                worst = found.action;
                course.push((at, format!("{worst} at #{at}")));
            }
        }
        course.extend(self.end.map(|end| (end, format!("last seen at #{end}"))));
        course
    }

    /// Returns the rungs that the loop reached and its end, in one line.
    pub(crate) fn course(&self) -> String {
        let milestones: Vec<String> = self.milestones().into_iter().map(|(_, step)| step).collect();
        milestones.join("; ")
    }

    /// Returns the calls that prove the loop, or all its `steps` if they are not fewer.
    pub fn calls<'l>(&'l self, steps: &'l [Step]) -> Vec<&'l Excerpt> {
        let proof = &self.first().proof;
        if steps.len() >= proof.len() {
            return steps.iter().map(|step| &step.excerpt).collect();
        }
        proof.iter().collect()
    }

    /// Returns the course of the loop, its id, its rule, whether the baseline has it, and its worker.
    pub fn origin(&self) -> String {
        format!("{}; {}", self.course(), self.terms(NAME_MAX))
    }

    /// Returns the id of the loop, its rule, whether the baseline has it, and its worker in at most `columns`.
    fn terms(&self, columns: usize) -> String {
        let first = self.first();
        let mut parts = vec![format!("loop {}; rule {}", first.finding.loop_id, first.rule)];
        parts.extend(self.novelty.map(|novelty| novelty.name().to_owned()));
        if &*first.worker != "main" {
            parts.push(format!("worker {}", shortened(&plain(&first.worker), columns)));
        }
        parts.join("; ")
    }

    /// Returns the evidence in some lines of text: the loop, its calls, and the message for the agent.
    pub fn evidence(&self) -> String {
        let found = self.first();
        let mut lines = vec![self.title(), self.terms(TOOL_MAX), self.course()];
        lines.extend(proof(&found.proof));
        lines.push(format!("The agent should have been told: {}", plain(&found.message)));
        lines.push(String::new());
        lines.join("\n")
    }
}

/// Returns the last two parts of a path: a folder alone says little, and so does a name like `session.jsonl`.
pub fn name(path: &str) -> &str {
    let folder = path.rfind(['/', '\\']).map_or("", |end| &path[..end]);
    folder.rfind(['/', '\\']).map_or(path, |end| &path[end + 1..])
}

/// The most loops of one run that a report shows with their evidence.
pub(crate) const LOOPS_MAX: usize = 100;

/// The most calls that are shown as the proof of one loop.
const PROOF_MAX: usize = 12;

/// The most columns of a tool's name, of arguments or a text, and of a result.
const TOOL_MAX: usize = 40;
const TEXT_MAX: usize = 160;
const RESULT_MAX: usize = 120;

impl Loops {
    /// Returns the number of loops that are not shown.
    pub(crate) const fn hidden(&self) -> usize {
        self.count.saturating_sub(self.shown.len())
    }

    /// Returns a remark about the loops that are not shown, or nothing.
    pub fn others(&self) -> Option<String> {
        let more = self.hidden();
        (more > 0).then(|| format!("and {}: --format jsonl has all", counted(more, "more loop")))
    }
}

/// Returns a line for each call of a proof, the middle of a long one left out.
fn proof(calls: &[Excerpt]) -> Vec<String> {
    let line = |call: &Excerpt| format!("  #{}  {}", call.index, step(call));
    if calls.len() <= PROOF_MAX {
        return calls.iter().map(line).collect();
    }
    let (head, tail) = (PROOF_MAX / 2, calls.len() - PROOF_MAX / 2);
    let gap = format!("  … {} more …", tail - head);
    let (first, last) = (&calls[..head], &calls[tail..]);
    first.iter().map(line).chain([gap]).chain(last.iter().map(line)).collect()
}

/// Describes a call and its result, or a turn, in one line.
pub(crate) fn step(call: &Excerpt) -> String {
    let text = shortened(&plain(&call.text), TEXT_MAX);
    let tool =
        call.tool.as_deref().map_or_else(String::new, |tool| tool_name(tool, TOOL_MAX) + "  ");
    let result = call.result.as_ref().map_or_else(String::new, |result| {
        let word = match (result.refused, result.failed) {
            (true, _) => "refused: ",
            (false, true) => "failed: ",
            (false, false) => "",
        };
        format!("  → {word}{}", shortened(&plain(&result.text), RESULT_MAX))
    });
    format!("{tool}{text}{result}")
}

/// Orders what was spent by money, then tokens, then calls. What is not known counts as nothing.
pub(crate) fn by_cost(a: &Spent, b: &Spent) -> Ordering {
    let dollars = |spent: &Spent| spent.dollars.unwrap_or(0.0);
    let tokens = |spent: &Spent| spent.tokens.map_or(0, Tokens::total);
    let key = |spent: &Spent| (tokens(spent), spent.calls);
    dollars(a).total_cmp(&dollars(b)).then_with(|| key(a).cmp(&key(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::check;

    #[test]
    fn a_name_is_the_last_two_parts_of_a_path() {
        check("words: a path, and its last two parts", |path| name(path).to_owned());
    }

    #[test]
    fn money_weighs_more_than_tokens_and_these_more_than_calls() {
        let spent = |calls, output, dollars: Option<f64>| Spent {
            calls,
            tokens: Some(Tokens { output, ..Tokens::default() }),
            dollars,
            ..Spent::default()
        };
        let rising = [
            Spent::default(),
            Spent { calls: 9, ..Spent::default() },
            spent(0, 5, None),
            spent(1, 5, None),
            spent(0, 6, Some(0.0)),
            spent(0, 0, Some(0.01)),
            spent(0, 0, Some(2.0)),
        ];
        assert!(rising.is_sorted_by(|a, b| by_cost(a, b).is_lt()));
    }
}
