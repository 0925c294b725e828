//! Tests that the commands in the files for operators are commands of this program.

use std::fs;
use std::path::Path;

use clap::Parser as _;

use super::Arguments;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(path).expect("a file for operators")
}

/// Parses the words of a command line. The first word is the path of the program.
fn check(words: &[String]) {
    assert!(words.first().is_some_and(|path| path.ends_with("unstuck")), "{words:?}");
    let parsed = Arguments::try_parse_from(words);
    assert!(
        parsed.is_ok(),
        "{words:?}: {}",
        parsed.err().map_or_else(String::new, |it| it.to_string())
    );
}

#[test]
fn the_unit_starts_the_program_with_options_that_it_has() {
    let unit = read("operations/unstuck-watch.service");
    let commands: Vec<_> =
        unit.lines().filter_map(|line| line.strip_prefix("ExecStart=")).collect();
    assert_eq!(commands.len(), 1);
    let words = shlex::split(&commands[0].replace("%S", "/var/lib")).expect("words");
    check(&words);
    // Its files are in the folder that it may write.
    let paths: Vec<_> = words.iter().filter(|word| word.starts_with("/var")).collect();
    assert_eq!(paths.len(), 2);
    assert!(unit.contains("\nStateDirectory=unstuck-watch\n"));
    assert!(paths.iter().all(|path| path.starts_with("/var/lib/unstuck-watch/")), "{paths:?}");
    // Only a wrong command line is final.
    assert!(unit.contains("\nRestartPreventExitStatus=64\n"));
}

#[test]
fn the_container_starts_the_program_with_options_that_it_has() {
    let file = read("operations/Containerfile");
    let list = |name: &str| -> Vec<String> {
        let line = file.lines().find_map(|line| line.strip_prefix(name)).expect(name);
        serde_json::from_str(line.trim()).expect("a list of words")
    };
    let words = [list("ENTRYPOINT"), list("CMD")].concat();
    check(&words);
    let volume = file.lines().find_map(|line| line.strip_prefix("VOLUME ")).expect("a volume");
    let paths: Vec<_> = words.iter().skip(1).filter(|word| word.starts_with('/')).collect();
    assert_eq!(paths.len(), 2);
    assert!(paths.iter().all(|path| path.starts_with(volume)), "{paths:?}");
    // A new volume belongs to the user that the program runs as.
    let user = file.lines().find_map(|line| line.strip_prefix("USER ")).expect("a user");
    let copied = format!("\nCOPY --chown={user} state {volume}\nUSER ");
    assert!(file.contains(&copied), "{copied}");
}

#[test]
fn the_commands_of_the_page_for_teams_are_commands() {
    let page = read("TEAM.md");
    let mut count = 0;
    for line in page.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let words = shlex::split(line).expect("words");
        let own = words.split(|word| word == "|" || word == ">").next().unwrap_or_default();
        check(own);
        count += 1;
    }
    assert!(count >= 8, "{count} commands");
}
