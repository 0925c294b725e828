//! The output for programs: whole lines of JSON with exactly the fields of schema 1.

use std::collections::BTreeSet;

use serde_json::Value;
use unstuck_text::CauseKind;
use unstuck_trace::Format;

use crate::harness::{PRESETS, RULE_SETS, evaluated, labels, listed, runs, scan, scanned, unstuck};

/// The fields of a trace.
const TRACE: [&str; 9] =
    ["schema", "path", "format", "session", "calls", "workers", "errors", "findings", "skipped"];

/// The fields of a trace about what it spent, each with its part after the first finding. A file without
/// tokens or times has none of them.
const SPENT: [(&str, &str); 3] =
    [("tokens", "tokens_after"), ("seconds", "seconds_after"), ("dollars", "dollars_after")];

/// The fields of a finding. One about failures may have a `cause`, too.
const FINDING: [&str; 16] = [
    "rule",
    "kind",
    "args",
    "result",
    "action",
    "tool",
    "worker",
    "period",
    "laps",
    "first_call",
    "at_call",
    "last_call",
    "loop",
    "confidence",
    "warning",
    "message",
];

/// The fields of a finding about text in addition to [`FINDING`].
const TEXT: [&str; 2] = ["first_message", "at_message"];

/// Checks that `object` has these fields and no other.
fn has_fields<'f>(object: &Value, fields: impl IntoIterator<Item = &'f str>) {
    let found: BTreeSet<&str> =
        object.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(found, fields.into_iter().collect(), "{object}");
}

/// Checks one trace against the schema.
pub(crate) fn check_trace(trace: &Value) {
    has_fields(trace, TRACE.into_iter().chain(spent(trace)).chain(hidden(trace)));
    assert_eq!(trace["schema"], 1);
    assert!(trace["path"].is_string());
    assert!(trace["format"].as_str().is_some_and(|name| name.parse::<Format>().is_ok()));
    assert!(trace["session"].is_string() || trace["session"].is_null());
    let calls = trace["calls"].as_u64().expect("a number of calls");
    assert!(trace["workers"].as_u64() <= Some(calls));
    assert!(trace["errors"].is_null() || trace["errors"].as_u64() <= Some(calls));
    assert!(trace["skipped"].is_u64());
    let findings = trace["findings"].as_array().expect("findings");
    for finding in findings {
        check_finding(finding, calls);
    }
    let places: Vec<u64> =
        findings.iter().filter_map(|finding| finding["at_call"].as_u64()).collect();
    assert!(places.is_sorted(), "{trace}");
}

/// Checks the number of calls without arguments. Returns its field, if it is there.
fn hidden(trace: &Value) -> Option<&'static str> {
    let hidden = trace.get("calls_without_arguments")?.as_u64().expect("a number of calls");
    assert!((1..=trace["calls"].as_u64()?).contains(&hidden), "{trace}");
    Some("calls_without_arguments")
}

/// Checks what the trace spent, and returns the fields that it must have.
fn spent(trace: &Value) -> Vec<&'static str> {
    let is_found = trace["findings"].as_array().is_some_and(|findings| !findings.is_empty());
    let mut fields = if is_found { vec!["calls_after"] } else { Vec::new() };
    assert!(!is_found || trace["calls_after"].as_u64() <= trace["calls"].as_u64(), "{trace}");
    for (total, after) in SPENT.into_iter().filter(|(total, _)| !trace[*total].is_null()) {
        fields.push(total);
        if is_found {
            fields.push(after);
        }
        if total == "tokens" {
            has_fields(&trace[total], ["input", "cached", "output"]);
        } else if is_found {
            assert!(trace[after].as_f64() <= trace[total].as_f64(), "{trace}");
        }
    }
    fields
}

fn check_finding(finding: &Value, calls: u64) {
    let number = |field: &str| finding[field].as_u64();
    if ["text", "echo"].contains(&finding["kind"].as_str().unwrap_or("")) {
        has_fields(finding, FINDING.into_iter().chain(TEXT));
        assert!(
            ["first_call", "at_call", "last_call", "tool"].iter().all(|f| finding[f].is_null())
        );
        assert!(number("first_message").expect("where") <= number("at_message").expect("where"));
        assert!(finding["warning"].is_null(), "{finding}");
    } else {
        has_fields(finding, FINDING.into_iter().chain(check_cause(finding)));
        assert!(
            ["streak", "recurrence", "cycle"].contains(&finding["kind"].as_str().unwrap_or(""))
        );
        assert!(finding["tool"].is_string());
        let [first, at, last] =
            ["first_call", "at_call", "last_call"].map(|field| number(field).expect("a call"));
        assert!(first <= last && first <= at && at.max(last) < calls, "{finding}");
        check_warning(&finding["warning"], at);
    }
    let one_of =
        |field: &str, words: &[&str]| words.contains(&finding[field].as_str().unwrap_or(""));
    assert!(one_of("args", &["same", "similar", "same_tool", "any"]), "{finding}");
    assert!(one_of("result", &["same", "near", "ignored"]), "{finding}");
    assert!(one_of("action", &["nudge", "warn", "block", "start_over", "stop"]), "{finding}");
    let id = finding["loop"].as_str().expect("an id");
    assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{finding}");
    assert!(number("confidence") <= Some(100) && number("laps") >= Some(2), "{finding}");
    assert!(number("period") >= Some(1), "{finding}");
    assert!(["rule", "worker", "message"].iter().all(|field| finding[field] != ""), "{finding}");
}

/// Checks the cause of a finding, which is told to the model unless the run ends. Returns its field, if it is there.
fn check_cause(finding: &Value) -> Option<&'static str> {
    let cause = finding.get("cause")?;
    has_fields(cause, ["kind", "subject", "text"]);
    let field = |name: &str| cause[name].as_str();
    let is_kind = |kind: &str| CauseKind::ALL.into_iter().any(|known| known.name() == kind);
    assert!(field("kind").is_some_and(is_kind), "{cause}");
    assert!(cause["subject"].is_null() || field("subject") != Some(""), "{cause}");
    let is_told = finding["message"].as_str().expect("a message").ends_with(field("text")?);
    let ends = ["start_over", "stop"].contains(&finding["action"].as_str()?);
    assert!(is_told != ends, "{finding}");
    Some("cause")
}

/// Checks the early warning of a finding at the call `at`.
fn check_warning(warning: &Value, at: u64) {
    if warning.is_null() {
        return;
    }
    has_fields(warning, ["rule", "held", "needed", "lead"]);
    let [held, needed, lead] =
        ["held", "needed", "lead"].map(|field| warning[field].as_u64().expect("a number"));
    assert!(1 <= held && held <= needed && lead <= at, "{warning}");
    assert!(warning["rule"].as_str().is_some_and(|rule| !rule.is_empty()), "{warning}");
}

#[test]
fn every_preset_keeps_to_the_schema() {
    for preset in PRESETS {
        let ran = scan(&runs(), &["--format", "jsonl", "--preset", preset]);
        assert_eq!(ran.exit, 1, "{preset}");
        assert!(ran.err.lines().all(|line| line.contains("stuck-talk.jsonl: no call")), "{preset}");
        let traces = ran.lines();
        assert_eq!(traces.len(), listed(&labels()).len(), "{preset}");
        traces.iter().for_each(check_trace);
    }
}

#[test]
fn every_preset_that_is_listed_can_be_chosen() {
    let listed = unstuck(["presets"]).out;
    let names: Vec<&str> = listed
        .lines()
        .filter(|line| !line.starts_with(' ') && !line.is_empty())
        .map(|line| line.split([' ', ',']).next().expect("a name"))
        .collect();
    assert!(names.iter().eq(PRESETS.iter().chain(&RULE_SETS)), "{names:?}");
    let alone: Vec<String> = names.iter().map(|name| unstuck(["presets", name]).out).collect();
    assert_eq!(alone.join("\n"), listed);
}

#[test]
fn one_document_holds_what_the_lines_hold() {
    let ran = scan(&runs(), &["--format", "json"]);
    let document: Value = serde_json::from_str(&ran.out).expect("one JSON document");
    has_fields(&document, ["schema", "traces"]);
    assert_eq!(document["schema"], 1);
    assert_eq!(document["traces"], Value::from(scanned(&runs()).lines()));
}

#[test]
fn scores_have_the_fields_of_the_table() {
    let ran = evaluated(&labels(), &runs(), &["--format", "jsonl"]).quiet(0);
    let scores = ran.lines();
    let names: Vec<&str> = scores.iter().filter_map(|score| score["preset"].as_str()).collect();
    assert_eq!(names, PRESETS);
    for score in &scores {
        let fields = [
            "preset",
            "source",
            "runs",
            "hits",
            "missed",
            "early",
            "false_alarms",
            "recall",
            "precision",
            "f1",
            "f1_interval",
            "false_alarm_rate",
            "false_alarm_rate_interval",
            "median_lag",
            "saved",
        ];
        has_fields(score, fields);
        assert_eq!(score["runs"], listed(&labels()).len(), "{score}");
    }
}
