//! The plugin of this program that an agent installs from a marketplace, in place of `unstuck install`.
//!
//! The marketplaces are `.claude-plugin` and `.agents/plugins` at the root of the repository, and the plugins are in
//! `adapters/cli/plugins`. Their hooks find the program in `PATH`. Tests compare them with what `install` writes.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::host::{Host, Scope};
use super::settings::meaning;

/// The beginning of the plugin's id. The name of a marketplace follows, which a fork may change.
const ID: &str = "unstuck@";

/// How an agent keeps the plugin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    /// The file beside the agent's settings that says which plugins are enabled.
    file: &'static str,
    /// Returns whether this content of the file enables the plugin.
    is_enabled: fn(&str) -> bool,
    /// What the user types to remove it.
    pub(crate) removal: &'static str,
    /// The text for `doctor`: what is left to the user.
    pub(crate) advice: &'static str,
}

impl Published {
    pub(super) const CLAUDE_CODE: Self = Self {
        file: "settings.json",
        is_enabled: |text| {
            meaning(text).is_some_and(|it| enables(it.get("enabledPlugins"), Value::as_bool))
        },
        removal: "/plugin uninstall unstuck in Claude Code",
        advice: "Its plugin runs the unstuck in PATH.",
    };

    pub(super) const CODEX: Self = Self {
        file: "config.toml",
        is_enabled: |text| {
            let config = toml::from_str::<Value>(text).ok();
            config.is_some_and(|it| enables(it.get("plugins"), |one| one.get("enabled")?.as_bool()))
        },
        removal: "codex plugin remove unstuck@unstuck",
        advice: "Its plugin runs the unstuck in PATH, once you trust its hooks: type /hooks in Codex.",
    };
}

/// Returns whether one of `plugins` is ours and enabled. `flag` reads the value of a plugin.
fn enables(plugins: Option<&Value>, flag: fn(&Value) -> Option<bool>) -> bool {
    let plugins = plugins.and_then(Value::as_object);
    plugins.is_some_and(|all| {
        all.iter().any(|(id, one)| id.starts_with(ID) && flag(one) == Some(true))
    })
}

impl Host {
    /// Returns the file in this scope that enables the plugin, if one does.
    pub(crate) fn published(&self, scope: Scope) -> Option<PathBuf> {
        let published = self.quirks.published?;
        let path = self.settings(scope).with_file_name(published.file);
        (published.is_enabled)(&fs::read_to_string(&path).ok()?).then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::agents::hooks::{HookEvent, Matcher};
    use crate::agents::{claude_code, codex};

    /// Reads a JSON file of the repository.
    fn file(path: &str) -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
        serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
    }

    /// Returns the entry of a plugin at an event, without its command.
    fn group(host: &Host, event: &HookEvent, command: &Value) -> Value {
        let timeout = event.limit.unwrap_or(host.hooks.timeout).figure();
        let entry = json!({ "type": "command", "command": command, "timeout": timeout });
        match event.matcher {
            Matcher::Every => json!([{ "matcher": "*", "hooks": [entry] }]),
            Matcher::Absent => json!([{ "hooks": [entry] }]),
        }
    }

    #[test]
    fn the_hooks_of_the_plugins_are_those_that_install_writes() {
        for host in [&claude_code::HOST, &codex::HOST] {
            let folder = format!("adapters/cli/plugins/{}", host.name);
            let hooks = file(&format!("{folder}/hooks/hooks.json"));
            let listed = hooks["hooks"].as_object().expect("an object");
            assert_eq!(listed.len(), host.hooks.events.len(), "{}", host.name);
            for event in host.hooks.events {
                let found = &listed[event.name];
                let command = &found[0]["hooks"][0]["command"];
                assert_eq!(*found, group(host, event, command), "{}", host.name);
                let runs =
                    format!("command -v unstuck >/dev/null && exec unstuck hook {};", host.name);
                assert!(command.as_str().expect("a text").starts_with(&runs), "{command}");
            }
        }
    }

    #[test]
    fn the_marketplaces_offer_these_plugins_in_this_version() {
        let version = env!("CARGO_PKG_VERSION");
        for (marketplace, source, manifest) in [
            (".claude-plugin", "/plugins/0/source", ".claude-plugin"),
            (".agents/plugins", "/plugins/0/source/path", ".codex-plugin"),
        ] {
            let market = file(&format!("{marketplace}/marketplace.json"));
            let folder = market.pointer(source).and_then(Value::as_str).expect("a folder");
            let plugin = file(&format!("{folder}/{manifest}/plugin.json"));
            assert_eq!((&plugin["name"], &plugin["version"]), (&"unstuck".into(), &version.into()));
            assert_eq!(
                (&market["name"], &market["plugins"][0]["name"]),
                (&"unstuck".into(), &"unstuck".into())
            );
        }
    }

    #[test]
    fn a_plugin_counts_if_it_is_ours_and_enabled() {
        for (text, expected) in [
            (r#"{"enabledPlugins": {"unstuck@unstuck": true}} // mine"#, true),
            (r#"{"enabledPlugins": {"a@b": true, "unstuck@fork": true}}"#, true),
            (r#"{"enabledPlugins": {"unstuck@unstuck": false}}"#, false),
            (r#"{"enabledPlugins": {"unstuck-lint@a": true}}"#, false),
            (r#"{"enabledPlugins": []}"#, false),
            ("{", false),
        ] {
            assert_eq!((Published::CLAUDE_CODE.is_enabled)(text), expected, "{text}");
        }
        for (text, expected) in [
            ("[plugins.\"unstuck@unstuck\"]\nenabled = true", true),
            ("[plugins.\"unstuck@unstuck\"]\nenabled = false", false),
            ("[plugins.\"other@unstuck\"]\nenabled = true", false),
            ("plugins = 7", false),
            ("[", false),
        ] {
            assert_eq!((Published::CODEX.is_enabled)(text), expected, "{text}");
        }
    }
}
