//! Outputs of commands, made up: the same one again, with what is volatile and what little changes.

use std::iter;

/// What a command is, and the lines that it prints about a subject.
pub(crate) const COMMANDS: [fn(&mut Names, &mut Run) -> String; 10] =
    [tests, build, types, listing, service, commits, search, status, processes, install];

/// The output of `command` about the subject with this number, run for the `run`th time.
///
/// All that is stable follows from the command and the subject; of what is not, clock times and the
/// like differ from run to run, and a count or a line does now and then.
pub(crate) fn output(command: usize, subject: u64, run: u64) -> String {
    let seed = subject * 100 + u64::try_from(command).expect("few commands");
    COMMANDS[command](&mut Names(Random(seed)), &mut Run(Random(seed * 100 + run)))
}

/// What a subject consists of.
pub(crate) struct Names(Random);

/// What differs from run to run.
pub(crate) struct Run(Random);

/// `SplitMix64` (Steele, Lea and Flood, 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        let index = self.below(all.len().try_into().expect("a short list"));
        all[usize::try_from(index).expect("an index")]
    }
}

const FIRST: [&str; 12] = [
    "cart", "user", "order", "price", "tax", "mail", "stock", "login", "page", "image", "report",
    "cache",
];
const SECOND: [&str; 12] = [
    "load", "total", "merge", "parse", "index", "render", "delete", "check", "store", "update",
    "query", "round",
];

impl Names {
    fn name(&mut self) -> String {
        format!("{}_{}", self.0.of(&FIRST), self.0.of(&SECOND))
    }

    fn number(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    fn lines(&mut self, least: u64, mut line: impl FnMut(&mut Self) -> String) -> Vec<String> {
        let count = least + self.0.below(8);
        (0..count).map(|_| line(self)).collect()
    }
}

impl Run {
    fn time(&mut self) -> String {
        format!("{:02}:{:02}:{:02}", self.0.below(24), self.0.below(60), self.0.below(60))
    }

    fn seconds(&mut self) -> String {
        format!("{}.{:02}s", self.0.below(9), self.0.below(100))
    }

    fn number(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    fn commit(&mut self) -> String {
        format!("{:03x}c{:04x}", self.0.below(0x1000), self.0.below(0x10000))
    }

    /// The lines, of which one may be missing, or be said again in other words.
    fn changed(&mut self, mut lines: Vec<String>) -> String {
        let at = usize::try_from(self.0.below(lines.len() as u64)).expect("an index");
        match self.0.below(4) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, format!("warning: {} is slow", self.0.of(&FIRST))),
            _ => {}
        }
        lines.join("\n") + "\n"
    }
}

fn tests(names: &mut Names, run: &mut Run) -> String {
    let failed = names.name();
    let line = names.number(400);
    let lines = names
        .lines(6, |names| format!("tests/test_{}.py::test_{} PASSED", names.name(), names.name()));
    format!(
        "===== test session starts =====\nplatform linux -- Python 3.12.1, pytest-8.0.0\ncollected \
         {} items\n\n{}E   AssertionError: {failed}() returned {} and not {line}\ntests/test_{failed}.py:{line}: \
         AssertionError\n===== 1 failed, {} passed in {} =====\n",
        lines.len() + 1,
        run.changed(lines.clone()),
        run.number(50),
        lines.len(),
        run.seconds(),
    )
}

fn build(names: &mut Names, run: &mut Run) -> String {
    let lines = names.lines(8, |names| {
        format!("   Compiling {} v0.{}.{}", names.name(), names.number(20), names.number(9))
    });
    let (wrong, line) = (names.name(), names.number(900));
    format!(
        "{}error[E0425]: cannot find value `{wrong}` in this scope\n  --> src/{wrong}.rs:{line}:9\n   |\n{line} \
         |     {wrong}(items)\n   |     ^^^^ not found in this scope\n\nerror: could not compile \
         after {}\n",
        run.changed(lines),
        run.seconds()
    )
}

fn types(names: &mut Names, run: &mut Run) -> String {
    let lines = names.lines(4, |names| {
        format!(
            "src/{}.ts({},{}): error TS2339: Property '{}' does not exist on type '{}'.",
            names.name(),
            names.number(300),
            names.number(80),
            names.name(),
            names.name()
        )
    });
    let count = lines.len();
    format!("[{}] File change detected.\n{}Found {count} errors.\n", run.time(), run.changed(lines))
}

fn listing(names: &mut Names, run: &mut Run) -> String {
    let date = format!("May {}", run.number(28) + 1);
    let lines = names.lines(8, |names| {
        let (size, name) = (names.number(90_000), names.name());
        format!("-rw-r--r-- 1 dev dev {size:>6} {date} 14:38 {name}.rs")
    });
    format!("total {}\n{}", names.number(900), run.changed(lines))
}

fn service(names: &mut Names, run: &mut Run) -> String {
    let lines = names.lines(8, |names| {
        let (name, other, number) = (names.name(), names.name(), names.number(500));
        format!("INFO {name}: {other} took its turn, {number} rows")
    });
    let pid = 1000 + run.number(8000);
    let lines = lines.iter().map(|line| format!("{} app[{pid}]: {line}", run.time())).collect();
    run.changed(lines)
}

fn commits(names: &mut Names, run: &mut Run) -> String {
    let lines = names.lines(6, |names| format!("{}: {} again", names.name(), names.name()));
    let lines = lines.iter().map(|line| format!("{} {line}", run.commit())).collect();
    run.changed(lines)
}

fn search(names: &mut Names, run: &mut Run) -> String {
    let sought = names.name();
    let lines = names.lines(5, |names| {
        let (file, line, other) = (names.name(), names.number(700), names.name());
        format!("src/{file}.rs:{line}:    let {other} = {sought}(&items);")
    });
    run.changed(lines)
}

fn status(names: &mut Names, run: &mut Run) -> String {
    let name = names.name();
    let fields = names.lines(5, |names| format!(" \"{}\": {},", names.name(), names.number(3000)));
    format!(
        "{{\n \"job\": \"{name}\",\n \"updated_at\": \"2026-05-28T{}Z\",\n \"progress\": {},\n{}}}\n",
        run.time(),
        run.number(100),
        run.changed(fields)
    )
}

fn processes(names: &mut Names, run: &mut Run) -> String {
    let head = "  PID TTY          TIME CMD".to_owned();
    let lines = names.lines(6, |names| format!("/usr/bin/{} --{}", names.name(), names.name()));
    let rows = lines.iter().map(|line| {
        format!("pid {:>5} pts/0    00:00:{:02} {line}", run.number(30_000), run.number(60))
    });
    let rows = iter::once(head).chain(rows).collect();
    run.changed(rows)
}

fn install(names: &mut Names, run: &mut Run) -> String {
    let lines = names.lines(4, |names| {
        format!(
            "npm WARN deprecated {}@{}.0.0: use {}",
            names.name(),
            names.number(9),
            names.name()
        )
    });
    let count = names.number(900);
    format!(
        "{}added {count} packages, and audited {} packages in {}\nA complete log of this run can be found \
         in: /tmp/npm-{}/debug.log\n",
        run.changed(lines),
        count + 1,
        run.seconds(),
        run.commit()
    )
}
