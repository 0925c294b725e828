//! Repeated calls through the hook of Claude Code: each must be refused in time, or never.
//!
//! A row of `judgement.jsonl` is a call that an agent makes again and again, or a round of calls,
//! and the verdict that a competent supervisor would agree with. Each event starts a process, as in
//! the agent itself.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::harness::{effort, shared};
use crate::hook::{Hooks, Wire};
use crate::noise::{hex, uuid};

/// The rounds of a row that says nothing else.
const ROUNDS: usize = 12;

/// The first call that may be refused if a row says nothing else: anyone may try three times.
const FIRST: usize = 4;

/// The processes that run at a time.
const WORKERS: usize = 4;

/// A call, or a round of calls, that an agent repeats, and what it may meet.
///
/// Arguments and results may hold placeholders, which [`expanded`] fills in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// The reason for the verdict, for a person.
    #[serde(default)]
    why: String,
    /// The user's words before each round, if there are any.
    prompt: Option<String>,
    tool: String,
    args: Value,
    results: Vec<String>,
    #[serde(default)]
    failed: bool,
    /// The other calls of a round.
    #[serde(default)]
    then: Vec<Call>,
    /// The number of rounds. Without it there is one for each result, or [`ROUNDS`] if there is only
    /// one result.
    times: Option<usize>,
    /// The weakest answer that no call may meet.
    never: Option<Never>,
    /// The number of the call, from 1, that must be refused at the latest.
    block_by: Option<usize>,
    /// The number of the call, from 1, that may be refused at the earliest, if it is not [`FIRST`].
    not_before: Option<usize>,
}

/// A call of each round.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    args: Value,
    /// The results in turn, one each round.
    results: Vec<String>,
    #[serde(default)]
    failed: bool,
}

/// An answer that a row forbids, with everything stronger.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Never {
    /// Even a note to the model is forbidden.
    Nudge,
    /// A refusal and the end of the run are forbidden; notes are allowed.
    Block,
}

impl Row {
    /// The calls of a round.
    fn round(&self) -> Vec<Call> {
        let first = Call {
            tool: self.tool.clone(),
            args: self.args.clone(),
            results: self.results.clone(),
            failed: self.failed,
        };
        [vec![first], self.then.clone()].concat()
    }

    fn rounds(&self) -> usize {
        self.times.unwrap_or(if self.results.len() > 1 { self.results.len() } else { ROUNDS })
    }
}

/// The first reactions of the hook to a row, each with the number of a call.
#[derive(Debug, Default, PartialEq, Eq)]
struct Reactions {
    calls: usize,
    noted: Option<usize>,
    refused: Option<usize>,
    /// The text of the refusal, or of the first note if nothing was refused.
    words: String,
}

impl Reactions {
    fn note(&mut self, call: usize, words: &str) {
        if self.noted.is_none() {
            self.noted = Some(call);
            self.words = text(words);
        }
    }

    fn refuse(&mut self, call: usize, words: &str) {
        self.note(call, "");
        self.refused = Some(call);
        self.words = text(words);
    }
}

/// The text in the last line of the hook's answer, as the model reads it.
fn text(answer: &str) -> String {
    let line = answer.lines().last().and_then(|line| serde_json::from_str(line).ok());
    let line: Value = line.unwrap_or_default();
    let specific = &line["hookSpecificOutput"];
    let texts = [
        &specific["permissionDecisionReason"],
        &specific["additionalContext"],
        &line["stopReason"],
        &line["reason"],
    ];
    texts.iter().find_map(|text| text.as_str()).unwrap_or(answer).to_owned()
}

/// Makes the calls of a row until one is refused.
fn run(row: &Row) -> Reactions {
    let hooks = Hooks::of("claude-code");
    let wire = Wire(hooks.agent);
    let mut reactions = Reactions::default();
    for n in 1..=row.rounds() {
        if let Some(prompt) = &row.prompt {
            hooks.tell(wire.prompt(&expanded(prompt, n)).to_string());
        }
        for call in row.round() {
            reactions.calls += 1;
            step(&hooks, &call, n, &mut reactions);
            if reactions.refused.is_some() {
                return reactions;
            }
        }
    }
    reactions
}

/// Makes the call of round `n`.
fn step(hooks: &Hooks, call: &Call, n: usize, reactions: &mut Reactions) {
    let number = reactions.calls;
    let fields = call.fields(n, number);
    let before = hooks.tell(Wire(hooks.agent).event("PreToolUse", "", &fields).to_string());
    if refuses(&before) {
        return reactions.refuse(number, &before);
    }
    let answers = [before, hooks.tell(call.answered(fields, n).to_string())].concat();
    if refuses(&answers) {
        // A run that ends after a call is one that refuses the next.
        reactions.refuse(number + 1, &answers);
    } else if !answers.is_empty() {
        reactions.note(number, &answers);
    }
}

/// Returns whether an answer of the hook denies a call or ends the run.
fn refuses(answer: &str) -> bool {
    let ends = |line: Value| {
        line["continue"] == json!(false)
            || line["decision"] == json!("block")
            || line["hookSpecificOutput"]["permissionDecision"] == json!("deny")
    };
    answer.lines().any(|line| ends(serde_json::from_str(line).expect("an answer in JSON")))
}

impl Call {
    /// The members of a payload that describe the call of round `n`.
    fn fields(&self, n: usize, number: usize) -> Value {
        let args = expanded(&self.args.to_string(), n);
        let args: Value = serde_json::from_str(&args).expect("arguments in JSON");
        let id = format!("toolu_{number:04}");
        json!({ "tool_name": self.tool, "tool_input": args, "tool_use_id": id })
    }

    /// The event that ends the call of round `n`.
    fn answered(&self, mut fields: Value, n: usize) -> Value {
        let result = expanded(&self.results[(n - 1) % self.results.len()], n);
        let wire = Wire("claude-code");
        if self.failed {
            fields["error"] = result.into();
            fields["is_interrupt"] = false.into();
            return wire.event("PostToolUseFailure", "", &fields);
        }
        fields["tool_response"] = self.response(&result);
        wire.event("PostToolUse", "", &fields)
    }

    /// A result in the shape that the tool gives it.
    fn response(&self, result: &str) -> Value {
        match self.tool.as_str() {
            "Bash" => json!({
                "stdout": result, "stderr": "", "interrupted": false, "isImage": false
            }),
            "Read" => json!({
                "type": "text",
                "file": { "filePath": self.args["file_path"], "content": result }
            }),
            tool if tool.starts_with("mcp__") => json!([{ "type": "text", "text": result }]),
            _ => result.into(),
        }
    }
}

/// `text` in round `n`, with its placeholders filled in.
///
/// `{n}` is the number of the round, `{nn}` the same in two digits, `{left}` counts down and
/// `{clock}` is a time that advances. `{hex}` is a hash of 40 digits, `{short}` one of 7 and `{uuid}`
/// an identifier, each different in each round.
fn expanded(text: &str, n: usize) -> String {
    let hash = hex(n, 40);
    [
        ("{n}", n.to_string()),
        ("{nn}", format!("{n:02}")),
        ("{left}", (60 - n).to_string()),
        ("{clock}", format!("12:{:02}:{:02}", n, n * 7 % 60)),
        ("{short}", hash[..7].to_owned()),
        ("{hex}", hash),
        ("{uuid}", uuid(n)),
    ]
    .iter()
    .fold(text.to_owned(), |text, (placeholder, value)| text.replace(placeholder, value))
}

/// The complaint about reactions that the row does not allow.
fn complaint(row: &Row, reactions: &Reactions) -> Option<String> {
    let message = |what: &str, call| Some(format!("{what} at call {call}: {}", reactions.words));
    match (row.never, reactions.noted, reactions.refused) {
        (Some(_), _, Some(call)) => return message("refused", call),
        (Some(Never::Nudge), Some(call), _) => return message("a note", call),
        _ => {}
    }
    match (row.block_by, reactions.refused) {
        (Some(_), Some(call)) if call < row.not_before.unwrap_or(FIRST) => {
            message("refused too early", call)
        }
        (Some(last), Some(call)) if call > last => message("refused too late", call),
        (Some(_), None) => Some(format!("not refused in {} calls", reactions.calls)),
        _ => None,
    }
}

/// The rows of a file, each with its line number.
fn table(path: &Path) -> Vec<(usize, Row)> {
    let text = fs::read_to_string(path).expect("a table");
    let row = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    text.lines().enumerate().map(|(index, line)| (index + 1, row(line))).collect()
}

/// Runs all rows and panics with a list of those that went wrong.
fn judge(rows: &[(usize, Row)]) {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some((line, row)) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let Some(complaint) = complaint(row, &run(row)) else { continue };
                    let line_text = format!(
                        "line {line}, {} {} ({}): {complaint}",
                        row.tool, row.args, row.why
                    );
                    wrong.lock().expect("a list").push((*line, line_text));
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("a list");
    wrong.sort();
    let lines: Vec<_> = wrong.into_iter().map(|(_, text)| text).collect();
    assert!(lines.is_empty(), "{} of {} rows:\n{}", lines.len(), rows.len(), lines.join("\n"));
}

/// The table beside this file.
fn own() -> Vec<(usize, Row)> {
    table(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/judgement.jsonl"))
}

#[test]
fn repeated_calls_are_judged_as_a_supervisor_would() {
    // A row runs a hook for each of its calls: thousands of processes in all.
    let distance = [24, 4, 1][effort()];
    judge(&own().into_iter().step_by(distance).collect::<Vec<_>>());
}

#[test]
fn shared_rows_are_judged_as_they_ask() {
    let Some(path) = shared("").map(|folder| folder.join("judgement.jsonl")) else { return };
    if path.is_file() {
        judge(&table(&path));
    } else {
        eprintln!("skipped: no {}", path.display());
    }
}

#[test]
fn every_row_expects_something_once() {
    let rows = own();
    let mut seen = std::collections::BTreeSet::new();
    for (line, row) in &rows {
        assert_ne!(row.never.is_some(), row.block_by.is_some(), "line {line}");
        assert!(row.not_before.is_none_or(|first| Some(first) <= row.block_by), "line {line}");
        let calls = row.rounds() * row.round().len();
        assert!(row.block_by.is_none_or(|last| last <= calls), "line {line}: only {calls} calls");
        assert!(row.round().iter().all(|call| !call.results.is_empty()), "line {line}");
        assert!(!row.why.is_empty(), "line {line}");
        assert!(seen.insert(format!("{row:?}")), "line {line} is there twice");
    }
    assert!(rows.len() >= 120, "only {} rows", rows.len());
}

#[test]
fn reactions_are_compared_with_their_row() {
    let row = |expected: &str| -> Row {
        let start = r#"{"tool":"t","args":{},"results":["ok"],"#;
        serde_json::from_str(&format!("{start}{expected}}}")).expect("a row")
    };
    let reactions = |noted, refused| Reactions { calls: 12, noted, refused, words: String::new() };
    for (expected, noted, refused, is_right) in [
        (r#""never":"block""#, None, None, true),
        (r#""never":"block""#, Some(3), None, true),
        (r#""never":"block""#, Some(3), Some(6), false),
        (r#""never":"nudge""#, None, None, true),
        (r#""never":"nudge""#, Some(3), None, false),
        (r#""block_by":6"#, Some(3), Some(6), true),
        (r#""block_by":6"#, Some(3), Some(7), false),
        (r#""block_by":6"#, Some(3), None, false),
        (r#""block_by":6"#, Some(2), Some(3), false),
        (r#""block_by":9,"not_before":7"#, Some(3), Some(6), false),
        (r#""block_by":9,"not_before":7"#, Some(3), Some(7), true),
    ] {
        let complaint = complaint(&row(expected), &reactions(noted, refused));
        assert_eq!(complaint.is_none(), is_right, "{expected} {noted:?} {refused:?}");
    }
}

#[test]
fn answers_that_end_something_refuse() {
    for (answer, expected) in [
        ("", false),
        (r#"{"hookSpecificOutput":{"additionalContext":"deny"}}"#, false),
        (r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#, true),
        (r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, false),
        (r#"{"decision":"block"}"#, true),
        (r#"{"continue":false}"#, true),
        (r#"{"continue":true}"#, false),
    ] {
        assert_eq!(refuses(answer), expected, "{answer}");
    }
}

#[test]
fn placeholders_differ_in_each_round() {
    assert_eq!(
        expanded(r#"{"a": "{n} of {left}"} at {clock}"#, 3),
        r#"{"a": "3 of 57"} at 12:03:21"#
    );
    for placeholder in ["{n}", "{nn}", "{left}", "{clock}", "{hex}", "{short}", "{uuid}"] {
        let values: std::collections::BTreeSet<_> =
            (1..=40).map(|n| expanded(placeholder, n)).collect();
        assert_eq!(values.len(), 40, "{placeholder}: {values:?}");
    }
    assert_eq!(expanded("{hex}", 1).len(), 40);
    assert_eq!(expanded("{uuid}", 1).len(), 36);
}
