//! Instructions, counted by valgrind's callgrind: the same number every time.

use std::env;
use std::io;
use std::process::{Command, Stdio};

use clap::ValueEnum;

/// What a report says in place of the numbers, where [`can_be_counted`] says no.
pub const NOT_COUNTED: &str = "instructions: valgrind is not installed";

/// Whether valgrind is here.
pub fn can_be_counted() -> bool {
    let mut probe = Command::new("valgrind");
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// The instructions that a program like this one takes for one turn of its command `count`.
///
/// Counts this very program twice, running `count WORDS TURNS` for `turns` and for twice as many:
/// what it takes to start falls away in the difference.
///
/// # Errors
///
/// If valgrind does not start, or ends without a count.
pub fn per_turn(words: &[String], turns: u16) -> io::Result<f64> {
    let few = counted(words, turns)?;
    let many = counted(words, 2 * turns)?;
    let more = u32::try_from(many.saturating_sub(few)).unwrap_or(u32::MAX);
    Ok(f64::from(more) / f64::from(turns))
}

fn counted(words: &[String], turns: u16) -> io::Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(env::current_exe()?).arg("count").args(words).arg(turns.to_string());
    let output = command.stdin(Stdio::null()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    total(&said).filter(|_| output.status.success()).ok_or_else(|| {
        io::Error::other(format!("valgrind ended with {} and no count:\n{said}", output.status))
    })
}

/// How the command line spells a value.
pub fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map(|word| word.get_name().to_owned()).unwrap_or_default()
}

/// The instructions in all, of what callgrind says when it ends.
fn total(said: &str) -> Option<u64> {
    let count = said.lines().find_map(|line| line.split_once("Collected :"));
    count?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contender::Contender;

    #[test]
    fn the_total_is_read_from_the_closing_lines() {
        for (said, expected) in [
            ("==7== Events    : Ir\n==7== Collected : 123456\n==7==\n", Some(123_456)),
            ("==7== Collected : \n", None),
            ("valgrind: no such file\n", None),
        ] {
            assert_eq!(total(said), expected, "{said}");
        }
    }

    #[test]
    fn values_are_spelled_as_the_command_line_reads_them() {
        for contender in Contender::value_variants() {
            assert_eq!(Contender::from_str(&word(contender), false), Ok(*contender));
        }
    }
}
