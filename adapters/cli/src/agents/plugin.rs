//! Plugins: the JavaScript files with which some agents run this program.
//!
//! Such an agent has no settings for hooks. It loads a file that this program writes, and the file runs
//! `unstuck hook` at each event. All of them share the payloads and answers of [`wire`].
//!
//! A plugin judges nothing. It translates events and starts the program with a time limit, so that it is replaced
//! only if the wire changes.

mod wire;

use super::hooks::Hooks;
use super::host::{Diagnosis, Ends, Host, Installation, Wire};
use super::settings::{Entry, Line};

/// The beginning of each plugin, by which this program recognises its files.
const SIGN: &str = "// unstuck, plugin version ";

/// The marks in the source that stand for the agent's name and for the command as a JSON array.
const AGENT: &str = "__AGENT__";
const COMMAND: &str = "__COMMAND__";

/// The line of a plugin that holds the command.
const LINE: (&str, &str) = ("const COMMAND = ", ";");

/// The source of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plugin {
    /// The part that every plugin has.
    common: &'static str,
    /// The part that is written for one agent's events.
    own: &'static str,
}

impl Plugin {
    pub(super) const fn new(own: &'static str) -> Self {
        Self { common: include_str!("plugin/ask.js"), own }
    }

    /// Returns the file with which `agent` runs `line`.
    pub(crate) fn text(self, agent: &str, line: &Line) -> String {
        let words: Vec<_> = [&line.program].into_iter().chain(&line.words).collect();
        // A list of texts can be written as JSON.
        let command = serde_json::to_string(&words).unwrap_or_default();
        let common = self.common.replace(AGENT, agent).replace(COMMAND, &command);
        format!("{common}\n{}", self.own)
    }

    /// Returns the entry for a file that this program wrote, in this version or another one. Returns
    /// `None` for other files.
    pub(crate) fn entry(text: &str) -> Option<Entry> {
        let words = |line: &str| {
            let json = line.strip_prefix(LINE.0)?.strip_suffix(LINE.1)?;
            serde_json::from_str::<Vec<String>>(json).ok()
        };
        let mut command = text.strip_prefix(SIGN)?.lines().find_map(words)?;
        let args = command.split_off(command.len().min(1));
        Line::read(&command.pop()?, Some(args)).map(Entry::of_plugin)
    }
}

/// The description of an agent that loads `plugin`. It still lacks its folder and the file of the plugin.
pub(super) const fn host(name: &'static str, title: &'static str, plugin: Plugin) -> Host {
    let wire = Wire { decode: wire::decode, encode: wire::encode };
    let (hooks, sample, ends) = (Hooks::plugin(plugin), wire::SAMPLE, Ends::Turns);
    Host { hooks, sample, ends, diagnose, ..Host::new(name, title, wire) }
}

/// Reports a plugin that differs from the one that `install` would write now.
fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let is_current =
        |entry: &Entry| found.host.installed("", &entry.line).is_ok_and(|text| text == found.text);
    let mut diagnosis = Diagnosis::default();
    if !found.entries.iter().all(is_current) {
        let (agent, scope) = (found.host.name, found.scope.name());
        diagnosis.obstacles.push(format!(
            "it is out of date or was changed: run unstuck install {agent} --scope {scope}"
        ));
    }
    diagnosis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::Agent;
    use crate::agents::hooks::Form;

    #[test]
    fn a_file_is_recognised_with_its_command() {
        for program in ["/usr/bin/unstuck", "/a b/\"c\\\u{2028}`${d}/unstuck", "/x/unstuck.exe"] {
            let options = ["--config", "it's;\n const COMMAND = [];"].map(str::to_owned).to_vec();
            for agent in Agent::ALL {
                let Form::Plugin(plugin) = agent.host().hooks.form else { continue };
                let line = Line::new(program, agent.name(), options.clone());
                let text = plugin.text(agent.name(), &line);
                assert_eq!(Plugin::entry(&text).map(|entry| entry.line), Some(line), "{text}");
                assert!(!text.contains("__"), "{text}");
            }
        }
        let other = "const COMMAND = [\"/usr/bin/unstuck\",\"hook\",\"pi\"];\n";
        assert_eq!(Plugin::entry(other), None);
        for command in ["[]", "[\"unstuck\"]", "[\"unstuck\",\"scan\"]", "[1]", "{"] {
            assert_eq!(Plugin::entry(&format!("{SIGN}1\nconst COMMAND = {command};\n")), None);
        }
    }
}
