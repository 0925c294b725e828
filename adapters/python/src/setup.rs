//! The policy of a guard or a scan: a preset, or a configuration in TOML.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use toml::{Table, Value};
use unstuck::Builder;
use unstuck_text::Preset;

use crate::PolicyError;
use crate::text::Text;

/// The default of `preset`.
const DEFAULT: &str = "balanced";

/// The fields of a configuration that is a policy of its own, so that no preset belongs to it.
const WHOLE: [&str; 6] = ["preset", "name", "window", "recipe", "rule", "text"];

/// The setup of a guard, apart from the names of its session and worker.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Setup {
    /// The preset, or the whole configuration in TOML.
    pub(crate) policy: Policy,
    pub(crate) observe: bool,
}

/// A preset by its name, or a configuration.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Policy {
    Preset(String),
    Config(String),
}

impl Policy {
    /// Reads the arguments `preset`, `config` and `tools`.
    pub(crate) fn of(
        preset: &str,
        config: Option<&Bound<'_, PyAny>>,
        tools: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let config = config.map(config_text).transpose()?;
        if config.is_none() && tools.is_none() {
            return Ok(Self::Preset(preset.to_owned()));
        }
        let config = config.unwrap_or_default();
        let Ok(mut table) = config.parse::<Table>() else {
            // The reader of policies says what is wrong.
            return Ok(Self::Config(config));
        };
        let is_whole = WHOLE.iter().any(|field| table.contains_key(*field));
        if is_whole && tools.is_none() {
            return match preset {
                DEFAULT => Ok(Self::Config(config)),
                _ => Err(PolicyError::new_err(format!(
                    "the configuration is a policy of its own, but the preset is {preset:?}: leave \
                     `preset` out, or write it into the configuration"
                ))),
            };
        }
        if !is_whole {
            table.insert("preset".to_owned(), Value::String(preset.to_owned()));
        }
        if let Some(tools) = tools {
            add_tools(&mut table, tools)?;
        }
        Ok(Self::Config(toml::to_string(&table).map_err(refused)?))
    }

    /// Returns the policy. One that was read stays in memory, so each is read once.
    pub(crate) fn preset(&self) -> PyResult<&'static Preset> {
        static READ: Mutex<Option<HashMap<Policy, &'static Preset>>> = Mutex::new(None);
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let read = read.get_or_insert_default();
        if let Some(preset) = read.get(self) {
            return Ok(preset);
        }
        let preset = match self {
            Self::Preset(name) => unstuck_cli::policy(name).ok_or_else(|| {
                let known: Vec<_> = unstuck_cli::policies().collect();
                let known = known.join(", ");
                PolicyError::new_err(format!("there is no preset {name:?}; there are {known}"))
            })?,
            Self::Config(text) => unstuck_cli::policy_of(text).map_err(|why| {
                let hint = if text.contains('=') {
                    ""
                } else {
                    "`config` is the text of a configuration; for a file, pass a pathlib.Path"
                };
                PolicyError::new_err(format!("config, {why}{hint}"))
            })?,
        };
        read.insert(self.clone(), preset);
        Ok(preset)
    }
}

/// Returns the text of a configuration: TOML, a file of it, or a mapping.
fn config_text(config: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = config.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    if config.cast::<PyMapping>().is_ok() {
        return toml::to_string(&table(config)?).map_err(refused);
    }
    let Ok(path) = config.extract::<PathBuf>() else {
        let found = config.get_type().name()?;
        let why = format!("config: expected TOML text, a path or a dict, not {found}");
        return Err(PyTypeError::new_err(why));
    };
    // As an error of Python it names the file.
    let text = config.py().import("pathlib")?.getattr("Path")?.call1((&path,))?;
    let text: Vec<u8> = text.call_method0("read_bytes")?.extract()?;
    String::from_utf8(text)
        .map_err(|_| PolicyError::new_err(format!("{} is not UTF-8", path.display())))
}

/// Returns a mapping as a table of TOML.
fn table(mapping: &Bound<'_, PyAny>) -> PyResult<Table> {
    serde_json::from_str(Text::of(mapping)?.as_str()).map_err(refused)
}

/// Adds the tools' tables. A word in place of a table is an effect.
fn add_tools(config: &mut Table, tools: &Bound<'_, PyAny>) -> PyResult<()> {
    if tools.cast::<PyMapping>().is_err() {
        let found = tools.get_type().name()?;
        return Err(PyTypeError::new_err(format!("tools: expected a dict, not {found}")));
    }
    let known = config.entry("tools").or_insert_with(|| Value::Table(Table::new()));
    let Some(known) = known.as_table_mut() else {
        return Err(PolicyError::new_err("config: `tools` has to be a table"));
    };
    for (name, tool) in table(tools)? {
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

fn refused(why: impl std::fmt::Display) -> PyErr {
    PolicyError::new_err(format!("config: {why}"))
}

impl Setup {
    /// Returns the builder of guards with this setup.
    pub(crate) fn builder(&self, session: &str, worker: &str) -> PyResult<Builder> {
        let builder = unstuck::Guard::builder().preset(self.policy.preset()?);
        let builder = builder.session(session).worker(worker);
        Ok(if self.observe { builder.observe_only() } else { builder })
    }

    /// Returns the arguments of `Guard` that make this setup.
    pub(crate) fn arguments<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item("observe", self.observe)?;
        Ok(match &self.policy {
            Policy::Preset(name) => (name.clone(), options),
            Policy::Config(text) => {
                options.set_item("config", text)?;
                (DEFAULT.to_owned(), options)
            }
        })
    }
}

/// Returns the names of all presets, the default first.
#[pyfunction]
pub(crate) fn presets() -> Vec<&'static str> {
    unstuck_cli::policies().collect()
}
