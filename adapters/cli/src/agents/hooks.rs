//! The way in which an agent registers hooks.

/// The entries that an agent's settings need so that it runs this program, or the plugin that runs it.
#[derive(Debug)]
pub(crate) struct Hooks {
    /// The events in the settings. A plugin knows its own.
    pub(crate) events: &'static [HookEvent],
    pub(crate) shape: Shape,
    pub(crate) form: Form,
    /// The time after which the agent gives up on a hook, at events without a shorter one: in seconds, or in
    /// milliseconds where the agent counts them.
    pub(crate) timeout: u32,
    /// The `name` member of an entry, for agents that have it.
    pub(crate) label: Option<&'static str>,
}

/// An event at which an agent runs hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HookEvent {
    pub(crate) name: &'static str,
    pub(crate) matcher: Matcher,
    /// The largest time that the agent allows at this event, if that is less than at others, in the same unit.
    pub(crate) limit: Option<u32>,
}

/// The treatment of the `matcher` member, which restricts a hook to some tools or causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matcher {
    /// The event takes a matcher; `*` is written, which matches everything.
    Every,
    /// The event takes no matcher: the agent ignores one or warns about it.
    Absent,
}

/// The shape of the settings around an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Entries in groups, which may have a matcher:
    /// `{"hooks": {EVENT: [{"matcher": "*", "hooks": [ENTRY]}]}}`.
    Grouped,
    /// Entries without groups, in a file that names its version:
    /// `{"version": 1, "hooks": {EVENT: [ENTRY]}}`.
    Flat,
}

/// The way in which an agent starts a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A program with a list of arguments, started without a shell.
    Exec,
    /// A line for the user's login shell.
    LoginShell,
    /// A line for `bash`.
    Bash,
    /// A plugin, which starts the program itself. It is the whole file, and no settings list hooks.
    Plugin(Plugin),
}

impl Hooks {
    /// The hooks of most agents at these events: lines for `bash` in groups, with five seconds each.
    pub(super) const fn at(events: &'static [HookEvent]) -> Self {
        Self { events, shape: Shape::Grouped, form: Form::Bash, timeout: 5, label: None }
    }

    /// The hooks of an agent that loads a plugin, which has five seconds for each.
    pub(super) const fn plugin(plugin: Plugin) -> Self {
        Self { form: Form::Plugin(plugin), timeout: 5000, ..Self::at(&[]) }
    }
}

impl HookEvent {
    /// An event that takes a matcher.
    pub(crate) const fn matched(name: &'static str) -> Self {
        Self { name, matcher: Matcher::Every, limit: None }
    }

    /// An event that takes no matcher.
    pub(crate) const fn plain(name: &'static str) -> Self {
        Self { name, matcher: Matcher::Absent, limit: None }
    }

    /// The same event, at which the agent allows no more time than `limit`.
    pub(crate) const fn limited(self, limit: u32) -> Self {
        Self { limit: Some(limit), ..self }
    }
}

/// The source of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plugin {
    /// The part that every plugin has.
    pub(super) common: &'static str,
    /// The part that is written for one agent's events.
    pub(super) own: &'static str,
}
