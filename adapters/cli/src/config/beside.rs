//! Copies the tables for single tools and calls from one configuration to another.

use toml::Table;

/// The tables whose names a policy does not keep: it has digests only.
const BESIDE: [&str; 2] = ["tools", "allow"];

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
