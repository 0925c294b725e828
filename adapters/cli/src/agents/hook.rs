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

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Instant, SystemTime};

use clap::Args;
use unstuck::{Action, Evidence, Guard, Ruling, Wording};
use unstuck_report::config::Variant;

use self::read::ReadEvent;
use self::spending::Spending;
use self::start_over::StartOver;
pub(crate) use self::swarm::LINE as SWARM_LINE;
use self::swarm::Swarm;
use self::worker::Worker;
use crate::agents::Agent;
use crate::agents::event::EventKind;
use crate::agents::notify::Notify;
use crate::agents::state::{Damage, Entry, Folder, JOURNAL, Key, Trouble};
use crate::exit::Exit;
use crate::lacking::marked;
use crate::policy::options::PolicyOptions;
use crate::time::{self, millis};

const ABOUT: &str = "Reads an event as JSON on standard input, and prints the answer for the agent, or \
                    nothing. A failure never stops the agent: the exit code is 0, and hook.log in \
                    the state folder gets a line. That folder is $UNSTUCK_STATE_DIR, else unstuck in \
                    $XDG_STATE_HOME or in ~/.local/state. UNSTUCK=off in the environment turns the \
                    hook off.\n\n\
                    Try it by hand; no output means that the call may run:\n  \
                    echo '{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\
                    \"tool_name\":\"Bash\",\n  \
                    \"tool_input\":{\"command\":\"ls\"},\"tool_use_id\":\"1\"}' \
                    | unstuck hook claude-code";

const SWARM: &str = "The swarm that the agent belongs to, as redis://host:port?swarm=name. Without the swarm's \
                     secret in the environment the agent is judged alone: see unstuck swarm --help";

#[derive(Args, Debug, PartialEq, Eq)]
#[command(after_help = ABOUT)]
pub(crate) struct Hook {
    /// The agent that runs the hook
    #[arg(value_name = "AGENT", value_enum)]
    pub(crate) agent: Agent,
    /// Only record findings, and never answer the agent
    #[arg(long)]
    pub(crate) observe: bool,
    /// Ask the person at the agent before a loop's first refusal
    #[arg(long, conflicts_with = "observe")]
    pub(crate) ask: bool,
    /// Save the work tree of git at the first prompt of a session, and go back to it where the policy starts over
    #[arg(long, conflicts_with = "observe")]
    pub(crate) start_over: bool,
    #[command(flatten)]
    pub(crate) notify: Notify,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    #[arg(long, value_name = "URL", help = marked(SWARM))]
    pub(crate) swarm: Option<String>,
}

impl Hook {
    /// Reads the command lines that agents run, without clap: parsing with it takes as long as all the
    /// other work. Returns `None` for any other command line, which clap then reads.
    pub(crate) fn plain(words: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut words = words.into_iter().skip(1);
        let agent = match (words.next()?.to_str()?, words.next()?.to_str()?) {
            ("hook", name) => Agent::named(name)?,
            _ => return None,
        };
        let policy = PolicyOptions::default();
        let (notify, swarm) = (Notify::default(), None);
        let (observe, ask, start_over) = (false, false, false);
        let mut hook = Self { agent, observe, ask, start_over, notify, policy, swarm };
        while let Some(word) = words.next() {
            match word.to_str()? {
                "--observe" if !hook.observe && !hook.ask => hook.observe = true,
                "--ask" if !hook.observe && !hook.ask => hook.ask = true,
                "--swarm" if hook.swarm.is_none() => hook.swarm = Some(value(words.next()?)?),
                option => hook.notify.take(option, value(words.next()?)?)?,
            }
        }
        Some(hook)
    }
}

/// Returns the value of an option, or `None` if the word may be another option.
fn value(word: OsString) -> Option<String> {
    word.into_string().ok().filter(|word| !word.is_empty() && !word.starts_with('-'))
}

/// Answers one event. The exit code is always 0, because agents take others for a verdict.
pub(crate) fn run(hook: &Hook) -> Exit {
    shield::ignore_limits();
    let silence = hook.agent.host().silence;
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
    let event = (hook.agent.host().decode)(&payload)?.bounded();
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
