//! `unstuck swarm`: shows and clears the calls that the workers of a swarm count on a server.

mod frame;
pub(crate) mod options;
mod sampler;

use std::env::{self, VarError};
use std::io::{self, IsTerminal as _};
use std::{fmt, thread};

use terminal_size::{Height, Width, terminal_size};
use unstuck_report::shown::COLUMNS;
use unstuck_swarm::redis::{self, Settings, SettingsError};

use crate::exit::Exit;
use crate::output::{Closed, Output, Reader, complain, fail, print};
use crate::swarm::options::{Clear, Swarm, SwarmCommand, Watch};
use crate::time::now;
use frame::{Room, Title};
use sampler::{FindSessions, Sample, Sampler};

/// The environment variable with the secret of a swarm.
pub(crate) const SECRET: &str = "UNSTUCK_SWARM_SECRET";

/// The name of the command in messages.
const NAME: &str = "swarm";

/// Runs the command. `find` finds the sessions of the agents on this machine.
pub(crate) fn run(swarm: &Swarm, find: FindSessions) -> Exit {
    match &swarm.command {
        SwarmCommand::Watch(options) => watch(options, find),
        SwarmCommand::Clear(options) => clear(options),
    }
}

fn clear(clear: &Clear) -> Exit {
    let settings = match settings(&clear.address.swarm) {
        Ok(settings) => settings,
        Err(error) => return fail(Exit::Setup, NAME, &error.to_string()),
    };
    let cleared = redis::Watch::open(&settings).and_then(|mut watch| watch.clear());
    if let Err(error) = cleared {
        return fail(Exit::Input, NAME, &error.to_string());
    }
    let text = format!("{}: all counts were cleared\n", settings.swarm());
    print(Reader::Person, &text, Exit::Clean)
}

/// The environment variable with the password of its server.
pub(crate) const PASSWORD: &str = "UNSTUCK_SWARM_PASSWORD";

/// Returns the settings of the swarm at `url`, with the secret and the password from the environment.
pub(crate) fn settings(url: &str) -> Result<Settings, NoSettings> {
    let secret = env::var_os(SECRET).unwrap_or_default();
    if secret.is_empty() {
        return Err(NoSettings::Secret);
    }
    let settings = Settings::parse(url, secret.as_encoded_bytes()).map_err(NoSettings::Wrong)?;
    match env::var(PASSWORD) {
        Ok(password) if !password.is_empty() => Ok(settings.password(&password)),
        Err(VarError::NotUnicode(_)) => Err(NoSettings::Password),
        _ => Ok(settings),
    }
}

/// The reason why the server cannot be asked.
#[derive(Debug)]
pub(crate) enum NoSettings {
    Secret,
    Password,
    Wrong(SettingsError),
}

impl fmt::Display for NoSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret => write!(
                f,
                "{SECRET} is not set: set it to the secret that all workers of the swarm share, \
                 for example one from openssl rand -hex 16"
            ),
            Self::Password => {
                write!(f, "{PASSWORD} is not UTF-8: set it to the password of the server")
            }
            Self::Wrong(SettingsError::Secret) => {
                write!(f, "{SECRET} is too short: {}", SettingsError::Secret)
            }
            Self::Wrong(error) => error.fmt(f),
        }
    }
}

/// Returns the servers in a URL, without user name and password.
fn servers(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('?').next().unwrap_or_default();
    if rest.starts_with('/') {
        // The path of a Unix socket.
        return rest;
    }
    let hosts = rest.split('/').next().unwrap_or_default();
    hosts.rsplit('@').next().unwrap_or_default()
}

/// The lines of the terminal without calls: the title, the heads, and the cursor's line.
const LINES_BESIDE: usize = 3;

fn watch(watch: &Watch, find: FindSessions) -> Exit {
    let settings = settings(&watch.address.swarm)
        .and_then(|settings| settings.rule(watch.rule()).map_err(NoSettings::Wrong));
    let settings = match settings {
        Ok(settings) => settings,
        Err(error) => return fail(Exit::Setup, NAME, &error.to_string()),
    };
    let swarm = settings.swarm().to_owned();
    let title = Title { swarm: &swarm, servers: servers(&watch.address.swarm) };
    let mut printer = Printer::new(watch);
    let mut looker = Sampler::new(settings, find);
    loop {
        let look = looker.look(now());
        if let Err(closed) = printer.print(&title, &look, watch.limit()) {
            return closed.exit(Exit::Clean);
        }
        if watch.once {
            return exit(&look);
        }
        thread::sleep(watch.interval());
    }
}

/// Returns the exit code for one look.
fn exit(look: &Sample) -> Exit {
    match &look.rows {
        Err(_) => Exit::Input,
        Ok(_) if look.loops() > 0 => Exit::Found,
        Ok(_) => Exit::Clean,
    }
}

/// The kind of output.
enum Printer {
    /// A terminal. Each look replaces the previous one, which had `lines` lines.
    Terminal {
        output: Output,
        control: Output,
        lines: usize,
    },
    /// A file or a pipe. Looks follow each other, with `gap` after each.
    Pages {
        output: Output,
        gap: &'static str,
    },
    Lines {
        output: Output,
    },
}

impl Printer {
    fn new(watch: &Watch) -> Self {
        let output = Output::stdout;
        if watch.is_for_programs() {
            return Self::Lines { output: output(Reader::Program) };
        }
        if watch.once || !io::stdout().is_terminal() {
            let gap = if watch.once { "" } else { "\n" };
            return Self::Pages { output: output(Reader::Person), gap };
        }
        // The cursor moves even if colours are off.
        let control = output(Reader::Program);
        Self::Terminal { output: output(Reader::Person), control, lines: 0 }
    }

    /// Prints a look with at most `calls` calls.
    fn print(&mut self, title: &Title<'_>, look: &Sample, calls: usize) -> Result<(), Closed> {
        match self {
            Self::Lines { output } => {
                if let Err(error) = &look.rows {
                    complain(NAME, &error.to_string());
                }
                output.write(&frame::lines(title, look, calls))
            }
            Self::Pages { output, gap } => output.write(
                &(frame::human(title, look, Room { columns: COLUMNS, calls, lines: usize::MAX })
                    + gap),
            ),
            Self::Terminal { output, control, lines } => {
                let text = frame::human(title, look, room(calls));
                if *lines > 0 {
                    control.write(&format!("\x1b[{lines}A\x1b[J"))?;
                }
                *lines = text.lines().count();
                output.write(&text)
            }
        }
    }
}

/// Returns the space on the terminal, for at most `calls` calls.
fn room(calls: usize) -> Room {
    let Some((Width(columns), Height(lines))) = terminal_size() else {
        return Room { columns: COLUMNS, calls, lines: usize::MAX };
    };
    let lines = usize::from(lines).saturating_sub(LINES_BESIDE);
    Room { columns: columns.into(), calls, lines }
}

#[cfg(test)]
mod tests {
    use super::servers;

    #[test]
    fn credentials_of_a_url_are_not_shown() {
        for (url, shown) in [
            ("redis://h:1/0?swarm=a", "h:1"),
            ("redis://u:p@ss@h,i:2?swarm=a", "h,i:2"),
            ("redis+unix:///run/redis.sock?swarm=a&pass=p", "/run/redis.sock"),
        ] {
            assert_eq!(servers(url), shown);
        }
    }
}
