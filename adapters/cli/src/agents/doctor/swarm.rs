//! Checks that the swarms in the installed command lines answer.

use std::collections::BTreeSet;

use unstuck_swarm::redis::Watch;

use crate::agents::settings::Entry;
use crate::swarm::settings;

/// Returns a line for each swarm that `entries` name.
pub(super) fn checks<'e>(entries: impl Iterator<Item = &'e Entry>) -> Vec<String> {
    let urls: BTreeSet<&str> = entries.filter_map(url).collect();
    urls.into_iter().map(asked).collect()
}

/// Returns the address of the swarm that an entry names.
fn url(entry: &Entry) -> Option<&str> {
    let mut words = entry.line.words.iter().skip_while(|word| *word != "--swarm");
    words.nth(1).map(String::as_str)
}

/// Asks a swarm and returns a line on the result.
fn asked(url: &str) -> String {
    let settings = match settings(url) {
        Ok(settings) => settings,
        Err(error) => return format!("runs without its swarm: {error}"),
    };
    let hottest = Watch::open(&settings).and_then(|mut watch| watch.hottest(1));
    let swarm = settings.swarm();
    hottest.map_or_else(
        |error| format!("runs without its swarm {swarm} for now: {error}"),
        |_| format!("its swarm {swarm} answers"),
    )
}
