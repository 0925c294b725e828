//! The lines on swarms of a program that is built without servers.

use crate::agents::settings::Entry;
use crate::lacking::how;

/// Returns a line if one of the `entries` names a swarm.
pub(super) fn checks<'e>(mut entries: impl Iterator<Item = &'e Entry>) -> Vec<String> {
    let has_swarm = entries.any(|entry| entry.line.words.iter().any(|word| word == "--swarm"));
    has_swarm.then(|| format!("runs without its swarm: {}", how("--swarm"))).into_iter().collect()
}
