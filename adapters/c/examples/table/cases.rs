//! The cases of the presets. `adapters/text/tests/presets/table.rs` explains their notation, and tests
//! their actions.

use serde_json::json;
use unstuck_text::PRESETS;

use crate::play::{Event, EventKind, FAILED, Player, Table};

const CASES: &str = include_str!("../../../text/tests/presets/cases.txt");

/// Plays every case with a new detector.
pub(crate) fn play(table: &mut Table) {
    for line in CASES.lines().filter(|line| !line.is_empty()) {
        let (preset, rest) = line.split_once(": ").expect("a preset");
        let (events, _) = rest.rsplit_once(" | ").expect("actions");
        let place = PRESETS.iter().position(|one| one.policy.name() == preset);
        let mut player = table.begin(place.expect("a known preset"));
        events.split_whitespace().for_each(|token| take(&mut player, token));
    }
}

/// Plays the events of `token`.
fn take(player: &mut Player<'_>, token: &str) {
    if let Some(text) = token.strip_prefix('"') {
        return say(player, EventKind::TurnText, text.trim_end_matches('"'));
    }
    if let Some(text) = token.strip_prefix('>') {
        return say(player, EventKind::UserText, text);
    }
    let (call, result, failed) = match (token.split_once('='), token.split_once('!')) {
        (Some((call, result)), _) => (call, Some(result), false),
        (_, Some((call, result))) => (call, Some(result), true),
        _ => (token, None, false),
    };
    let (tool, command) = call.split_once(':').unwrap_or(("bash", call));
    let args = json!({ "command": command.replace('_', " ") }).to_string();
    call_and_answer(player, tool, &args, None, result, failed);
}

pub(crate) fn say(player: &mut Player<'_>, kind: EventKind, text: &str) {
    let text = player.table.text(text);
    player.play(Event { text, ..Event::new(kind) });
}

/// Plays a call and its result, if there is one.
pub(crate) fn call_and_answer(
    player: &mut Player<'_>,
    tool: &str,
    args: &str,
    step: Option<u32>,
    result: Option<&str>,
    failed: bool,
) {
    let (name, text) = (player.table.text(tool), player.table.text(args));
    let event = Event { name, text, ..Event::new(EventKind::AnnounceJson) };
    let event = match step {
        Some(number) => Event { number, flags: crate::play::NUMBERED, ..event },
        None => event,
    };
    let call = player.calls();
    player.play(event);
    if let Some(result) = result {
        answer(player, call, tool, result, failed);
    }
}

/// Plays the result of the call with the number `call`.
pub(crate) fn answer(player: &mut Player<'_>, call: usize, tool: &str, result: &str, failed: bool) {
    let (name, text) = (player.table.text(tool), player.table.text(result));
    let (which, flags) = (Player::which(call), if failed { FAILED } else { 0 });
    player.play(Event { flags, which, name, text, ..Event::new(EventKind::OutcomeText) });
}
