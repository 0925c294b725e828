//! Declarations at run time, for a host that learns about its tools while an agent works.

use std::collections::HashMap;
use std::sync::Arc;

use unstuck_core::{Call, Digest, Policy, Tool};
use unstuck_text::{Digester, Effect, ToolDeclaration};

use crate::asked::Asked;
use crate::guard::Guard;
use crate::known::KnownCalls;

/// The largest number of tools that are declared at run time. A server may list any number of tools;
/// the guard judges the others by their names.
pub const DECLARED_MAX: usize = 256;

/// The largest number of arguments in a key, and the largest number of bytes in the name of one. The
/// guard ignores a key beyond either as a whole, because half of a key would make different calls equal.
pub const KEY_MAX: (usize, usize) = (16, 128);

/// The declaration of a tool at run time, for [`Guard::declare`].
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
    /// Creates an empty declaration.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares the effect of the tool's calls.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Declares the arguments that identify a call; see [`ToolDeclaration::key`]. No names, or more than
    /// [`KEY_MAX`] allows, mean all arguments.
    pub fn key(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let (names_max, bytes_max) = KEY_MAX;
        let names: Vec<String> = names.into_iter().take(names_max + 1).map(Into::into).collect();
        let fits = names.len() <= names_max && names.iter().all(|name| name.len() <= bytes_max);
        self.key = if fits { names } else { Vec::new() };
        self
    }

    /// Exempts the calls from being watched.
    pub fn exempt(mut self) -> Self {
        self.exempt = true;
        self
    }

    /// Returns whether the declaration is empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Passes the declaration to `use_it` as one of `tool`.
    fn with<T>(&self, tool: Tool, use_it: impl FnOnce(ToolDeclaration<'_>) -> T) -> T {
        let names: Vec<&str> = self.key.iter().map(String::as_str).collect();
        let key = (!names.is_empty()).then_some(&*names);
        use_it(ToolDeclaration { effect: self.effect, key, ..ToolDeclaration::new(tool) })
    }
}

/// The declarations of a guard's tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declared(HashMap<Tool, Declaration>);

impl Declared {
    /// Returns whether the calls of `tool` are exempt. If the policy has a rule for the tool, only that
    /// rule can exempt it.
    pub(crate) fn exempts(&self, tool: &str, policy: &Policy<'_>) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let tool = Tool::named(tool);
        let is_exempt = self.0.get(&tool).is_some_and(|declaration| declaration.exempt);
        is_exempt && policy.tools().iter().all(|rule| rule.tool != tool)
    }

    /// Makes the call `asked`, whose raw digest is `raw`.
    pub(crate) fn call<const WORDS: usize>(
        &self,
        policy: &Policy<'_>,
        known: &mut KnownCalls,
        digester: &mut Digester<WORDS>,
        (asked, raw): (&Asked<'_>, Digest),
    ) -> Call {
        let (tool, args) = (asked.tool, asked.args.as_str());
        let declaration = if self.0.is_empty() { None } else { self.0.get(&Tool::named(tool)) };
        let recipe = digester.recipe;
        // The policy lists the calls that it allows by digests of the recipe alone.
        let is_allowed = || {
            let digest = recipe.call(tool, args).digest();
            policy.allowed().iter().any(|allowed| allowed.digest() == digest)
        };
        match declaration {
            Some(declaration) if policy.allowed().is_empty() || !is_allowed() => {
                declaration.with(Tool::named(tool), |own| digester.call_as(own, tool, args))
            }
            _ => {
                let prepared =
                    asked.prepared.as_ref().and_then(|prepared| prepared.among(digester));
                prepared.unwrap_or_else(|| known.call(digester, raw, (tool, args)))
            }
        }
    }

    /// Returns the part of the declaration of `tool` that matters to its outcomes.
    pub(crate) fn of(&self, tool: Tool) -> Option<ToolDeclaration<'static>> {
        let declaration = self.0.get(&tool)?;
        Some(ToolDeclaration { effect: declaration.effect, ..ToolDeclaration::new(tool) })
    }

    fn add(&mut self, tool: Tool, declaration: Declaration) -> bool {
        let has_room = self.0.len() < DECLARED_MAX || self.0.contains_key(&tool);
        if declaration.is_empty() {
            self.0.remove(&tool);
        } else if has_room {
            self.0.insert(tool, declaration);
        }
        has_room
    }
}

impl Guard {
    /// Declares `tool` for the calls that come, and replaces an earlier declaration of this kind. Returns
    /// whether there was room: [`DECLARED_MAX`] tools can be declared.
    ///
    /// Use it for facts that a host learns late, such as the list of tools of a server. Facts that are
    /// known before belong into the policy or to [`Builder::kind`]; both take precedence over it, and it
    /// takes precedence over the tool's name. The guards that [`Guard::begin`] makes have it, too. It is no
    /// part of a checkpoint: declare the tools again after [`Builder::restore`].
    ///
    /// A call of an [exempt](Declaration::exempt) tool gets no ticket, unless the policy has a rule for
    /// that tool.
    ///
    /// [`Builder::kind`]: crate::Builder::kind
    /// [`Builder::restore`]: crate::Builder::restore
    pub fn declare(&mut self, tool: &str, declaration: Declaration) -> bool {
        Arc::make_mut(&mut self.declared).add(Tool::named(tool), declaration)
    }

    /// Forgets all declarations at run time.
    pub fn forget_declared(&mut self) {
        self.declared = Arc::default();
    }

    /// Returns the number of tools that are declared at run time.
    pub fn declared(&self) -> usize {
        self.declared.0.len()
    }
}
