//! Measures the engine's memory, code, stack and instructions, and compares them with budgets.

mod budgets;

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

use clap::Args;
use serde::Deserialize;

use crate::bare::{self, FAST};
use crate::checks;
use crate::machine::{self, is_ci};
use crate::microcontroller::{self, LARGE, built, emulator};
use crate::step::{Done, Failure, Steps, failed, shell, words};
use crate::symbols::Program;
use crate::toolchain::{EMULATED, TARGETS, Toolchain};

use budgets::Budgets;

/// Measure memory, code, stack and instructions.
///
/// Prints the size of values, the code of the programs in `benches/bare`, the deepest stack of each event and the
/// instructions of a call: on this machine, on five microcontrollers, under QEMU and under valgrind.
#[derive(Args, Clone, Debug)]
pub(crate) struct Request {
    /// Write the figures, with a little room, to `benches/bare/budgets.toml`, from which the table of sizes in the
    /// documentation is made
    #[arg(long)]
    pub(crate) record: bool,
    /// Compare all figures with the budgets. `cargo xtask test footprint` does so for the emulated microcontroller
    #[arg(long, conflicts_with_all = ["record", "targets"])]
    pub(crate) check: bool,
    /// Measure this microcontroller only; may be repeated
    #[arg(long = "target", value_name = "TARGET", value_parser = TARGETS)]
    pub(crate) targets: Vec<String>,
}

/// The number of calls over which instructions are counted on this machine. A second run makes twice as many.
const CALLS: u64 = 1000;

/// The name of this machine, and its processor, which the budgets of code and instructions are for.
const HOST: &str = "host";
const ARCHITECTURE: &str = "x86_64";

/// The linked programs for this machine that are rows of the table.
const HOSTED: [(&str, &str); 1] = [("every entry of the engine", "entries")];

/// The program without contents.
const EMPTY: &str = "empty";

/// The linked programs for microcontrollers: the row of the table, the name of the program, and the program whose
/// size is subtracted. Their contents are described in `benches/bare/src/parts.rs`.
const LINKED: [(&str, &str, &str); 8] = [
    ("engine", "engine", EMPTY),
    ("engine, JSON", "json", EMPTY),
    ("engine, JSON, masked results", "masked", EMPTY),
    ("engine, recipe", "recipe", EMPTY),
    ("engine, recipe, groups", "groups", EMPTY),
    ("the README's program", "readme", EMPTY),
    ("nudge text adds", "nudge", "engine"),
    ("save and restore add", "checkpoint", "engine"),
];

/// The programs for the emulator, each with the kind of figure that it prints.
const RUN: [(&str, Section); 3] = [
    ("sizes", Section::Memory),
    ("stack", Section::Stack),
    ("instructions", Section::Instructions),
];

/// The widths of the column of names and of a column of numbers.
const NAMES: usize = 44;
const NUMBERS: usize = 12;

/// A kind of figure, in the order of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Section {
    Memory,
    Code,
    Symbols,
    Stack,
    Instructions,
}

impl Section {
    const ALL: [Self; 5] =
        [Self::Memory, Self::Code, Self::Symbols, Self::Stack, Self::Instructions];

    /// Returns the name in files and output, and a description of the figures.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Memory => ("memory", "bytes of a value, by `size_of`"),
            Self::Code => (
                "code",
                "bytes of code and constants: opt-level \"s\", LTO, without what an empty program has",
            ),
            Self::Symbols => ("symbols", "symbols of panics and allocators in those programs"),
            Self::Stack => {
                ("stack", "bytes of stack of an event, at the most of all that are tried")
            }
            Self::Instructions => {
                ("instructions", "instructions of a call and its outcome, on average")
            }
        }
    }
}

/// The name and the amount of each thing that was measured, in the order of the table.
type Rows = Vec<(String, u64)>;

/// Figures of one kind, from one machine.
#[derive(Clone, Debug)]
struct Column<'t> {
    section: Section,
    /// The machine: [`HOST`], or the name of a target.
    place: &'t str,
    rows: Rows,
}

/// Prints every figure, and records or checks the figures if asked to.
pub(crate) fn run(request: &Request) -> Done {
    let targets: Vec<_> = match &request.targets[..] {
        [] => TARGETS.into(),
        some => some.iter().map(String::as_str).collect(),
    };
    let ready = || {
        checks::ready("footprint")?;
        machine::tools(&targets.join(" "), is_ci())
    };
    if request.check {
        let mut steps = Steps::default();
        steps.run("lints", bare::lints);
        steps.run("footprint", || ready().and_then(|()| checked(&targets)));
        return steps.finish();
    }
    ready()?;
    let columns = measured(&targets)?;
    print!("{}", text(&columns));
    if request.record { budgets::record(&columns) } else { Ok(()) }
}

/// Compares the figures of this machine and of the emulated microcontroller with their budgets, as a step of
/// `cargo xtask test`. Each of the others would take another minute.
pub(crate) fn check() -> Done {
    checked(&[EMULATED])
}

/// Compares every figure with its budget.
///
/// Figures from another compiler than the budgets' are printed and not compared, and a line says so.
fn checked(targets: &[&str]) -> Done {
    budgeted()?;
    let columns = measured(targets)?;
    print!("{}", text(&columns));
    let budgets = Budgets::read()?;
    let mut places: BTreeSet<_> = columns.iter().map(|column| column.place).collect();
    places.retain(|place| {
        let (here, recorded) = (compiler(place), budgets.compilers.get(*place).cloned());
        let is_compared = here == recorded;
        if !is_compared {
            let [here, recorded] = [here, recorded].map(|name| name.unwrap_or("none".into()));
            println!(
                "footprint not compared: {place}: built by {here}, the budgets are for {recorded}"
            );
        }
        is_compared
    });
    let misses = budgets.misses(&columns, &places);
    for miss in &misses {
        println!("{miss}");
    }
    let Some(first) = misses.first() else { return Ok(()) };
    failed(format!("{first} ({} such figures)", misses.len()))
}

/// Returns the compiler that builds the programs of `place`, if there is one.
fn compiler(place: &str) -> Option<String> {
    let toolchain = if place == HOST { Toolchain::Installed } else { Toolchain::find(place)? };
    toolchain.compiler()
}

/// Checks that there are budgets for this machine.
fn budgeted() -> Done {
    bare::readable()?;
    let here = env::consts::ARCH;
    if here == ARCHITECTURE {
        return Ok(());
    }
    let why = format!("the budgets of code on a host are for {ARCHITECTURE}, this is {here}");
    Err(Failure::LeftOut(why))
}

/// Measures `targets` and this machine, unless it has no budgets.
fn measured<'t>(targets: &[&'t str]) -> Done<Vec<Column<'t>>> {
    let mut columns = Vec::new();
    if let Err(why) = budgeted() {
        eprintln!("this machine is left out: {why}");
    } else {
        columns.extend(on_host()?);
    }
    for target in targets {
        columns.extend(linked(target)?);
    }
    if targets.contains(&EMULATED) {
        let names = RUN.map(|(name, _)| name);
        said(microcontroller::cargo("build", EMULATED)?.args(bare::programs(&names).split(' ')))?;
        for (name, section) in RUN {
            // The emulator's clock advances one nanosecond per instruction.
            let program = format!("{} -icount shift=0", built(EMULATED, name));
            let said = said(&mut shell(&format!("{} {program}", emulator(LARGE))))?;
            columns.push(Column { section, place: EMULATED, rows: rows(&said)? });
        }
    }
    Ok(columns)
}

/// Measures sizes of values, code, and instructions counted by valgrind.
fn on_host() -> Done<[Column<'static>; 3]> {
    let count = bare::path("count", FAST);
    said(&mut shell(&bare::build(&["count"], FAST)))?;
    let sizes = said(&mut shell(&format!("{count} sizes")))?;

    let small = "small";
    said(&mut shell(&bare::build(&HOSTED.map(|(_, name)| name), small)))?;
    let code = HOSTED
        .map(|(what, name)| Ok((what.to_owned(), Program::read(&bare::path(name, small))?.size)));

    let works = said(&mut shell(&format!("{count} works")))?;
    // Of two runs, the second makes twice as many calls. The difference is without the start of the program.
    let instructions = works.lines().map(|work| {
        let more = counted(&count, work, 2 * CALLS)?.saturating_sub(counted(&count, work, CALLS)?);
        Ok((work.to_owned(), more / CALLS))
    });
    let column = |section, rows| Column { section, place: HOST, rows };
    Ok([
        column(Section::Memory, rows(&sizes)?),
        column(Section::Code, code.into_iter().collect::<Done<_>>()?),
        column(Section::Instructions, instructions.collect::<Done<_>>()?),
    ])
}

/// Returns the instructions of `calls` calls, including the start of the program.
fn counted(count: &str, work: &str, calls: u64) -> Done<u64> {
    let valgrind = "valgrind --tool=callgrind --callgrind-out-file=/dev/null";
    let said = said(&mut shell(&format!("{valgrind} {count} '{work}' {calls} 2>&1")))?;
    let total = said.lines().find_map(|line| line.split_once("Collected :"));
    let total = total.and_then(|(_, total)| total.trim().parse().ok());
    total.map_or_else(|| failed(format!("valgrind has no count of `{work}`")), Ok)
}

/// Measures the code for `target`, and counts its forbidden symbols.
fn linked(target: &str) -> Done<[Column<'_>; 2]> {
    let mut build = microcontroller::cargo("build", target)?;
    let names = LINKED.map(|(_, name, _)| name);
    let programs = bare::programs(&[&[EMPTY], &names[..]].concat());
    if target != EMULATED {
        // The default is what the programs for the emulator need. They share the libraries with these.
        build.arg("--no-default-features");
    }
    said(build.args(programs.split(' ')))?;
    let read = |name| Program::read(&built(target, name));
    let (mut code, mut symbols) = (Rows::new(), Rows::new());
    for (what, name, without) in LINKED {
        let program = read(name)?;
        let flaws = program.flaws();
        for (flaw, symbol) in &flaws {
            eprintln!("{target}, {what}: `{symbol}` {flaw}");
        }
        code.push((what.to_owned(), program.size.saturating_sub(read(without)?.size)));
        symbols.push((what.to_owned(), flaws.len() as u64));
    }
    let column = |section, rows| Column { section, place: target, rows };
    Ok([column(Section::Code, code), column(Section::Symbols, symbols)])
}

/// Runs `command`, and returns its standard output. Of a success nothing is shown.
fn said(command: &mut Command) -> Done<String> {
    let output = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    eprint!("{said}{}", String::from_utf8_lossy(&output.stderr));
    failed(format!("`{}` ended with {}", words(command), output.status))
}

/// Parses lines of a name, a tab and a number.
fn rows(lines: &str) -> Done<Rows> {
    let row = |line: &str| {
        let (what, amount) = line.split_once('\t')?;
        Some((what.to_owned(), amount.trim().parse().ok()?))
    };
    let rows: Option<Rows> = lines.lines().map(row).collect();
    rows.filter(|rows| !rows.is_empty()).ok_or_else(|| {
        eprint!("{lines}");
        Failure::Failed("a program should have printed figures and nothing else".into())
    })
}

/// Returns a table for each section that was measured, with a column for each machine.
fn text(columns: &[Column<'_>]) -> String {
    let of_section = |section| {
        let columns = columns.iter().filter(|column| column.section == section).collect::<Vec<_>>();
        if columns.is_empty() { String::new() } else { table(section, &columns) }
    };
    Section::ALL.map(of_section).concat()
}

fn table(section: Section, columns: &[&Column<'_>]) -> String {
    let (name, about) = section.words();
    let places = columns.iter().map(|column| format!("{:>NUMBERS$}", short(column.place)));
    let mut table = format!("{name}: {about}\n{:NAMES$}{}\n", "", places.collect::<String>());
    let mut names = Vec::new();
    for (what, _) in columns.iter().flat_map(|column| &column.rows) {
        if names.contains(&what) {
            continue;
        }
        names.push(what);
        let amount = |column: &&Column<'_>| {
            let row = column.rows.iter().find(|(name, _)| name == what);
            let amount = row.map_or_else(|| "–".to_owned(), |(_, amount)| grouped(*amount));
            format!("{amount:>NUMBERS$}")
        };
        let amounts = columns.iter().map(amount).collect::<String>();
        // Writing to a `String` cannot fail.
        let _ = writeln!(table, "  {what:<0$}{amounts}", NAMES - 2);
    }
    table + "\n"
}

/// Shortens the name of a target.
fn short(place: &str) -> String {
    place.replace("-unknown-none-elf", "").replace("-none-eabi", "")
}

/// Formats `number` with a comma before every three digits.
fn grouped(number: u64) -> String {
    if number < 1000 {
        return number.to_string();
    }
    format!("{},{:03}", grouped(number / 1000), number % 1000)
}
