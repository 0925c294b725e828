//! The commands and options that a program for one machine lacks are marked in the help, and a hook goes on without
//! them. `console/lacking.unix.lean.txt` has the answers.

use serde_json::json;

use crate::harness::unstuck;
use crate::hook::Hooks;

const MARK: &str = "(not in this build)";

/// An address with a password that no output may show.
const SWARM: &str = "redis://:hush@127.0.0.1:1?swarm=nightly";

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_help_marks_what_is_lacking() {
    for (line, marked) in [
        (&["--help"][..], &["watch", "swarm"][..]),
        (&["scan", "--help"], &["parquet"]),
        (&["install", "--help"], &["--swarm"]),
        (&["hook", "--help"], &["--swarm"]),
        (&["view", "--help"], &[]),
    ] {
        let help = words(&unstuck(line.iter().copied()).out);
        assert_eq!(help.matches(MARK).count(), marked.len(), "{help}");
        for name in marked {
            let (_, after) = help.rsplit_once(&format!(" {name}")).expect(name);
            assert!(after.contains(MARK), "{name}: {help}");
        }
    }
}

#[test]
fn a_hook_that_was_installed_with_a_swarm_watches_alone() {
    let (alone, among) =
        (Hooks::of("claude-code"), Hooks::of("claude-code").with(&["--swarm", SWARM]));
    let mut notes = 0;
    for n in 0..4 {
        for name in ["PreToolUse", "PostToolUseFailure"] {
            let event = json!({
                "session_id": "s", "hook_event_name": name, "tool_name": "run",
                "tool_input": {"command": "npm ci"}, "tool_use_id": n.to_string(), "error": "403 Forbidden",
            });
            let said = among.tell(event.to_string());
            notes += usize::from(!said.is_empty());
            assert_eq!(said, alone.tell(event.to_string()));
        }
    }
    assert!(notes > 0);
    let log = among.log();
    assert!(log[0].contains("claude-code: swarm: --swarm is not in this build"), "{log:?}");
    assert!(log.iter().all(|line| !line.contains("hush")), "{log:?}");
}
