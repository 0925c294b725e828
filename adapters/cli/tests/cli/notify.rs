//! Telling a person of a loop: on the desktop by a `notify-send` that writes down its arguments, and at a webhook. The
//! hook and the proxy never wait for it.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::harness::{Folder, Ran, program};
use crate::hook::{Hooks, repeat};

/// The longest wait for a notification. No test waits as long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder for `PATH`, with a `notify-send`, and a pipe through which it speaks with the test.
struct Desktop(Folder);

/// A desktop that shows what it is told.
struct Screen {
    desktop: Desktop,
    notifications: mpsc::Receiver<String>,
}

impl Screen {
    /// A desktop that writes down each notification and its session. They are read as they come: a `notify-send` that
    /// waits for a reader is ended after a while.
    fn new() -> Self {
        let desktop = Desktop::of(
            "read -r _ _ _ _ _ session _ </proc/self/stat 2>/dev/null\nprintf '%s\\n' \"$@\" \"$session\" >PIPE",
        );
        let pipe = desktop.0.path().join("pipe");
        let (sender, notifications) = mpsc::channel();
        thread::spawn(move || {
            while let Ok(text) = fs::read_to_string(&pipe)
                && sender.send(text).is_ok()
            {}
        });
        Self { desktop, notifications }
    }

    /// Sends the example. Returns the text of the next notification, which is another one if one is left.
    fn example(&self) -> String {
        let mut command = program();
        command.args(["notify", "desktop"]).env("PATH", self.desktop.path());
        let mut child = command.spawn().expect("a program that starts");
        let (text, _) = self.shown();
        assert!(child.wait().expect("an end").success());
        text
    }

    /// Returns the text of the next notification, and its session.
    fn shown(&self) -> (String, String) {
        let text = self.notifications.recv_timeout(PATIENCE).expect("a notification");
        let lines: Vec<_> = text.lines().collect();
        let ["--app-name", "unstuck", "--", "unstuck", body, session] = lines[..] else {
            panic!("{text}");
        };
        (body.to_owned(), session.to_owned())
    }
}

impl Desktop {
    fn of(script: &str) -> Self {
        let folder = Folder::new();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("a program").success());
        folder.program("bin/notify-send", &script.replace("PIPE", &pipe.display().to_string()));
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("bin")
    }

    fn hooks(&self, options: &[&str]) -> Hooks {
        Hooks::of("claude-code").with(options).env("PATH", self.path())
    }
}

/// Returns what `wait` returns, or fails if that takes too long.
fn in_time<T: Send + 'static>(wait: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, waiting) = mpsc::channel();
    thread::spawn(move || done.send(wait()));
    waiting.recv_timeout(PATIENCE).expect("something happens in time")
}

/// Returns the session of this process, where the system tells it: 0 if its leader is outside of the container.
fn own_session() -> Option<String> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    text.rsplit(')').next()?.split_whitespace().nth(3).map(str::to_owned)
}

#[test]
fn a_person_is_told_once_of_each_loop_at_the_rung_that_it_chose() {
    let both = &["make", "npm ci"][..];
    for (options, commands, said) in [
        (&["--notify", "desktop"][..], both, "6 times in a row, failing alike: refused"),
        (
            &["--notify", "desktop", "--notify-at", "nudge"],
            both,
            "3 times in a row, failing alike: nudged",
        ),
        (
            &["--notify", "desktop", "--notify-at", "stop"],
            both,
            "8 times in a row, failing alike: stopped",
        ),
        // Where nothing is refused, more calls of one tool are another loop.
        (
            &["--observe", "--notify", "desktop", "--notify-at", "warn"],
            &both[..1],
            "5 times in a row, failing alike: would have warned",
        ),
    ] {
        let screen = Screen::new();
        let hooks = screen.desktop.hooks(options);
        for command in commands {
            repeat(&hooks, command, 12);
            // If a loop were told of twice, the next notification would be about the loop before.
            let (text, session) = screen.shown();
            assert_eq!(text, format!("Claude Code in /work: `run` {said}"), "{options:?}");
            assert_ne!(Some(session), own_session());
        }
        assert_eq!(hooks.log(), [""; 0]);
    }
}

/// Whatever becomes of the notification, the agent reads the same, and the exit code is 0.
#[test]
fn nothing_that_happens_to_a_notification_disturbs_the_hook() {
    let expected = repeat(&Hooks::of("claude-code"), "make", 8);
    let hangs = Desktop::of("read -r _ <PIPE");
    let fails = Desktop::of("read -r line <PIPE\nprintf 'no bus %s' \"$line\" >&2\nexit 7");
    let missing = Folder::new();
    let with = |place: &str, path: PathBuf| {
        Hooks::of("claude-code").with(&["--notify", place]).env("PATH", path)
    };
    for (what, hooks) in [
        ("missing", with("desktop", missing.path().to_owned())),
        ("hangs", with("desktop", hangs.path())),
        ("fails", with("desktop", fails.path())),
        // Nobody listens at the port of the discard protocol.
        ("down", with("http://127.0.0.1:9/", hangs.path())),
        ("no place", with("pigeon", hangs.path())),
    ] {
        assert_eq!(repeat(&hooks, "make", 8), expected, "{what}");
    }
    // A pipe opens for writing when the program reads it: it was started, and waited while the hook had answered.
    for desktop in [&hangs, &fails] {
        let pipe = desktop.0.path().join("pipe");
        drop(in_time(move || OpenOptions::new().write(true).open(pipe).expect("a reader")));
    }
}

#[test]
fn an_example_shows_whether_notifications_arrive() {
    let text = Screen::new().example();
    assert!(text.starts_with("An MCP client in ") && text.ends_with("alike: refused"), "{text}");
}

#[test]
fn a_finding_that_does_not_come_is_no_example() {
    let screen = Screen::new();
    for given in ["", "{\"agent\":\"cod"] {
        let mut command = program();
        command.args(["notify", "--found", "desktop"]).env("PATH", screen.desktop.path());
        let ran = Ran::by_reading_all(&mut command, given.as_bytes());
        assert_eq!(ran.exit, 4, "{ran:?}");
        assert!(ran.err.contains("no finding on standard input"), "{ran:?}");
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "exec notify-send --app-name unstuck -- unstuck last"]);
    command.env("PATH", screen.desktop.path());
    assert!(command.status().expect("a program").success());
    assert_eq!(screen.shown().0, "last", "nothing was shown before");
}

#[test]
fn the_proxy_tells_a_person_once_of_a_loop() {
    let screen = Screen::new();
    let fails =
        r#"while read -r _; do echo '{"id":1,"result":{"isError":true,"content":[]}}'; done"#;
    let call = r#"{"id":1,"method":"tools/call","params":{"name":"lookup"}}"#;
    let mut command = program();
    command.args([
        "mcp",
        "--notify",
        "desktop",
        "--notify-at",
        "warn",
        "--",
        "/bin/sh",
        "-c",
        fails,
    ]);
    command.env("PATH", screen.desktop.path());
    let ran = Ran::by_talking(&mut command, &format!("{call}\n<\n").repeat(9));
    assert_eq!((ran.exit, ran.out.matches("This call was not run.").count()), (0, 4), "{ran:?}");
    let (text, _) = screen.shown();
    assert!(text.starts_with("An MCP client in "), "{text}");
    assert!(text.ends_with("5 times in a row, failing alike: warned"), "{text}");
    assert!(screen.example().contains("`example`"), "it was told of once more");
}

#[cfg(feature = "fleet")]
mod at_a_webhook {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use hmac::{Hmac, Mac as _};
    use serde_json::Value;
    use sha2::Sha256;

    use super::*;
    use crate::watch::{SECRET, server};

    /// Returns the head and the body of a request.
    fn parts(request: Vec<u8>) -> (String, String) {
        let request = String::from_utf8(request).expect("UTF-8");
        let (head, body) = request.split_once("\r\n\r\n").expect("a body");
        (head.to_owned(), body.to_owned())
    }

    fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
        head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    #[test]
    fn a_hook_sends_one_signed_request_that_slack_understands() {
        let (port, requests) = server(vec![503, 200, 200]);
        let place = format!("http://127.0.0.1:{port}/services/T0?x=1");
        let hooks = Hooks::of("codex").with(&["--notify", &place]);
        let hooks = hooks.env("UNSTUCK_WEBHOOK_SECRET", SECRET);
        let folder = "/<!channel> & co";
        for n in 1..=8 {
            let call = |event: &str, more: Value| {
                let mut payload = serde_json::json!({
                    "session_id": "s", "cwd": folder, "hook_event_name": event, "tool_name": "run",
                    "tool_input": { "n": "hunter" }, "tool_use_id": n.to_string(),
                });
                payload
                    .as_object_mut()
                    .expect("an object")
                    .extend(more.as_object().expect("one").clone());
                hooks.tell(payload.to_string())
            };
            if !call("PreToolUse", serde_json::json!({})).contains("deny") {
                call("PostToolUse", serde_json::json!({ "tool_response": "Error: no such thing" }));
            }
        }
        // One request is of another session, and comes before or behind the second attempt of the first.
        let ran = Ran::by(program().args(["notify", &place]));
        assert_eq!(ran.exit, 0, "{}", ran.err);
        let requests = in_time(move || requests.join().expect("three requests"));
        let is_example = |(_, body): &(String, String)| body.contains("\"session\":\"example\"");
        let (examples, attempts): (Vec<_>, Vec<_>) =
            requests.into_iter().map(parts).partition(is_example);
        let [example] = <[_; 1]>::try_from(examples).expect("one example");
        let example: Value = serde_json::from_str(&example.1).expect("JSON");
        assert_eq!((&example["agent"], &example["session"]), (&"mcp".into(), &"example".into()));
        let [first, (head, body)] = <[_; 2]>::try_from(attempts).expect("two attempts");
        assert_eq!(first.1, body);
        assert!(head.starts_with("POST /services/T0?x=1 HTTP/1.1\r\n"), "{head}");
        assert_eq!(header(&head, "content-type"), Some("application/json"), "{head}");
        let found: Value = serde_json::from_str(&body).expect("JSON");
        let text = found["text"].as_str().expect("a text");
        assert!(text.starts_with("Codex in /&lt;!channel&gt; &amp; co: `run` 6 times"), "{text}");
        assert!(text.ends_with(": refused"), "{text}");
        for (member, value) in
            [("agent", "codex"), ("session", "s"), ("said", "refusal"), ("cwd", folder)]
        {
            assert_eq!(found[member], value, "{body}");
        }
        assert!(!body.contains("hunter") && !body.contains("no such thing"), "{body}");
        let id = header(&head, "webhook-id").expect("an id");
        assert_eq!(found["id"], id);
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key");
        mac.update(
            format!("{id}.{}.{body}", header(&head, "webhook-timestamp").expect("a time"))
                .as_bytes(),
        );
        let signature = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        assert_eq!(header(&head, "webhook-signature"), Some(&*signature));
        assert_eq!(hooks.log(), [""; 0]);
    }

    #[test]
    fn a_server_that_refuses_is_named_without_the_rest_of_its_url() {
        let (port, requests) = server(vec![404]);
        let place = format!("http://127.0.0.1:{port}/services/hush");
        let ran = Ran::by(program().args(["notify", &place]));
        assert_eq!(ran.exit, 4, "{}", ran.err);
        assert!(
            ran.err.contains("127.0.0.1 answered 404") && !ran.err.contains("hush"),
            "{}",
            ran.err
        );
        let (head, _) = parts(requests.join().expect("a request").remove(0));
        assert_eq!(header(&head, "webhook-signature"), None, "nothing to sign with");
    }
}
