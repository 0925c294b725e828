//! Reads and judges the inputs of the program.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use unstuck_core::LoopId;
use unstuck_report::baseline::Baseline;
use unstuck_report::parts::{FullReport, Needs};
use unstuck_report::replay::ReplayFinding;
use unstuck_report::report::Observer;
use unstuck_report::spool::Disk;
use unstuck_report::{Report, Settings};
use unstuck_text::Preset;
use unstuck_trace::Format;

use crate::exit::Exit;
use crate::output::{fail, remark};
use crate::read::inputs::{self, Input};
use crate::read::jobs::read_in_order;
use crate::read::progress::Progress;
use crate::scan::feedback::{self, Feedback};
use crate::scan::options::Scan;

/// Returns the settings for `inputs` that the command line asks for, without the needs of the outputs.
pub(super) fn settings(
    scan: &Scan,
    preset: &'static Preset,
    inputs: &[Input],
) -> Result<Settings, Exit> {
    let (from, price, disk) = (scan.from(), scan.price, Some(temporary as _));
    let mut settings = Settings { from, price, disk, ..Settings::new(preset, Needs::default()) };
    if let Some(path) = &scan.feedback {
        let found = || loops_in(inputs, scan.from(), preset, scan.jobs());
        let Feedback { loops, unknown } = feedback::load(path, found)?;
        settings.preset = feedback::silencing(preset, loops);
        settings.unsilenced = scan.verbose.then_some(preset);
        for digits in unknown.iter().filter(|_| scan.verbose) {
            let what = format!("no input contains a loop that begins with {digits}");
            remark(&path.display().to_string(), &what);
        }
    }
    if let Some(path) = &scan.baseline {
        let baseline = baseline(path)?;
        baseline.forget(settings.preset.policy.silenced());
        settings.baseline = Some(baseline);
    }
    Ok(settings)
}

/// Returns the loops that `preset` finds in `inputs`. The error says why they cannot be read twice.
pub(crate) fn loops_in(
    inputs: &[Input],
    from: Option<Format>,
    preset: &'static Preset,
    jobs: usize,
) -> Result<BTreeSet<LoopId>, String> {
    if let Some(input) = inputs.iter().find(|input| !input.can_be_read_again()) {
        let name = input.name();
        return Err(format!(
            "give all 16 digits: {name} can be read only once, and is judged then"
        ));
    }
    let settings = Settings { from, ..Settings::new(preset, Needs::default()) };
    let work = move |input: &Input, (): &(), progress: &Progress| {
        let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
        let mut loops = FoundLoops::default();
        let report = Report::read(input.name(), reader, &settings, &mut loops);
        report.map(|_| loops.0).map_err(|problem| problem.to_string())
    };
    let inputs = inputs.iter().map(|input| (input.clone(), ())).collect();
    let mut all = BTreeSet::new();
    let taken = read_in_order(inputs, jobs, work, |_, (), loops| {
        // An input that cannot be read is reported when it is judged.
        all.extend(loops.unwrap_or_default());
        Ok::<(), Infallible>(())
    });
    match taken {
        Ok(()) => Ok(all),
    }
}

/// The loops of a run.
#[derive(Default)]
struct FoundLoops(BTreeSet<LoopId>);

impl Observer for FoundLoops {
    fn found(&mut self, found: &ReplayFinding) -> Option<bool> {
        self.0.insert(found.finding.loop_id);
        None
    }
}

/// Opens a temporary file.
pub(super) fn temporary() -> io::Result<Box<dyn Disk>> {
    Ok(Box::new(tempfile::tempfile()?))
}

/// Reads the file `path`, which `--format jsonl` wrote, once or several times. Prints an error if the file
/// is wrong.
///
/// The loops are kept until the program ends.
fn baseline(path: &Path) -> Result<&'static mut Baseline, Exit> {
    let read = match File::open(path) {
        Ok(file) => Baseline::read(BufReader::new(file)),
        Err(error) => Err(format!("cannot be read: {error}")),
    };
    read.map(|baseline| Box::leak(Box::new(baseline)))
        .map_err(|why| fail(Exit::Setup, &path.display().to_string(), &why))
}

/// Reads `input` and judges it. The error says why it cannot be read.
pub(crate) fn read(
    input: &Input,
    settings: &Settings,
    progress: &Progress,
) -> Result<FullReport, String> {
    let reader = input.open(progress).map_err(|error| inputs::explained(&error))?;
    let report = FullReport::read(input.name(), reader, settings);
    report.map_err(|problem| problem.to_string())
}
