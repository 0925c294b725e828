//! Labelled runs: each is read once, on as many threads as there are cores.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use crate::exit::Exit;
use crate::inputs::Input;
use crate::jobs;
use crate::labels::Label;
use crate::output::complain;
use crate::progress::Progress;

/// What `work` makes of the run of each of the `labels`, in their order. A run that cannot be read
/// is complained of and left out; then the program is to exit as is told.
pub(crate) fn read_each<T: Send + 'static>(
    root: &Path,
    labels: Vec<Label>,
    work: impl Fn(&Label, &Input, &Progress) -> Result<T, String> + Send + Sync + 'static,
) -> (Vec<(Label, T)>, Exit) {
    let input = |label: Label| (Input::File(root.join(&label.file)), label);
    let inputs: Vec<(Input, Label)> = labels.into_iter().map(input).collect();
    let progress = Arc::new(Progress::of(inputs.iter().map(|(input, _)| input)));
    let shared = Arc::clone(&progress);
    let read = move |(input, label): (Input, Label)| {
        let made = work(&label, &input, &shared);
        (input, label, made)
    };
    let (mut runs, mut exit, mut done) = (Vec::new(), Exit::Clean, 0);
    let jobs = jobs::one_for_each_core().min(inputs.len());
    let taken = jobs::in_order(inputs, jobs, read, |(input, label, made)| {
        done += 1;
        progress.judged(done);
        match made {
            Ok(made) => runs.push((label, made)),
            Err(why) => {
                exit = Exit::Input;
                progress.aside(|| complain(&input.name(), &why));
            }
        }
        Ok::<(), Infallible>(())
    });
    progress.end();
    match taken {
        Ok(()) => (runs, exit),
    }
}
