//! A progress bar for long work, shown on a terminal only.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use unstuck_report::shown::counted;

/// The time before the bar appears.
const PATIENCE: Duration = Duration::from_secs(1);

/// The template if the size of every input is known.
const MEASURED: &str = "[{bar:24}] {bytes} of {total_bytes}, {msg}, {eta} left";

/// The template if standard input is read, whose size is unknown.
const UNMEASURED: &str = "{spinner} {bytes} read, {msg}";

/// A progress bar. It stays hidden until [`PATIENCE`] is over, and forever if standard error is not
/// a terminal.
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
    patience: Duration,
    /// The terminal on which the bar will appear.
    waiting: Mutex<Option<ProgressDrawTarget>>,
    inputs: usize,
}

impl Progress {
    /// Creates the progress of reading inputs of these sizes, with `None` for an unknown size.
    pub(crate) fn of(sizes: impl IntoIterator<Item = Option<u64>>) -> Self {
        Self::on(Self::terminal(), PATIENCE, &sizes.into_iter().collect::<Vec<_>>())
    }

    /// Creates a progress that nobody sees.
    pub(crate) fn hidden() -> Self {
        Self::on(None, PATIENCE, &[])
    }

    /// Returns standard error, if it is a terminal that can move its cursor.
    fn terminal() -> Option<ProgressDrawTarget> {
        let target = ProgressDrawTarget::stderr();
        (!target.is_hidden()).then_some(target)
    }

    fn on(target: Option<ProgressDrawTarget>, patience: Duration, sizes: &[Option<u64>]) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if target.is_some() {
            let length = sizes.iter().copied().sum::<Option<u64>>();
            if let Some(length) = length {
                bar.set_length(length);
            }
            // The templates are constants, and the tests below parse them.
            let template = if length.is_some() { MEASURED } else { UNMEASURED };
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.expect("a constant template").progress_chars("=> "));
        }
        let (began, waiting) = (Instant::now(), Mutex::new(target));
        let progress = Self { bar, began, patience, waiting, inputs: sizes.len() };
        progress.judged(0);
        progress
    }

    /// Counts the bytes that are read from `reader`, whose `size` may be known.
    pub(crate) fn count<R: Read>(&self, reader: R, size: Option<u64>) -> impl Read {
        Counted { reader, progress: self, left: size }
    }

    /// Shows the number of inputs that have been judged.
    pub(crate) fn judged(&self, inputs: usize) {
        self.bar.set_message(format!("{inputs} of {}", counted(self.inputs, "input")));
    }

    /// Hides the bar while `write` writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn advance(&self, steps: u64) {
        if self.began.elapsed() >= self.patience {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(target) = waiting.take() {
                self.bar.set_draw_target(target);
            }
        }
        self.bar.inc(steps);
    }
}

/// A reader that reports the bytes read to a progress bar.
struct Counted<'p, R> {
    reader: R,
    progress: &'p Progress,
    /// The number of bytes left, if it is known.
    left: Option<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        let mut bytes = count as u64;
        if let Some(left) = &mut self.left {
            // A file that grows while it is read does not count more than its size.
            bytes = bytes.min(*left);
            *left -= bytes;
        }
        self.progress.advance(bytes);
        Ok(count)
    }
}

impl<R> Drop for Counted<'_, R> {
    /// Counts the rest of a file that is not read to its end, for example because it is not a
    /// trace.
    fn drop(&mut self) {
        self.progress.advance(self.left.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use indicatif::InMemoryTerm;

    use super::*;

    /// Returns the progress of some work, on a terminal of 24 by 80 in memory.
    fn watched(patience: Duration, sizes: &[Option<u64>]) -> (Progress, InMemoryTerm) {
        let terminal = InMemoryTerm::new(24, 80);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        (Progress::on(Some(target), patience, sizes), terminal)
    }

    /// One input of 3 MiB.
    const ONE_FILE: [Option<u64>; 1] = [Some(3 << 20)];

    fn read(progress: &Progress, bytes: usize, size: Option<u64>) {
        let zeros = io::repeat(0).take(bytes as u64);
        let read = progress.count(zeros, size).read_to_end(&mut Vec::new());
        assert_eq!(read.ok(), Some(bytes));
    }

    #[test]
    fn short_work_has_no_bar() {
        let (progress, terminal) = watched(Duration::MAX, &ONE_FILE);
        read(&progress, 1 << 20, None);
        progress.judged(1);
        progress.end();
        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn a_bar_shows_the_bytes_read_and_hides() {
        let (progress, terminal) = watched(Duration::ZERO, &ONE_FILE);
        read(&progress, 1 << 20, None);
        progress.bar.tick();
        let shown = terminal.contents();
        assert!(shown.starts_with("[========>               ] "), "{shown}");
        assert!(shown.contains("1.00 MiB of 3.00 MiB, 0 of 1 input, "), "{shown}");
        assert_eq!(progress.aside(|| terminal.contents()), "");
        read(&progress, 10, Some(2 << 20));
        assert_eq!(progress.bar.position(), 3 << 20, "a file that is not read to its end is done");
        progress.end();
        assert_eq!(terminal.contents(), "");
    }

    #[test]
    fn an_input_without_a_size_is_counted() {
        let (progress, terminal) = watched(Duration::ZERO, &[None]);
        read(&progress, 5 << 20, None);
        progress.bar.tick();
        let shown = terminal.contents();
        assert!(shown.contains("5.00 MiB read, 0 of 1 input"), "{shown}");
    }
}
