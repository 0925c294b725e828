//! `unstuck hook`: what a coding agent runs at each event of a session.
//!
//! It lets the agent work: whatever goes wrong here ends with exit code 0, nothing on standard
//! output and a line in a log, and standard input is read to its end.

mod claude_code;
mod codex;
mod event;
mod gemini;
mod input;
pub(crate) mod options;
mod reply;
mod session;
mod shield;
mod swarm;
mod wire;

use std::fmt;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use unstuck::{Action, BuildError, Evidence, Guard, Ruling};

use self::event::{BadPayload, What};
use self::input::Unread;
use self::session::Watched;
pub(crate) use self::swarm::LINE as SWARM_LINE;
use self::swarm::{Alone, Swarm};
use crate::agents::hook::options::Hook;
use crate::agents::state::{Damage, Folder, Key, Trouble};
use crate::exit::Exit;

/// Answers one event. The exit code is 0 whatever happens: agents take others for a verdict.
pub(crate) fn run(hook: &Hook) -> Exit {
    if unstuck::is_off() {
        drain();
        return Exit::Clean;
    }
    let now = SystemTime::now();
    let log = Log { folder: Folder::find(), now: millis(now), who: hook.agent.name() };
    let done = shield::shielded(|| {
        match answer(hook, &log) {
            Ok(text) => say(&text),
            Err(failure) => log.note(&failure),
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

/// What to do where a command line begins with `hook` and makes no sense. The message has been
/// printed on standard error, where a person may find it and no model does.
pub(crate) fn misused() -> Exit {
    drain();
    let now = millis(SystemTime::now());
    Log { folder: Folder::find(), now, who: "hook" }.note(&Failure::Misused);
    Exit::Clean
}

/// Reads standard input and leaves it: to an agent, a pipe that breaks is a hook that failed.
fn drain() {
    if !io::stdin().is_terminal() {
        let _ = input::payload();
    }
}

/// What is printed in answer to the event on standard input.
fn answer(hook: &Hook, log: &Log) -> Result<String, Failure> {
    let payload = input::payload()?;
    let event = wire::decode(hook.agent, &payload)?;
    let folder = log.folder.as_ref().ok_or(Failure::NoFolder)?;
    let key = Key { agent: hook.agent, session: &event.session, worker: event.worker() };
    match event.what {
        What::Nothing => return Ok(String::new()),
        What::Ended => {
            folder.forget(&key).map_err(Trouble::from)?;
            return Ok(String::new());
        }
        _ => {}
    }
    // What is wrong with a policy's file was said on standard error.
    let preset = hook.policy.preset().map_err(|_| Failure::Config)?;
    let swarm = log.swarm(hook);
    let builder = || {
        let builder = Guard::builder().preset(preset).on_finding(stop_instead);
        let builder = match &swarm {
            Some(swarm) => builder.swarm(swarm.board()),
            None => builder,
        };
        if hook.observe { builder.observe_only() } else { builder }
    };
    let mut file = folder.open(&key)?;
    let kept = match file.read() {
        Err(Trouble::Damage(damage)) if damage != Damage::Newer => {
            log.note(&Failure::State(Trouble::Damage(damage)));
            None
        }
        read => read?,
    };
    let mut watched = Watched::from(kept, builder, &key, log.now)?;
    let text = watched.answer(hook.agent, &event, log.now);
    file.write(&watched.kept())?;
    if let Some(swarm) = swarm {
        swarm.end(folder, log.now).unwrap_or_else(|alone| log.note(&alone.into()));
    }
    Ok(text)
}

/// Where the rules ask to start over, the run is stopped: an agent cannot be made to go back, and nothing
/// that it did is taken back while it works. A person may do that by `unstuck start-over now`.
fn stop_instead(evidence: &Evidence) -> Ruling {
    match evidence.action {
        Action::StartOver => Ruling::Instead(Action::Stop),
        _ => Ruling::Agree,
    }
}

/// Prints the answer; nobody is there to be told if that fails.
fn say(text: &str) {
    if !text.is_empty() {
        let mut out = io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
    }
}

/// Where failures are written down, and when and of whom.
struct Log {
    folder: Option<Folder>,
    now: u64,
    who: &'static str,
}

impl Log {
    /// The swarm that `hook` names, if it can be asked; a session is judged alone else.
    fn swarm<'h>(&self, hook: &'h Hook) -> Option<Swarm<'h>> {
        let swarm = Swarm::open(hook.swarm.as_deref()?, self.folder.as_ref()?, self.now);
        swarm.unwrap_or_else(|alone| {
            self.note(&alone.into());
            None
        })
    }

    fn note(&self, failure: &Failure) {
        if let Some(folder) = &self.folder {
            folder.log(self.now, self.who, failure);
        }
    }
}

/// A time in milliseconds since 1970; 0 before.
fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Why an event has no answer.
#[derive(Debug)]
enum Failure {
    Input(Unread),
    Payload(BadPayload),
    State(Trouble),
    Config,
    Guard(BuildError),
    NoFolder,
    Misused,
    Alone(Alone),
    /// Where it was.
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
            Self::Config => f.write_str("the file that --config names is no policy"),
            Self::Guard(error) => error.fmt(f),
            Self::Alone(alone) => alone.fmt(f),
            Self::NoFolder => f.write_str("there is no folder for the state: set HOME"),
            Self::Misused => f.write_str(
                "the command line is wrong; run it in a terminal, or see unstuck hook --help",
            ),
            Self::Panic(place) => write!(f, "a bug in unstuck: it panicked at {place}"),
        }
    }
}
