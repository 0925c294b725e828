//! Reads runs in the background: a row for each run, and all of the run that is open.

use std::collections::BTreeSet;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use unstuck_report::{Report, Settings};

use super::state::{News, Summary};
use crate::read::inputs::Input;
use crate::read::jobs::{in_order, one_for_each_core};
use crate::read::progress::Progress;
use crate::scan::judge;

/// A run to read: the number of its row, and its file.
pub(super) type Wanted = (usize, Input);

/// The threads that read.
pub(super) struct Loader {
    rows: Sender<Vec<Wanted>>,
    runs: Sender<Wanted>,
    threads: [JoinHandle<()>; 2],
}

impl Loader {
    /// Starts the threads. `row` judges for the rows, `run` for the run that is open.
    pub(super) fn start(row: Settings, run: Settings, news: &Sender<News>) -> Self {
        let (rows, wanted_rows) = mpsc::channel();
        let (runs, wanted_runs) = mpsc::channel();
        let (of_rows, of_runs) = (news.clone(), news.clone());
        let threads = [
            thread::spawn(move || read_rows(&wanted_rows, row, &of_rows)),
            thread::spawn(move || read_runs(&wanted_runs, run, &of_runs)),
        ];
        Self { rows, runs, threads }
    }

    /// Reads runs for their rows, in this order.
    pub(super) fn read(&self, wanted: Vec<Wanted>) {
        // Sending fails only if the thread has panicked, which `is_alive` reports.
        let _ = self.rows.send(wanted);
    }

    /// Reads all of a run, before other work. Only the latest one that is wanted is read.
    pub(super) fn open(&self, wanted: Wanted) {
        let _ = self.runs.send(wanted);
    }

    /// Returns whether no thread has panicked.
    pub(super) fn is_alive(&self) -> bool {
        !self.threads.iter().any(JoinHandle::is_finished)
    }
}

fn read_rows(wanted: &Receiver<Vec<Wanted>>, settings: Settings, news: &Sender<News>) {
    while let Ok(first) = wanted.recv() {
        let batch = latest(first, wanted.try_iter());
        let work = move |(row, input): Wanted| (row, read(&input, &settings));
        let taken = in_order(batch, one_for_each_core(), work, |(row, report)| {
            // The view is gone once its news are no longer needed.
            news.send(News::Row(row, report.map(|report| Summary::of(&report)))).map_err(drop)
        });
        if taken.is_err() {
            return;
        }
    }
}

/// Returns `first` and `more` without the runs that are wanted twice.
fn latest(first: Vec<Wanted>, more: impl Iterator<Item = Vec<Wanted>>) -> Vec<Wanted> {
    let mut seen = BTreeSet::new();
    let all = first.into_iter().chain(more.flatten());
    all.filter(|(row, _)| seen.insert(*row)).collect()
}

fn read_runs(wanted: &Receiver<Wanted>, settings: Settings, news: &Sender<News>) {
    while let Ok(first) = wanted.recv() {
        let (row, input) = wanted.try_iter().last().unwrap_or(first);
        if news.send(News::Run(row, read(&input, &settings).map(Box::new))).is_err() {
            return;
        }
    }
}

fn read(input: &Input, settings: &Settings) -> Result<Report, String> {
    judge::read(input, settings, &Progress::hidden()).map(|full| full.report)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use unstuck_text::PRESETS;

    use super::*;
    use crate::view::{ROW, RUN};

    fn wanted(row: usize, name: &str) -> Wanted {
        let runs = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/runs/native");
        (row, Input::File(PathBuf::from(runs).join(name)))
    }

    #[test]
    fn a_run_that_is_wanted_twice_is_read_once() {
        let rows = |numbers: &[usize]| numbers.iter().map(|&n| wanted(n, "a")).collect::<Vec<_>>();
        let batch = latest(rows(&[3, 1]), [rows(&[1, 2]), rows(&[3])].into_iter());
        assert_eq!(batch, rows(&[3, 1, 2]));
    }

    #[test]
    fn rows_and_runs_come_from_files() {
        let (news, heard) = mpsc::channel();
        let settings = |needs| Settings::new(&PRESETS[0], needs);
        let loader = Loader::start(settings(ROW), settings(RUN), &news);
        loader.read(vec![wanted(0, "stuck-edit.jsonl"), wanted(1, "no-such-file")]);
        // A bound for a test that fails, not a measure.
        let next = || heard.recv_timeout(Duration::from_secs(60)).expect("news");
        let News::Row(0, Ok(summary)) = next() else { panic!("a row") };
        assert_eq!((summary.word, summary.loops), ("stuck", 1));
        let News::Row(1, Err(why)) = next() else { panic!("an error") };
        assert!(why.starts_with("no such file"), "{why}");
        loader.open(wanted(0, "stuck-edit.jsonl"));
        let News::Run(0, Ok(report)) = next() else { panic!("a run") };
        assert!(report.picture.is_some_and(|picture| !picture.calls.is_empty()));
        assert!(loader.is_alive());
    }
}
