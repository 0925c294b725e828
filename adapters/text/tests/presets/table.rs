//! A case for every line of the presets' table, in a short notation.
//!
//! `a` calls `bash` with the command `a` and never hears of it; `a=x` is answered `x`, `a!x`
//! fails with `x`; `tool:a` calls another tool; `"hi"` is a turn of text, `>hi` a user's
//! message. After `|` stand the actions, by initial: `.` proceed, Nudge, Warn, Block, `R` start
//! over, Stop.

use serde_json::json;
use serde_json::value::to_raw_value;
use unstuck_core::Action;
use unstuck_text::Preset;

use crate::run::{Event, actions};

fn event(token: &str) -> Event {
    if let Some(text) = token.strip_prefix('"') {
        let text = text.trim_end_matches('"').to_owned();
        return Event::Message { role: "assistant".to_owned(), text };
    }
    if let Some(text) = token.strip_prefix('>') {
        return Event::Message { role: "user".to_owned(), text: text.to_owned() };
    }
    let (call, result, failed) = match (token.split_once('='), token.split_once('!')) {
        (Some((call, result)), _) => (call, Some(result.to_owned()), false),
        (_, Some((call, result))) => (call, Some(result.to_owned()), true),
        _ => (token, None, false),
    };
    let (tool, command) = call.split_once(':').unwrap_or(("bash", call));
    let args = to_raw_value(&json!({ "command": command.replace('_', " ") })).unwrap();
    Event::Call { tool: tool.to_owned(), args, result, failed }
}

fn initial(action: Action) -> char {
    match action {
        Action::Proceed => '.',
        Action::Nudge => 'N',
        Action::Warn => 'W',
        Action::Block => 'B',
        Action::StartOver => 'R',
        Action::Stop => 'S',
    }
}

/// Each line: a preset, the events, and the actions.
const CASES: &str = include_str!("cases.txt");

#[test]
fn every_line_of_the_table() {
    let mut wrong = Vec::new();
    for line in CASES.lines().filter(|line| !line.is_empty()) {
        let (preset, rest) = line.split_once(": ").unwrap();
        // The last bar: a command may hold one.
        let (events, expected) = rest.rsplit_once(" | ").unwrap();
        let events: Vec<Event> = events.split_whitespace().map(event).collect();
        let preset = Preset::named(preset).unwrap();
        let acted = actions(preset.policy, preset.recipe, &events);
        let acted: String = acted.into_iter().map(initial).collect();
        if acted != expected.trim() {
            wrong.push(format!("{line}, but {acted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_turn_that_goes_round_in_itself() {
    let balanced = Preset::named("balanced").unwrap();
    let told = [4, 8, 12].map(|times| {
        let text = "We will check the tests once more. ".repeat(times);
        let turn = Event::Message { role: "assistant".to_owned(), text };
        actions(balanced.policy, balanced.recipe, &[turn])
    });
    assert_eq!(told, [[Action::Proceed], [Action::Nudge], [Action::Warn]]);
}
