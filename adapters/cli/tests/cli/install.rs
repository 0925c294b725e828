//! Installing the hook into an agent's settings, and taking it out: the files before and after.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Folder, Ran, at_home, program};

/// What a user might have in the settings of Claude Code.
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

/// A user's folder, which is the current one, too.
struct Home(Folder);

impl Home {
    fn new() -> Self {
        Self(Folder::new())
    }

    /// Runs the program as that user.
    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &Path)]) -> Ran {
        let mut command = program();
        at_home(&mut command, self.0.path());
        command.env_remove("GEMINI_CLI_HOME").current_dir(self.0.path()).args(arguments);
        // No agent of this machine is found, and asked for its version.
        command.env("PATH", self.0.path().join("bin"));
        command.envs(variables.iter().copied());
        Ran::of(command.output().expect("a program that starts"))
    }

    /// Runs it, as it should.
    fn told(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{arguments:?}");
        self.masked(&ran.out)
    }

    /// What this machine has in its texts, by what it is.
    fn masked(&self, text: &str) -> String {
        let home = self.0.path().to_str().expect("UTF-8");
        text.replace(env!("CARGO_BIN_EXE_unstuck"), "/bin/unstuck").replace(home, "/home/me")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).expect("a file")
    }

    /// The names of the files below, in their order.
    fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.0.path().join(folder)).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// Where an agent's settings are below the user's folder.
fn settings(agent: &str) -> &'static str {
    match agent {
        "claude-code" => ".claude/settings.json",
        "codex" => ".codex/hooks.json",
        _ => ".gemini/settings.json",
    }
}

const AGENTS: [&str; 3] = ["claude-code", "codex", "gemini"];

#[test]
fn what_is_written_where_nothing_was() {
    let mut written = String::new();
    for agent in AGENTS {
        let home = Home::new();
        written += &home.told(&["install", agent]);
        written += &home.masked(&home.read(settings(agent)));
    }
    insta::assert_snapshot!(written);
}

#[test]
fn what_is_written_into_the_settings_of_a_user() {
    let home = Home::new();
    home.0.file(settings("claude-code"), OWN);
    let mut told = home.told(&["install", "claude-code", "--observe", "--preset", "nudge"]);
    told += &home.masked(&home.read(settings("claude-code")));
    insta::assert_snapshot!(told);
}

#[test]
fn a_dry_run_shows_the_difference_and_makes_none() {
    let home = Home::new();
    home.0.file(settings("claude-code"), OWN);
    let told = home.told(&["install", "claude-code", "--dry-run"]);
    assert_eq!(home.read(settings("claude-code")), OWN);
    home.told(&["install", "claude-code"]);
    let installed = home.read(settings("claude-code"));
    let back = home.told(&["uninstall", "claude-code", "--dry-run"]);
    assert_eq!(home.read(settings("claude-code")), installed);
    let lines = |told: &str, sign| told.lines().filter(|line| line.starts_with(sign)).count();
    assert_eq!((lines(&told, '+'), lines(&told, '-')), (lines(&back, '-'), lines(&back, '+')));
    insta::assert_snapshot!(told);
    let none = Home::new();
    none.told(&["install", "codex", "--dry-run"]);
    assert_eq!(none.files("."), Vec::<String>::new());
}

#[test]
fn a_second_install_does_nothing_and_a_third_with_an_option_changes_the_line() {
    for agent in AGENTS {
        let home = Home::new();
        home.told(&["install", agent]);
        let first = home.read(settings(agent));
        let again = home.told(&["install", agent]);
        assert!(again.ends_with("nothing to do.\n"), "{again}");
        assert_eq!(home.read(settings(agent)), first);
        let changed = home.told(&["install", agent, "--observe"]);
        assert!(changed.contains("brought up to date"), "{changed}");
        assert!(home.read(settings(agent)).contains("--observe"));
        home.told(&["install", agent]);
        assert_eq!(home.read(settings(agent)), first);
        let folder = settings(agent).split('/').next().expect("a folder");
        assert_eq!(home.files(folder).len(), 1, "no copies of what install put there");
        home.told(&["uninstall", agent]);
        assert_eq!(home.files("."), Vec::<String>::new());
    }
}

#[test]
fn copies_of_what_is_in_place_go_and_so_does_a_folder_that_is_empty() {
    for agent in AGENTS {
        let home = Home::new();
        let file = settings(agent);
        home.0.file(file, OWN);
        home.0.file(&format!("{file}.unstuck-backup.7"), OWN);
        home.0.file(&format!("{file}.unstuck-backup.8"), "{\"other\": 1}");
        home.told(&["install", agent]);
        home.told(&["install", agent, "--observe"]);
        home.told(&["uninstall", agent]);
        assert_eq!(home.read(file), OWN);
        let folder = file.split('/').next().expect("a folder");
        assert_eq!(home.files(folder).len(), 2, "{:?}", home.files(folder));
        assert_eq!(home.read(&format!("{file}.unstuck-backup.8")), "{\"other\": 1}");
    }
    let home = Home::new();
    home.0.file(".codex/config.toml", "");
    home.told(&["install", "codex"]);
    home.told(&["uninstall", "codex"]);
    assert_eq!(home.files(".codex"), ["config.toml"]);
    // Nobody but its user made a folder that a variable names.
    let own = Folder::new();
    for words in [["install", "codex"], ["uninstall", "codex"]] {
        assert_eq!(home.run_with(&words, &[("CODEX_HOME", own.path())]).exit, 0);
    }
    assert!(own.path().is_dir());
}

#[test]
fn uninstalling_gives_back_what_was_there() {
    for agent in AGENTS {
        for own in
            [OWN, "", "{}", "{\n}\n", "{ \"hooks\" : {} }", "\u{feff}{\r\n\t\"a\": 1e9,\r\n}\r\n"]
        {
            let home = Home::new();
            home.0.file(settings(agent), own);
            home.told(&["install", agent]);
            assert_ne!(home.read(settings(agent)), own);
            let told = home.told(&["uninstall", agent]);
            assert!(told.ends_with("which is what it was\n"), "{told}");
            assert_eq!(home.read(settings(agent)), own);
            let folder = Path::new(settings(agent)).parent().expect("a folder");
            assert_eq!(home.files(folder.to_str().expect("UTF-8")).len(), 1);
            let again = home.told(&["uninstall", agent]);
            assert!(again.ends_with("nothing to do.\n"), "{again}");
        }
        let home = Home::new();
        home.told(&["install", agent]);
        home.told(&["uninstall", agent]);
        assert!(!home.0.path().join(settings(agent)).exists());
    }
}

#[test]
fn what_was_done_since_stays_and_no_copy_is_lost() {
    let home = Home::new();
    let path = home.0.file(settings("claude-code"), OWN);
    home.told(&["install", "claude-code"]);
    let changed = home.read(settings("claude-code")).replace("\"opus\"", "\"haiku\"");
    fs::write(&path, &changed).expect("a file");
    let told = home.told(&["uninstall", "claude-code"]);
    assert!(told.contains("  before: /home/me/.claude/settings.json.unstuck-backup.2\n"), "{told}");
    assert_eq!(home.read(settings("claude-code")), OWN.replace("\"opus\"", "\"haiku\""));
    assert_eq!(home.read(".claude/settings.json.unstuck-backup"), OWN);
    assert_eq!(home.read(".claude/settings.json.unstuck-backup.2"), changed);
}

#[test]
fn what_cannot_be_changed_is_4_and_left_alone() {
    let mut told = String::new();
    for content in [
        "{\n  \"a\": 1\n  \"hooks\": {}\n}\n".as_bytes(),
        b"{\"hooks\": {\"PreToolUse\": {}}}",
        b"{\"hooks\": {}, \"hooks\": {}}",
        b"\"text\"",
        b"{\"a\": \"\xe9\"}",
    ] {
        let home = Home::new();
        let path = home.0.file(settings("claude-code"), content);
        let ran = home.run(&["install", "claude-code"]);
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""));
        assert_eq!(fs::read(&path).expect("a file"), content);
        assert_eq!(home.files(".claude"), ["settings.json"]);
        told += &home.masked(&ran.err);
    }
    insta::assert_snapshot!(told);
}

#[test]
fn a_wrong_command_line_is_64_and_names_the_agents() {
    let home = Home::new();
    for arguments in [&["install"][..], &["install", "cursor"], &["uninstall", "Codex"]] {
        let ran = home.run(arguments);
        assert_eq!(ran.exit, 64, "{arguments:?}: {}", ran.err);
    }
    let ran = home.run(&["install", "cursor"]);
    assert!(AGENTS.iter().all(|agent| ran.err.contains(agent)), "{}", ran.err);
    let ran = home.run(&["install", "codex", "--config", "none.toml"]);
    assert_eq!(ran.exit, 4, "{}", ran.err);
    assert_eq!(home.files("."), Vec::<String>::new());
}

#[test]
fn the_settings_are_where_the_agent_looks_for_them() {
    let home = Home::new();
    let other = Folder::new();
    for (agent, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
    ] {
        let ran = home.run_with(&["install", agent], &[(variable, other.path())]);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
        assert!(other.path().join(file).is_file(), "{agent}");
        fs::remove_file(other.path().join(file)).expect("a file");
    }
    assert_eq!(home.files("."), Vec::<String>::new());
}

#[test]
fn a_project_is_the_nearest_folder_with_a_repository() {
    let home = Home::new();
    home.0.file("project/.git/HEAD", "");
    home.0.file("project/src/deep/a.rs", "");
    home.0.file("elsewhere/a.rs", "");
    for (folder, written) in [("project/src/deep", "project"), ("elsewhere", "elsewhere")] {
        let mut command = program();
        at_home(&mut command, home.0.path());
        command.current_dir(home.0.path().join(folder));
        command.args(["install", "gemini", "--scope", "project"]);
        let ran = Ran::of(command.output().expect("a program that starts"));
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
        assert!(home.0.path().join(written).join(".gemini/settings.json").is_file(), "{folder}");
    }
}

#[test]
fn a_second_scope_is_told_of_the_first() {
    let home = Home::new();
    home.0.file("project/.git/HEAD", "");
    let user = home.told(&["install", "claude-code"]);
    assert!(!user.contains("too:"), "{user}");
    let mut command = program();
    at_home(&mut command, home.0.path());
    command.current_dir(home.0.path().join("project")).env("PATH", "");
    command.args(["install", "claude-code", "--scope", "project"]);
    let ran = Ran::of(command.output().expect("a program that starts"));
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
    insta::assert_snapshot!(home.masked(&ran.out));
}

#[test]
fn a_configuration_is_named_by_its_whole_path() {
    let home = Home::new();
    home.0.file("my rules/unstuck.toml", "preset = \"nudge\"");
    home.told(&["install", "codex", "--config", "my rules/unstuck.toml"]);
    let hooks: Value = serde_json::from_str(&home.read(settings("codex"))).expect("JSON");
    let command = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().expect("a command");
    let path = home.0.path().join("my rules/unstuck.toml");
    assert!(command.ends_with(&format!(" hook codex --config '{}'", path.display())), "{command}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    /// Links the program into `folder` of `home`, which becomes the only one in `PATH`.
    fn linked(home: &Home, folder: &str) -> PathBuf {
        let folder = home.0.path().join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        symlink(env!("CARGO_BIN_EXE_unstuck"), folder.join("unstuck")).expect("a link");
        folder
    }

    #[test]
    fn the_program_is_named_by_the_path_that_leads_to_it() {
        for folder in ["bin", "my programs", "it's \"mine\" $HOME `x` \\ é"] {
            let home = Home::new();
            let path = linked(&home, folder);
            for agent in AGENTS {
                let ran = home.run_with(&["install", agent], &[("PATH", &path)]);
                assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
                let hooks: Value = serde_json::from_str(&home.read(settings(agent))).expect("JSON");
                let group = if agent == "gemini" { "BeforeTool" } else { "PreToolUse" };
                let hook = &hooks["hooks"][group][0]["hooks"][0];
                let command = hook["command"].as_str().expect("a command");
                let program = path.join("unstuck").to_str().expect("UTF-8").to_owned();
                if agent == "claude-code" {
                    assert_eq!((command, &hook["args"][0]), (&program[..], &"hook".into()));
                    continue;
                }
                // What the shell makes of the line.
                let shown = format!("for word in {command}; do printf '%s\\n' \"$word\"; done");
                let out = std::process::Command::new("sh").args(["-c", &shown]).output();
                let out = String::from_utf8(out.expect("a shell").stdout).expect("UTF-8");
                assert_eq!(out, format!("{program}\nhook\n{agent}\n"));
            }
        }
    }

    #[test]
    fn a_claude_code_that_would_skip_its_settings_is_left_alone() {
        for (version, exit) in [
            ("2.1.138 (Claude Code)", 4),
            ("1.0.128 (Claude Code)", 4),
            ("2.1.139 (Claude Code)", 0),
            ("3.0.0 (Claude Code)", 0),
            ("unknown", 0),
        ] {
            let home = Home::new();
            home.0.program("bin/claude", &format!("echo '{version}'"));
            let ran = home.run(&["install", "claude-code"]);
            assert_eq!(ran.exit, exit, "{version}: {}", ran.err);
            assert_eq!(home.0.path().join(settings("claude-code")).exists(), exit == 0);
            let says = "update it to 2.1.139 or later";
            assert_eq!(ran.err.contains(says), exit != 0, "{}", ran.err);
            assert_eq!(home.run(&["install", "codex"]).exit, 0);
        }
    }

    #[test]
    fn another_program_of_that_name_is_not_named() {
        let home = Home::new();
        home.0.file("first/unstuck", "");
        let second = linked(&home, "second");
        let path = format!("{}:{}", home.0.path().join("first").display(), second.display());
        home.run_with(&["install", "codex"], &[("PATH", Path::new(&path))]);
        let written = home.read(settings("codex"));
        assert!(written.contains("/second/unstuck hook codex"), "{written}");
    }

    #[test]
    fn a_link_stays_one_and_permissions_stay() {
        let home = Home::new();
        let real = home.0.file("dotfiles/claude.json", "{}\n");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("a file");
        fs::create_dir(home.0.path().join(".claude")).expect("a folder");
        let link = home.0.path().join(settings("claude-code"));
        symlink("../dotfiles/claude.json", &link).expect("a link");
        home.told(&["install", "claude-code"]);
        assert!(link.is_symlink());
        assert!(home.read("dotfiles/claude.json").contains("\"hooks\""));
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        let copy = home.0.path().join(".claude/settings.json.unstuck-backup");
        assert_eq!((mode(&real), mode(&copy)), (0o640, 0o640));
        home.told(&["uninstall", "claude-code"]);
        assert_eq!(home.read("dotfiles/claude.json"), "{}\n");
        assert_eq!(mode(&real), 0o640);
    }

    #[test]
    fn a_link_to_a_file_that_is_not_there_leads_to_the_new_one() {
        let home = Home::new();
        fs::create_dir(home.0.path().join(".codex")).expect("a folder");
        symlink("../dotfiles/hooks.json", home.0.path().join(settings("codex"))).expect("a link");
        home.told(&["install", "codex"]);
        assert!(home.read("dotfiles/hooks.json").contains("hook codex"));
    }

    #[test]
    fn a_file_that_is_read_only_is_left_alone() {
        let home = Home::new();
        let path = home.0.file(settings("gemini"), "{}\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("a file");
        let ran = home.run(&["install", "gemini"]);
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""));
        assert!(ran.err.contains("is read-only: make it writable"), "{}", ran.err);
        assert_eq!(home.read(settings("gemini")), "{}\n");
        assert_eq!(home.files(".gemini"), ["settings.json"]);
    }
}
