//! Reasons in Qwen Code's settings why it does not run an installed hook.

use std::fs;

use crate::agents::host::{Diagnosis, Installation, Scope};
use crate::agents::settings::switch;

pub(super) fn diagnose(found: &Installation<'_>) -> Diagnosis {
    // The user's settings hold in a project, too.
    let users = fs::read_to_string(found.host.settings(Scope::User)).unwrap_or_default();
    let is_off =
        [found.text, &users].into_iter().any(|text| switch(text, "/disableAllHooks") == Some(true));
    let obstacles =
        is_off.then(|| "disableAllHooks is true, so no hook runs: remove it".to_owned());
    let advice = (found.scope == Scope::Project)
        .then(|| "Qwen Code runs the hooks of a project once its folder is trusted.".to_owned());
    Diagnosis {
        obstacles: obstacles.into_iter().collect(),
        advice: advice.into_iter().collect(),
        trusted: None,
    }
}
