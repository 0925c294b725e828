//! Instructions, counted by valgrind's callgrind. The number is the same every time.

use std::env;
use std::io;
use std::process::{Command, Stdio};

use clap::ValueEnum;

/// The reason in a report if [`can_be_counted`] returns false.
pub const NOT_COUNTED: &str = "instructions: valgrind is not installed";

/// Returns whether valgrind is installed.
pub fn can_be_counted() -> bool {
    let mut probe = Command::new("valgrind");
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Returns the instructions for one turn of `count BENCHMARK WORDS`, a command of this program.
///
/// Runs the command twice, with `turns` and with twice as many. The difference does not contain the
/// instructions of the program's start.
///
/// # Errors
///
/// If valgrind does not start, or ends without a count.
pub fn per_turn(benchmark: &str, words: &[String], turns: u16) -> io::Result<f64> {
    let few = counted(benchmark, words, turns)?;
    let many = counted(benchmark, words, 2 * turns)?;
    let more = u32::try_from(many.saturating_sub(few)).unwrap_or(u32::MAX);
    Ok(f64::from(more) / f64::from(turns))
}

fn counted(benchmark: &str, words: &[String], turns: u16) -> io::Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(env::current_exe()?).args(["count", benchmark]).args(words).arg(turns.to_string());
    let output = command.stdin(Stdio::null()).output()?;
    let log = String::from_utf8_lossy(&output.stderr);
    total(&log).filter(|_| output.status.success()).ok_or_else(|| {
        io::Error::other(format!("valgrind ended with {} and no count:\n{log}", output.status))
    })
}

/// Returns the spelling of a value on the command line.
pub fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|word| word.get_name().to_owned()).unwrap_or_default()
}

/// Returns the number of instructions in callgrind's log.
fn total(log: &str) -> Option<u64> {
    let count = log.lines().find_map(|line| line.split_once("Collected :"));
    count?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Contender;

    #[test]
    fn the_total_is_read_from_the_closing_lines() {
        for (log, expected) in [
            ("==7== Events    : Ir\n==7== Collected : 123456\n==7==\n", Some(123_456)),
            ("==7== Collected : \n", None),
            ("valgrind: no such file\n", None),
        ] {
            assert_eq!(total(log), expected, "{log}");
        }
    }

    #[test]
    fn values_are_spelled_as_the_command_line_reads_them() {
        for contender in Contender::value_variants() {
            assert_eq!(Contender::from_str(&word(contender), false), Ok(*contender));
        }
    }
}
