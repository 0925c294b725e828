//! `unstuck presets`: prints the policies that have a name.

use std::fmt::Write as _;

use anstyle::Style;
use unstuck_core::{
    Action, Basis, Force, Ladder, Outcomes, Pattern, Phase, Policy, Progress, Rule, Select,
    Silence, Tag, TextRule, Texts,
};
use unstuck_report::config;
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

/// Describes the condition of a rule about calls.
pub(crate) fn condition(rule: &Rule<'_>) -> String {
    let select = match rule.select {
        Select::Every => String::new(),
        Select::Tag(tag) => format!(", only tag {tag}"),
        Select::Except(tag) => format!(", all but tag {tag}"),
        Select::Unreported => ", only calls without an outcome".to_owned(),
    };
    let failed = match rule.outcomes {
        Outcomes::Any => "",
        Outcomes::Failed => ", all failed",
        Outcomes::Failures => ", failures among others",
    };
    let force = match rule.force {
        Force::Always => "",
        Force::Proven => ", force on proof",
    };
    let progress = match rule.progress {
        Progress::Respect => "",
        Progress::Ignore => ", progress ignored",
        Progress::Anywhere => ", progress anywhere respected",
    };
    let silence = match rule.silence {
        Silence::Ignored => "",
        Silence::Evidence => ", silence counted",
        Silence::Telling => ", only telling ones",
    };
    format!(
        "args {}, results {}{silence}{select}{failed}; {}{progress}{force}",
        rule.args.name(),
        rule.results.name(),
        pattern(rule.pattern),
    )
}

fn pattern(pattern: Pattern) -> String {
    match pattern {
        Pattern::Streak { times } => format!("{times} in a row"),
        Pattern::Recurrence { times, within, novel: u8::MAX } => {
            format!("{times} within {within}")
        }
        Pattern::Recurrence { times, within, novel } => {
            format!("{times} within {within}, at most {novel} novel between")
        }
        Pattern::Cycle { period_min, period_max, laps } if period_min == period_max => {
            format!("a cycle of {period_min}, {laps} laps")
        }
        Pattern::Cycle { period_min, period_max, laps } => {
            format!("a cycle of {period_min} to {period_max}, {laps} laps")
        }
    }
}

/// Describes the condition of a rule about turns without a call.
pub(crate) fn turns(rule: &TextRule<'_>) -> String {
    let times = rule.times;
    match rule.texts {
        Texts::Any => format!("{times} text-only turns in a row"),
        Texts::Same => format!("{times} text-only turns with the same text in a row"),
        Texts::Prompt => format!("the same message {times} times with no call between"),
        Texts::Inside => format!("a text-only turn that says the same thing {times} times over"),
    }
}

/// Describes the actions of a ladder.
pub(crate) fn ladder(ladder: &Ladder<'_>) -> String {
    let basis = match ladder.basis {
        Basis::Repetitions => "by repetitions",
        Basis::LoopFindings => "by findings of the same loop",
        Basis::AllFindings => "by findings of any kind",
    };
    let rungs = ladder.rungs.iter().map(|rung| format!("{} {}", rung.count, rung.action));
    format!("{basis}: {}", rungs.collect::<Vec<_>>().join(", "))
}
