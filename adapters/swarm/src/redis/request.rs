//! The commands for a server, and its replies.

use std::format;
use std::string::{String, ToString as _};
use std::vec::Vec;

use ::redis::{Cmd, ServerErrorKind, Value};
use unstuck_core::{Digest, LoopId, Tool};

use crate::observation::Observation;
use crate::redis::error::RedisError;
use crate::redis::keys::Keys;
use crate::redis::settings::Settings;
use crate::rule::{Allowance, Rule};
use crate::verdict::{Counts, Finding, Outcome, Verdict};

/// The functions that count on the server, in Lua. If the worker's user may not load functions, an administrator
/// loads them with `FUNCTION LOAD`.
///
/// ```
/// assert!(unstuck_swarm::redis::LIBRARY.starts_with("#!lua name=unstuck_swarm_1"));
/// ```
pub const LIBRARY: &str = include_str!("unstuck.lua");

/// The errors of a node that cannot count in its present role, although another node may.
const AWAY: [ServerErrorKind; 3] =
    [ServerErrorKind::ReadOnly, ServerErrorKind::ClusterDown, ServerErrorKind::MasterDown];

/// The errors of a node that cannot count a call at present. `ASK` and `TRYAGAIN` come while the slot of the swarm
/// moves to another node. Neither node has all keys of a call then, so neither can count it, whatever `ASK` says.
const LATER: [ServerErrorKind; 3] =
    [ServerErrorKind::Ask, ServerErrorKind::TryAgain, ServerErrorKind::BusyLoading];

/// The number of characters of a tool's name that observers see.
const NAME_MAX: usize = 64;

/// The maximum count in a valid reply.
const COUNT_MAX: i64 = 1 << 36;

/// The maximum number of workers that a server counts exactly.
const EXACT_MAX: u32 = 64;

/// A call that is sent to a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingCall {
    pub(super) call: Digest,
    pub(super) id: LoopId,
    tool: Tool,
    outcome: Outcome,
    allowance: Allowance,
    /// The number of the request. The reply must repeat it.
    pub(super) number: u32,
}

impl PendingCall {
    /// Returns `None` if the rule does not count the call.
    pub(super) fn of(observation: &Observation, rule: &Rule, keys: &Keys) -> Option<Self> {
        let allowance = rule.allowance(observation);
        let (outcome, Observation { tool, call, .. }) = (observation.outcome(), *observation);
        let id = keys.loop_id(observation.key());
        (allowance != Allowance::Any).then_some(Self {
            call,
            id,
            tool,
            outcome,
            allowance,
            number: 0,
        })
    }

    /// Returns the verdict on `calls` calls of `workers` workers.
    pub(super) fn verdict(&self, calls: u32, workers: u32, rule: &Rule) -> Verdict {
        let counted = counted(calls, workers, self.allowance);
        let (rung, action) = rule.rung(counted, workers);
        let beyond = counted.saturating_sub(rule.calls);
        let counts = Counts { calls, workers, missed: 0, beyond };
        let finding = Finding::new(self.id, self.tool, self.outcome, counts);
        Verdict { action, rung, finding: (rung > 0).then_some(finding) }
    }

    /// Returns the label for observers: the id, the outcome, the allowance and the tool.
    fn label(&self, tool: &str) -> String {
        let outcome = match self.outcome {
            Outcome::Unknown => 'u',
            Outcome::Worked => 'w',
            Outcome::Failed => 'f',
        };
        let allowed = if self.allowance == Allowance::Once { 'o' } else { 'n' };
        format!("{}:{outcome}{allowed}:{}", self.id, plain(tool))
    }
}

/// The label of a call for observers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) id: LoopId,
    pub(super) outcome: Outcome,
    pub(super) allowance: Allowance,
    pub(super) tool: String,
}

impl Label {
    /// Parses a label. Returns `None` if the bytes are not one.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(bytes).ok()?;
        let (id, rest) = text.split_once(':')?;
        let (kind, tool) = rest.split_once(':')?;
        let (outcome, allowance) = match kind.as_bytes() {
            [outcome, allowance] => (*outcome, *allowance),
            _ => return None,
        };
        let outcome = match outcome {
            b'u' => Outcome::Unknown,
            b'w' => Outcome::Worked,
            b'f' => Outcome::Failed,
            _ => return None,
        };
        let allowance = if allowance == b'o' { Allowance::Once } else { Allowance::None };
        Some(Self { id: id.parse().ok()?, outcome, allowance, tool: plain(tool) })
    }
}

/// Returns the number of calls that count, without the free ones.
///
/// If the number of workers is an estimate, twice as many calls are free. All calls of a swarm share the hashes
/// of its workers, and a growing swarm is estimated anew at each size. So three standard errors are not enough:
/// one in fifteen of the swarms of 10,000 workers that each call once would be accused. The chance of more than
/// twice the estimate is 3 in 10¹⁰ at each size. If too few calls count, a loop is found later. If too many
/// count, a worker is accused.
pub(super) fn counted(calls: u32, workers: u32, allowance: Allowance) -> u32 {
    let allowed = match allowance {
        Allowance::None => 0,
        Allowance::Once if workers <= EXACT_MAX => workers,
        Allowance::Once => workers.saturating_mul(2),
        Allowance::Any => calls,
    };
    calls.saturating_sub(allowed)
}

/// Returns the part of a tool's name that observers see: one plain word. The name may come from any source.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.:/@".contains(c);
    name.chars().take(NAME_MAX).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Returns the command that counts a call.
pub(super) fn record(
    pending: &PendingCall,
    observation: &Observation,
    tool: &str,
    settings: &Settings,
    keys: &Keys,
) -> Cmd {
    let rule = &settings.rule;
    let mut cmd = ::redis::cmd("FCALL");
    cmd.arg("unstuck_record_1").arg(3).arg(keys.calls(pending.id)).arg(&keys.epoch).arg(&keys.hot);
    cmd.arg(&keys.worker(observation.worker)).arg(settings.half());
    cmd.arg(rule.calls.div_ceil(2)).arg(rule.workers).arg(pending.label(tool)).arg(pending.number);
    cmd
}

/// Returns the command that lists the labels of the latest hot calls.
pub(super) fn hot(keys: &Keys) -> Cmd {
    let mut cmd = ::redis::cmd("ZREVRANGE");
    cmd.arg(&keys.hot).arg(0).arg(-1);
    cmd
}

/// Returns the command that reads the counts of calls.
pub(super) fn look(labels: &[Label], keys: &Keys) -> Cmd {
    let mut cmd = ::redis::cmd("FCALL_RO");
    cmd.arg("unstuck_look_1").arg(labels.len() + 1).arg(&keys.epoch);
    for label in labels {
        cmd.arg(keys.calls(label.id));
    }
    cmd
}

/// Returns the command that clears all counts.
pub(super) fn clear(keys: &Keys) -> Cmd {
    let mut cmd = ::redis::cmd("FCALL");
    cmd.arg("unstuck_clear_1").arg(2).arg(&keys.epoch).arg(&keys.hot);
    cmd
}

/// Returns the command that loads the functions.
pub(super) fn load() -> Cmd {
    let mut cmd = ::redis::cmd("FUNCTION");
    cmd.arg("LOAD").arg("REPLACE").arg(LIBRARY);
    cmd
}

/// The action before a request that was not carried out is sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Load the functions.
    Load,
    /// Ask the node at this address.
    Move(String),
    /// Ask another node, or this one on another connection. This one does not count for this reason.
    Leave(RedisError),
    /// Ask this node later. At present it does not count for this reason.
    Wait(RedisError),
}

/// The meaning of a reply that is neither invalid nor refuses the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The number of calls and of workers. `ago` is the number of the request for [`record`], and the age of the
    /// latest call in milliseconds for [`look`].
    Counted { calls: u32, workers: u32, ago: u64 },
    /// The request was not carried out. It can be sent again after the remedy, perhaps much later.
    Again(Remedy),
}

impl Reply {
    /// Parses the reply of `server` to [`record`], or a part of the reply to [`look`].
    pub(super) fn of(value: &Value, server: &str) -> Result<Self, RedisError> {
        if let Some(remedy) = remedy(value, server)? {
            return Ok(Self::Again(remedy));
        }
        let numbers: Option<Vec<_>> = match value {
            Value::Array(numbers) => numbers.iter().map(number).collect(),
            _ => None,
        };
        let counted = match numbers.as_deref() {
            Some(&[calls, workers]) => counts(calls, workers, 0),
            Some(&[calls, workers, ago]) => counts(calls, workers, ago),
            _ => None,
        };
        counted.ok_or_else(|| RedisError::nonsense(server))
    }
}

/// Returns the remedy if `server` did not carry out the request, and `None` if the reply is not an error. A request
/// that it refuses is an error.
pub(super) fn remedy(value: &Value, server: &str) -> Result<Option<Remedy>, RedisError> {
    let Value::ServerError(error) = value else { return Ok(None) };
    let details = error.details().unwrap_or_default();
    let refused = RedisError::refused(server, error);
    Ok(Some(match error.kind() {
        Some(ServerErrorKind::Moved) => match details.split_once(' ') {
            Some((_, node)) => Remedy::Move(node.to_string()),
            None => return Err(RedisError::nonsense(server)),
        },
        Some(ServerErrorKind::ResponseError) if details == "Function not found" => Remedy::Load,
        Some(kind) if AWAY.contains(&kind) => Remedy::Leave(refused),
        Some(kind) if LATER.contains(&kind) => Remedy::Wait(refused),
        _ => return Err(refused),
    }))
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) if (0..=COUNT_MAX).contains(number) => Some(*number),
        _ => None,
    }
}

/// Checks the counts of a reply. There is at least one call if there is a worker, and the reverse.
fn counts(calls: i64, workers: i64, ago: i64) -> Option<Reply> {
    let short = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    (1..=calls).contains(&workers).then(|| Reply::Counted {
        calls: short(calls),
        workers: short(workers),
        ago: ago.unsigned_abs(),
    })
}

#[cfg(test)]
mod tests {
    use ::redis::parse_redis_value;

    use super::*;
    use crate::observation::Worker;

    fn reply(text: &str) -> Result<Reply, RedisError> {
        Reply::of(&parse_redis_value(text.as_bytes()).expect("it is one"), "h")
    }

    fn error(why: &str) -> RedisError {
        RedisError::Refused { server: "h".into(), why: why.into() }
    }

    #[test]
    fn every_kind_of_reply_is_recognised() {
        let counted = |calls, workers, ago| Ok(Reply::Counted { calls, workers, ago });
        let nonsense = || Err(RedisError::nonsense("h"));
        let refused = |why| Err(error(why));
        let again = |remedy| Ok(Reply::Again(remedy));
        let wait = |why| Ok(Reply::Again(Remedy::Wait(error(why))));
        for (text, expected) in [
            ("*2\r\n:9\r\n:2\r\n", counted(9, 2, 0)),
            ("*3\r\n:9\r\n:9\r\n:70\r\n", counted(9, 9, 70)),
            ("*2\r\n:8589934592\r\n:1\r\n", counted(u32::MAX, 1, 0)),
            ("*2\r\n:9\r\n:0\r\n", nonsense()),
            ("*2\r\n:9\r\n:10\r\n", nonsense()),
            ("*2\r\n:-1\r\n:-1\r\n", nonsense()),
            ("*2\r\n:137438953472\r\n:1\r\n", nonsense()),
            ("*3\r\n:9\r\n:2\r\n:-1\r\n", nonsense()),
            ("*4\r\n:9\r\n:2\r\n:1\r\n:1\r\n", nonsense()),
            ("*1\r\n:9\r\n", nonsense()),
            ("*0\r\n", nonsense()),
            (":9\r\n", nonsense()),
            ("+OK\r\n", nonsense()),
            ("$-1\r\n", nonsense()),
            ("-MOVED 1 h:2\r\n", again(Remedy::Move("h:2".into()))),
            ("-MOVED 1\r\n", nonsense()),
            ("-ERR Function not found\r\n", again(Remedy::Load)),
            ("-ERR other\r\n", refused("ERR other")),
            ("-OOM too much\r\n", refused("OOM too much")),
            ("-MASTERDOWN x\r\n", again(Remedy::Leave(error("MASTERDOWN x")))),
            ("-ASK 1 h:2\r\n", wait("ASK 1 h:2")),
            ("-TRYAGAIN x\r\n", wait("TRYAGAIN x")),
            ("-LOADING x\r\n", wait("LOADING x")),
        ] {
            assert_eq!(reply(text), expected, "{text}");
        }
    }

    #[test]
    fn an_error_that_a_person_can_mend_says_how() {
        for (text, advice) in [
            ("NOAUTH Authentication required.", "it asks for a password "),
            ("ERR Protocol error: unauthenticated multibulk length", "it asks for a password "),
            ("WRONGPASS invalid username-password pair", "it takes another user or password"),
            ("NOPERM this user has no permissions", "its user lacks a right "),
            (
                "ERR AUTH <password> called without any password configured",
                "it needs no password, ",
            ),
            ("READONLY You can't write against a read only replica.", "it is a replica, "),
            ("CLUSTERDOWN Hash slot not served", "its cluster is down: "),
        ] {
            let said = match reply(&format!("-{text}\r\n")) {
                Err(error) | Ok(Reply::Again(Remedy::Leave(error))) => error.to_string(),
                other => panic!("{other:?}"),
            };
            let begin = format!("the swarm's server h refuses: {advice}");
            assert!(said.starts_with(&begin) && said.ends_with(&format!(" ({text})")), "{said}");
        }
    }

    #[test]
    fn a_label_is_read_as_it_was_written() {
        let keys = Keys::new("a", b"s");
        let plain = Observation::new(Worker::named("w"), Tool::named("t"), Digest::of(b"c"));
        let answer = Digest::of(b"r");
        let rule = Rule::default().worked(Allowance::Once);
        for (observation, outcome, allowance) in [
            (plain, Outcome::Unknown, Allowance::None),
            (plain.ok(answer), Outcome::Worked, Allowance::Once),
            (plain.failed(answer), Outcome::Failed, Allowance::None),
        ] {
            let pending = PendingCall::of(&observation, &rule, &keys).expect("it counts");
            let label = pending.label("a:b c\n");
            let tool = "a:b_c_".into();
            let expected = Label { id: pending.id, outcome, allowance, tool };
            assert_eq!(Label::of(label.as_bytes()), Some(expected));
        }
    }

    #[test]
    fn other_bytes_are_no_label() {
        let id = "0123456789abcdef";
        for rest in ["", ":", ":u", ":un", ":xn:t", ":unn:t", "0:un:t"] {
            assert_eq!(Label::of(std::format!("{id}{rest}").as_bytes()), None, "{rest}");
        }
        assert_eq!(Label::of(b"\xff"), None);
    }

    #[test]
    fn an_estimate_frees_twice_as_many_calls() {
        for (calls, workers, once) in
            [(1, 1, 0), (5, 3, 2), (64, 64, 0), (65, 64, 1), (100, 80, 0), (200, 80, 40)]
        {
            assert_eq!(counted(calls, workers, Allowance::None), calls);
            assert_eq!(counted(calls, workers, Allowance::Once), once, "{calls} of {workers}");
            assert_eq!(counted(calls, workers, Allowance::Any), 0);
        }
    }
}
