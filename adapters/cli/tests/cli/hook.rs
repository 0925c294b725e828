//! Hooks as agents run them: one process for each event, with a payload on standard input.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::{Folder, Ran, is_exhaustive, program, writes_golden};
#[cfg(unix)]
use crate::harness::{in_environment_of, piped};

/// The names of the supported agents.
pub(crate) const AGENTS: [&str; 13] = [
    "claude-code",
    "codex",
    "gemini",
    "copilot",
    "qwen",
    "cursor",
    "goose",
    "opencode",
    "kilo",
    "pi",
    "droid",
    "codebuddy",
    "auggie",
];

/// The agents whose turn a hook can end.
pub(crate) const ENDING: [&str; 7] =
    ["claude-code", "gemini", "qwen", "opencode", "kilo", "pi", "droid"];

/// The agents without subagents, or whose payloads do not name them.
const ALONE: [&str; 3] = ["gemini", "cursor", "goose"];

/// The agents that load a plugin.
pub(crate) const PLUGINS: [&str; 3] = ["opencode", "kilo", "pi"];

/// The hooks of one agent, with a state folder of their own.
pub(crate) struct Hooks {
    pub(crate) agent: &'static str,
    options: Vec<String>,
    environment: Vec<(&'static str, OsString)>,
    folder: Folder,
}

impl Hooks {
    pub(crate) fn of(agent: &'static str) -> Self {
        Self { agent, options: Vec::new(), environment: Vec::new(), folder: Folder::new() }
    }

    /// Sets a variable of the environment.
    pub(crate) fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    pub(crate) fn with(self, options: &[&str]) -> Self {
        Self { options: options.iter().map(|&option| option.to_owned()).collect(), ..self }
    }

    /// Returns the state folder.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().join("unstuck")
    }

    /// Returns the command that the agent runs, before it has any input.
    pub(crate) fn command(&self) -> Command {
        let mut command = program();
        command.args(["hook", self.agent]).args(&self.options);
        command.env("XDG_STATE_HOME", self.folder.path());
        command.env_remove("UNSTUCK_STATE_DIR").env_remove("UNSTUCK");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Sends a payload and returns the answer, which is empty if it is the agent's silence. The exit code must
    /// be 0 and standard error empty.
    pub(crate) fn tell(&self, payload: impl AsRef<[u8]>) -> String {
        let answer = answered(&mut self.command(), payload.as_ref());
        if self.agent == "cursor" && answer == "{}\n" { String::new() } else { answer }
    }

    /// Returns the lines of the log.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.folder().join("hook.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the state files.
    pub(crate) fn states(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder().join("sessions")).into_iter().flatten();
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "state")).collect()
    }

    /// Returns the only state file.
    pub(crate) fn state(&self) -> PathBuf {
        let states = self.states();
        assert_eq!(states.len(), 1, "{states:?}");
        states[0].clone()
    }
}

/// Returns the answer to `payload`, after checking that the program ended like every hook must.
pub(crate) fn answered(command: &mut Command, payload: &[u8]) -> String {
    let ran = Ran::by_reading_all(command, payload);
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{}", String::from_utf8_lossy(payload));
    assert!(ran.out.lines().count() <= 1, "{}", ran.out);
    ran.out
}

/// Builds payloads with an agent's names for events and fields.
pub(crate) struct Wire(pub(crate) &'static str);

impl Wire {
    /// An event, named as in Claude Code and most agents (`claude`) or as in Gemini CLI (`gemini`).
    pub(crate) fn event(&self, claude: &str, gemini: &str, rest: &Value) -> Value {
        let mut payload = match self.0 {
            "gemini" => json!({ "session_id": "s", "cwd": "/work", "hook_event_name": gemini }),
            "cursor" => {
                let roots = ["/work"];
                let name = match claude {
                    "UserPromptSubmit" => "beforeSubmitPrompt".to_owned(),
                    "Stop" => "afterAgentResponse".to_owned(),
                    other => other[..1].to_lowercase() + &other[1..],
                };
                json!({ "conversation_id": "s", "workspace_roots": roots, "hook_event_name": name })
            }
            "auggie" => {
                let name = if claude == "UserPromptSubmit" { "PromptSubmit" } else { claude };
                json!({ "conversation_id": "s", "workspace_roots": ["/work"], "hook_event_name": name })
            }
            "goose" => json!({ "session_id": "s", "working_dir": "/work", "event": claude }),
            _ => json!({ "session_id": "s", "cwd": "/work", "hook_event_name": claude }),
        };
        let fields = payload.as_object_mut().expect("an object");
        fields.extend(rest.as_object().expect("an object").clone());
        if PLUGINS.contains(&self.0) { of_plugin(&payload) } else { payload }
    }

    /// Returns whether the answer ends the turn.
    pub(crate) fn ends(&self, answer: &str) -> bool {
        let ending = if PLUGINS.contains(&self.0) { "\"stop\":" } else { "\"continue\":false" };
        answer.contains(ending)
    }

    fn call(&self, id: &str, command: &str) -> Value {
        let mut call = json!({ "tool_name": "run", "tool_input": { "command": command } });
        match self.0 {
            "gemini" | "copilot" | "droid" | "auggie" => {}
            "qwen" | "goose" => call["tool_call_id"] = id.into(),
            _ => call["tool_use_id"] = id.into(),
        }
        call
    }

    pub(crate) fn before(&self, id: &str, command: &str) -> Value {
        self.event("PreToolUse", "BeforeTool", &self.call(id, command))
    }

    /// The call came back with this text.
    pub(crate) fn after(&self, id: &str, command: &str, text: &str) -> Value {
        let mut rest = self.call(id, command);
        let (field, result) = match self.0 {
            "gemini" | "qwen" => ("tool_response", json!({ "llmContent": text })),
            "copilot" => {
                ("tool_result", json!({ "result_type": "success", "text_result_for_llm": text }))
            }
            "cursor" | "goose" | "auggie" => ("tool_output", text.into()),
            _ => ("tool_response", text.into()),
        };
        rest[field] = result;
        self.event("PostToolUse", "AfterTool", &rest)
    }

    pub(crate) fn prompt(&self, text: &str) -> Value {
        let fields = json!({ "prompt": text, "message": text });
        self.event("UserPromptSubmit", "BeforeAgent", &fields)
    }

    pub(crate) fn handed_back(&self, text: &str) -> Value {
        let fields =
            json!({ "last_assistant_message": text, "prompt_response": text, "text": text });
        self.event("Stop", "AfterAgent", &fields)
    }

    /// The event that ends a step without a result of its call, if the agent has one.
    fn step_ended(&self) -> Option<Value> {
        let fields = json!({ "prompt": "" });
        (self.0 == "qwen").then(|| self.event("UserPromptSubmit", "", &fields))
    }
}

/// Returns the payload with the names that plugins use.
fn of_plugin(payload: &Value) -> Value {
    let name = match payload["hook_event_name"].as_str().expect("a name") {
        "PreToolUse" => "before",
        "PostToolUse" => "after",
        "UserPromptSubmit" => "prompt",
        "Stop" => "idle",
        "SessionStart" if payload["source"] == "compact" => "compacted",
        "SessionStart" => "began",
        "SessionEnd" => "ended",
        other => other,
    };
    let mut renamed = json!({ "event": name });
    for (member, new) in [
        ("session_id", "session"),
        ("agent_id", "subagent"),
        ("cwd", "cwd"),
        ("tool_use_id", "call"),
        ("tool_name", "tool"),
        ("tool_input", "args"),
        ("tool_response", "output"),
        ("prompt", "text"),
        ("last_assistant_message", "text"),
    ] {
        if let Some(value) = payload.get(member) {
            renamed[new] = value.clone();
        }
    }
    renamed
}

/// Sends a call that fails alike `times` times. Returns the answers before and after each call.
pub(crate) fn repeat(hooks: &Hooks, command: &str, times: usize) -> Vec<(String, String)> {
    static IDS: AtomicUsize = AtomicUsize::new(0);
    let wire = Wire(hooks.agent);
    let one = |_| {
        let id = format!("call-{}", IDS.fetch_add(1, Ordering::Relaxed));
        let before = hooks.tell(wire.before(&id, command).to_string());
        let is_refused =
            ["deny", "\"refuse\":", "\"block\""].iter().any(|word| before.contains(word))
                || wire.ends(&before);
        let after = wire.after(&id, command, "make: *** No rule to make target");
        let events = (!is_refused).then_some(after).into_iter().chain(wire.step_ended());
        let answers: Vec<_> = events.map(|event| hooks.tell(event.to_string())).collect();
        (before, answers.concat())
    };
    (0..times).map(one).collect()
}

/// The first part of a state file, behind its header of magic, version, length and checksum.
#[derive(Debug, Deserialize)]
pub(crate) struct Front {
    _agent: u32,
    pub(crate) session: String,
    pub(crate) worker: String,
    _cwd: Option<String>,
    pub(crate) events: u64,
    pub(crate) calls: u64,
}

pub(crate) fn front(state: &Path) -> Front {
    let bytes = fs::read(state).expect("a state file");
    let (front, _) = postcard::take_from_bytes(&bytes[18..]).expect("a state");
    front
}

/// Each file of payloads has a file of answers beside it, with one line for each payload. With
/// `UNSTUCK_GOLDEN=write` in the environment the answers are written anew; review the difference.
#[test]
fn recorded_sessions_are_answered_to_the_byte() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/hook");
    let mut sessions = 0;
    for agent in AGENTS {
        let files = fs::read_dir(golden.join(agent)).expect("a folder");
        let mut files: Vec<_> = files.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        files.sort();
        for path in files {
            let hooks = Hooks::of(agent);
            let payloads = fs::read_to_string(&path).expect("payloads");
            let line = |payload: &str| {
                answered(&mut hooks.command(), payload.as_bytes()).trim_end().to_owned() + "\n"
            };
            let answers: String = payloads.lines().map(line).collect();
            let expected = path.with_extension("out");
            if writes_golden() {
                fs::write(&expected, &answers).expect("answers that can be written");
            }
            let expected = fs::read_to_string(expected).expect("answers");
            assert_eq!(answers, expected, "{}", path.display());
            assert_eq!(hooks.log(), [""; 0], "{}", path.display());
            sessions += 1;
        }
    }
    assert!(sessions >= 2 * AGENTS.len(), "only {sessions} sessions");
}

mod needs_time {
    use super::*;

    #[test]
    fn sixteen_hooks_at_a_time_count_or_log_every_event() {
        const EACH: usize = 125;
        let hooks = Hooks::of("claude-code");
        thread::scope(|scope| {
            for worker in 0..16 {
                let hooks = &hooks;
                scope.spawn(move || {
                    for n in 0..EACH {
                        let id = format!("{worker}-{n}");
                        hooks.tell(Wire("claude-code").before(&id, &id).to_string());
                    }
                });
            }
        });
        // A hook that does not get the lock in time drops its event and logs that. How many do is a question of time, which
        // `cargo xtask bench hook` answers.
        let log = hooks.log();
        let busy = log.iter().filter(|line| line.contains("was locked")).count();
        assert_eq!(log.len(), busy, "{log:?}");
        let front = front(&hooks.state());
        assert_eq!(front.events + busy as u64, 16 * EACH as u64);
        assert_eq!(front.calls, front.events);
        assert!(front.calls > 0);
    }
}

/// A result of about this many bytes, in lines as servers write them.
fn long_result(bytes: usize) -> String {
    let line = "2026-05-28T14:03:59.123Z INFO [4711] http: GET /orders/17 200 in 412 ms\n";
    line.repeat(bytes / line.len())
}

/// Results are read before the lock is taken, so a long one keeps no other hook waiting.
#[test]
fn sixteen_hooks_with_long_results_lose_none() {
    let sizes: &[usize] = if is_exhaustive() { &[1 << 20, 8 << 20] } else { &[1 << 20] };
    for &bytes in sizes {
        let hooks = Hooks::of("claude-code");
        let wire = Wire("claude-code");
        let ids: Vec<String> = (0..16).map(|worker| format!("call-{worker}")).collect();
        for id in &ids {
            hooks.tell(wire.before(id, id).to_string());
        }
        let result = long_result(bytes);
        thread::scope(|scope| {
            for id in &ids {
                let payload = wire.after(id, id, &result).to_string();
                let hooks = &hooks;
                scope.spawn(move || hooks.tell(payload));
            }
        });
        assert_eq!(hooks.log(), [""; 0], "{bytes}");
        assert_eq!(front(&hooks.state()).events, 2 * 16, "{bytes}");
    }
}

/// Runs the hook on `payload` in a shell with this `ulimit`. Returns its exit code, or `None` if a signal ended
/// it, and standard error.
#[cfg(unix)]
fn limited(hooks: &Hooks, limit: &str, payload: &str) -> (Option<i32>, String) {
    let hook = hooks.command();
    let mut shell = in_environment_of(&hook, "sh");
    shell.args(["-c", &format!("ulimit {limit} && exec \"$@\""), "sh"]);
    let mut child = piped(shell.arg(hook.get_program()).args(hook.get_args()));
    // A program that ends early does not read all of it.
    let _ = child.stdin.take().expect("a pipe").write_all(payload.as_bytes());
    let output = child.wait_with_output().expect("a program that ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A signal ends a process with another code than 0, which some agents take for a refusal.
#[cfg(unix)]
#[test]
fn limits_of_the_process_end_no_hook_otherwise_than_with_0() {
    let least = least_memory();
    let [least, more] = [least, least + 40_000].map(|kilobytes| format!("-v {kilobytes}"));
    for limit in ["-f 0", "-f 1", &least, &more] {
        for agent in ["gemini", "claude-code"] {
            let hooks = Hooks::of(agent);
            for n in 0..3 {
                let payload = Wire(agent).before(&n.to_string(), "make").to_string();
                let (exit, _) = limited(&hooks, limit, &payload);
                assert_eq!(exit, Some(0), "ulimit {limit}, {agent}");
            }
        }
    }
}

/// The less memory there is, the earlier a long payload is too much: when it is read, or later.
#[cfg(target_os = "linux")]
#[test]
fn a_lack_of_memory_ends_no_hook_otherwise_than_with_0() {
    let hooks = Hooks::of("claude-code");
    let payload = Wire("claude-code").after("a", "make", &long_result(8 << 20)).to_string();
    let mut has_aborted = false;
    let least = least_memory();
    for kilobytes in (least..least + 48_000).step_by(4000) {
        let (exit, complaint) = limited(&hooks, &format!("-v {kilobytes}"), &payload);
        assert_eq!(exit, Some(0), "{kilobytes}: {complaint}");
        has_aborted |= complaint.contains("memory allocation of");
    }
    let log = hooks.log();
    assert!(has_aborted && log.iter().any(|line| line.contains("no memory")), "{log:?}");
}

/// Returns the address space in which the program can be loaded and started, in kilobytes: with less, the
/// loader or the runtime ends it before its first line.
#[cfg(target_os = "linux")]
fn least_memory() -> usize {
    let starts = |kilobytes: &usize| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -v {kilobytes} && exec \"$@\""), "sh"]);
        shell.arg(program().get_program()).args(["presets", "--help"]);
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        shell.status().expect("a shell").success()
    };
    (12_000..64_000).step_by(500).find(starts).expect("a program that starts in 64 MB")
}

/// Opening a pipe waits until somebody opens its other end.
#[cfg(unix)]
#[test]
fn pipes_in_the_state_folder_hang_nothing() {
    let hooks = Hooks::of("claude-code");
    let wire = Wire("claude-code");
    hooks.tell(wire.before("a", "make").to_string());
    let state = hooks.state();
    fs::remove_file(&state).expect("a state");
    for name in [&state, &hooks.folder().join("hook.log"), &hooks.folder().join("findings.jsonl")] {
        assert!(Command::new("mkfifo").arg(name).status().expect("a program").success());
    }
    assert_eq!(hooks.tell(wire.before("b", "make").to_string()), "");
    for words in [&["status"][..], &["report"], &["doctor"]] {
        let mut command = program();
        command.env("XDG_STATE_HOME", hooks.folder().parent().expect("a folder")).args(words);
        let ran = Ran::by(&mut command);
        assert!(ran.exit <= 3, "{words:?}: {ran:?}");
        if words[0] == "doctor" {
            assert!(ran.out.contains("a pipe stands in its place"), "{}", ran.out);
        }
    }
}

#[test]
fn a_long_id_of_a_call_silences_no_session() {
    let hooks = Hooks::of("claude-code");
    let wire = Wire("claude-code");
    let mut answers = String::new();
    for n in 0..9 {
        let id = format!("{}{n}", "x".repeat(20_000));
        answers += &hooks.tell(wire.before(&id, "make").to_string());
        answers += &hooks.tell(wire.after(&id, "make", "No rule to make target").to_string());
    }
    assert!(answers.contains("5 times in a row"), "{answers}");
    assert_eq!(hooks.log(), [""; 0]);
    assert_eq!(front(&hooks.state()).calls, 9);
}

#[test]
fn an_observing_hook_is_silent_and_records_findings() {
    for agent in AGENTS {
        let hooks = Hooks::of(agent).with(&["--observe"]);
        let answers = repeat(&hooks, "make", 9);
        assert!(answers.iter().all(|(before, after)| before.is_empty() && after.is_empty()));
        let state = fs::read(hooks.state()).expect("a state");
        let holds = |word: &[u8]| state.windows(word.len()).any(|part| part == word);
        assert!(holds(b"same-effect") && holds(b"stop"), "{agent}");
    }
}

#[test]
fn another_policy_resets_the_session() {
    let hooks = Hooks::of("codex");
    assert!(repeat(&hooks, "make", 2).iter().all(|(_, after)| after.is_empty()));
    let other = Hooks { options: vec!["--preset".into(), "cycles".into()], ..hooks };
    assert_eq!(repeat(&other, "ls", 1), [(String::new(), String::new())]);
    assert_eq!((front(&other.state()).events, other.log()), (6, vec![]));
}

/// Codex tells nothing of a call that fails in a server, of an unknown tool and the like: only its transcript does.
#[test]
fn calls_without_an_event_are_read_from_the_transcript() {
    let (hooks, folder) = (Hooks::of("codex"), Folder::new());
    let (wire, path) = (Wire("codex"), folder.path().join("rollout.jsonl"));
    let mut transcript = String::new();
    let mut write = |item: Value| {
        transcript += &(json!({ "type": "response_item", "payload": item }).to_string() + "\n");
        fs::write(&path, &transcript).expect("a transcript");
    };
    write(json!({ "type": "message", "role": "user" }));
    let mut answers = Vec::new();
    for n in 0..9 {
        let id = format!("call-{n}");
        write(json!({ "type": "function_call", "call_id": id, "name": "run", "arguments": "{}" }));
        let mut before = wire.before(&id, "order");
        before["transcript_path"] = path.to_str().into();
        let answer = hooks.tell(before.to_string());
        let output =
            if answer.contains("deny") { "Tool call blocked by PreToolUse hook" } else { "no" };
        write(json!({ "type": "function_call_output", "call_id": id, "output": output }));
        answers.push(match answer {
            answer if answer.contains("deny") => "refused",
            answer if answer.contains("[unstuck]") => "told",
            _ => "",
        });
    }
    assert_eq!(answers, ["", "", "", "told", "", "refused", "refused", "refused", "refused"]);
    assert_eq!(front(&hooks.state()).calls, 9);
}

#[test]
fn a_rule_that_asks_to_start_over_stops_the_run() {
    for agent in AGENTS {
        let hooks = Hooks::of(agent).with(&["--preset", "start_over"]);
        let answers = repeat(&hooks, "make", 5);
        let (_, last) = answers.last().expect("five answers");
        if agent == "goose" {
            // It reads no answer but that to the next call.
            assert!(repeat(&hooks, "make", 1)[0].0.contains("It stays refused until"));
            continue;
        }
        let ends = ENDING.contains(&agent);
        assert_eq!(Wire(agent).ends(last), ends, "{agent}: {answers:?}");
        let says = if ends { "[unstuck] Ended the turn: " } else { "The call stays refused until" };
        assert!(last.contains(says) && !last.contains("goes back"), "{last}");
    }
}

#[test]
fn the_end_of_a_session_removes_its_state() {
    for agent in AGENTS {
        let hooks = Hooks::of(agent);
        let wire = Wire(agent);
        repeat(&hooks, "make", 1);
        let subagent = json!({ "agent_id": "a1", "prompt": "Go on." });
        hooks.tell(wire.event("UserPromptSubmit", "BeforeAgent", &subagent).to_string());
        assert_eq!(hooks.states().len(), if ALONE.contains(&agent) { 1 } else { 2 });
        hooks.tell(wire.event("SessionEnd", "SessionEnd", &json!({})).to_string());
        assert_eq!(hooks.states(), [""; 0].map(PathBuf::from));
    }
}

#[test]
fn the_help_of_hook_lists_the_agents() {
    let ran = crate::harness::unstuck(["hook", "--help"]).quiet(0);
    assert!(AGENTS.iter().all(|agent| ran.out.contains(agent)), "{}", ran.out);
}
