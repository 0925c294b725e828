//! Looks for recordings that are new or that have changed.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, SystemTime};

use super::state::News;
use crate::read::inputs::Input;

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

    use super::*;

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
