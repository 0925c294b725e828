//! `unstuck install`: how a line for a shell names the program. `console` has the settings before and after.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Folder, Ran, program_at};
use crate::hook::{AGENTS, PLUGINS};

#[test]
fn the_program_is_written_as_its_path_in_path() {
    for folder in ["bin", "my programs", "it's \"mine\" $HOME `x` \\ é"] {
        let home = Folder::new();
        // Agents on this machine must not be found, because their version would be checked.
        let path = home.path().join(folder);
        fs::create_dir_all(&path).expect("a folder");
        let program = path.join("unstuck");
        symlink(env!("CARGO_BIN_EXE_unstuck"), &program).expect("a link");
        let program = program.to_str().expect("UTF-8");
        for agent in AGENTS {
            let mut install = program_at(home.path());
            let ran = Ran::by(install.env("PATH", &path).args(["install", agent])).quiet(0);
            let (_, settings) =
                ran.out.lines().next().and_then(|line| line.split_once(" in ")).expect("a path");
            let text = fs::read_to_string(settings).expect("settings");
            if PLUGINS.contains(&agent) {
                let command = serde_json::to_string(&[program, "hook", agent]).expect("JSON");
                assert!(text.contains(&format!("const COMMAND = {command};\n")), "{text}");
                continue;
            }
            let hooks: Value = serde_json::from_str(&text).expect("JSON");
            let event = match agent {
                "gemini" => "BeforeTool",
                "cursor" => "preToolUse",
                _ => "PreToolUse",
            };
            let group = &hooks["hooks"][event][0];
            let hook = group.get("hooks").map_or(group, |list| &list[0]);
            let command = hook["command"].as_str().expect("a command");
            if agent == "claude-code" {
                assert_eq!((command, &hook["args"][0]), (program, &"hook".into()));
                continue;
            }
            // The words that a shell reads from the line, without a test of the program before it.
            let command = command.rsplit_once(" || ").map_or(command, |(_, line)| line);
            let shown = format!("for word in {command}; do printf '%s\\n' \"$word\"; done");
            let out = Command::new("sh").args(["-c", &shown]).output();
            let out = String::from_utf8(out.expect("a shell").stdout).expect("UTF-8");
            assert_eq!(out, format!("{program}\nhook\n{agent}\n"));
        }
    }
}
