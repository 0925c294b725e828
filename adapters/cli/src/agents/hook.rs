//! `unstuck hook`: the command that a coding agent runs at each event of a session.
//!
//! The hook never stands in the agent's way. After any failure it exits with 0, prints nothing on
//! standard output and writes a line to a log. It reads standard input to the end.

pub(crate) mod input;
pub(crate) mod options;
mod session;
mod shield;
#[cfg(feature = "fleet")]
mod swarm;
#[cfg(not(feature = "fleet"))]
#[path = "hook/no_swarm.rs"]
mod swarm;

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Instant, SystemTime};

use unstuck::{Action, BuildError, Evidence, Guard, Ruling};

use self::input::Unread;
use self::session::{ReadEvent, Worker};
pub(crate) use self::swarm::LINE as SWARM_LINE;
use self::swarm::{Alone, Swarm};
use crate::agents::event::{BadPayload, EventKind};
use crate::agents::hook::options::Hook;
use crate::agents::state::{Damage, Entry, Folder, JOURNAL, Key, Trouble};
use crate::exit::Exit;
use crate::time::{self, millis};

/// Answers one event. The exit code is always 0, because agents take others for a verdict.
pub(crate) fn run(hook: &Hook) -> Exit {
    shield::ignore_limits();
    let silence = hook.agent.host().quirks.silence;
    if unstuck::is_off() {
        drain();
        say(silence);
        return Exit::Clean;
    }
    let now = SystemTime::now();
    let log = Log { folder: Folder::find(), now: millis(now), who: hook.agent.name() };
    let done = shield::shielded(|| {
        let Answer { text, news } = answer(hook, &log).unwrap_or_else(|failure| {
            log.note(&failure);
            Answer::default()
        });
        say(if text.is_empty() { silence } else { &text });
        for finding in &news {
            let handed = hook.notify.hand_over(finding).map_err(Failure::Notify);
            let _ = handed.inspect_err(|failure| log.note(failure));
        }
        if let Some(folder) = &log.folder {
            folder.remove_old(now);
        }
    });
    if let Err(place) = done {
        log.note(&Failure::Panic(place));
    }
    Exit::Clean
}

/// Handles a wrong command line that begins with `hook`. The message has been printed on standard
/// error, which a person may read and a model does not.
pub(crate) fn misused() -> Exit {
    shield::ignore_limits();
    drain();
    Log { folder: Folder::find(), now: time::now(), who: "hook" }.note(&Failure::Misused);
    Exit::Clean
}

/// Reads standard input and drops it. An agent takes a broken pipe for a failed hook.
fn drain() {
    if !io::stdin().is_terminal() {
        let _ = input::payload();
    }
}

/// The answer to an event.
#[derive(Default)]
struct Answer {
    /// The text for the agent.
    text: String,
    /// The findings to tell a person of.
    news: Vec<Entry>,
}

/// Answers the event on standard input.
fn answer(hook: &Hook, log: &Log) -> Result<Answer, Failure> {
    let payload = input::payload()?;
    let begun = Instant::now();
    let event = (hook.agent.host().wire.decode)(&payload)?.bounded();
    let folder = log.folder.as_ref().ok_or(Failure::NoFolder)?;
    let key = Key { agent: hook.agent, session: &event.session, worker: event.worker() };
    match event.kind {
        EventKind::Other => return Ok(Answer::default()),
        EventKind::Ended => {
            log.record(&folder.end(&key, log.now).map_err(Trouble::from)?);
            return Ok(Answer::default());
        }
        _ => {}
    }
    // `preset` has printed the reason on standard error.
    let preset = hook.policy.preset().map_err(|_| Failure::Config)?;
    let swarm = log.swarm(hook);
    let ends_turn = hook.agent.host().ends_turn_of(&event);
    let builder = || {
        let builder = Guard::builder().preset(preset).on_finding(stop_instead);
        let builder = match &swarm {
            Some(swarm) => builder.swarm(swarm.board()),
            None => builder,
        };
        let builder = if ends_turn { builder } else { builder.without_end() };
        if hook.observe { builder.observe_only() } else { builder }
    };
    // Other hooks wait for the lock, so the event's texts are read before.
    let read = ReadEvent::of(hook.agent, &event, &payload, &preset.recipe);
    let mut file = folder.open(&key, begun.elapsed())?;
    let saved = match file.read() {
        Err(Trouble::Damage(damage)) => {
            if damage == Damage::Newer {
                folder.keep_newer(&key)?;
            }
            log.note(&Failure::State(Trouble::Damage(damage)));
            None
        }
        read => read?,
    };
    let asks = hook.ask && hook.agent.host().quirks.is_attended.is_some_and(|is| is());
    let mut worker = Worker::from(saved, builder, &key, log.now)?.asking(asks);
    let text = worker.answer(hook.agent, &read, log.now);
    let (entries, news) = (worker.entries(), worker.news(&hook.notify));
    file.write(&worker.save())?;
    log.record(&entries);
    if let Some(swarm) = swarm {
        swarm.end(folder, log.now).unwrap_or_else(|alone| log.note(&alone.into()));
    }
    Ok(Answer { text, news })
}

/// Stops the run if a rule asks to start over: a hook cannot make an agent go back, and files are not
/// restored while an agent works. A person can run `unstuck start-over now` instead.
fn stop_instead(evidence: &Evidence) -> Ruling {
    if evidence.action == Action::StartOver { Ruling::Instead(Action::Stop) } else { Ruling::Agree }
}

/// Prints the answer. A failure is ignored, because the agent has closed the pipe.
fn say(text: &str) {
    if !text.is_empty() {
        let mut out = io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
    }
}

/// The log of failures, with the time and the name for new lines.
struct Log {
    folder: Option<Folder>,
    now: u64,
    who: &'static str,
}

impl Log {
    /// Opens the swarm that `hook` names. Returns `None` if there is none or it cannot be used; the
    /// session is then judged alone.
    fn swarm(&self, hook: &Hook) -> Option<Swarm> {
        let swarm = Swarm::open(hook.swarm.as_deref()?, self.folder.as_ref()?, self.now);
        swarm.unwrap_or_else(|alone| {
            self.note(&alone.into());
            None
        })
    }

    /// Appends `entries` to the journal.
    fn record(&self, entries: &[Entry]) {
        let recorded = self.folder.as_ref().map_or(Ok(()), |folder| folder.record(entries));
        recorded.unwrap_or_else(|trouble| self.note(&Failure::Journal(trouble)));
    }

    fn note(&self, failure: &Failure) {
        if let Some(folder) = &self.folder {
            folder.log(self.now, self.who, failure);
        }
    }
}

/// The reason why an event has no answer.
#[derive(Debug)]
enum Failure {
    Input(Unread),
    Payload(BadPayload),
    State(Trouble),
    /// A finding is missing in the journal.
    Journal(Trouble),
    Config,
    Guard(BuildError),
    NoFolder,
    Misused,
    Alone(Alone),
    /// The process that tells a person of a finding did not start.
    Notify(io::Error),
    /// A panic at this place in the source.
    Panic(String),
}

impl From<Unread> for Failure {
    fn from(unread: Unread) -> Self {
        Self::Input(unread)
    }
}

impl From<BadPayload> for Failure {
    fn from(bad: BadPayload) -> Self {
        Self::Payload(bad)
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::State(trouble)
    }
}

impl From<Alone> for Failure {
    fn from(alone: Alone) -> Self {
        Self::Alone(alone)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Self::Guard(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(unread) => unread.fmt(f),
            Self::Payload(bad) => bad.fmt(f),
            Self::State(trouble) => trouble.fmt(f),
            Self::Journal(trouble) => write!(f, "{JOURNAL}: {trouble}"),
            Self::Config => f.write_str(
                "the file of --config is not a valid policy: run the hook in a terminal to see why",
            ),
            Self::Guard(error) => error.fmt(f),
            Self::Alone(alone) => alone.fmt(f),
            Self::Notify(error) => write!(f, "nobody was told of a finding: {error}"),
            Self::NoFolder => f.write_str("there is no folder for the state: set HOME"),
            Self::Misused => f.write_str(
                "the command line is wrong; run it in a terminal, or see unstuck hook --help",
            ),
            Self::Panic(place) => write!(f, "a bug in unstuck: it panicked at {place}"),
        }
    }
}
