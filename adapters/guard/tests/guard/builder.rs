//! Setting up a guard, and turning it off.

use std::env;
use std::process::Command;

use unstuck::{Action, BuildError, Guard, Tool, ToolRule, is_off};

use super::{ARGS, actions, fail};

#[test]
fn a_guard_for_another_worker_has_the_setup_and_has_seen_nothing() {
    let mut first = Guard::builder().named("repeat").expect("a preset").build().expect("a guard");
    assert_eq!(actions(&mut first, 3).last(), Some(&Action::Stop));
    let mut second = first.begin("run 7", "scout");
    assert_eq!((second.session(), second.worker()), ("run 7", "scout"));
    assert_eq!(second.statistics().checks(), 0);
    assert_eq!(actions(&mut second, 3).last(), Some(&Action::Stop));
}

#[test]
fn what_cannot_work_is_said() {
    let error = Guard::builder().named("balance").expect_err("no such preset");
    assert_eq!(
        error.to_string(),
        "there is no preset `balance`; there are balanced, start_over, graduated, \
         graduated_conservative, graduated_aggressive, nudge, cycles, repeat"
    );
    let twice = || ToolRule::new(Tool::named("bash")).poll();
    let many = (0..=unstuck_core::TOOL_RULES_MAX)
        .fold(Guard::builder(), |builder, n| {
            builder.tool(ToolRule::new(Tool::named(&n.to_string())))
        })
        .tool(twice());
    assert!(matches!(many.build(), Err(BuildError::Policy(_))));
}

#[test]
fn a_guard_that_is_off_sees_nothing() {
    let mut guard = Guard::builder().off().observe_only().build().expect("a guard");
    for _ in 0..9 {
        let before = guard.before("bash", ARGS);
        assert_eq!((before.judged(), before.ticket()), (Action::Proceed, None));
        assert_eq!(guard.text_turn("no").judged(), Action::Proceed);
    }
    assert_eq!(guard.statistics().checks(), 0);
}

/// The variable by which the test below recognises that it runs in another process.
const ASKED: &str = "UNSTUCK_TEST_ASKS_ITSELF";

#[test]
fn the_environment_turns_it_off() {
    if env::var_os(ASKED).is_some() {
        let mut guard = Guard::new();
        let found = (0..9).any(|_| fail_if_it_has_a_ticket(&mut guard) > Action::Proceed);
        println!("off: {}, found: {found}", is_off());
        return;
    }
    for (value, expected) in [
        ("off", "off: true, found: false"),
        ("OFF", "off: true, found: false"),
        ("0", "off: true, found: false"),
        ("on", "off: false, found: true"),
        ("", "off: false, found: true"),
    ] {
        let tests = env::current_exe().expect("this program");
        let mut itself = Command::new(tests);
        itself.args(["builder::the_environment_turns_it_off", "--exact", "--nocapture"]);
        let output = itself.env(ASKED, "1").env("UNSTUCK", value).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains(expected), "UNSTUCK={value}: {said}");
    }
}

fn fail_if_it_has_a_ticket(guard: &mut Guard) -> Action {
    if is_off() { guard.before("bash", ARGS).action() } else { fail(guard, ARGS).0.action() }
}
