//! The agents that load a plugin: a JavaScript file with which they run this program.
//!
//! Such an agent has no settings for hooks. It loads a file that this program writes, and the file runs
//! `unstuck hook` at each event. All of them share the payloads and answers of this module: a payload is an object with
//! the members of [`Payload`], and the answer is an object with one of `tell`, `refuse` and `stop`, each with the text for
//! the model, and with `person`, a line for the user.
//!
//! A plugin judges nothing. It translates events and starts the program with a time limit, so that it is replaced
//! only if the payloads or the answers change.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use unstuck::SIGN;
use unstuck_trace::{Format, opencode_tool};

use super::event::{BadPayload, Call, Ending, Event, EventKind, Raw, json, needed, text};
use super::hooks::{Hooks, Plugin};
use super::host::{Diagnosis, Ends, Home, Host, Installation, Transcripts};
use super::reply::{Encoded, Reply, Words};
use super::settings::{Entry, Line};

/// The plugin of opencode, which its fork Kilo Code loads, too.
const OF_OPENCODE: Plugin = Plugin::new(include_str!("opencode/plugin.js"));

pub(super) const OPENCODE: Host = Host {
    home: Home::Config("opencode"),
    folder: ".opencode",
    file: "plugin/unstuck.js",
    ..host("opencode", "opencode", OF_OPENCODE)
};

pub(super) const KILO: Host = Host {
    home: Home::Config("kilo"),
    folder: ".kilo",
    file: "plugin/unstuck.js",
    ..host("kilo", "Kilo Code", OF_OPENCODE)
};

/// pi, whose plugin is an extension in the folder of its agent.
pub(super) const PI: Host = Host {
    home: Home::Within("PI_CODING_AGENT_DIR", ".pi/agent"),
    folder: ".pi",
    file: "extensions/unstuck.js",
    advice: "Sessions that begin from now on are watched. pi loads the extensions of a project only if it \
             trusts the project.",
    transcripts: Some(Transcripts::jsonl(Format::PI, "sessions")),
    ..host("pi", "pi", Plugin::new(include_str!("pi/extension.js")))
};

/// The beginning of each plugin, by which this program recognises its files.
const HEAD: &str = "// unstuck, plugin version ";

/// The marks in the source that stand for the agent's name and for the command as a JSON array.
const AGENT: &str = "__AGENT__";
const COMMAND: &str = "__COMMAND__";

/// The line of a plugin that holds the command.
const LINE: (&str, &str) = ("const COMMAND = ", ";");

impl Plugin {
    const fn new(own: &'static str) -> Self {
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
        let mut command = text.strip_prefix(HEAD)?.lines().find_map(words)?;
        let args = command.split_off(command.len().min(1));
        Line::read(&command.pop()?, Some(args)).map(Entry::of_plugin)
    }
}

/// The description of an agent that loads `plugin`. It still lacks its folder and the file of the plugin.
const fn host(name: &'static str, title: &'static str, plugin: Plugin) -> Host {
    let (hooks, sample, ends) = (Hooks::plugin(plugin), SAMPLE, Ends::Turns);
    Host { hooks, sample, ends, diagnose, ..Host::new(name, title, decode, encode) }
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

/// A call that is about to run.
const SAMPLE: &str = concat!(
    r#"{"event":"before","session":"unstuck-doctor","cwd":"/","#,
    r#""call":"call_unstuck_doctor","tool":"bash","args":{"command":"true"}}"#,
);

/// The beginnings of the errors of calls that the user or a rule of the agent refused.
const REFUSED: [&str; 2] =
    ["The user rejected permission to use", "The user has specified a rule which prevents you"];

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Payload<'a> {
    /// The kind of event.
    event: Option<Cow<'a, str>>,
    session: Option<Cow<'a, str>>,
    /// The id of the subagent's session, whose parent is `session`.
    subagent: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    /// The id of the call.
    call: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    args: Raw<'a>,
    /// The result of the call, or its error.
    output: Raw<'a>,
    #[serde(default)]
    failed: bool,
    #[serde(default)]
    cancelled: bool,
    /// The exit code of a command.
    exit: Raw<'a>,
    /// The text of a message.
    text: Raw<'a>,
}

/// Reads a payload.
fn decode(payload: &[u8]) -> Result<Event<'_>, BadPayload> {
    let payload: Payload<'_> = serde_json::from_slice(payload)?;
    let name = needed(payload.event.clone(), "event")?;
    let kind = match name.as_ref() {
        "before" => EventKind::Before(payload.call()?),
        "after" => EventKind::After(payload.call()?, payload.ending()),
        "prompt" => EventKind::Prompt(text(payload.text).unwrap_or_default()),
        "idle" => EventKind::HandedBack(text(payload.text).unwrap_or_default()),
        "interrupted" => EventKind::Interrupted,
        "compacted" => EventKind::Compacted,
        "began" => EventKind::Began,
        "ended" => EventKind::Ended,
        _ => EventKind::Other,
    };
    Ok(Event {
        model: None,
        transcript: None,
        name,
        session: needed(payload.session, "session")?,
        subagent: payload.subagent,
        cwd: payload.cwd,
        turn: None,
        kind,
    })
}

impl<'a> Payload<'a> {
    fn call(&self) -> Result<Call<'a>, BadPayload> {
        let args = Cow::Borrowed(json(self.args));
        let tool = opencode_tool(needed(self.tool.clone(), "tool")?, &args);
        Ok(Call { id: self.call.clone(), tool, args })
    }

    fn ending(&self) -> Ending<'a> {
        let text = text(self.output).unwrap_or_default();
        let exit = self.exit.and_then(|exit| exit.get().parse::<i64>().ok());
        let failed = self.failed || exit.is_some_and(|exit| exit != 0);
        // The error of a call that this program has refused is what it said.
        let is_refused = |text: &str| REFUSED.iter().chain([&SIGN]).any(|by| text.starts_with(by));
        match text {
            _ if self.cancelled => Ending::Cancelled,
            _ if self.output.is_none() && self.exit.is_none() && !failed => Ending::Untold,
            text if failed && is_refused(&text) => Ending::Refused,
            text => Ending::Answered { text, failed },
        }
    }
}

/// Writes a reply as the plugins read it.
fn encode(reply: &Reply, event: &Event<'_>) -> Encoded {
    let answer =
        |what: &str, Words { model, person }: &Words| json!({ what: model, "person": person });
    Encoded::Whole(match (reply, &event.kind) {
        // At the end of a turn there is nothing left to stop.
        (Reply::Nothing, _) | (Reply::Stop(_), EventKind::HandedBack(_)) => String::new(),
        (Reply::Tell(text), EventKind::After(..)) => json!({ "tell": text }).to_string(),
        (Reply::Refuse(words), EventKind::Before(_)) => answer("refuse", words).to_string(),
        (Reply::Stop(words), EventKind::Before(_) | EventKind::After(..)) => {
            answer("stop", words).to_string()
        }
        _ => return Encoded::Partial(String::new()),
    })
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
            assert_eq!(Plugin::entry(&format!("{HEAD}1\nconst COMMAND = {command};\n")), None);
        }
    }
}
