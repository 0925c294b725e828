//! The board of a worker whose swarm is counted on a server.

use core::fmt;
use std::boxed::Box;
use std::string::ToString as _;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use unstuck_core::Digest;

use crate::observation::Observation;
use crate::redis::clerk::Clerk;
use crate::redis::desk::{Desk, QUEUE_MAX, Request, Waiting};
use crate::redis::error::RedisError;
use crate::redis::health::{Health, add};
use crate::redis::settings::Settings;
use crate::store::SwarmStore;
use crate::verdict::Verdict;

/// The board of workers whose swarm is counted on a server.
///
/// A thread of its own has the connection and tells the server what has gathered. Whoever records a
/// call waits for the answer until the deadline and goes on without it then; what comes later is
/// known to the next who asks. Nothing that a server does, or its absence, is an error here:
/// [`RedisStore::health`] tells of it.
///
/// When it is dropped, what waits to be told is told, for as long as a deadline.
///
/// ```
/// use unstuck_swarm::redis::{RedisStore, Settings};
/// use unstuck_swarm::{SwarmStore, Digest, Observation, Tool, Verdict, Worker};
///
/// let settings = Settings::parse("redis://127.0.0.1:1/?swarm=nightly", b"of this swarm alone")?;
/// let board = RedisStore::open(settings);
/// let call = Observation::new(Worker::named("w1"), Tool::named("bash"), Digest::of(b"make all"));
/// // Nobody is there, and the agent goes on.
/// assert_eq!(board.record(&call), Verdict::PROCEED);
/// # Ok::<(), unstuck_swarm::redis::SettingsError>(())
/// ```
pub struct RedisStore {
    desk: Arc<Desk>,
    /// There until it is dropped.
    queue: Option<SyncSender<Request>>,
    /// Closed when the thread has ended.
    ended: Mutex<Receiver<()>>,
}

impl RedisStore {
    /// A board on the server that `settings` name, which is connected to when there is something to tell.
    pub fn open(settings: Settings) -> Self {
        let desk = Arc::new(Desk::new(settings));
        let (queue, told) = mpsc::sync_channel(QUEUE_MAX);
        let (end, ended) = mpsc::channel();
        let clerk = Clerk::new(Arc::clone(&desk));
        let work = move || {
            let _end = end;
            clerk.work(&told);
        };
        // Without a thread nothing is told, and all of it counts as failed.
        if let Err(error) = thread::Builder::new().name("unstuck-swarm".into()).spawn(work) {
            let server = desk.settings.swarm.clone();
            desk.tally.fail(0, RedisError::Unreachable { server, why: error.to_string() });
        }
        Self { desk, queue: Some(queue), ended: Mutex::new(ended) }
    }

    /// Like [`SwarmStore::record`], with the tool by its name, which those who watch the swarm are shown:
    /// as one plain word of 64 characters at most.
    pub fn record_named(&self, observation: &Observation, tool: &str) -> Verdict {
        let until = Instant::now() + self.desk.settings.deadline;
        let Some((cmd, told)) = self.desk.request(observation, tool) else {
            return Verdict::PROCEED;
        };
        if !self.desk.lets_wait() {
            self.tell(Request { cmd, told, waiting: None });
            return self.desk.known_of(&told);
        }
        let (waiting, answer) = answer();
        self.tell(Request { cmd, told, waiting });
        let left = until.saturating_duration_since(Instant::now());
        let answer = answer.recv_timeout(left);
        if answer == Err(RecvTimeoutError::Timeout) {
            add(&self.desk.tally.late, 1);
        }
        self.desk.waited(&told, answer.ok())
    }

    /// Like [`RedisStore::record_named`], for a task: it waits, and nobody else does.
    ///
    /// The same thread tells the server what all tasks and all threads told it, so that they share a
    /// connection.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio whose timers are enabled.
    #[cfg(feature = "redis-async")]
    pub async fn record_async(&self, observation: &Observation, tool: &str) -> Verdict {
        let until = tokio::time::Instant::now() + self.desk.settings.deadline;
        let Some((cmd, told)) = self.desk.request(observation, tool) else {
            return Verdict::PROCEED;
        };
        if !self.desk.lets_wait() {
            self.tell(Request { cmd, told, waiting: None });
            return self.desk.known_of(&told);
        }
        let (tell, answer) = tokio::sync::oneshot::channel();
        let waiting: Waiting = Some(Box::new(move |verdict| {
            let _ = tell.send(verdict);
        }));
        self.tell(Request { cmd, told, waiting });
        let answer = tokio::time::timeout_at(until, answer).await;
        if answer.is_err() {
            add(&self.desk.tally.late, 1);
        }
        self.desk.waited(&told, answer.ok().and_then(Result::ok))
    }

    /// Tells of a call and waits for nothing: [`SwarmStore::look`] knows of the answer when it has come.
    pub fn record_detached(&self, observation: &Observation, tool: &str) {
        if let Some((cmd, told)) = self.desk.request(observation, tool) {
            self.tell(Request { cmd, told, waiting: None });
        }
    }

    /// How it has fared since it was opened.
    pub fn health(&self) -> Health {
        self.desk.health()
    }

    fn tell(&self, request: Request) {
        let Some(queue) = &self.queue else { return };
        match queue.try_send(request) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => add(&self.desk.tally.dropped, 1),
            Err(TrySendError::Disconnected(_)) => add(&self.desk.tally.failed, 1),
        }
    }
}

/// Both ends of what a worker waits for. Who no longer waits hears nothing.
fn answer() -> (Waiting, Receiver<Verdict>) {
    let (tell, answer) = mpsc::sync_channel(1);
    let waiting = move |verdict| {
        let _ = tell.try_send(verdict);
    };
    (Some(Box::new(waiting)), answer)
}

impl SwarmStore for RedisStore {
    fn record(&self, observation: &Observation) -> Verdict {
        self.record_named(observation, "")
    }

    fn record_named(&self, observation: &Observation, tool: &str) -> Verdict {
        Self::record_named(self, observation, tool)
    }

    fn look(&self, call: Digest) -> Verdict {
        self.desk.look(call)
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { desk, .. } = self;
        f.debug_struct("RedisStore")
            .field("settings", &desk.settings)
            .field("health", &desk.health())
            .finish_non_exhaustive()
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.queue = None;
        // A thread that still waits for its server ends by itself when that falls silent for its time.
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _closed = ended.recv_timeout(self.desk.settings.deadline);
    }
}
