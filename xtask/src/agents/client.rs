//! The clients: the version of each, how it is started, and where it is told of the scripted model.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::machine;
use crate::step::{Done, Failure, script};

/// A coding agent from npm. In its texts, `$url` stands for the address of the scripted model, and `$host` and `$desk` for
/// the program of the MCP server and its arguments as elements of a list.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Client {
    /// Its name for `unstuck install`.
    pub(super) name: String,
    pub(super) title: String,
    /// The npm package with its version.
    pub(super) package: String,
    /// The installation script, below `node_modules`.
    script: String,
    /// The program and its arguments. `$prompt` stands for the prompt, `$continue` for the next field where the
    /// prompt continues a session, `$mode` for the words of the mode, and `$model` for the model.
    pub(super) command: String,
    pub(super) continues: String,
    /// The words that let it run every call, ask for permission, and plan.
    pub(super) modes: [String; 3],
    /// Scenarios that it cannot play, each with the reason.
    pub(super) lacks: BTreeMap<String, String>,
    pub(super) variables: String,
    /// The settings that it needs before the hooks are installed: paths below the home, each with its text.
    pub(super) settings: BTreeMap<PathBuf, String>,
    /// A text in its output if its own guard ended the run.
    pub(super) guard_end: Option<String>,
    /// A text in its output if a hook ended the run. Without such a text, a run that nobody else ended counts as
    /// ended by the hook.
    pub(super) hook_end: String,
    /// A shell command that prints the paths of the transcripts.
    pub(super) transcripts: String,
    /// The scenarios that CI plays. The rest is run by hand.
    pub(super) in_ci: Vec<String>,
    /// Whether the cost of its hooks is measured if no client is named.
    pub(super) is_measured: bool,
}

/// The file of the clients.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Clients {
    pub(super) node: Client,
    #[serde(rename = "client")]
    pub(super) all: Vec<Client>,
}

pub(super) static CLIENTS: LazyLock<Clients> = LazyLock::new(|| {
    let text = include_str!("../../agents/clients.toml");
    toml::from_str(text).unwrap_or_else(|error| panic!("clients.toml: {error}"))
});

/// The variables that every client gets: a fixed language, no telemetry, no updates, no proxy.
pub(super) const VARIABLES: &str = "CI=1 DISABLE_AUTOUPDATER=1 DISABLE_ERROR_REPORTING=1 \
    DISABLE_TELEMETRY=1 DO_NOT_TRACK=1 LANG=C.UTF-8 NO_COLOR=1 NO_PROXY=127.0.0.1,localhost \
    OTEL_SDK_DISABLED=true SHELL=/bin/bash TERM=dumb";

impl Client {
    /// Returns the folder of its programs.
    pub(super) fn bin(&self) -> PathBuf {
        machine::root().join(self.folder()).join("node_modules/.bin")
    }

    fn folder(&self) -> String {
        format!("target/agents/clients/{}", self.name)
    }

    /// Installs the client and Node from npm, unless they are there in the pinned versions. Without permission, the
    /// outcome says how to bring them.
    pub(super) fn ready(&self, may_install: bool) -> Done {
        let is_missing = |package: &&Self| {
            let stamp = machine::root().join(package.folder()).join("installed");
            !fs::read_to_string(stamp).is_ok_and(|found| found.trim() == package.package)
        };
        for found in [&CLIENTS.node, self].into_iter().filter(is_missing) {
            let Self { package, script: installation, .. } = found;
            if !may_install {
                return Err(Failure::LeftOut(format!(
                    "{package} is not in target/agents; `cargo xtask agents {}` brings it",
                    self.name
                )));
            }
            let folder = found.folder();
            script(&format!("sh xtask/agents/install.sh {folder} {package} {installation}"), &[])?;
        }
        Ok(())
    }
}
