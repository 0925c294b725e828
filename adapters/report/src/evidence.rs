//! The evidence of a loop as plain text, for reports that others show, and the order of runs by cost.

use std::cmp::Ordering;

use unstuck_trace::Tokens;

use crate::cost::Spent;
use crate::loops::{Loop, Loops};
use crate::replay::Excerpt;
use crate::shown::{counted, plain, shortened, tool_name};

/// The most loops of one run that a report shows with their evidence.
pub(crate) const LOOPS_MAX: usize = 100;

/// The most calls that are shown as the proof of one loop.
const PROOF_MAX: usize = 12;

/// The most columns of a tool's name, of arguments or a text, and of a result.
const TOOL_MAX: usize = 40;
const TEXT_MAX: usize = 160;
const RESULT_MAX: usize = 120;

impl Loop {
    /// Returns the evidence in some lines of text: the loop, its calls, and the message for the agent.
    pub fn evidence(&self) -> String {
        let found = self.first();
        let worker = match &*found.worker {
            "main" => String::new(),
            worker => format!("; worker {}", shortened(&plain(worker), TOOL_MAX)),
        };
        let novelty = match self.novelty {
            Some(novelty) => format!("; {}", novelty.name()),
            None => String::new(),
        };
        let about = format!("loop {}; rule {}{novelty}{worker}", found.finding.loop_id, found.rule);
        let mut lines = vec![self.title(), about, self.course()];
        lines.extend(proof(&found.proof));
        lines.push(format!("The agent should have been told: {}", plain(&found.message)));
        lines.push(String::new());
        lines.join("\n")
    }
}

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
