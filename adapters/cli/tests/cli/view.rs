//! `unstuck view`: it refuses to run without a terminal, and restores the one that it has.

/// Tests with `script` of util-linux, which gives the program a terminal.
#[cfg(target_os = "linux")]
mod needs_script {
    #[test]
    fn the_terminal_is_restored_after_q() {
        use std::io::{Read as _, Write as _};
        use std::process::{Command, Stdio};

        use crate::harness::runs;

        let program = env!("CARGO_BIN_EXE_unstuck");
        let command = format!("stty rows 24 cols 80; {program} view native/stuck-edit.jsonl");
        let mut script = Command::new("timeout");
        // A program that hangs fails the test instead of stopping all.
        script.args(["60", "script", "--quiet", "--return", "--command", &command, "/dev/null"]);
        script
            .current_dir(runs())
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR");
        let script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = script.spawn().expect("a program that starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut stdout = child.stdout.take().expect("a pipe");
        let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
        let has = |shown: &[u8], text: &str| String::from_utf8_lossy(shown).contains(text);
        for (text, keys) in [("1 of 1 run stuck", "\r"), ("Stuck from call", "q")] {
            while !has(&shown, text) {
                let count = stdout.read(&mut piece).expect("the screen");
                assert!(count > 0, "no {text}: {}", String::from_utf8_lossy(&shown));
                shown.extend(&piece[..count]);
            }
            stdin.write_all(keys.as_bytes()).expect("keys");
        }
        stdout.read_to_end(&mut shown).expect("the screen");
        assert!(child.wait().expect("an exit code").success());
        assert!(has(&shown, "\u{1b}[?1049h"), "the alternate screen");
        assert!(has(&shown, "\u{1b}[?25h") && has(&shown, "\u{1b}[?7h"), "cursor and line wrap");
        assert!(has(&shown, "\u{1b}[?1049l"), "the screen of before");
        assert!(has(&shown, "\u{1b}[48;5;"), "the colour of a tool");
    }

    /// A terminal that is closed ends the program, also if it ignores the signal about it. Before, it read the
    /// closed terminal without end.
    #[test]
    fn a_terminal_that_is_closed_ends_it() {
        use std::io::Read as _;
        use std::process::{Command, Stdio};
        use std::sync::mpsc;
        use std::thread;
        use std::time::Duration;

        use crate::harness::{Folder, runs};

        for before in ["", "trap '' HUP; "] {
            let folder = Folder::new();
            let alive = folder.path().join("alive");
            assert!(Command::new("mkfifo").arg(&alive).status().expect("a program").success());
            let program = env!("CARGO_BIN_EXE_unstuck");
            // The pipe ends when the program does.
            let command = format!(
                "{before}exec {program} view native/stuck-edit.jsonl 2>{}",
                alive.display()
            );
            let mut script = Command::new("script");
            script.args(["--quiet", "--command", &command, "/dev/null"]);
            script.current_dir(runs()).env("TERM", "xterm").env("SHELL", "/bin/sh");
            let script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = script.spawn().expect("a program that starts");
            let (end, ended) = mpsc::channel();
            thread::spawn(move || {
                let mut pipe = std::fs::File::open(&alive).expect("a pipe");
                // The test does not depend on the program's last output.
                let _ = pipe.read_to_end(&mut Vec::new());
                let _ = end.send(());
            });
            let mut stdout = child.stdout.take().expect("a pipe");
            let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
            while !String::from_utf8_lossy(&shown).contains("1 of 1 run stuck") {
                let count = stdout.read(&mut piece).expect("the screen");
                assert!(count > 0, "no run: {}", String::from_utf8_lossy(&shown));
                shown.extend(&piece[..count]);
            }
            child.kill().expect("a program that runs");
            child.wait().expect("an exit code");
            // A program that hangs fails the test instead of stopping all.
            ended.recv_timeout(Duration::from_secs(60)).expect("a program that ends");
        }
    }
}
