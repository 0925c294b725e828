//! A store for workers whose swarm is counted on a server.

use core::fmt;
use std::boxed::Box;
use std::string::ToString as _;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use unstuck_core::Digest;

use crate::observation::Observation;
use crate::redis::error::RedisError;
use crate::redis::health::Health;
use crate::redis::request::PendingCall;
use crate::redis::sender::Sender;
use crate::redis::settings::Settings;
use crate::redis::state::{Request, StoreState};
use crate::store::SwarmStore;
use crate::verdict::Verdict;

/// The maximum number of queued calls. Further calls are dropped.
const QUEUE_MAX: usize = 4096;

/// A store for workers whose swarm is counted on a server.
///
/// A thread of the store has the connection and sends the queued calls. A worker that records a call waits for
/// the reply until its deadline, and then goes on without it. A later reply is known at the next call. An error
/// of the server is no error of the worker. [`RedisStore::health`] reports it.
///
/// When the store is dropped, it sends the queued calls within one deadline.
///
/// ```
/// use unstuck_swarm::redis::{RedisStore, Settings};
/// use unstuck_swarm::{SwarmStore, Digest, Observation, Tool, Verdict, Worker};
///
/// let settings = Settings::parse("redis://127.0.0.1:1/?swarm=nightly", b"of this swarm alone")?;
/// let store = RedisStore::open(settings);
/// let call = Observation::new(Worker::named("w1"), Tool::named("bash"), Digest::of(b"make all"));
/// // There is no server, and the agent goes on.
/// assert_eq!(store.record(&call), Verdict::PROCEED);
/// # Ok::<(), unstuck_swarm::redis::SettingsError>(())
/// ```
pub struct RedisStore {
    state: Arc<StoreState>,
    /// `None` once the store is dropped.
    queue: Option<SyncSender<Box<Request>>>,
    /// Closed when the thread has ended.
    ended: Mutex<Receiver<()>>,
}

impl RedisStore {
    /// Opens a store on the server of `settings`. It connects at the first call.
    pub fn open(settings: Settings) -> Self {
        let state = Arc::new(StoreState::new(settings));
        let (queue, requests) = mpsc::sync_channel(QUEUE_MAX);
        let (end, ended) = mpsc::channel();
        let sender = Sender::new(Arc::clone(&state));
        let work = move || {
            let _end = end;
            sender.work(&requests);
        };
        // Without the thread nothing is sent, and all calls count as failed.
        if let Err(error) = thread::Builder::new().name("unstuck-swarm".into()).spawn(work) {
            let server = state.settings.swarm.clone();
            state.fail(0, &RedisError::Unreachable { server, why: error.to_string() });
        }
        Self { state, queue: Some(queue), ended: Mutex::new(ended) }
    }

    /// Counts a call like [`SwarmStore::record`], with the tool's name for observers: one plain word of at most 64
    /// characters.
    pub fn record_named(&self, observation: &Observation, tool: &str) -> Verdict {
        let until = Instant::now() + self.state.settings.deadline;
        let (send, reply) = mpsc::sync_channel(1);
        let deliver = move |verdict| {
            let _ = send.try_send(verdict);
        };
        let pending = match self.begin(observation, tool, deliver) {
            Ok(pending) => pending,
            Err(known) => return known,
        };
        let reply = reply.recv_timeout(until.saturating_duration_since(Instant::now()));
        if reply == Err(RecvTimeoutError::Timeout) {
            self.state.lock().health.late += 1;
        }
        self.state.after_wait(&pending, reply.ok())
    }

    /// Counts a call like [`RedisStore::record_named`], for an asynchronous task. It blocks no other task.
    ///
    /// All tasks and threads share the thread of the store and its connection.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime with enabled timers.
    #[cfg(feature = "redis-async")]
    pub async fn record_async(&self, observation: &Observation, tool: &str) -> Verdict {
        let until = tokio::time::Instant::now() + self.state.settings.deadline;
        let (send, reply) = tokio::sync::oneshot::channel();
        let deliver = move |verdict| {
            let _ = send.send(verdict);
        };
        let pending = match self.begin(observation, tool, deliver) {
            Ok(pending) => pending,
            Err(known) => return known,
        };
        let reply = tokio::time::timeout_at(until, reply).await;
        if reply.is_err() {
            self.state.lock().health.late += 1;
        }
        self.state.after_wait(&pending, reply.ok().and_then(Result::ok))
    }

    /// Counts a call without waiting. [`SwarmStore::look`] knows the verdict when the reply has come.
    pub fn record_detached(&self, observation: &Observation, tool: &str) {
        if let Some(request) = self.state.request(observation, tool) {
            self.enqueue(request);
        }
    }

    /// Returns the health of the store since it was opened.
    pub fn health(&self) -> Health {
        self.state.health()
    }

    /// Sends a call whose worker waits, and gets the verdict by `deliver`. If it should not wait, returns the known
    /// verdict.
    fn begin(
        &self,
        observation: &Observation,
        tool: &str,
        deliver: impl FnOnce(Verdict) + Send + 'static,
    ) -> Result<PendingCall, Verdict> {
        let mut request = self.state.request(observation, tool).ok_or(Verdict::PROCEED)?;
        let (pending, may_wait) = (request.pending, self.state.may_wait());
        if may_wait {
            request.waiting = Some(Box::new(deliver));
        }
        self.enqueue(request);
        if may_wait { Ok(pending) } else { Err(self.state.known_verdict(&pending)) }
    }

    fn enqueue(&self, request: Request) {
        let Some(queue) = &self.queue else { return };
        // The queue has room for all its calls from the start, so it holds pointers.
        match queue.try_send(Box::new(request)) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.state.lock().health.dropped += 1,
            Err(TrySendError::Disconnected(_)) => self.state.lock().health.failed += 1,
        }
    }
}

impl SwarmStore for RedisStore {
    fn record(&self, observation: &Observation) -> Verdict {
        self.record_named(observation, "")
    }

    fn record_named(&self, observation: &Observation, tool: &str) -> Verdict {
        Self::record_named(self, observation, tool)
    }

    fn look(&self, call: Digest) -> Verdict {
        self.state.look(call)
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { state, .. } = self;
        f.debug_struct("RedisStore")
            .field("settings", &state.settings)
            .field("health", &state.health())
            .finish_non_exhaustive()
    }
}

impl Drop for RedisStore {
    fn drop(&mut self) {
        self.queue = None;
        self.state.lock().has_ended = true;
        // A thread that still waits for the server ends at its time-out.
        let ended = self.ended.get_mut().unwrap_or_else(PoisonError::into_inner);
        let _closed = ended.recv_timeout(self.state.settings.deadline);
    }
}
