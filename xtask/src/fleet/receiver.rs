//! Tests `unstuck watch` under load, after kills, and with hostile input.

mod sender;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::Table;
use crate::machine::{self, Machine, program};
use crate::step::Outcome;
use sender::{Connection, Traffic, Watching, gzip_bomb};

/// The folder for states and findings.
const FOLDER: &str = "target/fleet/receiver";

/// The dashboard and the alert rules.
const OPERATIONS: &str = "adapters/cli/operations";

/// The spans for the throughput, and the sessions that run at a time.
const SPANS: u64 = 200_000;
const SESSIONS: u64 = 200;

/// The simulated hours, and the new sessions of an hour with their spans.
const HOURS: u64 = 24;
const SESSIONS_AN_HOUR: u64 = 2000;
const SPANS_OF_SESSION: u64 = 24;

/// The requests of the run that is killed, and the number of kills.
const REQUESTS: u64 = 300;
const KILLS: u64 = 25;

/// The most memory that hostile input may cost, in MiB.
const HOSTILE_MAX: u64 = 400;

/// A test of the program at a path.
type Test = fn(&Path, &mut Table) -> Result<(), String>;

const TESTS: [Test; 4] = [throughput, day, kills, hostile];

/// Runs each test on the program as users get it.
pub(super) fn run(machine: Machine, table: &mut Table) -> Outcome {
    let unstuck = match built() {
        Ok(unstuck) => unstuck,
        Err(outcome) => return outcome,
    };
    if let Err(error) = fs::create_dir_all(folder("")) {
        return Outcome::Failed(format!("{FOLDER}: {error}"));
    }
    for test in TESTS {
        if let Err(why) = test(&unstuck, table) {
            return Outcome::Failed(why);
        }
    }
    machine::ready("promtool", "prometheus", machine).and_then(|| prometheus(&unstuck))
}

/// Builds the program with optimisation.
fn built() -> Result<PathBuf, Outcome> {
    let mut build = machine::cargo();
    build.args(["build", "--release", "--locked", "--package", "unstuck-cli", "--bin", "unstuck"]);
    match Outcome::of(&mut build) {
        Outcome::Passed => Ok(machine::root().join("target/release/unstuck")),
        outcome => Err(outcome),
    }
}

/// Returns a path in the folder.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// Returns a path in the folder where no file exists.
fn fresh(name: &str) -> PathBuf {
    let path = folder(name);
    // Only one of them exists.
    let _ = fs::remove_dir_all(&path);
    let _ = fs::remove_file(&path);
    path
}

/// Measures the spans that one core takes in and judges, by the time of the process on the processor.
fn throughput(unstuck: &Path, table: &mut Table) -> Result<(), String> {
    for (label, is_stored) in [("in memory", false), ("with --state", true)] {
        let findings = fresh("load.jsonl");
        let mut options = ["--settle", "1", "--findings"].map(Into::into).to_vec();
        options.push(findings.into_os_string());
        if is_stored {
            options.extend(["--state".into(), fresh("load").into_os_string()]);
        }
        let watching = Watching::start(unstuck, &options)?;
        let mut traffic = Traffic::new(SESSIONS);
        let requests: Vec<_> = (0..SPANS / 500).map(|_| traffic.request(500)).collect();
        let bytes: usize = requests.iter().map(Vec::len).sum();
        let begin = Instant::now();
        let mut connection = watching.connection()?;
        for request in &requests {
            connection.export(request)?;
        }
        let elapsed = begin.elapsed();
        judged(&mut connection)?;
        let processor = watching.processor_time()?;
        let rate =
            |time: Duration| (SPANS * 1000) / u64::try_from(time.as_millis()).unwrap_or(1).max(1);
        table.add(format!("spans a second of the processor, {label}"), rate(processor).to_string());
        table.add(format!("spans a second of the clock, {label}"), rate(elapsed).to_string());
        table.add(format!("bytes of a span, {label}"), (bytes as u64 / SPANS).to_string());
        watching.end()?;
    }
    Ok(())
}

/// Waits until the calls of the throughput are judged.
fn judged(connection: &mut Connection) -> Result<(), String> {
    let rounds = (0..SPANS / SESSIONS).filter(|round| Traffic::is_call(*round)).count() as u64;
    let line = format!("unstuck_calls_total{{tool=\"bash\"}} {}\n", rounds * SESSIONS);
    let mut metrics = String::new();
    for _ in 0..600 {
        metrics = connection.metrics()?;
        if metrics.contains(&line) {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err(format!("within a minute, the metrics have no {line:?}:\n{metrics}"))
}

/// Sends a day of traffic by the clock of the spans, and watches the memory.
fn day(unstuck: &Path, table: &mut Table) -> Result<(), String> {
    let options = ["--clock", "spans", "--findings"].map(Into::into);
    let findings = fresh("day.jsonl").into_os_string();
    let state = ["--state".into(), fresh("day").into_os_string()];
    let options = [&options[..], &[findings], &state].concat();
    let watching = Watching::start(unstuck, &options)?;
    let mut connection = watching.connection()?;
    let mut traffic = Traffic::new(SESSIONS_AN_HOUR);
    let mut memory = Vec::new();
    for hour in 0..HOURS {
        traffic.begin_sessions(hour);
        for request in 0..SPANS_OF_SESSION {
            traffic.at(hour * 3600 + request * 3600 / SPANS_OF_SESSION);
            for _ in 0..SESSIONS_AN_HOUR / 500 {
                connection.export(&traffic.request(500))?;
            }
        }
        memory.push(watching.memory("VmRSS")?);
    }
    let (early, late) = (memory.iter().take(8).max(), memory.iter().skip(16).max());
    let (Some(early), Some(late)) = (early, late) else { return Err("no hour".to_owned()) };
    table.add("memory in the first 8 of 24 hours, MiB", (early >> 10).to_string());
    table.add("memory in the last 8 of 24 hours, MiB", (late >> 10).to_string());
    table.add("spans in 24 hours", (HOURS * SESSIONS_AN_HOUR * SPANS_OF_SESSION).to_string());
    watching.end()?;
    if *late > early + early / 4 {
        return Err(format!("the memory grows: {memory:?} KiB"));
    }
    Ok(())
}

/// Kills the program at random moments, and compares the findings with a run without kills.
fn kills(unstuck: &Path, table: &mut Table) -> Result<(), String> {
    let whole = findings(unstuck, "whole", 0)?;
    let killed = findings(unstuck, "killed", KILLS)?;
    table.add(
        format!("findings without a kill, and with {KILLS}"),
        format!("{}, {}", whole.len(), killed.len()),
    );
    if whole.is_empty() || whole != killed {
        return Err("a kill changes the findings: compare whole.jsonl and killed.jsonl".to_owned());
    }
    Ok(())
}

/// Returns the sorted lines of a run that is killed so often.
fn findings(unstuck: &Path, name: &str, kills: u64) -> Result<Vec<String>, String> {
    let file = fresh(&format!("{name}.jsonl"));
    let options = ["--clock", "spans", "--settle", "1", "--findings"].map(Into::into);
    let paths = [file.clone().into_os_string(), "--state".into(), fresh(name).into_os_string()];
    let options = [&options[..], &paths].concat();
    let mut watching = Watching::start(unstuck, &options)?;
    let mut traffic = Traffic::new(40);
    let mut killed = 0;
    for number in 0..REQUESTS {
        traffic.at(number);
        let request = traffic.request(40);
        if killed < kills && number * kills / REQUESTS >= killed {
            // The kill comes at another moment of the request each time.
            killed += 1;
            watching.kill_during(&request, Duration::from_micros(killed * 137 % 3000))?;
            watching = Watching::start(unstuck, &options)?;
        }
        // A collector sends a request again that was not answered.
        watching.connection()?.export(&request)?;
    }
    for end in [1_000_000, 2_000_000] {
        traffic.at(end);
        watching.connection()?.export(&traffic.request(1))?;
    }
    watching.end()?;
    let text = fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    Ok(lines)
}

/// Sends what an attacker or a broken program would.
fn hostile(unstuck: &Path, table: &mut Table) -> Result<(), String> {
    let options = ["--findings".into(), fresh("hostile.jsonl").into_os_string()];
    let watching = Watching::start(unstuck, &options)?;
    let bomb = gzip_bomb(&folder("bomb.gz"))?;
    let gzip = "Content-Encoding: gzip\r\n";
    let mut traffic = Traffic::new(1);
    let large = traffic.with_result(&"x".repeat(15 << 20));
    let spans = traffic.request(150_000);
    let long = vec![0; 21 << 20];
    for (what, headers, body, statuses) in [
        ("a gzip bomb of 1 GiB", gzip, &bomb, &[413][..]),
        ("a result of 15 MiB", "", &large, &[200]),
        ("a body of 21 MiB", "", &long, &[413]),
        ("150,000 spans", "", &spans, &[200, 413]),
        ("gzip that is none", gzip, &large, &[400]),
    ] {
        let begin = Instant::now();
        let status = watching.connection()?.post(headers, body)?;
        table.add(what, format!("{status} after {} ms", begin.elapsed().as_millis()));
        if !statuses.contains(&status) {
            return Err(format!("{what}: status {status}, not {statuses:?}"));
        }
    }
    let refused = (0..2000).filter(|seed| {
        let body: Vec<u8> = sender::noise(*seed).take(300).collect();
        watching
            .connection()
            .and_then(|mut it| it.post("", &body))
            .is_ok_and(|status| status == 400)
    });
    table.add("bodies of noise that are refused", format!("{} of 2000", refused.count()));
    let slow = watching.slow_clients(200)?;
    let begin = Instant::now();
    watching.connection()?.export(&traffic.request(10))?;
    table.add("a request beside 200 slow clients", format!("{} ms", begin.elapsed().as_millis()));
    drop(slow);
    let peak = watching.memory("VmHWM")? >> 10;
    table.add("peak of memory under hostile input, MiB", peak.to_string());
    watching.end()?;
    if peak > HOSTILE_MAX {
        return Err(format!("hostile input takes {peak} MiB, and {HOSTILE_MAX} are allowed"));
    }
    Ok(())
}

/// Checks the metrics, the alert rules and their tests with Prometheus's own program.
fn prometheus(unstuck: &Path) -> Outcome {
    let metrics = || {
        let options = ["--findings".into(), fresh("metrics.jsonl").into_os_string()];
        let watching = Watching::start(unstuck, &options)?;
        watching.connection()?.export(&Traffic::new(9).request(500))?;
        let text = watching.connection()?.metrics()?;
        watching.end()?;
        let path = folder("metrics.txt");
        fs::write(&path, text).map_err(|error| error.to_string())?;
        fs::File::open(&path).map_err(|error| error.to_string())
    };
    let checked = match metrics() {
        Ok(file) => status(program("promtool").args(["check", "metrics"]).stdin(file)),
        Err(why) => Outcome::Failed(why),
    };
    let promtool = |words: [&str; 3]| {
        let mut promtool = program("promtool");
        Outcome::of(promtool.args(words).current_dir(machine::root().join(OPERATIONS)))
    };
    checked
        .and_then(|| promtool(["check", "rules", "alerts.yml"]))
        .and_then(|| promtool(["test", "rules", "alerts.test.yml"]))
}

/// Runs a command with its own standard input.
fn status(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => Outcome::Failed(format!("`promtool check metrics` ended with {status}")),
        Err(error) => Outcome::Failed(format!("`promtool` did not start: {error}")),
    }
}
