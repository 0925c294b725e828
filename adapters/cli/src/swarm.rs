//! `unstuck swarm`: shows and clears the calls that the workers of a swarm count on a server.

mod frame;
mod local;
pub(crate) mod options;
mod sampler;
mod watch;

use std::env::{self, VarError};
use std::fmt;

use unstuck_swarm::redis::{self, Settings, SettingsError};

use local::FindSessions;

use crate::exit::Exit;
use crate::output::{Reader, complain, print};
use crate::swarm::options::{Clear, Swarm, SwarmCommand};

/// The environment variable with the secret of a swarm.
pub(crate) const SECRET: &str = "UNSTUCK_SWARM_SECRET";

/// Runs the command. `find` finds the sessions of the agents on this machine.
pub(crate) fn run(swarm: &Swarm, find: FindSessions) -> Exit {
    match &swarm.command {
        SwarmCommand::Watch(options) => watch::run(options, find),
        SwarmCommand::Clear(options) => clear(options),
    }
}

fn clear(clear: &Clear) -> Exit {
    let settings = match settings(&clear.address.swarm) {
        Ok(settings) => settings,
        Err(error) => return fails(&error, Exit::Setup),
    };
    let cleared = redis::Watch::open(&settings).and_then(|mut watch| watch.clear());
    if let Err(error) = cleared {
        return fails(&error, Exit::Input);
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

/// Prints why nothing was done.
fn fails(why: &impl fmt::Display, exit: Exit) -> Exit {
    complain("swarm", &why.to_string());
    exit
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
