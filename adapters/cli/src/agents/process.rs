//! Running other programs with a time limit.

use std::io::{self, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The exit status and the output of a program.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Waits for `child`. If it takes longer than `patience`, kills it and returns an error.
pub(crate) fn ended(mut child: Child, patience: Duration) -> Result<Ended, String> {
    let (done, wait) = mpsc::channel();
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let errors = thread::spawn(move || read(err));
    thread::spawn(move || {
        let output = (read(out), errors.join().unwrap_or_default());
        // After the time limit the receiver is gone.
        let _ = done.send(output);
    });
    let output = wait.recv_timeout(patience);
    if output.is_err() {
        // The program may have ended just now.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error: io::Error| error.to_string())?;
    match output {
        Ok((out, err)) => Ok(Ended { status, out, err }),
        Err(_) => Err(format!("takes longer than {} s", patience.as_secs())),
    }
}

/// Reads a pipe to its end.
fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    // If reading fails, the bytes so far are used.
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
    fn output_and_exit_status_are_returned() {
        let ended = run("echo a; echo b >&2; exit 3", Duration::from_secs(60)).expect("an end");
        assert_eq!((ended.status.code(), &ended.out[..], &ended.err[..]), (Some(3), "a\n", "b\n"));
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed() {
        let late = run("exec cat /dev/zero >/dev/null", Duration::ZERO).expect_err("no end");
        assert_eq!(late, "takes longer than 0 s");
    }
}
