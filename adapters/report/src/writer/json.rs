//! The reports for programs: one JSON object for each trace, one a line or all in one document.

use std::io::{self, Write};

use crate::baseline::Tally;
use crate::json::json;
use crate::line::{SCHEMA, after_findings, before_findings};
use crate::parts::{FullReport, Needs};
use crate::writer::Writer;

/// The parts of a report that are written.
const NEEDS: Needs = Needs { lines: true, ..Needs::loops(0) };

/// One line for each report.
pub struct Lines;

impl Writer for Lines {
    fn needs(&self) -> Needs {
        NEEDS
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        write(report, output)?;
        output.write_all(b"\n")
    }

    fn finish(&mut self, _tally: &Tally, _output: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// All reports as one JSON document.
#[derive(Default)]
pub struct Document {
    begun: bool,
}

impl Document {
    /// Writes the beginning of the document.
    fn begin(output: &mut dyn Write) -> io::Result<()> {
        write!(output, "{{\"schema\":{SCHEMA},\"traces\":[")
    }
}

impl Writer for Document {
    fn needs(&self) -> Needs {
        NEEDS
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            output.write_all(b",")?;
        } else {
            Self::begin(output)?;
        }
        output.write_all(b"\n ")?;
        write(report, output)
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        if self.begun {
            output.write_all(b"\n]")?;
        } else {
            Self::begin(output)?;
            output.write_all(b"]")?;
        }
        if let Some(difference) = &tally.difference {
            write!(output, ",\"gone\":{}", json(&difference.lines()))?;
        }
        output.write_all(b"}\n")
    }
}

/// Writes the report on a trace on one line. Its findings go from memory or from a temporary file to the output.
fn write(report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
    let FullReport { report, parts } = report;
    output.write_all(before_findings(report).as_bytes())?;
    let mut comma = "";
    if let Some(lines) = &mut parts.lines {
        lines.each(&report.path, &mut |finding| {
            write!(output, "{comma}{finding}")?;
            comma = ",";
            Ok(())
        })?;
    }
    output.write_all(after_findings(report).as_bytes())
}
