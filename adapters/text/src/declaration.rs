//! Declarations of single tools: what their calls do, and which arguments identify a call.

use core::fmt;

use unstuck_core::{Tag, Tool};

use crate::mask::Masks;

/// The declaration of one tool.
///
/// A `None` leaves the question to a weaker declaration, and in the end to the tool's name.
///
/// ```
/// use unstuck_core::Tool;
/// use unstuck_text::{Effect, ToolDeclaration, Recipe};
///
/// let lookup = ToolDeclaration::new(Tool::named("lookup")).effect(Effect::Reads).key(&["table"]);
/// let recipe = Recipe { tools: vec![lookup].leak(), ..Recipe::BALANCED };
///
/// let first = recipe.call("lookup", r#"{"table": "users", "request_id": 1}"#);
/// let again = recipe.call("lookup", r#"{"table": "users", "request_id": 2}"#);
/// assert_eq!(first, again);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolDeclaration<'t> {
    /// The tool.
    pub tool: Tool,
    /// The effect of its calls.
    pub effect: Option<Effect>,
    /// The kind of tool, if neither its name nor its effect tells. A kind that the effect does not
    /// [allow](Effect::allows) is ignored.
    pub tag: Option<Tag>,
    /// The volatile text in its results, instead of the recipe's masks.
    pub masks: Option<Masks>,
    /// The names of the arguments that identify a call. Calls are equal if these arguments are, and
    /// alike only if they are equal; the other arguments are ignored. Empty for all arguments.
    ///
    /// A call without any of them is compared as a whole. So is a call whose arguments are not a
    /// JSON object.
    pub key: Option<&'t [&'t str]>,
}

/// The effect of a tool's calls on the world. It decides what a repeated call can still achieve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// They read and change nothing. An equal answer proves that repeating the call does not help.
    Reads,
    /// They change something, and each one may change something more.
    Acts,
    /// They may change something, but the same call changes nothing more, for example a file
    /// written twice with the same content. An equal answer proves that repeating the call does not
    /// help.
    Idempotent,
    /// They wait for something, or ask how far it has come. Repeating them is normal.
    Waits,
    /// They end the run.
    Finishes,
}

impl<'t> ToolDeclaration<'t> {
    /// Creates an empty declaration.
    pub const fn new(tool: Tool) -> Self {
        Self { tool, effect: None, tag: None, masks: None, key: None }
    }

    /// Says what the calls do.
    #[must_use]
    pub const fn effect(self, effect: Effect) -> Self {
        Self { effect: Some(effect), ..self }
    }

    /// Says what kind of tool it is.
    #[must_use]
    pub const fn tag(self, tag: Tag) -> Self {
        Self { tag: Some(tag), ..self }
    }

    /// Says what is volatile in the results.
    #[must_use]
    pub const fn masks(self, masks: Masks) -> Self {
        Self { masks: Some(masks), ..self }
    }

    /// Says which arguments identify a call.
    #[must_use]
    pub const fn key(self, names: &'t [&'t str]) -> Self {
        Self { key: Some(names), ..self }
    }

    /// This declaration, completed by a weaker one of the same tool.
    ///
    /// An effect and a tag answer the same question, so the weaker declaration is asked for both or
    /// for neither.
    #[must_use]
    pub fn or(self, weaker: Self) -> Self {
        let nature = if self.has_nature() { self } else { weaker };
        Self {
            tool: self.tool,
            effect: nature.effect,
            tag: nature.tag,
            masks: self.masks.or(weaker.masks),
            key: self.key.or(weaker.key),
        }
    }

    /// Returns whether the declaration names an effect or a kind of tool.
    pub const fn has_nature(&self) -> bool {
        self.effect.is_some() || self.tag.is_some()
    }

    /// Returns whether an equal answer proves that repeating the call does not help. Returns `None`
    /// if the declaration does not say.
    pub fn is_idempotent(&self) -> Option<bool> {
        self.effect.map(|effect| matches!(effect, Effect::Reads | Effect::Idempotent))
    }

    /// The kind of tool, for a tool whose name stands for the kind `named`.
    pub(crate) fn kind(&self, named: Tag) -> Tag {
        let kind = self.tag.unwrap_or(named);
        match self.effect {
            Some(effect) if !effect.allows(kind) => effect.tag(),
            _ => kind,
        }
    }

    /// The names of the arguments that identify a call, or `None` if all do.
    pub(crate) fn key_names(&self) -> Option<&'t [&'t str]> {
        self.key.filter(|key| !key.is_empty())
    }
}

impl Effect {
    /// Every effect.
    pub const ALL: [Self; 5] =
        [Self::Reads, Self::Acts, Self::Idempotent, Self::Waits, Self::Finishes];

    /// The effect in one word, as configurations spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Acts => "acts",
            Self::Idempotent => "idempotent",
            Self::Waits => "waits",
            Self::Finishes => "finishes",
        }
    }

    /// Returns whether a tool of the kind `tag` can have this effect. For example, a shell may only
    /// read, but a tool that writes cannot.
    pub const fn allows(self, tag: Tag) -> bool {
        match self {
            Self::Reads => matches!(tag, Tag::Read | Tag::Search | Tag::Think | Tag::Shell),
            Self::Acts => matches!(tag, Tag::Act | Tag::Write | Tag::Shell | Tag::Test),
            Self::Idempotent => {
                matches!(tag, Tag::Other) || Self::Reads.allows(tag) || Self::Acts.allows(tag)
            }
            Self::Waits => matches!(tag, Tag::Poll),
            Self::Finishes => matches!(tag, Tag::Finish | Tag::StartOver),
        }
    }

    /// The kind of a tool of which only the effect is known.
    pub const fn tag(self) -> Tag {
        match self {
            Self::Reads => Tag::Read,
            Self::Acts => Tag::Act,
            Self::Idempotent => Tag::Other,
            Self::Waits => Tag::Poll,
            Self::Finishes => Tag::Finish,
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::check;

    const TOOL: Tool = Tool::new(1);

    #[test]
    fn an_effect_allows_the_kind_that_it_stands_for() {
        for effect in Effect::ALL {
            assert!(effect.allows(effect.tag()), "{effect}");
            assert_eq!(ToolDeclaration::new(TOOL).effect(effect).kind(effect.tag()), effect.tag());
        }
    }

    #[test]
    fn every_kind_has_an_effect() {
        for tag in Tag::ALL {
            assert!(Effect::ALL.iter().any(|effect| effect.allows(tag)), "{tag}");
        }
    }

    #[test]
    fn a_kind_is_kept_where_the_effect_allows_it() {
        check("effect and kind", |given| {
            let (effect, tag) = given.split_once(' ').expect("an effect and a kind");
            let effect = Effect::ALL.into_iter().find(|it| it.name() == effect).expect("an effect");
            let named = Tag::ALL.into_iter().find(|it| it.name() == tag).expect("a kind");
            let own = ToolDeclaration::new(TOOL).effect(effect);
            assert_eq!(own.tag(named).kind(Tag::Think), own.kind(named), "{effect} {named}");
            own.kind(named).to_string()
        });
        assert_eq!(ToolDeclaration::new(TOOL).kind(Tag::Test), Tag::Test);
        assert_eq!(ToolDeclaration::new(TOOL).tag(Tag::Poll).kind(Tag::Test), Tag::Poll);
    }

    #[test]
    fn a_weaker_declaration_only_fills_gaps() {
        let none = ToolDeclaration::new(TOOL);
        let reads = none.effect(Effect::Reads).key(&["a"]);
        let shell = none.tag(Tag::Shell).masks(Masks::NONE);
        let whole = none.key(&[]);
        for (stronger, weaker, both) in [
            (none, reads, reads),
            (reads, none, reads),
            (reads, shell, reads.masks(Masks::NONE)),
            (shell, reads, shell.key(&["a"])),
            (whole, reads, reads.key(&[])),
            (reads, whole, reads),
        ] {
            assert_eq!(stronger.or(weaker), both);
        }
    }

    #[test]
    fn an_effect_says_what_an_equal_answer_proves() {
        let proves = Effect::ALL.map(|it| ToolDeclaration::new(TOOL).effect(it).is_idempotent());
        assert_eq!(proves, [true, false, true, false, false].map(Some));
        assert_eq!(ToolDeclaration::new(TOOL).tag(Tag::Read).is_idempotent(), None);
    }
}
