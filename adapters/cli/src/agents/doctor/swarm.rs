//! Whether the swarms that hooks are to be of can be asked.

use std::collections::BTreeSet;

use unstuck_swarm::redis::Watch;

use crate::agents::settings::Entry;
use crate::swarm::settings;

/// A line on each swarm that `entries` name.
pub(super) fn told<'e>(entries: impl Iterator<Item = &'e Entry>) -> Vec<String> {
    let urls: BTreeSet<&str> = entries.filter_map(url).collect();
    urls.into_iter().map(asked).collect()
}

/// The swarm that an entry names.
fn url(entry: &Entry) -> Option<&str> {
    let mut words = entry.line.words.iter().skip_while(|word| *word != "--swarm");
    words.nth(1).map(String::as_str)
}

/// What comes of asking.
fn asked(url: &str) -> String {
    let settings = match settings(url) {
        Ok(settings) => settings,
        Err(error) => return format!("without its swarm as things are here: {error}"),
    };
    let hottest = Watch::open(&settings).and_then(|mut watch| watch.hottest(1));
    let swarm = settings.swarm();
    hottest.map_or_else(
        |error| format!("without its swarm {swarm} for now: {error}"),
        |_| format!("its swarm {swarm} answers"),
    )
}
