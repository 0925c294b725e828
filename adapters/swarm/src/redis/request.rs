//! The commands that a server is sent, and what its replies mean.

use std::format;
use std::string::{String, ToString as _};

use ::redis::{Cmd, ServerErrorKind, Value};
use unstuck_core::{Digest, LoopId, Tool};

use crate::observation::Observation;
use crate::redis::keys::Keys;
use crate::redis::settings::Settings;
use crate::rule::{Allowance, Rule};
use crate::verdict::{Counts, Finding, Outcome, Verdict};

/// The functions that count on the server, in Lua. Whoever may not load functions has them loaded by
/// someone who may, with `FUNCTION LOAD`.
pub const LIBRARY: &str = include_str!("unstuck.lua");

/// What a node says that will not count for as long as it is what it is, though another may.
const AWAY: [&str; 3] = ["READONLY", "CLUSTERDOWN", "MASTERDOWN"];

/// How much of a tool's name is shown to those who watch.
const NAME_MAX: usize = 64;

/// More calls than this, or workers, no server counts: a reply of more is a lie.
const COUNT_MAX: i64 = 1 << 36;

/// The most workers whose number a server knows exactly.
const EXACT_MAX: u32 = 64;

/// A call that a server is told of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told {
    pub(super) call: Digest,
    pub(super) id: LoopId,
    tool: Tool,
    outcome: Outcome,
    allowance: Allowance,
    /// What the reply to it has to say, so that it is known to be its own.
    pub(super) number: u32,
}

impl Told {
    /// Nothing if the rule counts no such call.
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

    /// The verdict on so many calls of so many workers.
    pub(super) fn verdict(&self, calls: u32, workers: u32, rule: &Rule) -> Verdict {
        let counted = counted(calls, workers, self.allowance);
        let (rung, action) = rule.rung(counted, workers);
        let beyond = counted.saturating_sub(rule.calls);
        let counts = Counts { calls, workers, missed: 0, beyond };
        let finding = Finding::new(self.id, self.tool, self.outcome, counts);
        Verdict { action, rung, finding: (rung > 0).then_some(finding) }
    }

    /// What those who watch are told of it: its id, what came back, what is allowed, the tool.
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

/// A call as those who watch are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) id: LoopId,
    pub(super) outcome: Outcome,
    pub(super) allowance: Allowance,
    pub(super) tool: String,
}

impl Label {
    /// Nothing if it is none of ours.
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

/// How many of the calls count, where the first of each worker may be allowed.
///
/// Where the number of workers is an estimate, twice as many are taken off. All calls of a swarm share the
/// hashes of its workers, and a swarm that grows is estimated anew at each size, so that three times the
/// standard error is not enough: of the swarms of 10,000 that call once, one in fifteen would be accused.
/// That there are more than twice as many as estimated has a chance of 3 in 10¹⁰ at each size. Too few
/// calls are a loop found later, too many accuse somebody.
pub(super) fn counted(calls: u32, workers: u32, allowance: Allowance) -> u32 {
    let allowed = match allowance {
        Allowance::None => 0,
        Allowance::Once if workers <= EXACT_MAX => workers,
        Allowance::Once => workers.saturating_mul(2),
        Allowance::Any => calls,
    };
    calls.saturating_sub(allowed)
}

/// As much of a tool's name as is shown, who may have it from nobody knows whom: one plain word.
fn plain(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-.:/@".contains(c);
    name.chars().take(NAME_MAX).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// Counts a call.
pub(super) fn record(
    told: &Told,
    observation: &Observation,
    tool: &str,
    settings: &Settings,
    keys: &Keys,
) -> Cmd {
    let rule = &settings.rule;
    let mut cmd = ::redis::cmd("FCALL");
    cmd.arg("unstuck_record_1").arg(3).arg(keys.calls(told.id)).arg(&keys.epoch).arg(&keys.hot);
    cmd.arg(&keys.worker(observation.worker)).arg(settings.half());
    cmd.arg(rule.calls.div_ceil(2)).arg(rule.workers).arg(told.label(tool)).arg(told.number);
    cmd
}

/// Tells the labels of the latest hot calls.
pub(super) fn hot(keys: &Keys) -> Cmd {
    let mut cmd = ::redis::cmd("ZREVRANGE");
    cmd.arg(&keys.hot).arg(0).arg(-1);
    cmd
}

/// Tells how often calls were made.
pub(super) fn look(labels: &[Label], keys: &Keys) -> Cmd {
    let mut cmd = ::redis::cmd("FCALL_RO");
    cmd.arg("unstuck_look_1").arg(labels.len() + 1).arg(&keys.epoch);
    for label in labels {
        cmd.arg(keys.calls(label.id));
    }
    cmd
}

/// Forgets all that was counted.
pub(super) fn clear(keys: &Keys) -> Cmd {
    let mut cmd = ::redis::cmd("FCALL");
    cmd.arg("unstuck_clear_1").arg(2).arg(&keys.epoch).arg(&keys.hot);
    cmd
}

/// Loads the functions.
pub(super) fn load() -> Cmd {
    let mut cmd = ::redis::cmd("FUNCTION");
    cmd.arg("LOAD").arg("REPLACE").arg(LIBRARY);
    cmd
}

/// What to do before a request that was not carried out is sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Load the functions.
    Load,
    /// Ask the node at this address.
    Move(String),
    /// Ask another node, or this one on another connection.
    Leave,
}

/// What a reply means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// So many calls of so many workers; and the number of the request, or how many milliseconds ago the
    /// latest was, whichever was asked.
    Counted { calls: u32, workers: u32, ago: u64 },
    /// It was not carried out, and will be after this.
    Again(Remedy),
    /// The server says that it will not, and why.
    Refused(String),
    /// No such thing was asked.
    Nonsense,
}

impl Reply {
    /// What the reply to [`record`] means, or a part of that to [`look`].
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::ServerError(_) => Self::of_error(value).unwrap_or(Self::Nonsense),
            Value::Array(numbers) => {
                let mut numbers = numbers.iter().map(number);
                let (calls, workers) = (numbers.next().flatten(), numbers.next().flatten());
                let ago = numbers.next().unwrap_or(Some(0));
                match (calls, workers, ago, numbers.next()) {
                    (Some(calls), Some(workers), Some(ago), None) => counts(calls, workers, ago),
                    _ => Self::Nonsense,
                }
            }
            _ => Self::Nonsense,
        }
    }

    /// What to do before the next request is sent.
    pub(super) fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Again(remedy) => Some(remedy.clone()),
            Self::Refused(why) if AWAY.iter().any(|code| why.starts_with(code)) => {
                Some(Remedy::Leave)
            }
            // Nobody knows what the next reply belongs to.
            Self::Nonsense => Some(Remedy::Leave),
            Self::Counted { .. } | Self::Refused(_) => None,
        }
    }

    /// What the reply means if it is an error.
    pub(super) fn of_error(value: &Value) -> Option<Self> {
        let Value::ServerError(error) = value else { return None };
        let details = error.details().unwrap_or_default();
        Some(match error.kind() {
            Some(ServerErrorKind::Moved) => match details.split_once(' ') {
                Some((_, node)) => Self::Again(Remedy::Move(node.to_string())),
                None => Self::Nonsense,
            },
            Some(ServerErrorKind::ResponseError) if details == "Function not found" => {
                Self::Again(Remedy::Load)
            }
            _ => Self::Refused(format!("{} {}", error.code(), cut(details))),
        })
    }
}

/// A server's own words may be long.
fn cut(words: &str) -> String {
    words.chars().take(200).collect()
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) if (0..=COUNT_MAX).contains(number) => Some(*number),
        _ => None,
    }
}

/// Calls that nobody made, and workers who made none, are no counts.
fn counts(calls: i64, workers: i64, ago: i64) -> Reply {
    if workers < 1 || calls < workers {
        return Reply::Nonsense;
    }
    let short = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    Reply::Counted { calls: short(calls), workers: short(workers), ago: ago.unsigned_abs() }
}

#[cfg(test)]
mod tests {
    use ::redis::parse_redis_value;

    use super::*;
    use crate::observation::Worker;

    fn reply(text: &str) -> Reply {
        Reply::of(&parse_redis_value(text.as_bytes()).expect("it is one"))
    }

    fn refused(why: &str) -> Reply {
        Reply::Refused(why.into())
    }

    #[test]
    fn a_reply_is_read_for_what_it_is() {
        let counted = |calls, workers, ago| Reply::Counted { calls, workers, ago };
        let away = "READONLY You can't write against a read only replica.";
        for (text, expected) in [
            ("*2\r\n:9\r\n:2\r\n", counted(9, 2, 0)),
            ("*3\r\n:9\r\n:9\r\n:70\r\n", counted(9, 9, 70)),
            ("*2\r\n:8589934592\r\n:1\r\n", counted(u32::MAX, 1, 0)),
            ("*2\r\n:9\r\n:0\r\n", Reply::Nonsense),
            ("*2\r\n:9\r\n:10\r\n", Reply::Nonsense),
            ("*2\r\n:-1\r\n:-1\r\n", Reply::Nonsense),
            ("*2\r\n:137438953472\r\n:1\r\n", Reply::Nonsense),
            ("*3\r\n:9\r\n:2\r\n:-1\r\n", Reply::Nonsense),
            ("*4\r\n:9\r\n:2\r\n:1\r\n:1\r\n", Reply::Nonsense),
            ("*1\r\n:9\r\n", Reply::Nonsense),
            ("*0\r\n", Reply::Nonsense),
            (":9\r\n", Reply::Nonsense),
            ("+OK\r\n", Reply::Nonsense),
            ("$-1\r\n", Reply::Nonsense),
            ("-MOVED 1 h:2\r\n", Reply::Again(Remedy::Move("h:2".into()))),
            ("-MOVED 1\r\n", Reply::Nonsense),
            ("-ERR Function not found\r\n", Reply::Again(Remedy::Load)),
            ("-ERR other\r\n", refused("ERR other")),
            ("-OOM too much\r\n", refused("OOM too much")),
            (&std::format!("-{away}\r\n"), refused(away)),
        ] {
            assert_eq!(reply(text), expected, "{text}");
        }
    }

    #[test]
    fn a_node_is_left_that_cannot_count_or_talks_nonsense() {
        for (reply, remedy) in [
            (refused("READONLY x"), Some(Remedy::Leave)),
            (refused("CLUSTERDOWN x"), Some(Remedy::Leave)),
            (Reply::Nonsense, Some(Remedy::Leave)),
            (Reply::Again(Remedy::Load), Some(Remedy::Load)),
            (refused("OOM x"), None),
            (Reply::Counted { calls: 1, workers: 1, ago: 0 }, None),
        ] {
            assert_eq!(reply.remedy(), remedy, "{reply:?}");
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
            let told = Told::of(&observation, &rule, &keys).expect("it counts");
            let label = told.label("a:b c\n");
            let tool = "a:b_c_".into();
            let expected = Label { id: told.id, outcome, allowance, tool };
            assert_eq!(Label::of(label.as_bytes()), Some(expected));
        }
    }

    #[test]
    fn what_is_no_label_is_none() {
        let id = "0123456789abcdef";
        for rest in ["", ":", ":u", ":un", ":xn:t", ":unn:t", "0:un:t"] {
            assert_eq!(Label::of(std::format!("{id}{rest}").as_bytes()), None, "{rest}");
        }
        assert_eq!(Label::of(b"\xff"), None);
    }

    #[test]
    fn an_estimate_of_the_workers_takes_no_less_than_there_may_be() {
        for (calls, workers, once) in
            [(1, 1, 0), (5, 3, 2), (64, 64, 0), (65, 64, 1), (100, 80, 0), (200, 80, 40)]
        {
            assert_eq!(counted(calls, workers, Allowance::None), calls);
            assert_eq!(counted(calls, workers, Allowance::Once), once, "{calls} of {workers}");
            assert_eq!(counted(calls, workers, Allowance::Any), 0);
        }
    }
}
