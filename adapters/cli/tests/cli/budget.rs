//! Budgets in a policy file: the notes and refusals of hooks, and the mistakes in the file.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Folder, scan, shared, stuck};
use crate::hook::{Hooks, Wire, repeat};

/// Returns the hooks of an agent with this budget, and the folder of the file.
fn hooks(agent: &'static str, budget: &str) -> (Hooks, Folder) {
    let folder = Folder::new();
    let config = folder.file("unstuck.toml", format!("preset = \"balanced\"\n{budget}\n"));
    (Hooks::of(agent).with(&["--config", config.to_str().expect("UTF-8")]), folder)
}

/// Makes a call like no other before. Returns the answers before it and, if it may run, after it.
fn step(hooks: &Hooks, id: &str, rest: &Value) -> (String, String) {
    let wire = Wire(hooks.agent);
    let with = |mut payload: Value| {
        let fields = payload.as_object_mut().expect("an object");
        fields.extend(rest.as_object().expect("an object").clone());
        payload.to_string()
    };
    let before = hooks.tell(with(wire.before(id, &format!("cat {id}"))));
    if before.contains("deny") || wire.ends(&before) {
        return (before, String::new());
    }
    (before, hooks.tell(with(wire.after(id, &format!("cat {id}"), id))))
}

/// Makes this many calls, and returns all answers.
fn steps(hooks: &Hooks, ids: std::ops::RangeInclusive<usize>) -> Vec<(String, String)> {
    ids.map(|id| step(hooks, &id.to_string(), &json!({}))).collect()
}

/// Returns the numbers of the calls whose answers hold `text`.
fn at(answers: &[(String, String)], text: &str) -> Vec<usize> {
    let holds = |(_, (before, after)): &(usize, &(String, String))| {
        before.contains(text) || after.contains(text)
    };
    answers.iter().enumerate().filter(holds).map(|(n, _)| n + 1).collect()
}

#[test]
fn calls_are_refused_at_a_limit_until_the_turn_is_over() {
    for agent in ["claude-code", "codex", "gemini"] {
        let budget = "[budget.turn]\ncalls = 5\n[budget]\nat_limit = \"refuse\"";
        let (hooks, _folder) = hooks(agent, budget);
        let wire = Wire(agent);
        hooks.tell(wire.prompt("begin").to_string());
        let answers = steps(&hooks, 1..=10);
        assert_eq!(at(&answers, "4 of 5 calls of this turn"), [4], "{agent}");
        let refusal = "This call was not run. 5 of 5 calls of this turn are spent. Say what is done and \
                       what is missing";
        let refused = at(&answers, refusal);
        assert!(refused.starts_with(&[6, 7, 8, 9]), "{agent}: {refused:?}");
        // A model that insists ends the turn, where a hook can.
        let ended = at(&answers, "Ended the turn: 5 of 5 calls of this turn are spent.");
        let ends = wire.ends(&answers[9].0);
        assert_eq!(ends, agent == "gemini", "{agent}: {}", answers[9].0);
        assert_eq!(ended, if ends { vec![10] } else { vec![] }, "{agent}");
        hooks.tell(wire.prompt("go on").to_string());
        assert_eq!(steps(&hooks, 11..=11), [(String::new(), String::new())], "{agent}");
        assert_eq!(hooks.log(), [""; 0], "{agent}");
    }
}

/// Returns a line of Claude Code's transcript with the tokens of an answer.
fn answer(id: &str, output: u64) -> String {
    let usage =
        json!({ "input_tokens": 100, "cache_read_input_tokens": 0, "output_tokens": output });
    let message = json!({ "id": id, "model": "dear-1", "content": [], "usage": usage });
    json!({ "type": "assistant", "uuid": id, "message": message }).to_string() + "\n"
}

#[test]
fn tokens_and_dollars_are_those_of_the_transcript() {
    let budget = "[budget.session]\ntokens = 1000\n[budget.turn]\ndollars = 1.50\n[budget]\n\
                  at_limit = \"refuse\"\n[prices]\ndear = \"input=1000,output=2000\"";
    let (hooks, folder) = hooks("claude-code", budget);
    // What an earlier session has spent does not count.
    let path = folder.file("transcript.jsonl", answer("m0", 5000));
    let rest = json!({ "transcript_path": path });
    let mut text = answer("m0", 5000);
    let mut said = |id: &str, output: u64| {
        text += &answer(id, output);
        text += &answer(id, output);
        fs::write(&path, &text).expect("a file");
        let (before, after) = step(&hooks, &format!("{id}-{output}"), &rest);
        let note = [before, after].concat();
        note.split_once("[unstuck] ").map(|(_, note)| {
            note.split(" are spent. ").map(str::to_owned).take(2).collect::<Vec<_>>()
        })
    };
    assert_eq!(step(&hooks, "first", &rest), (String::new(), String::new()));
    // 100 tokens at 1000 dollars for a million, and 300 at 2000.
    assert_eq!(said("m1", 300), None);
    assert_eq!(said("m2", 150), None);
    let near = ["1.40 of 1.50 dollars of this turn", "850 of 1000 tokens of this session"];
    let note = said("m3", 100).expect("a note");
    assert!(near.iter().all(|near| note.iter().any(|said| said == near)), "{note:?}");
    let refused = said("m4", 50).expect("a refusal");
    assert_eq!(refused[0], "This call was not run. 1.60 of 1.50 dollars of this turn");
    hooks.tell(Wire("claude-code").prompt("go on").to_string());
    let refused = said("m5", 0).expect("a refusal");
    assert_eq!(refused[0], "This call was not run. 1100 of 1000 tokens of this session");
}

#[test]
fn without_a_budget_nothing_is_counted_or_stored() {
    let spent = |hooks: &Hooks| {
        let entries = fs::read_dir(hooks.folder().join("sessions")).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "spent")).count()
    };
    let (with, _folder) = hooks("claude-code", "budget.calls = 1000");
    let without = Hooks::of("claude-code");
    assert_eq!(repeat(&with, "make", 9), repeat(&without, "make", 9));
    assert_eq!((spent(&with), spent(&without)), (1, 0));
    let (observing, folder) = hooks("claude-code", "budget.calls = 3");
    let config = folder.path().join("unstuck.toml");
    let observing = observing.with(&["--observe", "--config", config.to_str().expect("UTF-8")]);
    assert_eq!(at(&steps(&observing, 1..=9), "unstuck"), [0; 0]);
}

#[test]
fn a_damaged_file_of_what_was_spent_ends_no_hook() {
    let (hooks, _folder) = hooks("claude-code", "budget.calls = 10");
    steps(&hooks, 1..=5);
    let path = hooks.state().with_extension("spent");
    assert!(path.is_file());
    fs::write(&path, "torn").expect("a file");
    assert_eq!(at(&steps(&hooks, 6..=15), "8 of 10 calls"), [8]);
    let [line] = &hooks.log()[..] else { panic!("{:?}", hooks.log()) };
    assert!(line.contains("the budget is counted from zero"), "{line}");
}

#[test]
fn a_scan_of_sessions_says_nothing_about_a_budget() {
    let folder = Folder::new();
    let run = folder.file("run.jsonl", stuck());
    let config = folder.file("unstuck.toml", "preset = \"balanced\"\nbudget.calls = 1\n");
    let with = ["--config", config.to_str().expect("UTF-8")];
    assert_eq!(scan(&run, &with).out, scan(&run, &[]).out);
    let Some(sessions) = shared("traces-modern") else { return };
    let scanned = scan(&sessions, &["--format", "jsonl"]);
    assert!(!scanned.out.is_empty() && !scanned.out.contains(" are spent."));
}
