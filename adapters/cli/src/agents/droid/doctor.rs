//! Reasons in Factory Droid's settings why it does not run an installed hook.

use std::fs;

use crate::agents::host::{Diagnosis, Installation};
use crate::agents::settings::meaning;

/// The file beside the settings whose hooks take the place of those that the settings list for the same event.
const RIVAL: &str = "hooks.json";

pub(super) fn diagnose(found: &Installation<'_>) -> Diagnosis {
    let mut diagnosis = Diagnosis::of_switch(found, "/hooks/hooksDisabled");
    let path = found.path.with_file_name(RIVAL);
    let rival = meaning(&fs::read_to_string(&path).unwrap_or_default()).unwrap_or_default();
    let hidden = found.entries.iter().find(|entry| rival.get(&entry.event).is_some());
    diagnosis.obstacles.extend(hidden.map(|entry| {
        let (path, event) = (path.display(), &entry.event);
        format!("{path} lists hooks of {event}, so that those in settings.json do not run: move them there")
    }));
    diagnosis
}
