//! The settings of a store: the server, the swarm, the rule and the deadline.

use core::fmt;
use core::time::Duration;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use ::redis::{ConnectionInfo, IntoConnectionInfo as _};

use crate::rule::{Rule, RuleError, Window};

/// The shortest deadline. A server on the same machine replies within it.
pub const DEADLINE_MIN: Duration = Duration::from_millis(1);

/// The longest deadline. A longer wait would cost a worker more than the advice is worth.
pub const DEADLINE_MAX: Duration = Duration::from_secs(1);

/// The shortest secret, in bytes. A shorter one could be found by trial.
pub const SECRET_MIN: usize = 16;

/// The default deadline.
const DEADLINE: Duration = Duration::from_millis(10);

/// The maximum length of a swarm's name, which is part of every key.
const SWARM_MAX: usize = 64;

/// The longest window, so that no expiry is beyond what a server takes: a year, in milliseconds.
const SPAN_MAX: u64 = 366 * 24 * 3_600_000;

/// The options of an address beside the swarm's name.
const OPTIONS: [&str; 4] = ["protocol", "db", "user", "pass"];

/// The settings of a store: the server, the swarm, its secret, the rule and the deadline of a worker.
///
/// ```
/// use core::time::Duration;
///
/// use unstuck_swarm::Rule;
/// use unstuck_swarm::redis::Settings;
///
/// let settings = Settings::parse("redis://10.0.0.7:6379/0?swarm=nightly", b"of this swarm alone")?
///     .rule(Rule::default().calls(20))?
///     .deadline(Duration::from_millis(5))?;
/// assert_eq!(settings.swarm(), "nightly");
/// # Ok::<(), unstuck_swarm::redis::SettingsError>(())
/// ```
#[derive(Clone)]
pub struct Settings {
    pub(super) server: Server,
    pub(super) swarm: String,
    pub(super) secret: Vec<u8>,
    pub(super) rule: Rule,
    pub(super) deadline: Duration,
}

/// The nodes of a server, and the way to reach them.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) nodes: Vec<ConnectionInfo>,
    pub(super) is_encrypted: bool,
}

impl Settings {
    /// Parses `redis://[user:password@]host[:port][/db]?swarm=name`, or `redis+unix:///path?swarm=name`. The
    /// scheme may be `valkey`, too. `rediss://` and `valkeys://` ask for TLS, which needs the feature `redis-tls`. The
    /// certificate of the server must be valid for its name, and the machine must trust it. The variable
    /// `SSL_CERT_FILE` names a file with other certificates to trust.
    ///
    /// Several `host[:port]`, separated by commas, are servers that replace each other, or nodes of one cluster.
    /// They are tried in turn. If one names another node for the swarm, the worker asks that node from then on.
    ///
    /// A password does not have to be in the address: see [`Settings::password`].
    ///
    /// The `secret` belongs to the swarm, and has at least [`SECRET_MIN`] bytes, for example those that
    /// `openssl rand -hex 16` prints. All its workers have the same secret, and the server never gets it.
    /// The data for the server is hashed with it, so that a reader of the server cannot guess the arguments of a
    /// call by trial.
    ///
    /// # Errors
    ///
    /// Returns a [`SettingsError`], which never quotes the address, because it may contain a password.
    pub fn parse(url: &str, secret: &[u8]) -> Result<Self, SettingsError> {
        if secret.len() < SECRET_MIN {
            return Err(SettingsError::Secret);
        }
        let (server, swarm) = server(url)?;
        let (secret, rule) = (secret.to_vec(), Rule::default());
        Ok(Self { server, swarm, secret, rule, deadline: DEADLINE })
    }

    /// Sets the password for the server, instead of the one in the address. An address is often printed and logged.
    #[must_use]
    pub fn password(mut self, password: &str) -> Self {
        let with = |node: &ConnectionInfo| {
            let settings = node.redis_settings().clone().set_password(password);
            node.clone().set_redis_settings(settings)
        };
        self.server.nodes = self.server.nodes.iter().map(with).collect();
        self
    }

    /// Sets the rule. All workers of a swarm must have the same.
    ///
    /// # Errors
    ///
    /// Returns [`SettingsError::Rule`] for an invalid rule, and [`SettingsError::Window`] if it does not count by
    /// time, or for longer than a year.
    pub fn rule(mut self, rule: Rule) -> Result<Self, SettingsError> {
        let rule = rule.check().map_err(SettingsError::Rule)?;
        match rule.window {
            Window::Time { span } if span <= SPAN_MAX => self.rule = rule,
            _ => return Err(SettingsError::Window),
        }
        Ok(self)
    }

    /// Sets the time that a worker waits for the server: from [`DEADLINE_MIN`], 1 ms, to [`DEADLINE_MAX`], 1 s.
    /// The default is 10 ms.
    ///
    /// # Errors
    ///
    /// Returns [`SettingsError::Deadline`] if the time is out of range.
    pub fn deadline(mut self, deadline: Duration) -> Result<Self, SettingsError> {
        if !(DEADLINE_MIN..=DEADLINE_MAX).contains(&deadline) {
            return Err(SettingsError::Deadline { asked: deadline });
        }
        self.deadline = deadline;
        Ok(self)
    }

    /// Returns the name of the swarm.
    pub fn swarm(&self) -> &str {
        &self.swarm
    }

    /// Returns the length of a generation in milliseconds: half the span of the rule's window.
    pub(super) const fn half(&self) -> u64 {
        self.rule.window.span().div_ceil(2)
    }
}

impl fmt::Debug for Settings {
    /// Prints neither the secret nor a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { swarm, rule, deadline, .. } = self;
        f.debug_struct("Settings")
            .field("swarm", swarm)
            .field("rule", rule)
            .field("deadline", deadline)
            .finish_non_exhaustive()
    }
}

/// Parses an address: the nodes of the server, and the name of the swarm.
fn server(url: &str) -> Result<(Server, String), SettingsError> {
    let (scheme, rest) = url.split_once("://").ok_or(SettingsError::Url)?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let is_encrypted = ["rediss", "valkeys"].contains(&scheme);
    if is_encrypted && cfg!(not(feature = "redis-tls")) {
        return Err(SettingsError::Tls);
    }
    let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let (swarm, query) = options(query)?;
    // The client library parses each host with the rest.
    let scheme = if is_encrypted { "redis" } else { scheme };
    let url = |host| format!("{scheme}://{user}{host}{path}?{query}");
    let node = |host| url(host).into_connection_info().map_err(|_| SettingsError::Url);
    let nodes = hosts.split(',').map(node).collect::<Result<_, _>>()?;
    Ok((Server { nodes, is_encrypted }, swarm))
}

/// Returns the name of the swarm, and the options for the client library.
fn options(query: &str) -> Result<(String, String), SettingsError> {
    let (mut swarm, mut rest) = (None, Vec::new());
    for option in query.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("swarm", name)) => swarm = Some(name),
            Some((name, _)) if OPTIONS.contains(&name) => rest.push(option),
            _ => return Err(SettingsError::Option),
        }
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    match swarm {
        Some(name) if (1..=SWARM_MAX).contains(&name.len()) && name.bytes().all(is_plain) => {
            Ok((name.to_string(), rest.join("&")))
        }
        _ => Err(SettingsError::Swarm),
    }
}

/// An error in the settings of a store.
///
/// ```
/// use unstuck_swarm::redis::{Settings, SettingsError};
///
/// assert_eq!(Settings::parse("redis://h/?swarm=a", b"x").err(), Some(SettingsError::Secret));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// The address does not name a server.
    Url,
    /// The address asks for TLS, and this is a build without the feature `redis-tls`.
    Tls,
    /// The address names no swarm, or its name has other characters than keys may have.
    Swarm,
    /// The address has an unknown option.
    Option,
    /// The secret has fewer than [`SECRET_MIN`] bytes.
    Secret,
    /// The rule is invalid.
    Rule(RuleError),
    /// The window of the rule does not count by time, or is too long.
    Window,
    /// The deadline is out of range.
    Deadline {
        /// The deadline.
        asked: Duration,
    },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url => f.write_str(
                "the address of the swarm is invalid: write \
                 redis://[user:password@]host[:port][/db]?swarm=name",
            ),
            Self::Tls => f.write_str(
                "this build has no TLS to the swarm's server: build it with the feature redis-tls, or write \
                 redis:// and a network that you trust",
            ),
            Self::Swarm => write!(
                f,
                "the address names no swarm: add ?swarm=name, with 1 to {SWARM_MAX} letters, digits \
                 or any of _-."
            ),
            Self::Option => write!(
                f,
                "the address of the swarm has an unknown option: known options are swarm=, {}=",
                OPTIONS.join("=, ")
            ),
            Self::Secret => write!(
                f,
                "the secret of the swarm has fewer than {SECRET_MIN} bytes: give all its workers the same, \
                 for example one from openssl rand -hex 16"
            ),
            Self::Rule(error) => error.fmt(f),
            Self::Window => f.write_str(
                "a swarm on a server counts by time: give its rule a window of 2 milliseconds to a \
                 year",
            ),
            Self::Deadline { asked } => write!(
                f,
                "a worker cannot wait {asked:?} for the swarm: choose {DEADLINE_MIN:?} to \
                 {DEADLINE_MAX:?}"
            ),
        }
    }
}

impl core::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"of this swarm alone";

    #[test]
    fn an_address_is_parsed() {
        for (url, nodes) in [
            ("redis://h/?swarm=a", &["h:6379"][..]),
            ("valkey://h?swarm=a", &["h:6379"]),
            ("redis://u:p@h:1,[::1]:2,i/3?protocol=resp3&swarm=a", &["h:1", "::1:2", "i:6379"]),
            ("redis+unix:///run/redis.sock?swarm=a&db=3", &["/run/redis.sock"]),
        ] {
            let settings = Settings::parse(url, SECRET).expect(url);
            let found: Vec<_> =
                settings.server.nodes.iter().map(|node| node.addr().to_string()).collect();
            assert_eq!(
                (found, settings.swarm()),
                (nodes.iter().map(ToString::to_string).collect(), "a")
            );
        }
    }

    #[test]
    fn user_password_and_database_hold_for_every_host() {
        let settings = Settings::parse("redis://u:p%40@h,i/3?swarm=a", SECRET).expect("it is one");
        for node in &settings.server.nodes {
            let node = node.redis_settings();
            assert_eq!((node.username(), node.password(), node.db()), (Some("u"), Some("p@"), 3));
        }
    }

    #[test]
    fn a_password_may_come_beside_the_address() {
        for url in ["redis://u@h,i/?swarm=a", "redis://u:old@h,i/?swarm=a"] {
            let settings = Settings::parse(url, SECRET).expect("it is one").password("p@ss:w/rd");
            for node in &settings.server.nodes {
                let node = node.redis_settings();
                assert_eq!((node.username(), node.password()), (Some("u"), Some("p@ss:w/rd")));
            }
        }
    }

    #[test]
    fn an_address_may_ask_for_tls() {
        for (url, is_encrypted) in [
            ("redis://h/?swarm=a", false),
            ("rediss://u:p@h:1/?swarm=a", true),
            ("valkeys://h?swarm=a", true),
        ] {
            let settings = Settings::parse(url, SECRET);
            if cfg!(feature = "redis-tls") || !is_encrypted {
                assert_eq!(settings.expect(url).server.is_encrypted, is_encrypted, "{url}");
            } else {
                assert_eq!(settings.err(), Some(SettingsError::Tls), "{url}");
            }
        }
    }

    #[test]
    fn every_error_of_an_address_is_found() {
        let long = format!("redis://h/?swarm={}", "a".repeat(SWARM_MAX + 1));
        for (url, error) in [
            ("", SettingsError::Url),
            ("redis:h?swarm=a", SettingsError::Url),
            ("http://h/?swarm=a", SettingsError::Url),
            ("redis://,h/?swarm=a", SettingsError::Url),
            ("redis://h/one?swarm=a", SettingsError::Url),
            ("redis://h/?protocol=9&swarm=a", SettingsError::Url),
            ("redis://h/", SettingsError::Swarm),
            ("redis://h/?swarm=", SettingsError::Swarm),
            ("redis://h/?swarm={a}", SettingsError::Swarm),
            (&long, SettingsError::Swarm),
            ("redis://h/?swarm=a&swam=b", SettingsError::Option),
        ] {
            assert_eq!(Settings::parse(url, SECRET).err(), Some(error), "{url}");
        }
        for short in [&b""[..], b"x", &SECRET[..SECRET_MIN - 1]] {
            let error = Settings::parse("redis://h/?swarm=a", short).err();
            assert_eq!(error, Some(SettingsError::Secret));
        }
        assert!(Settings::parse("redis://h/?swarm=a", &SECRET[..SECRET_MIN]).is_ok());
    }

    #[test]
    fn every_error_says_what_to_do() {
        let errors = [
            SettingsError::Url,
            SettingsError::Tls,
            SettingsError::Swarm,
            SettingsError::Option,
            SettingsError::Secret,
            SettingsError::Rule(RuleError::Calls { asked: 1 }),
            SettingsError::Window,
            SettingsError::Deadline { asked: Duration::from_secs(2) },
        ];
        insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"));
    }

    #[test]
    fn a_rule_and_a_deadline_are_checked() {
        let settings = Settings::parse("redis://h/?swarm=a", SECRET).expect("it is one");
        let rule = |rule: Rule| settings.clone().rule(rule).err();
        assert_eq!(
            rule(Rule::default().window(Window::Calls { span: 9 })),
            Some(SettingsError::Window)
        );
        assert_eq!(
            rule(Rule::default().window(Window::Time { span: u64::MAX })),
            Some(SettingsError::Window)
        );
        let error = SettingsError::Rule(RuleError::Calls { asked: 1 });
        assert_eq!(rule(Rule::default().calls(1)), Some(error));
        for asked in [Duration::ZERO, Duration::from_micros(1_000_001)] {
            let error = settings.clone().deadline(asked).err();
            assert_eq!(error, Some(SettingsError::Deadline { asked }));
        }
    }

    #[test]
    fn nothing_secret_is_printed() {
        let settings =
            Settings::parse("redis://u:hush@h/?swarm=a", b"hush, 16 or more").expect("it is one");
        assert!(!format!("{settings:?}").contains("hush"));
    }
}
