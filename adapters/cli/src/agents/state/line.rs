//! A finding in JSON, for `unstuck report` and webhooks.

use serde::Serialize;

use super::journal::Entry;
use super::session::{FindingRecord, Said};

/// The version of the JSON lines. An added field does not change it.
const SCHEMA: u32 = 1;

/// A finding in JSON.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    schema: u32,
    /// In milliseconds since 1970.
    at: u64,
    agent: &'a str,
    session: &'a str,
    worker: &'a str,
    cwd: Option<&'a str>,
    rule: &'a str,
    kind: &'a str,
    tool: &'a str,
    /// A description of what recurs.
    what: &'a str,
    action: &'a str,
    said: Said,
    observed: bool,
    r#loop: String,
    period: u64,
    laps: u64,
    /// The number of calls of the worker until then.
    call: u64,
}

impl<'a> Line<'a> {
    pub(crate) fn of(entry: &'a Entry, finding: &'a FindingRecord) -> Self {
        Self {
            schema: SCHEMA,
            at: finding.at,
            agent: &entry.agent,
            session: &entry.session,
            worker: &entry.worker,
            cwd: entry.cwd.as_deref(),
            rule: &finding.rule,
            kind: &finding.kind,
            tool: &finding.tool,
            what: &finding.what,
            action: &finding.action,
            said: finding.said,
            observed: finding.observed,
            r#loop: finding.loop_id.to_string(),
            period: finding.period,
            laps: finding.laps,
            call: finding.call,
        }
    }
}
