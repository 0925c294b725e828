//! The streams that output goes to, and how it fits into a terminal.

pub(crate) mod effect;
mod terminal;

use textwrap::Options;
use unstuck::Evidence;
use unstuck_report::recurring::{TOOL_MAX, result, what_recurs};
use unstuck_report::shown::{COLUMNS, tool_name};

pub(crate) use terminal::{
    Closed, Output, Reader, Replacement, complain, misused, print, remark, show, usage,
};

/// Returns `text` in lines of the usual width that begin with `indent`.
pub(crate) fn filled(text: &str, indent: &str) -> String {
    let options = Options::new(COLUMNS).initial_indent(indent).subsequent_indent(indent);
    textwrap::fill(text, options) + "\n"
}

/// Describes a finding, and for a swarm the number of its workers.
pub(crate) fn what_was_found(found: &Evidence) -> String {
    if !found.is_of_swarm() {
        return what_recurs(&found.finding, &found.tool);
    }
    let (tool, result) = (tool_name(&found.tool, TOOL_MAX), result(&found.finding));
    format!("`{tool}` {} times by {} workers{result}", found.finding.laps, found.workers)
}
