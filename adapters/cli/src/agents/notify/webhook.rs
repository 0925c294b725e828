//! Notifications at a webhook: one JSON object, which Slack understands, too.

use std::env;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Serialize;
use tokio::runtime::Builder;
use tokio::task::LocalSet;
use tokio::time::sleep;
use unstuck_report::json::json;

use super::{escaped, text};
use crate::agents::state::{Entry, Line, What, digest};
use crate::time::now;
use crate::webhook::{Answer, SECRET, Secret, Target, sign, target};

/// The number of attempts, and the pause between two.
const ATTEMPTS: usize = 3;
const PAUSE: Duration = Duration::from_secs(2);

/// The longest pause that a server may ask for.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// The body of a request: the members of a line of `unstuck report --format jsonl`, an id and a text.
#[derive(Serialize)]
struct Body<'a> {
    /// The line for a person. Slack shows it, and wants `&`, `<` and `>` as entities.
    text: String,
    /// The id of the notification.
    id: &'a str,
    #[serde(flatten)]
    finding: Option<Line<'a>>,
}

/// Returns a line on the server and the signature.
pub(super) fn state(url: &str) -> Result<String, String> {
    let target = target(super::WHERE, url, "/")?;
    let signed = match secret()? {
        Some(_) => "signed",
        None => "not signed, because UNSTUCK_WEBHOOK_SECRET is not set here",
    };
    Ok(format!("tells {} of loops, {signed}", target.host()))
}

/// Sends `finding`.
pub(super) fn send(url: &str, finding: &Entry) -> Result<(), String> {
    let (target, secret) = (Target::parse(url, "/")?, secret()?);
    let Entry { agent, session, worker, at, .. } = finding;
    let id = format!("{:016x}", digest(&[agent, session, worker, &at.to_string()]));
    let line = match &finding.what {
        What::Found(found) => Some(Line::of(finding, found)),
        What::Ended { .. } => None,
    };
    let body = json(&Body { text: escaped(&text(finding)), id: &id, finding: line });
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    sign(&mut headers, &id, &body, now() / 1000, secret.as_ref());
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    match LocalSet::new().block_on(&runtime, posted(&target, &headers, body.into())) {
        Answer::Taken => Ok(()),
        Answer::Refused(status) | Answer::Later(status, _) => {
            Err(format!("{} answered {status}", target.host()))
        }
        Answer::Missing(why) => Err(format!("{} gave no answer: {why}", target.host())),
    }
}

/// Sends a body until the server has decided, a few times. Returns the last answer.
async fn posted(target: &Target, headers: &HeaderMap, body: Bytes) -> Answer {
    let mut answer = target.post(headers, body.clone()).await;
    for _ in 1..ATTEMPTS {
        let pause = match answer {
            Answer::Taken | Answer::Refused(_) => break,
            Answer::Later(_, least) => least.unwrap_or(PAUSE).min(PAUSE_MAX),
            Answer::Missing(_) => PAUSE,
        };
        sleep(pause).await;
        answer = target.post(headers, body.clone()).await;
    }
    answer
}

/// Returns the secret in the environment, if there is one.
fn secret() -> Result<Option<Secret>, String> {
    let text = env::var(SECRET).unwrap_or_default();
    if text.trim().is_empty() {
        return Ok(None);
    }
    Secret::parse(&text).map(Some).map_err(|why| format!("the secret in {SECRET} {why}"))
}
