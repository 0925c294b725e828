//! The transcripts that the agents on this machine have written.
//!
//! `OpenHands` is not among them: it writes a file for each event, so no file holds a whole run.

use std::fmt::Write as _;

use unstuck_report::shown::{counted, plain};
use unstuck_trace::Format;

use crate::agents::Agent;
use crate::read::inputs::Inputs;

/// Adds to `inputs` the transcripts of every agent on this machine, or of the agents that write the format
/// `from`. Passes the number of transcripts of each agent to `tell`.
///
/// # Errors
///
/// If there is no transcript. The message lists the folders that were searched.
pub(crate) fn find(
    mut inputs: Inputs,
    from: Option<Format>,
    tell: impl Fn(&str, &str),
) -> Result<Inputs, String> {
    let mut searched = String::new();
    for host in Agent::ALL.iter().map(|agent| agent.host()) {
        let Some(transcripts) = &host.transcripts else { continue };
        if from.is_some_and(|from| from != transcripts.format) {
            continue;
        }
        let folder = host.user_folder().join(transcripts.folder);
        let shown = plain(&folder.display().to_string());
        // Writing to a string cannot fail.
        let _ = write!(searched, "\n  {shown} ({})", host.title);
        let before = inputs.found.len();
        if folder.is_dir() {
            inputs.walk(&folder, |path| {
                path.strip_prefix(&folder).is_ok_and(|path| transcripts.include(path))
            });
        }
        if let Some(sessions @ 1..) = inputs.found.len().checked_sub(before) {
            tell(host.title, &format!("{} in {shown}", counted(sessions, "session")));
        }
    }
    if inputs.found.is_empty() && inputs.errors.is_empty() && inputs.older == 0 {
        Err(no_session(&searched))
    } else {
        Ok(inputs)
    }
}

/// The message if no folder in the list `searched` has a transcript.
fn no_session(searched: &str) -> String {
    let reason = match searched {
        "" => "that format is of no agent whose folder is known".to_owned(),
        searched => format!("there is no session in{searched}"),
    };
    format!("no path is given, and {reason}\n\nName a file or a folder, or - for standard input.")
}
