//! Policies from files, and the command `presets`.

pub(crate) mod options;

use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use toml::Table;
use unstuck_core::{Action, Phase, Policy, Select, Tag};
use unstuck_report::config;
use unstuck_report::config::{Config, config_of, preset};
use unstuck_report::mistake::Mistake;
use unstuck_report::recurring::{condition, ladder, turns};
use unstuck_text::{PRESETS, Preset};

use crate::exit::Exit;
use crate::output::{Reader, print};
use crate::policy::options::{PolicyFormat, Presets};
use crate::setup;

/// The tables that a policy does not keep: it has digests instead of names, no words and no budget.
const OTHER_TABLES: [&str; 5] = ["tools", "allow", "messages", "budget", "prices"];

/// Reads the policy in the file `path`. Prints an error if the file is wrong.
pub(crate) fn load(path: &Path) -> Result<&'static Preset, Exit> {
    setup::load(path, "a policy in TOML", preset)
}

/// Reads the whole configuration in the file `path`, like [`load`].
pub(crate) fn load_config(path: &Path) -> Result<Config, Exit> {
    setup::load(path, "a policy in TOML", config_of)
}

/// The mistake of a policy that is to be written again.
const OF_ONE_TOOL: &str = "a policy with a rule for one tool cannot be written again, because it does not keep the tool's \
                           name: leave such rules out, and add them to what is written";

/// Like [`load`], and returns the tables that a policy does not keep as well, see [`other_tables`].
pub(crate) fn load_whole(path: &Path) -> Result<(&'static Preset, String), Exit> {
    setup::load(path, "a policy in TOML", |text| {
        let preset = preset(text)?;
        if preset.policy.rules().iter().any(|rule| matches!(rule.select, Select::Tool(_))) {
            return Err(Mistake::new(0..0, OF_ONE_TOOL));
        }
        Ok((preset, other_tables(text)))
    })
}

/// Returns the tables of the configuration `text` that a policy does not keep, to be appended to
/// another one.
pub(crate) fn other_tables(text: &str) -> String {
    // A text that was read as a policy is a TOML table.
    let table: Table = toml::from_str(text).unwrap_or_default();
    let beside: Table =
        table.into_iter().filter(|(key, _)| OTHER_TABLES.contains(&&**key)).collect();
    // Every value that was read can be written.
    let text = toml::to_string(&beside).unwrap_or_default();
    if text.is_empty() { text } else { format!("\n{text}") }
}

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
