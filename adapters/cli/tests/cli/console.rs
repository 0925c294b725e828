//! Console sessions: the files in `console` show commands and what they print.
//!
//! `== title` begins a case in an empty folder, which is also the user's home and is shown as `/home/me`. The lines
//! below a title, up to the first command, are a comment. Commands before the first title begin every case of the file.
//!
//! `$ command` is followed by its standard output, by its standard error with `! ` before each line, and by its exit
//! code in brackets if it is not 0. In the output, `⋯` stands for any text in a line, and for any lines if it is alone
//! in one. These are the commands:
//!
//! - `unstuck`, with variables before it and `< file` behind it. `PROGRAM` is its path, `RUNS` are the recorded runs,
//!   `LABELS` their labels, and `TESTS` is the folder around that of these files.
//! - `each file command`: the command for each line of the file, which is its standard input, and `{}` in its words.
//! - `talk file command`: the command with the lines of the file as its input. It waits for a line of output at each
//!   line `<`.
//! - `write file`: the lines below are the file's content. `write file 3..5` writes them three times, with the number in
//!   place of `{n}`, which makes three files if it is in their name; `5..3` counts down. `program file` writes a script.
//!   `bytes file` writes one line without its end, in which `\n`, `\r`, `\t` and `\xff` are bytes.
//! - `cd`, `export`, `cat`, `ls`, `rm`, `mkdir`, `chmod`, `cp`, `cmp`, `mv`, `link TARGET NAME`,
//!   `sed -i s/old/new/ file` and `touch -d @seconds file`, in these forms only, and `git` without the user's settings.
//!   On Unix there is `sh -c line` for what these lack.
//!
//! A case with a table below its title is played for each row, and so is every case below a table before the first
//! title. The lines begin with `: ` and hold fields between ` | `. The first line has names, which stand for the fields
//! in the commands and in what they print. `⏎` is a line break in a field.
//!
//! Behind `|` are paths into each JSON document of the output, which is replaced by the values there:
//! `/findings/*/tool`.
//!
//! `NAME.unix.txt`, `NAME.fleet.txt` and `NAME.lean.txt` need Unix, the features of a fleet, or their absence. With
//! `UNSTUCK_GOLDEN=write` in the environment the output in the files is written anew. A `⋯` that is alone in a line is
//! kept if the lines around it are still there. Review the difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
#[cfg(unix)]
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use regex::Regex;
use serde_json::{Deserializer, Value};

#[cfg(unix)]
use crate::harness::in_environment_of;
use crate::harness::{Folder, Ran, labels, program_at, runs, writes_golden};

/// The cases that run at a time.
const WORKERS: usize = 4;

/// The folder of each case, as it is shown.
const HOME: &str = "/home/me";

/// A command and the lines below it.
struct Step<'t> {
    command: &'t str,
    /// The place of these lines in their file.
    lines: Range<usize>,
}

#[derive(Default)]
struct Case<'t> {
    title: &'t str,
    /// The lines of its table.
    table: Vec<Vec<&'t str>>,
    steps: Vec<Step<'t>>,
}

/// The names of a table and the fields of one of its rows.
type Row<'t> = Vec<(&'t str, String)>;

impl<'t> Case<'t> {
    /// Returns the rows for which the case is played: those of its table, or else those of `begin`, or else one without a
    /// field.
    fn rows(&self, begin: &Self) -> Vec<Row<'t>> {
        let table = if self.table.is_empty() { &begin.table } else { &self.table };
        let Some((names, rows)) = table.split_first() else { return vec![Vec::new()] };
        let row = |fields: &Vec<&'t str>| {
            assert_eq!(fields.len(), names.len(), "{fields:?}");
            let field = |(name, field): (&&'t str, &&str)| (*name, field.replace('⏎', "\n"));
            names.iter().zip(fields).map(field).collect()
        };
        rows.iter().map(row).collect()
    }
}

/// Returns what begins every case, and the cases.
fn cases(text: &str) -> (Case<'_>, Vec<Case<'_>>) {
    let (mut begin, mut cases, mut at) = (Case::default(), Vec::<Case<'_>>::new(), 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        let case = cases.last_mut().unwrap_or(&mut begin);
        if let Some(title) = line.strip_prefix("== ") {
            cases.push(Case { title: title.trim_end(), ..Case::default() });
        } else if let Some(command) = line.strip_prefix("$ ") {
            case.steps.push(Step { command: command.trim_end(), lines: at..at });
        } else if let Some(fields) = line.strip_prefix(": ").filter(|_| case.steps.is_empty()) {
            case.table.push(fields.trim_end_matches('\n').split(" | ").collect());
        } else if let Some(step) = case.steps.last_mut() {
            assert!(!line.starts_with(['$', '=']), "not a command or a title: {line}");
            // Blank lines are only between steps.
            step.lines.end = if line.trim().is_empty() { step.lines.end } else { at };
        }
    }
    assert!(cases.iter().all(|case| !case.steps.is_empty()), "a case without a command");
    assert!(!cases.is_empty(), "a file without a case");
    let has = |case: &Case<'_>, name: &str| {
        let shows = |step: &Step<'_>| text[step.lines.clone()].contains(name);
        case.steps.iter().any(|step| step.command.contains(name) || shows(step))
    };
    for case in cases.iter().chain([&begin]) {
        assert_ne!(case.table.len(), 1, "a table without a row");
        for name in case.table.first().into_iter().flatten() {
            // A table at the top belongs to all cases.
            let shared = begin.table.first().is_some_and(|names| names.contains(name));
            let used = has(case, name) || has(&begin, name);
            let used = used || shared && cases.iter().any(|case| has(case, name));
            assert!(used, "nothing uses {name} in the case {}", case.title);
        }
    }
    (begin, cases)
}

/// The folder of a case, and the folder in it and the variables with which its commands run.
struct Console<'t> {
    row: &'t Row<'t>,
    folder: Folder,
    at: PathBuf,
    variables: Vec<(String, String)>,
}

impl<'t> Console<'t> {
    fn new(row: &'t Row<'t>) -> Self {
        Self { row, folder: Folder::new(), at: PathBuf::new(), variables: Vec::new() }
    }

    /// Fills in the fields of the row.
    fn with_fields(&self, text: &str) -> String {
        self.row.iter().fold(text.to_owned(), |text, (name, field)| text.replace(name, field))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home().join(&self.at).join(name)
    }

    /// Returns the folder as the program sees it.
    fn home(&self) -> PathBuf {
        let path = self.folder.path();
        if cfg!(unix) { path.canonicalize().expect("a folder") } else { path.to_owned() }
    }

    /// Fills in the places of this machine.
    fn filled(&self, text: &str) -> String {
        let text = text.replace(HOME, &self.home().display().to_string());
        let text = text.replace("LABELS", &labels().display().to_string());
        let text = text.replace("PROGRAM", env!("CARGO_BIN_EXE_unstuck"));
        let text = text.replace("TESTS", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli"));
        text.replace("RUNS", &runs().display().to_string())
    }

    /// Replaces the places of this machine.
    fn masked(&self, text: &str) -> String {
        let text = text.replace(&runs().display().to_string(), "RUNS");
        let text = text.replace(env!("CARGO_BIN_EXE_unstuck"), "PROGRAM");
        let home = self.home().display().to_string();
        text.replace(&home, HOME).replace(&home.replace('\\', "/"), HOME)
    }

    /// Runs a command. Returns what it prints in the form of a file, or `None` if it takes the lines below it.
    fn run(&mut self, step: &Step<'_>, below: &str) -> Option<String> {
        let command = self.with_fields(step.command);
        let at = command.find(" | /").unwrap_or(command.len());
        let (line, paths) = (&command[..at], command[at..].trim_start_matches(" | "));
        // A place of this machine may have a space in it.
        let words = shlex::split(line).expect("words of a shell");
        let words: Vec<String> = words.iter().map(|word| self.filled(word)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let path = |n: usize| self.path(words.get(n).expect(step.command));
        let done = |done: std::io::Result<()>| done.expect(step.command);
        let mut ran = Ran { exit: 0, out: String::new(), err: String::new() };
        match words[0] {
            "write" => {
                self.write(words[1], words.get(2).unwrap_or(&"1..1"), &self.filled(below));
                return None;
            }
            "bytes" => {
                let bytes = unescaped(self.filled(below).trim_end());
                self.folder.file(&self.at.join(words[1]).to_string_lossy(), bytes);
                return None;
            }
            #[cfg(unix)]
            "program" => {
                self.folder.program(&self.at.join(words[1]).to_string_lossy(), &self.filled(below));
                return None;
            }
            #[cfg(unix)]
            "link" => done(std::os::unix::fs::symlink(words[1], path(2))),
            "export" => {
                let (name, value) = words[1].split_once('=').expect("a variable");
                self.variables.push((name.to_owned(), value.to_owned()));
            }
            #[cfg(unix)]
            "chmod" => {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = u32::from_str_radix(words[1], 8).expect("a mode");
                done(fs::set_permissions(path(2), fs::Permissions::from_mode(mode)));
            }
            "cd" => self.at = words[1].into(),
            "cat" => {
                let (files, to) = match words[1..] {
                    [ref files @ .., ">", to] => (files, Some(to)),
                    ref files => (files, None),
                };
                let read = |file: &&str| fs::read_to_string(self.path(file)).expect(step.command);
                let text: String = files.iter().map(read).collect();
                match to {
                    Some(to) => done(fs::write(self.path(to), text)),
                    None => ran.out = text,
                }
            }
            "ls" => ran.out = listed(&path(1)),
            "rm" if path(1).is_dir() => done(fs::remove_dir_all(path(1))),
            "rm" => done(fs::remove_file(path(1))),
            "cmp" => {
                let [one, other] = [1, 2].map(|n| fs::read(path(n)).expect(step.command));
                ran.exit = i32::from(one != other);
            }
            "sed" => edit(&path(3), words[2]),
            "touch" => age(&path(3), words[2]),
            "mkdir" => done(fs::create_dir_all(path(1))),
            "cp" => done(fs::copy(path(1), path(2)).map(drop)),
            "mv" => done(fs::rename(path(1), path(2))),
            "git" => ran = Ran::by(git().args(&words[1..]).current_dir(self.path(""))),
            "each" => {
                for input in fs::read_to_string(path(1)).expect(step.command).lines() {
                    let words: Vec<_> =
                        words[2..].iter().map(|word| word.replace("{}", input)).collect();
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    let Ran { exit, out, err } = self.unstuck(&words, Some(input.as_bytes()));
                    ran =
                        Ran { exit: ran.exit.max(exit), out: ran.out + &out, err: ran.err + &err };
                }
            }
            "talk" => {
                let lines = fs::read_to_string(path(1)).expect(step.command);
                ran = Ran::by_talking(&mut self.command(&words[2..]), &lines);
            }
            _ => ran = self.unstuck(&words, None),
        }
        if !paths.is_empty() {
            let documents = Deserializer::from_str(&ran.out).into_iter::<Value>();
            let at = |document: Value| values(&document, paths) + "\n";
            ran.out = documents.map(|document| at(document.expect("JSON"))).collect();
        }
        let mut shown = ran.out;
        for line in ran.err.lines() {
            writeln!(shown, "{}", format!("! {line}").trim_end()).expect("memory");
        }
        if ran.exit != 0 {
            writeln!(shown, "[{}]", ran.exit).expect("memory");
        }
        Some(self.masked(&shown))
    }

    /// Writes the text once for each number in the range, in files for which the name may have the number.
    fn write(&self, name: &str, range: &str, text: &str) {
        let (from, to) = range.split_once("..").expect("a range");
        let [from, to] = [from, to].map(|end| end.parse::<usize>().expect("a number"));
        let mut files = BTreeMap::<_, String>::new();
        let numbers: Vec<_> =
            if from <= to { (from..=to).collect() } else { (to..=from).rev().collect() };
        for n in numbers {
            let numbered = |text: &str| text.replace("{n}", &n.to_string());
            *files.entry(numbered(name)).or_default() += &numbered(text);
        }
        for (name, text) in files {
            self.folder.file(&self.at.join(name).to_string_lossy(), text);
        }
    }

    /// Runs the program by these words, which may begin with variables and end with a redirection.
    fn unstuck(&self, words: &[&str], input: Option<&[u8]>) -> Ran {
        let (words, input) = match *words {
            [ref words @ .., "<", file] => {
                (words, Some(fs::read(self.path(file)).expect("a file")))
            }
            _ => (words, input.map(<[u8]>::to_vec)),
        };
        let mut command = self.command(words);
        match input {
            Some(input) => Ran::by_reading(&mut command, &input),
            None => Ran::by(&mut command),
        }
    }

    /// Returns the program, or a shell, with the words behind its name and the variables before it.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = program_at(&self.home());
        command.current_dir(self.path(""));
        if cfg!(unix) {
            // The agents of this machine are in other folders.
            command.env("PATH", format!("{}:/usr/bin:/bin", self.home().join("bin").display()));
        }
        command.envs(self.variables.iter().cloned());
        let mut words = words.iter();
        for word in words.by_ref() {
            match word.split_once('=') {
                Some((name, value)) => command.env(name, value),
                None if *word == "unstuck" => break,
                #[cfg(unix)]
                None if *word == "sh" => {
                    command = in_shell(&command);
                    break;
                }
                None => panic!("unknown command {word}"),
            };
        }
        command.args(words);
        command
    }
}

/// Returns a shell in the surroundings of a command.
#[cfg(unix)]
fn in_shell(command: &Command) -> Command {
    let mut shell = in_environment_of(command, "/bin/sh");
    shell.current_dir(command.get_current_dir().expect("a folder")).stdin(Stdio::null());
    shell
}

/// Returns git without any settings of the user or of a repository around the tests, which gives commits the same ids each
/// time.
pub(crate) fn git() -> Command {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_DEFAULT_HASH", "sha1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@b.c");
        command.env(format!("GIT_{who}_DATE"), "2026-01-01T00:00:00Z");
    }
    for place in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(place);
    }
    command
}

/// Returns the bytes of a line with escapes.
fn unescaped(line: &str) -> Vec<u8> {
    let escape = regex::bytes::Regex::new(r"\\(n|r|t|x(..))").expect("a pattern");
    let byte = |found: &regex::bytes::Captures<'_>| match (&found[1], found.get(2)) {
        (_, Some(digits)) => {
            let digits = std::str::from_utf8(digits.as_bytes()).expect("digits");
            vec![u8::from_str_radix(digits, 16).expect("two digits")]
        }
        (b"n", _) => vec![b'\n'],
        (b"r", _) => vec![b'\r'],
        _ => vec![b'\t'],
    };
    escape.replace_all(line.as_bytes(), byte).into_owned()
}

/// Replaces a text in a file: `s/old/new/`.
fn edit(path: &Path, change: &str) {
    let change = change.replace("\\n", "\n");
    let ["s", old, new, ""] = change.split('/').collect::<Vec<_>>()[..] else { panic!("{change}") };
    let text = fs::read_to_string(path).expect("a file");
    assert!(text.contains(old), "{change}");
    fs::write(path, text.replace(old, new)).expect("a file that can be written");
}

/// Sets the time of the last change of a file: `@seconds` since 1970.
fn age(path: &Path, time: &str) {
    let seconds = time.strip_prefix('@').and_then(|time| time.parse().ok());
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.expect("a time"));
    let file = fs::File::options().write(true).open(path).expect("a file");
    file.set_modified(time).expect("a time that can be set");
}

/// Returns the names in a folder, one a line.
fn listed(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().into_string()).collect();
    names.sort();
    names.into_iter().map(|name| name.expect("UTF-8") + "\n").collect()
}

/// Returns the values at these paths in a document.
fn values(document: &Value, paths: &str) -> String {
    let part = |values: Vec<Value>, name: &str| {
        let inside = |value: Value| match (name, &value) {
            ("*", Value::Array(all)) => all.clone(),
            (_, Value::Array(all)) => {
                let place: usize = name.parse().expect("a place in a list");
                vec![all.get(place).cloned().unwrap_or_default()]
            }
            _ => vec![value.get(name).cloned().unwrap_or_default()],
        };
        values.into_iter().flat_map(inside).collect()
    };
    let values = paths.split(' ').flat_map(|path| {
        path.strip_prefix('/').expect("a path").split('/').fold(vec![document.clone()], part)
    });
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
}

/// Returns standard output, standard error and the exit code in the lines below a command.
fn parts(lines: &str) -> [String; 3] {
    let mut parts = [const { String::new() }; 3];
    let code = Regex::new(r"^\[\d+\]$").expect("a pattern");
    for line in lines.lines() {
        let part = if code.is_match(line) { 2 } else { usize::from(line.starts_with('!')) };
        parts[part] += &(line.trim_start_matches("! ").to_owned() + "\n");
    }
    parts
}

/// Returns the pattern of a line.
fn pattern(line: &str) -> String {
    line.split('⋯').map(regex::escape).collect::<Vec<_>>().join(".*?")
}

/// Returns `shown` with those lines of `expected` that describe a line of it, by wildcards or by the names of fields, or the
/// lines between two. A line that is the same wins over one with wildcards, and so does one whose wildcards are the
/// program's own `…`.
fn with_wildcards<'t>(shown: &'t str, expected: &'t str, console: &Console<'_>) -> String {
    let lines: Vec<_> = expected.lines().map(|line| (line, console.with_fields(line))).collect();
    let patterns = lines.iter().filter(|(line, it)| *line != "⋯" && it.contains('⋯'));
    let patterns = patterns.map(|(line, it)| (line, Regex::new(&format!("^{}$", pattern(it)))));
    let patterns: Vec<_> = patterns.map(|(line, it)| (*line, it.expect("a pattern"))).collect();
    let described = |shown: &'t str| {
        let same = lines.iter().find(|(_, it)| it == shown).map(|(line, _)| *line);
        let cut = || lines.iter().any(|(_, it)| it.replace('⋯', "…") == *shown).then_some(shown);
        let alike = || patterns.iter().find(|(_, it)| it.is_match(shown)).map(|(line, _)| *line);
        same.or_else(cut).or_else(alike)
    };
    let lines: Vec<_> = shown.lines().map(|line| described(line).unwrap_or(line)).collect();
    let [all, without] = [lines.clone(), with_gaps(lines, &expected.lines().collect::<Vec<_>>())]
        .map(|lines| lines.iter().map(|line| (*line).to_owned() + "\n").collect::<String>());
    if fits(shown, &console.with_fields(&without)) { without } else { all }
}

/// Puts a `⋯` that is alone in a line of `expected` in the place of the lines between its neighbours, if `lines` has both.
fn with_gaps<'t>(mut lines: Vec<&'t str>, expected: &[&str]) -> Vec<&'t str> {
    for n in (0..expected.len()).filter(|n| expected[*n] == "⋯") {
        let place = |from: usize, line: &str| {
            lines[from..].iter().position(|other| *other == line).map(|place| from + place)
        };
        let above = expected[..n].last();
        let from = above.map_or(Some(0), |line| place(0, line).map(|place| place + 1));
        let to = from.and_then(|from| {
            expected.get(n + 1).map_or(Some(lines.len()), |line| place(from, line))
        });
        if let Some((from, to)) = from.zip(to) {
            lines.splice(from..to, ["⋯"]);
        }
    }
    lines
}

/// Returns whether `shown` is what `expected` describes.
fn fits(shown: &str, expected: &str) -> bool {
    // On Windows, paths are printed with other separators.
    let plain = |text: &str| text.replace('\\', if cfg!(windows) { "/" } else { "\\" });
    let line =
        |line: &str| if line == "⋯" { "(.*\n)*?".to_owned() } else { pattern(line) + "\n" };
    parts(&plain(shown)).iter().zip(parts(&plain(expected))).all(|(shown, expected)| {
        let pattern: String = expected.lines().map(line).collect();
        Regex::new(&format!("^{pattern}$")).expect("a pattern").is_match(shown)
    })
}

/// Plays a case for a row. Returns each place where it shows something else, with what it should be.
fn played(
    text: &str,
    begin: &Case<'_>,
    case: &Case<'_>,
    row: &Row<'_>,
) -> Vec<(Range<usize>, String)> {
    let mut console = Console::new(row);
    let mut differences = Vec::new();
    for step in begin.steps.iter().chain(&case.steps) {
        let below = &text[step.lines.clone()];
        let expected = console.with_fields(below);
        let Some(shown) = console.run(step, &expected) else { continue };
        let shown = shown.replace("\r\n", "\n").trim_end().to_owned() + "\n";
        let shown = if shown == "\n" { String::new() } else { shown };
        if !fits(&shown, &expected) {
            differences.push((step.lines.clone(), with_wildcards(&shown, below, &console)));
        }
    }
    differences
}

/// Returns the title of a case, and the fields of the row that it is played for.
fn played_as(case: &Case<'_>, row: &Row<'_>) -> String {
    let fields = row.iter().map(|(_, field)| field.as_str());
    [case.title].into_iter().chain(fields).collect::<Vec<_>>().join(" | ")
}

/// Returns whether the cases of a file can run here.
fn is_for_here(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8");
    let needs = name.strip_suffix(".txt").expect("a file of sessions");
    needs.split('.').skip(1).all(|need| match need {
        "unix" => cfg!(unix),
        "fleet" => cfg!(feature = "fleet"),
        "lean" => cfg!(not(feature = "fleet")),
        _ => panic!("{name} needs what nobody knows"),
    })
}

#[test]
fn every_session_prints_what_it_shows() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/console");
    let writes = writes_golden();
    let paths =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths.filter(|path| is_for_here(path)).collect();
    paths.sort();
    let mut wrong = String::new();
    for path in &paths {
        let text = fs::read_to_string(path).expect("sessions");
        let (begin, cases) = cases(&text);
        let plays = |case| move |row| (case, row);
        let plays = cases.iter().flat_map(|case| case.rows(&begin).into_iter().map(plays(case)));
        let plays: Vec<(&Case<'_>, Row<'_>)> = plays.collect();
        let (next, differences) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some((case, row)) = plays.get(place) else { break };
                        for (lines, shown) in played(&text, &begin, case, row) {
                            differences.lock().expect("a list").push((lines, place, shown));
                        }
                    }
                });
            }
        });
        let mut differences = differences.into_inner().expect("a list");
        differences.sort_by_key(|(lines, place, _)| (lines.start, *place));
        let shared = |start| begin.steps.iter().any(|step| step.lines.start == start);
        // What stands before the first title belongs to every case.
        differences.dedup_by(|(a, ..), (b, ..)| a.start == b.start && shared(a.start));
        for (lines, place, shown) in &differences {
            let (case, row) = &plays[*place];
            let (title, line) = (played_as(case, row), text[..lines.start].lines().count());
            writeln!(wrong, "{}:{line}: {title}:\n{shown}", path.display()).expect("memory");
        }
        // Of the rows of a table, the first one is written.
        differences.dedup_by_key(|(lines, ..)| lines.start);
        let mut written = text.clone();
        for (lines, _, shown) in differences.iter().rev() {
            written.replace_range(lines.clone(), shown);
        }
        if writes {
            fs::write(path, written).expect("a file that can be written");
        }
    }
    assert!(writes || wrong.is_empty(), "other output than in the files:\n{wrong}");
}
