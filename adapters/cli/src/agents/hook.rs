//! `unstuck hook`: the command that a coding agent runs at each event of a session.
//!
//! The hook never stands in the agent's way. After any failure it exits with 0, prints nothing on
//! standard output and writes a line to a log. It reads standard input to the end.
//!
//! The way of a payload: `input` reads it, the agent's wire makes it an [`Event`](crate::agents::event::Event), and `read`
//! digests its texts. Under the lock of the state, `worker` asks the guard, mostly in `worker/calls`, and the wire encodes
//! its [`Reply`](crate::agents::reply::Reply).

mod clue;
pub(crate) mod input;
pub(crate) mod options;
mod read;
mod shield;
mod spending;
mod start_over;
#[cfg(feature = "fleet")]
mod swarm;
#[cfg(not(feature = "fleet"))]
#[path = "hook/no_swarm.rs"]
mod swarm;
mod worker;

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Instant, SystemTime};

use unstuck::{Action, Evidence, Guard, Ruling, Wording};
use unstuck_report::config::Variant;

use self::read::ReadEvent;
use self::spending::Spending;
use self::start_over::StartOver;
pub(crate) use self::swarm::LINE as SWARM_LINE;
use self::swarm::Swarm;
use self::worker::Worker;
use crate::agents::event::EventKind;
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
        let Answer { text, news } = answer(hook, &log).unwrap_or_else(|Failure(why)| {
            log.note(why);
            Answer::default()
        });
        say(if text.is_empty() { silence } else { &text });
        for finding in &news {
            if let Err(error) = hook.notify.hand_over(finding) {
                log.note(format!("a notification cannot be sent: {error}"));
            }
        }
        if let Some(folder) = &log.folder {
            folder.remove_old(now);
        }
    });
    if let Err(place) = done {
        log.note(format!("a bug in unstuck: it panicked at {place}"));
    }
    Exit::Clean
}

/// Handles a wrong command line that begins with `hook`. The message has been printed on standard
/// error, which a person may read and a model does not.
pub(crate) fn misused() -> Exit {
    shield::ignore_limits();
    drain();
    Log { folder: Folder::find(), now: time::now(), who: "hook" }.note(MISUSED);
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
    let folder = log.folder.as_ref().ok_or(NO_FOLDER)?;
    let key = Key { agent: hook.agent, session: &event.session, worker: event.worker() };
    match event.kind {
        EventKind::Other => return Ok(Answer::default()),
        EventKind::Ended => {
            log.record(&folder.end(&key, log.now).map_err(Trouble::from)?);
            return Ok(Answer::default());
        }
        _ => {}
    }
    // `config` has printed the reason on standard error.
    let config = hook.policy.config().map_err(|_| BAD_POLICY)?;
    let preset = config.preset;
    let variant = Variant::of_session(&config.variants, &event.session);
    let wording = if variant == Variant::Unnamed { Wording::Unnamed } else { Wording::Named };
    let observes = hook.observe || variant == Variant::Observe;
    let swarm = log.swarm(hook);
    let ends_turn = hook.agent.host().ends_turn_of(&event);
    let start_over = StartOver::of(&event, &key).filter(|_| hook.start_over && !observes);
    let builder = || {
        let builder = Guard::builder().preset(preset).wording(wording);
        let builder = match start_over.clone() {
            Some(start_over) => builder.on_finding(move |evidence| start_over.ruling(evidence)),
            None => builder.on_finding(stop_instead),
        };
        let builder = match &swarm {
            Some(swarm) => builder.swarm(swarm.board()),
            None => builder,
        };
        let builder = if ends_turn { builder } else { builder.without_end() };
        if observes { builder.observe_only() } else { builder }
    };
    // Other hooks wait for the lock, so the event's texts are read before.
    let read = ReadEvent::of(hook.agent, &event, &payload, &preset.recipe);
    let mut file = folder.open(&key, begun.elapsed())?;
    let saved = match file.read() {
        Err(Trouble::Damage(damage)) => {
            if damage == Damage::Newer {
                folder.keep_newer(&key)?;
            }
            log.note(damage);
            None
        }
        read => read?,
    };
    let asks = hook.ask && hook.agent.host().can_ask();
    // A hook that only observes refuses nothing, and nobody reads its notes.
    let spending = config.budget.filter(|_| !observes).and_then(|budget| {
        let note = |lost: &str| log.note(lost);
        let opened = Spending::open(folder, &key, budget, &config.prices, log.now, note);
        opened.map_err(|trouble| log.note(trouble)).ok()
    });
    let mut worker = Worker::from(saved, builder, &key, log.now)?;
    if let Some(start_over) = start_over.as_ref().filter(|_| worker.is_first_prompt(&event)) {
        start_over.begin().unwrap_or_else(|error| log.note(error));
    }
    (worker.asks, worker.wording) = (asks, wording);
    (worker.spending, worker.start_over) = (spending, start_over);
    let text = worker.answer(&read);
    worker.keep_spending().unwrap_or_else(|trouble| log.note(trouble));
    let (entries, news) = (worker.entries(), worker.news(&hook.notify));
    file.write(&worker.save())?;
    log.record(&entries);
    if let Some(swarm) = swarm {
        swarm.end(folder, log.now).unwrap_or_else(|alone| log.note(alone));
    }
    Ok(Answer { text, news })
}

/// Stops the run if a rule asks to start over: without the user's word, files are not restored while an agent works. A
/// person can run `unstuck start-over now` instead.
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
            self.note(alone);
            None
        })
    }

    /// Appends `entries` to the journal.
    fn record(&self, entries: &[Entry]) {
        let recorded = self.folder.as_ref().map_or(Ok(()), |folder| folder.record(entries));
        recorded.unwrap_or_else(|trouble| self.note(format!("{JOURNAL}: {trouble}")));
    }

    /// Writes a line to the log.
    fn note(&self, failure: impl Display) {
        if let Some(folder) = &self.folder {
            folder.log(self.now, self.who, failure);
        }
    }
}

/// The reason why an event has no answer, as the log has it.
struct Failure(String);

impl<T: Display> From<T> for Failure {
    fn from(reason: T) -> Self {
        Self(reason.to_string())
    }
}

const NO_FOLDER: &str = "there is no folder for the state: set HOME";

const BAD_POLICY: &str =
    "the file of --config is not a valid policy: run the hook in a terminal to see why";

const MISUSED: &str = "the command line is wrong; run it in a terminal, or see unstuck hook --help";
