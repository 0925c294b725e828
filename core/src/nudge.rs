//! What to tell an agent that is stuck.

use core::fmt;

use crate::ladder::Action;
use crate::record::Tag;
use crate::rule::{Args, Results};
use crate::verdict::{Finding, Kind};

/// A short English message for the agent: what it keeps doing, what to do instead, and what
/// happens next. Rendered by [`Display`](fmt::Display) into any writer.
///
/// The advice of a warning changes with the number of repetitions, so that an agent that is warned
/// again reads something new. A warning threatens only with what can follow it: see
/// [`Finding::most`].
///
/// It names the tool and numbers, and echoes neither arguments nor results: text that the
/// agent or a web page wrote never comes back as an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Nudge<'n> {
    finding: Finding,
    action: Action,
    tool: &'n str,
}

impl Finding {
    /// A short English message for the agent that is stuck, with the last call's tool by its
    /// `tool` name: that of [`Finding::tool`], which may be another than that of the call just made.
    /// It echoes neither arguments nor results.
    pub const fn nudge<'n>(&self, action: Action, tool: &'n str) -> Nudge<'n> {
        Nudge { finding: *self, action, tool }
    }
}

impl Nudge<'_> {
    fn what(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { kind, args, laps, period, tag, .. } = self.finding;
        let tool = self.tool;
        match (kind, args) {
            _ if self.finding.is_about_prompts() => {
                return write!(
                    f,
                    "The same message has come {laps} times, and no tool was called in between."
                );
            }
            (Kind::Text, _) => {
                return write!(f, "Your last {laps} turns were only text: no tool was called.");
            }
            (Kind::Echo, _) => {
                return write!(f, "Your last message says the same thing {laps} times over.");
            }
            (Kind::Cycle, _) => {
                write!(f, "You are going in circles: the same {period} calls, {laps} times over")?;
            }
            (Kind::Streak, Args::Same) => {
                write!(f, "You have made the same `{tool}` call {laps} times in a row")?;
            }
            (Kind::Streak, Args::Similar) => {
                write!(f, "You have made nearly the same `{tool}` call {laps} times in a row")?;
            }
            (Kind::Recurrence, Args::Same) => {
                write!(f, "You keep coming back to the same `{tool}` call: {laps} times by now")?;
            }
            (Kind::Recurrence, Args::Similar) => {
                write!(f, "You keep coming back to nearly the same `{tool}` call: {laps} times")?;
            }
            (Kind::Streak, Args::SameTool) => write!(f, "Your last {laps} `{tool}` calls")?,
            (Kind::Streak, Args::Any) if tag == Tag::Test => {
                write!(f, "Your last {laps} test runs")?;
            }
            (Kind::Streak, Args::Any) if tag == Tag::Shell => {
                write!(f, "Your last {laps} commands")?;
            }
            (Kind::Streak, Args::Any) => write!(f, "Your last {laps} calls")?,
            (Kind::Recurrence, Args::SameTool) => {
                write!(f, "{laps} of your latest `{tool}` calls")?;
            }
            (Kind::Recurrence, Args::Any) => write!(f, "{laps} of your latest calls")?,
        }
        f.write_str(self.answers())
    }

    /// How the outcomes compare, as the end of the sentence that [`Nudge::what`] began.
    fn answers(&self) -> &'static str {
        let Finding { args, results, failed, kind, .. } = self.finding;
        if kind == Kind::Cycle {
            return match results {
                Results::Same => ", and each comes back as it did before.",
                Results::Near => ", and only numbers in what comes back differ.",
                Results::Ignored => ".",
            };
        }
        let varied = matches!(args, Args::SameTool | Args::Any);
        match (results, failed, varied) {
            (Results::Same, true, true) => " have failed in the same way.",
            (Results::Same, false, true) => " have come back with the same result.",
            (Results::Same, true, false) => ", and it fails in the same way each time.",
            (Results::Same, false, false) => ", and the result is the same each time.",
            (Results::Near, true, true) => " have failed in nearly the same way.",
            (Results::Near, false, true) => " have come back with nearly the same result.",
            (Results::Near, _, false) => ", and only numbers in the result differ.",
            (Results::Ignored, true, true) => " have failed, one after the other.",
            (Results::Ignored, false, true) => " have come one after the other.",
            (Results::Ignored, _, false) => ".",
        }
    }

    fn advice(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.finding.tag == Tag::Poll && !self.finding.failed {
            return self.advice_to_wait(f);
        }
        match self.action {
            Action::Warn => self.plain_advice(f),
            _ => f.write_str(self.passing_advice()),
        }
    }

    /// What a nudge advises, and whatever goes beyond a warning.
    fn passing_advice(&self) -> &'static str {
        let Finding { kind, tag, failed, .. } = self.finding;
        match (kind, tag, failed) {
            _ if self.finding.is_about_prompts() => {
                " Call a tool that does what it asks for, or say what is missing."
            }
            (Kind::Text | Kind::Echo, _, _) => {
                " Act: make the next call, or say that you are done."
            }
            (_, Tag::Test, _) => {
                " Read the errors again and rethink the fix before you run the tests once more."
            }
            (Kind::Streak | Kind::Recurrence, Tag::Shell, true) => {
                " If you work on files, use the file tools; else check the command itself and \
                 where it runs."
            }
            (Kind::Cycle, _, _) => {
                " None of them changes what the others find. Break off and take another way, \
                 or say what blocks you."
            }
            (_, _, true) => {
                " The error will not go away by itself: change what causes it, or say what \
                 blocks you."
            }
            (_, Tag::Read | Tag::Search, false) => {
                " You already have this answer: use it, or look somewhere else."
            }
            _ => " Once more will not change that. Try another way, or say what blocks you.",
        }
    }

    /// What a warning advises, something else with each few repetitions.
    fn plain_advice(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { kind, laps, .. } = self.finding;
        let next = if kind == Kind::Cycle { "round" } else { "call" };
        match (laps, kind) {
            (..6, Kind::Text | Kind::Echo) => {
                f.write_str(" Make the next call now. If you cannot, say what is missing.")
            }
            (..6, _) => write!(
                f,
                " State in one sentence what you expect the next {next} to show that the last \
                 {laps} did not. If you cannot, do something else."
            ),
            (6..=10, _) => f.write_str(
                " Write down what you know by now and what you need, then choose another way or \
                 ask the user.",
            ),
            _ => f.write_str(" End this line of work: say what you found and what blocks you."),
        }
    }

    /// Advice to an agent that waits for something.
    fn advice_to_wait(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only a rule about results knows that nothing has changed.
        let is_same = self.finding.results == Results::Same;
        f.write_str(match (self.finding.laps, is_same) {
            (..=10, true) => {
                " Nothing has changed yet: wait longer between checks, or do something else \
                 meanwhile."
            }
            (..=10, false) => " Wait longer between checks, or do something else meanwhile.",
            (_, true) => {
                " Nothing has changed for so long that it may never: do something else, or say \
                 what you are waiting for and end your turn."
            }
            (_, false) => " Do something else, or say what you are waiting for and end your turn.",
        })
    }

    fn consequence(&self) -> &'static str {
        match self.action {
            Action::Proceed | Action::Nudge => "",
            Action::Warn if self.finding.most <= Action::Warn => "",
            Action::Warn => " If it goes on, it will be stopped.",
            // There is no call that could be blocked.
            Action::Block if matches!(self.finding.kind, Kind::Text | Kind::Echo) => {
                " If it goes on, it will be stopped."
            }
            Action::Block if self.finding.kind == Kind::Cycle => {
                " These calls are blocked from here on: do not retry them."
            }
            Action::Block => " The call is blocked from here on: do not retry it.",
            Action::StartOver => {
                " The work goes back to where it began: take another approach this time."
            }
            Action::Stop => " The run ends here.",
        }
    }
}

impl fmt::Display for Nudge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what(f)?;
        // Whoever is stopped has no use for advice.
        if !self.action.clears() {
            self.advice(f)?;
        }
        f.write_str(self.consequence())
    }
}
