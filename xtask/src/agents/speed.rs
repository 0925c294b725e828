//! The time that the hooks add to a call.

use std::fs;

use super::client::Prompt;
use super::run::Run;

/// The script, and the name of the run.
const SCRIPT: &str = "speed";

/// How many runs are made without hooks, and with them, in turns.
const ROUNDS: usize = 3;

/// Prints the median time from request to request, without hooks and with them.
///
/// # Errors
///
/// If the client does not run.
pub(super) fn measure(run: Run<'_>) -> Result<bool, String> {
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (has_hooks, times) in [false, true].into_iter().zip(&mut times) {
            let run = Run { has_hooks, ..run };
            let place = run.prepared(SCRIPT, SCRIPT, &[&[]])?;
            let text = format!("Please do the job of script {SCRIPT}.");
            run.prompt(&place, &Prompt { text, ..Prompt::default() }, None)?;
            let log = fs::read_to_string(place.logs().join("times.txt"));
            times.extend(gaps(&log.unwrap_or_default()));
        }
    }
    match times.map(median) {
        [Some(bare), Some(hooked)] => {
            let added = hooked.saturating_sub(bare);
            println!(
                "{:<12} {bare} ms without hooks, {hooked} ms with: {added} ms a call",
                run.client.name
            );
            Ok(true)
        }
        _ => Err(format!("{} made no calls", run.client.name)),
    }
}

/// The times between the requests of one run.
fn gaps(text: &str) -> Vec<u64> {
    let times: Vec<u64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    times.windows(2).filter_map(|pair| pair[1].checked_sub(pair[0])).collect()
}

fn median(mut times: Vec<u64>) -> Option<u64> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_the_gaps() {
        assert_eq!(gaps("100\n150\n400\n"), [50, 250]);
        assert_eq!(median(gaps("0\n10\n30\n60\n")), Some(20));
        assert_eq!(median(gaps("5\n")), None);
    }
}
