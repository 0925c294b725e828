//! The plugins under Node, with stand-ins for the agent and for this program.

#![cfg(unix)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::{Folder, Ran, program_at};

/// A plugin that is installed in a home folder of its own, with a script in place of this program.
struct Plugin {
    folder: Folder,
    agent: &'static str,
}

impl Plugin {
    fn of(agent: &'static str) -> Self {
        Self { folder: Folder::new(), agent }
    }

    /// Returns what the plugin did if the program is this script, or is missing.
    fn played(&self, script: Option<&str>) -> Value {
        let stand_in = self.folder.path().join("bin/unstuck");
        // An open file cannot be overwritten, and the script of a killed run may still be open.
        let _ = fs::remove_file(&stand_in);
        if let Some(script) = script {
            self.folder.program("bin/unstuck", script);
        }
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plugin");
        let name = if self.agent == "pi" { "pi.mjs" } else { "opencode.mjs" };
        let mut node = Command::new("node");
        node.arg(driver.join(name))
            .arg(self.installed(&stand_in, script == Some(HANGS)))
            .current_dir(self.folder.path());
        let ran = node.stdin(Stdio::null()).output().expect("node, which runs the plugins");
        let err = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && err.is_empty(), "{script:?}: {err}");
        let out = String::from_utf8(ran.stdout).expect("UTF-8");
        assert_eq!(out.lines().count(), 1, "nothing else is printed: {out}");
        serde_json::from_str(&out).expect("JSON")
    }

    /// Installs the plugin with `stand_in` as the program. A program that hangs is given up soon.
    fn installed(&self, stand_in: &Path, hangs: bool) -> PathBuf {
        let mut install = program_at(self.folder.path());
        install.env("PI_CODING_AGENT_DIR", self.folder.path().join("config/pi"));
        install.env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        Ran::by(install.args(["install", self.agent])).quiet(0);
        let inside = if self.agent == "pi" { "pi/extensions" } else { "opencode/plugin" };
        let path = self.folder.path().join("config").join(inside).join("unstuck.js");
        let text = fs::read_to_string(path).expect("a plugin");
        let this = text.lines().find(|line| line.starts_with("const COMMAND")).expect("a command");
        let command = format!("const COMMAND = {};", json!([stand_in, "hook", self.agent]));
        let limit = "TIME_LIMIT_MS = 5000";
        assert!(text.contains(limit));
        let text = text.replace(this, &command);
        let text = if hangs { text.replace(limit, "TIME_LIMIT_MS = 9") } else { text };
        // Node takes a file with another ending for a script.
        self.folder.file("plugin.mjs", text)
    }

    /// Returns the payloads that a program which says nothing gets, without the members `session` and `cwd`.
    fn payloads(&self) -> Vec<Value> {
        fs::create_dir(self.folder.path().join("payloads")).expect("a folder");
        self.played(Some("cat >payloads/$$"));
        let files = fs::read_dir(self.folder.path().join("payloads")).expect("a folder");
        let payload = |file: io::Result<fs::DirEntry>| {
            let text = fs::read_to_string(file.expect("an entry").path()).expect("a payload");
            let mut payload: Value = serde_json::from_str(&text).expect("JSON");
            let members = payload.as_object_mut().expect("an object");
            assert_eq!(members.remove("session"), Some("s".into()));
            assert_eq!(members.remove("cwd"), Some("/work".into()));
            payload
        };
        sorted(files.map(payload))
    }
}

/// Sorts events, because those that do not wait for each other have no fixed order.
fn sorted(events: impl IntoIterator<Item = Value>) -> Vec<Value> {
    let mut events: Vec<_> = events.into_iter().collect();
    events.sort_by_key(Value::to_string);
    events
}

/// A program that hangs.
const HANGS: &str = "exec sleep 600";

/// Scripts that do not answer, or not with an answer. Without a script there is no program.
const USELESS: [Option<&str>; 9] = [
    None,
    Some("cat >/dev/null"),
    Some("exit 3"),
    Some("kill -9 $$"),
    Some("exec <&-; echo no >&2"),
    Some("cat >/dev/null; echo '{\"tell\":'"),
    Some("cat >/dev/null; echo null"),
    Some("cat >/dev/null; echo '[\"refuse\"]'"),
    Some(HANGS),
];

#[test]
fn opencode_goes_on_whatever_the_program_does() {
    let plugin = Plugin::of("opencode");
    for script in USELESS {
        let played = plugin.played(script);
        assert_eq!((&played["refusal"], &played["output"]), (&Value::Null, &"a.rs".into()));
        assert_eq!(played["blocks"].as_array().map(Vec::len), Some(2), "{script:?}");
        let errors = json!([["No such file", "No such file"], ["No such file", "No such file"]]);
        assert_eq!((&played["requests"], &played["done"]), (&errors, &json!([])), "{script:?}");
    }
}

#[test]
fn pi_goes_on_whatever_the_program_does() {
    let plugin = Plugin::of("pi");
    for script in USELESS {
        let nothing =
            json!({ "before": null, "after": null, "again": null, "end": null, "done": [] });
        assert_eq!(plugin.played(script), nothing, "{script:?}");
    }
}

#[test]
fn opencode_obeys_the_answers() {
    let plugin = Plugin::of("opencode");
    let told = plugin.played(Some("cat >/dev/null; echo '{\"tell\":\"note\"}'"));
    assert_eq!((&told["refusal"], &told["output"]), (&Value::Null, &"a.rs\n\nnote".into()));
    assert_eq!(told["blocks"][2], json!({ "type": "text", "text": "note" }));
    // The call of an earlier run has no note, and the note is the same in each request.
    let error = json!(["No such file", "No such file\n\nnote"]);
    assert_eq!((&told["requests"], &told["done"]), (&json!([error, error]), &json!([])));

    let refused =
        plugin.played(Some("cat >/dev/null; echo '{\"refuse\":\"no\",\"person\":\"p\"}'"));
    assert_eq!((&refused["refusal"], &refused["output"]), (&"no".into(), &"a.rs".into()));
    assert_eq!(refused["done"][0], "show p");

    let stopped = plugin.played(Some("cat >/dev/null; echo '{\"stop\":\"end\",\"person\":\"p\"}'"));
    assert_eq!((&stopped["refusal"], &stopped["output"]), (&"end".into(), &"a.rs\n\nend".into()));
    let done = json!(["show p", "abort s"]);
    assert_eq!(
        stopped["done"].as_array().expect("a list")[..2],
        done.as_array().expect("a list")[..]
    );
}

#[test]
fn pi_obeys_the_answers() {
    let plugin = Plugin::of("pi");
    let result = json!({ "type": "text", "text": "a.rs" });
    let content = |words: &str| json!([result, { "type": "text", "text": words }]);
    let told = plugin.played(Some("cat >/dev/null; echo '{\"tell\":\"note\"}'"));
    assert_eq!((&told["before"], &told["again"]), (&Value::Null, &Value::Null));
    assert_eq!(told["after"], json!({ "content": content("note") }));
    let message = json!({
        "role": "toolResult", "toolCallId": "2", "toolName": "nosuch", "isError": true,
        "content": content("note"),
    });
    assert_eq!((&told["end"], &told["done"]), (&json!({ "message": message }), &json!([])));

    let refused =
        plugin.played(Some("cat >/dev/null; echo '{\"refuse\":\"no\",\"person\":\"p\"}'"));
    assert_eq!(refused["before"], json!({ "block": true, "reason": "no" }));
    assert_eq!((&refused["after"], &refused["done"][0]), (&Value::Null, &"show p".into()));

    let stopped = plugin.played(Some("cat >/dev/null; echo '{\"stop\":\"end\",\"person\":\"p\"}'"));
    assert_eq!(stopped["before"], json!({ "block": true, "reason": "end", "terminate": true }));
    assert_eq!(stopped["after"], json!({ "content": content("end") }));
    assert_eq!(stopped["done"], json!(["show p", "show p", "abort", "show p", "abort"]));
}

#[test]
fn opencode_reports_each_event_once() {
    let args = json!({ "command": "ls" });
    let before =
        |call| json!({ "event": "before", "call": call, "tool": "bash", "args": args.clone() });
    let after = |call, tool, rest: Value| {
        let mut event = json!({ "event": "after", "call": call, "tool": tool, "args": args });
        let rest = rest.as_object().expect("an object").clone();
        event.as_object_mut().expect("an object").extend(rest);
        event
    };
    let blocks = "a\n{\"type\":\"image\",\"data\":\"b\"}";
    let thrown =
        |cancelled| json!({ "output": "No such file", "failed": true, "cancelled": cancelled });
    let expected = [
        before("1"),
        after("1", "bash", json!({ "output": "a.rs", "failed": false, "exit": 0 })),
        after("2", "mcp", json!({ "output": blocks, "failed": false })),
        before("3"),
        after("3", "bash", thrown(false)),
        json!({ "event": "prompt", "text": "Look.", "subagent": "child" }),
        after("4", "bash", thrown(true)),
        json!({ "event": "interrupted" }),
        json!({ "event": "idle", "text": "Look." }),
        json!({ "event": "compacted" }),
        json!({ "event": "ended" }),
    ];
    assert_eq!(Plugin::of("opencode").payloads(), sorted(expected));
}

#[test]
fn pi_reports_each_event_once() {
    let args = json!({ "command": "ls" });
    let expected = [
        json!({ "event": "prompt", "text": "Look." }),
        json!({ "event": "before", "call": "1", "tool": "bash", "args": args }),
        json!({
            "event": "after", "call": "1", "tool": "bash", "args": args, "output": "a.rs",
            "failed": false,
        }),
        json!({
            "event": "after", "call": "2", "tool": "nosuch", "args": { "a": 1 }, "output": "a.rs",
            "failed": true,
        }),
        json!({ "event": "interrupted" }),
        json!({ "event": "idle", "text": "Done." }),
        json!({ "event": "compacted" }),
        json!({ "event": "began" }),
        json!({ "event": "ended" }),
    ];
    assert_eq!(Plugin::of("pi").payloads(), sorted(expected));
}
