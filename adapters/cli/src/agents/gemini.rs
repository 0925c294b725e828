//! Gemini CLI: hooks in `settings.json`, as lines for `bash`, with time limits in milliseconds.

use serde_json::{Value, json};
use unstuck_trace::{Format, ToolResult};

use super::dialect::{self, Dialect, HookPayload};
use super::event::{BadPayload, Call, Ending, Event, EventKind, fields};
use super::hooks::{HookEvent, Hooks};
use super::host::{Diagnosis, Ends, Home, Host, Installation, Scope, Transcripts};
use super::reply::Words;
use super::settings::meaning;

/// The name of the hook in the settings, by which a user can disable it.
const LABEL: &str = "unstuck";

pub(super) const HOST: Host = Host {
    home: Home::Parent("GEMINI_CLI_HOME"),
    folder: ".gemini",
    hooks: Hooks {
        timeout: 5000,
        label: Some(LABEL),
        ..Hooks::at(&[
            HookEvent::matched("BeforeTool"),
            HookEvent::matched("AfterTool"),
            HookEvent::plain("BeforeAgent"),
            HookEvent::plain("AfterAgent"),
            HookEvent::matched("SessionStart"),
            HookEvent::matched("SessionEnd"),
        ])
    },
    advice: "Sessions that begin from now on are watched, in folders that Gemini CLI trusts.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","hook_event_name":"BeforeTool","timestamp":"2026-01-01T00:00:00Z","#,
        r#""tool_name":"run_shell_command","tool_input":{"command":"true"}}"#,
    ),
    ends: Ends::Turns,
    transcripts: Some(Transcripts {
        format: Format::GEMINI,
        folder: "tmp",
        within: Some("chats"),
        extensions: &["jsonl", "json"],
    }),
    diagnose,
    ..Host::of::<Gemini>("gemini", "Gemini CLI")
};

/// Returns the reasons in Gemini CLI's settings why it does not run an installed hook.
fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let mut obstacles = Vec::new();
    let config = meaning(found.text).unwrap_or_default()["hooksConfig"].take();
    if config["enabled"] == false {
        obstacles.push("hooksConfig.enabled is false, so no hook runs: remove it".to_owned());
    }
    if config["disabled"].as_array().is_some_and(|names| names.iter().any(|name| name == LABEL)) {
        obstacles.push(format!(
            "hooksConfig.disabled names {LABEL}, so its hook does not run: remove the name"
        ));
    }
    let advice = (found.scope == Scope::Project).then(|| {
        "Gemini CLI reads these settings if it is started in this folder and trusts the folder."
            .to_owned()
    });
    Diagnosis { obstacles, advice: Vec::from_iter(advice), trusted: None }
}

/// The beginning of the result of a command that the user cancelled.
const CANCELLED: &str = "Command was cancelled by user";

/// Gemini CLI's dialect. Calls have no ids: a result belongs to the earliest open call with the same tool and arguments.
/// The answer to `BeforeTool` has no place for a note to the model, so a warning comes with the result.
struct Gemini;

impl Dialect for Gemini {
    const NAMES: &'static [(&'static str, &'static str)] = &[
        ("BeforeTool", "PreToolUse"),
        ("AfterTool", "PostToolUse"),
        ("BeforeAgent", "UserPromptSubmit"),
        ("AfterAgent", "Stop"),
    ];
    const NOTED: &'static [&'static str] = &["AfterTool"];
    const ENDS: Option<fn(&Event<'_>) -> bool> = Some(|event| {
        use EventKind::{After, Before, HandedBack};
        matches!(event.kind, Before(_) | After(..) | HandedBack(_))
    });

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        let raw = payload.tool_response;
        let [content, error] = fields(raw, ["llmContent", "error"]).unwrap_or_default();
        // Of a failed call, the model reads the message of the error.
        let message = fields(error, ["message"]).and_then(|[message]| message);
        let Some(shown) = message.or(content).or(error).or(raw) else { return Ending::Untold };
        let text = ToolResult::gemini(shown).text;
        if text.starts_with(CANCELLED) {
            return Ending::Cancelled;
        }
        Ending::Answered { text, failed: error.is_some() }
    }

    fn call<'a>(payload: &HookPayload<'a>) -> Result<Call<'a>, BadPayload> {
        Ok(Call { id: None, ..payload.call()? })
    }

    fn adapted<'a>(_: &HookPayload<'a>, event: Event<'a>) -> Event<'a> {
        Event { subagent: None, turn: None, ..event }
    }

    fn note(event: &Event<'_>, note: &str) -> Value {
        match &event.kind {
            // Gemini CLI drops the context of a result with an error, but takes a reason in place of the error.
            EventKind::After(_, Ending::Answered { text, failed: true }) => {
                json!({ "decision": "deny", "reason": format!("{text}\n\n{note}") })
            }
            _ => dialect::note(event, note),
        }
    }

    fn refusal(words: &Words) -> Value {
        json!({ "decision": "deny", "reason": words.model, "systemMessage": words.person })
    }
}
