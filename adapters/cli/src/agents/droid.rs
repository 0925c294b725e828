//! Factory Droid: hooks in `settings.json`, as lines for `sh`.

use std::fs;

use super::dialect::Dialect;
use super::event::{Event, EventKind};
use super::hooks::{HookEvent, Hooks};
use super::host::{Diagnosis, Ends, Home, Host, Installation};
use super::settings::meaning;

pub(super) const HOST: Host = Host {
    home: Home::Parent("FACTORY_HOME_OVERRIDE"),
    folder: ".factory",
    // A call that fails or is refused has no event but the first.
    hooks: Hooks::at(&[
        HookEvent::matched("PreToolUse"),
        HookEvent::matched("PostToolUse"),
        HookEvent::plain("UserPromptSubmit"),
        HookEvent::plain("SessionStart"),
        HookEvent::plain("SessionEnd"),
    ]),
    advice: "Sessions that begin from now on are watched. Factory Droid tells no hook that a call has failed: \
             only loops of calls that work are found.",
    sample: concat!(
        r#"{"session_id":"unstuck-doctor","cwd":"/","permission_mode":"auto-high","#,
        r#""hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"true"}}"#,
    ),
    ends: Ends::Turns,
    diagnose,
    ..Host::of::<Droid>("droid", "Factory Droid")
};

/// Factory Droid's dialect. Calls have no ids: a result belongs to the earliest open call with the same tool and
/// arguments.
struct Droid;

impl Dialect for Droid {
    const NOTED: &'static [&'static str] = &["PostToolUse"];
    const ENDS: Option<fn(&Event<'_>) -> bool> =
        Some(|event| matches!(event.kind, EventKind::Before(_) | EventKind::After(..)));
}

/// The file beside the settings whose hooks take the place of those that the settings list for the same event.
const RIVAL: &str = "hooks.json";

/// Returns the reasons in Factory Droid's settings why it does not run an installed hook.
fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let mut diagnosis = Diagnosis::of_switch(found, "/hooks/hooksDisabled");
    let path = found.path.with_file_name(RIVAL);
    let rival = meaning(&fs::read_to_string(&path).unwrap_or_default()).unwrap_or_default();
    let hidden = found.entries.iter().find(|entry| rival.get(&entry.event).is_some());
    diagnosis.obstacles.extend(hidden.map(|entry| {
        let (path, event) = (path.display(), &entry.event);
        format!("{path} lists hooks of {event}, so that those in settings.json do not run: move them there")
    }));
    diagnosis
}
