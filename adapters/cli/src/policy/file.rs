//! Reads policies from files, and copies the tables for single tools and calls from one configuration to another.

use std::path::Path;

use toml::Table;
use unstuck_report::config::{Configured, configured, preset};
use unstuck_text::Preset;

use crate::exit::Exit;
use crate::setup;

/// The tables that a policy does not keep: it has digests instead of names, and no words.
const BESIDE: [&str; 3] = ["tools", "allow", "messages"];

/// Reads the policy in the file `path`. Prints an error if the file is wrong.
pub(crate) fn load(path: &Path) -> Result<&'static Preset, Exit> {
    setup::load(path, "a policy in TOML", preset)
}

/// Like [`load`], with what only hooks use.
pub(crate) fn load_for_hook(path: &Path) -> Result<Configured, Exit> {
    setup::load(path, "a policy in TOML", configured)
}

/// Like [`load`], and returns the tables for single tools and calls as well, see [`beside_rules`].
pub(crate) fn load_whole(path: &Path) -> Result<(&'static Preset, String), Exit> {
    setup::load(path, "a policy in TOML", |text| Ok((preset(text)?, beside_rules(text))))
}

/// Returns the tables for single tools and calls in the configuration `text`, to be appended to
/// another one.
pub(crate) fn beside_rules(text: &str) -> String {
    // A text that was read as a policy is a TOML table.
    let table: Table = toml::from_str(text).unwrap_or_default();
    let beside: Table = table.into_iter().filter(|(key, _)| BESIDE.contains(&&**key)).collect();
    // Every value that was read can be written.
    let text = toml::to_string(&beside).unwrap_or_default();
    if text.is_empty() { text } else { format!("\n{text}") }
}
