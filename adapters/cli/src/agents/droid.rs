//! Factory Droid: hooks in `settings.json`, as lines for `sh`.

mod doctor;

use super::dialect::Dialect;
use super::event::{Event, EventKind};
use super::hooks::{Form, HookEvent, Hooks, Shape, Timeout};
use super::host::{Ends, Home, Host, Quirks, Wire};

pub(super) const HOST: Host = Host {
    name: "droid",
    title: "Factory Droid",
    home: Home::Parent("FACTORY_HOME_OVERRIDE"),
    folder: ".factory",
    project_folder: None,
    file: "settings.json",
    hooks: Hooks {
        // A call that fails or is refused has no event but the first.
        events: &[
            HookEvent::matched("PreToolUse"),
            HookEvent::matched("PostToolUse"),
            HookEvent::plain("UserPromptSubmit"),
            HookEvent::plain("SessionStart"),
            HookEvent::plain("SessionEnd"),
        ],
        shape: Shape::Grouped,
        form: Form::Bash,
        timeout: Timeout::Seconds(5),
        label: None,
    },
    // Every version ignores an event that it does not know.
    needs: None,
    advice: "Sessions that begin from now on are watched. Factory Droid tells no hook that a call has failed: \
             only loops of calls that work are found.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","permission_mode":"auto-high","#,
        r#""hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"true"}}"#,
    ),
    wire: Wire::of::<Droid>(),
    ends: Ends::Turns,
    quirks: Quirks::NONE,
    transcripts: None,
    diagnose: doctor::diagnose,
};

/// Factory Droid's dialect. Calls have no ids: a result belongs to the earliest open call with the same tool and
/// arguments.
struct Droid;

impl Dialect for Droid {
    const NOTED: &'static [&'static str] = &["PostToolUse"];
    const ENDS: Option<fn(&Event<'_>) -> bool> =
        Some(|event| matches!(event.kind, EventKind::Before(_) | EventKind::After(..)));
}
