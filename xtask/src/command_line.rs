//! The command line: its help texts, and the task that its words ask for.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{self, PathBuf};
use std::str::FromStr;

use crate::agents;
use crate::bench::Bench;
use crate::c;
use crate::checks;
use crate::firmware;
use crate::fleet;
use crate::footprint;
use crate::fuzz;
use crate::javascript;
use crate::python;
use crate::target::Target;

/// A task and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Help(String),
    Test(checks::Request),
    Fuzz(fuzz::Plan),
    Footprint(footprint::Request),
    Firmware(firmware::Request),
    C(c::Request),
    Bench(Bench),
    Agents(agents::Request),
    Python(python::Request),
    JavaScript(javascript::Request),
    Report,
    Fleet(fleet::Request),
}

/// A command line that names no task, or names it with words that the task does not take.
#[derive(Debug)]
pub(crate) struct UsageError {
    help: &'static str,
    why: String,
}

impl UsageError {
    /// The first line of the help text, which says what the task takes.
    pub(crate) fn usage(&self) -> &'static str {
        self.help.lines().next().unwrap_or_default()
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

const MAIN: &str = "\
Usage: cargo xtask CHORE [OPTIONS]

  test       Run every check that a change must pass, or the ones you name
  fuzz       Fuzz the targets in `fuzz/fuzz_targets`
  footprint  Measure memory, code, stack and instructions
  firmware   Build a robot's firmware, run it under QEMU and compare its log
  c          Build the library for C; install it, pack it, or test it
  bench      Run a benchmark
  agents     Run real coding agents against a scripted model
  python     Build and test the package for Python
  js         Build and test the package for JavaScript
  report     Read the reports of `unstuck scan` with the programs that others use
  fleet      Run the parts of a fleet on this machine, and measure them

`cargo xtask CHORE --help` describes a task.
";

const TEST: &str = "\
Usage: cargo xtask test [--list] [STEP…]

Runs every step, or only the named ones. A failed step does not stop the others; the summary at the
end has one line for each. A step whose tool is missing is left out and says what to install. If CI
is set in the environment, missing tools are installed instead. A step that cannot run is a failure
if it was named, or if CI is set. The exit code is 0 if nothing failed, else 1.

  --list  Print the steps, one line each, and run none

";

const FUZZ: &str = "\
Usage: cargo xtask fuzz [--seconds N] [TARGET]

Fuzzes each target for N seconds, 60 by default. A planted bug comes first and must be found;
otherwise the silence of the other targets proves nothing. Needs a C++ compiler.
Inputs that a run learns are kept in `fuzz/target` for the next one.

Targets:
";

const FOOTPRINT: &str = "\
Usage: cargo xtask footprint [--json | --record | --check] [--target TARGET]…

Prints the size of values, the code of the programs in `benches/bare`, the deepest stack of each
event and the instructions of a call: on this machine, on five microcontrollers, under QEMU and under
valgrind. Figures whose tool is missing are left out and say so.

  --json           Print one JSON array instead of tables
  --record         Write the figures, with a little room, to `benches/bare/budgets.toml`, from which
                   the table of sizes in the documentation is made
  --check          Compare the figures with the budgets. `cargo xtask test footprint` does so for two
                   of the microcontrollers
  --target TARGET  Measure this microcontroller only; may be repeated
";

const FIRMWARE: &str = "\
Usage: cargo xtask firmware [--write] [--target TARGET]…

Builds the firmware, runs it under QEMU and compares its log with `adapters/firmware/mission.log`.

  --write          Replace that file with the new log
  --target TARGET  Also build for this microcontroller; may be repeated
";

const C: &str = "\
Usage: cargo xtask c [--install PREFIX] [--packages FOLDER] [--sizes]

Without options: links programs in C and C++ with the library, runs them here, under sanitizers,
under valgrind and on a microcontroller, and compares their verdicts with Rust's.

  --install PREFIX   Install the libraries, the header, and the files for `pkg-config` and `CMake`
  --packages FOLDER  Write an ESP-IDF component and an Arduino library
  --sizes            Print the code that each function needs on a Cortex-M3
";

const BENCH: &str = "\
Usage: cargo xtask bench NAME [--json] [--traces FOLDER]

  engine       The engine beside other detectors
  scan         `unstuck scan` beside programs that only read JSON
  json         The fingerprint of JSON beside canonical text and a hash of it
  hook         The hook of a coding agent beside interpreters that do nothing
  text         Masks, sketches, calls and outcomes made from text
  swarm        A swarm of workers that share a ledger in one process
  swarm-redis  The same on a `redis-server`, beside plain `INCR`

  --json           Print JSON
  --traces FOLDER  For `swarm`: also measure with these recorded runs
";

const AGENTS: &str = "\
Usage: cargo xtask agents [--list | --bless | --bare | --speed] [AGENT] [SCENARIO]

Runs real coding agents from npm against a scripted model on this machine, with the hooks that
`unstuck install` writes, and compares what the model saw at which call with the tables in
`xtask/agents/expected`. Without names: every agent, every scenario. Clients, homes and logs are in
`target/agents`. Needs `npm`.

  --list   Print the agents and the scenarios, one line each, and run none
  --bless  Write the tables
  --bare   Run without hooks, and compare nothing
  --speed  Measure the time that the hooks add to a call
";

const PYTHON: &str = "\
Usage: cargo xtask python [--frameworks] [--bench] [FRAMEWORK…]

Builds the source distribution and the wheel of `adapters/python`, installs each into an environment
of its own, runs the tests and the examples, and checks the types. Tools, packages and environments
are in `target/python`. Needs Python 3.10 or later and the network.

  --frameworks  Also run the tests of every framework, with the versions pinned beside them. A
                framework that is named is tested alone
  --bench       Measure `before` and `after` beside other guards, and test nothing
";

const JS: &str = "\
Usage: cargo xtask js [--frameworks] [--page] [--bench] [FRAMEWORK…]

Builds the package of `adapters/js` with the engine as WebAssembly, checks its types and how it is
packed, and runs its tests on Node 20 and 22, Bun and Deno. The packed package and everything else is
in `target/js`. Needs npm and the network.

  --frameworks  Also run the tests of every framework, with the versions pinned beside them. A
                framework that is named is tested alone
  --page        Also write `target/js/unstuck.html`, and test it in Chromium
  --bench       Measure `before` and `after` beside other guards, and test nothing
";

const REPORT: &str = "\
Usage: cargo xtask report

Scans the recorded runs and hostile traces, writes a report of every format, and reads them with
junitparser, sarif-tools, the schema of SARIF, Python's csv, and Chromium with axe-core. Takes the
picture of the README anew. Reports and packages are in `target/report`. Needs Python 3.10 or later,
npm, Chromium and the network.
";

const FLEET: &str = "\
Usage: cargo xtask fleet [PART…]

Runs every part of a fleet on the loopback interface of this machine, or only the named ones, and
prints a table of what was measured. Needs Python 3.10 or later, and the network to install packages.
Everything that a part installs or writes is in `target/fleet`.

`SWARM_WORKERS=1000 SWARM_RATE=1000 SWARM_SECONDS=20 cargo xtask fleet swarm` is a short run.

Parts:
";

/// A task's help text, and the words it takes.
struct Grammar {
    name: &'static str,
    help: &'static str,
    /// Options without a value, for example `--json`.
    flags: &'static [&'static str],
    /// Options with a value, for example `--seconds 3`.
    options: &'static [&'static str],
    /// The most words that are no options.
    words_max: usize,
}

const GRAMMARS: [Grammar; 11] = [
    Grammar { name: "test", help: TEST, flags: &["--list"], options: &[], words_max: usize::MAX },
    Grammar { name: "fuzz", help: FUZZ, flags: &[], options: &["--seconds"], words_max: 1 },
    Grammar {
        name: "footprint",
        help: FOOTPRINT,
        flags: &["--json", "--record", "--check"],
        options: &["--target"],
        words_max: 0,
    },
    Grammar {
        name: "firmware",
        help: FIRMWARE,
        flags: &["--write"],
        options: &["--target"],
        words_max: 0,
    },
    Grammar {
        name: "c",
        help: C,
        flags: &["--sizes"],
        options: &["--install", "--packages"],
        words_max: 0,
    },
    Grammar {
        name: "bench",
        help: BENCH,
        flags: &["--json"],
        options: &["--traces"],
        words_max: 1,
    },
    Grammar {
        name: "agents",
        help: AGENTS,
        flags: &["--list", "--bless", "--bare", "--speed"],
        options: &[],
        words_max: 2,
    },
    Grammar {
        name: "python",
        help: PYTHON,
        flags: &["--frameworks", "--bench"],
        options: &[],
        words_max: usize::MAX,
    },
    Grammar {
        name: "js",
        help: JS,
        flags: &["--frameworks", "--page", "--bench"],
        options: &[],
        words_max: usize::MAX,
    },
    Grammar { name: "report", help: REPORT, flags: &[], options: &[], words_max: 0 },
    Grammar { name: "fleet", help: FLEET, flags: &[], options: &[], words_max: usize::MAX },
];

/// The words of a command line, sorted by the grammar of its task.
#[derive(Debug, Default)]
struct Words {
    flags: Vec<&'static str>,
    options: Vec<(&'static str, OsString)>,
    /// The words that are no options.
    plain: Vec<String>,
}

impl Words {
    /// Sorts `words`.
    ///
    /// # Errors
    ///
    /// If the grammar has no such option, an option lacks its value, or there are too many words.
    fn sort(grammar: &Grammar, words: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut sorted = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            if !text.starts_with('-') {
                sorted.plain.push(text);
            } else if let Some(flag) = grammar.flags.iter().find(|flag| **flag == text) {
                sorted.flags.push(flag);
            } else {
                let (name, value) = option(grammar, &text)?;
                let value = value.map(OsString::from).or_else(|| words.next());
                let value = value.ok_or_else(|| format!("`{name}` needs a value"))?;
                sorted.options.push((name, value));
            }
        }
        match sorted.plain.get(grammar.words_max) {
            Some(word) => Err(format!("unexpected `{word}`")),
            None => Ok(sorted),
        }
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// The values of an option, in the order in which they were given.
    fn values(&self, name: &str) -> impl Iterator<Item = &OsStr> {
        let values = self.options.iter().filter(move |(option, _)| *option == name);
        values.map(|(_, value)| value.as_os_str())
    }

    /// The last value of an option that names a file or folder.
    fn path(&self, name: &str) -> Option<PathBuf> {
        self.values(name).last().map(PathBuf::from)
    }

    /// The microcontrollers that `--target` names.
    fn targets(&self) -> Result<Vec<Target>, String> {
        self.values("--target").map(|name| name.to_string_lossy().parse()).collect()
    }
}

/// The option with a value that `word` is, and the value if it follows a `=`.
fn option<'w>(grammar: &Grammar, word: &'w str) -> Result<(&'static str, Option<&'w str>), String> {
    let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v)));
    let known = grammar.options.iter().find(|option| **option == name);
    known.map(|known| (*known, value)).ok_or_else(|| format!("unknown option `{word}`"))
}

/// Returns the task that `words` ask for. The first word is the program's name.
///
/// # Errors
///
/// If there is no such task, or it does not take these words.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Task, UsageError> {
    let mut words = words.into_iter().skip(1).peekable();
    let Some(name) = words.next() else { return Ok(Task::Help(MAIN.into())) };
    if is_help(&name) {
        return Ok(Task::Help(MAIN.into()));
    }
    let grammar = GRAMMARS.iter().find(|grammar| name == grammar.name);
    let grammar = grammar.ok_or_else(|| UsageError {
        help: MAIN,
        why: format!("there is no task `{}`", name.to_string_lossy()),
    })?;
    let words: Vec<_> = words.collect();
    if words.iter().any(|word| is_help(word)) {
        return Ok(Task::Help(help(grammar)));
    }
    let task = Words::sort(grammar, words).and_then(|words| task(grammar.name, &words));
    task.map_err(|why| UsageError { help: grammar.help, why })
}

fn is_help(word: &OsStr) -> bool {
    word == "--help" || word == "-h"
}

/// The help text of a task, with the list of its steps or targets.
fn help(grammar: &Grammar) -> String {
    let list = match grammar.name {
        "test" => checks::list(),
        "fuzz" => fuzz::list(),
        "fleet" => fleet::list(),
        _ => String::new(),
    };
    grammar.help.to_owned() + &list
}

fn task(name: &str, words: &Words) -> Result<Task, String> {
    Ok(match name {
        "test" if words.has("--list") => Task::Help(checks::list()),
        "python" => Task::Python(python::Request {
            frameworks: words.has("--frameworks"),
            bench: words.has("--bench"),
            names: words.plain.clone(),
        }),
        "js" => Task::JavaScript(javascript::Request {
            frameworks: words.has("--frameworks"),
            page: words.has("--page"),
            bench: words.has("--bench"),
            names: words.plain.clone(),
        }),
        "report" => Task::Report,
        "fleet" => Task::Fleet(fleet::Request::of(&words.plain)?),
        "test" => Task::Test(checks::Request::of(&words.plain)?),
        "fuzz" => Task::Fuzz(fuzz::Plan {
            target: words.plain.first().map(|name| name.parse()).transpose()?,
            seconds: seconds(words)?,
        }),
        "footprint" => Task::Footprint(footprint_request(words)?),
        "firmware" => Task::Firmware(firmware::Request {
            write: words.has("--write"),
            targets: words.targets()?,
        }),
        "c" => Task::C(c::Request {
            install: words.path("--install"),
            packages: words.path("--packages"),
            sizes: words.has("--sizes"),
        }),
        "agents" if words.has("--list") => Task::Help(agents::list()),
        "agents" => Task::Agents(agents::Request::of(&words.plain, agents_mode(words)?)?),
        _ => Task::Bench(bench(words)?),
    })
}

/// The seconds that each target is fuzzed.
fn seconds(words: &Words) -> Result<u32, String> {
    let Some(value) = words.values("--seconds").last() else { return Ok(fuzz::SECONDS) };
    let value = value.to_string_lossy();
    u32::from_str(&value).map_err(|error| format!("`--seconds {value}`: {error}"))
}

fn footprint_request(words: &Words) -> Result<footprint::Request, String> {
    let request = footprint::Request {
        json: words.has("--json"),
        record: words.has("--record"),
        check: words.has("--check"),
        targets: words.targets()?,
    };
    if request.check && (request.json || request.record || !request.targets.is_empty()) {
        return Err("`--check` compares everything and takes no other option".into());
    }
    Ok(request)
}

/// What is done with the runs of real agents.
fn agents_mode(words: &Words) -> Result<agents::Mode, String> {
    match words.flags[..] {
        [] => Ok(agents::Mode::Compare),
        ["--bless"] => Ok(agents::Mode::Bless),
        ["--bare"] => Ok(agents::Mode::Bare),
        ["--speed"] => Ok(agents::Mode::Speed),
        _ => Err("`--bless`, `--bare` and `--speed` exclude each other".into()),
    }
}

fn bench(words: &Words) -> Result<Bench, String> {
    let name = words.plain.first().ok_or("name a benchmark")?;
    let traces = words.path("--traces");
    // The program that measures runs in another folder.
    let traces = traces.map(|folder| path::absolute(&folder).unwrap_or(folder));
    Bench::new(name, words.has("--json"), traces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, String> {
        let words = line.split_whitespace().map(OsString::from);
        parse(["xtask".into()].into_iter().chain(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn every_task_has_a_help_text_that_the_main_one_mentions() {
        for grammar in &GRAMMARS {
            for line in ["--help", "-h"] {
                let Ok(Task::Help(text)) = parsed(&format!("{} {line}", grammar.name)) else {
                    panic!("{}", grammar.name)
                };
                assert!(text.starts_with(&format!("Usage: cargo xtask {}", grammar.name)));
                let options = grammar.flags.iter().chain(grammar.options);
                assert!(options.into_iter().all(|option| text.contains(option)), "{text}");
            }
            assert!(MAIN.contains(&format!("\n  {} ", grammar.name)), "{}", grammar.name);
        }
        assert_eq!(parsed(""), Ok(Task::Help(MAIN.into())));
        assert_eq!(parsed("--help"), Ok(Task::Help(MAIN.into())));
    }

    #[test]
    fn options_are_read_in_any_order_and_both_spellings() {
        let expected = fuzz::Plan { target: "engine".parse().ok(), seconds: 3 };
        for line in ["fuzz engine --seconds 3", "fuzz --seconds=3 engine"] {
            assert_eq!(parsed(line), Ok(Task::Fuzz(expected)), "{line}");
        }
        let request =
            firmware::Request { write: true, targets: vec![Target::Thumbv6m, Target::Riscv32imc] };
        assert_eq!(
            parsed(
                "firmware --target thumbv6m-none-eabi --write \
                 --target riscv32imc-unknown-none-elf"
            ),
            Ok(Task::Firmware(request))
        );
    }

    #[test]
    fn the_folder_of_traces_is_absolute() {
        let Ok(Task::Bench(bench)) = parsed("bench swarm --json --traces runs") else {
            panic!("not parsed")
        };
        let traces = bench.traces.expect("a folder");
        assert!(traces.is_absolute() && traces.ends_with("runs"), "{traces:?}");
    }

    #[test]
    fn wrong_words_are_named() {
        for (line, why) in [
            ("tset", "there is no task `tset`"),
            ("--fast", "there is no task `--fast`"),
            ("test --fast", "unknown option `--fast`"),
            ("test clipy", "there is no step `clipy`"),
            ("fuzz engine gossip", "unexpected `gossip`"),
            ("fuzz engin", "there is no target `engin`"),
            ("fuzz --seconds", "`--seconds` needs a value"),
            ("fuzz --seconds soon", "`--seconds soon`: invalid digit found in string"),
            ("footprint --check --json", "`--check` compares everything and takes no other option"),
            ("firmware --target esp", "there is no target `esp`"),
            ("report junit", "unexpected `junit`"),
            ("bench", "name a benchmark"),
            ("bench speed", "there is no benchmark `speed`"),
            ("agents claude", "there is no agent `claude`"),
            ("agents codex loop", "there is no scenario `loop`"),
            ("agents codex --bless --bare", "`--bless`, `--bare` and `--speed` exclude each other"),
            ("agents --speed codex deaf", "`--speed` has a script of its own"),
            ("bench json --traces runs", "`bench json` takes no `--traces`"),
        ] {
            let error = parsed(line).expect_err(line);
            assert!(error.starts_with(why), "{line}: {error}");
        }
    }
}
