//! `unstuck mcp`: a proxy between an MCP client and a server that watches tool calls.
//!
//! Everything except calls that get a note or a refusal, and schemas that must allow a note, passes byte for byte.
//! After a panic, the proxy is a pipe. It sees neither edits by other tools nor the user, so with `balanced` it
//! refuses only calls that keep failing alike, and warns of others. It cannot end the run: it asks the model to end
//! its turn, and the guard begins a new run.

mod answer;
mod message;
mod server;
#[cfg(unix)]
mod signals;
mod tools;
mod watch;

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ChildStdin;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use clap::Args;
use unstuck::{Action, Guard, Ruling};
use unstuck_text::PRESETS;

use crate::agents::notify::Notify;
use crate::exit::Exit;
use crate::output::{fail, remark};
use crate::policy::options::PolicyOptions;
use message::{Extent, LINE_MAX, Lines};
use server::Server;
use watch::{Link, NAME, Passage};

/// Runs the server to its end. Returns its exit code.
pub(crate) fn run(mcp: &Mcp) -> Result<i32, Exit> {
    if unstuck::is_off() {
        return Ok(server::alone(&mcp.command));
    }
    mcp.notify.check()?;
    let guard = guard(mcp)?;
    panic::set_hook(Box::new(|panic| {
        // The panic's message may contain text of the model or of a tool.
        let place = panic.location().map(ToString::to_string);
        remark(NAME, &format!("panicked at {}", place.as_deref().unwrap_or("an unknown place")));
    }));
    let (mut server, input, output) = match Server::start(&mcp.command) {
        Ok(started) => started,
        Err(code) => return Ok(code),
    };
    let mut link = Link::new(guard);
    (link.says_nothing, link.notify) = (mcp.observe, mcp.notify.clone());
    let watch = Arc::new(Shared::new(link));
    let shared = Arc::clone(&watch);
    // The thread ends with the program, because it may wait for a client that sends nothing more.
    thread::spawn(move || to_server(&mut Lines::new(io::stdin(), LINE_MAX), input, &shared));
    // Nothing can be sent to a client that stopped reading. The server notices by itself.
    let _ = to_client(Lines::new(output, LINE_MAX), &watch);
    let code = server.wait();
    watch.judged(Link::finish);
    Ok(code)
}

/// Returns the guard. A pair of pipes is one session.
fn guard(mcp: &Mcp) -> Result<Guard, Exit> {
    let preset = mcp.policy.preset()?;
    // Another policy is applied to the letter, because most of them ignore results.
    let spares = preset.policy.name() == PRESETS[0].policy.name();
    let builder = Guard::builder().without_end().preset(preset);
    let builder = builder.on_finding(move |found| match found.action {
        // The proxy sees neither calls to other tools nor user messages. A check that passes again
        // may follow an edit, so a successful call is not blocked, and its note does not say so.
        Action::Warn | Action::Block | Action::Stop if spares && !found.finding.has_failed() => {
            Ruling::Instead(Action::Nudge)
        }
        // A proxy cannot make an agent start over.
        Action::StartOver => Ruling::Instead(Action::Stop),
        _ => Ruling::Agree,
    });
    let builder = if mcp.observe { builder.observe_only() } else { builder };
    builder.build().map_err(|error| fail(Exit::Setup, NAME, &error.to_string()))
}

/// Forwards the client's messages until it ends, then closes the server's input.
fn to_server(client: &mut Lines<impl Read>, mut server: ChildStdin, watch: &Shared) {
    if pass_requests(client, &mut server, watch).is_err() {
        // The server stopped reading. Draining the client's messages keeps it from blocking.
        drop(server);
        while let Ok(Some(_)) = client.advance() {}
    }
}

fn pass_requests(
    client: &mut Lines<impl Read>,
    server: &mut impl Write,
    watch: &Shared,
) -> io::Result<()> {
    while let Some(extent) = client.advance()? {
        if extent == Extent::Begun {
            server.write_all(client.bytes())?;
            client.copy_rest(server)?;
            continue;
        }
        match watch.judged(|watch| watch.pass_to_server(client.bytes())) {
            None | Some(Passage::AsIs) => server.write_all(client.bytes())?,
            Some(Passage::Refused { server: rest, client: answers }) => {
                server.write_all(&rest)?;
                // If the client stopped reading, the server still gets its messages.
                let _ = send(&answers);
            }
        }
    }
    Ok(())
}

/// Forwards the server's messages until it ends or the client stops reading.
fn to_client(mut server: Lines<impl Read>, watch: &Shared) -> io::Result<()> {
    while let Some(extent) = server.advance()? {
        if extent == Extent::Begun {
            // Other lines must not come between the pieces of a line.
            let mut client = io::stdout().lock();
            client.write_all(server.bytes())?;
            server.copy_rest(&mut client)?;
            client.flush()?;
            continue;
        }
        let edited = watch.judged(|watch| watch.pass_to_client(server.bytes())).flatten();
        send(edited.as_deref().unwrap_or(server.bytes()))?;
    }
    Ok(())
}

/// Writes whole lines to the client at once.
fn send(lines: &[u8]) -> io::Result<()> {
    let mut client = io::stdout().lock();
    client.write_all(lines)?;
    client.flush()
}

/// The shared state of both directions. After an internal error, messages pass unwatched.
struct Shared(Mutex<Option<Link>>);

impl Shared {
    const fn new(watch: Link) -> Self {
        Self(Mutex::new(Some(watch)))
    }

    /// Returns the result of `judge`, or `None` after an internal error.
    fn judged<T>(&self, judge: impl FnOnce(&mut Link) -> T) -> Option<T> {
        let mut watch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let watching = watch.as_mut()?;
        let judged = panic::catch_unwind(AssertUnwindSafe(|| judge(watching))).ok();
        if judged.is_none() {
            *watch = None;
            remark(NAME, "an internal error; from here on everything passes unwatched");
        }
        judged
    }
}

const PROXIES: &str = "In the client's configuration, put unstuck mcp -- before the server's \
                       command. A call that continues a loop is answered with an error and does \
                       not reach the server. A warning is added to the result that caused it, and output \
                       schemas in the list of tools allow it as a member. All other traffic passes \
                       byte for byte; with UNSTUCK=off in the environment, everything does.\n\n\
                       Exit codes: the server's, or 128 and its number for a signal; 127 if the \
                       server is not found, 126 if it cannot be started; 4 a bad configuration, 64 a \
                       usage error.";

#[derive(Args)]
#[command(after_help = PROXIES)]
pub(crate) struct Mcp {
    /// The command of the server, with its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    #[command(flatten)]
    pub(crate) notify: Notify,
    /// Print on standard error what would be done, and do nothing
    #[arg(long)]
    pub(crate) observe: bool,
}

#[cfg(test)]
mod tests {
    use unstuck::Guard;

    use super::*;

    #[test]
    fn after_an_internal_error_nothing_is_judged() {
        let shared = Shared::new(Link::new(Guard::new()));
        assert_eq!(shared.judged(|_| 1), Some(1));
        assert_eq!(shared.judged(|_| panic!("a bug")), None::<()>);
        assert_eq!(shared.judged(|_| 1), None);
    }
}
