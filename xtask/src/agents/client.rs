//! The clients: the version of each, how it is started, and where it is told of the scripted model.

use std::fs;
use std::path::PathBuf;

use crate::machine;
use crate::step::{Done, Failure, script};

/// A coding agent from npm. In its texts, `$url` stands for the address of the scripted model, and
/// `$desk` for the program of the MCP server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Client {
    /// Its name for `unstuck install`.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The npm package with its version.
    pub(super) package: &'static str,
    /// The installation script, below `node_modules`.
    script: &'static str,
    /// The program and its arguments. `$prompt` stands for the prompt, `$continue` for the next field where the
    /// prompt continues a session, and `$model` for the model.
    pub(super) command: &'static str,
    pub(super) continues: &'static str,
    pub(super) variables: &'static str,
    /// The path below the home and the text of the settings that it needs before the hooks are installed.
    pub(super) settings: Option<(&'static str, &'static str)>,
    /// A text in its output if its own guard ended the run.
    pub(super) guard_end: Option<&'static str>,
    /// A text in its output if a hook ended the run. Without such a text, a run that nobody else ended counts as
    /// ended by the hook.
    pub(super) hook_end: &'static str,
    /// A shell command that prints the paths of the transcripts.
    pub(super) transcripts: &'static str,
}

/// The variables that every client gets: a fixed language, no telemetry, no updates, no proxy.
pub(super) const VARIABLES: &str = "CI=1 DISABLE_AUTOUPDATER=1 DISABLE_ERROR_REPORTING=1 \
    DISABLE_TELEMETRY=1 DO_NOT_TRACK=1 LANG=C.UTF-8 NO_COLOR=1 NO_PROXY=127.0.0.1,localhost \
    OTEL_SDK_DISABLED=true SHELL=/bin/bash TERM=dumb";

/// What a client has that says nothing else.
const CLIENT: Client = Client {
    name: "",
    title: "",
    package: "",
    script: "",
    command: "",
    continues: "--continue",
    variables: "",
    settings: None,
    guard_end: None,
    hook_end: "",
    transcripts: "",
};

/// The Node under which the clients and the model run. Some clients need 22.
pub(super) const NODE: Client = Client {
    name: "node",
    title: "Node",
    package: "node@22",
    script: "node/installArchSpecificPackage",
    ..CLIENT
};

pub(super) const ALL: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        package: "@anthropic-ai/claude-code@2.1.332",
        script: "@anthropic-ai/claude-code/install.cjs",
        command: "claude -p $prompt --dangerously-skip-permissions --model claude-sonnet-4-5 \
            --output-format json
            --mcp-config {\"mcpServers\":{\"desk\":{\"command\":\"node\",\"args\":[\"$desk\"]}}} $continue",
        // Root may skip permissions only in a sandbox.
        variables: "ANTHROPIC_BASE_URL=$url ANTHROPIC_API_KEY=none IS_SANDBOX=1 \
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
        hook_end: "hook_stopped",
        transcripts: "find ~/.claude/projects -name '*.jsonl'",
        ..CLIENT
    },
    Client {
        name: "codex",
        title: "Codex",
        package: "@openai/codex@0.171.0",
        command: r#"codex exec $continue --dangerously-bypass-approvals-and-sandbox
            --dangerously-bypass-hook-trust --skip-git-repo-check
            -c model_provider=scripted -c model="$model"
            -c model_providers.scripted.name="scripted"
            -c model_providers.scripted.base_url="$url/v1"
            -c model_providers.scripted.env_key="SCRIPTED_KEY"
            -c model_providers.scripted.wire_api="responses"
            -c mcp_servers.desk.command="node" -c mcp_servers.desk.args=["$desk"]
            -c check_for_update_on_startup=false -c analytics.enabled=false $prompt"#,
        continues: "resume --last",
        variables: "SCRIPTED_KEY=none",
        settings: Some((".codex/config.toml", "")),
        transcripts: "find ~/.codex/sessions -name '*.jsonl'",
        ..CLIENT
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        package: "@google/gemini-cli@0.61.0",
        command: "gemini -p $prompt --yolo -m gemini-2.5-pro $continue",
        continues: "--resume latest",
        variables: "GOOGLE_GEMINI_BASE_URL=$url GEMINI_API_KEY=none GEMINI_TELEMETRY_ENABLED=false \
            GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true",
        settings: Some((
            ".gemini/settings.json",
            r#"{"security": {"auth": {"selectedType": "gemini-api-key"}},
                "mcpServers": {"desk": {"command": "node", "args": ["$desk"]}}}"#,
        )),
        hook_end: "stopped by hook",
        transcripts: "find ~/.gemini/tmp -name '*.jsonl'",
        ..CLIENT
    },
    Client {
        name: "copilot",
        title: "GitHub Copilot CLI",
        package: "@github/copilot@1.0.102",
        command: "copilot -p $prompt --allow-all-tools --no-auto-update --no-color $continue",
        variables: "COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=$url/v1 \
            COPILOT_PROVIDER_API_KEY=none COPILOT_MODEL=scripted",
        transcripts: "find ~/.copilot/session-state -name '*events.jsonl'",
        ..CLIENT
    },
    Client {
        name: "qwen",
        title: "Qwen Code",
        package: "@qwen-code/qwen-code@0.24.4",
        command: "qwen -p $prompt --yolo --auth-type openai $continue",
        variables: "OPENAI_API_KEY=none OPENAI_BASE_URL=$url/v1 OPENAI_MODEL=scripted",
        guard_end: Some("Loop detection halted the run"),
        transcripts: "find ~/.qwen/projects -name '*.jsonl'",
        ..CLIENT
    },
    Client {
        name: "opencode",
        title: "opencode",
        package: "opencode-ai@1.18.33",
        script: "opencode-ai/postinstall.mjs",
        command: "opencode run $prompt $continue",
        variables: "OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 \
            OPENCODE_DISABLE_LSP_DOWNLOAD=1 OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
        settings: Some((".config/opencode/opencode.json", OPENCODE_SETTINGS)),
        // It keeps them in a database. The latest session stands first.
        transcripts:
            "latest=$(opencode session list --format json | grep -o 'ses_[^\"]*' | head -n 1)
            opencode export $latest > ~/session.json && echo ~/session.json",
        ..CLIENT
    },
    Client {
        name: "pi",
        title: "pi",
        package: "@earendil-works/pi-coding-agent@0.87.1",
        command: "pi -p --provider scripted --model m $continue $prompt",
        variables: "PI_OFFLINE=1",
        settings: Some((".pi/agent/models.json", PI_SETTINGS)),
        transcripts: "find ~/.pi/agent/sessions -name '*.jsonl'",
        ..CLIENT
    },
];

const OPENCODE_SETTINGS: &str = r#"{
  "autoupdate": false, "share": "disabled", "permission": {"*": "allow"},
  "model": "scripted/m", "small_model": "scripted/m",
  "provider": {"scripted": {
    "npm": "@ai-sdk/openai-compatible", "name": "scripted",
    "options": {"baseURL": "$url/v1", "apiKey": "none"},
    "models": {"m": {"name": "m", "tool_call": true, "limit": {"context": 128000, "output": 4096}}}
  }}
}
"#;

const PI_SETTINGS: &str = r#"{"providers": {"scripted": {
  "baseUrl": "$url/v1", "api": "openai-completions", "apiKey": "none",
  "models": [{
    "id": "m", "name": "m", "reasoning": false, "input": ["text"],
    "contextWindow": 128000, "maxTokens": 4096,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
  }]
}}}
"#;

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
        for found in [&NODE, self].into_iter().filter(is_missing) {
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
