//! The clients: the version of each, how it is started, and where it is told of the scripted model.

use std::io;

use super::place::Place;

/// A coding agent from npm.
#[derive(Debug)]
pub(super) struct Client {
    /// Its name for `unstuck install`.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// The npm packages with their versions. The first one is the client.
    pub(super) packages: &'static [&'static str],
    /// The installation script, below `node_modules`.
    pub(super) script: Option<&'static str>,
    pub(super) program: &'static str,
    /// Writes the settings that it needs before the hooks are installed.
    pub(super) prepare: fn(&Place) -> io::Result<()>,
    /// The arguments and variables for a prompt.
    pub(super) invocation: fn(&Place, &Prompt) -> Invocation,
    /// A text in its output if its own guard ended the run.
    pub(super) guard_end: Option<&'static str>,
    /// A text in its output if a hook ended the run. Without such a text, a run that nobody else ended counts as
    /// ended by the hook.
    pub(super) hook_end: Option<&'static str>,
    pub(super) transcripts: Transcripts,
}

/// Where a client writes its transcripts.
#[derive(Debug)]
pub(super) enum Transcripts {
    /// Files below the home.
    Files {
        folder: &'static str,
        /// The end of a file's name.
        ending: &'static str,
        /// The format for `unstuck scan`.
        format: &'static str,
    },
    /// A database, from which the client exports a session.
    Export {
        /// The arguments that list the sessions, the latest first.
        list: &'static [&'static str],
        /// How the id of a session begins.
        id: &'static str,
        /// The argument before the id.
        export: &'static str,
        format: &'static str,
    },
}

/// What the user says.
#[derive(Debug, Default)]
pub(super) struct Prompt {
    pub(super) text: String,
    /// Whether it continues the last session.
    pub(super) continues: bool,
    pub(super) in_code_mode: bool,
}

/// Arguments and variables of a client.
#[derive(Debug, Default)]
pub(super) struct Invocation {
    pub(super) arguments: Vec<String>,
    pub(super) variables: Vec<(&'static str, String)>,
}

impl PartialEq for Client {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Client {}

impl Client {
    /// The client `name`.
    ///
    /// # Errors
    ///
    /// If there is no such client.
    pub(super) fn named(name: &str) -> Result<&'static Self, String> {
        ALL.iter().find(|client| client.name == name).ok_or_else(|| {
            let names: Vec<_> = ALL.iter().map(|client| client.name).collect();
            format!("there is no agent `{name}`; the agents are {}", names.join(", "))
        })
    }
}

/// The variables that every client gets: a fixed language, no telemetry, no updates, no proxy.
pub(super) const VARIABLES: &[(&str, &str)] = &[
    ("CI", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DO_NOT_TRACK", "1"),
    ("LANG", "C.UTF-8"),
    ("NO_COLOR", "1"),
    ("NO_PROXY", "127.0.0.1,localhost"),
    ("OTEL_SDK_DISABLED", "true"),
    ("SHELL", "/bin/bash"),
    ("TERM", "dumb"),
];

/// Every client.
pub(super) const ALL: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        packages: &["@anthropic-ai/claude-code@2.1.331"],
        script: Some("@anthropic-ai/claude-code/install.cjs"),
        program: "claude",
        prepare: |_| Ok(()),
        invocation: claude_code,
        guard_end: None,
        hook_end: Some("hook_stopped"),
        transcripts: Transcripts::Files {
            folder: ".claude/projects",
            ending: ".jsonl",
            format: "claude-code",
        },
    },
    Client {
        name: "codex",
        title: "Codex",
        packages: &["@openai/codex@0.169.0"],
        script: None,
        program: "codex",
        prepare: |place| Place::write(&place.home, ".codex/config.toml", ""),
        invocation: codex,
        guard_end: None,
        hook_end: None,
        transcripts: Transcripts::Files {
            folder: ".codex/sessions",
            ending: ".jsonl",
            format: "codex",
        },
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        packages: &["@google/gemini-cli@0.61.0"],
        script: None,
        program: "gemini",
        prepare: |place| Place::write(&place.home, ".gemini/settings.json", GEMINI_SETTINGS),
        invocation: gemini,
        guard_end: None,
        hook_end: Some("stopped by hook"),
        transcripts: Transcripts::Files {
            folder: ".gemini/tmp",
            ending: ".jsonl",
            format: "gemini",
        },
    },
    Client {
        name: "copilot",
        title: "GitHub Copilot CLI",
        packages: &["@github/copilot@1.0.102"],
        script: None,
        program: "copilot",
        prepare: |_| Ok(()),
        invocation: copilot,
        guard_end: None,
        hook_end: None,
        transcripts: Transcripts::Files {
            folder: ".copilot/session-state",
            ending: "events.jsonl",
            format: "copilot",
        },
    },
    Client {
        name: "qwen",
        title: "Qwen Code",
        packages: &["@qwen-code/qwen-code@0.24.4"],
        script: None,
        program: "qwen",
        prepare: |_| Ok(()),
        invocation: qwen,
        guard_end: Some("Loop detection halted the run"),
        hook_end: None,
        transcripts: Transcripts::Files {
            folder: ".qwen/projects",
            ending: ".jsonl",
            format: "qwen",
        },
    },
    Client {
        name: "opencode",
        title: "opencode",
        packages: &["opencode-ai@1.18.33"],
        script: Some("opencode-ai/postinstall.mjs"),
        program: "opencode",
        prepare: opencode_settings,
        invocation: opencode,
        guard_end: None,
        hook_end: None,
        transcripts: Transcripts::Export {
            list: &["session", "list", "--format", "json"],
            id: "ses_",
            export: "export",
            format: "opencode",
        },
    },
    Client {
        name: "pi",
        title: "pi",
        packages: &["@earendil-works/pi-coding-agent@0.87.1"],
        script: None,
        program: "pi",
        prepare: pi_settings,
        invocation: pi,
        guard_end: None,
        hook_end: None,
        transcripts: Transcripts::Files {
            folder: ".pi/agent/sessions",
            ending: ".jsonl",
            format: "pi",
        },
    },
];

/// The key for a model that checks none.
const KEY: &str = "none";

const GEMINI_SETTINGS: &str =
    "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}}\n";

/// Makes arguments of words.
fn words(words: &[&str]) -> Vec<String> {
    words.iter().copied().map(String::from).collect()
}

fn claude_code(place: &Place, prompt: &Prompt) -> Invocation {
    let mut arguments = words(&["-p", &prompt.text, "--dangerously-skip-permissions"]);
    arguments.extend(words(&["--model", "claude-sonnet-4-5", "--output-format", "json"]));
    if prompt.continues {
        arguments.push("--continue".into());
    }
    let variables = vec![
        ("ANTHROPIC_BASE_URL", place.url.clone()),
        ("ANTHROPIC_API_KEY", KEY.into()),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
        // Root may skip permissions only in a sandbox.
        ("IS_SANDBOX", "1".into()),
    ];
    Invocation { arguments, variables }
}

fn codex(place: &Place, prompt: &Prompt) -> Invocation {
    let url = format!("model_providers.scripted.base_url=\"{}/v1\"", place.url);
    let model = if prompt.in_code_mode { "model=\"gpt-6.1-sol\"" } else { "model=\"gpt-5.5\"" };
    let settings = [
        "model_provider=scripted",
        model,
        "model_providers.scripted.name=\"scripted\"",
        &url,
        "model_providers.scripted.env_key=\"SCRIPTED_KEY\"",
        "model_providers.scripted.wire_api=\"responses\"",
        "check_for_update_on_startup=false",
        "analytics.enabled=false",
    ];
    let mut arguments = words(&["exec"]);
    if prompt.continues {
        arguments.extend(words(&["resume", "--last"]));
    }
    arguments.extend(words(&[
        "--dangerously-bypass-approvals-and-sandbox",
        "--dangerously-bypass-hook-trust",
        "--skip-git-repo-check",
    ]));
    arguments.extend(settings.iter().flat_map(|setting| words(&["-c", setting])));
    arguments.push(prompt.text.clone());
    Invocation { arguments, variables: vec![("SCRIPTED_KEY", KEY.into())] }
}

fn gemini(place: &Place, prompt: &Prompt) -> Invocation {
    let mut arguments = words(&["-p", &prompt.text, "--yolo", "-m", "gemini-2.5-pro"]);
    if prompt.continues {
        arguments.extend(words(&["--resume", "latest"]));
    }
    let variables = vec![
        ("GOOGLE_GEMINI_BASE_URL", place.url.clone()),
        ("GEMINI_API_KEY", KEY.into()),
        ("GEMINI_TELEMETRY_ENABLED", "false".into()),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
        ("GEMINI_CLI_NO_RELAUNCH", "true".into()),
    ];
    Invocation { arguments, variables }
}

fn copilot(place: &Place, prompt: &Prompt) -> Invocation {
    let mut arguments =
        words(&["-p", &prompt.text, "--allow-all-tools", "--no-auto-update", "--no-color"]);
    if prompt.continues {
        arguments.push("--continue".into());
    }
    let variables = vec![
        ("COPILOT_OFFLINE", "true".into()),
        ("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", place.url)),
        ("COPILOT_PROVIDER_API_KEY", KEY.into()),
        ("COPILOT_MODEL", "scripted".into()),
    ];
    Invocation { arguments, variables }
}

fn qwen(place: &Place, prompt: &Prompt) -> Invocation {
    let mut arguments = words(&["-p", &prompt.text, "--yolo", "--auth-type", "openai"]);
    if prompt.continues {
        arguments.push("--continue".into());
    }
    let variables = vec![
        ("OPENAI_API_KEY", KEY.into()),
        ("OPENAI_BASE_URL", format!("{}/v1", place.url)),
        ("OPENAI_MODEL", "scripted".into()),
    ];
    Invocation { arguments, variables }
}

fn opencode_settings(place: &Place) -> io::Result<()> {
    let text = format!(
        r#"{{
  "$schema": "https://opencode.ai/config.json",
  "autoupdate": false,
  "share": "disabled",
  "permission": {{"*": "allow"}},
  "provider": {{
    "scripted": {{
      "npm": "@ai-sdk/openai-compatible",
      "name": "scripted",
      "options": {{"baseURL": "{}/v1", "apiKey": "{KEY}"}},
      "models": {{"m": {{"name": "m", "tool_call": true, "limit": {{"context": 128000, "output": 4096}}}}}}
    }}
  }},
  "model": "scripted/m",
  "small_model": "scripted/m"
}}
"#,
        place.url
    );
    Place::write(&place.home, ".config/opencode/opencode.json", &text)
}

fn opencode(_: &Place, prompt: &Prompt) -> Invocation {
    let mut arguments = words(&["run", &prompt.text]);
    if prompt.continues {
        arguments.push("--continue".into());
    }
    let variables = [
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    ];
    Invocation { arguments, variables: variables.map(|name| (name, "1".into())).into() }
}

fn pi_settings(place: &Place) -> io::Result<()> {
    let text = format!(
        r#"{{
  "providers": {{
    "scripted": {{
      "baseUrl": "{}/v1",
      "api": "openai-completions",
      "apiKey": "{KEY}",
      "models": [
        {{
          "id": "m",
          "name": "m",
          "reasoning": false,
          "input": ["text"],
          "contextWindow": 128000,
          "maxTokens": 4096,
          "cost": {{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
        }}
      ]
    }}
  }}
}}
"#,
        place.url
    );
    Place::write(&place.home, ".pi/agent/models.json", &text)
}

fn pi(_: &Place, prompt: &Prompt) -> Invocation {
    let mut arguments = words(&["-p", "--provider", "scripted", "--model", "m"]);
    if prompt.continues {
        arguments.push("--continue".into());
    }
    arguments.push(prompt.text.clone());
    Invocation { arguments, variables: vec![("PI_OFFLINE", "1".into())] }
}
