//! Sends findings to servers, and retries until they are accepted.
//!
//! A finding is sent at least once. If the program is killed between the answer and the entry in the journal,
//! it sends the finding again with the same id.
//!
//! The exporters of OpenTelemetry keep what they send in memory and drop it when they are full or the server is away.
//! Here a finding stays in the journal until a server has taken it, so its log record is written with [`Message`].

use std::rc::Rc;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use unstuck_report::shown::plain;

use super::finding::Finding;
use super::outputs::Output;
use super::protobuf::Message;
use super::server::Shared;
use crate::output::remark;
use crate::time::now;
use crate::webhook::{Answer, Secret, Target, sign};

/// The first and the longest pause before another attempt.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(300);

/// The age at which a finding is dropped if no attempt could deliver it.
const GIVE_UP: Duration = Duration::from_secs(24 * 3600);

/// The most findings in one request of log records.
const BATCH_MAX: usize = 64;

/// The sender for one output.
pub(super) struct Sender {
    pub(super) output: Output,
    pub(super) target: Target,
    pub(super) headers: HeaderMap,
    /// The secret of a webhook.
    pub(super) secret: Option<Secret>,
}

impl Sender {
    /// Sends queued findings until the program ends.
    pub(super) async fn run(self: Rc<Self>, shared: Rc<Shared>) {
        let (mut pause, mut since) = (PAUSE_MIN, None::<Instant>);
        loop {
            let findings = self.wait(&shared).await;
            let answer = self.send(&findings).await;
            let has_expired = since.is_some_and(|since| since.elapsed() > GIVE_UP);
            let reason = match &answer {
                Answer::Taken => None,
                Answer::Refused(_) => Some("refused"),
                Answer::Later(..) | Answer::Missing(_) if has_expired => Some("expired"),
                Answer::Later(..) | Answer::Missing(_) => {
                    if since.replace(since.unwrap_or_else(Instant::now)).is_none() {
                        self.complain(&answer, "The findings are kept and sent again");
                    }
                    let least = if let Answer::Later(_, least) = answer { least } else { None };
                    sleep(least.unwrap_or_default().min(PAUSE_MAX).max(jittered(pause))).await;
                    pause = (2 * pause).min(PAUSE_MAX);
                    continue;
                }
            };
            if let Some(reason) = reason {
                for finding in &findings {
                    shared.receiver.borrow_mut().dropped(self.output, finding, reason);
                }
                self.complain(&answer, "Findings were dropped");
            } else {
                shared.receiver.borrow_mut().sent(self.output, &findings);
            }
            (pause, since) = (PAUSE_MIN, None);
        }
    }

    /// Sends the queued findings once, at the end of the program.
    pub(super) async fn flush(&self, shared: &Shared) {
        loop {
            let findings = self.next(shared);
            if findings.is_empty() || self.send(&findings).await != Answer::Taken {
                return;
            }
            shared.receiver.borrow_mut().sent(self.output, &findings);
        }
    }

    /// Waits until there are findings, and returns the first ones.
    async fn wait(&self, shared: &Shared) -> Vec<Finding> {
        loop {
            let findings = self.next(shared);
            if !findings.is_empty() {
                return findings;
            }
            let notify = Rc::clone(&shared.receiver.borrow_mut().outputs.queue(self.output).notify);
            notify.notified().await;
        }
    }

    /// Returns the first findings that wait. They stay in the queue until they are taken.
    fn next(&self, shared: &Shared) -> Vec<Finding> {
        let most = if self.output == Output::Forward { BATCH_MAX } else { 1 };
        let mut receiver = shared.receiver.borrow_mut();
        receiver.outputs.queue(self.output).findings.iter().take(most).cloned().collect()
    }

    async fn send(&self, findings: &[Finding]) -> Answer {
        let mut headers = self.headers.clone();
        let (kind, body) = match self.output {
            Output::Lines | Output::Webhook => {
                let Finding { id, line, .. } = &findings[0];
                sign(&mut headers, id, line, now() / 1000, self.secret.as_ref());
                ("application/json", Bytes::from(line.clone()))
            }
            Output::Forward => ("application/x-protobuf", Bytes::from(logs(findings, now()))),
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        self.target.post(&headers, body).await
    }

    fn complain(&self, answer: &Answer, then: &str) {
        let why = match answer {
            Answer::Refused(status) | Answer::Later(status, _) => {
                format!("the server answered {status}")
            }
            Answer::Missing(why) => why.clone(),
            Answer::Taken => return,
        };
        remark(&format!("--{}", self.output.name()), &format!("{why}. {then}"));
    }
}

/// Returns a random time between half of `pause` and `pause`, so that many senders do not retry at once.
fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(0.5 + 0.5 * fastrand::f64())
}

/// Returns an `ExportLogsServiceRequest` with a log record for each finding.
pub(super) fn logs(findings: &[Finding], now: u64) -> Vec<u8> {
    let resource = Message::default().message(1, &attribute("service.name", &text("unstuck")));
    let scope = Message::default().bytes(1, "unstuck").bytes(2, env!("CARGO_PKG_VERSION"));
    let mut of_scope = Message::default().message(1, &scope);
    for finding in findings {
        of_scope = of_scope.message(2, &record(finding, now));
    }
    let of_resource = Message::default().message(1, &resource).message(2, &of_scope);
    Message::default().message(1, &of_resource).into_bytes()
}

/// Returns the log record of a finding.
fn record(finding: &Finding, now: u64) -> Message {
    const NAME: &str = "unstuck.finding";
    const WARN: (u64, &str) = (13, "WARN");
    const ERROR: (u64, &str) = (17, "ERROR");
    let (number, severity) = if finding.is_error { ERROR } else { WARN };
    // This program wrote the line, so it is valid.
    let line: Value = serde_json::from_str(&finding.line).unwrap_or_default();
    let mut record = Message::default()
        .eight(1, finding.time)
        .number(2, number)
        .bytes(3, severity)
        .message(5, &text(&plain(line["message"].as_str().unwrap_or_default())))
        .message(6, &attribute("event.name", &text(NAME)));
    for (member, name) in ATTRIBUTES {
        let value = match &line[member] {
            Value::String(value) => text(&plain(value)),
            Value::Number(value) => {
                Message::default().number(3, value.as_u64().unwrap_or_default())
            }
            _ => continue,
        };
        record = record.message(6, &attribute(name, &value));
    }
    record
        .bytes(9, finding.trace)
        .bytes(10, finding.span)
        .eight(11, now.saturating_mul(1_000_000))
        .bytes(12, NAME)
}

/// The attributes of a log record, by the members of the line.
const ATTRIBUTES: [(&str, &str); 12] = [
    ("session", "gen_ai.conversation.id"),
    ("worker", "gen_ai.agent.name"),
    ("tool", "gen_ai.tool.name"),
    ("id", "unstuck.id"),
    ("rule", "unstuck.rule"),
    ("kind", "unstuck.kind"),
    ("action", "unstuck.action"),
    ("laps", "unstuck.count"),
    ("period", "unstuck.period"),
    ("loop", "unstuck.loop"),
    ("confidence", "unstuck.confidence"),
    ("at_call", "unstuck.call"),
];

pub(super) fn text(value: &str) -> Message {
    Message::default().bytes(1, value)
}

pub(super) fn attribute(key: &str, value: &Message) -> Message {
    Message::default().bytes(1, key).message(2, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_records_have_no_control_characters() {
        let members = ATTRIBUTES.map(|(member, _)| member).into_iter().chain(["message"]);
        let line: serde_json::Map<_, _> =
            members.map(|member| (member.to_owned(), "a\u{1b}]0;b\u{9b}31m".into())).collect();
        let finding = Finding {
            id: "c".to_owned(),
            time: 0,
            trace: [0; 16],
            span: [0; 8],
            is_error: false,
            line: Value::Object(line).to_string(),
        };
        let record = logs(&[finding], 0);
        let count =
            |text: &str| record.windows(text.len()).filter(|at| *at == text.as_bytes()).count();
        assert_eq!(count("a\u{fffd}]0;b\u{fffd}31m"), ATTRIBUTES.len() + 1);
        assert_eq!((count("\u{1b}]"), count("\u{9b}")), (0, 0));
    }

    #[test]
    fn pauses_vary() {
        for _ in 0..100 {
            let pause = jittered(PAUSE_MAX);
            assert!(pause >= PAUSE_MAX / 2 && pause <= PAUSE_MAX);
        }
    }
}
