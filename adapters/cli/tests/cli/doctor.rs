//! `unstuck doctor` on other machines than most. `console/doctor.unix.txt` has the hooks that do not work.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Folder, Ran, at_home, program_at};

/// A home folder, with programs that come first in `PATH` and a project to work in.
struct Home(Folder);

impl Home {
    fn new() -> Self {
        let home = Self(Folder::new());
        home.0.file("project/.git/HEAD", "");
        fs::create_dir(home.path("bin")).expect("a folder");
        symlink(env!("CARGO_BIN_EXE_unstuck"), home.path("bin/unstuck")).expect("a link");
        home.0.program("bin/claude", "echo '2.1.240 (Claude Code)'");
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program_at(self.0.path());
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command.env("PATH", path).env("SHELL", "/bin/sh");
        command.current_dir(self.path("project")).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::by(&mut self.command(arguments))
    }

    /// Runs `doctor`, and returns its exit code and its report in JSON.
    fn report(&self) -> (i32, Value) {
        let ran = self.run(&["doctor", "--format", "json"]);
        (ran.exit, serde_json::from_str(&ran.out).expect("JSON"))
    }
}

#[test]
fn settings_and_state_are_in_one_home_without_its_variable() {
    let home = Home::new();
    let mut command = home.command(&["doctor", "pi", "--format", "json"]);
    let ran = Ran::by(command.env_remove("HOME"));
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    let settings = report["places"][0]["settings"].as_str().expect("a path");
    let base = settings.strip_suffix("/.pi/agent/extensions/unstuck.js").expect("the usual place");
    // Without an entry for the user in the system there is no home.
    let state = report["state"]["folder"].as_str().unwrap_or("~/.local/state/unstuck");
    assert_eq!(state.strip_suffix("/.local/state/unstuck"), Some(base));
}

#[test]
fn a_state_folder_of_somebody_else_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = |path: &PathBuf, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a folder");
    };
    for (file, bits, fault) in [
        ("unstuck/a", 0o500, "Make the folder your own"),
        ("unstuck/owned", 0o700, "belongs to user 4242"),
    ] {
        let home = Home::new();
        home.0.file(&format!(".local/state/{file}"), "");
        let folder = home.path(".local/state/unstuck");
        if file.ends_with("owned") && chown(&folder, Some(4242), None).is_err() {
            eprintln!("skipped: this user cannot give a folder away");
            continue;
        }
        mode(&folder, bits);
        if bits == 0o500 && fs::write(folder.join("b"), "").is_ok() {
            eprintln!("skipped: this user can write to any folder");
            continue;
        }
        // Nothing is installed, so nothing is broken.
        assert_eq!(home.report().0, 0, "{fault}");
        home.run(&["install", "claude-code"]);
        let (exit, report) = home.report();
        let state = &report["state"];
        assert_eq!((exit, state["faults"].as_array().map(Vec::len)), (1, Some(1)), "{state}");
        let reported = state["faults"][0].as_str().expect("a fault");
        assert!(reported.contains(fault), "{reported}");
        let human = home.run(&["doctor"]);
        assert_eq!(human.exit, 1);
        assert!(human.out.contains("  user     does not work  "), "{}", human.out);
        assert!(human.out.lines().all(|line| line.contains("/tmp") || line.len() <= 80));
        mode(&folder, 0o700);
    }
}

/// Tests of a user who may mount file systems, with `unshare` of util-linux.
#[cfg(target_os = "linux")]
mod needs_mount {
    use super::*;

    #[test]
    fn a_full_disk_is_reported() {
        let home = Home::new();
        home.run(&["install", "claude-code"]);
        let folder = home.path("full");
        fs::create_dir(&folder).expect("a folder");
        let line = r#"mount -t tmpfs -o size=8k,mode=700 none "$1" &&
        head -c 8192 /dev/zero >"$1/other" && shift && exec "$@""#;
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", line, "sh"]).arg(&folder);
        command.args([env!("CARGO_BIN_EXE_unstuck"), "doctor"]);
        let doctor = home.command(&[]);
        command.envs(doctor.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("UNSTUCK_STATE_DIR", &folder).current_dir(home.path("project"));
        let ran = Ran::of(command.output().expect("unshare of util-linux"));
        assert_eq!(ran.exit, 1, "a user who may mount file systems is needed: {ran:?}");
        assert!(ran.out.contains("No space left") && ran.out.contains("Free some space"));
        assert!(ran.out.contains("  user     does not work  "), "{}", ran.out);
    }
}

/// The hooks of the plugins let every call run where the program is missing, and say once how to get it.
#[test]
fn the_hooks_of_the_plugins_find_the_program_or_say_how_to_get_it() {
    for agent in ["claude-code", "codex"] {
        let path = format!("{}/plugins/{agent}/hooks/hooks.json", env!("CARGO_MANIFEST_DIR"));
        let hooks: Value = serde_json::from_slice(&fs::read(path).expect("hooks")).expect("JSON");
        for (event, groups) in hooks["hooks"].as_object().expect("an object") {
            let line = groups[0]["hooks"][0]["command"].as_str().expect("a line");
            let home = Home::new();
            let run = |path: PathBuf| {
                let payload = json!({ "session_id": "s", "hook_event_name": event, "tool_name": "Bash",
                    "tool_input": {}, "tool_use_id": "1", "turn_id": "1", "prompt": "p" });
                let mut shell = Command::new("/bin/sh");
                at_home(&mut shell, home.0.path());
                for variable in ["UNSTUCK", "UNSTUCK_STATE_DIR", "XDG_STATE_HOME"] {
                    shell.env_remove(variable);
                }
                let input = home.0.file("payload.json", payload.to_string());
                shell
                    .args(["-c", line])
                    .env("PATH", path)
                    .stdin(fs::File::open(input).expect("a file"));
                Ran::by(&mut shell)
            };
            let missing = run(home.path("nothing"));
            assert_eq!((missing.exit, missing.err.as_str()), (0, ""), "{event}");
            if event == "SessionStart" {
                let said = missing.only_line()["systemMessage"].to_string();
                assert!(said.contains("cargo install"), "{said}");
            } else {
                assert_eq!(missing.out, "", "{event}");
            }
            let found = run(home.path("bin"));
            assert_eq!(
                (found.exit, found.out.as_str(), found.err.as_str()),
                (0, "", ""),
                "{event}"
            );
            let log = fs::read_to_string(home.path(".local/state/unstuck/hook.log"));
            assert!(log.is_err(), "{event}: {log:?}");
            if event == "PreToolUse" {
                assert!(home.path(".local/state/unstuck/sessions").is_dir(), "it is not watched");
            }
        }
    }
}
