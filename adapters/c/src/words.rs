//! The engine's enumerations as numbers of C.
//!
//! A number from C is read as an integer, because it may have any value. Numbers to C are of these
//! enumerations.

use core::ffi::c_char;

use unstuck_core::{Action, Args, Kind, Results, Tag};

use crate::memory::{padded, text_at};
use crate::status::unstuck_status_t;

/// The action that a verdict asks for. A greater number is a stronger action.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_action_t {
    /// Continue.
    UNSTUCK_PROCEED = 0,
    /// Mention the loop to the agent.
    UNSTUCK_NUDGE = 1,
    /// Warn the agent.
    UNSTUCK_WARN = 2,
    /// Do not run the call. Give the reason to the agent, and report it by unstuck_vetoed().
    UNSTUCK_BLOCK = 3,
    /// Discard the work since the start and begin again.
    UNSTUCK_START_OVER = 4,
    /// End the run.
    UNSTUCK_STOP = 5,
}

/// The kind of a pattern.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_kind_t {
    /// The same call several times in a row.
    UNSTUCK_STREAK = 0,
    /// The same call several times with other calls between.
    UNSTUCK_RECURRENCE = 1,
    /// A repeated sequence of calls.
    UNSTUCK_CYCLE = 2,
    /// Text-only turns in a row.
    UNSTUCK_TEXT = 3,
    /// A sequence of words repeated inside one turn.
    UNSTUCK_ECHO = 4,
}

/// The parts of two calls that must be equal to match.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_args_t {
    /// The same tool and the same arguments.
    UNSTUCK_ARGS_SAME = 0,
    /// The same tool and similar arguments.
    UNSTUCK_ARGS_SIMILAR = 1,
    /// The same tool.
    UNSTUCK_ARGS_SAME_TOOL = 2,
    /// No part: any two calls match.
    UNSTUCK_ARGS_ANY = 3,
}

/// The parts of two outcomes that must be equal to match.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_results_t {
    /// No part: results are ignored.
    UNSTUCK_RESULTS_IGNORED = 0,
    /// The same result.
    UNSTUCK_RESULTS_SAME = 1,
    /// The same result except for its numbers.
    UNSTUCK_RESULTS_NEAR = 2,
}

/// The kind of a tool, which rules and nudges use.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_tag_t {
    /// Any other tool.
    UNSTUCK_TAG_OTHER = 0,
    /// Runs tests.
    UNSTUCK_TAG_TEST = 1,
    /// Runs commands.
    UNSTUCK_TAG_SHELL = 2,
    /// Reads a file, a page or a sensor.
    UNSTUCK_TAG_READ = 3,
    /// Writes or edits a file, or moves something.
    UNSTUCK_TAG_WRITE = 4,
    /// Searches.
    UNSTUCK_TAG_SEARCH = 5,
    /// Asks for the state of something that is still under way.
    UNSTUCK_TAG_POLL = 6,
    /// Only thinks or plans.
    UNSTUCK_TAG_THINK = 7,
    /// Ends the run or hands it to another agent.
    UNSTUCK_TAG_FINISH = 8,
    /// Discards the work and starts over.
    UNSTUCK_TAG_START_OVER = 9,
    /// Acts, for example presses a key, clicks or moves. An equal confirmation proves nothing.
    UNSTUCK_TAG_ACT = 10,
}

/// The names by number, padded with NULs. As tables they are linked only if they are used. The linker would
/// keep separate texts together.
static ACTIONS: [Name; 6] =
    [name("proceed"), name("nudge"), name("warn"), name("block"), name("start_over"), name("stop")];
static KINDS: [Name; 5] =
    [name("streak"), name("recurrence"), name("cycle"), name("text"), name("echo")];
static TAGS: [Name; 11] = [
    name("other"),
    name("test"),
    name("shell"),
    name("read"),
    name("write"),
    name("search"),
    name("poll"),
    name("think"),
    name("finish"),
    name("start_over"),
    name("act"),
];

/// A name padded with NULs. The longest has ten letters.
type Name = [u8; 12];

const fn name(text: &str) -> Name {
    padded(text)
}

/// Returns the name of an action: "proceed", "nudge", "warn", "block", "start_over", "stop".
/// Do not free it. Returns NULL for a number outside unstuck_action_t.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_action_name(action: u8) -> *const c_char {
    text_at(&ACTIONS, usize::from(action))
}

/// Returns the name of a kind: "streak", "recurrence", "cycle", "text", "echo".
/// Do not free it. Returns NULL for a number outside unstuck_kind_t.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_kind_name(kind: u8) -> *const c_char {
    text_at(&KINDS, usize::from(kind))
}

/// Returns the name of a tag: "other", "test", "shell", "read", "write", "search", "poll", "think",
/// "finish", "start_over", "act".
/// Do not free it. Returns NULL for a number outside unstuck_tag_t.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_tag_name(tag: u8) -> *const c_char {
    text_at(&TAGS, usize::from(tag))
}

/// Returns the value at place `number` of `all`.
pub(crate) fn word<T: Copy>(all: &[T], number: u8) -> Result<T, unstuck_status_t> {
    all.get(usize::from(number)).copied().ok_or(unstuck_status_t::UNSTUCK_VALUE)
}

pub(crate) fn tag(number: u8) -> Result<Tag, unstuck_status_t> {
    word(&Tag::ALL, number)
}

pub(crate) fn action(number: u8) -> Result<Action, unstuck_status_t> {
    word(&Action::ALL, number)
}

pub(crate) fn kind(number: u8) -> Result<Kind, unstuck_status_t> {
    word(&Kind::ALL, number)
}

pub(crate) fn args(number: u8) -> Result<Args, unstuck_status_t> {
    word(&[Args::Same, Args::Similar, Args::SameTool, Args::Any], number)
}

pub(crate) fn results(number: u8) -> Result<Results, unstuck_status_t> {
    word(&[Results::Ignored, Results::Same, Results::Near], number)
}

impl From<Action> for unstuck_action_t {
    fn from(action: Action) -> Self {
        match action {
            Action::Proceed => Self::UNSTUCK_PROCEED,
            Action::Nudge => Self::UNSTUCK_NUDGE,
            Action::Warn => Self::UNSTUCK_WARN,
            Action::Block => Self::UNSTUCK_BLOCK,
            Action::StartOver => Self::UNSTUCK_START_OVER,
            Action::Stop => Self::UNSTUCK_STOP,
        }
    }
}

impl From<Kind> for unstuck_kind_t {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Streak => Self::UNSTUCK_STREAK,
            Kind::Recurrence => Self::UNSTUCK_RECURRENCE,
            Kind::Cycle => Self::UNSTUCK_CYCLE,
            Kind::Text => Self::UNSTUCK_TEXT,
            Kind::Echo => Self::UNSTUCK_ECHO,
        }
    }
}

impl From<Args> for unstuck_args_t {
    fn from(args: Args) -> Self {
        match args {
            Args::Same => Self::UNSTUCK_ARGS_SAME,
            Args::Similar => Self::UNSTUCK_ARGS_SIMILAR,
            Args::SameTool => Self::UNSTUCK_ARGS_SAME_TOOL,
            Args::Any => Self::UNSTUCK_ARGS_ANY,
        }
    }
}

impl From<Results> for unstuck_results_t {
    fn from(results: Results) -> Self {
        match results {
            Results::Ignored => Self::UNSTUCK_RESULTS_IGNORED,
            Results::Same => Self::UNSTUCK_RESULTS_SAME,
            Results::Near => Self::UNSTUCK_RESULTS_NEAR,
        }
    }
}

impl From<Tag> for unstuck_tag_t {
    fn from(tag: Tag) -> Self {
        match tag {
            Tag::Test => Self::UNSTUCK_TAG_TEST,
            Tag::Shell => Self::UNSTUCK_TAG_SHELL,
            Tag::Read => Self::UNSTUCK_TAG_READ,
            Tag::Write => Self::UNSTUCK_TAG_WRITE,
            Tag::Search => Self::UNSTUCK_TAG_SEARCH,
            Tag::Poll => Self::UNSTUCK_TAG_POLL,
            Tag::Think => Self::UNSTUCK_TAG_THINK,
            Tag::Finish => Self::UNSTUCK_TAG_FINISH,
            Tag::StartOver => Self::UNSTUCK_TAG_START_OVER,
            Tag::Act => Self::UNSTUCK_TAG_ACT,
            // A later version of the engine may have tags that C does not know.
            _ => Self::UNSTUCK_TAG_OTHER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_number_and_its_name() {
        fn spelled<T: Copy>(all: &[T], names: &[Name], code: impl Fn(T) -> (u8, &'static str)) {
            assert_eq!(all.len(), names.len());
            for (place, one) in all.iter().enumerate() {
                let (number, text) = code(*one);
                assert_eq!((usize::from(number), name(text)), (place, names[place]));
                assert_eq!(names[place].last(), Some(&0));
            }
        }
        spelled(&Action::ALL, &ACTIONS, |one| (unstuck_action_t::from(one) as u8, one.name()));
        spelled(&Kind::ALL, &KINDS, |one| (unstuck_kind_t::from(one) as u8, one.name()));
        spelled(&Tag::ALL, &TAGS, |one| (unstuck_tag_t::from(one) as u8, one.name()));
        for number in 0..=u8::MAX {
            let args = args(number).map(|one| unstuck_args_t::from(one) as u8);
            let results = results(number).map(|one| unstuck_results_t::from(one) as u8);
            assert!(args == Ok(number) || number > 3, "{number}");
            assert!(results == Ok(number) || number > 2, "{number}");
            assert_eq!(action(number).is_err(), unstuck_action_name(number).is_null());
            assert_eq!(kind(number).is_err(), unstuck_kind_name(number).is_null());
            assert_eq!(tag(number).is_err(), unstuck_tag_name(number).is_null());
        }
    }
}
