//! A finding as it leaves the receiver: one line of JSON with an id.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unstuck_core::Action;
use unstuck_json::{Hash64 as _, Rapid};
use unstuck_report::html::IncludeArgs;
use unstuck_report::json::json;
use unstuck_report::line::{FindingLine, SCHEMA};
use unstuck_report::replay::{Excerpt, ReplayFinding};
use unstuck_report::shown::{plain, shortened};
use unstuck_trace::otlp::{SpanId, TraceId, hexadecimal};

/// The most calls that are listed as evidence, the latest ones.
const CALLS_MAX: usize = 32;

/// The most bytes of a line, with its line break. Its readers need a limit.
pub(super) const LINE_MAX: usize = 1 << 20;

/// The most columns of a name, and of the message, in a line that would be too long.
const NAME_MAX: usize = 1024;

/// A finding, ready to be written and sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Finding {
    /// The id: 16 hexadecimal digits. The same spans give the same finding the same id, so that receivers can
    /// recognise one that they get twice.
    pub(super) id: String,
    /// The time of the span that completed the loop, in nanoseconds since 1970.
    pub(super) time: u64,
    /// The trace and the span of that call or message.
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    /// `true` if the action blocks, or ends the run.
    pub(super) is_error: bool,
    /// One JSON object, without a line break, shorter than [`LINE_MAX`].
    pub(super) line: String,
}

/// The span of a call or of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The index of the call or the message in its session.
    pub(super) index: usize,
    pub(super) trace: TraceId,
    pub(super) span: SpanId,
    /// The time of its end, in nanoseconds since 1970.
    pub(super) end: u64,
}

/// The line of a finding: the members of one of `unstuck scan`, with its spans.
#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    id: &'a str,
    time: String,
    session: Cow<'a, str>,
    trace_id: String,
    span_id: String,
    #[serde(flatten)]
    found: FindingLine<'a>,
    evidence: Vec<Evidence>,
}

/// A call or a message that proves the loop.
#[derive(Serialize)]
struct Evidence {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

impl Finding {
    /// Returns `found` with the spans of its calls or messages, as far back as `origins` has them. `latest`
    /// is the span that completed it.
    pub(super) fn of(
        session: &str,
        found: &ReplayFinding,
        latest: Origin,
        origins: &impl Fn(usize) -> Option<Origin>,
        include: IncludeArgs,
    ) -> Self {
        let (_, at, _) = found.location.numbers();
        let origin = origins(at).unwrap_or(latest);
        let Origin { trace, span, end, .. } = origin;
        let id = id(session, found, &origin);
        let first = found.proof.len().saturating_sub(CALLS_MAX);
        let evidence = found.proof[first..].iter();
        let line = Line {
            schema: SCHEMA,
            id: &id,
            time: time(end),
            session: session.into(),
            trace_id: hexadecimal(&trace),
            span_id: hexadecimal(&span),
            found: FindingLine::of(found, None),
            evidence: evidence
                .map(|call| Evidence::of(call, origins(call.index), include))
                .collect(),
        };
        let line = line.within(LINE_MAX - 1);
        Self { id, time: end, trace, span, is_error: found.action >= Action::Block, line }
    }
}

impl Line<'_> {
    /// Returns the JSON. If it would be longer than `most`, the arguments and results of the evidence are left out,
    /// then the evidence, then the ends of the names and of the message.
    fn within(mut self, most: usize) -> String {
        let cuts: [fn(&mut Self); 3] = [
            |line| line.evidence.iter_mut().for_each(Evidence::strip),
            |line| line.evidence.clear(),
            |line| {
                line.session = shortened(&plain(&line.session), NAME_MAX).into();
                line.found.shorten(NAME_MAX);
            },
        ];
        let mut text = json(&self);
        for cut in cuts {
            if text.len() <= most {
                break;
            }
            cut(&mut self);
            text = json(&self);
        }
        text
    }
}

impl Evidence {
    fn of(call: &Excerpt, origin: Option<Origin>, include: IncludeArgs) -> Self {
        let result = call.result.as_ref();
        Self {
            index: call.index,
            tool: call.tool.as_deref().map(plain),
            trace_id: origin.map(|origin| hexadecimal(&origin.trace)),
            span_id: origin.map(|origin| hexadecimal(&origin.span)),
            text: include.excerpt(&call.text),
            result: result.and_then(|result| include.excerpt(&result.text)),
            failed: result.is_some_and(|result| result.failed),
        }
    }

    fn strip(&mut self) {
        (self.text, self.result) = (None, None);
    }
}

/// Returns the id of a finding: a hash of the session, the loop, the rung and the span that completed it.
fn id(session: &str, found: &ReplayFinding, origin: &Origin) -> String {
    let finding = &found.finding;
    let text = format!(
        "{session}\n{}\n{}\n{}\n{}\n{}\n{}{}",
        found.worker,
        finding.loop_id,
        found.rule,
        found.action.name(),
        finding.laps,
        hexadecimal(&origin.trace),
        hexadecimal(&origin.span)
    );
    format!("{:016x}", Rapid::new(u64::from(SCHEMA)).hash(text.as_bytes()))
}

/// Returns a time by RFC 3339, in UTC with milliseconds. `nanoseconds` counts since 1970. The date is found as in
/// <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>.
fn time(nanoseconds: u64) -> String {
    const DAY: u64 = 24 * 3600;
    let (seconds, millis) = (nanoseconds / 1_000_000_000, nanoseconds / 1_000_000 % 1000);
    let clock = seconds % DAY;
    // Years begin in March, so that a leap day is the last day of its year, and eras have 400 years.
    let days = seconds / DAY + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = 400 * era + year + next;
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use unstuck_report::replay::Replay;
    use unstuck_text::PRESETS;
    use unstuck_trace::{Args, Call, Event, Outcome};

    use super::*;

    const ORIGIN: Origin = Origin { index: 0, trace: [1; 16], span: [2; 8], end: 3 };

    /// Returns the last finding in calls that are equal and fail.
    fn found(tool: &str, worker: &str) -> ReplayFinding {
        let mut replay = Replay::new(&PRESETS[0]);
        for (index, step) in (0..9).zip(0..) {
            let args = Args::Json("{\"target\":\"all\"}");
            replay.take(&Event::Call(Call { index, worker, step, tool, args }));
            let text = "error: no rule to make it";
            let (failed, cut, refused) = (true, None, false);
            let outcome = Outcome { call: index, worker, text, failed, cut, refused };
            replay.take(&Event::Outcome(outcome));
        }
        replay.take_findings().next_back().expect("a finding")
    }

    #[test]
    fn a_line_that_is_too_long_loses_its_evidence_before_its_names() {
        let found = found("make", "main");
        let line = |most| {
            let proof = found.proof.iter();
            let line = Line {
                schema: SCHEMA,
                id: "0123456789abcdef",
                time: time(0),
                session: "a session".into(),
                trace_id: hexadecimal(&ORIGIN.trace),
                span_id: hexadecimal(&ORIGIN.span),
                found: FindingLine::of(&found, None),
                evidence: proof.map(|call| Evidence::of(call, None, IncludeArgs::Full)).collect(),
            };
            line.within(most)
        };
        let whole = line(usize::MAX);
        assert_eq!(line(whole.len()), whole);
        let mut before = whole;
        for (texts, calls) in [(false, true), (false, false)] {
            let line = line(before.len() - 1);
            assert!(line.len() < before.len());
            let value: Value = serde_json::from_str(&line).expect("JSON");
            let evidence = value["evidence"].as_array().expect("a list");
            assert_eq!(evidence.iter().any(|call| call.get("text").is_some()), texts, "{line}");
            assert_eq!(!evidence.is_empty(), calls, "{line}");
            assert_eq!((&value["session"], &value["tool"]), (&"a session".into(), &"make".into()));
            before = line;
        }
    }

    #[test]
    fn a_line_is_bounded_whatever_the_names_are() {
        for letter in ["a", "\u{1b}"] {
            let name = &*letter.repeat(LINE_MAX / letter.len() / 2 + 1);
            for (session, tool, worker) in [(name, "t", name), (name, name, "w")] {
                let (found, include) = (found(tool, worker), IncludeArgs::Full);
                let finding = Finding::of(session, &found, ORIGIN, &|_| Some(ORIGIN), include);
                assert!(finding.line.len() < LINE_MAX, "{letter:?}: {}", finding.line.len());
                let value: Value = serde_json::from_str(&finding.line).expect("JSON");
                assert_eq!(value["id"].as_str(), Some(&*finding.id));
                assert!(value["session"].is_string() && value["rule"].is_string());
            }
        }
    }

    #[test]
    fn a_time_is_written_by_rfc_3339() {
        for (milliseconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_000, "2024-02-29T23:59:59.000Z"),
            (1_798_761_599_500, "2026-12-31T23:59:59.500Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            // The last millisecond that fits.
            (u64::MAX, "2554-07-21T23:34:33.709Z"),
        ] {
            assert_eq!(time(u64::saturating_mul(milliseconds, 1_000_000)), expected);
        }
    }
}
