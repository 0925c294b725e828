//! Forwards the signals by which a client ends the server.
//!
//! Many servers do not end when their input does, and the client knows only the process of the proxy.

use std::process::Child;
use std::{io, thread};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// Signals that a client sends to this program and means for the server, which need not end when
/// its input ends. A terminal sends its signals to both.
pub(crate) struct Requests(io::Result<Signals>);

impl Requests {
    /// Collects signals from now on, until they can be forwarded.
    pub(crate) fn listen() -> Self {
        Self(Signals::new([SIGTERM]))
    }

    /// Forwards all signals, earlier and later ones.
    pub(crate) fn pass_on(self, server: &Child) {
        // Without a handler, a signal ends this program in the usual way.
        let Ok(mut signals) = self.0 else { return };
        let server = Pid::from_child(server);
        thread::spawn(move || {
            for signal in signals.forever() {
                if has_ended(server) {
                    // A process that the server started holds its output open and does not get this
                    // signal.
                    let _ = emulate_default_handler(signal);
                }
                // The server may have ended just now.
                let _ = kill_process(server, Signal::TERM);
            }
        });
    }
}

/// Returns whether the server ended by itself. Its exit code can still be read afterwards.
fn has_ended(server: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(server), look), Ok(Some(_)))
}
