//! How a guard is set up.

use std::env;
use std::fmt;
use std::sync::Arc;

use unstuck_core::{Policy, PolicyError, Tag, Tool, ToolRule};
use unstuck_text::{Effect, OwnTool, PRESETS, Preset, Recipe};

use crate::decision::Found;
use crate::guard::Guard;
use crate::restore::RestoreError;
use crate::ruling::Ruling;

/// The variable of the environment that turns every frontend off, where it is `off`, `0` or `false`.
pub const SWITCH: &str = "UNSTUCK";

/// Whether [`SWITCH`] in the environment turns everything off.
pub fn is_off() -> bool {
    env::var_os(SWITCH).is_some_and(|value| {
        ["off", "0", "false"].iter().any(|off| value.eq_ignore_ascii_case(off))
    })
}

type OnFinding = dyn Fn(&Found) -> Ruling + Send + Sync;

/// What the guards of all sessions have in common.
pub(crate) struct Setup {
    pub(crate) preset: Preset,
    pub(crate) mode: Mode,
    pub(crate) outcomes: Outcomes,
    pub(crate) on_finding: Option<Box<OnFinding>>,
    #[cfg(feature = "swarm")]
    pub(crate) board: Option<Arc<dyn unstuck_swarm::SwarmStore>>,
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("policy", &self.preset.policy.name())
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// What comes of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Act,
    Observe,
    /// Nothing is looked at.
    Off,
}

/// Whether outcomes are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcomes {
    Reported,
    Never,
}

/// Sets up a [`Guard`].
///
/// ```
/// use unstuck::{Guard, ToolRule, Tool};
///
/// let guard = Guard::builder()
///     .named("balanced")?
///     .tool(ToolRule::new(Tool::named("wait_for_build")).poll())
///     .session("2026-11-22/17")
///     .build()?;
/// assert_eq!(guard.session(), "2026-11-22/17");
/// # Ok::<(), unstuck::BuildError>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is watched before it is built"]
pub struct Builder {
    setup: Setup,
    tools: Vec<ToolRule>,
    kinds: Vec<OwnTool<'static>>,
    session: Arc<str>,
    worker: Arc<str>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        let mode = if is_off() { Mode::Off } else { Mode::Act };
        let setup = Setup {
            preset: PRESETS[0],
            mode,
            outcomes: Outcomes::Reported,
            on_finding: None,
            #[cfg(feature = "swarm")]
            board: None,
        };
        Self {
            setup,
            tools: Vec::new(),
            kinds: Vec::new(),
            session: "".into(),
            worker: "main".into(),
        }
    }

    /// Judges by this preset, instead of by `balanced`.
    pub fn preset(mut self, preset: &Preset) -> Self {
        self.setup.preset = *preset;
        self
    }

    /// Judges by the preset of this name.
    ///
    /// # Errors
    ///
    /// [`BuildError::UnknownPreset`].
    pub fn named(self, name: &str) -> Result<Self, BuildError> {
        let preset = Preset::named(name);
        let preset = preset.ok_or_else(|| BuildError::UnknownPreset { name: name.to_owned() })?;
        Ok(self.preset(preset))
    }

    /// Judges by this policy, with digests made by this recipe.
    pub fn policy(self, policy: &'static Policy<'static>, recipe: Recipe) -> Self {
        self.preset(&Preset { policy, recipe })
    }

    /// Adds a rule for one tool. It completes the policy's own rule for that tool: the tool is exempt
    /// if either rule says so, and has the policy's patience unless that is 0. A tool is a poll if
    /// either rule says so, unless the recipe declares what the tool does.
    pub fn tool(mut self, rule: ToolRule) -> Self {
        self.tools.push(rule);
        self
    }

    /// Declares what a tool does, which arguments identify its calls, and what is volatile in its
    /// results. It completes what the recipe declares, which mostly comes from a configuration; see
    /// [`OwnTool::or`]. What a tool says of itself at run time is for [`Guard::declare`].
    pub fn kind(mut self, tool: OwnTool<'static>) -> Self {
        self.kinds.push(tool);
        self
    }

    /// The name of the session, for whoever reads traces.
    pub fn session(mut self, id: &str) -> Self {
        self.session = id.into();
        self
    }

    /// The name of the worker: `main` unless there are several.
    pub fn worker(mut self, name: &str) -> Self {
        self.worker = name.into();
        self
    }

    /// Only observes: every decision is to proceed, and [`Decision::judged`] says what it would
    /// have been.
    ///
    /// [`Decision::judged`]: crate::Decision::judged
    pub fn observe_only(mut self) -> Self {
        if self.setup.mode == Mode::Act {
            self.setup.mode = Mode::Observe;
        }
        self
    }

    /// Sees nothing and does nothing, as with `UNSTUCK=off` in the environment.
    pub fn off(mut self) -> Self {
        self.setup.mode = Mode::Off;
        self
    }

    /// For a host that never reports outcomes: each call is one of its own, though none before it
    /// was answered. Calls that are announced together would else be taken as issued together.
    pub fn without_outcomes(mut self) -> Self {
        self.setup.outcomes = Outcomes::Never;
        self
    }

    /// Asks `judge` whenever there is something new to say or a call is to be blocked; it may
    /// overrule. If it panics, so does the method of the guard that asked; the guard can be used
    /// afterwards.
    pub fn on_finding(mut self, judge: impl Fn(&Found) -> Ruling + Send + Sync + 'static) -> Self {
        self.setup.on_finding = Some(Box::new(judge));
        self
    }

    /// Has the worker be one of a swarm, whose calls are counted on `board`: what many workers do
    /// together is found that none of them does often enough to be stuck alone.
    ///
    /// The board is told of each call that came to its end, and of none that was blocked, refused or
    /// cancelled, that only thinks, polls or ends the run, or that worked after the worker had written
    /// something new. What it answers goes the way of all findings; see [`Found::is_of_swarm`]. Workers
    /// are told apart by the names of their [session](Self::session) and [worker](Self::worker)
    /// together: two with the same names are one.
    #[cfg(feature = "swarm")]
    pub fn swarm(mut self, board: Arc<dyn unstuck_swarm::SwarmStore>) -> Self {
        self.setup.board = Some(board);
        self
    }

    /// The guard.
    ///
    /// Rules for single tools are kept for as long as the program runs, a hundred bytes or so: build
    /// one guard, and take those for other sessions from it by [`Guard::begin`].
    ///
    /// # Errors
    ///
    /// [`BuildError::Policy`] where the rules for tools cannot go together.
    pub fn build(mut self) -> Result<Guard, BuildError> {
        self.set_up_tools()?;
        let Self { setup, session, worker, .. } = self;
        Ok(Guard::with(Arc::new(setup), session, worker))
    }

    /// The guard that [`Guard::save`] wrote, under the same policy, going on as if nothing had
    /// happened.
    ///
    /// # Errors
    ///
    /// Those of [`Builder::build`], and [`BuildError::Restore`] where `bytes` are none that such a
    /// guard wrote. Any bytes may be given.
    pub fn restore(self, bytes: &[u8]) -> Result<Guard, BuildError> {
        self.build()?.restored(bytes).map_err(BuildError::Restore)
    }

    fn set_up_tools(&mut self) -> Result<(), BuildError> {
        self.agree()?;
        let Preset { policy, recipe } = &mut self.setup.preset;
        if !self.tools.is_empty() {
            let tools = std::mem::take(&mut self.tools);
            let own = |rule: &ToolRule| tools.iter().any(|own| own.tool == rule.tool);
            let others = policy.tools().iter().filter(|rule| !own(rule)).copied();
            let completed = tools.iter().map(|rule| completed(*rule, policy, recipe));
            let tools: Vec<_> = completed.chain(others).collect();
            let own = policy.with_tools(tools.leak()).map_err(BuildError::Policy)?;
            *policy = Box::leak(Box::new(own));
        }
        if !self.kinds.is_empty() {
            let kinds = std::mem::take(&mut self.kinds);
            let kinds: Vec<_> = recipe.tools.iter().copied().chain(kinds).collect();
            recipe.tools = kinds.leak();
        }
        Ok(())
    }

    /// Checks that no tool is declared as two things at once.
    fn agree(&self) -> Result<(), BuildError> {
        for OwnTool { tool, effect, tag, .. } in &self.kinds {
            let is_poll = self.tools.iter().any(|rule| rule.tool == *tool && rule.poll);
            let tags = tag.iter().copied().chain(is_poll.then_some(Tag::Poll));
            for (effect, tag) in tags.filter_map(|tag| Some(((*effect)?, tag))) {
                if !effect.allows(tag) {
                    return Err(BuildError::Contradiction { tool: *tool, effect, tag });
                }
            }
        }
        Ok(())
    }
}

/// A rule for one tool, completed by what the policy and its recipe say of that tool, which goes first.
fn completed(rule: ToolRule, policy: &Policy<'_>, recipe: &Recipe) -> ToolRule {
    let mut whole = ToolRule::new(rule.tool);
    if let Some(first) = policy.tools().iter().find(|first| first.tool == rule.tool) {
        whole = *first;
    }
    whole.exempt |= rule.exempt;
    let is_declared = recipe.declared(rule.tool).is_some_and(|own| own.has_nature());
    whole.poll |= rule.poll && !is_declared;
    if whole.patience == 0 {
        whole.patience = rule.patience;
    }
    whole
}

/// Why there is no guard.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// No preset has that name.
    UnknownPreset {
        /// The name.
        name: String,
    },
    /// The policy cannot work with the rules for single tools.
    Policy(PolicyError<'static>),
    /// [`Builder::kind`] and [`Builder::tool`] declare a tool as two things at once.
    Contradiction {
        /// The tool.
        tool: Tool,
        /// What its calls are declared to do.
        effect: Effect,
        /// A kind of tool that does not do that.
        tag: Tag,
    },
    /// The bytes are no checkpoint of this guard.
    Restore(RestoreError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPreset { name } => {
                let known: Vec<_> = PRESETS.iter().map(|preset| preset.policy.name()).collect();
                write!(f, "there is no preset `{name}`; there are {}", known.join(", "))
            }
            Self::Policy(error) => error.fmt(f),
            Self::Contradiction { tool, effect, tag } => write!(
                f,
                "the tool with the id {} is declared with the effect `{effect}` and as a tool of the \
                 kind `{tag}`: leave one of the two out",
                tool.id()
            ),
            Self::Restore(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}
