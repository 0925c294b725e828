//! The setup of a guard.

use std::env;
use std::fmt;
use std::sync::Arc;

use unstuck_core::{Action, Policy, PolicyError, Tag, Tool, ToolRule};
use unstuck_text::{Effect, PRESETS, Preset, Recipe, ToolDeclaration};

#[cfg(feature = "budgets")]
use crate::budget::AtLimit;
use crate::budget::Budget;
use crate::checkpoint::RestoreError;
use crate::decision::{End, Evidence};
use crate::guard::Guard;
use crate::wording::Wording;

/// The environment variable that turns every guard off if it is `off`, `0` or `false`.
pub const SWITCH: &str = "UNSTUCK";

/// Returns whether [`SWITCH`] in the environment turns every guard off.
pub fn is_off() -> bool {
    env::var_os(SWITCH).is_some_and(|value| {
        ["off", "0", "false"].iter().any(|off| value.eq_ignore_ascii_case(off))
    })
}

type OnFinding = dyn Fn(&Evidence) -> Ruling + Send + Sync;

/// The setup that the guards of all sessions share.
pub(crate) struct Setup {
    pub(crate) preset: Preset,
    pub(crate) mode: Mode,
    pub(crate) outcomes: Outcomes,
    pub(crate) end: End,
    /// The largest number of loops about which someone else is asked.
    pub(crate) escalations_max: u8,
    pub(crate) wording: Wording,
    pub(crate) on_finding: Option<Box<OnFinding>>,
    pub(crate) store: Option<Arc<dyn unstuck_swarm::SwarmStore>>,
    pub(crate) budget: Option<Budget>,
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setup")
            .field("policy", &self.preset.policy.name())
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

/// The effect of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Act,
    Observe,
    /// The guard is off.
    Off,
}

/// Whether the host reports outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcomes {
    Reported,
    Never,
}

/// The host's answer to a finding, for [`Builder::on_finding`](crate::Builder::on_finding).
///
/// ```
/// use unstuck::{Evidence, Guard, Ruling};
///
/// // No harm is done if the same page is reloaded.
/// let judge = |evidence: &Evidence| match &*evidence.tool {
///     "reload" => Ruling::FalsePositive,
///     _ => Ruling::Agree,
/// };
/// let guard = Guard::builder().on_finding(judge).build()?;
/// # Ok::<(), unstuck::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// Takes the action that the rule asks for.
    Agree,
    /// Takes this action instead.
    Instead(Action),
    /// Does nothing, because this is no loop. It is not found again, and its rule becomes more patient with
    /// that tool.
    FalsePositive,
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
    kinds: Vec<ToolDeclaration<'static>>,
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
            end: End::Possible,
            escalations_max: 0,
            wording: Wording::Named,
            on_finding: None,
            store: None,
            budget: None,
        };
        Self {
            setup,
            tools: Vec::new(),
            kinds: Vec::new(),
            session: "".into(),
            worker: "main".into(),
        }
    }

    /// Sets the preset, instead of `balanced`.
    pub fn preset(mut self, preset: &Preset) -> Self {
        self.setup.preset = *preset;
        self
    }

    /// Sets the preset by its name.
    ///
    /// # Errors
    ///
    /// [`BuildError::UnknownPreset`] if no preset has this name.
    pub fn named(self, name: &str) -> Result<Self, BuildError> {
        let preset = Preset::named(name);
        let preset = preset.ok_or_else(|| BuildError::UnknownPreset { name: name.to_owned() })?;
        Ok(self.preset(preset))
    }

    /// Sets the policy, and the recipe that makes the digests for it.
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

    /// Declares a tool: its effect, the arguments that identify its calls, and the volatile fields of its
    /// results. It completes the declaration in the recipe, which mostly comes from a configuration; see
    /// [`ToolDeclaration::or`]. For declarations at run time there is [`Guard::declare`].
    pub fn kind(mut self, tool: ToolDeclaration<'static>) -> Self {
        self.kinds.push(tool);
        self
    }

    /// Sets the name of the session, which traces contain.
    pub fn session(mut self, id: &str) -> Self {
        self.session = id.into();
        self
    }

    /// Sets the name of the worker. The default is `main`.
    pub fn worker(mut self, name: &str) -> Self {
        self.worker = name.into();
        self
    }

    /// Makes the guard observe only: every decision is to proceed, and [`Decision::judged`] returns the
    /// action that the guard would have asked for.
    ///
    /// [`Decision::judged`]: crate::Decision::judged
    pub fn observe_only(mut self) -> Self {
        if self.setup.mode == Mode::Act {
            self.setup.mode = Mode::Observe;
        }
        self
    }

    /// Turns the guard off, as `UNSTUCK=off` in the environment does.
    pub fn off(mut self) -> Self {
        self.setup.mode = Mode::Off;
        self
    }

    /// Sets the guard up for a host that never reports outcomes: each call is a step of its own. Otherwise
    /// calls without an outcome between them would count as issued together.
    pub fn without_outcomes(mut self) -> Self {
        self.setup.outcomes = Outcomes::Never;
        self
    }

    /// Sets the guard up for a host that can refuse calls but cannot end a run. The message of a stop then
    /// says that the calls stay refused, instead of that the run ends. The decisions are the same.
    ///
    /// ```
    /// use unstuck::{Action, Guard};
    ///
    /// let mut guard = Guard::builder().without_end().build()?;
    /// let stopped = loop {
    ///     let before = guard.before("bash", r#"{"command":"make"}"#);
    ///     if before.ends_the_run() {
    ///         break before;
    ///     }
    ///     if !before.is_blocked() {
    ///         let _ = guard.after(before.ticket(), "no rule to make target", true);
    ///     }
    /// };
    /// assert!(stopped.refusal().contains("stays refused until the user says something new"));
    /// # Ok::<(), unstuck::BuildError>(())
    /// ```
    pub fn without_end(mut self) -> Self {
        self.setup.end = End::Impossible;
        self
    }

    /// Lets someone else look at a loop before its calls are refused, at most this many times over the life of the
    /// guard and once for each loop. Two are enough for most sessions; the default is 0. See
    /// [`Decision::escalates`](crate::Decision::escalates).
    ///
    /// No action changes: the guard notes, refuses and stops as before. A policy that never blocks never escalates.
    ///
    /// ```
    /// use unstuck::Guard;
    ///
    /// let mut guard = Guard::builder().escalate(2).build()?;
    /// let escalating = loop {
    ///     let ticket = guard.before("bash", "make").ticket();
    ///     let after = guard.after(ticket, "no rule to make target", true);
    ///     if after.escalates() {
    ///         break after;
    ///     }
    /// };
    /// // The stronger model reads this as a message of the user, and takes one turn:
    /// let question = escalating.question().expect("the decision escalates");
    /// assert!(question.ends_with("What would you do instead?"));
    /// // Then the other model goes on. The same call is refused from here on, as always.
    /// assert!(guard.before("bash", "make").is_blocked());
    /// # Ok::<(), unstuck::BuildError>(())
    /// ```
    pub fn escalate(mut self, times: u8) -> Self {
        self.setup.escalations_max = times;
        self
    }

    /// Sets whether messages name the tool of the repeated call, which they do otherwise.
    #[cfg(feature = "wordings")]
    pub fn wording(mut self, wording: Wording) -> Self {
        self.setup.wording = wording;
        self
    }

    /// Sets a function that the guard asks at each new finding and before it blocks a call. The function
    /// may overrule the guard. If it panics, so does the method of the guard that asked; the guard can be
    /// used afterwards.
    ///
    /// ```
    /// use unstuck::{Action, Evidence, Guard, Ruling};
    ///
    /// let warn_at_most = |evidence: &Evidence| match evidence.action {
    ///     Action::Block | Action::StartOver | Action::Stop => Ruling::Instead(Action::Warn),
    ///     _ => Ruling::Agree,
    /// };
    /// let guard = Guard::builder().on_finding(warn_at_most).build()?;
    /// # Ok::<(), unstuck::BuildError>(())
    /// ```
    pub fn on_finding(
        mut self,
        judge: impl Fn(&Evidence) -> Ruling + Send + Sync + 'static,
    ) -> Self {
        self.setup.on_finding = Some(Box::new(judge));
        self
    }

    /// Makes the worker one of a swarm, whose calls are counted in `store`. The store finds loops that many
    /// workers make together, even if no single worker repeats the call often enough.
    ///
    /// The guard reports each call that has ended. It does not report calls that were blocked, refused or
    /// cancelled, calls that only think, poll or end the run, and calls that worked after the worker had
    /// written something new. The store's answers take the way of all findings; see
    /// [`Evidence::is_of_swarm`]. The names of [session](Self::session) and [worker](Self::worker) together
    /// identify a worker: two guards with the same names count as one.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use unstuck::{Guard, SwarmStore};
    /// use unstuck_swarm::{Observation, Verdict};
    ///
    /// /// A store that never finds a loop.
    /// struct Silent;
    ///
    /// impl SwarmStore for Silent {
    ///     fn record(&self, _: &Observation) -> Verdict {
    ///         Verdict::PROCEED
    ///     }
    /// }
    ///
    /// let guard = Guard::builder().swarm(Arc::new(Silent)).worker("scout").build()?;
    /// # Ok::<(), unstuck::BuildError>(())
    /// ```
    pub fn swarm(mut self, store: Arc<dyn unstuck_swarm::SwarmStore>) -> Self {
        self.setup.store = Some(store);
        self
    }

    /// Sets what the agent may spend. The guard adds a note to a result when 80 % of a limit are spent, and refuses
    /// calls at 100 % if [`Budget::at_limit`] says so. It cannot ask a person, and refuses instead. A budget without
    /// limits is none.
    ///
    /// The guard counts calls. The host reports the rest with [`Guard::spend`] and [`Guard::tell_time`].
    #[cfg(feature = "budgets")]
    pub fn budget(mut self, budget: Budget) -> Self {
        let at_limit = match budget.at_limit {
            AtLimit::Ask => AtLimit::Refuse,
            at_limit => at_limit,
        };
        self.setup.budget = (!budget.is_empty()).then_some(Budget { at_limit, ..budget });
        self
    }

    /// Builds the guard.
    ///
    /// Rules for single tools stay in memory for as long as the program runs, some hundred bytes: build
    /// one guard, and make those for other sessions from it by [`Guard::begin`].
    ///
    /// # Errors
    ///
    /// [`BuildError::Policy`] if the rules for tools cannot go together, and
    /// [`BuildError::Contradiction`] if a tool is declared as two things at once.
    pub fn build(mut self) -> Result<Guard, BuildError> {
        self.set_up_tools()?;
        let Self { setup, session, worker, .. } = self;
        Ok(Guard::with(Arc::new(setup), session, worker))
    }

    /// Builds the guard and restores the state that [`Guard::save`] wrote under the same policy.
    ///
    /// ```
    /// use unstuck::Guard;
    ///
    /// let mut guard = Guard::new();
    /// let ticket = guard.before("bash", "make").ticket();
    /// let mut restored = Guard::builder().restore(&guard.save())?;
    /// let _ = restored.after(ticket, "done", false);
    /// # Ok::<(), unstuck::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Builder::build`], and [`BuildError::Restore`] if no such guard wrote `bytes`. Any
    /// bytes may be given.
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
        for ToolDeclaration { tool, effect, tag, .. } in &self.kinds {
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

/// Returns a rule for one tool, completed by the policy and its recipe, which take precedence.
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

/// The reason why there is no guard.
///
/// ```
/// use unstuck::{BuildError, Guard};
///
/// let error = Guard::builder().named("balance").expect_err("no such preset");
/// assert!(matches!(error, BuildError::UnknownPreset { .. }));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// No preset has that name.
    UnknownPreset {
        /// The name.
        name: String,
    },
    /// The policy cannot work with the rules for single tools.
    Policy(PolicyError),
    /// [`Builder::kind`] and [`Builder::tool`] declare a tool as two things at once.
    Contradiction {
        /// The tool.
        tool: Tool,
        /// The declared effect of its calls.
        effect: Effect,
        /// A kind of tool that has another effect.
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
