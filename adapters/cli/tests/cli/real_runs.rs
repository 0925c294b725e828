//! Transcripts of real agents, if they are available.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::Value;
use unstuck::{Action, Asked, Decision, Guard};
use unstuck_trace::{Event, Role};
use walkdir::WalkDir;

use crate::harness::{evaluated, listed, runs, scan, scanned, shared};
use crate::schema::check_trace;

/// The lowest F1 of the default preset on labelled runs, and the highest rate of false alarms.
const F1_MIN: f64 = 0.90;
const FALSE_ALARMS_MAX: f64 = 0.0;

#[test]
fn our_formats_are_recognised_and_counted() {
    let Some(root) = shared("formats") else { return };
    let mut checked = 0;
    for expected in listed(&root.join("expected.jsonl")) {
        let format = match expected["format"].as_str() {
            Some("claude-code") => "claude-code",
            Some("openai-chat") => "openai",
            _ => continue,
        };
        let path = root.join(expected["path"].as_str().expect("a path"));
        let ran = scan(&path, &["--from", "auto", "--format", "jsonl"]);
        let report = ran.only_line();
        check_trace(&report);
        assert_eq!(report["format"], format, "{expected}");
        for field in ["calls", "errors", "workers"] {
            assert_eq!(report[field], expected[field], "{field}: {expected}");
        }
        let whole = report["skipped"] == 0;
        assert_eq!(ran.exit == 3, !whole, "{expected}: {}", ran.err);
        checked += 1;
    }
    assert!(checked > 15, "only {checked} files were checked");
}

#[test]
fn labelled_runs_are_judged_well() {
    let Some(root) = shared("traces") else { return };
    let labels = root.join("labels.jsonl");
    let ran = evaluated(&labels, &root, &["--format", "jsonl", "--preset", "balanced"]).quiet(0);
    let score = ran.only_line();
    assert_eq!(score["runs"], listed(&labels).len());
    assert!(score["f1"].as_f64() >= Some(F1_MIN), "{score}");
    assert!(score["false_alarm_rate"].as_f64() <= Some(FALSE_ALARMS_MAX), "{score}");
}

#[test]
fn every_file_gives_a_report_or_an_error() {
    for folder in ["traces", "formats"] {
        let Some(root) = shared(folder) else { return };
        // Each input that cannot be read has a line of its own.
        let ran = scan(&root, &["--format", "jsonl", "--verbose"]);
        assert!([1, 3].contains(&ran.exit), "{folder}: exit {}", ran.exit);
        let reports = ran.lines();
        reports.iter().for_each(check_trace);
        for entry in WalkDir::new(&root) {
            let entry = entry.expect("a folder that can be listed");
            let ending = entry.path().extension().and_then(OsStr::to_str);
            if !entry.file_type().is_file()
                || !matches!(ending, Some("json" | "jsonl" | "ndjson" | "traj"))
            {
                continue;
            }
            let path = entry.path().to_str().expect("UTF-8");
            let read = reports.iter().filter(|report| report["path"] == path).count();
            let complaint = format!("error: {path}: ");
            let complained = ran.err.lines().any(|line| line.starts_with(&complaint));
            assert!(read == 1 || read == 0 && complained, "{path}");
            let whole =
                reports.iter().all(|report| report["path"] != path || report["skipped"] == 0);
            assert_eq!(complained, read == 0 || !whole, "{path}");
        }
    }
}

#[test]
fn a_file_is_judged_alike_alone_and_in_its_folder() {
    let Some(root) = shared("formats/claude-code") else { return };
    for report in scanned(&root).lines() {
        let path = root.join(report["path"].as_str().expect("a path"));
        assert_eq!(scanned(&path).lines(), [Value::clone(&report)]);
    }
}

/// Plays the run at `path` to a live guard for each worker, up to the first call that it refuses or the first stop.
/// Returns each action above the earlier ones with the number of its call, and how many calls were played.
fn live(path: &Path) -> (Vec<(usize, Action)>, usize) {
    let bytes = fs::read(path).expect("a run");
    let (mut guards, mut open) = (HashMap::new(), HashMap::new());
    let (mut said, mut calls, mut is_over) = (Vec::new(), 0, false);
    let first = Guard::new();
    unstuck_trace::read(&bytes[..], None, &mut |event| {
        let was_over = is_over;
        let mut hear = |at: usize, decision: &Decision| {
            let most = said.last().map_or(Action::Proceed, |(_, action)| *action);
            if decision.action() > most {
                said.push((at, decision.action()));
            }
            is_over |= decision.action() >= Action::Block;
        };
        match event {
            _ if was_over => {}
            Event::Call(call) => {
                let guard = guards.entry(call.worker.to_owned());
                let guard = guard.or_insert_with(|| first.begin("", call.worker));
                let args = call.compared_args();
                let decision = guard.announce(&Asked::new(call.tool, &*args).step(call.step));
                hear(call.index, &decision);
                open.insert(call.index, decision.ticket());
                calls = call.index + 1;
            }
            Event::Outcome(outcome) => {
                let guard = guards.get_mut(outcome.worker).expect("a guard that saw the call");
                let ticket = open.remove(&outcome.call).flatten();
                // A text that was cut has something behind it that the guard would have seen.
                let cut = outcome.cut.map(|cut| format!("{}{cut}", outcome.text));
                let text = cut.as_deref().unwrap_or(outcome.text);
                hear(outcome.call, &guard.after(ticket, text, outcome.failed));
            }
            Event::Message(message) if message.role == Role::User => {
                if let Some(guard) = guards.get_mut(message.worker) {
                    let _ = guard.user_message(message.text);
                }
            }
            _ => {}
        }
    })
    .expect("a readable run");
    (said, calls)
}

/// A live guard speaks at the same calls, and as strongly, as a scan of the recorded run.
#[test]
fn a_live_guard_says_what_a_scan_says() {
    let folders = [Some(runs()), shared("traces")];
    let mut compared = 0;
    for folder in folders.into_iter().flatten() {
        for report in scan(&folder, &["--format", "jsonl"]).lines() {
            let path = Path::new(report["path"].as_str().expect("a path"));
            let (live, calls) = live(path);
            let mut found = Vec::new();
            for finding in report["findings"].as_array().expect("findings") {
                let Some(at) = finding["at_call"].as_u64().and_then(|at| at.try_into().ok()) else {
                    continue;
                };
                let action = Action::ALL.into_iter().find(|one| one.name() == finding["action"]);
                let action = action.expect("an action");
                let most = found.last().map_or(Action::Proceed, |(_, action)| *action);
                if at < calls && action > most && most < Action::Block {
                    found.push((at, action));
                }
            }
            assert_eq!(live, found, "{}", path.display());
            compared += 1;
        }
    }
    assert!(compared >= 20, "only {compared} runs were compared");
}

#[test]
fn a_scan_of_sessions_says_nothing_about_a_budget() {
    let Some(sessions) = shared("traces-modern") else { return };
    let scanned = scan(&sessions, &["--format", "jsonl"]);
    assert!(!scanned.out.is_empty() && !scanned.out.contains(" are spent."));
}
