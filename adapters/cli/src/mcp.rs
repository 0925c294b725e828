//! `unstuck mcp`: stands between an MCP client and a server, and watches the calls of tools.

mod answer;
mod lines;
mod message;
pub(crate) mod options;
mod server;
mod shared;
#[cfg(unix)]
mod signals;
mod tools;
mod watch;

use std::io::{self, Read, Write};
use std::panic;
use std::process::ChildStdin;
use std::sync::Arc;
use std::thread;

use unstuck::{Action, Guard, Ruling};
use unstuck_text::PRESETS;

use crate::exit::Exit;
use crate::mcp::options::Mcp;
use crate::output::{complain, remark};
use lines::{Extent, LINE_MAX, Lines};
use server::Server;
use shared::Shared;
use watch::{Link, NAME, Passage};

/// Runs the server to its end; its exit code.
pub(crate) fn run(mcp: &Mcp) -> Result<i32, Exit> {
    if unstuck::is_off() {
        return Ok(server::alone(&mcp.command));
    }
    let guard = guard(mcp)?;
    panic::set_hook(Box::new(|panic| {
        // What it says may hold what the model or a tool wrote.
        let place = panic.location().map(ToString::to_string);
        remark(NAME, &format!("panicked at {}", place.as_deref().unwrap_or("an unknown place")));
    }));
    let (mut server, input, output) = match Server::start(&mcp.command) {
        Ok(started) => started,
        Err(code) => return Ok(code),
    };
    let watch = Arc::new(Shared::new(Link::new(guard)));
    let shared = Arc::clone(&watch);
    // It ends with the program: it may wait for a client that says nothing more.
    thread::spawn(move || to_server(&mut Lines::new(io::stdin(), LINE_MAX), input, &shared));
    // A client that reads no more is told nothing more; what the server makes of that is its own.
    let _ = to_client(Lines::new(output, LINE_MAX), &watch);
    Ok(server.wait())
}

/// The guard of the one session that there is on these pipes.
fn guard(mcp: &Mcp) -> Result<Guard, Exit> {
    let preset = mcp.policy.preset()?;
    // Who chose another policy gets it to the letter; most are blind to results.
    let spares = preset.policy.name() == PRESETS[0].policy.name();
    let builder = Guard::builder().preset(preset).on_finding(move |found| match found.action {
        // What the agent does by other tools is not seen here, nor what the user says: a check that
        // passes again may come after an edit. It is told of, and never kept back.
        Action::Block | Action::Stop if spares && !found.finding.failed => {
            Ruling::Instead(Action::Warn)
        }
        // Nothing goes back to where it began because a proxy says so.
        Action::StartOver => Ruling::Instead(Action::Stop),
        _ => Ruling::Agree,
    });
    let builder = if mcp.observe { builder.observe_only() } else { builder };
    builder.build().map_err(|error| {
        complain(NAME, &error.to_string());
        Exit::Setup
    })
}

/// Passes on what the client says, until it ends; then the server's input ends, too.
fn to_server(client: &mut Lines<impl Read>, mut server: ChildStdin, watch: &Shared) {
    if pass_requests(client, &mut server, watch).is_err() {
        // The server listens no more. The client need not be held up by that.
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
                // A client that reads no more is no reason to keep anything from the server.
                let _ = tell(&answers);
            }
        }
    }
    Ok(())
}

/// Passes on what the server says, until it ends or nobody reads it.
fn to_client(mut server: Lines<impl Read>, watch: &Shared) -> io::Result<()> {
    while let Some(extent) = server.advance()? {
        if extent == Extent::Begun {
            // Nothing else may come between the pieces of a line.
            let mut client = io::stdout().lock();
            client.write_all(server.bytes())?;
            server.copy_rest(&mut client)?;
            client.flush()?;
            continue;
        }
        let edited = watch.judged(|watch| watch.pass_to_client(server.bytes())).flatten();
        tell(edited.as_deref().unwrap_or(server.bytes()))?;
    }
    Ok(())
}

/// Writes whole lines to the client, in one piece.
fn tell(lines: &[u8]) -> io::Result<()> {
    let mut client = io::stdout().lock();
    client.write_all(lines)?;
    client.flush()
}
