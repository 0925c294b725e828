//! The commands and options that a program for one machine lacks: marked in the help, and answered with the way to
//! get them.

use serde_json::json;

use crate::harness::{Folder, Ran, program_at, runs, unstuck};
use crate::hook::Hooks;

const MARK: &str = "(not in this build)";

/// The sentence that every answer ends with.
const HOW: &str = "is not in this build: take a released program, or build it in a clone with cargo install --locked \
                   --profile dist --path adapters/cli --features fleet";

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
fn the_answer_says_how_to_get_it() {
    let runs = runs();
    let runs = runs.to_str().expect("UTF-8");
    for line in [
        &["watch"][..],
        &["watch", "--otlp", "127.0.0.1:4318", "--state", "x"],
        &["swarm", "watch", "--swarm", SWARM],
        &["swarm", "clear"],
        &["scan", runs, "--format", "parquet", "-o", "x.parquet"],
        &["install", "codex", "--swarm", SWARM],
    ] {
        let ran = unstuck(line.iter().copied());
        assert_eq!((ran.exit, ran.out.as_str()), (64, ""), "{line:?}: {ran:?}");
        assert!(words(&ran.err).contains(HOW) && !ran.err.contains("hush"), "{line:?}: {ran:?}");
    }
    for command in ["watch", "swarm"] {
        let help = unstuck([command, "--help"]);
        assert!(help.exit == 0 && words(&help.out).contains(HOW), "{help:?}");
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

#[test]
fn the_doctor_says_that_a_swarm_cannot_be_asked() {
    let home = Folder::new();
    let run = |arguments: &[&str]| {
        let mut command = program_at(home.path());
        command.env_remove("XDG_STATE_HOME").env_remove("UNSTUCK_STATE_DIR");
        Ran::by(command.args(arguments).current_dir(home.path()))
    };
    let ran = run(&["install", "gemini"]);
    assert_eq!(ran.exit, 0, "{ran:?}");
    let settings = home.path().join(".gemini/settings.json");
    let text = std::fs::read_to_string(&settings).expect("settings");
    let text = text.replace("hook gemini", &format!("hook gemini --swarm '{SWARM}'"));
    std::fs::write(&settings, text).expect("settings");
    let said = words(&run(&["doctor"]).out);
    assert!(said.contains(&format!("runs without its swarm: --swarm {HOW}")), "{said}");
}
