//! Reads runs in the background: a row for each run, and all of the run that is open. Looks for recordings that are new or
//! that have changed.

use std::collections::{BTreeSet, HashMap};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

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

/// The time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// The state of a file, or `None` if it is not there. A file that was replaced has another one.
type Stamp = Option<(u64, Option<SystemTime>)>;

/// The files that are known, each with the number of its row.
#[derive(Default)]
pub(super) struct Watch {
    known: HashMap<PathBuf, (usize, Stamp)>,
    /// In the order of their rows.
    files: Vec<PathBuf>,
}

impl Watch {
    /// Looks at `inputs`, which may have new files. Returns the changes since the last time.
    pub(super) fn look(&mut self, inputs: &[Input]) -> Vec<News> {
        let mut news: Vec<News> = (0..self.files.len()).filter_map(|row| self.again(row)).collect();
        news.extend(inputs.iter().filter_map(|input| self.new_file(input)));
        news
    }

    /// Returns the change of a file that is known.
    fn again(&mut self, row: usize) -> Option<News> {
        let (_, stamp) = self.known.get_mut(&self.files[row])?;
        let now = stamp_of(&self.files[row]);
        let has_changed = *stamp != now;
        *stamp = now;
        has_changed.then_some(News::Changed(row, modified(now)))
    }

    fn new_file(&mut self, input: &Input) -> Option<News> {
        let Input::File(path) = input else { return None };
        if self.known.contains_key(path) {
            return None;
        }
        let stamp = stamp_of(path);
        self.known.insert(path.clone(), (self.files.len(), stamp));
        self.files.push(path.clone());
        Some(News::Found(path.clone(), modified(stamp)))
    }

    /// Looks again and again, at the inputs that `find` returns, until nobody listens.
    pub(super) fn start(
        mut self,
        find: impl Fn() -> Vec<Input> + Send + 'static,
        to: Sender<News>,
    ) {
        thread::spawn(move || {
            loop {
                thread::sleep(INTERVAL);
                if self.look(&find()).into_iter().any(|news| to.send(news).is_err()) {
                    return;
                }
            }
        });
    }
}

/// Returns the state of the file `path`.
fn stamp_of(path: &Path) -> Stamp {
    path.metadata().ok().map(|file: Metadata| (file.len(), file.modified().ok()))
}

fn modified(stamp: Stamp) -> Option<SystemTime> {
    stamp.and_then(|(_, modified)| modified)
}

#[cfg(test)]
mod tests {
    use std::fs;
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

    /// Returns the rows that a look found new or changed, for example `+0` and `~0`.
    fn seen(watch: &mut Watch, files: &[&Path]) -> Vec<String> {
        let inputs: Vec<Input> = files.iter().map(|file| Input::File(file.to_path_buf())).collect();
        let word = |news: &News| match news {
            News::Found(path, _) => format!("+{}", path.file_name().expect("a name").display()),
            News::Changed(row, _) => format!("~{row}"),
            _ => panic!("other news"),
        };
        watch.look(&inputs).iter().map(word).collect()
    }

    #[test]
    fn files_that_are_new_grow_shrink_or_leave_are_reported_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let write = |file: &Path, text: &str| fs::write(file, text).expect("a file");
        write(&a, "1\n");
        let mut watch = Watch::default();
        assert_eq!(seen(&mut watch, &[&a]), ["+a"]);
        assert!(seen(&mut watch, &[&a]).is_empty());
        write(&a, "1\n2\n");
        write(&b, "1\n");
        assert_eq!(seen(&mut watch, &[&a, &b]), ["~0", "+b"]);
        // Another file with the same name.
        write(&a, "");
        fs::remove_file(&b).expect("a file");
        assert_eq!(seen(&mut watch, &[&a]), ["~0", "~1"]);
        assert!(seen(&mut watch, &[&a]).is_empty());
        write(&b, "1\n");
        assert_eq!(seen(&mut watch, &[&a, &b]), ["~1"]);
        assert!(seen(&mut watch, &[&b]).is_empty());
    }

    #[test]
    fn standard_input_is_not_watched() {
        assert!(Watch::default().look(&[Input::Stdin]).is_empty());
    }
}
