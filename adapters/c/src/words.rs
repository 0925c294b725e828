//! The words of the engine, as numbers of C.
//!
//! Numbers that come from C are taken as integers, since any may come; those that go there are of
//! these enumerations.

use core::ffi::c_char;

use unstuck_core::{Action, Args, Kind, Results, Tag};

use crate::memory::{row_of, text_of};
use crate::status::unstuck_status_t;

/// What to do, from nothing to everything: a greater number asks for more.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_action_t {
    /// Nothing: go on.
    UNSTUCK_PROCEED = 0,
    /// Tell the agent, in passing.
    UNSTUCK_NUDGE = 1,
    /// Tell the agent plainly.
    UNSTUCK_WARN = 2,
    /// Do not run the call; tell the agent why, and tell the detector by unstuck_vetoed().
    UNSTUCK_BLOCK = 3,
    /// Throw away what was done since the start and begin again.
    UNSTUCK_START_OVER = 4,
    /// End the run.
    UNSTUCK_STOP = 5,
}

/// How something recurs.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_kind_t {
    /// The same thing several times in a row.
    UNSTUCK_STREAK = 0,
    /// The same thing several times with others between.
    UNSTUCK_RECURRENCE = 1,
    /// A sequence, repeated.
    UNSTUCK_CYCLE = 2,
    /// Text-only turns in a row.
    UNSTUCK_TEXT = 3,
    /// A sequence repeated inside the text of one turn.
    UNSTUCK_ECHO = 4,
}

/// What two calls have in common that match.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_args_t {
    /// The same tool and the same arguments.
    UNSTUCK_ARGS_SAME = 0,
    /// The same tool and arguments that are held alike.
    UNSTUCK_ARGS_SIMILAR = 1,
    /// The same tool.
    UNSTUCK_ARGS_SAME_TOOL = 2,
    /// Nothing.
    UNSTUCK_ARGS_ANY = 3,
}

/// What their outcomes have in common.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_results_t {
    /// Nothing.
    UNSTUCK_RESULTS_IGNORED = 0,
    /// The same result.
    UNSTUCK_RESULTS_SAME = 1,
    /// The same result but for its numbers.
    UNSTUCK_RESULTS_NEAR = 2,
}

/// What kind of tool a call is for, where that matters to a rule or to the advice given.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum unstuck_tag_t {
    /// Nothing that a rule asks for.
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
    /// Asks for the state of something that is on its way.
    UNSTUCK_TAG_POLL = 6,
    /// Only thinks or plans.
    UNSTUCK_TAG_THINK = 7,
    /// Ends the run or hands it over.
    UNSTUCK_TAG_FINISH = 8,
    /// Throws the work away and starts over.
    UNSTUCK_TAG_START_OVER = 9,
    /// Acts, so that an equal confirmation proves nothing: presses a key, clicks, moves.
    UNSTUCK_TAG_ACT = 10,
}

/// The names by number, each in a row of its own that ends with NULs. As rows of one table they are
/// linked where they are asked for; texts by themselves the linker keeps all together.
static ACTIONS: [Row; 6] =
    [row("proceed"), row("nudge"), row("warn"), row("block"), row("start_over"), row("stop")];
static KINDS: [Row; 5] = [row("streak"), row("recurrence"), row("cycle"), row("text"), row("echo")];
static TAGS: [Row; 11] = [
    row("other"),
    row("test"),
    row("shell"),
    row("read"),
    row("write"),
    row("search"),
    row("poll"),
    row("think"),
    row("finish"),
    row("start_over"),
    row("act"),
];

/// A name, and NULs to the end: the longest has ten letters.
type Row = [u8; 12];

const fn row(name: &str) -> Row {
    text_of(name)
}

/// The one spelling of an action: "proceed", "nudge", "warn", "block", "start_over", "stop".
///
/// Never freed. NULL for a number that is none of unstuck_action_t.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_action_name(action: u8) -> *const c_char {
    row_of(&ACTIONS, usize::from(action))
}

/// The one spelling of a kind: "streak", "recurrence", "cycle", "text", "echo".
///
/// Never freed. NULL for a number that is none of unstuck_kind_t.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_kind_name(kind: u8) -> *const c_char {
    row_of(&KINDS, usize::from(kind))
}

/// The one spelling of a tag: "other", "test", "shell", "read", "write", "search", "poll", "think",
/// "finish", "start_over", "act".
///
/// Never freed. NULL for a number that is none of unstuck_tag_t.
#[unsafe(no_mangle)]
pub extern "C" fn unstuck_tag_name(tag: u8) -> *const c_char {
    row_of(&TAGS, usize::from(tag))
}

/// The one of `all` with this number, each being where it belongs.
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
            // A tag that the engine learns later is none that C knows.
            _ => Self::UNSTUCK_TAG_OTHER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_number_and_its_spelling() {
        fn spelled<T: Copy>(all: &[T], names: &[Row], code: impl Fn(T) -> (u8, &'static str)) {
            assert_eq!(all.len(), names.len());
            for (place, one) in all.iter().enumerate() {
                let (number, name) = code(*one);
                assert_eq!((usize::from(number), row(name)), (place, names[place]));
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
