//! The hooks of Claude Code, which Cursor may run as well.

use std::fs;

use crate::agents::claude_code;
use crate::agents::host::{Diagnosis, Installation, Scope};
use crate::agents::settings::listed;

pub(super) fn diagnose(_: &Installation<'_>) -> Diagnosis {
    let is_installed = |scope| {
        let text = fs::read_to_string(claude_code::HOST.settings(scope)).unwrap_or_default();
        listed(&text).is_ok_and(|entries| !entries.is_empty())
    };
    let advice = Scope::ALL.into_iter().find(|scope| is_installed(*scope)).map(|scope| {
        format!(
            "Cursor may also run the hooks in {}: then each call reaches unstuck twice. Turn third-party \
             hooks off in Cursor's settings, or uninstall one of the two.",
            claude_code::HOST.settings(scope).display()
        )
    });
    Diagnosis { obstacles: Vec::new(), advice: advice.into_iter().collect(), trusted: None }
}
