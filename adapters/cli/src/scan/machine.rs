//! Writes the reports for programs, one a line or all in one document.

use unstuck_report::json::json;
use unstuck_report::machine::{SCHEMA, after_findings, before_findings};

use crate::exit::Exit;
use crate::output::{Closed, Output, complain};
use crate::scan::judge::{FullReport, Tally};
use crate::scan::writer::Writer;

/// Writes the report on a trace on one line, between two other texts. Its findings go from memory or
/// from a temporary file to the output, in one piece if they are few.
fn write(
    before: String,
    report: &mut FullReport,
    after: &str,
    output: &mut Output,
) -> Result<(), Closed> {
    let FullReport { report, parts } = report;
    let mut text = before + &before_findings(report);
    if let Some(lines) = &mut parts.lines {
        let mut is_first = true;
        let written = lines.each(&mut |finding| {
            if !is_first {
                text.push(',');
            }
            is_first = false;
            text.push_str(finding);
            if text.len() < PIECE {
                return Ok(());
            }
            output.write(&std::mem::take(&mut text))
        });
        written.unwrap_or_else(|error| {
            let what = format!("its findings cannot be read back from the temporary file: {error}");
            complain(&report.path, &what);
            Err(Closed::ByError)
        })?;
    }
    output.write(&format!("{text}{}{after}", after_findings(report)))
}

/// The number of bytes of findings that are written at a time.
const PIECE: usize = 64 * 1024;

/// One line for each report.
pub(in crate::scan) struct Lines;

impl Writer for Lines {
    fn report(&mut self, report: &mut FullReport, output: &mut Output) -> Result<(), Closed> {
        write(String::new(), report, "\n", output)
    }

    fn finish(&mut self, _tally: &Tally, _output: &mut Output) -> Result<Exit, Closed> {
        Ok(Exit::Clean)
    }
}

/// All reports as one JSON document.
#[derive(Default)]
pub(in crate::scan) struct Document {
    begun: bool,
}

impl Writer for Document {
    fn report(&mut self, report: &mut FullReport, output: &mut Output) -> Result<(), Closed> {
        write(self.before(), report, "", output)
    }

    fn finish(&mut self, tally: &Tally, output: &mut Output) -> Result<Exit, Closed> {
        let before = if self.begun { String::new() } else { self.before() };
        let gone = match &tally.difference {
            Some(difference) => format!(",\"gone\":{}", json(&difference.lines())),
            None => String::new(),
        };
        output.write(&format!("{before}\n]{gone}}}\n"))?;
        Ok(Exit::Clean)
    }
}

impl Document {
    /// Returns the text before the next trace.
    fn before(&mut self) -> String {
        if std::mem::replace(&mut self.begun, true) {
            return ",\n ".to_owned();
        }
        format!("{{\"schema\":{SCHEMA},\"traces\":[\n ")
    }
}
