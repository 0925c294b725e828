//! All recorded files with their labels, to be stored in a folder or compared with one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::script::Label;
use crate::tools::at;
use crate::write::{File, push_line};

/// The extension of the file of labels. The file is beside the folder, so that the folder holds only
/// runs.
const LABELS: &str = ".labels.jsonl";

/// Texts by their path below a folder; the paths are written with slashes.
#[derive(Debug)]
pub(crate) struct Tree {
    texts: BTreeMap<String, String>,
    labels: String,
}

#[derive(Serialize)]
struct Row<'a> {
    file: &'a str,
    #[serde(rename = "loop")]
    stuck: &'a str,
    start: Option<usize>,
    stuck_at: Option<usize>,
    end: Option<usize>,
    kind: &'a str,
    why: &'a str,
    calls: usize,
}

impl Tree {
    /// The files, and their labels in the order of their paths.
    pub(crate) fn new(mut files: Vec<File>) -> io::Result<Self> {
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut labels = String::new();
        for file in &files {
            push_line(&mut labels, &row(file))?;
        }
        Ok(Tree { texts: files.into_iter().map(|f| (f.path, f.text)).collect(), labels })
    }

    /// Writes every file into a folder, over what stands there.
    pub(crate) fn store(&self, folder: &Path) -> io::Result<()> {
        for (path, text) in &self.texts {
            let file = folder.join(path);
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent).map_err(|error| at(parent, &error))?;
            }
            fs::write(&file, text).map_err(|error| at(&file, &error))?;
        }
        let labels = labels_of(folder);
        fs::write(&labels, &self.labels).map_err(|error| at(&labels, &error))
    }

    /// Returns the first difference of a folder in words, or `None` if there is no difference.
    pub(crate) fn difference(&self, folder: &Path) -> io::Result<Option<String>> {
        let texts = self.texts.iter().map(|(path, text)| (folder.join(path), path.as_str(), text));
        let labels = (labels_of(folder), "labels", &self.labels);
        for (file, path, recorded) in texts.chain([labels]) {
            let stored = match fs::read_to_string(&file) {
                Ok(stored) => stored,
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Ok(Some(format!("{path}: recorded, but not stored")));
                }
                Err(error) => return Err(at(&file, &error)),
            };
            if let Some((line, recorded, stored)) = first_difference(recorded, &stored) {
                return Ok(Some(format!(
                    "{path}:{line}: differs\n  recorded: {recorded}\n  stored:   {stored}"
                )));
            }
        }
        let stray = stored_paths(folder)?.into_iter().find(|path| !self.texts.contains_key(path));
        Ok(stray.map(|path| format!("{path}: stored, but not recorded")))
    }
}

/// Returns the path of the labels of the runs in `folder`.
fn labels_of(folder: &Path) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(LABELS);
    folder.with_file_name(name)
}

fn row(file: &File) -> Row<'_> {
    let (stuck, start, stuck_at, end, kind, why) = match file.label {
        Label::Work { kind, why } => ("no", None, None, None, kind, why),
        Label::Stuck { kind, why, start, at, end } => {
            ("yes", Some(start), Some(at), Some(end), kind, why)
        }
    };
    Row { file: &file.path, stuck, start, stuck_at, end, kind, why, calls: file.calls }
}

/// Returns the first line, counted from 1, that differs in both texts. Ends of line count.
fn first_difference<'a>(a: &'a str, b: &'a str) -> Option<(usize, &'a str, &'a str)> {
    let (mut left, mut right) = (a.split_inclusive('\n'), b.split_inclusive('\n'));
    let shown = |text: Option<&'a str>| text.map_or("nothing", str::trim_end);
    let mut line = 1;
    loop {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (l, r) if l == r => line += 1,
            (l, r) => return Some((line, shown(l), shown(r))),
        }
    }
}

/// The paths of all files below a folder, written with slashes, in order.
fn stored_paths(folder: &Path) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    let mut folders = vec![(folder.to_path_buf(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| at(&folder, &error))? {
            let entry = entry?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                folders.push((entry.path(), path + "/"));
            } else {
                paths.push(path);
            }
        }
    }
    paths.sort_unstable();
    Ok(paths)
}
