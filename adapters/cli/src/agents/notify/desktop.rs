//! Notifications on the desktop, by the program that each system has for them.

use std::env;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::escaped;
use crate::agents::process::{self, Ended};

/// The time that the program may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// The title of each notification.
const TITLE: &str = "unstuck";

/// The variable in which PowerShell finds the text, so that it is not part of a script.
const TEXT: &str = "UNSTUCK_NOTIFICATION";

/// Shows the text as a toast. Windows wants the id of an installed program, and this is PowerShell's own.
const TOAST: &str = concat!(
    "$null = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]; ",
    "$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent('ToastText02'); ",
    "$lines = $xml.GetElementsByTagName('text'); ",
    "$null = $lines.Item(0).AppendChild($xml.CreateTextNode('unstuck')); ",
    "$null = $lines.Item(1).AppendChild($xml.CreateTextNode($env:UNSTUCK_NOTIFICATION)); ",
    r"$id = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'; ",
    "$toast = [Windows.UI.Notifications.ToastNotification]::new($xml); ",
    "[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($id).Show($toast)",
);

/// Shows the first argument. The text is no part of the script.
const BANNER: &str = r#"on run argv
display notification (item 1 of argv) with title "unstuck"
end run"#;

/// Returns the command that shows `text` on a system with this name.
fn command(system: &str, text: &str) -> Command {
    let mut command = Command::new(program(system));
    match system {
        "macos" => command.args(["-e", BANNER, "--", text]),
        "windows" => {
            command.args(["-NoProfile", "-NonInteractive", "-Command", TOAST]).env(TEXT, text)
        }
        // The body is markup.
        _ => command.args(["--app-name", TITLE, "--", TITLE, &escaped(text)]),
    };
    command
}

fn program(system: &str) -> &'static str {
    match system {
        "macos" => "osascript",
        "windows" => "powershell",
        _ => "notify-send",
    }
}

/// Shows `text`.
pub(super) fn send(text: &str) -> Result<(), String> {
    let name = program(env::consts::OS);
    let mut command = command(env::consts::OS, text);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    hide_window(&mut command);
    let child = command.spawn().map_err(|error| format!("{name} cannot be started: {error}"))?;
    let ended = process::ended(child, PATIENCE).map_err(|why| format!("{name} {why}"))?;
    match ended {
        Ended { status, .. } if status.success() => Ok(()),
        Ended { status, err, .. } => Err(format!("{name} failed ({status}): {}", err.trim())),
    }
}

/// Returns a line on whether the program is there.
pub(super) fn state() -> String {
    let name = program(env::consts::OS);
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    if env::split_paths(&path).any(|folder| folder.join(&file).is_file()) {
        format!("tells you of loops on the desktop, by {name}")
    } else {
        format!("cannot tell you of loops on the desktop: {name} is not in PATH, so install it")
    }
}

/// Lets a program in the background open no window.
pub(super) fn hide_window(command: &mut Command) {
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt as _;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
    }
    #[cfg(not(windows))]
    let _ = command;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of tools come from others: they are an argument or a variable, and never a part of a script or of markup.
    #[test]
    fn a_text_is_no_script_and_no_markup() {
        let text = r#"--x "$(id)" '<b>' & `t`"#;
        let words = |system| {
            let command = command(system, text);
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let markup = r#"--x "$(id)" '&lt;b&gt;' &amp; `t`"#;
        assert_eq!(words("linux"), ["--app-name", "unstuck", "--", "unstuck", markup]);
        assert_eq!(words("macos"), ["-e", BANNER, "--", text]);
        assert_eq!(words("windows"), ["-NoProfile", "-NonInteractive", "-Command", TOAST]);
        let toast = command("windows", text);
        assert!(toast.get_envs().eq([(TEXT.as_ref(), Some(text.as_ref()))]));
        assert!(TOAST.contains(&format!("$env:{TEXT}")));
    }
}
