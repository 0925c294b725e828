//! Work on several threads, and its results in the order of the inputs.
//!
//! Threads and channels of the standard library: a thread pool that splits work by itself, as
//! `rayon` is, has no bound on how many results wait for the one whose turn it is.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The most threads that may be asked for; a disk serves far fewer.
pub(crate) const JOBS_MAX: u16 = 256;

/// How many results there are at most, in the making or waiting for their turn, for each thread:
/// enough that a long input holds the threads up only if the next ones are short.
const AHEAD: usize = 4;

/// An input, and where its result goes.
type Task<I, T> = (I, Sender<T>);

/// One thread for each core.
pub(crate) fn one_for_each_core() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` on every input, on `jobs` threads, and hands the results to `each` in the order of
/// the inputs, until that fails.
///
/// Then the threads are left behind: one that waits for standard input cannot be called back, and
/// ends with the program.
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
            // Only threads that have all panicked take no more, which shows below.
            let _ = queue.send((input, done));
            due.push_back(result);
        }
        let Some(result) = due.pop_front() else { return Ok(()) };
        // No input makes the work panic; if it does all the same, nothing is to be passed over.
        each(result.recv().expect("every input has a result"))?;
    }
}

/// Starts `jobs` threads that do `work` on what is sent to them.
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
                // Nobody listens once the results are of no more use.
                let _ = done.send(work(input));
            }
        });
    }
    queue
}

/// The next task; none once there will be no more.
fn next<T>(tasks: &Mutex<Receiver<T>>) -> Option<T> {
    // No thread panics while it holds the lock, and the channel would be whole if one did.
    tasks.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

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
        // The first waits until the last that may begin before it is done has begun.
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
            // Those taken before, this one's successors, and none for this one yet.
            most_ahead = most_ahead.max(begun.load(Ordering::SeqCst).saturating_sub(taken));
            taken += 1;
            Ok::<(), ()>(())
        });
        assert_eq!((all, taken), (Ok(()), 100));
        assert_eq!(most_ahead, jobs * AHEAD);
    }
}
