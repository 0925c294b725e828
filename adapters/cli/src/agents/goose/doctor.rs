//! Reasons in goose's settings why it does not run an installed hook.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::agents::host::{Diagnosis, Installation};

/// The name of the plugin, which is that of its folder.
const PLUGIN: &str = "unstuck";

pub(super) fn diagnose(found: &Installation<'_>) -> Diagnosis {
    // The plugin is in `.agents/plugins`, beside which goose's settings are in `.config/goose`.
    let around = found.path.ancestors().nth(5);
    let obstacle = around.map(|around| around.join(".config/goose/settings.json"));
    let obstacle = obstacle.filter(|settings| disables(settings)).map(|settings| {
        format!("{} lists {PLUGIN} in disabledPlugins: remove the name", settings.display())
    });
    Diagnosis { obstacles: obstacle.into_iter().collect(), advice: Vec::new(), trusted: None }
}

fn disables(settings: &Path) -> bool {
    let settings = fs::read_to_string(settings).unwrap_or_default();
    let settings: Value = serde_json::from_str(&settings).unwrap_or_default();
    let disabled = settings.get("disabledPlugins").and_then(Value::as_array);
    disabled.is_some_and(|names| names.iter().any(|name| name == PLUGIN))
}
