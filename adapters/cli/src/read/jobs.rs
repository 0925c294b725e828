//! Does work on several threads and returns the results in the order of the inputs.
//!
//! This uses threads and channels of the standard library. A work-stealing pool such as `rayon`
//! does not bound the number of results that wait for their turn.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::exit::Exit;
use crate::output::fail;
use crate::read::inputs::Input;
use crate::read::jobs;
use crate::read::progress::Progress;

/// The most threads that can be requested. A disk keeps far fewer busy.
pub(crate) const JOBS_MAX: u16 = 256;

/// The most results per thread that are in progress or waiting for their turn. One slow input
/// stalls the threads only if the next inputs are fast.
const AHEAD: usize = 4;

/// An input, and the channel for its result.
type Task<I, T> = (I, Sender<T>);

/// Returns the number of cores.
pub(crate) fn one_for_each_core() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` on every input, on `jobs` threads, and passes the results to `each` in the order of
/// the inputs. Stops at the first error of `each`.
///
/// After an error the threads are not joined, because a thread that reads standard input cannot be
/// interrupted. They end with the program.
pub(crate) fn in_order<I, T, E>(
    inputs: impl IntoIterator<Item = I>,
    jobs: usize,
    work: impl Fn(I) -> T + Send + Sync + 'static,
    mut each: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E>
where
    I: Send + 'static,
    T: Send + 'static,
{
    let queue = start(jobs, work);
    let mut inputs = inputs.into_iter();
    let mut due = VecDeque::new();
    loop {
        for input in inputs.by_ref().take(jobs * AHEAD - due.len()) {
            let (done, result) = mpsc::channel();
            // Sending fails only if all threads have panicked, which `recv` below reports.
            let _ = queue.send((input, done));
            due.push_back(result);
        }
        let Some(result) = due.pop_front() else { return Ok(()) };
        // No input makes the work panic. If one does, the program must not skip it silently.
        each(result.recv().expect("every input has a result"))?;
    }
}

/// Starts `jobs` threads that do `work` on the inputs that are sent to them.
fn start<I, T>(jobs: usize, work: impl Fn(I) -> T + Send + Sync + 'static) -> Sender<Task<I, T>>
where
    I: Send + 'static,
    T: Send + 'static,
{
    let (queue, tasks) = mpsc::channel::<Task<I, T>>();
    let shared = Arc::new((Mutex::new(tasks), work));
    for _ in 0..jobs {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            let (tasks, work) = &*shared;
            while let Some((input, done)) = next(tasks) {
                // The receiver is gone once the results are no longer needed.
                let _ = done.send(work(input));
            }
        });
    }
    queue
}

/// Waits for the next task. Returns `None` if there will be no more.
fn next<T>(tasks: &Mutex<Receiver<T>>) -> Option<T> {
    // No thread panics while it holds the lock, and the channel would stay intact.
    tasks.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

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
            Err(why) => exit = fail(Exit::Input, &input.name(), &why),
        }
        Ok::<(), Infallible>(())
    });
    match taken {
        Ok(()) => (results, exit),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};

    use proptest::prelude::*;

    use super::{AHEAD, in_order};

    proptest! {
        #[test]
        fn results_come_in_the_order_of_the_inputs(count in 0..200_u32, jobs in 1..9_usize) {
            let mut results = Vec::new();
            let all = in_order(0..count, jobs, |n| n * 2, |n| {
                results.push(n);
                Ok::<(), ()>(())
            });
            prop_assert_eq!(all, Ok(()));
            prop_assert!(results.into_iter().eq((0..count).map(|n| n * 2)));
        }
    }

    #[test]
    fn the_first_failure_ends_it() {
        let mut results = Vec::new();
        let end = in_order(
            0..100,
            3,
            |n| n,
            |n| {
                results.push(n);
                if n == 7 { Err("enough") } else { Ok(()) }
            },
        );
        assert_eq!((end, results), (Err("enough"), (0..=7).collect()));
    }

    #[test]
    fn one_slow_input_lets_the_others_get_ahead_only_so_far() {
        let jobs = 2;
        let begun = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&begun);
        let (go_on, wait) = mpsc::channel::<()>();
        let wait = std::sync::Mutex::new(wait);
        // The first input waits until the last one that may start before it has started.
        let work = move |n: usize| {
            if counter.fetch_add(1, Ordering::SeqCst) + 1 == jobs * AHEAD {
                let _ = go_on.send(());
            }
            if n == 0 {
                let _ = wait.lock().expect("a lock").recv();
            }
            n
        };
        let mut taken = 0;
        let mut most_ahead = 0;
        let all = in_order(0..100, jobs, work, |_| {
            // The inputs that started before this result was taken.
            most_ahead = most_ahead.max(begun.load(Ordering::SeqCst).saturating_sub(taken));
            taken += 1;
            Ok::<(), ()>(())
        });
        assert_eq!((all, taken), (Ok(()), 100));
        assert_eq!(most_ahead, jobs * AHEAD);
    }
}
