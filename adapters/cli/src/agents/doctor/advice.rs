//! What keeps an agent from running what is installed, by its own settings, and what its user
//! should know.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::agents::Agent;
use crate::agents::host::Host;
use crate::agents::options::Scope;
use crate::agents::settings::{Entry, meaning};

/// What in the settings `text` of the file `path`, or beside it, turns hooks off.
pub(super) fn obstacles(host: &Host, text: &str, path: &Path) -> Vec<String> {
    let mut obstacles = Vec::from_iter(host.too_old());
    match host.agent {
        Agent::ClaudeCode => {
            let users = fs::read_to_string(host.settings(Scope::User)).unwrap_or_default();
            if [text, &users].into_iter().any(|text| says(text, "/disableAllHooks", true)) {
                obstacles.push("disableAllHooks is true: it runs no hook at all".to_owned());
            }
        }
        Agent::Codex => {
            obstacles.extend(not_read_by_codex(text));
            let features = config(path).and_then(|config| config.get("features").cloned());
            let is_off = |name| {
                let feature = features.as_ref().and_then(|features| features.get(name));
                feature.and_then(toml::Value::as_bool) == Some(false)
            };
            if is_off("hooks") || is_off("codex_hooks") {
                obstacles.push("features.hooks is false in its config.toml: no hook runs".into());
            }
        }
        Agent::Gemini => {
            if says(text, "/hooksConfig/enabled", false) {
                obstacles.push("hooksConfig.enabled is false: it runs no hook at all".to_owned());
            }
            let settings = meaning(text).unwrap_or_default();
            let disabled = settings.pointer("/hooksConfig/disabled").and_then(Value::as_array);
            if disabled.is_some_and(|names| names.iter().any(|name| name == "unstuck")) {
                obstacles.push("hooksConfig.disabled names unstuck: it does not run".to_owned());
            }
        }
    }
    obstacles
}

/// What in the settings `text` makes Codex skip them, which reads plain JSON and knows two members.
fn not_read_by_codex(text: &str) -> Option<String> {
    match serde_json::from_str::<Value>(text) {
        Err(error) => Some(format!("Codex skips this file, which is no plain JSON: {error}")),
        Ok(settings) => {
            let names = settings.as_object().into_iter().flat_map(|members| members.keys());
            let unknown =
                names.into_iter().find(|name| !["description", "hooks"].contains(&&name[..]));
            unknown
                .map(|name| format!("Codex skips this file, since it does not know {name:?} in it"))
        }
    }
}

/// What is to be done or known of `entries`, which are in the file `path`.
pub(super) fn advice(host: &Host, scope: Scope, entries: &[Entry], path: &Path) -> Vec<String> {
    match (host.agent, scope) {
        (Agent::Codex, _) => {
            let mut advice = Vec::from_iter(trust(host, entries, path));
            advice.extend(lists_hooks(path).then(|| BOTH.to_owned()));
            advice
        }
        (Agent::ClaudeCode, Scope::Project) => {
            vec!["Claude Code runs the hooks of a project once its folder is trusted.".to_owned()]
        }
        (Agent::Gemini, Scope::Project) => vec![
            "Gemini CLI reads these settings where it is started in this folder, and if the folder \
             is trusted."
                .to_owned(),
        ],
        (Agent::ClaudeCode | Agent::Gemini, _) => Vec::new(),
    }
}

/// What Codex does where hooks are listed in two ways.
const BOTH: &str = "Its config.toml lists hooks, too: Codex runs those of both, and warns.";

/// Whether the `config.toml` beside the file `path` lists hooks.
fn lists_hooks(path: &Path) -> bool {
    let hooks = config(path).and_then(|config| config.get("hooks")?.as_table().cloned());
    // What was said of hooks there, such as which to trust, is no hook.
    hooks.is_some_and(|hooks| hooks.keys().any(|name| name != "state"))
}

/// How many of `entries` Codex was told to trust, as far as its configuration shows; none of an
/// agent that trusts otherwise.
pub(super) fn trusted(host: &Host, entries: &[Entry], path: &Path) -> Option<usize> {
    if host.agent != Agent::Codex {
        return None;
    }
    let users = config(&host.users().join("hooks.json"));
    let state = users.and_then(|config| config.get("hooks")?.get("state").cloned());
    let is_trusted = |entry: &&Entry| {
        let [group, hook] = entry.position();
        let event = snake_case(&entry.event);
        let key = format!("{}:{event}:{group}:{hook}", path.display());
        let state = state.as_ref().and_then(|state| state.get(&key));
        state.is_some_and(|state| state.get("trusted_hash").is_some())
    };
    Some(entries.iter().filter(is_trusted).count())
}

/// What is said of whether Codex was told to trust the hooks.
fn trust(host: &Host, entries: &[Entry], path: &Path) -> Option<String> {
    let (trusted, all) = (trusted(host, entries, path)?, entries.len());
    Some(if trusted == all {
        "Codex was told to trust these hooks. If it asks again, type /hooks.".to_owned()
    } else {
        format!(
            "Codex runs only hooks that were trusted. {trusted} of these {all} seem to be: type \
             /hooks in Codex."
        )
    })
}

/// The `config.toml` beside the file `path`.
fn config(path: &Path) -> Option<toml::Table> {
    fs::read_to_string(path.with_file_name("config.toml")).ok()?.parse().ok()
}

fn says(settings: &str, pointer: &str, wanted: bool) -> bool {
    meaning(settings).unwrap_or_default().pointer(pointer).and_then(Value::as_bool) == Some(wanted)
}

/// `PreToolUse` as `pre_tool_use`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}
