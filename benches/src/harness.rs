//! The harness of all benchmarks: peers take turns on the same work, and the first is the measure of the others.

use std::env;
use std::hint::black_box;
use std::io::{self, Error};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::report::{left_out, table};

/// A library, a program or a server, of this project or of others, that is ready to do the work of a round.
pub(crate) trait Peer {
    /// Returns the name in the table.
    fn name(&self) -> String;

    /// Does the work of a round. Returns an answer, which is the same every time.
    fn run(&self) -> io::Result<u32>;
}

/// A peer that needs nothing but a function.
pub(crate) struct Function {
    name: String,
    work: Box<dyn Fn() -> io::Result<u32>>,
}

impl Function {
    /// Creates a peer that does `work`, which may fail.
    pub(crate) fn failing(name: String, work: impl Fn() -> io::Result<u32> + 'static) -> Self {
        Self { name, work: Box::new(work) }
    }

    /// Creates a peer that does `work`.
    pub(crate) fn new(name: &str, work: impl Fn() -> u32 + 'static) -> Self {
        Self::failing(name.to_owned(), move || Ok(work()))
    }
}

impl Peer for Function {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&self) -> io::Result<u32> {
        (self.work)()
    }
}

/// An input, and the peers that work on it.
pub(crate) struct Contest<P = Function> {
    /// The name of the input.
    pub(crate) input: String,
    /// The number of events, documents or calls in a round. Times are for one of them.
    pub(crate) items: usize,
    /// The number of bytes in a round, or 0 if they do not matter.
    pub(crate) bytes: usize,
    /// The number of rounds.
    pub(crate) rounds: usize,
    /// The number of rounds in which instructions are counted, or 0 if they are not.
    pub(crate) counted: u16,
    /// The peers.
    pub(crate) peers: Vec<P>,
}

/// The times of one peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// The median time for an item, in nanoseconds.
    pub(crate) ns: f64,
    /// The median ratio to the first peer's time in the same round.
    pub(crate) ratio: f64,
}

impl<P: Peer> Contest<P> {
    /// Runs every peer once without timing, then all of them in turns, round by round.
    pub(crate) fn take_turns(&self) -> io::Result<Vec<Timing>> {
        let answers = self.peers.iter().map(Peer::run).collect::<io::Result<Vec<u32>>>()?;
        let mut times = vec![Vec::with_capacity(self.rounds); self.peers.len()];
        for _ in 0..self.rounds {
            for ((peer, answer), times) in self.peers.iter().zip(&answers).zip(&mut times) {
                let start = Instant::now();
                let again = black_box(peer.run()?);
                times.push(start.elapsed().as_secs_f64() * 1e9 / number(self.items));
                if again != *answer {
                    return Err(Error::other(format!("{} changes its answer", peer.name())));
                }
            }
        }
        let first = times.first().cloned().unwrap_or_default();
        let timing = |times: Vec<f64>| {
            let ratio =
                median(times.iter().zip(&first).map(|(time, first)| time / first).collect());
            Timing { ns: median(times), ratio }
        };
        Ok(times.into_iter().map(timing).collect())
    }
}

/// The contests of a benchmark by their number. Behind the last there are none.
pub(crate) type Contests = fn(usize) -> Option<Contest>;

/// Measures the contests of the benchmark `name`: times, and instructions and branch misses if valgrind is installed. A contest
/// without items is left out, because its input is absent.
pub(crate) fn measure(name: &str, contests: Contests) -> io::Result<()> {
    let can_be_counted = is_installed("valgrind");
    if !can_be_counted {
        left_out("instructions and branch misses", "valgrind is not installed");
    }
    let mut rows = Vec::new();
    for (place, contest) in (0..).map_while(contests).enumerate() {
        if contest.items == 0 {
            left_out(&contest.input, "they are not recorded beside the project");
            continue;
        }
        for (position, (peer, timing)) in
            contest.peers.iter().zip(contest.take_turns()?).enumerate()
        {
            let counted = (can_be_counted && contest.counted > 0)
                .then(|| per_round(name, [place, position], contest.counted))
                .transpose()?;
            let each = |count: fn(Counts) -> f64, parts, digits| {
                let counted =
                    counted.filter(|_| parts > 0).map(|counts| count(counts) / number(parts));
                counted.map_or_else(String::new, |count| format!("{count:.digits$}"))
            };
            rows.push(vec![
                contest.input.clone(),
                peer.name(),
                format!("{:.1}", timing.ns),
                format!("{:.2}", timing.ratio),
                each(|counts| counts.instructions, contest.items, 0),
                each(|counts| counts.misses, contest.items, 0),
                each(|counts| counts.instructions, contest.bytes, 1),
            ]);
        }
    }
    let headings =
        ["input", "by", "ns", "ratio", "instructions", "branch misses", "instructions/byte"];
    table(&headings, 2, rows);
    println!(
        "The ratio is the time divided by that of the first line of the input, in the same round. Branch misses are those \
         of\nvalgrind's model of a processor, which has a simpler predictor than today's."
    );
    Ok(())
}

/// Does the work of one peer in a contest `times` times, for valgrind to count. Returns the sum of the answers.
pub(crate) fn count(contests: Contests, [place, peer]: [usize; 2], times: u16) -> io::Result<u32> {
    let contest = contests(place);
    let peer = contest.as_ref().and_then(|contest| contest.peers.get(peer));
    let peer = peer.ok_or_else(|| Error::other("there is no such peer"))?;
    (0..times).try_fold(0_u32, |sum, _| Ok(sum.wrapping_add(peer.run()?)))
}

/// What valgrind counts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counts {
    instructions: f64,
    /// The branches that were predicted wrongly.
    misses: f64,
}

/// Returns the counts of a round of one peer: the difference between `rounds` and twice as many, which does not contain the
/// start of the program.
fn per_round(benchmark: &str, peer: [usize; 2], rounds: u16) -> io::Result<Counts> {
    let counted = |rounds: u16| -> io::Result<Counts> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--branch-sim=yes", "--callgrind-out-file=/dev/null"]);
        command.arg(env::current_exe()?).args(["count", benchmark]);
        command.args(peer.map(|number| number.to_string())).arg(rounds.to_string());
        let output = command.stdin(Stdio::null()).output()?;
        let log = String::from_utf8_lossy(&output.stderr);
        let total = total(&log).filter(|_| output.status.success());
        total.ok_or_else(|| Error::other(format!("valgrind ended without a count:\n{log}")))
    };
    let (twice, once) = (counted(2 * rounds)?, counted(rounds)?);
    let each = |count: fn(Counts) -> f64| (count(twice) - count(once)) / f64::from(rounds);
    Ok(Counts {
        instructions: each(|counts| counts.instructions),
        misses: each(|counts| counts.misses),
    })
}

/// Returns the counts in callgrind's log: instructions, conditional branches and their misses, indirect ones and theirs.
fn total(log: &str) -> Option<Counts> {
    let (_, counts) = log.lines().find_map(|line| line.split_once("Collected :"))?;
    let mut counts = counts.split_whitespace().map(|count| count.parse().ok());
    let mut next = || counts.next().flatten();
    let [instructions, _, conditional, _, indirect] = [next()?, next()?, next()?, next()?, next()?];
    let misses: f64 = conditional + indirect;
    Some(Counts { instructions, misses })
}

/// Returns whether a program with the option `--version` is installed.
pub(crate) fn is_installed(program: &str) -> bool {
    let mut probe = Command::new(program);
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}

/// Returns the median, the upper one if there are two in the middle, or 0 if there are no values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Returns a number of things as a float.
pub(crate) fn number(things: usize) -> f64 {
    u32::try_from(things).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    fn contest(peers: Vec<Function>) -> Contest {
        Contest { input: String::new(), items: 1, bytes: 0, rounds: 5, counted: 0, peers }
    }

    #[test]
    fn counts_are_read_from_the_log_of_valgrind() {
        let log = "==1== Events    : Ir Bc Bcm Bi Bim\n==1== Collected : 900 80 7 5 3\n";
        assert_eq!(total(log), Some(Counts { instructions: 900.0, misses: 10.0 }));
        assert_eq!(total("==1== Collected : 900"), None);
    }

    #[test]
    fn peers_take_turns() {
        let latest = Rc::new(Cell::new(2));
        let peer = |number: u32| {
            let latest = Rc::clone(&latest);
            Function::new("peer", move || {
                assert_eq!((latest.replace(number) + 1) % 3, number);
                number
            })
        };
        assert_eq!(contest(vec![peer(0), peer(1), peer(2)]).take_turns().unwrap().len(), 3);
        assert_eq!(latest.get(), 2);
    }

    #[test]
    fn a_peer_that_changes_its_answer_is_refused() {
        let runs = Cell::new(0);
        let peer = Function::new("peer", move || runs.replace(runs.get() + 1));
        assert!(contest(vec![peer]).take_turns().is_err());
    }
}
