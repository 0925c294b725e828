//! Processes that end: a child in a process group of its own, with a time limit.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The pause between two looks at a child.
const LOOK: Duration = Duration::from_millis(20);

/// Runs `command` for at most `limit`, with its output in the file `output`. Returns no status if the time
/// was over. Whatever the command started in its process group ends with it.
///
/// # Errors
///
/// If the command does not start, or if the file cannot be written.
pub(super) fn run(
    command: &mut Command,
    output: &Path,
    limit: Duration,
) -> Result<Option<ExitStatus>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |error| format!("{name}: {error}");
    let file = File::options().create(true).append(true).open(output).map_err(failed)?;
    command.stdin(Stdio::null()).stdout(file.try_clone().map_err(failed)?).stderr(file);
    let mut child = command.process_group(0).spawn().map_err(failed)?;
    let status = wait(&mut child, limit).map_err(failed)?;
    end_group(child.id());
    if status.is_none() {
        child.wait().map_err(failed)?;
    }
    Ok(status)
}

/// Waits for `child`, but not longer than `limit`.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        let status = child.try_wait()?;
        if status.is_some() || start.elapsed() > limit {
            return Ok(status);
        }
        thread::sleep(LOOK);
    }
}

/// Kills the processes of a group. The group is usually empty, and then there is nothing to report.
fn end_group(leader: u32) {
    let mut kill = Command::new("kill");
    kill.args(["-KILL", "--", &format!("-{leader}")]).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = kill.status();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, fs, process};

    #[test]
    fn output_and_exit_code_are_kept_and_a_slow_child_is_ended() {
        let output = env::temp_dir().join(format!("unstuck-xtask-{}.txt", process::id()));
        let mut quick = Command::new("sh");
        quick.args(["-c", "echo said; exit 3"]);
        let status = run(&mut quick, &output, Duration::from_secs(60)).expect("it starts");
        assert_eq!(status.and_then(|status| status.code()), Some(3));
        assert_eq!(fs::read_to_string(&output).expect("the output"), "said\n");

        let mut slow = Command::new("sleep");
        slow.arg("600");
        assert_eq!(run(&mut slow, &output, Duration::ZERO).expect("it starts"), None);
        fs::remove_file(&output).expect("the output is there");
    }
}
