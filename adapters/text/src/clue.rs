//! What earlier calls add to a cause: where a path like the missing one was seen, which call changed the file.
//!
//! An answer tells what is wrong, and seldom why. Often an earlier call of the same agent shows it. The calls come from
//! [`PastCalls`], or from whatever else a host has at hand, such as a transcript.

use core::fmt;

use unstuck_core::Tag;

use crate::body::Body;
use crate::cause::{Cause, CauseKind, is_path, is_plain, is_plain_word};
use crate::envelope::Unescaped;
use crate::find;
use crate::likeness::{COMMANDS, JOBS, PATHS, SEARCHED};
use crate::members::{members, unquoted};
use crate::nothing::finds_nothing;
use crate::pending::is_pending;
use crate::phrases::is_any;
use crate::report::failing_tests;
use crate::silence::is_silent;
use crate::tags::tag;

/// A call of the past and its answer, each at least in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastCall<'t> {
    /// The name of the tool.
    pub tool: &'t str,
    /// The arguments.
    pub args: &'t str,
    /// The answer. It is empty while there is none.
    pub answer: &'t str,
    /// Whether the call failed.
    pub failed: bool,
}

/// The cause of a loop, with a clue of an earlier call. Its `Display` is that of the [`Cause`], with a sentence more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopCause<'t> {
    /// The cause.
    pub cause: Cause<'t>,
    /// What an earlier call adds to it.
    pub clue: Option<Clue<'t>>,
}

/// What an earlier call adds to a [`Cause`]. Its `Display` is a sentence for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clue<'t> {
    /// The kind of the clue.
    pub kind: ClueKind,
    /// The number of calls since the one that shows it: 1 is the latest call before the cause.
    pub ago: u16,
    /// The tool of that call, if its name is a plain word.
    pub tool: Option<&'t str>,
    /// The path, program or search that the clue is about, in one word.
    pub subject: Option<&'t str>,
}

/// The kinds of clues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum ClueKind {
    /// A path that is much like the missing one was seen.
    LikePath,
    /// The call wrote the file that has changed.
    ChangedBy,
    /// The call names the port that is held.
    HeldBy,
    /// The call started the job that still runs.
    StartedBy,
    /// The call missed another program, package or search.
    AlsoMissing,
}

/// The smallest number of earlier runs of tests in which a test has failed that is told.
const ROUNDS_MIN: usize = 2;

impl<'t> LoopCause<'t> {
    /// Returns the cause of a loop, with a clue of an earlier call. `calls` are the latest calls of the agent, the latest
    /// of all first; `answer` is the whole answer to that one. O(length of `answer` and of all calls).
    ///
    /// ```
    /// use unstuck_text::{LoopCause, PastCall, Unescaped};
    ///
    /// let call = |args, answer, failed| PastCall { tool: "Bash", args, answer, failed };
    /// let answer = "cat: src/mian.rs: No such file or directory";
    /// let calls = [
    ///     call(r#"{"command":"cat src/mian.rs"}"#, answer, true),
    ///     call(r#"{"command":"ls src/*"}"#, "src/lib.rs\nsrc/main.rs\n", false),
    /// ];
    /// let mut memory = Unescaped::default();
    /// let cause = LoopCause::of(answer, calls.into_iter(), &mut memory).unwrap();
    /// assert_eq!(
    ///     cause.to_string(),
    ///     "The path `src/mian.rs` does not exist. There was `src/main.rs` 1 call ago. List what is there, and take \
    ///      the path from that.",
    /// );
    /// ```
    pub fn of<'c: 't>(
        answer: &'t str,
        calls: impl Iterator<Item = PastCall<'c>> + Clone,
        memory: &'t mut Unescaped,
    ) -> Option<Self> {
        let calls = calls.map(|PastCall { tool, args, answer, failed }| -> PastCall<'t> {
            PastCall { tool, args, answer, failed }
        });
        let latest = calls.clone().next()?;
        let earlier = calls.skip(1);
        if !latest.failed {
            return Self::of_unfailing(answer, latest, earlier);
        }
        let Some(cause) = Cause::of(answer, memory) else {
            let test = failing_in_all_rounds(answer, earlier)?;
            let cause = Cause { kind: CauseKind::TestFails, subject: Some(test) };
            return Some(Self { cause, clue: None });
        };
        // Some tools do not repeat the path that they were given.
        let is_untold = cause.kind == CauseKind::PathMissing && cause.subject.is_none();
        let given = if is_untold { argument(latest.args, PATHS) } else { None };
        let cause = Cause { subject: cause.subject.or(given), ..cause };
        Some(Self { cause, clue: cause.clue(latest, earlier) })
    }

    /// Returns the cause of a loop of calls that work: a search that finds nothing, or a job that still runs.
    fn of_unfailing(
        answer: &'t str,
        latest: PastCall<'t>,
        earlier: impl Iterator<Item = PastCall<'t>> + Clone,
    ) -> Option<Self> {
        // A search for flights has no name of which to look for a part.
        let by_name = |names| values(latest.args, names).next().is_some();
        let is_search = tag(latest.tool, latest.args) == Tag::Search
            && (by_name(SEARCHED) || by_name(COMMANDS));
        let (kind, subject) = if is_search && (is_silent(answer) || finds_nothing(answer)) {
            (CauseKind::NothingFound, argument(latest.args, SEARCHED))
        } else if is_pending(answer) {
            (CauseKind::JobRuns, Some(argument(latest.args, JOBS)?))
        } else {
            return None;
        };
        let cause = Cause { kind, subject };
        Some(Self { cause, clue: cause.clue(latest, earlier) })
    }
}

impl<'t> Cause<'t> {
    /// Returns what the `earlier` calls add to this cause of the `latest` one.
    fn clue(
        &self,
        latest: PastCall<'t>,
        earlier: impl Iterator<Item = PastCall<'t>> + Clone,
    ) -> Option<Clue<'t>> {
        let subject = self.subject;
        let mut earlier = (1..).zip(earlier);
        let mut find = |kind, show: &dyn Fn(&PastCall<'t>) -> Option<Option<&'t str>>| {
            let found = |(ago, call): (u16, PastCall<'t>)| Some((ago, call.tool, show(&call)?));
            let (ago, tool, subject) = earlier.find_map(found)?;
            let tool = Some(tool).filter(|tool| is_plain_word(tool));
            Some(Clue { kind, ago, tool, subject })
        };
        match self.kind {
            CauseKind::PathMissing => {
                let missing = subject?;
                find(ClueKind::LikePath, &|call| Some(Some(like_path(missing, call)?)))
            }
            CauseKind::FileChanged => {
                let path = words(latest.args).find(|word| is_path(word))?;
                find(ClueKind::ChangedBy, &|call| {
                    let writes = !call.failed && tag(call.tool, call.args) == Tag::Write;
                    (writes && names(call.args, path)).then_some(None)
                })
            }
            CauseKind::PortHeld => {
                let port = subject?;
                find(ClueKind::HeldBy, &|call| {
                    (call.args != latest.args && names(call.args, port)).then_some(None)
                })
            }
            CauseKind::JobRuns => {
                let job = subject?;
                find(ClueKind::StartedBy, &|call| {
                    (!names(call.args, job) && names(call.answer, job)).then_some(None)
                })
            }
            CauseKind::ProgramMissing | CauseKind::PackageMissing => {
                let missing = subject?;
                find(ClueKind::AlsoMissing, &|call| {
                    let other =
                        call.failed.then(|| Self::in_body(&Body::of(call.answer))).flatten()?;
                    let subject = other.subject.filter(|name| *name != missing)?;
                    (other.kind == self.kind).then_some(Some(subject))
                })
            }
            CauseKind::NothingFound => {
                let missing = subject?;
                find(ClueKind::AlsoMissing, &|call| {
                    let is_search = !call.failed && tag(call.tool, call.args) == Tag::Search;
                    let is_empty = is_silent(call.answer) || finds_nothing(call.answer);
                    let other = argument(call.args, SEARCHED)?;
                    let is_empty = is_empty && other != missing && are_spellings(other, missing);
                    (is_search && is_empty).then_some(Some(other))
                })
            }
            _ => None,
        }
    }
}

/// Returns the first test that fails in `answer` and in all runs of tests among the `earlier` calls, if there are enough.
fn failing_in_all_rounds<'t>(
    answer: &'t str,
    earlier: impl Iterator<Item = PastCall<'t>> + Clone,
) -> Option<&'t str> {
    let runs = earlier.filter(|call| call.failed && failing_tests(call.answer).next().is_some());
    let is_enough = runs.clone().count() >= ROUNDS_MIN;
    let fails =
        |call: PastCall<'t>, test: &str| failing_tests(call.answer).any(|other| other == test);
    let mut tests = failing_tests(answer).filter(|_| is_enough);
    tests.find(|test| runs.clone().all(|call| fails(call, test)))
}

/// Returns the values of the arguments with one of these names.
fn values<'t>(args: &'t str, names: &[&str]) -> impl Iterator<Item = &'t str> {
    let found = members(args).filter(|it| it.depth == 1 && is_any(it.name, names));
    found.map(|member| unquoted(member.value))
}

/// Returns the argument with one of these names, if it is one plain word.
fn argument<'t>(args: &'t str, names: &[&str]) -> Option<&'t str> {
    // A value with a backslash is not what its text says.
    values(args, names).next().filter(|value| is_plain_word(value) && !value.contains('\\'))
}

/// Returns whether `word` stands in `text`.
fn names(text: &str, word: &str) -> bool {
    // Most texts hold it nowhere, and are not split.
    find::contains(text, word) && words(text).any(|other| other == word)
}

/// Returns the words of `text`: the runs of bytes that stand in names, without the punctuation at their ends. A text inside
/// of an object may have its line breaks escaped.
fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    let is_between = |c: char| {
        !u8::try_from(c).is_ok_and(|byte| is_plain(byte) && !matches!(byte, b'=' | b'\\'))
    };
    let words = find::split(text, "\\n").flat_map(move |line| line.split(is_between));
    words.map(|word| word.trim_matches([':', '.', ',', '#'])).filter(|word| !word.is_empty())
}

/// Returns a path in a call that worked, or in its answer, which is much like the `missing` one.
fn like_path<'t>(missing: &str, call: &PastCall<'t>) -> Option<&'t str> {
    let texts = if call.failed { None } else { Some([call.args, call.answer]) };
    // Not those with variables and wild cards.
    let is_one = |word: &&str| is_path(word) && !word.contains(['*', '$', '%']);
    let mut paths = texts.into_iter().flatten().flat_map(words).filter(is_one);
    paths.find(|path| are_alike(missing, path))
}

/// Returns whether two paths differ as a mistake differs from what was meant: one has folders more than the other, or one
/// of their parts is misspelled.
fn are_alike(one: &str, other: &str) -> bool {
    fn parts(path: &str) -> impl Iterator<Item = &str> + Clone {
        path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | "~"))
    }
    let (count, other_count) = (parts(one).count(), parts(other).count());
    if count != other_count {
        // Of the shorter path, all parts stand in the longer one, and both end alike.
        let (short, long) = if count < other_count { (one, other) } else { (other, one) };
        let mut longer = parts(long);
        return parts(short).count() > 1
            && parts(short).last() == parts(long).last()
            && parts(short).all(|part| longer.any(|other| other == part));
    }
    let mut different = parts(one).zip(parts(other)).filter(|(one, other)| one != other);
    match (different.next(), different.next()) {
        (None, _) => count > 1 && one.starts_with('/') != other.starts_with('/'),
        (Some((one, other)), None) => is_misspelling(one, other),
        _ => false,
    }
}

/// Returns whether two searches look for the same name, but for case, punctuation and a misspelling.
fn are_spellings(one: &str, other: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = u8> {
        let letters = text.bytes().filter(u8::is_ascii_alphanumeric);
        letters.map(|byte| byte.to_ascii_lowercase())
    }
    letters(one).eq(letters(other))
        || is_misspelling(one, other)
        || find::contains(one, other)
        || find::contains(other, one)
}

/// The shortest name of which a misspelling is told, in bytes.
const MISSPELLED_MIN: usize = 4;

/// Returns whether two names differ by one letter, which is missing or wrong, by two that are swapped, or by case.
fn is_misspelling(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len().min(other.len()) < MISSPELLED_MIN {
        return false;
    }
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let prefix = one.iter().zip(other).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    match (one.get(prefix..).unwrap_or_default(), other.get(prefix..).unwrap_or_default()) {
        ([], []) => true,
        ([a, b, one @ ..], [c, d, other @ ..]) if a == d && b == c => one == other,
        // `v1` and `v2` are no misspelling.
        ([a, one @ ..], [b, other @ ..]) if one == other => is_letter(a) && is_letter(b),
        ([a, one @ ..], other) if one == other => is_letter(a),
        (one, [b, other @ ..]) if one == other => is_letter(b),
        _ => false,
    }
}

impl fmt::Display for LoopCause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.write(f, self.clue.as_ref().map(|clue| clue as &dyn fmt::Display))
    }
}

impl fmt::Display for Clue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, ago, tool, subject } = *self;
        let ago = format_args!("{ago} {} ago", if ago == 1 { "call" } else { "calls" });
        let subject = subject.unwrap_or_default();
        let says = match kind {
            ClueKind::LikePath => return write!(f, "There was `{subject}` {ago}."),
            ClueKind::AlsoMissing => return write!(f, "`{subject}` was not there, either."),
            ClueKind::ChangedBy => "has changed it",
            ClueKind::HeldBy => "names that port",
            ClueKind::StartedBy => "has started it",
        };
        match tool {
            Some(tool) => write!(f, "Your `{tool}` call, {ago}, {says}."),
            None => write!(f, "Your call, {ago}, {says}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::are_alike;
    use crate::tables::check_pairs;

    #[test]
    fn paths_are_alike_if_one_is_a_mistake_of_the_other() {
        check_pairs("a misspelled path", |one, other| {
            assert_eq!(are_alike(one, other), are_alike(other, one));
            are_alike(one, other)
        });
    }
}
