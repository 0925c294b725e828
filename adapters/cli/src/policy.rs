//! Policies from files, and the command `presets`.

pub(crate) mod options;
pub(crate) mod presets;

use std::path::Path;

use toml::Table;
use unstuck_core::Select;
use unstuck_report::config::{Config, config_of, preset};
use unstuck_report::mistake::Mistake;
use unstuck_text::Preset;

use crate::exit::Exit;
use crate::setup;

/// The tables that a policy does not keep: it has digests instead of names, no words and no budget.
const OTHER_TABLES: [&str; 5] = ["tools", "allow", "messages", "budget", "prices"];

/// Reads the policy in the file `path`. Prints an error if the file is wrong.
pub(crate) fn load(path: &Path) -> Result<&'static Preset, Exit> {
    setup::load(path, "a policy in TOML", preset)
}

/// Reads the whole configuration in the file `path`, like [`load`].
pub(crate) fn load_config(path: &Path) -> Result<Config, Exit> {
    setup::load(path, "a policy in TOML", config_of)
}

/// The mistake of a policy that is to be written again.
const OF_ONE_TOOL: &str = "a policy with a rule for one tool cannot be written again, because it does not keep the tool's \
                           name: leave such rules out, and add them to what is written";

/// Like [`load`], and returns the tables that a policy does not keep as well, see [`other_tables`].
pub(crate) fn load_whole(path: &Path) -> Result<(&'static Preset, String), Exit> {
    setup::load(path, "a policy in TOML", |text| {
        let preset = preset(text)?;
        if preset.policy.rules().iter().any(|rule| matches!(rule.select, Select::Tool(_))) {
            return Err(Mistake::new(0..0, OF_ONE_TOOL));
        }
        Ok((preset, other_tables(text)))
    })
}

/// Returns the tables of the configuration `text` that a policy does not keep, to be appended to
/// another one.
pub(crate) fn other_tables(text: &str) -> String {
    // A text that was read as a policy is a TOML table.
    let table: Table = toml::from_str(text).unwrap_or_default();
    let beside: Table =
        table.into_iter().filter(|(key, _)| OTHER_TABLES.contains(&&**key)).collect();
    // Every value that was read can be written.
    let text = toml::to_string(&beside).unwrap_or_default();
    if text.is_empty() { text } else { format!("\n{text}") }
}
