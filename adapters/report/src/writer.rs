//! The output formats of a scan, one writer each.
//!
//! A writer takes in the reports one by one and writes them to any output. It opens no file and prints no error: what it
//! cannot do is in the error that it returns, and the program says so.

pub mod chart;
pub mod csv;
pub mod explain;
pub mod github;
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
pub mod markdown;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod sarif;
pub mod svg;

use std::io::{self, Write};
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use crate::baseline::Tally;
use crate::parts::{FullReport, Needs};
use crate::report::Report;
use crate::shown::plain;

/// Writes the reports of a scan in one format.
pub trait Writer {
    /// Returns the parts of a report that are written.
    fn needs(&self) -> Needs;

    /// Takes in the report on an input, in the order of the inputs.
    ///
    /// # Errors
    ///
    /// An error of `output`, or a [`Failure`](crate::failure::Failure).
    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()>;

    /// Takes in an input that could not be read at all.
    fn unread(&mut self, _path: &str, _why: &str) {}

    /// Returns a remark about the parts of a report that the format has no room for.
    fn left_out(&self, _report: &Report) -> Option<String> {
        None
    }

    /// Writes the end, after the last report.
    ///
    /// # Errors
    ///
    /// An error of `output`, or a [`Failure`](crate::failure::Failure). The kind of the failure is
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if the command line asks for something that no input has.
    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()>;
}

/// The folder in which the readers of a report are.
#[derive(Clone, Debug, Default)]
pub struct Folder(PathBuf);

impl Folder {
    /// Names the folder.
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Returns `path` as others find the file: relative to the folder if it is in it, with forward slashes.
    pub(crate) fn relative(&self, path: &str) -> String {
        let given = Path::new(path);
        let inside = given.strip_prefix(&self.0).unwrap_or(given);
        let parts = inside.components().filter(|part| *part != Component::CurDir);
        let joined: PathBuf = parts.collect();
        plain(&joined.display().to_string().replace(MAIN_SEPARATOR, "/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::check;

    #[test]
    fn a_path_is_relative_and_short() {
        let here = Folder::new("/home/me/project".into());
        check("writer: a path, as readers in /home/me/project find it", |path| here.relative(path));
    }
}
