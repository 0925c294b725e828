//! Courses that agents take: work that looks like a loop, and loops that look like work.

use serde_json::json;
use unstuck::{Action, Asked, Decision, Guard};

/// Makes a call of `bash` that works, and gives what is judged of it.
fn works(guard: &mut Guard, command: &str, result: &str) -> Action {
    let before = guard.before("bash", json!({ "command": command }).to_string());
    let after = guard.after(before.ticket(), result, false);
    before.judged().max(after.judged())
}

/// The decisions on calls that one step makes of `Read`, all of which fail with `result`.
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

#[test]
fn the_same_message_without_a_call_between_is_found_at_the_fifth() {
    let mut guard = Guard::new();
    let said = [(); 9].map(|()| guard.user_message("please continue").action());
    let [none, told, warned] = [Action::Proceed, Action::Nudge, Action::Warn];
    assert_eq!(said[..5], [none, none, none, none, told]);
    assert_eq!(said.iter().max(), Some(&warned), "{said:?}");
}

#[test]
fn the_same_message_before_each_call_is_no_loop() {
    let mut guard = Guard::new();
    for n in 0..9 {
        assert_eq!(guard.user_message("next").judged(), Action::Proceed);
        let command = format!("./migrate {}", ["users", "orders", "items"][n % 3]);
        assert_eq!(works(&mut guard, &command, &format!("migrated {n} tables")), Action::Proceed);
    }
}
