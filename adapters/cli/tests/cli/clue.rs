//! What a hook tells of the cause of a loop beyond the answer of the call.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::Folder;
use crate::hook::Hooks;

/// A session of Claude Code in a folder, with its transcript.
struct Session {
    hooks: Hooks,
    folder: Folder,
    transcript: String,
    calls: usize,
}

impl Session {
    fn new() -> Self {
        let (hooks, folder) = (Hooks::of("claude-code"), Folder::new());
        Self { hooks, folder, transcript: String::new(), calls: 0 }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join("tree").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Makes a call that is answered so. Returns what the hook says before and after it.
    fn call(&mut self, tool: &str, input: &Value, answer: &str, failed: bool) -> [String; 2] {
        self.calls += 1;
        let id = format!("toolu_{}", self.calls);
        let block = json!({ "type": "tool_use", "id": id, "name": tool, "input": input });
        self.log("assistant", &block);
        let call = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
        let before = self.tell("PreToolUse", &call, &json!({}));
        if before.contains("deny") {
            return [before, String::new()];
        }
        let said = if failed {
            self.tell("PostToolUseFailure", &call, &json!({ "error": answer }))
        } else {
            self.tell("PostToolUse", &call, &json!({ "tool_response": answer }))
        };
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": answer, "is_error": failed });
        self.log("user", &result);
        [before, said]
    }

    fn log(&mut self, kind: &str, block: &Value) {
        let message =
            json!({ "id": format!("msg_{}", self.calls), "role": kind, "content": [block] });
        let line = json!({ "type": kind, "sessionId": "s", "uuid": "u", "message": message });
        self.transcript += &(line.to_string() + "\n");
        fs::write(self.folder.path().join("s.jsonl"), &self.transcript).expect("a transcript");
    }

    fn tell(&self, name: &str, call: &Value, rest: &Value) -> String {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let mut payload = json!({
            "session_id": "s", "hook_event_name": name, "cwd": path("tree"), "transcript_path": path("s.jsonl"),
        });
        let fields = payload.as_object_mut().expect("an object");
        for more in [call, rest] {
            fields.extend(more.as_object().expect("an object").clone());
        }
        self.hooks.tell(payload.to_string())
    }

    /// Fails `times` times with this edit. Returns the notes and refusals.
    fn edit(&mut self, path: &str, old: &str, error: &str, times: usize) -> String {
        let input = json!({ "file_path": path, "old_string": old, "new_string": "x" });
        (0..times).flat_map(|_| self.call("Edit", &input, error, true)).collect()
    }
}

const MISSING: &str = "String to replace not found in file.";
const TEXT: &str = "fn main() {\n    let count = 3;\n    println!(\"{count}\");\n}\n";

#[test]
fn the_nearest_lines_of_a_file_are_shown_if_the_text_to_replace_is_not_there() {
    let mut session = Session::new();
    session.write("src/a.rs", TEXT);
    let old = "    let count = 4;\n    println!(\"{count}\");";
    let said = session.edit("src/a.rs", old, MISSING, 6);
    let expected =
        r#"Nearest to it is lines 2 to 3:\n    let count = 3;\n    println!(\"{count}\");"#;
    assert!(said.contains(expected), "{said}");
    assert!(
        said.contains("This call was not run.") && said.matches(expected).count() > 1,
        "{said}"
    );
}

#[test]
fn the_lines_of_a_text_that_stands_in_a_file_are_told() {
    let mut session = Session::new();
    session.write("src/a.rs", &"one\ntwo\n".repeat(9));
    let repeated = "Found 9 matches of the string to replace, but replace_all is false.";
    let said = session.edit("src/a.rs", "two\n", repeated, 3);
    assert!(said.contains("It stands in the lines 2, 4, 6, 8, 10 and more."), "{said}");
    session.write("src/b.rs", TEXT);
    let said = session.edit("src/b.rs", "let count = 3", MISSING, 3);
    assert!(said.contains("That text stands in line 2 now."), "{said}");
}

/// Hunks that are not what failed: of another file, for one or several places, of blank lines, and behind the end.
const PATCH: &str = "*** Begin Patch
*** Add File: src/b.rs
+    let count = 4;
*** Update File: src/a.rs
*** Move to: src/c.rs
@@
 
+use std::fmt;
@@
-fn main() {
+fn run() {
@@ fn main
-}
+}  // end
@@ fn main
     let count = 4;
-    println!(\"{count}\");
+    print!(\"{count}\");
*** End Patch

EOF
";

#[test]
fn the_hunk_of_a_patch_that_stands_nowhere_is_looked_up() {
    let mut session = Session::new();
    session.write("src/a.rs", &format!("{TEXT}}}\nEOF\nEOF\n"));
    let error = "apply_patch verification failed: Failed to find expected lines in src/a.rs";
    let input = json!({ "input": PATCH });
    let said: String =
        (0..6).flat_map(|_| session.call("apply_patch", &input, error, true)).collect();
    let expected =
        r#"Nearest to it is lines 2 to 3:\n    let count = 3;\n    println!(\"{count}\");"#;
    assert!(said.contains(expected), "{said}");
    let blank = session.edit("src/a.rs", "\n\n\n", MISSING, 3);
    assert!(blank.contains("not in the file") && !blank.contains("Nearest"), "{blank}");
}

#[test]
fn a_file_outside_of_the_work_tree_or_with_secrets_is_not_read() {
    for path in [
        "../outside.rs",
        ".env",
        "keys/id_rsa",
        ".ssh/config",
        "link.rs",
        "absent.rs",
        "long.rs",
        "src",
        "pipe.rs",
    ] {
        let mut session = Session::new();
        session.write("../outside.rs", TEXT);
        session.write("keys/id_rsa", TEXT);
        session.write("src/a.rs", TEXT);
        session.write(".env", TEXT);
        session.write(".ssh/config", TEXT);
        session.write("long.rs", &TEXT.repeat(30_000));
        #[cfg(unix)]
        special_files(&session.folder.path().join("tree"));
        let said = session.edit(path, "let count = 4;", MISSING, 4);
        assert!(
            said.contains("The text to replace is not in the file.") && !said.contains("Nearest"),
            "{path}: {said}"
        );
    }
}

/// Makes a link to a file outside of `tree`, and a pipe that nobody writes to.
#[cfg(unix)]
fn special_files(tree: &Path) {
    std::os::unix::fs::symlink("../outside.rs", tree.join("link.rs")).expect("a link");
    let made = std::process::Command::new("mkfifo").arg(tree.join("pipe.rs")).status();
    assert!(made.expect("mkfifo").success());
}

#[test]
fn earlier_calls_in_the_transcript_are_clues() {
    let mut session = Session::new();
    let bash = |command: &str| json!({ "command": command });
    session.call("Bash", &bash("ls src"), "src/main.rs\nsrc/lib.rs", false);
    let read = json!({ "file_path": "src/mian.rs" });
    let said: String =
        (0..3).flat_map(|_| session.call("Read", &read, "File does not exist.", true)).collect();
    assert!(said.contains("There was `src/main.rs` 3 calls ago."), "{said}");

    session.call("Bash", &bash("sed -i s/a/b/ src/main.rs"), "", false);
    let changed = "File has been modified since read. Read it again.";
    let said = session.edit("src/main.rs", "a", changed, 3);
    assert!(said.contains("Your `Bash` call, 3 calls ago, has changed it."), "{said}");

    let failed = "FAILED t/test_a.py::one - 1\n1 failed in 1s";
    let said: String = (0..3)
        .flat_map(|n| {
            session.call("Write", &json!({ "file_path": "a.py", "content": n }), "ok", false);
            session.call("Bash", &bash("pytest t"), failed, true)
        })
        .collect();
    assert!(said.contains("The test `t/test_a.py::one` has failed in each run."), "{said}");
}

#[test]
fn in_turns_one_call_that_finds_nothing_is_no_cause() {
    let mut session = Session::new();
    let bash = |command: &str| json!({ "command": command });
    let said: String = (0..6)
        .flat_map(|_| {
            let shown = session.call("Bash", &bash("git status"), "nothing to commit", false);
            let pattern = json!({ "pattern": "foo" });
            [shown, session.call("Grep", &pattern, "No matches found", false)].concat()
        })
        .collect();
    assert!(said.contains("[unstuck]") && !said.contains("finds nothing"), "{said}");
}
