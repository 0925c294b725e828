//! Runs of agents: work that looks like a loop, and loops that look like work.

use serde_json::{Value, json};
use unstuck::{Action, Asked, Decision, Guard};

/// Makes a call of `bash` that works. Returns the judged action.
fn works(guard: &mut Guard, command: &str, result: &str) -> Action {
    let before = guard.before("bash", json!({ "command": command }).to_string());
    let after = guard.after(before.ticket(), result, false);
    before.judged().max(after.judged())
}

/// Returns the decisions on calls of `Read` in one step, all of which fail with `result`.
fn fails_together(guard: &mut Guard, step: u64, calls: u64, result: &str) -> Vec<Decision> {
    let read = |call| json!({ "file_path": format!("/srv/app/{step}/{call}.conf") }).to_string();
    let args: Vec<_> = (0..calls).map(read).collect();
    let ask = |args| Asked::new("Read", args).step(step);
    let before: Vec<_> = args.iter().map(|args| guard.announce(&ask(args.as_str()))).collect();
    let after = before.iter().map(|before| guard.after(before.ticket(), result, true));
    let after: Vec<_> = after.collect();
    [before, after].concat()
}

#[test]
fn different_edits_of_one_file_are_work() {
    let mut guard = Guard::new();
    for n in 0..40 {
        let edit = format!(
            "sed -i '{}s/{}/{}/' app/models.py && python3 -m py_compile app/models.py",
            (n * 7) % 120 + 1,
            ["name", "price", "owner", "state"][n % 4],
            ["title", "cost", "user", "phase", "label"][n % 5],
        );
        assert_eq!(works(&mut guard, &edit, ""), Action::Proceed, "edit {n}: {edit}");
    }
}

#[test]
fn calls_of_one_step_that_fail_alike_count_once() {
    let mut guard = Guard::new();
    let error = "EIO: i/o error, read";
    for step in 0..3 {
        let decisions = fails_together(&mut guard, step, 4, error);
        assert!(decisions.iter().all(|said| said.judged() == Action::Proceed), "step {step}");
    }
    let decisions = fails_together(&mut guard, 3, 4, error);
    assert!(decisions.iter().any(|said| said.judged() == Action::Nudge), "the fourth step");
}

/// Makes these calls of `tool`, each with its arguments and its answer. Returns the judged actions.
fn judged(tool: &str, calls: impl IntoIterator<Item = (Value, String)>) -> Vec<Action> {
    let mut guard = Guard::new();
    let made = |(args, answer): (Value, String)| {
        let before = guard.before(tool, args.to_string());
        before.judged().max(guard.after(before.ticket(), answer, false).judged())
    };
    calls.into_iter().map(made).collect()
}

/// Returns the number of the first call with a message, counted from 1.
fn first(judged: &[Action]) -> Option<usize> {
    judged.iter().position(|action| *action > Action::Proceed).map(|place| place + 1)
}

/// Search patterns for the same thing.
const SPELLINGS: [&str; 10] =
    ["foo", "fo0", "f00", "Foo", "FOO", "foo_", "fooo", "fOo", "f-o-o", "oof"];

#[test]
fn a_search_that_finds_nothing_is_found_at_the_fifth_however_it_is_spelled() {
    for (tool, answer) in [
        ("Grep", "No matches found"),
        ("search_docs", r#"{"results": [], "total": 0}"#),
        ("find_symbol", "[]"),
        ("web_search", "0 results"),
    ] {
        let calls = SPELLINGS.map(|query| (json!({ "query": query }), answer.to_owned()));
        let judged = judged(tool, calls);
        assert_eq!(first(&judged), Some(5), "{tool}: {judged:?}");
        assert!(judged.iter().all(|action| *action <= Action::Warn), "{tool}: {judged:?}");
    }
}

#[test]
fn a_search_that_finds_the_same_in_another_order_is_found() {
    let hit = |n: usize, shift: usize| match (n + shift) % 2 {
        0 => format!(r#"{{"path": "src/{n}.rs", "line": {n}}}"#),
        _ => format!(r#"{{"line": {n}, "path": "src/{n}.rs"}}"#),
    };
    let answer = |shift: usize| {
        let hits: Vec<_> = (0..6).map(|n| hit((n + shift) % 6, shift)).collect();
        let (hits, total) = (format!(r#""hits": [{}]"#, hits.join(", ")), r#""total": 6"#);
        let members =
            if shift.is_multiple_of(2) { [hits.as_str(), total] } else { [total, hits.as_str()] };
        format!("{{{}}}", members.join(", "))
    };
    let calls = SPELLINGS.iter().zip(0..);
    let calls = calls.map(|(query, n)| (json!({ "query": query }), answer(n)));
    let judged = judged("search_code", calls);
    assert_eq!(first(&judged), Some(6), "{judged:?}");
    assert!(judged.iter().all(|action| *action <= Action::Warn), "{judged:?}");
}

#[test]
fn one_thing_after_the_other_is_work() {
    let file = |n: usize| {
        let line = |line| format!("    let value_{n}_{line} = self.field_{n}.take({line});");
        format!(
            "pub fn part_{n}(&mut self) {{\n{}\n}}",
            (0..9).map(line).collect::<Vec<_>>().join("\n")
        )
    };
    let read = (0..20).map(|n| (json!({ "file_path": format!("src/part_{n}.rs") }), file(n)));
    assert_eq!(first(&judged("Read", read)), None);
    let empty =
        (0..20).map(|n| (json!({ "file_path": format!("pkg_{n}/__init__.py") }), String::new()));
    assert_eq!(first(&judged("Read", empty)), None);
    let place = |n: usize| json!({ "x": n % 5, "y": n / 5, "door": "open" }).to_string();
    let places = (0..20).map(|n| (json!({ "robot": 1 }), place(n)));
    assert_eq!(first(&judged("read_sensors", places)), None);
    let user =
        |n: usize| json!({ "id": n, "plan": "free", "country": "CH", "active": true }).to_string();
    for tool in ["get_user", "create_user"] {
        let users = (0..20).map(|n| (json!({ "user_id": format!("user_{n}") }), user(n)));
        assert_eq!(first(&judged(tool, users)), None, "{tool}");
    }
}
