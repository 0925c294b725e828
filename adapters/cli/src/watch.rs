//! `unstuck watch`: receives spans over the network and finds loops while agents work.
//!
//! All requests, time-outs and deliveries are tasks on one thread. Judging a span takes a few microseconds, so a
//! queue to other threads would cost more than it saves. A slow disk or a full pipe slows the senders down.
//!
//! The journal has requests and not findings: a loop is found at its last call, and the calls before it are the
//! proof. If the disk is full, spans are refused, because the protocol makes their sender keep them and retry. A
//! broken webhook refuses none, because it would stop everything.

mod body;
mod clock;
mod deliver;
mod finding;
mod journal;
mod metrics;
pub(crate) mod options;
mod outputs;
mod protobuf;
mod receiver;
mod server;
mod sessions;
mod stream;

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::rc::Rc;
#[cfg(unix)]
use std::sync::Arc;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
#[cfg(unix)]
use tokio::signal::unix::SignalKind;
use tokio::task::{LocalSet, spawn_blocking, spawn_local};
use tokio::time::{interval, timeout};
use unstuck_trace::otlp::Limits as AssemblerLimits;

use crate::exit::Exit;
use crate::output::{complain, fail, remark};
use crate::watch::options::Watch;
use crate::webhook::{self, SECRET, Secret};
use deliver::Sender;
use journal::Store;
use outputs::{Lines, Output, Outputs, Place};
use receiver::{Former, Receiver};
use server::{Hosts, Shared, serve, shut_down};
use sessions::{Limits, Sessions};

/// The environment variable with the headers for the server that log records go to.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// The interval at which the clock is read.
const TICK: Duration = Duration::from_millis(250);

/// The interval at which the file of metrics is written, in ticks.
const TEXTFILE_TICKS: u32 = 60;

/// The time that is left at the end to send queued findings.
const FLUSH_TIME: Duration = Duration::from_secs(5);

/// The name of the command in messages.
const NAME: &str = "watch";

pub(crate) fn run(watch: &Watch) -> Exit {
    #[cfg(unix)]
    if watch.findings.is_some() {
        // From now on, the signal does not end the program. Reading the state takes a while.
        let _ = signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::default());
    }
    let ended = prepared(watch).and_then(|(receiver, senders)| receive(watch, receiver, senders));
    ended.unwrap_or_else(|exit| exit)
}

/// Opens the state and the outputs.
fn prepared(watch: &Watch) -> Result<(Receiver, Vec<Sender>), Exit> {
    if !watch.otlp.ip().is_loopback() && !watch.allow_remote {
        let what = format!(
            "{} can be reached from other machines, and there is no authentication: add --allow-remote if \
             only a collector or a proxy can reach it",
            watch.otlp
        );
        return Err(fail(Exit::Usage, "--otlp", &what));
    }
    let preset = watch.policy.preset()?;
    let senders = senders(watch)?;
    let memory = usize::try_from(watch.memory).unwrap_or(usize::MAX).saturating_mul(1 << 20);
    let limits = Limits {
        sessions: usize::try_from(watch.sessions).unwrap_or(usize::MAX),
        bytes: memory,
        quiet: watch.quiet * 1000,
        assembler: AssemblerLimits {
            bytes: memory,
            settle: watch.settle * 1000,
            ..AssemblerLimits::default()
        },
    };
    let sessions = Sessions::new(preset, watch.include_args, limits);
    let remotes: Vec<Output> = senders.iter().map(|sender| sender.output).collect();
    let Some(folder) = &watch.state else {
        let outputs = Outputs::new(lines(watch.findings.as_deref(), Place::default())?, &remotes);
        return Ok((Receiver::new(preset, watch.clock, sessions, outputs, None), senders));
    };
    let (store, stored) = Store::open(folder).map_err(|why| fail(Exit::Setup, "--state", &why))?;
    let former = Former::of(stored, folder);
    let outputs = Outputs::new(lines(watch.findings.as_deref(), former.lines())?, &remotes);
    let receiver = Receiver::new(preset, watch.clock, sessions, outputs, Some(store));
    let (receiver, what) = receiver.restored(former);
    remark("--state", &what);
    Ok((receiver, senders))
}

/// Opens the output of the lines. `end` is the end of the file at the latest snapshot.
fn lines(path: Option<&Path>, end: Place) -> Result<Lines, Exit> {
    let Some(path) = path else { return Ok(Lines::stdout()) };
    Lines::file(path, end).map_err(|error| {
        fail(Exit::Setup, &path.display().to_string(), &format!("cannot be written: {error}"))
    })
}

/// Returns a sender for each server that the options name.
fn senders(watch: &Watch) -> Result<Vec<Sender>, Exit> {
    let target = |option: &str, url: &str, path: &str| {
        webhook::target(option, url, path).map_err(|why| fail(Exit::Setup, option, &why))
    };
    let mut senders = Vec::new();
    if let Some(url) = &watch.forward {
        let text = env::var(HEADERS).unwrap_or_default();
        let headers = webhook::headers(&text).map_err(|why| fail(Exit::Setup, HEADERS, &why))?;
        let target = target("--forward", url, "/v1/logs")?;
        senders.push(Sender { output: Output::Forward, target, headers, secret: None });
    }
    if let Some(url) = &watch.webhook {
        let secret = secret(watch)?;
        let target = target("--webhook", url, "/")?;
        let (output, headers) = (Output::Webhook, hyper::HeaderMap::new());
        senders.push(Sender { output, target, headers, secret: Some(secret) });
    }
    Ok(senders)
}

/// Reads the secret of the webhook.
fn secret(watch: &Watch) -> Result<Secret, Exit> {
    let (name, text) = match &watch.webhook_secret {
        Some(path) => {
            let name = path.display().to_string();
            let read = fs::read_to_string(path);
            (name.clone(), read.map_err(|error| fail(Exit::Setup, &name, &error.to_string()))?)
        }
        None => (SECRET.to_owned(), env::var(SECRET).unwrap_or_default()),
    };
    if text.trim().is_empty() {
        let what = "a webhook is signed, and this gives no secret. Set one, for example by openssl rand \
                    -hex 16";
        return Err(fail(Exit::Setup, &name, what));
    }
    Secret::parse(&text).map_err(|why| fail(Exit::Setup, &name, &format!("the secret {why}")))
}

/// Receives spans until a signal arrives, on one thread.
fn receive(watch: &Watch, receiver: Receiver, senders: Vec<Sender>) -> Result<Exit, Exit> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| fail(Exit::Setup, NAME, &error.to_string()))?;
    LocalSet::new().block_on(&runtime, async {
        let listener = server::listen(watch.otlp);
        let listener = listener
            .map_err(|error| fail(Exit::Setup, &watch.otlp.to_string(), &error.to_string()))?;
        say(watch, &listener);
        let body_max =
            usize::try_from(watch.max_body).unwrap_or(usize::MAX).saturating_mul(1 << 20);
        let hosts = Hosts::at(watch.otlp, watch.allow_remote);
        let shared = Rc::new(Shared::new(receiver, body_max, hosts));
        Ok(work(watch, listener, &shared, senders.into_iter().map(Rc::new).collect()).await)
    })
}

/// Prints the address, and warns of a state in memory and of an open address.
fn say(watch: &Watch, listener: &TcpListener) {
    let address = listener.local_addr().unwrap_or(watch.otlp);
    remark(NAME, &format!("receives spans at http://{address}/v1/traces"));
    if watch.state.is_none() {
        remark(NAME, "the state is in memory only: add --state, or a kill loses the calls so far");
    }
    if !watch.otlp.ip().is_loopback() {
        let what = "other machines can send spans and read metrics here, without authentication";
        remark(NAME, what);
    }
}

/// Runs the server, the senders and the clock, until the end.
async fn work(
    watch: &Watch,
    listener: TcpListener,
    shared: &Rc<Shared>,
    senders: Vec<Rc<Sender>>,
) -> Exit {
    let end = GracefulShutdown::new();
    let sending: Vec<_> = senders
        .iter()
        .map(|sender| spawn_local(Rc::clone(sender).run(Rc::clone(shared))))
        .collect();
    tokio::select! {
        () = serve(listener, shared, &end) => {}
        () = signal() => {}
        () = pass_time(watch, shared) => {}
        () = follow_file(watch, shared) => {}
    }
    shut_down(end).await;
    sending.iter().for_each(tokio::task::JoinHandle::abort);
    if watch.state.is_none() {
        shared.receiver.borrow_mut().finish();
    }
    for sender in senders {
        // Findings that no server took stay in the state, if there is one.
        let _ = timeout(FLUSH_TIME, sender.flush(shared)).await;
    }
    if watch.state.is_some() {
        shared.receiver.borrow_mut().finish();
    }
    write_metrics(watch, shared);
    let closed = shared.receiver.borrow_mut().closed.take();
    closed.map_or(Exit::Clean, |closed| closed.exit(Exit::Clean))
}

/// Runs the clock. Returns when the reader of standard output has gone.
async fn pass_time(watch: &Watch, shared: &Rc<Shared>) {
    let mut ticks = interval(TICK);
    let mut count = 0_u32;
    loop {
        ticks.tick().await;
        shared.advance().await;
        let unsynced = {
            let mut receiver = shared.receiver.borrow_mut();
            receiver.tick(shared.moment());
            if receiver.closed.is_some() {
                return;
            }
            receiver.unsynced()
        };
        if let Some(file) = unsynced {
            // A failure shows at the next write.
            let _ = spawn_blocking(move || file.sync_data()).await;
        }
        if count.is_multiple_of(TEXTFILE_TICKS) {
            write_metrics(watch, shared);
        }
        count = count.wrapping_add(1);
    }
}

/// Writes the metrics to the file for `node_exporter`, in one piece.
fn write_metrics(watch: &Watch, shared: &Shared) {
    let Some(path) = &watch.textfile else { return };
    if let Err(error) = replace(path, &shared.metrics()) {
        complain(&path.display().to_string(), &format!("cannot be written: {error}"));
    }
}

/// Replaces a file in one piece. Nothing is written through a symbolic link.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // Under a random name, nobody can have prepared a link.
    let mut file = tempfile::Builder::new()
        .prefix(".unstuck-")
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    // `node_exporter` runs as another user.
    #[cfg(unix)]
    file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    file.persist(path)?;
    Ok(())
}

/// Waits for a signal to end.
async fn signal() {
    #[cfg(unix)]
    tokio::select! {
        () = received(SignalKind::terminate()) => {}
        () = received(SignalKind::interrupt()) => {}
    }
    #[cfg(not(unix))]
    let _: io::Result<()> = tokio::signal::ctrl_c().await;
}

/// Opens the file of findings, if there is one, again at each SIGHUP, if it was rotated. Does not return.
async fn follow_file(watch: &Watch, shared: &Rc<Shared>) {
    #[cfg(unix)]
    while watch.findings.is_some() {
        received(SignalKind::hangup()).await;
        shared.receiver.borrow_mut().outputs.follow();
    }
    let _ = (watch, shared);
    std::future::pending::<()>().await;
}

/// Waits for a signal. A signal without a handler ends the program by default.
#[cfg(unix)]
async fn received(kind: SignalKind) {
    match tokio::signal::unix::signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_of_metrics_is_replaced_and_links_are_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("precious"), "precious").expect("a file");
        for link in ["m.new", "m.prom"] {
            symlink(at("precious"), at(link)).expect("a link");
        }
        for text in ["1\n", "2\n"] {
            replace(&at("m.prom"), text).expect("a file that can be written");
            let metadata = fs::symlink_metadata(at("m.prom")).expect("a file");
            assert!(metadata.is_file());
            assert_eq!(metadata.permissions().mode() & 0o777, 0o644);
            assert_eq!(fs::read_to_string(at("m.prom")).expect("a file"), text);
        }
        assert_eq!(fs::read_to_string(at("precious")).expect("a file"), "precious");
        let missing = replace(&at("missing/m.prom"), "").expect_err("no such folder");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 3);
    }
}
