//! `unstuck notify` and `--notify`: tell a person of a loop, once, on the desktop or at a webhook.
//!
//! A hook and a proxy must not wait for a notification. They hand the finding over to a process of its own, which runs
//! `unstuck notify` and writes its failures to the log of the hooks.

mod desktop;
#[cfg(not(feature = "fleet"))]
#[path = "notify/no_webhook.rs"]
mod webhook;
#[cfg(feature = "fleet")]
mod webhook;

use std::env;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use unstuck::Action;
use unstuck_report::json::json_line;
use unstuck_report::shown::plain;

use crate::agents::Agent;
use crate::agents::settings::Entry as SettingsEntry;
use crate::agents::state::{Entry, FindingRecord, Folder, Said, What};
use crate::exit::Exit;
use crate::output::fail;
use crate::time::now;

/// The name of the command, and of its lines in the log.
const NAME: &str = "notify";

/// The options of `notify` in a command line.
const WHERE: &str = "--notify";
const FROM: &str = "--notify-at";

/// The option of `unstuck notify` that says that a finding comes on standard input.
const FOUND: &str = "--found";

/// The options that choose where a person is told of a loop, and when.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notify {
    #[arg(long = "notify", value_name = "WHERE", help = PLACES)]
    places: Vec<String>,
    /// The weakest action to tell you of; without it, block
    #[arg(long = "notify-at", value_name = "ACTION", requires = "places", value_parser = actions())]
    at: Option<Action>,
}

const PLACES: &str =
    "Tell you once of each loop: desktop, or the URL of a webhook. May be given again";

/// Reads the name of an action.
fn actions() -> impl clap::builder::TypedValueParser<Value = Action> {
    let names = Action::ALL.into_iter().filter(|action| *action > Action::Proceed);
    PossibleValuesParser::new(names.map(Action::name))
        .map(|name| named(&name).unwrap_or(Action::Block))
}

fn named(name: &str) -> Option<Action> {
    Action::ALL.into_iter().find(|action| action.name() == name)
}

impl Notify {
    /// Takes an option and its value from a command line. Returns `None` if the parser has to read it.
    pub(crate) fn take(&mut self, option: &str, value: String) -> Option<()> {
        match option {
            WHERE => self.places.push(value),
            FROM if self.at.is_none() => self.at = Some(named(&value)?),
            _ => return None,
        }
        Some(())
    }

    /// Returns the options as words of a command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let places = self.places.iter().flat_map(|place| [WHERE.to_owned(), place.clone()]);
        let at = self.at.iter().flat_map(|at| [FROM.to_owned(), at.name().to_owned()]);
        places.chain(at).collect()
    }

    /// Checks the places.
    ///
    /// # Errors
    ///
    /// The first mistake has been printed.
    pub(crate) fn check(&self) -> Result<(), Exit> {
        self.places.iter().try_for_each(|place| {
            let state = Place::of(place).and_then(|place| place.state());
            state.map(drop).map_err(|why| fail(Exit::Usage, WHERE, &why))
        })
    }

    /// Returns whether a person is to be told of `finding`.
    pub(crate) fn wants(&self, finding: &FindingRecord) -> bool {
        !self.places.is_empty() && rung(finding) >= self.at.unwrap_or(Action::Block)
    }

    /// Starts a process that tells a person of `finding`, and does not wait for it. It keeps no output of this process
    /// open.
    ///
    /// # Errors
    ///
    /// If the process does not start.
    pub(crate) fn hand_over(&self, finding: &Entry) -> io::Result<Child> {
        let mut command = Command::new(env::current_exe()?);
        command.args([NAME, FOUND]).args(&self.places);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        desktop::hide_window(&mut command);
        let mut child = command.spawn()?;
        // A pipe takes a finding at once.
        let written =
            child.stdin.take().map(|mut pipe| pipe.write_all(json_line(finding).as_bytes()));
        written.transpose().map(|_| child)
    }
}

/// Returns the action that was taken. A stop is a refusal where nothing can end the run.
fn rung(finding: &FindingRecord) -> Action {
    match finding.said {
        Said::Nudge => Action::Nudge,
        Said::Warning => Action::Warn,
        Said::Question => Action::Block,
        Said::Refusal => named(&finding.action).unwrap_or_default().max(Action::Block),
        Said::Stop => Action::Stop,
    }
}

const TELL: &str = "Hooks and the proxy start this command with a finding on standard input. Without one it sends an \
                    example, so that you see whether it arrives.\n\n\
                    desktop uses notify-send on Linux, osascript on macOS and PowerShell on Windows. A webhook gets \
                    a POST of one JSON object, whose text Slack shows. With a secret in UNSTUCK_WEBHOOK_SECRET it is \
                    signed by the Standard Webhooks specification.\n\n\
                    Exit codes: 0 sent, 4 not sent, 64 a usage error.";

#[derive(Args)]
#[command(after_help = TELL)]
pub(crate) struct Tell {
    /// desktop, or the URL of a webhook
    #[arg(value_name = "WHERE", required = true)]
    places: Vec<String>,
    /// A finding comes on standard input, and without it nothing is sent
    #[arg(long, hide = true)]
    found: bool,
}

/// Tells a person of the finding on standard input, or of an example.
pub(crate) fn run(tell: &Tell) -> Exit {
    let given = given();
    // The sender may have been ended before it wrote all of it.
    if tell.found && given.is_none() {
        return fail(Exit::Setup, NAME, "there is no finding on standard input");
    }
    let now = now();
    let finding = given.clone().unwrap_or_else(|| Entry::example(now));
    let mut exit = Exit::Clean;
    for place in &tell.places {
        let Err(why) = Place::of(place).and_then(|place| place.send(&finding)) else { continue };
        exit = fail(Exit::Setup, NAME, &why);
        // A process that nobody sees says so in the log.
        if let Some(folder) = given.as_ref().and_then(|_| Folder::find()) {
            folder.log(now, NAME, why);
        }
    }
    exit
}

/// Returns the finding on standard input, if there is one. Its sender may end now, and the terminal close.
fn given() -> Option<Entry> {
    if io::stdin().is_terminal() {
        return None;
    }
    // It fails for the first process of a pipeline in a shell, which needs no session.
    #[cfg(unix)]
    let _ = rustix::process::setsid();
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

/// A place where a person is told.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    Desktop,
    Webhook(&'a str),
}

impl<'a> Place<'a> {
    fn of(text: &'a str) -> Result<Self, String> {
        match text {
            "desktop" => Ok(Self::Desktop),
            url if url.starts_with("https://") || url.starts_with("http://") => {
                Ok(Self::Webhook(url))
            }
            _ => Err("takes desktop, or a URL that begins with https://".to_owned()),
        }
    }

    /// Returns a line on what will be done here, without the secret parts of a URL.
    fn state(&self) -> Result<String, String> {
        match self {
            Self::Desktop => Ok(desktop::state()),
            Self::Webhook(url) => webhook::state(url),
        }
    }

    fn send(&self, finding: &Entry) -> Result<(), String> {
        match self {
            Self::Desktop => desktop::send(&text(finding)),
            Self::Webhook(url) => webhook::send(url, finding),
        }
    }
}

/// Returns the line for a person, for example "Codex in /src: `shell` 6 times in a row: refused".
fn text(Entry { agent, cwd, what, .. }: &Entry) -> String {
    let title = Agent::named(agent).map_or("An MCP client", |agent| agent.host().title);
    let place = cwd.as_ref().map_or_else(String::new, |cwd| format!(" in {cwd}"));
    let done = match what {
        What::Found(found) => {
            let would = if found.observed { "would have " } else { "" };
            format!("{}: {would}{}", found.what, found.said.done())
        }
        What::Ended { .. } => "the session is over".to_owned(),
    };
    plain(&format!("{title}{place}: {done}"))
}

/// Returns `text` for a place that reads markup: the names of tools come from others.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns a line on each place that `entries` of an agent's settings name.
pub(crate) fn checks<'e>(entries: impl Iterator<Item = &'e SettingsEntry>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for entry in entries {
        for pair in entry.line.words.windows(2).filter(|pair| pair[0] == WHERE) {
            let state = Place::of(&pair[1]).and_then(|place| place.state());
            let line =
                state.unwrap_or_else(|why| format!("cannot tell you of loops: {WHERE} {why}"));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}
