//! Plays scenarios under the SDKs of agent frameworks, and compares their spans with the runs themselves.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::environment::Environment;
use crate::fleet::Table;
use crate::machine::{self, Machine, cargo, program};
use crate::python;
use crate::step::Outcome;

/// The scenarios, the SDKs and their pinned versions.
const TESTS: &str = "adapters/python/tests/telemetry";

/// The environments, and the SDKs that `play.py` plays in each. One SDK may write its spans in two ways.
const SDKS: [(&str, &[&str]); 6] = [
    ("pydantic_ai", &["pydantic_ai"]),
    ("strands", &["strands", "strands_latest"]),
    ("openai_agents", &["openai_agents"]),
    ("langchain", &["langchain"]),
    ("google_adk", &["google_adk", "google_adk_legacy"]),
    ("langfuse", &["langfuse"]),
];

/// The program, and the example that prints the events of a file, in the target folder.
const UNSTUCK: &str = "target/debug/unstuck";
const EVENTS: &str = "target/debug/examples/events";

/// The folder for the environments, the spans and the findings.
const FOLDER: &str = "target/fleet/sdks";

/// Plays all scenarios, to files and to the receiver, and compares.
pub(super) fn run(_: Machine, table: &mut Table) -> Outcome {
    let wheel = match python::built_wheel(python::Profile::Dev) {
        Ok(wheel) => wheel,
        Err(outcome) => return outcome,
    };
    programs()
        .and_then(|| each(|(name, _)| installed(name, &wheel)))
        .and_then(|| match Receiver::start() {
            Ok(receiver) => {
                let played = each(|(name, sdks)| played(name, sdks, &receiver.address));
                receiver.stop().and_then(|| played)
            }
            Err(why) => Outcome::Failed(why),
        })
        .and_then(|| compared(table))
}

/// Builds the programs that read spans.
fn programs() -> Outcome {
    let unstuck = ["build", "--package", "unstuck-cli", "--bin", "unstuck"];
    let events = ["build", "--package", "unstuck-trace", "--example", "events"];
    Outcome::of(cargo().args(unstuck)).and_then(|| Outcome::of(cargo().args(events)))
}

/// Runs `work` for each environment until one fails.
fn each(work: impl Fn((&str, &[&str])) -> Outcome) -> Outcome {
    SDKS.into_iter().fold(Outcome::Passed, |before, sdk| before.and_then(|| work(sdk)))
}

/// Installs the SDK of one environment, and the wheel.
fn installed(name: &str, wheel: &str) -> Outcome {
    let requirements = format!("{TESTS}/requirements-{name}.txt");
    environment(name)
        .make()
        .and_then(|| environment(name).install(["--requirement", &requirements]))
        .and_then(|| environment(name).install(["--no-deps", "--force-reinstall", wheel]))
}

/// Plays the scenarios under these SDKs.
fn played(name: &str, sdks: &[&str], receiver: &str) -> Outcome {
    let mut play = environment(name).python();
    play.arg(format!("{TESTS}/play.py")).args(["--receiver", receiver]).arg(folder("runs"));
    Outcome::of(play.args(sdks).env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Compares the calls and the findings, and adds the result of each SDK to the table.
fn compared(table: &mut Table) -> Outcome {
    let (name, _) = SDKS[0];
    let mut compare = environment(name).python();
    compare
        .arg(format!("{TESTS}/compare.py"))
        .arg(folder("runs"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    compare.args([UNSTUCK, EVENTS]).arg(folder("findings.jsonl"));
    let (outcome, said) = Outcome::captured(compare);
    for (what, figure) in figures(&said) {
        table.add(format!("sdks: {what}"), figure);
    }
    outcome
}

/// Returns the figures among the lines of the program.
fn figures(said: &str) -> impl Iterator<Item = (&str, &str)> {
    said.lines().filter_map(|line| line.split_once('\t'))
}

fn environment(name: &str) -> Environment {
    Environment::new(folder(name))
}

/// Returns the file or folder `name` in the target folder.
fn folder(name: &str) -> PathBuf {
    machine::root().join(FOLDER).join(name)
}

/// A running `unstuck watch`.
struct Receiver {
    child: Child,
    /// The address, for example `http://127.0.0.1:4318`.
    address: String,
    /// Its other messages, which need a reader.
    _errors: Option<BufReader<ChildStderr>>,
}

impl Receiver {
    /// Starts it on a free port.
    fn start() -> Result<Self, String> {
        let findings = folder("findings.jsonl");
        // A file that does not exist is removed, too.
        let _ = fs::remove_file(&findings);
        let mut watch = program(machine::root().join(UNSTUCK));
        watch.args(["watch", "--otlp", "127.0.0.1:0", "--findings"]).arg(findings);
        let child = watch.stdin(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = child.map_err(|error| format!("{UNSTUCK}: {error}"))?;
        let mut errors = child.stderr.take().map(BufReader::new);
        let mut line = String::new();
        if let Some(errors) = &mut errors {
            errors.read_line(&mut line).map_err(|error| format!("{UNSTUCK}: {error}"))?;
        }
        match address(&line) {
            Some(address) => Ok(Self { address: address.to_owned(), child, _errors: errors }),
            None => Err(format!("`unstuck watch` does not say its address: {line}")),
        }
    }

    /// Ends it, after it has judged what still waited.
    fn stop(mut self) -> Outcome {
        let id = self.child.id().to_string();
        let ended = Outcome::of(Command::new("kill").arg(id));
        ended.and_then(|| match self.child.wait() {
            Ok(status) if status.success() => Outcome::Passed,
            Ok(status) => Outcome::Failed(format!("`unstuck watch` ended with {status}")),
            Err(error) => Outcome::Failed(format!("`unstuck watch`: {error}")),
        })
    }
}

/// Returns the address in the first line of `unstuck watch`.
fn address(line: &str) -> Option<&str> {
    let address = line.split_whitespace().find(|word| word.starts_with("http://"))?;
    address.strip_suffix("/v1/traces")
}

#[cfg(test)]
mod tests {
    use super::{address, figures};

    #[test]
    fn the_address_is_read_from_the_first_line() {
        let line = "watch: receives spans at http://127.0.0.1:4318/v1/traces";
        assert_eq!(address(line), Some("http://127.0.0.1:4318"));
        assert_eq!(address("watch: Address already in use"), None);
    }

    #[test]
    fn a_figure_is_a_line_with_a_tab() {
        let said = "strands-poll: same\nstrands\t12 of 12 the same\n";
        assert!(figures(said).eq([("strands", "12 of 12 the same")]));
    }
}
