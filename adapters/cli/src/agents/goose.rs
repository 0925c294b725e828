//! goose: hooks of a plugin, as lines for `sh`. Not run: the facts are from its documentation and source.

use std::borrow::Cow;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use unstuck_trace::ToolResult;

use super::dialect::{self, Dialect, HookPayload};
use super::event::{BadPayload, Ending, Event, EventKind, needed, text};
use super::hooks::{HookEvent, Hooks};
use super::host::{Diagnosis, Home, Host, Installation};
use super::reply::{Encoded, Reply};

pub(super) const HOST: Host = Host {
    home: Home::Parent("GOOSE_PATH_ROOT"),
    folder: ".agents",
    file: "plugins/unstuck/hooks/hooks.json",
    // goose reads a matcher as a regular expression, of which `*` is none.
    hooks: Hooks::at(&[
        HookEvent::plain("PreToolUse"),
        HookEvent::plain("PostToolUse"),
        HookEvent::plain("PostToolUseFailure"),
        HookEvent::plain("UserPromptSubmit"),
        HookEvent::plain("Stop"),
        HookEvent::plain("SessionStart"),
        HookEvent::plain("SessionEnd"),
    ]),
    advice: "These hooks follow goose's documentation and were not run with it. No hook can give the model \
             a note or end a turn of goose: a loop is refused until you speak, without a warning before.",
    sample: concat!(
        r#"{"event":"PreToolUse","session_id":"unstuck-doctor","tool_name":"developer__shell","#,
        r#""tool_input":{"command":"true"},"tool_call_id":"unstuck_doctor","working_dir":"/"}"#,
    ),
    diagnose,
    ..Host::new("goose", "goose", dialect::decode::<Goose>, encode)
};

/// The name of the plugin and of its folder.
const PLUGIN: &str = "unstuck";

/// Returns the reasons in goose's settings why it does not run an installed hook.
fn diagnose(found: &Installation<'_>) -> Diagnosis {
    // The plugin is in `.agents/plugins`, beside which goose's settings are in `.config/goose`.
    let around = found.path.ancestors().nth(5);
    let obstacle = around.map(|around| around.join(".config/goose/settings.json"));
    let obstacle = obstacle.filter(|settings| disables(settings)).map(|settings| {
        format!("{} lists {PLUGIN} in disabledPlugins: remove the name", settings.display())
    });
    Diagnosis { obstacles: Vec::from_iter(obstacle), ..Diagnosis::default() }
}

fn disables(settings: &Path) -> bool {
    let settings = fs::read_to_string(settings).unwrap_or_default();
    let settings: Value = serde_json::from_str(&settings).unwrap_or_default();
    let disabled = settings["disabledPlugins"].as_array();
    disabled.is_some_and(|names| names.iter().any(|name| name == PLUGIN))
}

/// goose's dialect. The answer to `PreToolUse` can refuse the call, and no other answer is read: a note has no place, and
/// no answer ends a turn. Some versions send no results, so that a loop of calls that work is not seen.
struct Goose;

impl Dialect for Goose {
    const NOTED: &'static [&'static str] = &[];

    fn name<'a>(payload: &HookPayload<'a>) -> Result<Cow<'a, str>, BadPayload> {
        needed(text(payload.event), "event")
    }

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        let output = payload.tool_output.map(|raw| ToolResult::plain(raw).text);
        output.map_or(Ending::Untold, |text| Ending::Answered { text, failed: false })
    }

    fn failure<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        let output = payload.tool_output.map(|raw| ToolResult::plain(raw).text);
        Ending::Answered { text: output.unwrap_or_default(), failed: true }
    }

    fn adapted<'a>(_: &HookPayload<'a>, event: Event<'a>) -> Event<'a> {
        Event { subagent: None, turn: None, ..event }
    }
}

/// Writes a reply as goose reads it. A note, which has no place, is not kept for a later event.
fn encode(reply: &Reply, event: &Event<'_>) -> Encoded {
    match (reply, &event.kind) {
        (Reply::Refuse(words) | Reply::Stop(words), EventKind::Before(_)) => Encoded::Whole(
            json!({ "decision": "block", "reason": words.model.trim_end_matches('.') }).to_string(),
        ),
        (Reply::Ask(_) | Reply::Refuse(_), _) => Encoded::Partial(String::new()),
        (Reply::Nothing | Reply::Tell(_) | Reply::Stop(_) | Reply::StartOver(_), _) => {
            Encoded::Whole(String::new())
        }
    }
}
