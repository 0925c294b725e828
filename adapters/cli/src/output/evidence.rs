//! Describes the findings of a guard for people.

use unstuck::Evidence;
use unstuck_report::recurring::{TOOL_MAX, result, what_recurs};
use unstuck_report::shown::tool_name;

/// Describes a finding, and for a swarm the number of its workers.
pub(crate) fn what_was_found(found: &Evidence) -> String {
    if !found.is_of_swarm() {
        return what_recurs(&found.finding, &found.tool);
    }
    let (tool, result) = (tool_name(&found.tool, TOOL_MAX), result(&found.finding));
    format!("`{tool}` {} times by {} workers{result}", found.finding.laps, found.workers)
}
