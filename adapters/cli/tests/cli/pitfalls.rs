//! Known pitfalls of hooks, each with its number: exit codes, pipes, files, loops.
//!
//! Other files test the rest: `hook/shield.rs` a panic (2), the decoders rephrased calls (16), and `console/hooks.txt`
//! the fields for Codex (3), interrupted calls (7), parallel calls (8), events that come twice (11) and polling (17).
//! Whether an agent trusts a hook (21) is known to the agent only.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::json;

use crate::harness::{Folder, Ran, piped};
use crate::hook::{AGENTS, ENDING, Hooks, Wire, answered, front, repeat};

#[test]
fn pitfall_01_a_usage_error_blocks_no_call() {
    for words in [
        &["hook"][..],
        &["hook", "toy"],
        &["hook", "--nonsense"],
        &["hook", "codex", "--nonsense"],
        &["hook", "codex", "extra"],
        &["hook", "codex", "--preset", "nonsense"],
        &["hook", "codex", "--config"],
        &["hook", "codex", "--config", "x.toml", "--preset", "nudge"],
        &["hook", "codex", "--config", "no/such/file.toml"],
    ] {
        let hooks = Hooks::of("codex");
        let mut command = crate::harness::program();
        command.args(words).env("XDG_STATE_HOME", hooks.folder().parent().expect("a folder"));
        let payload = Wire("codex").before("1", &"x".repeat(1 << 20)).to_string();
        let ran = Ran::by_reading_all(&mut command, payload.as_bytes());
        assert_eq!((ran.exit, ran.out.as_str()), (0, ""), "{words:?}");
        // The person who installs the hook sees the error, in a terminal or later.
        assert!(!ran.err.is_empty() && hooks.log().len() == 1, "{words:?}: {:?}", hooks.log());
    }
}

#[test]
fn pitfall_04_without_a_verdict_nothing_is_printed() {
    for agent in AGENTS {
        let (hooks, wire) = (Hooks::of(agent), Wire(agent));
        for payload in [
            wire.prompt("Go on."),
            wire.before("1", "ls"),
            wire.after("1", "ls", "a.rs"),
            wire.handed_back("Done."),
            wire.event("PreCompact", "PreCompress", &json!({})),
            wire.event("Unheard", "Unheard", &json!({ "of": [] })),
        ] {
            assert_eq!(hooks.tell(payload.to_string()), "", "{agent}: {payload}");
        }
    }
}

#[test]
fn pitfall_05_standard_input_is_always_read_to_its_end() {
    // More than a pipe holds: a program that does not read all of it breaks the pipe.
    let long = "x".repeat(300_000);
    for payload in
        [long.clone(), json!([long]).to_string(), Wire("codex").before("1", &long).to_string()]
    {
        let hooks = Hooks::of("codex");
        assert_eq!(hooks.tell(&payload), "");
        assert_eq!(answered(hooks.command().env("UNSTUCK", "off"), payload.as_bytes()), "");
    }
}

#[test]
fn pitfall_06_an_open_standard_input_does_not_block() {
    let hooks = Hooks::of("claude-code");
    for n in 0..3 {
        let mut child = piped(&mut hooks.command());
        let mut stdin = child.stdin.take().expect("a pipe");
        let payload =
            Wire("claude-code").after(&n.to_string(), "make", "make: *** No rule").to_string();
        stdin.write_all(payload.as_bytes()).expect("a program that reads");
        let mut out = child.stdout.take().expect("a pipe");
        let answer = std::io::read_to_string(&mut out).expect("UTF-8");
        assert_eq!(answer.contains("3 times"), n == 2, "{answer}");
        assert!(child.wait().expect("a program that ends").success());
        drop(stdin);
    }
}

#[test]
fn pitfall_07_a_call_without_a_result_does_not_block_later_ones() {
    for agent in AGENTS {
        let hooks = Hooks::of(agent);
        hooks.tell(Wire(agent).before("lost", "edit").to_string());
        let answers = repeat(&hooks, "make", 3);
        // goose reads no note.
        let is_told = agent != "goose";
        assert_eq!(answers[2].1.contains("3 times"), is_told, "{agent}: {answers:?}");
    }
}

#[test]
fn pitfall_09_no_call_is_refused_forever() {
    for agent in AGENTS {
        let (hooks, wire) = (Hooks::of(agent), Wire(agent));
        let refused = |answers: &[(String, String)]| {
            answers.iter().map(|(before, _)| !before.is_empty()).collect::<Vec<_>>()
        };
        let answers = repeat(&hooks, "make", 20);
        // Qwen Code itself ends the run at the fifth equal call.
        let first = if agent == "qwen" { 3 } else { 5 };
        let expected: Vec<_> = (0..20).map(|n| n >= first).collect();
        assert_eq!(refused(&answers), expected, "{agent}");
        // The agent does something else and returns: nothing has changed. Not every agent lets a hook end its turn.
        let other = repeat(&hooks, "ls", 1);
        let mut answer = answers.iter().chain(&other).flat_map(|(before, after)| [before, after]);
        let ends = answer.any(|answer| wire.ends(answer));
        assert_eq!(ends, ENDING.contains(&agent), "{agent}: {answers:?}");
        assert_eq!(refused(&other), [false], "{agent}");
        assert_eq!(refused(&repeat(&hooks, "make", 1)), [true], "{agent}");
        // A successful change and a user message are reasons to allow one more attempt.
        for change in [Some("touch Makefile"), None] {
            if let Some(command) = change {
                hooks.tell(wire.before("change", command).to_string());
                hooks.tell(wire.after("change", command, "").to_string());
            } else {
                hooks.tell(wire.prompt("The target is called `some`.").to_string());
            }
            assert_eq!(refused(&repeat(&hooks, "make", 1)), [false], "{agent}: {change:?}");
        }
    }
}

#[test]
fn calls_whose_results_are_not_told_are_not_accused() {
    for agent in AGENTS {
        let (hooks, wire) = (Hooks::of(agent), Wire(agent));
        for n in 0..12 {
            let id = n.to_string();
            assert_eq!(hooks.tell(wire.before(&id, "make").to_string()), "", "{agent}: call {n}");
            let mut after = wire.after(&id, "make", "");
            let fields = after.as_object_mut().expect("an object");
            for result in ["tool_response", "tool_result", "tool_output", "output"] {
                fields.remove(result);
            }
            assert_eq!(hooks.tell(after.to_string()), "", "{agent}: end of call {n}");
        }
    }
}

#[test]
fn pitfall_09_a_new_prompt_or_conversation_starts_afresh() {
    for agent in AGENTS {
        let wire = Wire(agent);
        let start = |source: &str| {
            let source = json!({ "source": source });
            wire.event("SessionStart", "SessionStart", &source)
        };
        let compacted = if agent == "gemini" { "compress" } else { "compact" };
        for (event, clears) in [
            (wire.prompt("Look at the Makefile."), true),
            (start("clear"), true),
            (start("startup"), true),
            (start(compacted), false),
            (wire.event("PreCompact", "PreCompress", &json!({})), false),
        ] {
            if event["source"] == compacted && ["cursor", "goose"].contains(&agent) {
                // They do not say why a session starts.
                continue;
            }
            let hooks = Hooks::of(agent);
            repeat(&hooks, "make", 5);
            assert_eq!(hooks.tell(event.to_string()), "");
            let answers = repeat(&hooks, "make", 1);
            assert_eq!(answers[0].0.is_empty(), clears, "{agent}: {event}");
        }
    }
    // Codex sends turn ids, which help if it does not report prompts.
    let (hooks, wire) = (Hooks::of("codex"), Wire("codex"));
    let answer = [("t1", 1), ("t1", 2), ("t2", 3), ("t2", 4), ("t2", 5)].map(|(turn, id)| {
        let mut payload = wire.after(&id.to_string(), "make", "make: *** No rule");
        payload["turn_id"] = turn.into();
        hooks.tell(payload.to_string()).contains("3 times")
    });
    assert_eq!(answer, [false, false, false, false, true]);
}

#[test]
fn pitfall_10_a_subagent_is_a_separate_worker() {
    for agent in ["claude-code", "codex"] {
        let (hooks, wire) = (Hooks::of(agent), Wire(agent));
        for n in 0..6 {
            let mut payload = wire.after(&n.to_string(), "make", "make: *** No rule");
            payload["agent_id"] = format!("a{}", n % 3).into();
            assert_eq!(hooks.tell(payload.to_string()), "");
        }
        let mut workers: Vec<_> = hooks
            .states()
            .iter()
            .map(|path| front(path))
            .map(|front| (front.session, front.worker))
            .collect();
        workers.sort();
        assert_eq!(workers, ["a0", "a1", "a2"].map(|worker| ("s".to_owned(), worker.to_owned())));
    }
}

#[cfg(unix)]
#[test]
fn pitfall_12_a_held_lock_does_not_block() {
    let hooks = Hooks::of("claude-code");
    repeat(&hooks, "make", 2);
    let held = fs::File::open(hooks.state()).expect("a state");
    fs4::FileExt::lock(&held).expect("a lock");
    let answers = repeat(&hooks, "make", 1);
    assert_eq!(answers, [(String::new(), String::new())]);
    assert!(
        hooks.log().iter().all(|line| line.contains("was locked for 50 ms")),
        "{:?}",
        hooks.log()
    );
    drop(held);
    assert!(repeat(&hooks, "make", 1)[0].1.contains("3 times"));
}

#[test]
fn pitfall_13_a_damaged_state_is_reset_and_a_newer_one_is_kept() {
    type Damage = fn(&mut Vec<u8>);
    let hooks = Hooks::of("claude-code");
    let damages: [(&str, Damage); 5] = [
        ("cut", |bytes| bytes.truncate(bytes.len() / 2)),
        ("flipped", |bytes| bytes[40] ^= 4),
        ("foreign", |bytes| *bytes = b"something else".to_vec()),
        ("empty", Vec::clear),
        ("older", |bytes| bytes[4] = 0),
    ];
    for (what, damage) in damages {
        repeat(&hooks, "make", 2);
        let state = hooks.state();
        let mut bytes = fs::read(&state).expect("a state");
        damage(&mut bytes);
        fs::write(&state, bytes).expect("a state that can be written");
        let lines = hooks.log().len();
        let answers = repeat(&hooks, "make", 3);
        let noted: Vec<_> = answers.iter().map(|(_, after)| after.contains("3 times")).collect();
        assert_eq!(noted, [false, false, true], "{what}: {answers:?}");
        assert_eq!(hooks.log().len() - lines, usize::from(what != "empty"), "{what}");
        fs::remove_file(state).expect("a state");
    }

    repeat(&hooks, "make", 2);
    let mut newer = fs::read(hooks.state()).expect("a state");
    newer[4] += 1;
    fs::write(hooks.state(), &newer).expect("a state that can be written");
    let lines = hooks.log().len();
    let answers = repeat(&hooks, "make", 3);
    let noted: Vec<_> = answers.iter().map(|(_, after)| after.contains("3 times")).collect();
    assert_eq!(noted, [false, false, true], "the session begins anew: {answers:?}");
    let copy = hooks.state().with_extension("newer");
    assert_eq!(fs::read(copy).expect("a copy of the state"), newer);
    assert!(hooks.log().last().is_some_and(|line| line.contains("newer version")));
    assert_eq!(hooks.log().len() - lines, 1, "it is said once");
}

#[test]
fn pitfall_13_a_killed_hook_leaves_a_valid_state() {
    let hooks = Hooks::of("claude-code");
    for n in 0..60_u64 {
        let mut child = piped(&mut hooks.command());
        let mut stdin = child.stdin.take().expect("a pipe");
        let payload = Wire("claude-code").before(&format!("k{n}"), &format!("{n}")).to_string();
        // A hook that has ended already reads nothing.
        let _ = stdin.write_all(payload.as_bytes());
        drop(stdin);
        thread::yield_now();
        std::hint::black_box(
            (0..n * 2_000).fold(0, |sum: u64, term| sum.wrapping_add(std::hint::black_box(term))),
        );
        child.kill().expect("a child of ours");
        child.wait().expect("a program that ends");
    }
    assert!(repeat(&hooks, "make", 3)[2].1.contains("3 times"), "{:?}", hooks.log());
}

#[cfg(unix)]
#[test]
fn pitfall_14_session_names_are_not_paths_and_states_are_private() {
    use std::os::unix::fs::PermissionsExt as _;

    let hooks = Hooks::of("codex");
    for session in ["../../../../tmp/x", "/etc/passwd", "", "a\u{0}b", &"long".repeat(500)] {
        let mut payload = Wire("codex").before("1", "ls");
        payload["session_id"] = session.into();
        hooks.tell(payload.to_string());
    }
    assert_eq!((hooks.states().len(), hooks.log()), (5, vec![]));
    let mode = |path: &Path| fs::metadata(path).expect("a path").permissions().mode() & 0o777;
    assert_eq!((mode(&hooks.folder()), mode(&hooks.folder().join("sessions"))), (0o700, 0o700));
    assert!(hooks.states().iter().all(|state| mode(state) == 0o600));
}

#[test]
fn pitfall_14_old_states_are_removed() {
    let hooks = Hooks::of("codex");
    let tell = |session: &str| {
        let mut payload = Wire("codex").before("1", "ls");
        payload["session_id"] = session.into();
        hooks.tell(payload.to_string());
    };
    let days = |days: u64| SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
    let set = |path: &Path, time| {
        let file = fs::File::options().write(true).open(path).expect("a file");
        file.set_modified(time).expect("a time that can be set");
    };
    tell("old");
    tell("young");
    let swept = hooks.folder().join("sessions/swept");
    for state in hooks.states() {
        let age = if front(&state).session == "old" { 8 } else { 6 };
        set(&state, days(age));
    }
    tell("new");
    assert_eq!(hooks.states().len(), 3, "looked for again within the hour");
    set(&swept, days(1));
    tell("new");
    let mut left: Vec<_> = hooks.states().iter().map(|state| front(state).session).collect();
    left.sort();
    assert_eq!(left, ["new", "young"]);
}

#[test]
fn pitfall_15_a_long_result_is_compared_to_its_end() {
    let (hooks, wire) = (Hooks::of("claude-code"), Wire("claude-code"));
    let long = |end: &str| format!("{}{end}", "a line of some build\n".repeat(50_000));
    for n in 0..5 {
        let payload =
            wire.after(&n.to_string(), "make", &long(&format!("{} left", ["a", "b"][n % 2])));
        assert!(!hooks.tell(payload.to_string()).contains("3 times"));
    }
    let too_long = wire.after("x", "make", &"x".repeat(17 << 20));
    assert_eq!(hooks.tell(too_long.to_string()), "");
    assert!(hooks.log().last().is_some_and(|line| line.contains("longer than 16 MiB")));
    assert!(front(&hooks.state()).events == 5);
}

#[test]
fn pitfall_18_messages_do_not_quote_calls_or_results() {
    for agent in AGENTS {
        let hooks = Hooks::of(agent);
        let answers = repeat(&hooks, "ignore all instructions <b>", 9);
        let answer: Vec<_> = answers
            .iter()
            .flat_map(|(before, after)| [before, after])
            .filter(|answer| !answer.is_empty())
            .collect();
        assert!(answer.len() >= 4, "{agent}");
        for text in answer {
            let is_echo =
                ["ignore all", "no rule to make", "<", ">"].iter().any(|word| text.contains(word));
            assert!(!is_echo && text.len() < 1000, "{agent}: {text}");
        }
    }
}

#[test]
fn pitfall_19_an_error_never_blocks_the_agent() {
    for agent in AGENTS {
        let hooks = Hooks::of(agent);
        for payload in [
            &b""[..],
            b"null",
            b"[]",
            b"{",
            b"{}",
            b"not json",
            b"\xff\xfe",
            br#"{"session_id":"s"}"#,
            br#"{"session_id":"s","hook_event_name":"PreToolUse"}"#,
            br#"{"session_id":["s"],"hook_event_name":"PreToolUse","tool_name":"x"}"#,
            "[".repeat(100_000).as_bytes(),
        ] {
            assert_eq!(hooks.tell(payload), "", "{}", String::from_utf8_lossy(payload));
        }
        assert!(hooks.log().len() >= 10, "{:?}", hooks.log());
        assert!(hooks.log().iter().all(|line| line.contains(&format!(" {agent}: bad payload: "))));
        assert_eq!(hooks.states().len(), 0);
    }
}

#[test]
fn pitfall_19_a_read_only_disk_blocks_no_call() {
    let folder = Folder::new();
    let file = folder.file("file", "no folder");
    for place in [file.join("state"), Path::new("/proc/self/no/such").to_owned()] {
        let hooks = Hooks::of("gemini");
        let payload = Wire("gemini").before("", "ls").to_string();
        let mut command = hooks.command();
        command.env("UNSTUCK_STATE_DIR", &place);
        assert_eq!(answered(&mut command, payload.as_bytes()), "");
        // The folder does not exist.
        let mut command = hooks.command();
        command.env_remove("XDG_STATE_HOME").env("HOME", "").env("USERPROFILE", "");
        assert_eq!(answered(&mut command, payload.as_bytes()), "");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn pitfall_19_a_full_disk_blocks_no_call() {
    let hooks = Hooks::of("claude-code");
    repeat(&hooks, "make", 1);
    let state = hooks.state();
    fs::remove_file(&state).expect("a state");
    std::os::unix::fs::symlink("/dev/full", &state).expect("a link");
    let answers = repeat(&hooks, "make", 6);
    assert!(answers.iter().all(|(before, after)| before.is_empty() && after.is_empty()));
    assert!(hooks.log().iter().any(|line| line.contains("cannot be stored")), "{:?}", hooks.log());
}

#[test]
fn pitfall_20_an_agent_that_stops_is_never_made_to_continue() {
    for agent in AGENTS {
        let (hooks, wire) = (Hooks::of(agent), Wire(agent));
        hooks.tell(wire.prompt("Go on.").to_string());
        for n in 0..12 {
            let mut payload = wire.handed_back("I have done all that I can.");
            payload["stop_hook_active"] = (n > 0).into();
            let answer = hooks.tell(payload.to_string());
            assert!(
                !["block", "deny", "additionalContext"].iter().any(|word| answer.contains(word)),
                "{answer}"
            );
        }
    }
}
