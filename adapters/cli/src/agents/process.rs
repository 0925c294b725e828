//! Other programs, which are waited for only so long.

use std::io::{self, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How a program ended, and what it said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Waits for `child`, and ends it if that takes longer than `patience`; the error says so.
pub(crate) fn ended(mut child: Child, patience: Duration) -> Result<Ended, String> {
    let (done, wait) = mpsc::channel();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let errors = thread::spawn(move || read(err));
    thread::spawn(move || {
        let said = (read(out), errors.join().unwrap_or_default());
        // Nobody listens to a program that came too late.
        let _ = done.send(said);
    });
    let said = wait.recv_timeout(patience);
    if said.is_err() {
        // If it has ended in between, all the better.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error: io::Error| error.to_string())?;
    match said {
        Ok((out, err)) => Ok(Ended { status, out, err }),
        Err(_) => Err(format!("takes longer than {} s", patience.as_secs())),
    }
}

/// All that comes out of a pipe.
fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // What is there when it breaks is what there is.
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn run(line: &str, patience: Duration) -> Result<Ended, String> {
        let mut command = Command::new("sh");
        command.args(["-c", line]).stdout(Stdio::piped()).stderr(Stdio::piped());
        ended(command.spawn().expect("a shell"), patience)
    }

    #[test]
    fn what_a_program_says_and_how_it_ends_is_told() {
        let ended = run("echo a; echo b >&2; exit 3", Duration::from_secs(60)).expect("an end");
        assert_eq!((ended.status.code(), &ended.out[..], &ended.err[..]), (Some(3), "a\n", "b\n"));
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let late = run("exec cat /dev/zero >/dev/null", Duration::ZERO).expect_err("no end");
        assert_eq!(late, "takes longer than 0 s");
    }
}
