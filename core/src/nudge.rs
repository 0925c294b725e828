//! The messages that tell an agent that it is stuck.

use core::fmt;

use crate::ladder::Action;
use crate::record::Tag;
use crate::rule::{Args, Results};
use crate::verdict::{Ended, Failure, Finding, Kind};

/// The number of tools that a message about a cycle names. A message must stay short.
const NAMES_MAX: usize = 6;

/// A short English message for the agent: the fact with its numbers, why more of the same will not
/// help, two alternatives, and what happens next. [`Display`](fmt::Display) renders it into any
/// writer.
///
/// The advice of a nudge fits the kind of call. The advice of a warning or a block depends on the
/// number of repetitions, so that an agent that is warned again reads something new. A warning
/// threatens only with what can follow it: see [`Finding::most`].
///
/// The message names tools and numbers. It never repeats arguments or results, because the agent
/// or a web page wrote them, and such text must not come back as an instruction.
///
/// ```
/// use unstuck_core::{Action, Call, Detector, Digest, Outcome, Tool, presets};
///
/// let mut detector: Detector<'_, 20> = Detector::new(&presets::BALANCED)?;
/// let names = ["read", "shell"];
/// for round in 0..4 {
///     let name = names[round % 2];
///     let announced = detector.announce(Call::new(Tool::named(name), Digest::of(b"{}")));
///     let verdict = detector.outcome(announced.id, Outcome::ok(Digest::of(name.as_bytes())));
///     let Some(finding) = verdict.finding else { continue };
///     let mut lap = Vec::new();
///     for seq in finding.lap() {
///         let tool = detector.tool_of(seq);
///         lap.extend(names.into_iter().filter(|name| tool == Some(Tool::named(name))));
///     }
///     assert_eq!(
///         finding.nudge(verdict.action, name).lap(&lap).to_string(),
///         "You are going in circles: `read → shell`, the same 2 calls, 2 times over, and each comes \
///          back as it did before. None of these calls changes what the others find. Change \
///          something first, use another source, or say what blocks you."
///     );
/// }
/// # Ok::<(), unstuck_core::PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Nudge<'n> {
    finding: Finding,
    action: Action,
    tool: &'n str,
    lap: &'n [&'n str],
    failing: &'n str,
}

impl Finding {
    /// Returns a short English message for the agent that is stuck. `tool` is the name of
    /// [`Finding::tool`], which can differ from the tool of the call just made.
    pub const fn nudge<'n>(&self, action: Action, tool: &'n str) -> Nudge<'n> {
        Nudge { finding: *self, action, tool, lap: &[], failing: "" }
    }
}

impl<'n> Nudge<'n> {
    /// Returns the message with the names of the tools of one lap of a cycle, in the order of
    /// [`Finding::lap`].
    ///
    /// A message about a cycle then shows the order of the calls, six at most. Other messages stay
    /// the same, and so does this one if a name is empty or their number is not the period.
    #[must_use]
    pub const fn lap(self, tools: &'n [&'n str]) -> Self {
        Self { lap: tools, ..self }
    }

    /// Returns the message with the name of the tool that [fails](crate::Detector::failing) between the calls of the
    /// finding. With an empty name, it stays the same.
    #[must_use]
    pub const fn failing(self, tool: &'n str) -> Self {
        Self { failing: tool, ..self }
    }
}

impl Nudge<'_> {
    fn fact(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { kind, args, laps, tag, .. } = self.finding;
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
                f.write_str("You are going in circles: ")?;
                self.circle(f)?;
                write!(f, ", {laps} times over")?;
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
        f.write_str(self.answers())?;
        if !self.failing.is_empty() {
            write!(f, " What fails is `{}`.", self.failing)?;
        }
        Ok(())
    }

    /// Writes the calls of a cycle, with the names of their tools as far as they are known.
    fn circle(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = self.finding.period;
        let lap = match self.lap {
            lap if lap.len() == usize::from(period) && !lap.contains(&"") => lap,
            _ => return write!(f, "the same {period} calls"),
        };
        match lap {
            [one, others @ ..] if others.iter().all(|other| other == one) => {
                return write!(f, "the same {period} `{one}` calls");
            }
            _ => {}
        }
        f.write_str("`")?;
        for (place, name) in lap.iter().take(NAMES_MAX).enumerate() {
            f.write_str(if place == 0 { "" } else { " → " })?;
            f.write_str(name)?;
        }
        let rest = if lap.len() > NAMES_MAX { " → …" } else { "" };
        write!(f, "{rest}`, the same {period} calls")
    }

    /// Returns the end of the sentence that [`Nudge::fact`] began: how the outcomes compare.
    fn answers(&self) -> &'static str {
        let Finding { args, results, kind, .. } = self.finding;
        let failed = self.finding.has_failed();
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
            (Results::Ignored, true, true) if kind == Kind::Recurrence => " have failed.",
            (Results::Ignored, true, true) => " have failed, one after the other.",
            (Results::Ignored, false, true) => " have come one after the other.",
            (Results::Ignored, _, false) => ".",
        }
    }

    fn advice(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.finding.tag == Tag::Poll && !self.finding.has_failed() {
            return f.write_str(self.advice_to_wait());
        }
        if self.finding.failure() == Some(Failure::Transient) && self.finding.kind != Kind::Cycle {
            return f.write_str(self.advice_to_retry_later());
        }
        match self.action {
            Action::Proceed | Action::Nudge => f.write_str(self.first_advice()),
            _ => self.later_advice(f),
        }
    }

    /// Returns the advice of a nudge, which fits the kind of call.
    fn first_advice(&self) -> &'static str {
        let Finding { kind, tag, args, results, .. } = self.finding;
        let failed = self.finding.has_failed();
        if !self.failing.is_empty() {
            return " Its error will not go away by itself: change what causes it, try another tool, or say what \
                    blocks you.";
        }
        match (kind, tag, failed) {
            (Kind::Recurrence, _, true) if (args, results) == (Args::Any, Results::Ignored) => {
                " The goal itself may need another look: say what you have tried, and what you \
                 expected, or ask the user."
            }
            _ if self.finding.is_about_prompts() => {
                " The same answer will not settle it: call a tool that does what the message asks \
                 for, or say what is missing."
            }
            (Kind::Text | Kind::Echo, _, _) => {
                " More text changes nothing: make the next call, or say that you are done."
            }
            (_, Tag::Test, true) => {
                " Another run does not fix the cause: read the first error again, or run only the \
                 test that fails."
            }
            (Kind::Cycle, _, _) => {
                " None of these calls changes what the others find. Change something first, use \
                 another source, or say what blocks you."
            }
            (_, Tag::Shell, true) => {
                " Running it again does not fix it: check the command, its directory and what it \
                 needs, or try another command."
            }
            (_, Tag::Read | Tag::Search, true) => {
                " The error will not go away by itself: check the name or the query, or look with \
                 another tool."
            }
            (_, Tag::Write, true) if self.edits_files() => {
                " The error will not go away by itself: read the file as it is now, or make a \
                 smaller change."
            }
            (_, Tag::Write, true) => {
                " The error will not go away by itself: look at what is there now, or make a \
                 smaller change."
            }
            (_, _, true) => {
                " The error will not go away by itself: change what causes it, try another tool, \
                 or say what blocks you."
            }
            (_, Tag::Read | Tag::Search, false) if self.finding.ended == Ended::Settled => {
                " You already have this answer: use it, or look somewhere else."
            }
            (_, Tag::Read | Tag::Search, false) => {
                " Nothing new is there: use what you have, look somewhere else, or wait longer before the next look."
            }
            (_, Tag::Write, false) => {
                " Once more will not change that: the task may be complete. Say so, or do what is \
                 still missing."
            }
            _ => {
                " Once more will not change that: use what you have, try another tool, or say \
                 what blocks you."
            }
        }
    }

    /// Returns whether the tool edits files, by its name. Others write tickets, settings or commits.
    fn edits_files(&self) -> bool {
        ["edit", "write", "replace", "patch", "file"].iter().any(|word| {
            let at = |start: usize| self.tool.get(start..start.saturating_add(word.len()));
            let mut parts = (0..self.tool.len()).filter_map(at);
            parts.any(|part| part.eq_ignore_ascii_case(word))
        })
    }

    /// Writes the advice of a warning or a block: at first a smaller step, then in turn another
    /// source and a pause to think, and at last to stop.
    fn later_advice(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { kind, laps, .. } = self.finding;
        let next = if kind == Kind::Cycle { "round" } else { "call" };
        match (laps, kind) {
            (..=5, Kind::Text | Kind::Echo) => {
                f.write_str(" Make the next call now, however small. If you cannot, say why.")
            }
            (..=3, _) if self.action == Action::Warn => write!(
                f,
                " State in one sentence what the next {next} will show that the last {laps} did \
                 not, or take a smaller step."
            ),
            (..=9, _) if laps & 1 == 0 => f.write_str(
                " More of the same brings nothing new: use a different file, tool or query, or ask \
                 the user.",
            ),
            (..=9, _) => f.write_str(
                " Write down what you know and what you need, then take a smaller step or ask the \
                 user.",
            ),
            _ => f.write_str(
                " End this line of work: say that it is done, or say plainly what blocks you.",
            ),
        }
    }

    /// Returns the advice for an agent that waits for something.
    fn advice_to_wait(&self) -> &'static str {
        // Only a rule about results knows that nothing has changed.
        let is_same = self.finding.results == Results::Same;
        if self.finding.ended == Ended::Started {
            return " Each of these calls may have started another copy of the same job: look at the one that \
                    runs, or stop the copies.";
        }
        match (self.finding.laps, self.action, is_same) {
            (..=10, Action::Warn | Action::Block, _) => {
                " Wait at least twice as long before the next check, or work on another part \
                 meanwhile."
            }
            (..=10, _, true) => {
                " Nothing has changed yet: wait longer between checks, or do something else \
                 meanwhile."
            }
            (..=10, _, false) => " Wait longer between checks, or do something else meanwhile.",
            (_, _, true) => {
                " Nothing has changed for so long that it may never: do something else, or say \
                 what you are waiting for and end your turn."
            }
            (_, _, false) => {
                " Do something else, or say what you are waiting for and end your turn."
            }
        }
    }

    /// Returns the advice for a failure that may pass by itself.
    fn advice_to_retry_later(&self) -> &'static str {
        match self.finding.laps {
            ..=10 => {
                " It may pass, but not at once: wait before the next attempt, as long as the answer \
                 says if it does, or do something else meanwhile."
            }
            _ => {
                " It has lasted so long that it may not pass: take another way, or say what blocks \
                 you and end your turn."
            }
        }
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
        self.fact(f)?;
        // An agent that is stopped has no use for advice.
        if !self.action.clears() {
            self.advice(f)?;
        }
        f.write_str(self.consequence())
    }
}
