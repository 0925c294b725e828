//! The spans of a sample, and the agents that they belong to.

use std::collections::HashMap;

use crate::recorder::{MAIN, WORKERS_MAX};

/// The open spans, each with the worker of its events.
///
/// A worker is an agent: the innermost span of that type around an event. An agent that is called again does
/// not remember its first call, so it is another worker: `search`, then `search 2`.
#[derive(Debug, Default)]
pub(super) struct Spans {
    workers: HashMap<String, String>,
    /// The number of spans of each agent.
    agents: HashMap<String, usize>,
}

impl Spans {
    /// Begins a span, of an agent if its name is given. Too many are left out: real samples have tens of open
    /// spans.
    pub(super) fn begin(&mut self, id: &str, parent: &str, agent: Option<&str>) {
        if self.workers.len().max(self.agents.len()) >= WORKERS_MAX {
            return;
        }
        let worker = match agent {
            Some(agent) => self.name(agent),
            None => self.worker(parent),
        };
        self.workers.insert(id.to_owned(), worker);
    }

    pub(super) fn end(&mut self, id: &str) {
        self.workers.remove(id);
    }

    /// Returns the worker of a span's events.
    pub(super) fn worker(&self, id: &str) -> String {
        self.workers.get(id).map_or_else(|| MAIN.to_owned(), Clone::clone)
    }

    fn name(&mut self, agent: &str) -> String {
        let count = self.agents.entry(agent.to_owned()).or_default();
        *count += 1;
        if *count == 1 { agent.to_owned() } else { format!("{agent} {count}") }
    }
}
