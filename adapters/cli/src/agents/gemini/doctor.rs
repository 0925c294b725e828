//! Reasons in Gemini CLI's settings why it does not run an installed hook.

use serde_json::Value;

use super::LABEL;
use crate::agents::host::{Diagnosis, Installation, Scope};
use crate::agents::settings::{meaning, switch};

pub(super) fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let mut obstacles = Vec::new();
    if switch(found.text, "/hooksConfig/enabled") == Some(false) {
        obstacles.push("hooksConfig.enabled is false, so no hook runs: remove it".to_owned());
    }
    let settings = meaning(found.text).unwrap_or_default();
    let disabled = settings.pointer("/hooksConfig/disabled").and_then(Value::as_array);
    if disabled.is_some_and(|names| names.iter().any(|name| name == LABEL)) {
        obstacles.push(format!(
            "hooksConfig.disabled names {LABEL}, so its hook does not run: remove the name"
        ));
    }
    let advice = (found.scope == Scope::Project).then(|| {
        "Gemini CLI reads these settings if it is started in this folder and trusts the folder."
            .to_owned()
    });
    Diagnosis { obstacles, advice: advice.into_iter().collect(), trusted: None }
}
