//! `unstuck scan --effect` for people: the tables of what agents did, below the report.

use std::io::{self, Write};

use unstuck_report::baseline::Tally;
use unstuck_report::effect::NoteEffect;
use unstuck_report::parts::{FullReport, Needs};
use unstuck_report::writer::Writer;
use unstuck_report::writer::human::Human;

use crate::output::effect::{ShownNote, tables};

/// A report for people with these tables.
pub(super) struct WithEffects {
    report: Human,
    notes: Vec<ShownNote<'static>>,
}

impl WithEffects {
    pub(super) fn new(report: Human) -> Self {
        Self { report, notes: Vec::new() }
    }
}

impl Writer for WithEffects {
    fn needs(&self) -> Needs {
        self.report.needs()
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        let agent = report.trace.format.name();
        let note = |one: &NoteEffect| ShownNote {
            rule: one.rule,
            rung: one.rung(),
            agent,
            model: None,
            wording: None,
            told: one.told,
            effect: Some(one.effect),
        };
        self.notes.extend(report.effects.iter().map(note));
        self.report.report(report, output)
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        self.report.finish(tally, output)?;
        write!(output, "\n{}", tables("All runs", &self.notes))
    }
}
