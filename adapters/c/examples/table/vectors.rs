//! The design's vectors, if they are present.

use std::fs;

use serde_json::Value;
use unstuck_text::PRESETS;

use crate::cases::{call_and_answer, say};
use crate::play::{Event, EventKind, Player, Table};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors.json");

/// Plays every vector of an unchanged preset. C cannot change settings, so vectors with other settings are
/// left out.
pub(crate) fn play(table: &mut Table) {
    let Ok(text) = fs::read_to_string(PATH) else {
        println!("the design's vectors are not present");
        return;
    };
    let vectors: Value = serde_json::from_str(&text).expect("JSON");
    let list = |name: &str| vectors[name].as_array().expect("a list").iter();
    let of_presets = list("presets").filter(|case| case.get("config").is_none());
    let of_balanced = list("balanced").map(|case| (case, "balanced"));
    let named = of_presets.map(|case| (case, case["preset"].as_str().expect("a preset")));
    for (case, preset) in named.chain(of_balanced) {
        let place = PRESETS.iter().position(|one| one.policy.name() == preset);
        let mut player = table.begin(place.expect("a known preset"));
        for event in case["events"].as_array().expect("a list") {
            take(&mut player, event);
        }
    }
}

fn take(player: &mut Player<'_>, event: &Value) {
    let text = |name: &str| event[name].as_str().unwrap_or_default();
    match (text("type"), text("role")) {
        ("call", _) => {
            let (result, failed) = (event["result"].as_str(), event["is_error"] == true);
            let args = event["args"].to_string();
            call_and_answer(player, text("tool"), &args, None, result, failed);
        }
        ("message", "assistant") => say(player, EventKind::TurnText, text("text")),
        ("message", "user") => say(player, EventKind::UserText, text("text")),
        ("control", _) => player.play(Event::new(EventKind::Clear)),
        other => panic!("an event of type {other:?}"),
    }
}
