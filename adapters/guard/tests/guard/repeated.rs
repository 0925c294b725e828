//! The calls that only repeat, against their definition.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use unstuck::{Action, Asked, Guard, Ticket};

use super::actions;

/// The number of calls that a guard remembers.
const MEMORY: usize = 64;

/// The tools of the property. The first two only look.
const TOOLS: [&str; 4] = ["read_file", "grep", "write_file", "bash"];

/// The endings of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Result { text: &'static str, failed: bool },
    Refused,
    Cancelled,
    Open,
}

/// A call as the definition knows it.
#[derive(Clone, Debug)]
struct Seen {
    id: String,
    ticket: Option<Ticket>,
    call: (usize, u8),
    /// The result, and whether the call failed.
    result: Option<(&'static str, bool)>,
    /// Whether it belongs to the present run, has a result, and changed nothing.
    changed_nothing: bool,
}

/// The calls of a run, the oldest first.
#[derive(Default)]
struct Oracle(Vec<Seen>);

impl Oracle {
    fn ended_run(&mut self) {
        for seen in &mut self.0 {
            seen.changed_nothing = false;
        }
    }

    /// The calls between two equal calls, such that none of the three changed anything, and the series of equal calls
    /// with this result is not broken by another result.
    fn repeated(&self) -> Vec<&Seen> {
        let memory = &self.0[self.0.len().saturating_sub(MEMORY)..];
        let mut repeated = Vec::new();
        for call in memory.iter().map(|seen| seen.call).collect::<BTreeSet<_>>() {
            let equal = memory.iter().filter(|seen| seen.call == call && seen.result.is_some());
            let equal: Vec<_> = equal.collect();
            let series = equal
                .chunk_by(|a, b| a.result == b.result && a.changed_nothing && b.changed_nothing);
            for series in series {
                repeated.extend(series.iter().skip(1).take(series.len().saturating_sub(2)));
            }
        }
        repeated
    }
}

fn an_end() -> impl Strategy<Value = End> {
    let result = (prop_oneof![3 => Just("alpha"), 1 => Just("beta")], any::<bool>());
    prop_oneof![
        8 => result.prop_map(|(text, failed)| End::Result { text, failed }),
        1 => Just(End::Refused),
        1 => Just(End::Cancelled),
        1 => Just(End::Open),
    ]
}

proptest! {
    #[test]
    fn they_are_those_of_the_definition(
        observes: bool,
        calls in vec((0..TOOLS.len(), 0..2_u8, an_end()), 0..100),
    ) {
        let builder = if observes { Guard::builder().observe_only() } else { Guard::builder() };
        let mut guard = builder.build().expect("a guard");
        let mut oracle = Oracle::default();
        for (n, (tool, path, end)) in calls.into_iter().enumerate() {
            let (id, args) = (format!("call {n}"), format!(r#"{{"path":"{path}","command":"{path}"}}"#));
            let before = guard.announce(&Asked::new(TOOLS[tool], &args).id(&id));
            let ticket = before.ticket();
            oracle.0.push(Seen { id, ticket, call: (tool, path), result: None, changed_nothing: false });
            if before.judged() >= Action::StartOver {
                oracle.ended_run();
            }
            if before.is_blocked() {
                continue;
            }
            let after = match end {
                End::Result { text, failed } => guard.after(ticket, text, failed),
                End::Refused => guard.refused(ticket),
                End::Cancelled => guard.cancelled(ticket),
                End::Open => continue,
            };
            if let (End::Result { text, failed }, Some(seen)) = (end, oracle.0.last_mut()) {
                (seen.result, seen.changed_nothing) = (Some((text, failed)), failed || tool < 2);
            }
            if after.judged() >= Action::StartOver {
                oracle.ended_run();
            }
            let repeated = oracle.repeated();
            let mut expected: Vec<_> = repeated.iter().filter_map(|seen| seen.ticket).collect();
            let mut found: Vec<_> = guard.repeated().collect();
            let place = |ticket: &Ticket| oracle.0.iter().rposition(|seen| seen.ticket == Some(*ticket));
            expected.sort_by_key(place);
            prop_assert!(found.is_sorted_by_key(place), "the oldest come first");
            prop_assert_eq!(&found, &expected);
            found.retain(|ticket| Some(*ticket) == oracle.0.last().and_then(|seen| seen.ticket));
            prop_assert!(found.is_empty(), "never the latest call");
            for seen in &oracle.0 {
                let is_expected = repeated.iter().any(|one| one.id == seen.id);
                prop_assert_eq!(guard.is_repeated(&seen.id), is_expected, "{}", seen.id);
            }
        }
    }
}

/// Makes the call with the ids in turn, each with its result. Returns the ids that only repeat.
fn repeated(tool: &str, calls: &[(&'static str, &str, bool)]) -> Vec<&'static str> {
    let mut guard = Guard::new();
    for (id, result, failed) in calls {
        let asked = Asked::new(tool, r#"{"path":"a.rs","command":"make"}"#).id(id);
        let ticket = guard.announce(&asked).ticket();
        let _ = guard.after(ticket, *result, *failed);
    }
    calls.iter().map(|(id, ..)| *id).filter(|id| guard.is_repeated(id)).collect()
}

#[test]
fn the_first_and_the_latest_of_each_series_stay() {
    let same = ["1", "2", "3", "4"].map(|id| (id, "fn main", false));
    assert_eq!(repeated("read_file", &same), ["2", "3"]);
    let mut broken = same;
    broken[2].1 = "fn other";
    assert!(repeated("read_file", &broken).is_empty(), "each result stays");
    assert!(repeated("read_file", &same[..2]).is_empty());
}

#[test]
fn a_write_that_worked_stays() {
    let (worked, failed) = (false, true);
    for (tool, ended, expected) in [
        ("write_file", worked, &[] as &[&str]),
        ("write_file", failed, &["2", "3"]),
        ("bash", worked, &[]),
        ("bash", failed, &["2", "3"]),
        ("send_mail", worked, &[]),
        ("grep", worked, &["2", "3"]),
    ] {
        let calls = ["1", "2", "3", "4"].map(|id| (id, "the same", ended));
        assert_eq!(repeated(tool, &calls), expected, "{tool}, failed: {ended}");
    }
}

#[test]
fn an_id_names_its_latest_call() {
    let mut guard = Guard::new();
    for path in ["a", "b", "a", "b", "a", "b"] {
        let ticket = guard.announce(&Asked::new("read_file", path).id("0")).ticket();
        let _ = guard.after(ticket, "no such file", true);
    }
    assert_eq!(guard.repeated().count(), 2);
    assert!(!guard.is_repeated("0"));
}

#[test]
fn a_guard_that_forgets_has_no_repetitions() {
    let mut guard = Guard::new();
    let _ = actions(&mut guard, 5);
    assert_eq!(guard.repeated().count(), 3);
    let restored = Guard::builder().restore(&guard.save()).expect("a checkpoint");
    assert_eq!(restored.repeated().count(), 0);
    guard.clear();
    assert_eq!(guard.repeated().count(), 0);
}
