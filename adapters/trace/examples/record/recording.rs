//! The conversations of a script that was run, before a format gives them a shape.

use std::io;

use crate::script::{Action, Scenario, Script};
use crate::tools::{Outcome, Scratch};

/// The host's message to an agent that only talks, as unattended hosts send it.
const CARRY_ON: &str = "Please continue.";

/// The conversation of one worker.
#[derive(Debug)]
pub(crate) struct Thread<'s> {
    pub(crate) script: &'s Script,
    pub(crate) events: Vec<Event<'s>>,
}

/// One message of a conversation, with its calls.
#[derive(Debug)]
pub(crate) enum Event<'s> {
    /// The task, or the host's message to a silent agent.
    User(&'s str),
    /// A turn of the agent, with its calls in the order in which they were issued.
    Assistant { text: &'s str, calls: Vec<Called<'s>> },
}

/// A call that has been run.
#[derive(Debug)]
pub(crate) struct Called<'s> {
    pub(crate) action: &'s Action,
    pub(crate) outcome: Outcome,
    /// The conversation of the worker that the call set to work.
    pub(crate) errand: Option<Thread<'s>>,
}

impl Thread<'_> {
    /// The number of calls that the worker made itself.
    pub(crate) fn calls(&self) -> usize {
        let calls = |event: &Event<'_>| match event {
            Event::User(_) => 0,
            Event::Assistant { calls, .. } => calls.len(),
        };
        self.events.iter().map(calls).sum()
    }
}

/// Runs a scenario in a scratch folder of its own.
pub(crate) fn record(scenario: &Scenario) -> io::Result<Thread<'_>> {
    let scratch = Scratch::create(scenario.name, scenario.project)?;
    play(&scenario.script, &scratch)
}

fn play<'s>(script: &'s Script, scratch: &Scratch) -> io::Result<Thread<'s>> {
    let mut events = vec![Event::User(script.task)];
    for (index, turn) in script.turns.iter().enumerate() {
        let calls: Vec<_> =
            turn.calls.iter().map(|action| call(action, scratch)).collect::<io::Result<_>>()?;
        let waits = calls.is_empty() && index + 1 < script.turns.len();
        events.push(Event::Assistant { text: turn.text, calls });
        if waits {
            events.push(Event::User(CARRY_ON));
        }
    }
    Ok(Thread { script, events })
}

fn call<'s>(action: &'s Action, scratch: &Scratch) -> io::Result<Called<'s>> {
    let outcome = match action {
        Action::List { path } => scratch.list(path)?,
        Action::Read { path, page } => scratch.read(path, *page)?,
        Action::Write { path, content } => scratch.write(path, content)?,
        Action::Edit { path, old, new } => scratch.edit(path, old, new)?,
        Action::Shell { command } => scratch.shell(command)?,
        Action::Delegate { script, .. } => return errand(action, script, scratch),
    };
    Ok(Called { action, outcome, errand: None })
}

/// Runs the script of another worker. Its last message is the outcome of the call.
fn errand<'s>(action: &'s Action, script: &'s Script, scratch: &Scratch) -> io::Result<Called<'s>> {
    let thread = play(script, scratch)?;
    let report = script.turns.last().map_or("", |turn| turn.text);
    Ok(Called { action, outcome: Outcome::done(report), errand: Some(thread) })
}
