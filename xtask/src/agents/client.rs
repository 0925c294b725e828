//! The clients: the version of each, how it is started, and where it is told of the scripted model.

use std::fs;
use std::path::PathBuf;

use crate::machine;
use crate::step::{Done, Failure, script};

/// A coding agent from npm. In its texts, `$url` stands for the address of the scripted model, and `$host` and `$desk` for
/// the program of the MCP server and its arguments as elements of a list.
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
    /// prompt continues a session, `$mode` for the words of the mode, and `$model` for the model.
    pub(super) command: &'static str,
    pub(super) continues: &'static str,
    /// The words that let it run every call, ask for permission, and plan.
    pub(super) modes: [&'static str; 3],
    /// Scenarios that it cannot play, each with the reason.
    pub(super) lacks: &'static [(&'static str, &'static str)],
    pub(super) variables: &'static str,
    /// The settings that it needs before the hooks are installed: paths below the home, each with its text.
    pub(super) settings: &'static [(&'static str, &'static str)],
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
    modes: ["", "", ""],
    lacks: &[],
    variables: "",
    settings: &[],
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
        command: "claude -p $prompt $mode --model claude-sonnet-4-5 \
            --output-format json --autocompact 100000
            --mcp-config {\"mcpServers\":{\"desk\":{\"command\":\"$host\",\"args\":[$desk]}}} $continue",
        modes: ["--dangerously-skip-permissions", "", "--permission-mode plan"],
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
        command: r#"codex exec $continue $mode
            --dangerously-bypass-hook-trust --skip-git-repo-check
            -c model_provider=scripted -c model="$model"
            -c model_providers.scripted.name="scripted"
            -c model_providers.scripted.base_url="$url/v1"
            -c model_providers.scripted.env_key="SCRIPTED_KEY"
            -c model_providers.scripted.wire_api="responses"
            -c mcp_servers.desk.command="$host" -c mcp_servers.desk.args=[$desk]
            -c model_auto_compact_token_limit=150000
            -c check_for_update_on_startup=false -c analytics.enabled=false $prompt"#,
        continues: "resume --last",
        modes: ["--dangerously-bypass-approvals-and-sandbox", "--sandbox read-only", ""],
        variables: "SCRIPTED_KEY=none",
        settings: &[(".codex/config.toml", "")],
        transcripts: "find ~/.codex/sessions -name '*.jsonl'",
        lacks: &[
            ("denied", "what the sandbox forbids is a command that fails"),
            ("denied-variants", "what the sandbox forbids is a command that fails"),
            ("plan-mode", "`codex exec` has no such mode"),
            ("subagents", "`codex exec` ends before its subagents do"),
        ],
        ..CLIENT
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        package: "@google/gemini-cli@0.61.0",
        command: "gemini -p $prompt $mode -m gemini-2.5-pro $continue",
        continues: "--resume latest",
        modes: ["--yolo", "", "--approval-mode plan"],
        variables: "GOOGLE_GEMINI_BASE_URL=$url GEMINI_API_KEY=none GEMINI_TELEMETRY_ENABLED=false \
            GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_CLI_NO_RELAUNCH=true",
        settings: &[(
            ".gemini/settings.json",
            r#"{"security": {"auth": {"selectedType": "gemini-api-key"}},
                "mcpServers": {"desk": {"command": "$host", "args": [$desk]}}}"#,
        )],
        hook_end: "stopped by hook",
        transcripts: "find ~/.gemini/tmp -name '*.jsonl'",
        lacks: &[
            ("denied", "in this mode the model has no tool to run commands"),
            ("denied-variants", "in this mode the model has no tool to run commands"),
            ("compaction", "it compacts only before a message of the user"),
            ("compaction-failing", "it compacts only before a message of the user"),
            ("interrupted", "it does not resume a session without an answer"),
            ("subagents", "no event names the subagent, so that it is chance what is seen"),
        ],
        ..CLIENT
    },
    Client {
        name: "copilot",
        title: "GitHub Copilot CLI",
        package: "@github/copilot@1.0.102",
        command: "copilot -p $prompt $mode --no-auto-update --no-color $continue",
        modes: ["--allow-all-tools", "", "--allow-all-tools --plan"],
        settings: &[(".copilot/mcp-config.json", COPILOT_SERVERS)],
        variables: "COPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=$url/v1 \
            COPILOT_PROVIDER_API_KEY=none COPILOT_MODEL=scripted",
        transcripts: "find ~/.copilot/session-state -name '*events.jsonl'",
        lacks: &[
            ("denied", "no event tells of the end of such a call"),
            ("denied-variants", "no event tells of the end of such a call"),
            ("plan-mode", "no event tells of the end of such a call"),
        ],
        ..CLIENT
    },
    Client {
        name: "qwen",
        title: "Qwen Code",
        package: "@qwen-code/qwen-code@0.24.4",
        command: "qwen -p $prompt $mode --auth-type openai $continue",
        modes: ["--yolo", "", "--approval-mode plan"],
        settings: &[(".qwen/settings.json", SERVERS)],
        variables: "OPENAI_API_KEY=none OPENAI_BASE_URL=$url/v1 OPENAI_MODEL=scripted",
        guard_end: Some("Loop detection halted the run"),
        transcripts: "find ~/.qwen/projects -name '*.jsonl'",
        lacks: &[
            ("denied", "in this mode the model has no tool to run commands"),
            ("denied-variants", "in this mode the model has no tool to run commands"),
            ("subagents", "the order of their calls is chance"),
        ],
        ..CLIENT
    },
    Client {
        name: "opencode",
        title: "opencode",
        package: "opencode-ai@1.18.33",
        script: "opencode-ai/postinstall.mjs",
        command: "opencode run $prompt $mode $continue",
        modes: ["", "--agent asking", "--agent plan"],
        variables: "OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 \
            OPENCODE_DISABLE_LSP_DOWNLOAD=1 OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
        settings: &[(".config/opencode/opencode.json", OPENCODE_SETTINGS)],
        // It keeps them in a database. The latest session stands first.
        transcripts:
            "latest=$(opencode session list --format json | grep -o 'ses_[^\"]*' | head -n 1)
            opencode export $latest > ~/session.json && echo ~/session.json",
        lacks: &[
            ("denied", "it ends at the first call that needs a permission"),
            ("denied-variants", "it ends at the first call that needs a permission"),
            ("subagents", "a scan has only the calls of the session itself"),
            ("healthy-long", "its 300 calls take longer than a run may"),
        ],
        ..CLIENT
    },
    Client {
        name: "pi",
        title: "pi",
        package: "@earendil-works/pi-coding-agent@0.87.1",
        command: "pi -p --provider scripted --model m $continue $prompt",
        variables: "PI_OFFLINE=1",
        settings: &[
            (".pi/agent/models.json", PI_MODELS),
            // What it compacts is longer than a word.
            (".pi/agent/settings.json", r#"{"compaction": {"keepRecentTokens": 1}}"#),
        ],
        transcripts: "find ~/.pi/agent/sessions -name '*.jsonl'",
        lacks: &[
            ("failing-mcp", "it knows no MCP servers"),
            ("dead-mcp", "it knows no MCP servers"),
            ("proxied-mcp", "it knows no MCP servers"),
            ("subagents", "it has none"),
            ("denied", "it asks for no permission"),
            ("denied-variants", "it asks for no permission"),
            ("plan-mode", "it has no such mode"),
        ],
        ..CLIENT
    },
];

const SERVERS: &str = r#"{"mcpServers": {"desk": {"command": "$host", "args": [$desk]}}}"#;

const COPILOT_SERVERS: &str = r#"{"mcpServers": {"desk": {
  "type": "local", "command": "$host", "args": [$desk], "tools": ["*"]
}}}"#;

const OPENCODE_SETTINGS: &str = r#"{
  "autoupdate": false, "share": "disabled", "permission": {"*": "allow"},
  "agent": {
    "asking": {"mode": "primary", "permission": {"*": "ask"}},
    "plan": {"permission": {"edit": "deny"}}
  },
  "mcp": {"desk": {"type": "local", "command": ["$host", $desk]}},
  "model": "scripted/m", "small_model": "scripted/m",
  "provider": {"scripted": {
    "npm": "@ai-sdk/openai-compatible", "name": "scripted",
    "options": {"baseURL": "$url/v1", "apiKey": "none"},
    "models": {"m": {"name": "m", "tool_call": true, "limit": {"context": 128000, "output": 4096}}}
  }}
}
"#;

const PI_MODELS: &str = r#"{"providers": {"scripted": {
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
