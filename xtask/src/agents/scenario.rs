//! The scenarios: a script of the model, and the circumstances under which it plays.

use std::sync::LazyLock;

use serde::Deserialize;

/// A script and its circumstances.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) about: String,
    /// The script in `xtask/agents/scripts.mjs`. Without one, it has the name of the scenario.
    script: Option<String>,
    /// The client for which alone the scenario makes sense.
    pub(super) only: Option<String>,
    /// The options of each `unstuck install`.
    pub(super) installations: Vec<String>,
    /// How often the user speaks in the session.
    pub(super) prompts: usize,
    pub(super) mode: Mode,
    /// Whether the MCP server runs behind `unstuck mcp`.
    pub(super) has_proxy: bool,
    /// The name of the model, for a client whose tools depend on it.
    pub(super) model: String,
    /// The shell command that starts the client.
    pub(super) start: String,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            name: String::new(),
            about: String::new(),
            script: None,
            only: None,
            installations: vec![String::new()],
            prompts: 1,
            mode: Mode::Free,
            has_proxy: false,
            model: "gpt-5.5".into(),
            start: ORDINARY.into(),
        }
    }
}

impl Scenario {
    pub(super) fn script(&self) -> &str {
        self.script.as_ref().unwrap_or(&self.name)
    }
}

/// What a client may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    /// It runs every call.
    Free,
    /// It asks the user, who is not there.
    Asking,
    /// It makes a plan, and changes nothing.
    Planning,
}

/// The file of the scenarios.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenarios {
    #[serde(rename = "scenario")]
    pub(super) all: Vec<Scenario>,
    pub(super) cost: Scenario,
    pub(super) idle: Scenario,
}

pub(super) static SCENARIOS: LazyLock<Scenarios> = LazyLock::new(|| {
    let text = include_str!("../../agents/scenarios.toml");
    toml::from_str(text).unwrap_or_else(|error| panic!("scenarios.toml: {error}"))
});

/// The command that starts a client as it is.
pub(super) const ORDINARY: &str = r#"exec "$@""#;

/// The exit code of a client that the user stopped.
pub(super) const STOPPED: i32 = 99;
