//! Completions and manual pages contain every command and option.

use std::collections::BTreeSet;

use crate::harness::unstuck;

const COMMANDS: &[&str] = &[
    "scan",
    "view",
    "eval",
    "tune",
    "presets",
    "install",
    "uninstall",
    "doctor",
    "status",
    "report",
    "start-over",
    #[cfg(feature = "fleet")]
    "swarm",
    "mcp",
    "notify",
    "completions",
    "man",
];

/// Returns the long options in the help of a command.
fn options(command: &str) -> BTreeSet<String> {
    let help = unstuck([command, "--help"]).out;
    let words = help.split(|c: char| c.is_whitespace() || matches!(c, ',' | '\'' | '['));
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

#[test]
fn completions_have_every_command_and_option() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = unstuck(["completions", shell]);
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{shell}");
        for &command in COMMANDS {
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
    for &command in COMMANDS {
        let listed = format!("unstuck-{command}(1)").replace('-', "\\-");
        assert!(program.contains(&listed), "{program}");
        let page = unstuck(["man", command]).out;
        assert!(page.contains(&format!(".TH unstuck-{command} 1")), "{page}");
        let known = options(command);
        assert!(known.contains("--help"), "{command}: {known:?}");
        for option in known {
            assert!(page.contains(&option.replace('-', "\\-")), "{command}: {option}");
        }
    }
}
