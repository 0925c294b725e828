//! Completions and manual pages contain every command and option.

use std::collections::BTreeSet;

use crate::harness::unstuck;

/// Returns the commands that the help lists and that this build has.
fn commands() -> Vec<String> {
    let help = unstuck(["-h"]).out;
    let (_, list) = help.split_once("Commands:\n").expect("a list of commands");
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let is_here = |name: &&str| {
        let help = unstuck([name, "--help"]).out;
        !["", "help"].contains(name) && !help.contains("This command is not in this build")
    };
    let names: Vec<_> = names.filter(is_here).map(str::to_owned).collect();
    assert!(names.len() > 15, "{names:?}");
    names
}

/// Returns the long options in the help of a command.
fn options(command: &str) -> BTreeSet<String> {
    let help = unstuck([command, "--help"]).out;
    let words = help.split(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | '\'' | '['));
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

#[test]
fn completions_have_every_command_and_option() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = unstuck(["completions", shell]);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{shell}");
        for command in &commands() {
            assert!(ran.out.contains(command), "{shell}: {command}");
            for option in options(command) {
                // fish names a long option without its dashes.
                assert!(ran.out.contains(option.trim_start_matches('-')), "{shell}: {option}");
            }
        }
    }
}

#[test]
fn the_page_of_a_command_has_all_its_options() {
    let program = unstuck(["man"]).out;
    assert!(program.contains(".TH unstuck 1"), "{program}");
    for command in &commands() {
        let listed = format!("unstuck-{command}(1)").replace('-', "\\-");
        assert!(program.contains(&listed), "{program}");
        let page = unstuck(["man", command.as_str()]).out;
        assert!(page.contains(&format!(".TH unstuck-{command} 1")), "{page}");
        let known = options(command);
        assert!(known.contains("--help"), "{command}: {known:?}");
        for option in known {
            assert!(page.contains(&option.replace('-', "\\-")), "{command}: {option}");
        }
    }
}
