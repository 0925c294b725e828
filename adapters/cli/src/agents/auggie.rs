//! Auggie, Augment's agent: hooks in `settings.json`, as lines for `bash`, with time limits in milliseconds. Not run: the
//! facts are from its package and documentation.

use super::dialect::{Dialect, HookPayload};
use super::event::{Ending, shown};
use super::hooks::{HookEvent, Hooks};
use super::host::Host;
use super::process::{Needs, Version};

pub(super) const HOST: Host = Host {
    folder: ".augment",
    hooks: Hooks {
        timeout: 5000,
        // Auggie reads a matcher as a regular expression, of which `*` is none.
        ..Hooks::at(&[
            HookEvent::plain("PreToolUse"),
            HookEvent::plain("PostToolUse"),
            HookEvent::plain("PromptSubmit"),
            HookEvent::plain("SessionStart"),
            HookEvent::plain("SessionEnd"),
        ])
    },
    advice: "These hooks follow Auggie's package and were not run with it. No hook can end a turn of Auggie: a \
             loop stays refused until you speak.",
    sample: concat!(
        r#"{"hook_event_name":"PreToolUse","conversation_id":"unstuck-doctor","workspace_roots":["/"],"#,
        r#""tool_name":"launch-process","tool_input":{"command":"true"},"is_mcp_tool":false}"#,
    ),
    needs: Some(Needs {
        program: "auggie",
        version: Version([0, 36, 0]),
        otherwise: "may not know each of these events",
    }),
    ..Host::of::<Auggie>("auggie", "Auggie")
};

/// Auggie's dialect. Calls have no ids: a result belongs to the earliest open call with the same tool and
/// arguments.
struct Auggie;

impl Dialect for Auggie {
    const NOTED: &'static [&'static str] = &["PostToolUse"];
    const SHOWS: bool = true;

    fn result<'a>(payload: &HookPayload<'a>) -> Ending<'a> {
        match (payload.tool_error, payload.tool_output) {
            (None, None) => Ending::Untold,
            (error @ Some(_), _) => Ending::Answered { text: shown(error), failed: true },
            (None, output) => Ending::Answered { text: shown(output), failed: false },
        }
    }
}
