//! Reasons in GitHub Copilot CLI's settings why it does not run an installed hook.

use crate::agents::host::{Diagnosis, Installation, Scope};
use crate::agents::settings::switch;

pub(super) fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let mut obstacles = Vec::new();
    if let Err(error) = serde_json::from_str::<serde_json::Value>(found.text) {
        obstacles.push(format!(
            "GitHub Copilot CLI skips this file, because it is not plain JSON: {error}"
        ));
    }
    if switch(found.text, "/disableAllHooks") == Some(true) {
        obstacles
            .push("disableAllHooks is true, so no hook of this file runs: remove it".to_owned());
    }
    let advice = (found.scope == Scope::Project).then(|| {
        "GitHub Copilot CLI runs the hooks of a project once its folder is trusted.".to_owned()
    });
    Diagnosis { obstacles, advice: advice.into_iter().collect(), trusted: None }
}
