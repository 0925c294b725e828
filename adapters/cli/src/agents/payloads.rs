//! Tests of every agent's payloads: `payloads/AGENT.txt` lists them, each with the event that it is.
//!
//! A line of JSON members is a payload, which begins with the members of the last line `with`. The indented line below
//! it is the event. With `UNSTUCK_GOLDEN=write` in the environment, the test writes these lines.

use std::path::Path;
use std::{env, fs};

use super::Agent;
use super::event::{Call, Ending, Event, EventKind, Listed};

fn call(Call { id, tool, args }: &Call<'_>) -> String {
    let id = id.as_ref().map_or_else(String::new, |id| format!(" #{id}"));
    format!("{tool} {args}{id}")
}

fn ending(ending: &Ending<'_>) -> String {
    match ending {
        Ending::Answered { text, failed: false } => format!("ok {text:?}"),
        Ending::Answered { text, failed: true } => format!("failed {text:?}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn listed(calls: &[Listed<'_>]) -> String {
    let ended = |one: &Listed<'_>| format!(", {}: {}", call(&one.call), ending(&one.ending()));
    calls.iter().map(ended).collect()
}

/// Returns the event, as the files have it.
fn shown(event: &Event<'_>) -> String {
    let Event { name: _, session, subagent, cwd, model, transcript, turn, kind } = event;
    let kind = match kind {
        EventKind::Before(one) => format!("before {}", call(one)),
        EventKind::After(one, end) => format!("after {}: {}", call(one), ending(end)),
        EventKind::CallsEnded(calls) => format!("calls ended{}", listed(calls)),
        EventKind::StepEnded(calls) => format!("step ended{}", listed(calls)),
        EventKind::Prompt(text) => format!("prompt {text:?}"),
        EventKind::HandedBack(text) => format!("handed back {text:?}"),
        other => format!("{other:?}").to_lowercase(),
    };
    let session = Some(session).filter(|session| *session != "s");
    let about = [("session", session), ("subagent", subagent.as_ref()), ("cwd", cwd.as_ref())];
    let more =
        [("model", model.as_ref()), ("transcript", transcript.as_ref()), ("turn", turn.as_ref())];
    let told = about.into_iter().chain(more).filter_map(|(name, value)| Some((name, value?)));
    told.fold(kind, |told, (name, value)| format!("{told}; {name} {value}"))
}

/// Returns the text of a file with the events of its payloads.
fn decoded(agent: Agent, text: &str) -> String {
    let (mut with, mut lines) = ("", Vec::new());
    for line in text.lines().filter(|line| !line.starts_with(' ')) {
        lines.push(line.to_owned());
        if let Some(members) = line.strip_prefix("with ") {
            with = members;
        } else if line.starts_with('"') {
            let payload = format!("{{{with},{line}}}");
            let event = (agent.host().decode)(payload.as_bytes());
            let event = event.map_or_else(|error| error.to_string(), |event| shown(&event));
            lines.push(format!("    {event}"));
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn every_known_payload_is_its_event() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/agents/payloads");
    for file in fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let Some(name) = name.strip_suffix(".txt") else { continue };
        let agent = Agent::named(name).expect("an agent");
        let text = fs::read_to_string(&path).expect("a file");
        let decoded = decoded(agent, &text);
        if env::var_os("UNSTUCK_GOLDEN").is_some_and(|what| what == "write") {
            fs::write(&path, decoded).expect("a file");
        } else {
            assert_eq!(text, decoded, "{name}");
        }
    }
}
