//! The scenarios and their results, as a table.

use std::fmt::Write as _;

use super::network::{CELLS, PEERS, Report, Scenario, run};

const GOOD: Scenario =
    Scenario { name: "no trouble", workers: 0, stuck: 0, lost: 0, twice: 0, late: 0, parted: 0 };

/// The kinds of trouble of a network.
const TROUBLES: [Scenario; 7] = [
    GOOD,
    Scenario { name: "10 % lost", lost: 10, ..GOOD },
    Scenario { name: "50 % lost", lost: 50, ..GOOD },
    Scenario { name: "up to 5 s late", late: 4, ..GOOD },
    Scenario { name: "half come twice", twice: 50, ..GOOD },
    Scenario { name: "parted for 30 s", parted: 30, ..GOOD },
    Scenario { name: "all of that", lost: 50, late: 4, twice: 50, parted: 30, ..GOOD },
];

/// Runs a swarm of each of these sizes in each kind of trouble.
pub(crate) fn table(sizes: &[usize], seed: u64) -> String {
    let mut table = format!(
        "Each worker sends {PEERS} frames a second and remembers {CELLS} cells. Some come to one dead end, \
         and call\nit twice each: a loop at ten calls. Seconds until a counter in the middle knows of it, and then until\n\
         the first of them, half and all of them know, too:\n\n\
         workers  stuck  network          counter  first   half    all  frames  bytes/s  false alarms\n"
    );
    for &workers in sizes {
        for trouble in TROUBLES {
            let stuck = if workers > 10 { 10 } else { 8 };
            let scenario = Scenario { workers, stuck, ..trouble };
            line(&mut table, scenario, run(scenario, seed));
        }
    }
    table
}

fn line(table: &mut String, scenario: Scenario, report: Report) {
    let Scenario { name, workers, stuck, .. } = scenario;
    let Report { central, known, frames, bytes, false_alarms } = report;
    let seconds = |known: Option<u64>| known.map_or("never".to_owned(), |known| known.to_string());
    let [first, half, all] = known.map(seconds);
    writeln!(
        table,
        "{workers:>7}  {stuck:>5}  {name:<15}  {central:>7}  {first:>5}  {half:>5}  {all:>5}  {frames:>6}  {bytes:>7}  \
         {false_alarms:>12}"
    )
    .expect("a string takes any text");
}
