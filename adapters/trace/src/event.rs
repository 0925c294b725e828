//! The events of a trace: calls, their outcomes, messages, tokens and times, borrowed from the input.

use core::ops::{Add, AddAssign};
use std::borrow::Cow;

use memchr::memchr_iter;
use serde_json::Value;

use crate::notes;

/// The words with which programs begin a note in place of a hidden value, such as `<redacted>`.
const HIDDEN: &[&str] =
    &["redacted", "filtered", "masked", "hidden", "scrubbed", "omitted", "truncated"];

/// Returns whether a program wrote this text in place of a hidden value: a note in brackets or between
/// underscores, or stars. One or two stars may be a pattern for files.
pub(crate) fn is_redacted(text: &str) -> bool {
    let text = text.trim().trim_matches('"').trim();
    let marks: &[_] = &['[', ']', '<', '>', '(', ')', '_'];
    let note = text.trim_matches(marks);
    let is_marked = text.starts_with(marks) && text.ends_with(marks);
    let begins =
        |word: &&str| note.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    (text.len() > 2 && text.bytes().all(|byte| byte == b'*'))
        || text == "REDACTED"
        || is_marked && note.len() < 200 && HIDDEN.iter().any(begins)
}

/// Returns whether a text was redacted, or is JSON with such a text as a value.
pub(crate) fn is_hidden(text: &str) -> bool {
    fn holds(value: &Value) -> bool {
        match value {
            Value::String(text) => is_redacted(text),
            Value::Array(list) => list.iter().any(holds),
            Value::Object(members) => members.values().any(holds),
            _ => false,
        }
    }
    let may_hide = |quote: usize| {
        let string = text.as_bytes().get(quote + 1..).unwrap_or_default();
        matches!(string, [b'[' | b'<' | b'(', ..] | [b'_', b'_', ..] | [b'*', b'*', b'*', ..])
            || string.starts_with(b"REDACTED")
    };
    is_redacted(text)
        || text.trim_start().starts_with(['{', '[', '"'])
            && memchr_iter(b'"', text.as_bytes()).any(may_hide)
            && serde_json::from_str(text).is_ok_and(|value| holds(&value))
}

/// An event of a run.
///
/// An event borrows from its line of the input, and is valid only during the call that delivers it.
/// A consumer keeps digests of it, or copies the parts that it needs.
///
/// ```
/// use unstuck_trace::{Event, read};
///
/// let file = br#"{"type":"call","tool":"bash","args":{"command":"make"},"result":"done"}"#;
/// let mut events = Vec::new();
/// read(&file[..], None, &mut |event| {
///     events.push(match event {
///         Event::Call(call) => format!("{} calls {}", call.worker, call.tool),
///         Event::Outcome(outcome) => format!("call {} returns {}", outcome.call, outcome.text),
///         Event::Message(message) => format!("{:?} says {}", message.role, message.text),
///         Event::Begin(_) => "another run".to_owned(),
///         Event::Usage(usage) => format!("{} tokens", usage.tokens.total()),
///         Event::Time(time) => format!("{time} ms"),
///     });
/// })?;
/// assert_eq!(events, ["main calls bash", "call 0 returns done"]);
/// # Ok::<(), unstuck_trace::Problem>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The agent asked for a tool.
    Call(Call<'a>),
    /// A tool returned its result.
    Outcome(Outcome<'a>),
    /// The agent, a person or the host wrote a message.
    Message(Message<'a>),
    /// Another run begins in the same input, for example in concatenated files. Its workers are new
    /// ones, even if they have the names of earlier workers. Indexes of calls and messages go on.
    Begin(Begin<'a>),
    /// An answer of the model was paid for. The event comes before the calls of the answer if the file
    /// has its tokens there, and otherwise where the file has them: see [`Usage`].
    Usage(Usage<'a>),
    /// The time of the records that follow, in milliseconds since 1970-01-01 00:00 UTC. The event comes
    /// if the time of a record differs from the last one that was delivered. Times may go back, for
    /// example where the records of workers alternate.
    Time(u64),
}

/// The beginning of another run. The first run of an input has no such event.
///
/// ```
/// use unstuck_trace::{Event, Format, read};
///
/// let file = b"{\"session\":\"a\"}\n{\"type\":\"call\",\"tool\":\"ls\"}\n{\"session\":\"b\"}\n";
/// let mut names = Vec::new();
/// let trace = read(&file[..], Some(Format::NATIVE), &mut |event| {
///     if let Event::Begin(begin) = event {
///         names.extend(begin.session.map(str::to_owned));
///     }
/// })?;
/// assert_eq!((names, trace.runs), (vec!["b".to_owned()], 2));
/// # Ok::<(), unstuck_trace::Problem>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begin<'a> {
    /// The run's name, if it has one.
    pub session: Option<&'a str>,
}

/// A call of a tool, as the agent asked for it.
///
/// ```
/// use unstuck_trace::{Args, Call};
///
/// let args = Args::Json(r#"{"command":"make"}"#);
/// let call = Call { index: 0, worker: "main", step: 1, tool: "bash", args };
/// assert_eq!(call.compared_args(), r#"{"command":"make"}"#);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call<'a> {
    /// The index of the call in the file, from 0, over all workers.
    pub index: usize,
    /// The agent that asked; `"main"` if the file does not name it.
    pub worker: &'a str,
    /// The step of the call. Calls that the agent issued together share one. Steps rise within a
    /// worker, whatever numbers the file has.
    pub step: u64,
    /// The tool's name.
    pub tool: &'a str,
    /// The arguments.
    pub args: Args<'a>,
}

impl<'a> Call<'a> {
    /// Returns the arguments by which calls are compared. Arguments that were redacted or left out become a text that
    /// no other call has, in one word without digits, so that it is similar to no other.
    pub fn compared_args(&self) -> Cow<'a, str> {
        self.args
            .known()
            .map_or_else(|| Cow::Owned(format!("\"{}\"", word(self.index))), Cow::Borrowed)
    }
}

/// Returns a word for a number. It shares no part with the words of neighbouring numbers.
fn word(number: usize) -> String {
    // A bijection that spreads neighbours over all words, as in SplitMix64.
    let mut bits = (number as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits ^= bits >> 31;
    bits.to_le_bytes()
        .into_iter()
        .flat_map(|byte| [byte & 15, byte >> 4])
        .map(|half| char::from(b'a' + half))
        .collect()
}

/// The arguments of a call, neither parsed nor reordered.
///
/// ```
/// use unstuck_trace::{Args, Event, read};
///
/// let chat = br#"[{"role":"assistant","tool_calls":[
///     {"function":{"name":"ls","arguments":"{\"path\":1}"}},
///     {"function":{"name":"ls","arguments":"{\"path\":"}}]}]"#;
/// let mut broken = Vec::new();
/// read(&chat[..], None, &mut |event| {
///     if let Event::Call(call) = event {
///         broken.push(matches!(call.args, Args::Text(_)));
///     }
/// })?;
/// assert_eq!(broken, [false, true]);
/// # Ok::<(), unstuck_trace::Problem>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Args<'a> {
    /// JSON text as in the file, or `null` if the file has no arguments. If a format keeps arguments
    /// in a JSON string (OpenAI, Codex), this is the unescaped content of that string.
    Json(&'a str),
    /// Text that should have been JSON and is not. It is the model's mistake, and kept unchanged.
    Text(&'a str),
    /// The recording left the arguments out. Nobody knows whether two such calls are equal, so they
    /// count as different.
    Absent,
}

impl<'a> Args<'a> {
    /// Returns the text, unless the recording left the arguments out or hid a value in them.
    pub(crate) fn known(self) -> Option<&'a str> {
        match self {
            Self::Json(text) | Self::Text(text) => Some(text).filter(|text| !is_hidden(text)),
            Self::Absent => None,
        }
    }
}

/// The result of a call.
///
/// ```
/// use unstuck_trace::Outcome;
///
/// let outcome = Outcome { call: 3, worker: "main", text: "no", failed: true, cut: None, refused: false };
/// assert!(outcome.failed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome<'a> {
    /// The [`Call::index`] of the call it answers.
    pub call: usize,
    /// The worker of that call.
    pub worker: &'a str,
    /// The result as text, or as JSON if it is not text. Lines that some agents add and that differ
    /// for equal results are left out, and so are notes of this project's hooks and proxy (see the
    /// [crate's documentation](crate)).
    pub text: &'a str,
    /// `true` if the file flags the result as failed. Always `false` if the format has no flag.
    pub failed: bool,
    /// A hash of the part that the recording left out (`result_sha` of a native trace). Equal texts
    /// with different `cut` are different results.
    pub cut: Option<&'a str>,
    /// `true` if the call was refused and did not run, by a person or by this project's hooks or proxy.
    /// Then `failed` is `false`, and `text` is the reason.
    pub refused: bool,
}

impl<'a> Outcome<'a> {
    /// Returns the result of a call that did not fail.
    pub(crate) const fn new(call: usize, worker: &'a str, text: &'a str) -> Self {
        Self { call, worker, text, failed: false, cut: None, refused: false }
    }

    /// Passes the outcome on without notes of this project. A call that this project refused did not run, and
    /// so did not fail.
    ///
    /// [`read`](crate::read) does this to every outcome. A program that makes outcomes of
    /// [records](crate::otlp::Record) has to do it itself.
    ///
    /// ```
    /// use unstuck_trace::Outcome;
    ///
    /// let outcome = Outcome { call: 3, worker: "main", text: "no", failed: true, cut: None, refused: false };
    /// outcome.without_notes(|bare| assert_eq!(bare, outcome));
    /// ```
    pub fn without_notes<R>(self, then: impl FnOnce(Outcome<'_>) -> R) -> R {
        let bare = if self.failed {
            notes::error_without_notes(self.text)
        } else {
            notes::without_notes(self.text)
        };
        let refused = self.refused || notes::is_refusal(&bare, self.failed);
        let failed = self.failed && !refused;
        then(Outcome { text: &bare, failed, refused, ..self })
    }
}

/// A message in words, by the agent or to it.
///
/// An agent's message is delivered once it is known whether a call follows. So it may come after
/// later events of other workers. Its index gives its place in the file.
///
/// ```
/// use unstuck_trace::{Event, read};
///
/// let file = br#"[{"role":"user","content":"Go on"},{"role":"assistant","content":"I wait."}]"#;
/// let mut turns_without_calls = 0;
/// read(&file[..], None, &mut |event| {
///     if let Event::Message(message) = event {
///         turns_without_calls += usize::from(message.text_only);
///     }
/// })?;
/// assert_eq!(turns_without_calls, 1);
/// # Ok::<(), unstuck_trace::Problem>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// The index of the message in the file, from 0, over all workers.
    pub index: usize,
    /// The worker whose conversation it belongs to.
    pub worker: &'a str,
    /// The author.
    pub role: Role,
    /// The text.
    pub text: &'a str,
    /// `true` for a turn in which the agent called no tool.
    pub text_only: bool,
}

/// The tokens of an answer of the model.
///
/// An answer is counted once, even if its record is written several times. If a later record has larger
/// figures for the same answer, another event delivers the difference. If a file keeps only a running
/// total, the events deliver what it grew by. So the events of a file add up to
/// [`Trace::tokens`](crate::Trace::tokens).
///
/// Codex, the printed lines of opencode, the stream of Copilot CLI and the totals of `OpenHands` have the
/// tokens behind the calls of their answer. Totals of a whole document are delivered at its end.
///
/// ```
/// use unstuck_trace::{Event, Tokens, read};
///
/// let file = br#"{"type":"call","tool":"ls","tokens":{"input":90,"cached":10,"output":5}}"#;
/// let mut paid = Tokens::default();
/// let trace = read(&file[..], None, &mut |event| {
///     if let Event::Usage(usage) = event {
///         paid += usage.tokens;
///     }
/// })?;
/// assert_eq!((paid.total(), trace.tokens), (105, Some(paid)));
/// # Ok::<(), unstuck_trace::Problem>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage<'a> {
    /// The agent whose model answered.
    pub worker: &'a str,
    /// The tokens. There is at least one.
    pub tokens: Tokens,
}

/// Numbers of tokens of the model. Sums stop at the largest number.
///
/// ```
/// use unstuck_trace::Tokens;
///
/// let tokens = Tokens { input: 90, cached: 10, output: 5 };
/// assert_eq!((tokens + tokens).total(), 210);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Tokens {
    /// Tokens that the model read, without those from a cache. Tokens that were written to a cache are
    /// among them.
    pub input: u64,
    /// Tokens that the model read from a cache.
    pub cached: u64,
    /// Tokens that the model wrote, with its reasoning.
    pub output: u64,
}

impl Tokens {
    /// Returns the number of all tokens.
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.cached).saturating_add(self.output)
    }

    /// Returns these tokens without `others`. No number falls below 0.
    #[must_use]
    pub fn without(self, others: Self) -> Self {
        self.zip(others, u64::saturating_sub)
    }

    /// Returns the larger number of each kind of tokens.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }

    /// Applies a function to each kind of tokens of two sets.
    pub(crate) fn zip(self, other: Self, each: fn(u64, u64) -> u64) -> Self {
        Self {
            input: each(self.input, other.input),
            cached: each(self.cached, other.cached),
            output: each(self.output, other.output),
        }
    }
}

impl Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// The author of a message.
///
/// ```
/// use unstuck_trace::Role;
///
/// // A person's message may change the task, so a host may forget the calls before it.
/// let resets = |role| role == Role::User;
/// assert!(resets(Role::User) && !resets(Role::Assistant));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The host, in its instructions (`system`, `developer`).
    System,
    /// The person, or a program in the person's place.
    User,
    /// The agent.
    Assistant,
    /// Anyone else.
    Other,
}

impl Role {
    pub(crate) fn from_name(name: &str) -> Self {
        match name {
            "system" | "developer" => Self::System,
            "user" | "human" => Self::User,
            "assistant" => Self::Assistant,
            _ => Self::Other,
        }
    }
}
