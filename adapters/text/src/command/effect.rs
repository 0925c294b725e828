//! The effect of a shell command: whether it only reads, waits, tests, changes files, or acts.

use unstuck_core::Tag;

use super::split::{Part, parts};
use super::{begins_test_run, is_test_script};
use crate::find;
use crate::list::{List, Word};
use crate::words::lists;

/// The nature of a command: its kind, and whether an equal answer proves that repeating it does not
/// help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nature {
    pub(crate) tag: Tag,
    pub(crate) idempotent: bool,
    /// True if it changes the contents of a file. Two such commands that are alike are two pieces
    /// of work.
    pub(crate) edits: bool,
}

impl Nature {
    /// The nature of an unknown command, which is assumed to act.
    pub(crate) const fn acting(tag: Tag) -> Self {
        Self { tag, idempotent: false, edits: false }
    }
}

/// The effect of one simple command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// No effect: `cd`, `echo`.
    Nothing,
    /// Reads files, which change only by work.
    Reads,
    /// Searches it.
    Searches,
    /// Reads a state that changes by itself: processes, remote builds.
    Looks,
    Waits,
    Tests,
    Writes,
    /// Advances something, so that the same command does another thing each time.
    Acts,
    /// Something else.
    Runs,
}

impl Does {
    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// Returns the nature of the whole `command`. O(length of `command`).
///
/// A chain that begins with a wait is a wait. Otherwise a chain with a test is a test, because the test
/// gives the answer. A chain that changes a file is a write, and a chain that only reads is a read.
pub(crate) fn effect(command: &str) -> Nature {
    let mut all = Chain::default();
    parts(command, |part| all.add(part));
    all.effect()
}

/// Returns the pattern of the first search in `command`, as it is written there.
pub(crate) fn pattern(command: &str) -> Option<&str> {
    let mut found = None;
    parts(command, |part| found = found.or_else(|| searched(own_words(part.words()))));
    found
}

/// Returns what the simple command of these words searches for.
fn searched<'c>(words: &[&'c str]) -> Option<&'c str> {
    let behind =
        |options: &[&str]| words.iter().skip_while(|word| !options.contains(word)).nth(1).copied();
    let first = |words: &[&'c str]| words.iter().find(|word| !word.starts_with('-')).copied();
    match words {
        ["git", "grep", rest @ ..]
        | ["grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack", rest @ ..] => {
            behind(&["-e", "--regexp"]).or_else(|| first(rest))
        }
        ["find", ..] => behind(&["-name", "-iname", "-path", "-ipath", "-regex"]),
        ["fd" | "fdfind" | "locate", rest @ ..] => first(rest),
        _ => None,
    }
}

/// The combined effect of a chain of commands.
#[derive(Default)]
struct Chain {
    first: Option<Does>,
    /// A bit for each thing that some part does.
    done: u16,
    /// True if it begins a loop of the shell.
    is_loop: bool,
    /// True if it changes to the parent folder or back.
    moves: bool,
    /// True if it changes the contents of a file. Moving files does not count.
    edits: bool,
}

impl Chain {
    fn add(&mut self, part: &Part<'_>) {
        let words = part.words();
        self.is_loop |= matches!(words.first(), Some(&("until" | "while" | "for")));
        let own = own_words(words);
        let does = match does(own, part) {
            _ if part.writes => Does::Writes,
            does => does,
        };
        let is_placing = own.first().is_some_and(|program| PLACES.contains(program));
        self.edits |= does == Does::Writes && (part.writes || !is_placing);
        self.moves |= own.first() == Some(&"popd")
            || own.first() == Some(&"cd") && own.get(1).is_some_and(|to| to.starts_with(".."));
        if does != Does::Nothing {
            self.does(does);
        }
    }

    fn does(&mut self, one: Does) {
        self.done |= one.bit();
        self.first = self.first.or(Some(one));
    }

    fn effect(&self) -> Nature {
        let some = |one: Does| self.done & one.bit() != 0;
        let is_wait = self.first == Some(Does::Waits) || self.is_loop && some(Does::Waits);
        let is_still = !some(Does::Looks) && !self.moves;
        let (tag, idempotent) = match self.first {
            _ if is_wait => (Tag::Poll, false),
            _ if some(Does::Tests) => (Tag::Test, false),
            _ if some(Does::Acts) => (Tag::Act, false),
            _ if some(Does::Writes) => (Tag::Write, false),
            None if self.moves => (Tag::Act, false),
            None => (Tag::Shell, false),
            Some(_) if some(Does::Runs) => (Tag::Shell, false),
            Some(Does::Searches) => (Tag::Search, is_still),
            Some(_) => (Tag::Read, is_still),
        };
        Nature { tag, idempotent, edits: self.edits && tag == Tag::Write }
    }
}

/// The words of a simple command from its program on.
fn own_words<'p, 'c>(words: &'p [&'c str]) -> &'p [&'c str] {
    let mut own = words;
    loop {
        let rest = match own {
            [word, rest @ ..] if BEFORE.contains(word) => without_options(rest),
            ["timeout" | "gtimeout" | "nice", rest @ ..] => match without_options(rest) {
                // The duration.
                [limit, rest @ ..] if limit.starts_with(|c: char| c.is_ascii_digit()) => rest,
                rest => rest,
            },
            [word, rest @ ..] if is_assignment(word) => rest,
            _ => return own,
        };
        own = rest;
    }
}

/// Returns `words` without the options at their start.
fn without_options<'p, 'c>(words: &'p [&'c str]) -> &'p [&'c str] {
    let options = words.iter().take_while(|word| word.starts_with('-')).count();
    words.get(options..).unwrap_or_default()
}

/// Returns whether `word` gives a variable of the environment a value.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = find::split_once(word, "=") else { return false };
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the effect of the simple command with these words.
fn does(words: &[&str], part: &Part<'_>) -> Does {
    let [program, rest @ ..] = words else { return Does::Nothing };
    let name = find::rsplit_once(program, "/").map_or(*program, |(_, name)| name);
    let known = Word::new(name);
    let is = |list: &List| known.is_in(list);
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(word));
    if tests(words) {
        return Does::Tests;
    }
    match name {
        _ if is(&NEUTRAL) => Does::Nothing,
        _ if is(&WAITS) => Does::Waits,
        "bash" | "sh" | "zsh" | "dash" => shell(rest),
        "tail" if has(&["-f", "-F", "--follow"]) => Does::Waits,
        "sed" | "perl" | "gawk" if edits_in_place(rest) => Does::Writes,
        "perl" => Does::Runs,
        "find" | "fd" if has(&["-delete"]) => Does::Writes,
        "find" | "fd" if has(&["-exec", "-execdir", "-ok", "-x", "-X"]) => executes(rest),
        _ if is(&SEARCHES) => Does::Searches,
        _ if is(&READS) => Does::Reads,
        _ if is(&LOOKS) => Does::Looks,
        _ if is(&WRITES) => Does::Writes,
        _ if is(&ACTS) => Does::Acts,
        "git" => git(rest),
        "gh" | "glab" if has(&["watch", "--watch"]) => Does::Waits,
        "gh" | "glab" if !has(&["view", "list", "checks", "diff", "status"]) => Does::Runs,
        "gh" | "glab" if has(&["run", "workflow", "checks", "status", "release"]) => Does::Looks,
        "gh" | "glab" => Does::Reads,
        "kubectl" | "oc" if has(&["wait", "-w", "--watch"]) => Does::Waits,
        "kubectl" | "oc" if has(&["rollout"]) && has(&["status"]) => Does::Waits,
        "kubectl" | "oc" if has(&["get", "describe", "logs", "top", "explain"]) => Does::Looks,
        "docker" | "podman" if has(&["wait"]) => Does::Waits,
        "docker" | "podman" if has(&["logs"]) && has(&["-f", "--follow"]) => Does::Waits,
        "docker" | "podman" if has(CONTAINER_LOOKS) => Does::Looks,
        "systemctl" | "service" | "supervisorctl"
            if has(&["status", "is-active", "show", "list-units"]) =>
        {
            Does::Looks
        }
        "tmux" if has(&["send-keys", "send"]) => Does::Acts,
        "adb" if has(&["input"]) => Does::Acts,
        "curl" => curl(rest),
        "wget" if has(&["-qO-", "-O-", "--spider"]) => Does::Reads,
        "tar" | "bsdtar" if lists_archive(rest) => Does::Reads,
        "wget" | "tar" | "bsdtar" => Does::Writes,
        _ if is(&FORMATTERS) => formatter(name, rest),
        _ if is(&PACKAGE_MANAGERS) => package_manager(rest),
        _ if is(&INTERPRETERS) => interpreter(rest, part),
        _ => Does::Runs,
    }
}

/// Returns whether the simple command of these words runs tests.
fn tests(words: &[&str]) -> bool {
    let mut script = words.iter().skip_while(|word| INTERPRETERS.contains(word));
    begins_test_run(&words.iter().copied())
        || script.next().is_some_and(|word| is_test_script(word))
}

lists! { "../words/programs.toml":
    List [BEFORE NEUTRAL WAITS SEARCHES READS LOOKS WRITES PLACES ACTS FORMATTERS INTERPRETERS
        PACKAGE_MANAGERS PACKAGE_WRITES PACKAGE_READS GIT_READS GIT_WRITES]
    Texts [CONTAINER_LOOKS MARKS TEST_RUNS PRINTS]
}

/// Returns whether a stream editor writes to its files.
fn edits_in_place(words: &[&str]) -> bool {
    words.iter().any(|word| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        word.starts_with("--in-place")
            || !letters.starts_with('-')
                && letters.contains('i')
                && letters.bytes().take_while(u8::is_ascii_alphabetic).count() <= 4
                && !letters.starts_with(['e', 'f', 'I'])
    })
}

/// Returns the effect of `find` on the files it finds.
fn executes(words: &[&str]) -> Does {
    let mut after = words.iter().skip_while(|word| !word.starts_with("-exec") && **word != "-ok");
    match after.nth(1) {
        Some(program) if SEARCHES.contains(program) || READS.contains(program) => Does::Searches,
        Some(&"sed") | None => Does::Runs,
        Some(program) if WRITES.contains(program) => Does::Writes,
        Some(_) => Does::Runs,
    }
}

/// Reads a nested command, as in `bash -lc '…'`, by its words only.
fn shell(words: &[&str]) -> Does {
    let inner = words.iter().find(|word| !word.starts_with('-'));
    let is_command = words.first().is_some_and(|word| word.starts_with('-') && word.ends_with('c'));
    match inner {
        Some(inner) if is_command => {
            let mut chain = Chain::default();
            parts(inner, |part| chain.add_plain(part));
            chain.as_one()
        }
        _ => Does::Runs,
    }
}

impl Chain {
    /// Like [`Chain::add`], but does not read a nested shell.
    fn add_plain(&mut self, part: &Part<'_>) {
        if own_words(part.words()).first().is_some_and(|word| INTERPRETERS.contains(word)) {
            self.does(Does::Runs);
        } else {
            self.add(part);
        }
    }

    /// Returns the nature of the whole chain, as if it were one command.
    fn as_one(&self) -> Does {
        let Nature { tag, idempotent, .. } = self.effect();
        match tag {
            Tag::Poll => Does::Waits,
            Tag::Test => Does::Tests,
            Tag::Act => Does::Acts,
            Tag::Write => Does::Writes,
            Tag::Search if idempotent => Does::Searches,
            Tag::Read if idempotent => Does::Reads,
            Tag::Search | Tag::Read => Does::Looks,
            _ if self.first.is_none() => Does::Nothing,
            _ => Does::Runs,
        }
    }
}

fn git(words: &[&str]) -> Does {
    // `git -C folder --no-pager log`.
    let mut words = words.iter();
    let mut sub = words.next();
    while let Some(word) = sub.filter(|word| word.starts_with('-')) {
        if matches!(*word, "-C" | "-c") {
            words.next();
        }
        sub = words.next();
    }
    let first = words.next().copied().unwrap_or_default();
    match sub.copied().unwrap_or_default() {
        sub if GIT_READS.contains(sub) => Does::Reads,
        "grep" => Does::Searches,
        "branch" | "tag" | "remote" if first.is_empty() || first.starts_with('-') => {
            if matches!(first, "-d" | "-D" | "-m" | "-M") { Does::Writes } else { Does::Reads }
        }
        "config" if first.starts_with("--get") || first == "--list" || first == "-l" => Does::Reads,
        "stash" if matches!(first, "list" | "show") => Does::Reads,
        "stash" if matches!(first, "drop" | "pop") => Does::Acts,
        "bisect" => Does::Acts,
        "rebase" | "am" | "cherry-pick" | "revert" | "merge"
            if matches!(first, "--skip" | "--continue") =>
        {
            Does::Acts
        }
        sub if GIT_WRITES.contains(sub) => Does::Writes,
        _ => Does::Runs,
    }
}

fn curl(words: &[&str]) -> Does {
    let changes = |method: &&str| !matches!(*method, "GET" | "HEAD");
    let method = words.iter().skip_while(|word| !matches!(**word, "-X" | "--request")).nth(1);
    let sends = words.iter().any(|word| {
        [
            "-d", "-F", "-T", "--data", "--form", "--upload", "--json", "-XPOST", "-XPUT",
            "-XDELETE", "-XPATCH",
        ]
        .iter()
        .any(|option| word.starts_with(option))
    });
    let saves =
        words.iter().any(|word| matches!(*word, "-o" | "-O" | "--output" | "--remote-name"))
            && !words.contains(&"/dev/null");
    match () {
        () if sends || method.is_some_and(changes) => Does::Runs,
        () if saves => Does::Writes,
        () => Does::Reads,
    }
}

/// Returns whether `tar` is asked for the names in an archive.
fn lists_archive(words: &[&str]) -> bool {
    words.first().is_some_and(|mode| mode.contains('t') && !mode.contains(['x', 'c']))
}

fn formatter(name: &str, words: &[&str]) -> Does {
    const FIXES: [&str; 6] = ["--write", "-w", "--fix", "-i", "--in-place", "--apply"];
    let writes_unless_told = matches!(name, "black" | "isort" | "rustfmt");
    let checks =
        words.iter().any(|word| matches!(*word, "--check" | "--diff" | "-c" | "--check-only"));
    let fixes = words.iter().any(|word| FIXES.iter().any(|fix| word.starts_with(fix)));
    match () {
        () if fixes || writes_unless_told && !checks => Does::Writes,
        () if name == "ruff" && words.first() == Some(&"format") && !checks => Does::Writes,
        () => Does::Runs,
    }
}

fn package_manager(words: &[&str]) -> Does {
    let mut own = words.iter().filter(|word| !word.starts_with('-'));
    let (first, second) = (own.next().copied().unwrap_or_default(), own.next().copied());
    match first {
        _ if PACKAGE_WRITES.contains(first) => Does::Writes,
        "pip" if second == Some("install") => Does::Writes,
        "clippy" if words.contains(&"--fix") => Does::Writes,
        _ if PACKAGE_READS.contains(first) => Does::Reads,
        "" if words.iter().any(|word| matches!(*word, "--version" | "-V" | "-v" | "--help")) => {
            Does::Reads
        }
        _ => Does::Runs,
    }
}

/// Returns the effect of a script that an interpreter gets as an argument.
fn interpreter(words: &[&str], part: &Part<'_>) -> Does {
    let writes = |script: &str| MARKS.iter().any(|mark| find::contains(script, mark));
    let is_inline = |word: &&str| matches!(*word, "-c" | "-e" | "--eval");
    let inline = words.iter().skip_while(|word| !is_inline(word)).nth(1);
    let is_written =
        inline.is_some_and(|script| writes(script)) || part.document.is_some_and(writes);
    let is_version =
        words.len() == 1 && matches!(words.first(), Some(&("--version" | "-V" | "-v")));
    match () {
        () if is_written => Does::Writes,
        () if is_version => Does::Reads,
        () => Does::Runs,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use unstuck_core::Tag;

    use super::{Nature, effect};
    use crate::tables::cases::spelled;
    use crate::tables::{kind, kinds};

    /// The commands of a kind. A `+` marks those for which an equal answer is a proof.
    fn commands(kind: &str) -> Vec<String> {
        let of_kind = kinds(include_str!("effect.txt")).filter(|(own, _)| *own == kind);
        of_kind.map(|(_, command)| spelled(command)).collect()
    }

    const KINDS: [&str; 8] = ["poll", "write", "read+", "search+", "read", "test", "act", "shell"];

    #[test]
    fn a_command_is_known_by_what_it_does() {
        for expected in KINDS {
            for command in commands(expected) {
                let effect = effect(&command);
                let said = kind(effect.tag, effect.idempotent);
                // A file that a pipe ends in is written to, whatever it is.
                let is_tee = command.contains("tee /dev/null");
                assert!(said == expected || is_tee && said == "write", "{command:?} is {said}");
            }
        }
        assert_eq!(effect(""), Nature::acting(Tag::Shell));
    }

    #[test]
    fn going_to_a_folder_changes_nothing() {
        let commands = KINDS.into_iter().filter(|kind| *kind != "act").flat_map(commands);
        for command in commands.filter(|command| !matches!(&**command, "cd /abs" | "'")) {
            assert_eq!(effect(&format!("cd x && {command}")), effect(&command), "{command}");
        }
    }

    proptest! {
        #[test]
        fn a_chain_that_writes_never_only_reads(
            before in select(commands("read+")),
            writes in select(commands("write")),
            after in select(commands("search+")),
            sign in select(&[" && ", "; ", "\n"][..]),
        ) {
            let chain = format!("{before}{sign}{writes}\n{after}");
            let effect = effect(&chain);
            prop_assert!(!effect.idempotent && effect.tag == Tag::Write, "{chain:?} {effect:?}");
        }

        #[test]
        fn any_text_has_an_effect(command in "\\PC{0,60}|[a-z;&|<>'\"$() \\n-]{0,40}") {
            let _ = effect(&command);
        }
    }
}
