//! What was measured of ledgers, as tables and as JSON.

use std::fmt;

use comfy_table::Table;
use serde::Serialize;

use crate::innocents::Innocents;
use crate::swarm::Calls;
use crate::table::table;

/// One thread that counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// What is called.
    pub calls: Calls,
    /// By how many workers.
    pub workers: u64,
    /// The median time for a call, in nanoseconds.
    pub ns: f64,
    /// How many million calls that is in a second.
    pub millions_per_second: f64,
    /// The bytes for each counter in use.
    pub bytes: f64,
    /// The instructions for a call, where they were counted.
    pub instructions: Option<f64>,
}

/// Several threads that count in one ledger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Together {
    /// What is called.
    pub calls: Calls,
    /// How many threads.
    pub threads: u32,
    /// How many million calls they count in a second.
    pub millions_per_second: f64,
    /// That, over what one thread counts.
    pub ratio: f64,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// One thread.
    pub alone: Vec<Alone>,
    /// Several.
    pub together: Vec<Together>,
    /// Recorded runs side by side.
    pub innocents: Vec<Innocents>,
    /// What was left out, and why.
    pub left_out: Vec<&'static str>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.alone())?;
        writeln!(f, "{}\n", self.together())?;
        if !self.innocents.is_empty() {
            writeln!(f, "{}\n", self.innocents())?;
        }
        writeln!(
            f,
            "A call is one that a worker tells of, until the verdict; bytes are those of the heap for \
             each counter in\nuse. Threads share one ledger of 64 parts. Runs are drawn, their calls \
             interleaved at random and judged as\nthose of one swarm, in a window without an end."
        )?;
        self.left_out.iter().try_for_each(|what| writeln!(f, "left out: {what}"))
    }
}

impl Report {
    fn alone(&self) -> Table {
        let header = ["calls", "workers", "ns", "million/s", "bytes", "instructions"];
        table(header, 1, self.alone.iter().map(Alone::cells))
    }

    fn together(&self) -> Table {
        let header = ["calls", "threads", "million/s", "of one thread"];
        let row = |row: &Together| {
            let Together { calls, threads, millions_per_second, ratio } = row;
            let rate = format!("{millions_per_second:.1}");
            [calls.name().to_owned(), threads.to_string(), rate, format!("{ratio:.2}")]
        };
        table(header, 1, self.together.iter().map(row))
    }

    fn innocents(&self) -> Table {
        let header = ["drawn", "workers", "rule of", "first is free", "draws", "fired"];
        let row = |row: &Innocents| {
            let free = if row.first_is_free { "yes" } else { "no" };
            let share = f64::from(row.fired) * 100.0 / f64::from(row.draws.max(1));
            [
                row.draw.name().to_owned(),
                row.workers.to_string(),
                format!("{} calls", row.calls),
                free.to_owned(),
                row.draws.to_string(),
                format!("{} ({share:.2} %)", row.fired),
            ]
        };
        table(header, 1, self.innocents.iter().map(row))
    }
}

impl Alone {
    fn cells(&self) -> [String; 6] {
        [
            self.calls.name().to_owned(),
            self.workers.to_string(),
            format!("{:.1}", self.ns),
            format!("{:.1}", self.millions_per_second),
            format!("{:.0}", self.bytes),
            self.instructions.map_or_else(String::new, |count| format!("{count:.0}")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::innocents::Draw;

    #[test]
    fn a_report_has_three_tables_and_a_line_for_all_else() {
        let alone = |calls, workers, instructions| Alone {
            calls,
            workers,
            ns: 25.04,
            millions_per_second: 39.94,
            bytes: 56.4,
            instructions,
        };
        let together = |threads, ratio| Together {
            calls: Calls::DeadEnds,
            threads,
            millions_per_second: 20.0,
            ratio,
        };
        let innocents = Innocents {
            draw: Draw::OneSource,
            workers: 24,
            calls: 5,
            first_is_free: false,
            draws: 20_000,
            fired: 3420,
        };
        let report = Report {
            alone: vec![alone(Calls::New, 10, Some(210.4)), alone(Calls::New, 100_000, None)],
            together: vec![together(1, 1.0), together(2, 1.9)],
            innocents: vec![innocents],
            left_out: vec!["instructions: valgrind is not installed"],
        };
        insta::assert_snapshot!(report);
    }
}
