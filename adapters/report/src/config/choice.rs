//! The policies with a name, and the policy that a host in another language chose: a preset, or a configuration, with
//! declared tools.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use toml::{Table, Value};
use unstuck_text::{PRESETS, Preset};

use super::{Config, config_of, named};

/// The default preset.
const DEFAULT: &str = "balanced";

/// A configuration with any of these fields chooses its own preset or rules, so no other preset applies.
const WHOLE: [&str; 6] = ["preset", "name", "window", "recipe", "rule", "text"];

/// A preset by its name, or the text of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PolicyChoice {
    /// The name of a preset.
    Named(String),
    /// A configuration in TOML.
    Written(String),
}

impl PolicyChoice {
    /// Chooses the preset `preset`, or the configuration in TOML, with the tools of a JSON object: to each
    /// name, an effect or the fields of `[tools.NAME]`. They are added to the configuration's own.
    ///
    /// # Errors
    ///
    /// One sentence, if the parts cannot go together. `option` is the host's name of the configuration.
    pub fn new(
        option: &str,
        preset: &str,
        config: Option<&str>,
        tools: Option<&str>,
    ) -> Result<Self, String> {
        if config.is_none() && tools.is_none() {
            return Ok(Self::Named(preset.to_owned()));
        }
        let config = config.unwrap_or_default();
        let Ok(mut table) = config.parse::<Table>() else {
            // The reader of policies says what is wrong.
            return Ok(Self::Written(config.to_owned()));
        };
        let is_whole = WHOLE.iter().any(|field| table.contains_key(*field));
        if is_whole && preset != DEFAULT {
            return Err(format!(
                "{option}: it names a preset or has rules of its own, so the preset {preset:?} does not \
                 apply: leave one of the two out"
            ));
        }
        if is_whole && tools.is_none() {
            return Ok(Self::Written(config.to_owned()));
        }
        if !is_whole {
            table.insert("preset".to_owned(), Value::String(preset.to_owned()));
        }
        let refused = |why: String| format!("{option}: {why}");
        if let Some(tools) = tools {
            let tools = serde_json::from_str(tools).map_err(|why| refused(why.to_string()))?;
            add_tools(&mut table, tools).map_err(refused)?;
        }
        toml::to_string(&table).map(Self::Written).map_err(|why| refused(why.to_string()))
    }

    /// Adds a budget: a JSON object with the fields of `[budget]`. It replaces the configuration's own.
    ///
    /// # Errors
    ///
    /// One sentence, if it is no object. `option` is the host's name of the budget.
    pub fn with_budget(self, option: &str, budget: &str) -> Result<Self, String> {
        let refused = |why: String| format!("{option}: {why}");
        let budget: Table = serde_json::from_str(budget).map_err(|why| refused(why.to_string()))?;
        let mut table = match &self {
            Self::Named(name) => {
                Table::from_iter([("preset".to_owned(), Value::String(name.clone()))])
            }
            Self::Written(config) => match config.parse::<Table>() {
                Ok(table) => table,
                // The reader of policies says what is wrong.
                Err(_) => return Ok(self),
            },
        };
        table.insert("budget".to_owned(), Value::Table(budget));
        toml::to_string(&table).map(Self::Written).map_err(|why| refused(why.to_string()))
    }

    /// Returns the policy. One that was read stays in memory, so each is read once.
    ///
    /// # Errors
    ///
    /// A message that says what is wrong, and where. `option` is the host's name of the configuration.
    pub fn preset(&self, option: &str) -> Result<&'static Preset, String> {
        Ok(self.config(option)?.preset)
    }

    /// Returns the policy, as [`PolicyChoice::preset`] does, with its budget.
    ///
    /// # Errors
    ///
    /// A message that says what is wrong, and where. `option` is the host's name of the configuration.
    pub fn config(&self, option: &str) -> Result<&'static Config, String> {
        static READ: Mutex<Option<HashMap<PolicyChoice, &'static Config>>> = Mutex::new(None);
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let read = read.get_or_insert_default();
        if let Some(config) = read.get(self) {
            return Ok(config);
        }
        let config = match self {
            Self::Named(name) => {
                let preset = named(name).ok_or_else(|| {
                    let known = names().collect::<Vec<_>>().join(", ");
                    format!("there is no preset {name:?}; there are {known}")
                })?;
                Config::of(preset)
            }
            Self::Written(text) => check_config(text).map_err(|why| format!("{option}, {why}"))?,
        };
        let config = Box::leak(Box::new(config));
        read.insert(self.clone(), config);
        Ok(config)
    }
}

/// Returns a JSON object as the text of a configuration.
///
/// # Errors
///
/// One sentence, if it is no object, or has a value that TOML does not have.
pub fn config_of_json(json: &str) -> Result<String, String> {
    let table: Table = serde_json::from_str(json).map_err(|why| why.to_string())?;
    toml::to_string(&table).map_err(|why| why.to_string())
}

/// Adds the tools' tables. A word in place of a table is an effect.
fn add_tools(config: &mut Table, tools: Table) -> Result<(), String> {
    let known = config.entry("tools").or_insert_with(|| Value::Table(Table::new()));
    let Some(known) = known.as_table_mut() else {
        return Err("`tools` has to be a table".to_owned());
    };
    for (name, tool) in tools {
        let fields = match tool {
            Value::Table(fields) => fields,
            effect => Table::from_iter([("effect".to_owned(), effect)]),
        };
        match known.get_mut(&name) {
            Some(Value::Table(before)) => before.extend(fields),
            _ => {
                known.insert(name, Value::Table(fields));
            }
        }
    }
    Ok(())
}

/// A rule set and its name.
struct Published {
    name: &'static str,
    /// Its file, in the format of `--config`.
    text: &'static str,
}

const PUBLISHED: [Published; 6] = [
    Published { name: "openhands", text: include_str!("../../policies/openhands.toml") },
    Published { name: "gemini-cli", text: include_str!("../../policies/gemini-cli.toml") },
    Published { name: "crush", text: include_str!("../../policies/crush.toml") },
    Published { name: "cline", text: include_str!("../../policies/cline.toml") },
    Published { name: "stella", text: include_str!("../../policies/stella.toml") },
    Published { name: "forge", text: include_str!("../../policies/forge.toml") },
];

/// Returns the names of all policies: the presets, the default first, then the rule sets of other
/// agents.
pub fn names() -> impl Iterator<Item = &'static str> {
    let presets = PRESETS.iter().map(|preset| preset.policy.name());
    presets.chain(PUBLISHED.iter().map(|published| published.name))
}

/// Returns the file of the rule set `name`, or `None` for a preset, which has no file.
pub fn text(name: &str) -> Option<&'static str> {
    PUBLISHED.iter().find(|published| published.name == name).map(|published| published.text)
}

/// Returns the policy that the TOML text `config` describes, in the format of `--config`. It stays in
/// memory.
///
/// # Errors
///
/// The first mistake in the text.
pub fn check_policy(config: &str) -> Result<&'static Preset, WrongPolicy> {
    Ok(check_config(config)?.preset)
}

/// Like [`check_policy`], and returns the budget and the prices in the text as well.
///
/// # Errors
///
/// The first mistake in the text.
pub fn check_config(config: &str) -> Result<Config, WrongPolicy> {
    config_of(config).map_err(|mistake| {
        let (line, column) = mistake.place(config);
        let (what, quote) = (mistake.what().to_owned(), mistake.quote(config));
        WrongPolicy { line, column, what, quote }
    })
}

/// A mistake in the TOML text of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongPolicy {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// One sentence that says what is wrong.
    pub what: String,
    /// The line with the mistake marked, like a compiler.
    pub quote: String,
}

impl fmt::Display for WrongPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, what, quote } = self;
        write!(f, "line {line}, column {column}: {what}\n{quote}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::*;
    use crate::cases::check;

    /// Returns what is chosen by a preset, a configuration and tools, of which the last two may be missing.
    fn written(parts: &str) -> Result<String, String> {
        let parts: Vec<_> = parts.split(" | ").collect();
        let given = |n: usize| Some(parts[n]).filter(|part| *part != "-");
        Ok(match PolicyChoice::new("policy", parts[0], given(1), given(2))? {
            PolicyChoice::Named(name) => format!("the preset {name}"),
            PolicyChoice::Written(text) => text,
        })
    }

    #[test]
    fn a_preset_completes_a_configuration_that_is_none_of_its_own() {
        check("choice: a preset, a configuration and tools", |parts| written(parts).expect(parts));
    }

    #[test]
    fn parts_that_cannot_go_together_are_refused() {
        check("choice: parts that cannot go together", |parts| written(parts).expect_err(parts));
        let unknown = PolicyChoice::Named("oops".to_owned()).preset("policy");
        assert!(
            unknown.expect_err("unknown").starts_with("there is no preset \"oops\"; there are")
        );
        let wrong = PolicyChoice::Written("window = \"x\"".to_owned()).preset("policy");
        assert!(wrong.expect_err("wrong").starts_with("policy, line 1, column "));
    }

    #[test]
    fn a_budget_joins_a_preset_or_a_configuration() {
        let budget = r#"{"calls": 9, "turn": {"dollars": 1.5}}"#;
        for config in [None, Some("exempt = []\n[budget]\nminutes = 2")] {
            let choice = PolicyChoice::new("policy", "nudge", config, None).expect("a choice");
            let choice = choice.with_budget("budget", budget).expect("a budget");
            let config = choice.config("policy").expect("a configuration");
            let limits = config.budget.expect("a budget");
            let session = (limits.session.calls, limits.session.minutes);
            assert_eq!((session, limits.turn.dollars), ((Some(9), None), Some(1.5)));
            assert_eq!(config.preset.policy.name(), "nudge");
        }
        let named = PolicyChoice::Named("nudge".to_owned());
        let list = named.clone().with_budget("budget", "[]").expect_err("a list");
        assert!(list.starts_with("budget: "), "{list}");
        let wrong = named.with_budget("budget", r#"{"hours": 1}"#).expect("TOML");
        let why = wrong.config("budget").expect_err("a mistake");
        assert!(why.contains("a budget has no field `hours`"), "{why}");
    }

    #[test]
    fn json_becomes_a_configuration() {
        let json = r#"{"preset": "nudge", "tools": {"a b": {"patience": 2, "key": ["x"]}}}"#;
        let toml = "preset = \"nudge\"\n\n[tools.\"a b\"]\nkey = [\"x\"]\npatience = 2\n";
        assert_eq!(config_of_json(json).as_deref(), Ok(toml));
        for wrong in ["[]", "{\"a\": null}", "{"] {
            assert!(config_of_json(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_policy_is_read_once() {
        let choice = PolicyChoice::Written("preset = \"nudge\"\n# once".to_owned());
        let read = || std::ptr::from_ref(choice.preset("policy").expect("a policy"));
        assert_eq!(read(), read());
    }

    #[test]
    fn every_file_of_the_folder_is_there_under_its_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/policies");
        let files = fs::read_dir(folder).expect("the folder").map(|file| file.expect("a file"));
        let stem = |name: &str| name.strip_suffix(".toml").expect("a policy").to_owned();
        let files = files.map(|file| stem(file.file_name().to_str().expect("UTF-8")));
        let names = PUBLISHED.iter().map(|published| published.name.to_owned());
        assert_eq!(files.collect::<BTreeSet<_>>(), names.collect());
    }
}
