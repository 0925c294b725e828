//! The rule sets of other agents find loops where those agents do.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::{Folder, Ran, record, scan, unstuck};

/// The number of calls in each scenario.
const CALLS: usize = 60;

/// The rule sets, in the order in which they are listed.
pub(crate) const RULE_SETS: [&str; 6] =
    ["openhands", "gemini-cli", "crush", "cline", "stella", "forge"];

/// Scenarios: a description, the agent's calls, and the call at which each rule set speaks first,
/// counted from 1. 0 means never.
type Scenario = (&'static str, fn(usize) -> String, [usize; 6]);

/// Gemini CLI and Forge compare the spelling of arguments, which this engine cannot express. For
/// them, alternating orders of keys are a cycle of 2.
const SCENARIOS: [Scenario; 24] = [
    ("same call, same result", |_| call("bash", "make", "stop"), [4, 5, 10, 3, 3, 3]),
    (
        "same call, changing result",
        |n| call("bash", "jobs", &format!("{n} done")),
        [0, 5, 0, 3, 0, 3],
    ),
    ("a lap of 2", |n| lap(n, 2), [6, 10, 0, 0, 5, 6]),
    ("a lap of 3", |n| lap(n, 3), [0, 15, 0, 0, 7, 9]),
    ("a lap of 5", |n| lap(n, 5), [0, 25, 0, 0, 11, 15]),
    ("a lap of 7", |n| lap(n, 7), [0, 0, 0, 0, 15, 21]),
    (
        "arguments vary, same result",
        |n| call("grep", &n.to_string(), "no match"),
        [0, 0, 0, 0, 6, 0],
    ),
    (
        "arguments vary, same error",
        |n| failing("edit", &n.to_string(), "no such text"),
        [0, 0, 0, 0, 6, 0],
    ),
    (
        "a failing test, and a read that varies",
        |n| match n % 2 {
            0 => failing("bash", "make test", "1 failed"),
            _ => call("read", &n.to_string(), &format!("line {n}")),
        },
        [0, 0, 0, 0, 5, 0],
    ),
    (
        "edit and test, and fewer failures each time",
        |n| match n % 2 {
            0 => call("edit", &n.to_string(), "edited"),
            _ => failing("bash", "make test", &format!("{} failed", CALLS - n)),
        },
        [0; 6],
    ),
    ("paging", |n| call("read", &format!("a.rs:{n}00"), &format!("line {n}00")), [0; 6]),
    ("a batch", |n| call("read", &format!("{n}.rs"), &format!("fn f{n}() {{}}")), [0; 6]),
    (
        "same call, the order of keys changes",
        |n| match n % 2 {
            0 => record("read", r#"{"path":"a.rs","limit":10}"#, "fn a() {}", false),
            _ => record("read", r#"{"limit":10,"path":"a.rs"}"#, "fn a() {}", false),
        },
        [4, 5, 10, 3, 3, 3],
    ),
    (
        "same call, a clock in the result",
        |n| call("bash", "make", &format!("12:00:{:02} stop", n % 60)),
        [0, 5, 0, 3, 0, 3],
    ),
    (
        "same call, other errors",
        |n| failing("bash", "make", &format!("error {n}")),
        [3, 5, 0, 3, 0, 3],
    ),
    (
        "twenty new calls, and then the same",
        |n| call("bash", &n.min(20).to_string(), &format!("result {}", n.min(20))),
        [24, 25, 26, 23, 23, 23],
    ),
    (
        "two of three are the same",
        |n| match n % 3 {
            2 => call("bash", &n.to_string(), &format!("result {n}")),
            _ => call("bash", "make", "stop"),
        },
        [0, 0, 10, 0, 4, 0],
    ),
    (
        "a failing test and new reads, after another call was answered in two ways",
        |n| match n {
            0 | 3 => call("bash", "jobs", &format!("{n} done")),
            _ if n % 2 == 1 => failing("bash", "make test", "1 failed"),
            _ => call("read", &n.to_string(), &format!("line {n}")),
        },
        [0; 6],
    ),
    (
        "a wait between polls whose answers change",
        |n| match n % 2 {
            0 => call("bash", "sleep 5", "slept"),
            _ => call("bash", "tail build.log", &format!("line {n}")),
        },
        [0, 10, 0, 0, 0, 6],
    ),
    (
        "a test that still passes after each edit",
        |n| match n % 2 {
            0 => call("edit", &n.to_string(), &format!("edited line {n}")),
            _ => call("bash", "make test", "3 passed"),
        },
        [0, 0, 0, 0, 6, 0],
    ),
    (
        "six times the same among the first ten, the tenth as well",
        |n| match n {
            0..5 | 9 => call("bash", "make", "stop"),
            _ => call("read", &n.to_string(), &format!("line {n}")),
        },
        [4, 5, 10, 3, 3, 3],
    ),
    // Crush stops this scenario at its tenth step, which this engine cannot express.
    (
        "six times the same, and then new calls",
        |n| match n {
            0..6 => call("bash", "make", "stop"),
            _ => call("read", &n.to_string(), &format!("line {n}")),
        },
        [4, 5, 0, 3, 3, 3],
    ),
    (
        "five times the same, and then new calls",
        |n| match n {
            0..5 => call("bash", "make", "stop"),
            _ => call("read", &n.to_string(), &format!("line {n}")),
        },
        [4, 5, 0, 3, 3, 3],
    ),
    (
        "two calls that take turns, and now and then a third",
        |n| match n % 11 {
            10 => call("bash", "date", &format!("day {n}")),
            _ => lap(n % 11, 2),
        },
        [6, 10, 0, 0, 5, 6],
    ),
];

/// Texts of a turn, and whether Gemini CLI reports them as a loop.
const TEXTS: [(&str, bool); 5] = [
    ("I will now check the file again. ", true),
    ("I look into it.\n\n```\nlet a = list.pop();\n```\n\n", true),
    ("| parser | it works as it should |\n", false),
    ("- [x] The tests of this part of it pass.\n", false),
    ("    assert!(list.is_empty(), message);\n", false),
];

#[test]
fn gemini_cli_finds_repeated_text_except_tables_lists_and_code() {
    let folder = Folder::new();
    for (text, is_loop) in TEXTS {
        let text = format!("```\n{}```\nDone.\n{}", "a = b\n".repeat(20), text.repeat(20));
        let said = json!({ "type": "message", "role": "assistant", "text": text });
        let run = folder.file("said.jsonl", said.to_string() + "\n");
        let ran = scan(&run, &["--format", "jsonl", "--preset", "gemini-cli"]);
        let findings = ran.only_line()["findings"].as_array().map_or(0, Vec::len);
        assert_eq!(findings, usize::from(is_loop), "{text}");
    }
}

/// Returns a successful call.
fn call(tool: &str, what: &str, result: &str) -> String {
    record(tool, &json!({ "what": what }).to_string(), result, false)
}

/// Returns a failed call.
fn failing(tool: &str, what: &str, result: &str) -> String {
    record(tool, &json!({ "what": what }).to_string(), result, true)
}

/// Returns the `n`th call of a cycle of `period` calls, each with its own result.
fn lap(n: usize, period: usize) -> String {
    let place = n % period;
    call("read", &format!("{place}.rs"), &format!("fn f{place}() {{}}"))
}

/// Returns the scenario as a native trace.
fn trace(scenario: fn(usize) -> String) -> String {
    (0..CALLS).map(scenario).collect()
}

/// Returns the file of a rule set.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/policies");
    folder.join(format!("{name}.toml"))
}

/// Returns the call of the first finding of `ran`, counted from 1, or 0 if there is none.
fn first(ran: &Ran) -> usize {
    assert_eq!(ran.err, "");
    let at = ran.only_line()["findings"][0]["at_call"].as_u64();
    at.map_or(0, |at| usize::try_from(at).expect("a place") + 1)
}

#[test]
fn each_rule_set_speaks_where_its_agent_does() {
    let folder = Folder::new();
    for (name, scenario, firsts) in SCENARIOS {
        let run = folder.file("run.jsonl", trace(scenario));
        let by = |rules: &str| scan(&run, &["--format", "jsonl", "--preset", rules]);
        assert_eq!(RULE_SETS.map(|rules| first(&by(rules))), firsts, "{name}");
    }
}

#[test]
fn a_row_of_talk_ends_a_run_of_openhands_alone() {
    let said = |n| json!({ "type": "message", "role": "assistant", "text": format!("Now {n}.") });
    let talk: String = (0..4).map(|n| said(n).to_string() + "\n").collect();
    let folder = Folder::new();
    let run = folder.file("talk.jsonl", talk);
    for rules in RULE_SETS {
        let ran = scan(&run, &["--format", "jsonl", "--preset", rules]);
        let found = ran.only_line()["findings"][0]["at_message"].as_u64();
        assert_eq!(found, (rules == "openhands").then_some(2), "{rules}");
    }
}

#[test]
fn a_rule_set_can_be_given_by_name_as_a_file_or_as_what_presets_prints() {
    let folder = Folder::new();
    let run = folder.file("run.jsonl", trace(|n| lap(n, 2)));
    for rules in RULE_SETS {
        let own = file(rules);
        let printed = unstuck(["presets", "--format", "toml", rules]).out;
        assert_eq!(printed, fs::read_to_string(&own).expect("the file"), "{rules}");
        let named = folder.file("named.toml", format!("preset = \"{rules}\"\n"));
        let by_name = scan(&run, &["--preset", rules]);
        for config in [own, named] {
            let by_file = scan(&run, &["--config", config.to_str().expect("UTF-8")]);
            assert_eq!((by_file.exit, by_file.out), (by_name.exit, by_name.out.clone()), "{rules}");
        }
    }
}
