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
    pub(crate) fn enabled_plugin(&self, scope: Scope) -> Option<PathBuf> {
        let published = self.published?;
        let path = self.settings(scope).with_file_name(published.file);
        (published.is_enabled)(&fs::read_to_string(&path).ok()?).then_some(path)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::agents::settings::Line;
    use crate::agents::{claude_code, codex};

    /// Reads a JSON file of the repository.
    fn file(path: &str) -> Value {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
        serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
    }

    #[test]
    fn the_hooks_of_the_plugins_are_those_that_install_writes() {
        for host in [&claude_code::HOST, &codex::HOST] {
            let line = Line::new("unstuck", host.name, Vec::new());
            let written = host.installed("", &line).ok().and_then(|text| meaning(&text));
            let mut written = written.expect("settings")["hooks"].take();
            let mut hooks =
                file(&format!("adapters/cli/plugins/{}/hooks/hooks.json", host.name))["hooks"]
                    .take();
            // A plugin finds the program in `PATH`, in a line for a shell.
            let runs = format!("command -v unstuck >/dev/null && exec unstuck hook {};", host.name);
            for event in host.event_names() {
                let command = hooks[event][0]["hooks"][0]["command"].take();
                assert!(command.as_str().expect("a text").starts_with(&runs), "{command}");
                let entry = written[event][0]["hooks"][0].as_object_mut().expect("an entry");
                entry.remove("args");
                entry["command"] = Value::Null;
            }
            assert_eq!(hooks, written, "{}", host.name);
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
        const CLAUDE: Published = Published::CLAUDE_CODE;
        const CODEX: Published = Published::CODEX;
        for (published, text, expected) in [
            (CLAUDE, r#"{"enabledPlugins": {"unstuck@unstuck": true}} // mine"#, true),
            (CLAUDE, r#"{"enabledPlugins": {"a@b": true, "unstuck@fork": true}}"#, true),
            (CLAUDE, r#"{"enabledPlugins": {"unstuck@unstuck": false}}"#, false),
            (CLAUDE, r#"{"enabledPlugins": {"unstuck-lint@a": true}}"#, false),
            (CLAUDE, r#"{"enabledPlugins": []}"#, false),
            (CLAUDE, "{", false),
            (CODEX, "[plugins.\"unstuck@unstuck\"]\nenabled = true", true),
            (CODEX, "[plugins.\"unstuck@unstuck\"]\nenabled = false", false),
            (CODEX, "[plugins.\"other@unstuck\"]\nenabled = true", false),
            (CODEX, "plugins = 7", false),
            (CODEX, "[", false),
        ] {
            assert_eq!((published.is_enabled)(text), expected, "{text}");
        }
    }
}
