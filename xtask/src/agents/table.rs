//! The recorded tables, `xtask/agents/expected/AGENT.txt`: one line for each scenario.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::client::Client;
use super::scenario::{self, Scenario};
use crate::machine;

/// The width of the column of names.
const NAME_WIDTH: usize = 22;

/// The table of one client.
#[derive(Debug)]
pub(super) struct Table {
    client: &'static Client,
    lines: Vec<(String, String)>,
}

impl Table {
    /// Reads the table of `client`, which is empty if there is no file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub(super) fn read(client: &'static Client) -> Result<Self, String> {
        let path = path(client);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) if !path.exists() => String::new(),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        Ok(Self { client, lines: parse(&text) })
    }

    /// The recorded line of a scenario.
    pub(super) fn line(&self, scenario: &Scenario) -> Option<&str> {
        let line = self.lines.iter().find(|(name, _)| name == scenario.name);
        line.map(|(_, line)| line.as_str())
    }

    /// Records the line of a scenario.
    pub(super) fn set(&mut self, scenario: &Scenario, line: String) {
        self.lines.retain(|(name, _)| name != scenario.name);
        self.lines.push((scenario.name.into(), line));
    }

    /// Writes the table, in the order of the scenarios.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(super) fn write(&self) -> Result<(), String> {
        let path = path(self.client);
        let today =
            Command::new("date").arg("+%F").output().map_err(|error| format!("date: {error}"))?;
        let today = String::from_utf8_lossy(&today.stdout);
        fs::write(&path, self.text(today.trim()))
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    fn text(&self, today: &str) -> String {
        let package = self.client.packages.first().copied().unwrap_or_default();
        let head = format!("# {}: {package}, last recorded {today}\n", self.client.title);
        let lines = scenario::ALL.iter().filter_map(|scenario| {
            let line = self.line(scenario)?;
            Some(format!("{:<NAME_WIDTH$} {line}\n", scenario.name))
        });
        head + &lines.collect::<String>()
    }
}

fn path(client: &Client) -> PathBuf {
    machine::root().join("xtask/agents/expected").join(format!("{}.txt", client.name))
}

fn parse(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once(' '));
    pairs.map(|(name, line)| (name.into(), line.trim().into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let client = Client::named("codex").expect("a client");
        let mut table = Table { client, lines: Vec::new() };
        let [first, second] =
            ["same-failing-command", "flaky"].map(|name| Scenario::named(name).expect("one"));
        table.set(second, "calls 3".into());
        table.set(first, "calls 7".into());
        table.set(first, "calls 8 · told 3".into());
        let text = table.text("2026-01-31");
        assert!(text.starts_with("# Codex: @openai/codex@"), "{text}");
        assert!(text.ends_with("last recorded 2026-01-31\nsame-failing-command   calls 8 · told 3\nflaky                  calls 3\n"), "{text}");
        let read = Table { client, lines: parse(&text) };
        assert_eq!(
            (read.line(first), read.line(second)),
            (Some("calls 8 · told 3"), Some("calls 3"))
        );
    }

    #[test]
    fn every_recorded_line_belongs_to_a_scenario_and_the_current_version() {
        for client in super::super::client::ALL {
            let table = Table::read(client).expect("a table");
            for (name, _) in &table.lines {
                Scenario::named(name).expect("a scenario");
            }
            let Ok(text) = fs::read_to_string(path(client)) else { continue };
            let package = client.packages.first().expect("a package");
            assert!(text.contains(package), "{}: recorded with another version", client.name);
        }
    }
}
