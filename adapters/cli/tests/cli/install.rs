//! `unstuck install` and `uninstall`: the settings files before and after.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::{Folder, Ran, at_home, program_at};
use crate::hook::{AGENTS, PLUGINS};

/// Settings of Claude Code with a comment and a hook of another program.
const OWN: &str = r#"{
    "model": "opus", // the large one
    "permissions": { "allow": ["Bash(ls:*)"] },
    "hooks": {
        "PreToolUse": [{
            "matcher": "Bash",
            "hooks": [{ "type": "command", "command": "lint" }]
        }]
    }
}
"#;

/// A home folder, which is also the current folder.
struct Home(Folder);

impl Home {
    fn new() -> Self {
        Self(Folder::new())
    }

    /// Runs the program with this home folder.
    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Ran {
        Ran::by(self.command(arguments).envs(variables.iter().copied()))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program_at(self.0.path());
        command.env_remove("GEMINI_CLI_HOME").current_dir(self.0.path()).args(arguments);
        // Agents on this machine must not be found, because their version would be checked.
        command.env("PATH", self.0.path().join("bin"));
        command
    }

    /// Runs the program, checks that it succeeds without a complaint, and returns its output.
    fn output(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{arguments:?}");
        self.masked(&ran.out)
    }

    /// Replaces the paths of this machine.
    fn masked(&self, text: &str) -> String {
        let home = self.0.path().to_str().expect("UTF-8");
        text.replace(env!("CARGO_BIN_EXE_unstuck"), "/bin/unstuck").replace(home, "/home/me")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).expect("a file")
    }

    /// Returns the sorted names of the files in a folder.
    fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.path().join(folder)).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// Returns the path of an agent's settings in the home folder.
fn settings(agent: &str) -> &'static str {
    match agent {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        "copilot" => ".copilot/hooks/unstuck.json",
        "qwen" => ".qwen/settings.json",
        "cursor" => ".cursor/hooks.json",
        "goose" => ".agents/plugins/unstuck/hooks/hooks.json",
        "opencode" => ".config/opencode/plugin/unstuck.js",
        "kilo" => ".config/kilo/plugin/unstuck.js",
        "pi" => ".pi/agent/extensions/unstuck.js",
        "droid" => ".factory/settings.json",
        "codebuddy" => ".codebuddy/settings.json",
        "auggie" => ".augment/settings.json",
        _ => ".gemini/settings.json",
    }
}

#[test]
fn new_settings_of_each_agent() {
    let mut written = String::new();
    for agent in AGENTS {
        let home = Home::new();
        written += &home.output(&["install", agent]);
        let text = home.masked(&home.read(settings(agent)));
        // The rest of a plugin is the same everywhere.
        let shown = if PLUGINS.contains(&agent) { text.find("const TIME_LIMIT") } else { None };
        written += &text[..shown.unwrap_or(text.len())];
    }
    insta::assert_snapshot!(written);
}

#[test]
fn installing_again_changes_only_new_options() {
    for agent in AGENTS {
        let home = Home::new();
        home.output(&["install", agent]);
        let first = home.read(settings(agent));
        let again = home.output(&["install", agent]);
        assert!(again.ends_with("nothing to do.\n"), "{again}");
        assert_eq!(home.read(settings(agent)), first);
        let changed = home.output(&["install", agent, "--observe"]);
        assert!(changed.contains("brought up to date"), "{changed}");
        assert!(home.read(settings(agent)).contains("--observe"));
        home.output(&["install", agent]);
        assert_eq!(home.read(settings(agent)), first);
        let folder = settings(agent).split('/').next().expect("a folder");
        assert_eq!(home.files(folder).len(), 1, "no copies of what install put there");
        home.output(&["uninstall", agent]);
        assert_eq!(home.files("."), Vec::<String>::new());
    }
}

#[test]
fn uninstalling_removes_useless_backups_and_an_empty_folder() {
    for agent in AGENTS {
        let home = Home::new();
        let file = settings(agent);
        home.0.file(file, OWN);
        home.0.file(&format!("{file}.unstuck-backup.7"), OWN);
        home.0.file(&format!("{file}.unstuck-backup.8"), "{\"other\": 1}");
        home.output(&["install", agent]);
        home.output(&["install", agent, "--observe"]);
        home.output(&["uninstall", agent]);
        assert_eq!(home.read(file), OWN);
        let (folder, _) = file.rsplit_once('/').expect("a folder");
        assert_eq!(home.files(folder).len(), 2, "{:?}", home.files(folder));
        assert_eq!(home.read(&format!("{file}.unstuck-backup.8")), "{\"other\": 1}");
    }
    let home = Home::new();
    home.0.file(".codex/config.toml", "");
    home.output(&["install", "codex"]);
    home.output(&["uninstall", "codex"]);
    assert_eq!(home.files(".codex"), ["config.toml"]);
}

#[test]
fn uninstalling_restores_the_settings() {
    for agent in AGENTS {
        for own in
            [OWN, "", "{}", "{\n}\n", "{ \"hooks\" : {} }", "\u{feff}{\r\n\t\"a\": 1e9,\r\n}\r\n"]
        {
            let home = Home::new();
            home.0.file(settings(agent), own);
            home.output(&["install", agent]);
            assert_ne!(home.read(settings(agent)), own);
            let output = home.output(&["uninstall", agent]);
            assert!(output.ends_with("which is as before the installation\n"), "{output}");
            assert_eq!(home.read(settings(agent)), own);
            let folder = Path::new(settings(agent)).parent().expect("a folder");
            assert_eq!(home.files(folder.to_str().expect("UTF-8")).len(), 1);
            let again = home.output(&["uninstall", agent]);
            assert!(again.ends_with("nothing to do.\n"), "{again}");
        }
        let home = Home::new();
        home.output(&["install", agent]);
        home.output(&["uninstall", agent]);
        assert_eq!(home.files("."), Vec::<String>::new());
    }
}

#[test]
fn settings_that_are_not_utf_8_are_left_unchanged() {
    let home = Home::new();
    let path = home.0.file(settings("claude-code"), b"{\"a\": \"\xe9\"}");
    home.run(&["install", "claude-code"]).fails(4, "not UTF-8");
    assert_eq!(fs::read(&path).expect("a file"), b"{\"a\": \"\xe9\"}");
    assert_eq!(home.files(".claude"), ["settings.json"]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// Links the program into `folder` of `home`, for use as the only folder in `PATH`.
    fn linked(home: &Home, folder: &str) -> PathBuf {
        let folder = home.0.path().join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        symlink(env!("CARGO_BIN_EXE_unstuck"), folder.join("unstuck")).expect("a link");
        folder
    }

    #[test]
    fn the_program_is_written_as_its_path_in_path() {
        for folder in ["bin", "my programs", "it's \"mine\" $HOME `x` \\ é"] {
            let home = Home::new();
            let path = linked(&home, folder);
            for agent in AGENTS {
                home.run_with(&["install", agent], &[("PATH", &path)]).quiet(0);
                let program = path.join("unstuck").to_str().expect("UTF-8").to_owned();
                let text = home.read(settings(agent));
                if PLUGINS.contains(&agent) {
                    let command = serde_json::to_string(&[&program, "hook", agent]).expect("JSON");
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
                    assert_eq!((command, &hook["args"][0]), (&program[..], &"hook".into()));
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

    #[test]
    fn a_removed_program_does_not_disturb_gemini() {
        let home = Home::new();
        let path = linked(&home, "my programs");
        home.run_with(&["install", "gemini"], &[("PATH", &path)]);
        let hooks: Value = serde_json::from_str(&home.read(settings("gemini"))).expect("JSON");
        let line = hooks["hooks"]["BeforeAgent"][0]["hooks"][0]["command"].as_str();
        let run = || {
            let mut bash = Command::new("bash");
            at_home(&mut bash, home.0.path());
            bash.args(["-c", line.expect("a line")]).stdin(std::process::Stdio::null());
            Ran::by(&mut bash)
        };
        let state = home.0.path().join(".local/state/unstuck/hook.log");
        fs::remove_file(path.join("unstuck")).expect("a link");
        let ran = run();
        assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
        assert!(!state.exists());
        linked(&home, "my programs");
        assert_eq!(run().exit, 0);
        assert!(state.exists(), "the hook has run and found no payload");
    }

    #[test]
    fn links_and_permissions_are_kept() {
        let home = Home::new();
        let real = home.0.file("dotfiles/claude.json", "{}\n");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("a file");
        fs::create_dir(home.0.path().join(".claude")).expect("a folder");
        let link = home.0.path().join(settings("claude-code"));
        symlink("../dotfiles/claude.json", &link).expect("a link");
        home.output(&["install", "claude-code"]);
        assert!(link.is_symlink());
        assert!(home.read("dotfiles/claude.json").contains("\"hooks\""));
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        let copy = home.0.path().join(".claude/settings.json.unstuck-backup");
        assert_eq!((mode(&real), mode(&copy)), (0o640, 0o640));
        home.output(&["uninstall", "claude-code"]);
        assert_eq!(home.read("dotfiles/claude.json"), "{}\n");
        assert_eq!(mode(&real), 0o640);
    }

    #[test]
    fn a_second_install_changes_nothing_in_odd_files() {
        // A plugin is a file of its own.
        for agent in AGENTS.into_iter().filter(|agent| !PLUGINS.contains(agent)) {
            for content in [
                "",
                "{}",
                "{\"hooks\": null}\r\n",
                "{\r\n\t\"a\": 1, // mine\r\n\t\"hooks\": {},\r\n}\r\n",
                OWN,
            ] {
                let home = Home::new();
                let file = home.0.file("dotfiles/agent.json", content);
                let link = home.0.path().join(settings(agent));
                fs::create_dir_all(link.parent().expect("a folder")).expect("a folder");
                symlink(&file, &link).expect("a link");
                home.output(&["install", agent]);
                let once = home.read("dotfiles/agent.json");
                // Nothing needs to be written, so the file may be read-only now.
                fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("a file");
                let again = home.output(&["install", agent]);
                assert!(again.ends_with("nothing to do.\n"), "{again}");
                assert_eq!(home.read("dotfiles/agent.json"), once);
                assert!(link.is_symlink() && !once.contains("null"), "{once}");
                assert_eq!(home.files("dotfiles"), ["agent.json"]);
                fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("a file");
                home.output(&["uninstall", agent]);
                assert_eq!(home.read("dotfiles/agent.json"), content);
            }
        }
    }
}
