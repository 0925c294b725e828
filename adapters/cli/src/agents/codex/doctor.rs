//! Reasons in Codex's settings why it does not run an installed hook, and the hooks that it trusts.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::agents::host::{Diagnosis, Installation};
use crate::agents::settings::Entry;

/// The members that `hooks.json` may have. Codex skips a file with any other.
const MEMBERS: [&str; 2] = ["description", "hooks"];

/// The advice if `config.toml` has hooks as well as `hooks.json`.
const BOTH: &str =
    "Its config.toml also lists hooks: Codex runs the hooks of both files, and warns.";

pub(super) fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let config = config(found.path);
    let mut obstacles = Vec::from_iter(why_skipped(found.text));
    if are_hooks_off(&config) {
        obstacles
            .push("features.hooks is false in its config.toml, so no hook runs: remove it".into());
    }
    let trusted = trusted(found);
    let mut advice = vec![trust(trusted, found.entries.len())];
    if lists_hooks(&config) {
        advice.push(BOTH.to_owned());
    }
    Diagnosis { obstacles, advice, trusted: Some(trusted) }
}

/// Returns the reason why Codex skips a `hooks.json` with this content, if it does.
fn why_skipped(text: &str) -> Option<String> {
    let settings: Value = match serde_json::from_str(text) {
        Ok(settings) => settings,
        Err(error) => {
            return Some(format!("Codex skips this file, because it is not plain JSON: {error}"));
        }
    };
    let mut names = settings.as_object()?.keys();
    let unknown = names.find(|name| !MEMBERS.contains(&&name[..]))?;
    Some(format!("Codex skips this file, because it does not know the member {unknown:?}"))
}

/// Returns whether a `config.toml` switches hooks off, under their present or their earlier name.
fn are_hooks_off(config: &Value) -> bool {
    ["hooks", "codex_hooks"].iter().any(|name| config["features"][name] == false)
}

/// Returns whether a `config.toml` lists hooks of its own.
fn lists_hooks(config: &Value) -> bool {
    // `hooks.state` holds what Codex remembers about hooks, for example which are trusted.
    config["hooks"].as_object().is_some_and(|hooks| hooks.keys().any(|name| name != "state"))
}

/// Returns the number of entries that the user's `config.toml` marks as trusted.
fn trusted(found: &Installation<'_>) -> usize {
    let users = config(&found.host.user_folder().join(found.host.file));
    let is_trusted = |entry: &&Entry| {
        let [group, hook] = entry.position();
        let event = snake_case(&entry.event);
        let key = format!("{}:{event}:{group}:{hook}", found.path.display());
        users["hooks"]["state"][key].get("trusted_hash").is_some()
    };
    found.entries.iter().filter(is_trusted).count()
}

/// The advice on trust if `trusted` of `all` entries are.
fn trust(trusted: usize, all: usize) -> String {
    if trusted == all {
        "Codex has recorded that you trust these hooks. If it asks again, type /hooks.".to_owned()
    } else {
        format!(
            "Codex runs only hooks that you have trusted. {trusted} of these {all} seem to be \
             trusted: type /hooks in Codex."
        )
    }
}

/// Returns the `config.toml` beside the file `path`, or null if it cannot be read.
fn config(path: &Path) -> Value {
    let text = fs::read_to_string(path.with_file_name("config.toml")).unwrap_or_default();
    toml::from_str(&text).unwrap_or_default()
}

/// Returns `PreToolUse` as `pre_tool_use`.
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
