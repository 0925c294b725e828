//! The sessions of coding agents on this machine: what hooks know of them, and the transcripts that agents write.
//!
//! `unstuck status` and `unstuck report` show what hooks know, which is in `agents/state`. It holds no arguments and no
//! results, so none are shown. `unstuck view` and `unstuck scan` read the transcripts, which hold all.

mod effect;
mod line;
pub(crate) mod options;
pub(crate) mod report;
pub(crate) mod status;
pub(crate) mod transcripts;

use anstyle::{AnsiColor, Style};
use unstuck_core::LoopId;

use crate::agents::state::Folder;
use crate::exit::Exit;
use crate::output::complain;
use crate::output::filled;

const STRONG: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const FOUND: Style = AnsiColor::Red.on_default().bold();

/// The indentation of further lines on a loop.
const INDENT: &str = "                    ";

/// Returns the lines on the loop with this id, for people.
fn loop_lines(id: LoopId, text: &str) -> String {
    let lines = filled(text, INDENT);
    format!("  {FOUND}{id}{FOUND:#}  {}", lines.trim_start())
}

/// Returns the folder with what hooks know, if there is a place for one.
///
/// # Errors
///
/// If it cannot be read, which has been printed. Hooks cannot use such a folder either.
fn folder() -> Result<Option<Folder>, Exit> {
    let folder = Folder::find();
    match folder.as_ref().map_or(Ok(()), Folder::check) {
        Ok(()) => Ok(folder),
        Err(error) => {
            let path = folder.map(|folder| folder.path().display().to_string()).unwrap_or_default();
            complain(&path, &format!("the sessions cannot be read: {error}"));
            Err(Exit::Setup)
        }
    }
}
