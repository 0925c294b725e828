//! Describes the rules of a policy for people.

use unstuck_core::{
    Basis, Force, Ladder, Outcomes, Pattern, Progress, Rule, Select, Silence, TextRule, Texts,
};

/// Describes the condition of a rule about calls.
pub fn condition(rule: &Rule<'_>) -> String {
    let select = match rule.select {
        Select::Every => String::new(),
        Select::Tag(tag) => format!(", only tag {tag}"),
        Select::Except(tag) => format!(", all but tag {tag}"),
        Select::Tool(_) => ", only one tool".to_owned(),
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
pub fn turns(rule: &TextRule<'_>) -> String {
    let times = rule.times;
    match rule.texts {
        Texts::Any => format!("{times} text-only turns in a row"),
        Texts::Same => format!("{times} text-only turns with the same text in a row"),
        Texts::Prompt => format!("the same message {times} times with no call between"),
        Texts::Inside => format!("a text-only turn that says the same thing {times} times over"),
    }
}

/// Describes the actions of a ladder.
pub fn ladder(ladder: &Ladder<'_>) -> String {
    let basis = match ladder.basis {
        Basis::Repetitions => "by repetitions",
        Basis::LoopFindings => "by findings of the same loop",
        Basis::AllFindings => "by findings of any kind",
    };
    let rungs = ladder.rungs.iter().map(|rung| format!("{} {}", rung.count, rung.action));
    format!("{basis}: {}", rungs.collect::<Vec<_>>().join(", "))
}
