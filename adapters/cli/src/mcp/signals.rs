//! Signals by which a client asks the server to end.

use std::io;
use std::process::Child;
use std::thread;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::SIGTERM;
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

/// What a client asks of this program and means of the server, which need not end because its input
/// does. What a terminal asks it asks of both.
pub(crate) struct Requests(io::Result<Signals>);

impl Requests {
    /// Keeps every request from now on, until it can be passed on.
    pub(crate) fn listen() -> Self {
        Self(Signals::new([SIGTERM]))
    }

    /// Passes on all that came and will come.
    pub(crate) fn pass_on(self, server: &Child) {
        // Without it a request ends this program, as it does any other.
        let Ok(mut signals) = self.0 else { return };
        let server = Pid::from_child(server);
        thread::spawn(move || {
            for signal in signals.forever() {
                if has_ended(server) {
                    // Something that it started holds its output, and will not hear of this.
                    let _ = emulate_default_handler(signal);
                }
                // It may end just now.
                let _ = kill_process(server, Signal::TERM);
            }
        });
    }
}

/// Whether the server ended by itself; its exit code stays where it is.
fn has_ended(server: Pid) -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::Pid(server), look), Ok(Some(_)))
}
