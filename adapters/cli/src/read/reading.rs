//! The driver for inputs: reads each one once, on several threads, in the order of the inputs.

use std::convert::Infallible;
use std::sync::Arc;

use crate::exit::Exit;
use crate::output::complain;
use crate::read::inputs::Input;
use crate::read::jobs;
use crate::read::progress::Progress;

/// Does `work` on each input on at most `jobs` threads, and passes the results to `take` in the order
/// of the inputs. Stops at the first error of `take`.
///
/// Each input comes with data of the caller, for example its label. `take` may write to the terminal:
/// the progress bar is hidden meanwhile.
pub(crate) fn read_in_order<D: Send + 'static, T: Send + 'static, E>(
    inputs: Vec<(Input, D)>,
    jobs: usize,
    work: impl Fn(&Input, &D, &Progress) -> Result<T, String> + Send + Sync + 'static,
    mut take: impl FnMut(&Input, D, Result<T, String>) -> Result<(), E>,
) -> Result<(), E> {
    let jobs = jobs.min(inputs.len());
    let progress = Arc::new(Progress::of(inputs.iter().map(|(input, _)| input.size())));
    let shared = Arc::clone(&progress);
    let read = move |(input, data): (Input, D)| {
        let result = work(&input, &data, &shared);
        (input, data, result)
    };
    let mut done = 0;
    let taken = jobs::in_order(inputs, jobs, read, |(input, data, result)| {
        done += 1;
        progress.judged(done);
        progress.aside(|| take(&input, data, result))
    });
    progress.end();
    taken
}

/// Does `work` on each input, on one thread for each core, and returns the results in the order of
/// the inputs.
///
/// An input that cannot be read is reported on standard error and left out. The exit code is then
/// [`Exit::Input`].
pub(crate) fn read_each<D: Send + 'static, T: Send + 'static>(
    inputs: Vec<(Input, D)>,
    work: impl Fn(&Input, &D, &Progress) -> Result<T, String> + Send + Sync + 'static,
) -> (Vec<(D, T)>, Exit) {
    let (mut results, mut exit) = (Vec::new(), Exit::Clean);
    let jobs = jobs::one_for_each_core();
    let taken = read_in_order(inputs, jobs, work, |input, data, result| {
        match result {
            Ok(result) => results.push((data, result)),
            Err(why) => {
                exit = Exit::Input;
                complain(&input.name(), &why);
            }
        }
        Ok::<(), Infallible>(())
    });
    match taken {
        Ok(()) => (results, exit),
    }
}
