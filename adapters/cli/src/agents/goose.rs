//! goose: hooks of a plugin, as lines for `sh`. Not run: the facts are from its documentation and source.

mod wire;

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::hooks::{HookEvent, Hooks};
use super::host::{Diagnosis, Ends, Home, Host, Installation, Quirks, Wire};

pub(super) const HOST: Host = Host {
    name: "goose",
    title: "goose",
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
    wire: Wire { decode: wire::decode, encode: wire::encode },
    ends: Ends::Nothing,
    quirks: Quirks::NONE,
    transcripts: None,
    diagnose,
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
    Diagnosis { obstacles: obstacle.into_iter().collect(), advice: Vec::new(), trusted: None }
}

fn disables(settings: &Path) -> bool {
    let settings = fs::read_to_string(settings).unwrap_or_default();
    let settings: Value = serde_json::from_str(&settings).unwrap_or_default();
    let disabled = settings.get("disabledPlugins").and_then(Value::as_array);
    disabled.is_some_and(|names| names.iter().any(|name| name == PLUGIN))
}
