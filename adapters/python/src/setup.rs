//! The policy of a guard or a scan: a preset, or a configuration in TOML.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use unstuck::Builder;
use unstuck_report::{Config, PolicyChoice, config_of_json};
use unstuck_text::Preset;

use crate::PolicyError;
use crate::text::Text;

/// The name of the option with a configuration.
const OPTION: &str = "config";

/// The setup of a guard, apart from the names of its session and worker.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Setup {
    /// The preset, or the whole configuration in TOML.
    pub(crate) policy: PolicyChoice,
    pub(crate) observe: bool,
    /// The largest number of loops about which someone else is asked.
    pub(crate) escalate: u8,
}

/// Reads the arguments `preset`, `config` and `tools`.
pub(crate) fn policy(
    preset: &str,
    config: Option<&Bound<'_, PyAny>>,
    tools: Option<&Bound<'_, PyAny>>,
) -> PyResult<PolicyChoice> {
    let config = config.map(config_text).transpose()?;
    let tools = tools.map(tools_text).transpose()?;
    PolicyChoice::new(OPTION, preset, config.as_deref(), tools.as_deref())
        .map_err(PolicyError::new_err)
}

/// Returns the policy that was chosen.
pub(crate) fn preset_of(policy: &PolicyChoice) -> PyResult<&'static Preset> {
    Ok(config_of(policy)?.preset)
}

/// Returns the policy that was chosen, with its budget.
fn config_of(policy: &PolicyChoice) -> PyResult<&'static Config> {
    policy.config(OPTION).map_err(|why| {
        let hint = match policy {
            PolicyChoice::Written(text) if !text.contains('=') => {
                "`config` is the text of a configuration; for a file, pass a pathlib.Path"
            }
            _ => "",
        };
        PolicyError::new_err(format!("{why}{hint}"))
    })
}

/// Returns the text of a configuration: TOML, a file of it, or a mapping.
fn config_text(config: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = config.cast::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    if config.cast::<PyMapping>().is_ok() {
        return config_of_json(Text::of(config)?.as_str()).map_err(refused);
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

/// Returns the declared tools as JSON.
fn tools_text(tools: &Bound<'_, PyAny>) -> PyResult<String> {
    if tools.cast::<PyMapping>().is_err() {
        let found = tools.get_type().name()?;
        return Err(PyTypeError::new_err(format!("tools: expected a dict, not {found}")));
    }
    Ok(Text::of(tools)?.as_str().to_owned())
}

fn refused(why: impl std::fmt::Display) -> PyErr {
    PolicyError::new_err(format!("config: {why}"))
}

impl Setup {
    /// Returns the builder of guards with this setup.
    pub(crate) fn builder(&self, session: &str, worker: &str) -> PyResult<Builder> {
        let config = config_of(&self.policy)?;
        let builder = unstuck::Guard::builder().preset(config.preset);
        let builder = builder.session(session).worker(worker);
        let builder = builder.escalate(self.escalate);
        let builder = config.budget.into_iter().fold(builder, Builder::budget);
        Ok(if self.observe { builder.observe_only() } else { builder })
    }

    /// Returns the arguments of `Guard` that make this setup.
    pub(crate) fn arguments<'py>(&self, py: Python<'py>) -> PyResult<(String, Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item("observe", self.observe)?;
        options.set_item("escalate", self.escalate)?;
        Ok(match &self.policy {
            PolicyChoice::Named(name) => (name.clone(), options),
            PolicyChoice::Written(text) => {
                options.set_item("config", text)?;
                ("balanced".to_owned(), options)
            }
        })
    }
}

/// Returns the names of all presets, the default first.
#[pyfunction]
pub(crate) fn presets() -> Vec<&'static str> {
    unstuck_report::config::names().collect()
}
