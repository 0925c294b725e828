//! Policies from files, and the command `presets`.

mod file;
pub(crate) mod options;
pub(crate) mod presets;

pub(crate) use file::{beside_rules, load, load_config, load_whole};
