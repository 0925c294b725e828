//! The scenarios: a script of the model, and the circumstances under which it plays.

/// A script and its circumstances.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The script in `xtask/agents/scripts.mjs`.
    pub(super) script: &'static str,
    pub(super) circumstance: Circumstance,
    /// The clients for which the scenario makes no sense.
    pub(super) except: &'static [&'static str],
}

/// What differs from an ordinary run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Circumstance {
    Ordinary,
    /// The user speaks a second time in the same session.
    SecondPrompt,
    /// The program was removed after it was installed.
    ProgramGone,
    /// The hooks only observe.
    Observed,
    /// `install` ran twice.
    InstalledTwice,
    /// The hooks are in the settings of the user and in those of the project.
    UserAndProject,
    /// The model works in Codex's Code Mode.
    CodeMode,
    /// The state folder is on a file system that is read-only.
    StateReadOnly,
    /// The state folder is on a file system without space.
    StateFull,
}

/// Every scenario.
pub(super) const ALL: &[Scenario] = &[
    Scenario::plain("same-failing-command", "a command that fails alike each time"),
    Scenario::plain("same-words", "the same, and the model does not reword its description"),
    Scenario::plain("two-in-turns", "a failing command and a look at a file, in turns"),
    Scenario::plain("failing-edit", "an edit whose old text is not in the file"),
    Scenario::plain("missing-file", "a file that is not there, by the tool that reads files"),
    Scenario::plain("missing-by-shell", "a file that is not there, by `cat`"),
    Scenario::plain("same-success", "a command that prints the same each time"),
    Scenario::plain("wait-that-stays", "`sleep` and a look, with the same answer each time"),
    Scenario::plain("poll-that-moves", "a job that has moved on at each look"),
    Scenario::plain("healthy-by-tool", "edit and test, with the tool that edits"),
    Scenario::plain("healthy-by-shell", "edit and test, with `echo`"),
    Scenario::plain("many-files", "twelve files with the same content"),
    Scenario::plain("flaky", "a command that works at the third try"),
    Scenario::plain("parallel", "four calls of the failing command at once"),
    Scenario::plain("freed", "a loop that ends when the model reads a note"),
    Scenario::plain("deaf", "forty turns, whatever the model is told"),
    Scenario::under(
        "two-prompts",
        Circumstance::SecondPrompt,
        "the user asks for more of the loop",
    ),
    Scenario {
        except: &["claude-code", "gemini", "copilot", "qwen", "opencode", "pi"],
        ..Scenario::under(
            "code-mode",
            Circumstance::CodeMode,
            "a model that calls tools by programs",
        )
    },
    Scenario::under("observed", Circumstance::Observed, "the hooks are installed with `--observe`"),
    Scenario::under("installed-twice", Circumstance::InstalledTwice, "`install` ran twice"),
    Scenario::under(
        "user-and-project",
        Circumstance::UserAndProject,
        "the hooks are installed in both",
    ),
    Scenario::under(
        "program-gone",
        Circumstance::ProgramGone,
        "`unstuck` was removed after `install`",
    ),
    Scenario::under(
        "state-read-only",
        Circumstance::StateReadOnly,
        "the state folder is read-only",
    ),
    Scenario::under("state-full", Circumstance::StateFull, "there is no space for state"),
];

impl Scenario {
    /// A scenario whose script has the same name.
    const fn plain(name: &'static str, about: &'static str) -> Self {
        Self { name, about, script: name, circumstance: Circumstance::Ordinary, except: &[] }
    }

    /// The failing command under a circumstance.
    const fn under(name: &'static str, circumstance: Circumstance, about: &'static str) -> Self {
        Self { name, about, script: "same-failing-command", circumstance, except: &[] }
    }

    /// The scenario `name`.
    ///
    /// # Errors
    ///
    /// If there is no such scenario.
    pub(super) fn named(name: &str) -> Result<&'static Self, String> {
        let found = ALL.iter().find(|scenario| scenario.name == name);
        found.ok_or_else(|| format!("there is no scenario `{name}`; `--list` prints them"))
    }
}
