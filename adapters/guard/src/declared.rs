//! Declarations that come at run time: what a host learns of its tools while an agent works.

use std::collections::HashMap;
use std::sync::Arc;

use unstuck_core::{Call, Policy, Tool};
use unstuck_text::{Effect, OwnTool, Recipe, SimilarCalls};

use crate::guard::Guard;

/// The largest number of tools that are declared at run time. A server may list any number of tools;
/// those beyond this one are known by their names.
pub const DECLARED_MAX: usize = 256;

/// The largest number of arguments in a key, and the largest number of bytes in the name of one. A
/// key beyond either is ignored as a whole: half of a key would make different calls equal.
pub const KEY_MAX: (usize, usize) = (16, 128);

/// What a tool says of itself at run time, for [`Guard::declare`].
///
/// ```
/// use unstuck::{Declaration, Effect, Guard};
///
/// let mut guard = Guard::new();
/// let lookup = Declaration::new().effect(Effect::Reads).key(["table", "id"]);
/// assert!(guard.declare("lookup", lookup));
/// assert!(guard.declare("heartbeat", Declaration::new().exempt()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a declaration has to be handed to a guard"]
pub struct Declaration {
    effect: Option<Effect>,
    /// The names of the arguments that identify a call; empty for all arguments.
    key: Vec<String>,
    exempt: bool,
}

impl Declaration {
    /// A declaration that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what the calls of the tool do.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Says which arguments identify a call; see [`OwnTool::key`]. No names, or more than
    /// [`KEY_MAX`] allows, stand for all arguments.
    pub fn key(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let (names_max, bytes_max) = KEY_MAX;
        let names: Vec<String> = names.into_iter().take(names_max + 1).map(Into::into).collect();
        let fits = names.len() <= names_max && names.iter().all(|name| name.len() <= bytes_max);
        self.key = if fits { names } else { Vec::new() };
        self
    }

    /// Says that the calls are not to be watched.
    pub fn exempt(mut self) -> Self {
        self.exempt = true;
        self
    }

    /// Whether the declaration says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Hands the declaration to `use_it` as one of `tool`.
    fn of<T>(&self, tool: Tool, use_it: impl FnOnce(OwnTool<'_>) -> T) -> T {
        let names: Vec<&str> = self.key.iter().map(String::as_str).collect();
        let key = (!names.is_empty()).then_some(&*names);
        use_it(OwnTool { effect: self.effect, key, ..OwnTool::new(tool) })
    }
}

/// The declarations of a guard's tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared(HashMap<Tool, Declaration>);

impl Declared {
    /// Whether the calls of `tool` are not watched. A tool that the policy has a rule for is exempt
    /// only by that rule.
    pub(crate) fn exempts(&self, tool: &str, policy: &Policy<'_>) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let tool = Tool::named(tool);
        let is_exempt = self.0.get(&tool).is_some_and(|said| said.exempt);
        is_exempt && policy.tools().iter().all(|rule| rule.tool != tool)
    }

    /// The call of `tool` with `args`.
    pub(crate) fn call(
        &self,
        (policy, recipe): (&Policy<'_>, &Recipe),
        groups: &mut SimilarCalls,
        tool: &str,
        args: &str,
    ) -> Call {
        let said = if self.0.is_empty() { None } else { self.0.get(&Tool::named(tool)) };
        // The policy knows the calls that it allows by the recipe alone.
        let is_allowed = || {
            let digest = recipe.call(tool, args).digest();
            policy.allowed().iter().any(|allowed| allowed.digest() == digest)
        };
        match said {
            Some(said) if policy.allowed().is_empty() || !is_allowed() => {
                said.of(Tool::named(tool), |own| recipe.call_among_as(groups, own, tool, args))
            }
            _ => recipe.call_among(groups, tool, args),
        }
    }

    /// What is said of `tool` that matters to its outcomes.
    pub(crate) fn of(&self, tool: Tool) -> Option<OwnTool<'static>> {
        let said = self.0.get(&tool)?;
        Some(OwnTool { effect: said.effect, ..OwnTool::new(tool) })
    }

    fn add(&mut self, tool: Tool, said: Declaration) -> bool {
        let has_room = self.0.len() < DECLARED_MAX || self.0.contains_key(&tool);
        if said.is_empty() {
            self.0.remove(&tool);
        } else if has_room {
            self.0.insert(tool, said);
        }
        has_room
    }
}

impl Guard {
    /// Declares `tool` for the calls that come, instead of an earlier declaration of this kind.
    /// Returns whether there was room: [`DECLARED_MAX`] tools can be declared.
    ///
    /// It is for what a host learns late, such as the list of tools of a server. What is known
    /// beforehand belongs into the policy or to [`Builder::kind`], both of which go before it, and
    /// it goes before what the tool's name says. The guards that [`Guard::begin`] makes know it, too.
    /// It is no part of a checkpoint: declare the tools again after [`Builder::restore`].
    ///
    /// A call of an [exempt](Declaration::exempt) tool gets no ticket, unless the policy has a rule
    /// for that tool.
    ///
    /// [`Builder::kind`]: crate::Builder::kind
    /// [`Builder::restore`]: crate::Builder::restore
    pub fn declare(&mut self, tool: &str, said: Declaration) -> bool {
        Arc::make_mut(&mut self.declared).add(Tool::named(tool), said)
    }

    /// Forgets all that was declared at run time.
    pub fn forget_declared(&mut self) {
        self.declared = Arc::default();
    }

    /// The number of tools that are declared at run time.
    pub fn declared(&self) -> usize {
        self.declared.0.len()
    }
}
