//! What a configuration says of single tools and calls, to be said again beside other rules.

use toml::Table;

/// What a policy knows by digests alone, so that it cannot be written out from it.
const BESIDE: [&str; 2] = ["tools", "allow"];

/// What the configuration `text` says of single tools and calls, as the end of another one.
pub(crate) fn beside_rules(text: &str) -> String {
    // What was read as a policy is a table.
    let table: Table = toml::from_str(text).unwrap_or_default();
    let beside: Table = table.into_iter().filter(|(key, _)| BESIDE.contains(&&**key)).collect();
    // Tables, texts and numbers that were read can be written.
    let text = toml::to_string(&beside).unwrap_or_default();
    if text.is_empty() { text } else { format!("\n{text}") }
}
