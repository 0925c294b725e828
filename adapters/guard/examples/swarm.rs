//! Eight agents that get stuck together, and are freed because they share their counts. No model: each is a script.
//!
//! Every agent tries the same installation, which fails for all of them, and reads on between its tries, so that no
//! guard alone finds a loop. Then they do it again with a ledger that they share. Here it is in one process; a
//! `RedisStore` in its place counts for processes on many machines.

use std::error::Error;
use std::sync::Arc;

use unstuck::{Action, Guard, SwarmStore};
use unstuck_swarm::{Rule, SharedLedger};

const AGENTS: usize = 8;

/// The number of tries in the budget of an agent.
const TRIES_MAX: usize = 6;

/// The number of files that an agent reads between two tries.
const READS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    println!("Each by itself:");
    show(&run(None)?);
    println!("\nWith a board that they share:");
    let agents = run(Some(&(Arc::new(SharedLedger::new(Rule::default())?) as _)))?;
    show(&agents);
    let told = agents.iter().filter_map(|agent| Some((agent.tries, agent.told.as_ref()?)));
    if let Some((_, message)) = told.max_by_key(|(tries, _)| *tries) {
        println!("\nThe last of them to hear of it read:\n{message}");
    }
    Ok(())
}

/// An agent, and its tries until it read a message.
struct Agent {
    name: String,
    guard: Guard,
    tries: usize,
    told: Option<String>,
}

/// Lets all agents take turns until each has read a message, or has spent its budget.
fn run(store: Option<&Arc<dyn SwarmStore>>) -> Result<Vec<Agent>, Box<dyn Error>> {
    let mut agents = Vec::new();
    for n in 1..=AGENTS {
        let name = format!("w{n}");
        let builder = Guard::builder().session("example").worker(&name);
        let builder = match store {
            Some(store) => builder.swarm(Arc::clone(store)),
            None => builder,
        };
        agents.push(Agent { name, guard: builder.build()?, tries: 0, told: None });
    }
    for _ in 0..TRIES_MAX {
        for agent in agents.iter_mut().filter(|agent| agent.told.is_none()) {
            agent.try_again();
        }
    }
    Ok(agents)
}

impl Agent {
    /// Tries once. Without a message, the agent reads on.
    fn try_again(&mut self) {
        self.tries += 1;
        self.told = self.call("bash", r#"{"command":"npm ci"}"#, "npm error 403 Forbidden", true);
        for n in 0..READS {
            let (name, tries) = (&self.name, self.tries);
            let path = format!(r#"{{"path":"{name}/{tries}-{n}.md"}}"#);
            let page = format!("page {n} of {tries}, by {name}");
            if self.told.is_none() {
                let _ = self.call("read_file", &path, &page, false);
            }
        }
    }

    /// Makes a call with that result. Returns the message for the model.
    fn call(&mut self, tool: &str, args: &str, result: &str, failed: bool) -> Option<String> {
        let before = self.guard.before(tool, args);
        if before.is_blocked() {
            return Some(before.refusal());
        }
        let after = self.guard.after(before.ticket(), result, failed);
        after.message().filter(|_| after.action() > Action::Proceed).map(unstuck::Message::note)
    }
}

fn show(agents: &[Agent]) {
    println!("  worker  tries  told at  free");
    for Agent { name, tries, told, .. } in agents {
        let (at, free) = match told {
            Some(_) => (tries.to_string(), "yes"),
            None => ("-".to_owned(), "no"),
        };
        println!("  {name:<6}  {tries:>5}  {at:>7}  {free}");
    }
    let tries: usize = agents.iter().map(|agent| agent.tries).sum();
    println!("  {tries} tries of what cannot work");
}
