//! The calls of a trace in the form in which a report draws them.

use std::collections::HashMap;
use std::sync::Arc;

use unstuck_core::{Action, Digest};
use unstuck_trace::{Call, Outcome};

use super::findings::LoopKey;

/// The most calls of a trace that are drawn.
pub const CALLS_MAX: usize = 10_000;

/// The calls of a trace, in its order: at most [`CALLS_MAX`] of them.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The calls.
    pub calls: Vec<Drawn>,
    /// The names of the tools, in the order of their first calls.
    pub tools: Vec<String>,
    /// The names of the workers, in the order of their first calls.
    pub workers: Vec<String>,
    /// The number of calls behind the last drawn one.
    pub left_out: usize,
}

impl Picture {
    /// Returns the picture of calls given by `text`: a letter is a class of calls and their tool, upper case
    /// is evidence, and a digit after it is the class of the result.
    #[doc(hidden)]
    #[must_use]
    pub fn sketched(text: &str) -> Self {
        let mut picture = Self { workers: vec!["main".to_owned()], ..Self::default() };
        for c in text.chars() {
            if let (Some(result), Some(call)) = (c.to_digit(10), picture.calls.last_mut()) {
                (call.result, call.ending) = (Some(result), Ending::Ok);
                continue;
            }
            let class = u32::from(c.to_ascii_lowercase()) - u32::from('a');
            while picture.tools.len() <= class as usize {
                picture.tools.push(format!("tool-{}", picture.tools.len()));
            }
            picture.calls.push(Drawn {
                tool: class,
                worker: 0,
                class,
                result: None,
                ending: Ending::Open,
                of_loop: c.is_uppercase().then_some(0),
                told: Action::Proceed,
            });
        }
        picture
    }
}

/// A call as it is drawn.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The index of its tool in [`Picture::tools`].
    pub(crate) tool: u32,
    /// The index of its worker in [`Picture::workers`].
    pub worker: u32,
    /// The class of the call. Calls are of one class if the engine takes them for the same call.
    pub(crate) class: u32,
    /// The class of the result, or `None` if it is unknown.
    pub(crate) result: Option<u32>,
    /// How the call ended.
    pub ending: Ending,
    /// The loop that this call is evidence of. The first one counts.
    pub of_loop: Option<LoopKey>,
    /// The action that the agent would have been told at this call for the first time.
    pub told: Action,
}

/// The ending of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// No result is known.
    Open,
    /// The call succeeded.
    Ok,
    /// The call failed.
    Failed,
    /// The call was refused and not made.
    Refused,
}

/// Collects a [`Picture`] from the events of a trace.
#[derive(Default)]
pub(super) struct Drawing {
    picture: Picture,
    tools: HashMap<Box<str>, u32>,
    workers: HashMap<Arc<str>, u32>,
    classes: HashMap<Digest, u32>,
    results: HashMap<Digest, u32>,
}

impl Drawing {
    /// Takes in a call of the worker `worker`, which the engine knows by `digest`.
    pub(super) fn call(&mut self, worker: &Arc<str>, call: &Call<'_>, digest: Digest) {
        if self.picture.calls.len() == CALLS_MAX {
            self.picture.left_out += 1;
            return;
        }
        let tool = if let Some(&tool) = self.tools.get(call.tool) {
            tool
        } else {
            self.picture.tools.push(call.tool.to_owned());
            number(&mut self.tools, call.tool.into())
        };
        let worker_number = number(&mut self.workers, Arc::clone(worker));
        if self.picture.workers.len() < self.workers.len() {
            self.picture.workers.push(worker.to_string());
        }
        self.picture.calls.push(Drawn {
            tool,
            worker: worker_number,
            class: number(&mut self.classes, digest),
            result: None,
            ending: Ending::Open,
            of_loop: None,
            told: Action::Proceed,
        });
    }

    /// Takes in the outcome of a call. `known` is what the engine made of it, if it counts.
    pub(super) fn outcome(&mut self, outcome: &Outcome<'_>, known: Option<unstuck_core::Outcome>) {
        let result = known.map(|outcome| number(&mut self.results, outcome.digest()));
        let Some(call) = self.picture.calls.get_mut(outcome.call) else { return };
        call.result = result;
        call.ending = match known {
            _ if outcome.refused => Ending::Refused,
            Some(known) if known.has_failed() => Ending::Failed,
            _ if outcome.failed => Ending::Failed,
            _ => Ending::Ok,
        };
    }

    /// Notes that `calls` are evidence of a loop.
    pub(super) fn evidence(&mut self, of: LoopKey, calls: impl Iterator<Item = usize>) {
        for call in calls {
            if let Some(call) = self.picture.calls.get_mut(call) {
                call.of_loop.get_or_insert(of);
            }
        }
    }

    /// Notes the action that a guard would have taken at the call `at`.
    pub(super) fn acted(&mut self, at: usize, action: Action) {
        if let Some(call) = self.picture.calls.get_mut(at) {
            call.told = call.told.max(action);
        }
    }

    pub(super) fn finish(self) -> Picture {
        self.picture
    }
}

/// Returns the number of `key`. Keys are numbered in the order in which they come.
fn number<K: Eq + std::hash::Hash>(numbers: &mut HashMap<K, u32>, key: K) -> u32 {
    // At most as many keys as calls, which are few.
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    *numbers.entry(key).or_insert(next)
}
