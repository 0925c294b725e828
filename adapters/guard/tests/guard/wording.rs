//! The wordings of messages.

use unstuck::{Guard, Preset, Wording};
use unstuck_text::PRESETS;

/// Runs of calls that fail, each call with its tool and its arguments.
const RUNS: [&[(&str, &str)]; 5] = [
    &[("bash", "make")],
    &[("bash", "make"), ("read", "a.rs")],
    &[("bash", "make"), ("bash", "cargo test")],
    &[("bash", "make"), ("edit", "a.rs"), ("edit", "b.rs")],
    &[("bash", "1"), ("bash", "2"), ("bash", "3"), ("bash", "4"), ("bash", "5"), ("bash", "6")],
];

/// Returns all that a guard says to a model that makes these calls again and again.
fn said(preset: &Preset, wording: Wording, calls: &[(&str, &str)]) -> Vec<String> {
    let guard = Guard::builder().preset(preset).wording(wording);
    let mut guard = guard.build().expect("a guard");
    let mut said = Vec::new();
    for (tool, args) in calls.iter().cycle().take(24) {
        let before = guard.before(tool, *args);
        said.extend(before.message().map(ToString::to_string));
        if !before.is_blocked() {
            let after = guard.after(before.ticket(), "make: *** No rule", true);
            said.extend(after.message().map(ToString::to_string));
        }
    }
    said
}

#[test]
fn a_message_without_the_name_says_the_same() {
    let mut with_names = 0;
    for (preset, calls) in PRESETS.iter().flat_map(|preset| RUNS.map(|calls| (preset, calls))) {
        let named = said(preset, Wording::Named, calls);
        let unnamed = said(preset, Wording::Unnamed, calls);
        assert_eq!(named.len(), unnamed.len(), "{calls:?}");
        for (named, unnamed) in named.iter().zip(&unnamed) {
            assert!(!unnamed.contains('`') && !unnamed.contains("  "), "{unnamed}");
            with_names += usize::from(named.contains('`'));
        }
    }
    assert!(with_names > 50, "{with_names}");
}
