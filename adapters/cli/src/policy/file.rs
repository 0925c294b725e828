//! Reads policies from files, and copies the tables for single tools and calls from one configuration to another.

use std::path::Path;

use toml::Table;
use unstuck_report::config::preset;
use unstuck_text::Preset;

use crate::exit::Exit;
use crate::setup;

/// The tables whose names a policy does not keep: it has digests only.
const BESIDE: [&str; 2] = ["tools", "allow"];

/// Reads the policy in the file `path`. Prints an error if the file is wrong.
pub(crate) fn load(path: &Path) -> Result<&'static Preset, Exit> {
    setup::load(path, "a policy in TOML", preset)
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
