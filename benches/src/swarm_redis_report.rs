//! What was measured of a swarm on a server, as tables and as JSON.

use std::fmt;

use comfy_table::Table;
use serde::Serialize;

use crate::table::table;

/// One way to ask the server, by 8 clients at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What was asked, and how.
    pub what: String,
    /// How many requests a second, all clients together: the median of the rounds.
    pub per_second: f64,
    /// The median of how many times as many as `INCR` asked in the same way, in the same round.
    pub ratio: f64,
    /// How long the server was busy with a request, in microseconds of a processor.
    pub server_us: f64,
    /// How long half of the waits were at most, in microseconds; 0 where nobody waited.
    pub p50_us: f64,
    /// How long 99 of 100 waits were at most.
    pub p99_us: f64,
}

/// What a call takes of the server's memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// How many workers made it.
    pub workers: u64,
    /// All that the server holds for it.
    pub bytes: i64,
}

/// What a call costs that many workers make, pipelined by one client.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// How many workers make it.
    pub workers: u64,
    /// Microseconds for the first call of a worker.
    pub first_us: f64,
    /// Microseconds for any other.
    pub later_us: f64,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Each way to ask.
    pub rows: Vec<Row>,
    /// The memory of a call.
    pub memory: Vec<Memory>,
    /// The cost of a call.
    pub costs: Vec<Cost>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.throughput())?;
        writeln!(f, "{}\n", self.workers())?;
        writeln!(
            f,
            "8 clients at a time, about 1,000 calls. A ratio is to INCR asked in the same way, in the \
             same round;\na board that waits is compared with one request a round trip, one that does \
             not with 100 in one go."
        )
    }
}

impl Report {
    fn throughput(&self) -> Table {
        let row = |row: &Row| {
            let waited = |us: f64| if us > 0.0 { format!("{us:.0}") } else { String::new() };
            let Row { what, per_second, ratio, server_us, p50_us, p99_us } = row;
            let thousand = format!("{:.0}", per_second / 1e3);
            let (ratio, server) = (format!("{ratio:.2}"), format!("{server_us:.1}"));
            [what.clone(), thousand, ratio, server, waited(*p50_us), waited(*p99_us)]
        };
        let header = ["asked", "1,000/s", "ratio", "server µs", "p50 µs", "p99 µs"];
        table(header, 1, self.rows.iter().map(row))
    }

    /// The memory stands beside the cost where both were measured for as many workers.
    fn workers(&self) -> Table {
        let mut workers: Vec<u64> = self.memory.iter().map(|memory| memory.workers).collect();
        workers.extend(self.costs.iter().map(|cost| cost.workers));
        workers.sort_unstable();
        workers.dedup();
        let row = |workers: u64| {
            let memory = self.memory.iter().find(|memory| memory.workers == workers);
            let cost = self.costs.iter().find(|cost| cost.workers == workers);
            let micros = |us: fn(&Cost) -> f64| cost.map(|cost| format!("{:.1}", us(cost)));
            [
                workers.to_string(),
                memory.map(|memory| memory.bytes.to_string()).unwrap_or_default(),
                micros(|cost| cost.first_us).unwrap_or_default(),
                micros(|cost| cost.later_us).unwrap_or_default(),
            ]
        };
        let header = ["workers", "bytes/call", "µs, first call", "µs, later calls"];
        table(header, 0, workers.into_iter().map(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_a_table_of_requests_and_one_of_workers() {
        let row = |what: &str, per_second, ratio, p50_us, p99_us| Row {
            what: what.to_owned(),
            per_second,
            ratio,
            server_us: 5.04,
            p50_us,
            p99_us,
        };
        let report = Report {
            rows: vec![
                row("INCR, one request a round trip", 100_400.0, 1.0, 45.4, 120.0),
                row("record, pipelined by 16", 160_000.0, 0.107, 0.0, 0.0),
            ],
            memory: vec![Memory { workers: 1, bytes: 120 }, Memory { workers: 1_000, bytes: 400 }],
            costs: vec![
                Cost { workers: 10, first_us: 6.04, later_us: 5.0 },
                Cost { workers: 1_000, first_us: 10.0, later_us: 5.55 },
            ],
        };
        insta::assert_snapshot!(report);
    }
}
