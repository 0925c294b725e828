//! What was measured, as a table and as JSON.

use std::fmt;

use comfy_table::Table;
use serde::Serialize;
use unstuck_core::Detector;

use crate::contender::Contender;
use crate::endurance::Endurance;
use crate::scan::Scan;
use crate::stream::{ARGS_LENGTH, RESULT_LENGTH, Stream};
use crate::table::table;

/// A contender on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The stream.
    pub stream: Stream,
    /// The contender.
    pub contender: Contender,
    /// With how much of the stream it finds fault, in percent.
    pub flagged_percent: f64,
    /// The median time for a call with its result, in nanoseconds.
    pub ns_per_call: f64,
    /// The median of half of that: a call with its result is two events.
    pub ns_per_event: f64,
    /// The median ratio to the plain detector on the same stream; below 1 is faster.
    pub ratio: f64,
    /// Half the instructions for a call with its result, where they were counted.
    pub instructions_per_event: Option<f64>,
}

/// How much memory a detector is, in bytes; it holds nothing beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// How many records its window holds.
    pub window: u8,
    /// `size_of` of it.
    pub bytes: usize,
}

impl Size {
    /// The sizes of the detectors that are measured.
    pub fn all() -> [Self; 3] {
        [
            Self { window: 8, bytes: size_of::<Detector<'_, 8>>() },
            Self { window: 20, bytes: size_of::<Detector<'_, 20>>() },
            Self { window: 64, bytes: size_of::<Detector<'_, 64>>() },
        ]
    }
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Each contender on each stream.
    pub rows: Vec<Row>,
    /// The detectors' sizes.
    pub sizes: [Size; 3],
    /// A long run of the engine.
    pub endurance: Endurance,
    /// The command-line program.
    pub scans: Vec<Scan>,
    /// What was left out, and why.
    pub left_out: Vec<&'static str>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.table())?;
        writeln!(
            f,
            "A call with its result is two events. `engine` takes digests; all others take \
             {ARGS_LENGTH} bytes of arguments and\n{RESULT_LENGTH} of a result, at which only \
             `loop-guardrail` and `unstuck` look. `x plain` is the time over that of\nthe plain \
             detector.\n"
        )?;
        for Size { window, bytes } in self.sizes {
            writeln!(f, "Detector<{window}>: {bytes} bytes")?;
        }
        let Endurance { millions, first_ns_per_event: first, last_ns_per_event: last } =
            self.endurance;
        writeln!(
            f,
            "{millions} million events: {first:.1} ns/event in the first million, {last:.1} in the last"
        )?;
        self.scans.iter().try_for_each(|scan| writeln!(f, "{scan}"))?;
        self.left_out.iter().try_for_each(|what| writeln!(f, "left out: {what}"))
    }
}

impl Report {
    fn table(&self) -> Table {
        let header = [
            "stream",
            "judged by",
            "flagged",
            "ns/call",
            "ns/event",
            "x plain",
            "instructions/event",
        ];
        table(header, 2, self.rows.iter().map(Row::cells))
    }
}

impl Row {
    fn cells(&self) -> [String; 7] {
        let instructions = self.instructions_per_event;
        [
            self.stream.name().to_owned(),
            self.contender.name().to_owned(),
            format!("{:.1} %", self.flagged_percent),
            format!("{:.0}", self.ns_per_call),
            format!("{:.1}", self.ns_per_event),
            format!("{:.3}", self.ratio),
            instructions.map_or_else(String::new, |count| format!("{count:.0}")),
        ]
    }
}

impl fmt::Display for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { traces, cores, bytes, megabytes_per_second, peak_kibibytes } = self;
        let (megabytes, cores) = (bytes / 1_000_000, cores.name());
        write!(f, "scan, {megabytes} MB {traces}, {cores}: {megabytes_per_second:.0} MB/s")?;
        match peak_kibibytes {
            Some(peak) => write!(f, ", {} MiB of memory at most", peak.div_ceil(1024)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Cores;

    #[test]
    fn a_report_has_one_table_and_a_line_for_all_else() {
        let row = |stream, contender, ns_per_call, instructions_per_event| Row {
            stream,
            contender,
            flagged_percent: 2.5,
            ns_per_call,
            ns_per_event: ns_per_call / 2.0,
            ratio: ns_per_call / 800.0,
            instructions_per_event,
        };
        let scan = |peak_kibibytes| Scan {
            traces: "generated".to_owned(),
            cores: Cores::One,
            bytes: 155_000_000,
            megabytes_per_second: 230.4,
            peak_kibibytes,
        };
        let report = Report {
            rows: vec![
                row(Stream::AllNew, Contender::Plain, 800.0, Some(8000.0)),
                row(Stream::AllNew, Contender::Window20, 80.3, None),
                row(Stream::Cycle, Contender::Plain, 800.0, Some(8000.5)),
            ],
            sizes: [8, 20, 64].map(|window| Size { window, bytes: 1000 }),
            endurance: Endurance {
                millions: 10,
                first_ns_per_event: 41.04,
                last_ns_per_event: 41.06,
            },
            scans: vec![scan(Some(4097)), scan(None)],
            left_out: vec!["scans on one core: taskset is not installed"],
        };
        insta::assert_snapshot!(report);
    }
}
