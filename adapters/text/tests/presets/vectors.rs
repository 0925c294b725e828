//! The design's vectors, where they are present.

use std::fs;

use serde::Deserialize;
use unstuck_core::{Action, Pattern, Policy, Rule};
use unstuck_text::Preset;

use crate::run::{Event, actions};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors.json");

#[derive(Deserialize)]
struct Vectors {
    presets: Vec<Case>,
    balanced: Vec<Case>,
}

/// A run, and what a preset does in it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Case {
    name: String,
    events: Vec<Event>,
    preset: String,
    /// The action at each event.
    actions: Vec<String>,
    config: Config,
    /// Whether `balanced` acts at all, and at which event.
    fires: bool,
    by: Option<usize>,
    not_before: Option<usize>,
    never: Option<String>,
}

#[derive(Default, Deserialize)]
struct Config {
    within: Option<u8>,
}

fn vectors() -> Option<Vectors> {
    let Ok(text) = fs::read_to_string(PATH) else {
        eprintln!("skipped: the design's vectors are not here");
        return None;
    };
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn every_preset_acts_as_its_vectors_say() {
    let Some(vectors) = vectors() else { return };
    for case in vectors.presets {
        let preset = Preset::named(&case.preset).unwrap();
        let policy = preset.policy;
        let within = |rule: &Rule<'static>| match (rule.pattern, case.config.within) {
            (Pattern::Recurrence { times, novel, .. }, Some(within)) => {
                rule.pattern(Pattern::Recurrence { times, within, novel })
            }
            _ => *rule,
        };
        let rules: Vec<Rule<'_>> = policy.rules().iter().map(within).collect();
        let changed = Policy::new(policy.name(), policy.window(), &rules).unwrap();
        let policy = if case.config.within.is_some() { &changed } else { policy };
        let acted = actions(policy, preset.recipe, &case.events);
        let acted: Vec<&str> = acted.into_iter().map(Action::name).collect();
        assert_eq!(acted, case.actions, "{}: {}", case.preset, case.name);
    }
}

#[test]
fn balanced_speaks_in_time_and_never_too_early() {
    let Some(vectors) = vectors() else { return };
    let balanced = Preset::named("balanced").unwrap();
    for scenario in vectors.balanced {
        let name = &scenario.name;
        let acted = actions(balanced.policy, balanced.recipe, &scenario.events);
        let first = acted.iter().position(|action| *action > Action::Proceed).map(|n| n + 1);
        if let Some(never) = &scenario.never {
            assert!(acted.iter().all(|action| action.name() != never), "{name}");
        }
        assert_eq!(first.is_some(), scenario.fires, "{name}: {first:?}");
        assert!(first <= scenario.by, "{name}: {first:?}, but by {:?}", scenario.by);
        assert!(first >= scenario.not_before, "{name}: {first:?}");
    }
}
