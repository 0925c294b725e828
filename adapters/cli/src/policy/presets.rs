//! `unstuck presets`: prints the policies that have a name.

use std::fmt::Write as _;

use anstyle::Style;
use unstuck_core::{Action, Phase, Policy, Tag};
use unstuck_report::config;
use unstuck_report::recurring::{condition, ladder, turns};
use unstuck_text::PRESETS;

use crate::exit::Exit;
use crate::output::{Reader, print};
use crate::policy::options::{PolicyFormat, Presets};

const STRONG: Style = Style::new().bold();

pub(crate) fn run(presets: &Presets) -> Exit {
    let (reader, text) = match (presets.format, presets.preset()) {
        (PolicyFormat::Human, Some(preset)) => (Reader::Person, policy(preset.policy)),
        (PolicyFormat::Human, None) => {
            let all = config::names().filter_map(config::named);
            let all: Vec<String> = all.map(|preset| policy(preset.policy)).collect();
            (Reader::Person, all.join("\n"))
        }
        (PolicyFormat::Toml, preset) => {
            (Reader::Program, config::editable(preset.unwrap_or(&PRESETS[0])))
        }
    };
    print(reader, &text, Exit::Clean)
}

fn policy(policy: &Policy<'_>) -> String {
    let name = policy.name();
    let default = if name == PRESETS[0].policy.name() { " (default)" } else { "" };
    let mut text = format!("{STRONG}{name}{STRONG:#}{default}, window {}\n", policy.window());
    for rule in policy.rules() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}: {}", rule.name, condition(rule));
        let silent = match rule.silent_max {
            Action::Stop => String::new(),
            most => format!("; at most {most} for silent results"),
        };
        let _ = writeln!(text, "    {}{silent}", ladder(&rule.ladder));
    }
    for rule in policy.texts() {
        let _ = writeln!(text, "  {}: {}", rule.name, turns(rule));
        let _ = writeln!(text, "    {}", ladder(&rule.ladder));
    }
    let exempt = Tag::ALL.into_iter().filter(|tag| policy.exempt().contains(*tag));
    let exempt: Vec<&str> = exempt.map(Tag::name).collect();
    if !exempt.is_empty() {
        let _ = writeln!(text, "  exempt: {}", exempt.join(", "));
    }
    text.push_str(&phases(policy));
    text
}

/// Describes the calls of a run in which the policy asks for more or fewer repetitions.
fn phases(policy: &Policy<'_>) -> String {
    let (early, late) = policy.phases();
    let phase = |when: &str, phase: Phase| match phase.patience {
        0 => String::new(),
        patience => format!("  {when} {} calls: {patience:+} repetitions\n", phase.calls),
    };
    phase("in the first", early) + &phase("after", late)
}
