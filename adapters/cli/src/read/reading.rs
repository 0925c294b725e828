//! Inputs of which each is read once, on as many threads as there are cores.

use std::convert::Infallible;
use std::sync::Arc;

use crate::exit::Exit;
use crate::output::complain;
use crate::read::inputs::Input;
use crate::read::jobs;
use crate::read::progress::Progress;

/// What `work` makes of each of the inputs, in their order, beside what is known of it. An input that
/// cannot be read is complained of and left out; then the program is to exit as is told.
pub(crate) fn read_each<K: Send + 'static, T: Send + 'static>(
    inputs: Vec<(Input, K)>,
    work: impl Fn(&Input, &K, &Progress) -> Result<T, String> + Send + Sync + 'static,
) -> (Vec<(K, T)>, Exit) {
    let progress = Arc::new(Progress::of(inputs.iter().map(|(input, _)| input)));
    let shared = Arc::clone(&progress);
    let read = move |(input, known): (Input, K)| {
        let made = work(&input, &known, &shared);
        (input, known, made)
    };
    let (mut runs, mut exit, mut done) = (Vec::new(), Exit::Clean, 0);
    let jobs = jobs::one_for_each_core().min(inputs.len());
    let taken = jobs::in_order(inputs, jobs, read, |(input, known, made)| {
        done += 1;
        progress.judged(done);
        match made {
            Ok(made) => runs.push((known, made)),
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
