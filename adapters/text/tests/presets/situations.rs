//! Situations in which `balanced` speaks, and the like ones in which it does not.

use unstuck_core::{Action, Verdict};
use unstuck_text::{LINE_WORDS, Preset, Worker};

use crate::support::{Case, cases, spelled};

/// A call: its tool, its arguments, its result, and whether the host reports a failure.
type Call = (String, String, String, bool);

/// Returns the number of the first call with a finding, its rule, and the strongest action of all.
fn judged(calls: impl IntoIterator<Item = Call>) -> (Option<(usize, &'static str)>, Action) {
    let Preset { policy, recipe } = Preset::BALANCED;
    let mut worker: Worker<'_, 64, 8, LINE_WORDS> = Worker::new(policy, recipe).unwrap();
    let (mut first, mut most) = (None, Action::Proceed);
    for (number, (tool, args, result, failed)) in (1..).zip(calls) {
        let asked = worker.announce(&tool, &args);
        let said: Verdict = worker.outcome(asked.ticket, &tool, &result, failed);
        let said = said.or_stronger(asked.verdict).or_stronger(asked.settled);
        most = most.max(said.action);
        let name = |finding: unstuck_core::Finding| finding.rule_name(policy);
        first = first.or(said.finding.map(|finding| (number, name(finding))));
    }
    (first, most)
}

fn call(tool: &str, args: String, result: impl Into<String>) -> Call {
    (tool.into(), args, result.into(), false)
}

fn shell(command: impl AsRef<str>, result: impl Into<String>) -> Call {
    call("bash", format!("{{\"command\":{:?}}}", command.as_ref()), result)
}

/// Returns the texts that `⟨…⟩` stands for.
fn choices(choice: &str) -> Vec<String> {
    let range =
        choice.split_once("..").and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    match range {
        Some(numbers) => numbers.map(|n: u32| n.to_string()).collect(),
        None => choice.split('|').map(str::to_owned).collect(),
    }
}

/// Returns the repetition `round` of a line.
fn repeated(line: &str, round: usize) -> Call {
    let part = |part: &str| match part.split_once('⟩') {
        Some((choice, rest)) => {
            choices(choice).into_iter().cycle().nth(round).unwrap_or_default() + rest
        }
        None => part.to_owned(),
    };
    let line = spelled(&line.split('⟨').map(part).collect::<String>());
    let (asked, result) = line.split_once(['✓', '✗']).expect("a call and an answer");
    let (tool, args) = asked.split_once(' ').expect("a tool");
    let result = result.strip_prefix(' ').unwrap_or(result);
    (tool.into(), args.trim_end().into(), result.into(), line.contains('✗'))
}

/// Returns the calls of a block, whose lines take turns.
fn turns(block: &str) -> Vec<Call> {
    let line = |line| {
        let varied = |part: &str| Some(choices(part.split_once('⟩')?.0).len());
        match str::split_once(line, "× ") {
            Some((times, line)) => (times.parse().expect("a number"), line),
            None => (line.split('⟨').filter_map(varied).max().unwrap_or(1), line),
        }
    };
    let lines: Vec<(usize, &str)> = block.lines().map(line).collect();
    let rounds = 0..lines.iter().map(|(times, _)| *times).max().unwrap_or(0);
    let of = |round| lines.iter().filter(move |(times, _)| round < *times);
    rounds.flat_map(|round| of(round).map(move |(_, line)| repeated(line, round))).collect()
}

#[test]
fn each_situation_is_judged_as_its_heading_says() {
    for Case { group, heading, text } in cases(include_str!("situations.txt")) {
        let (first, most) = judged(text.split("\n\n").flat_map(turns));
        let first = first.map_or("none".to_owned(), |(at, rule)| format!("{at} {rule}"));
        let told = format!("{first}, {}", most.name());
        assert!(told == heading || first == heading, "{told}, but {heading}: {group}\n{text}");
    }
}

#[test]
fn a_script_that_goes_on_behind_a_complaint_is_not_accused() {
    let fresh = |n: usize| {
        let text = format!("{{\"tab\": {n}, \"text\": \"{}\"}}", format!("word{n} ").repeat(20));
        shell(
            format!("$env:X; show {n}"),
            format!("/usr/bin/bash: line 1: :X: command not found\n{text}"),
        )
    };
    assert_eq!(judged((0..7).map(fresh)).0, None);
}

#[test]
fn a_picture_that_is_encoded_anew_is_no_new_line() {
    let data = |n: usize| {
        let letters = ('A'..='Z').cycle().skip(n);
        letters.step_by(7 + 2 * n).take(900).collect::<String>()
    };
    let image = |n: usize| {
        let parts = [
            r#"{"type":"text","text":"Image loaded"}"#.to_owned(),
            format!("{{\"data\":\"{}\"}}", data(n)),
        ];
        call(
            "vision_load",
            r#"{"path":"cat.jpg"}"#.into(),
            format!("{{\"content\":[{}]}}", parts.join(",")),
        )
    };
    assert_eq!(judged((0..9).map(image)).0, Some((6, "nothing-new")));
    // What a tool shows after an action is news.
    let screen = |n: usize| call("computer", format!("{{\"click\":{n}}}"), data(n));
    assert_eq!(judged((0..9).map(screen)).0, None);
}

#[test]
fn pages_that_overlap_are_found_though_one_comes_again() {
    let page = |start: usize| {
        let lines = (start..start + 40).map(|n| format!("{n}\tlet value_{n} = table.row({n});\n"));
        call("read", format!("{{\"offset\":{start}}}"), lines.collect::<String>())
    };
    let starts = [0, 40, 80, 20, 60, 0, 30, 50];
    assert_eq!(judged(starts.map(page)).0, Some((8, "nothing-new")));
}

/// Returns an answer that no other number has.
fn news(n: usize) -> String {
    let line = |line| format!("item {n}-{line} has the value x{}\n", 31 * n + line);
    (0..12).map(line).collect::<Vec<_>>().concat()
}

#[test]
fn a_wait_is_none_while_other_calls_bring_news() {
    let status = || call("get_job_status", r#"{"id":1}"#.into(), "running");
    let run = |other: fn(usize) -> Call| {
        (0..30).map(move |n| if n % 2 == 0 { status() } else { other(n) })
    };
    assert_eq!(judged(run(|n| shell(format!("cat f{n}.txt"), news(n)))).0, None);
}

#[test]
fn a_complaint_beside_the_work_of_a_program_is_no_error() {
    const TRACEBACK: &str = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nRuntimeError: cache is cold\n";
    const DISK: &str = "ls: reading directory '/mnt/x': Input/output error\n";
    for complaint in [TRACEBACK, DISK] {
        for is_first in [true, false] {
            let run = (0..9).map(|n| {
                let parts = if is_first {
                    [complaint.to_owned(), news(n)]
                } else {
                    [news(n), complaint.to_owned()]
                };
                shell(format!("./run.sh {n}"), parts.concat())
            });
            assert_eq!(judged(run).0, None, "{complaint}");
        }
        let alone = (0..9).map(|n| shell(format!("./run.sh {n}"), complaint));
        assert!(judged(alone).0.is_some_and(|(at, _)| at <= 5), "{complaint}");
    }
}
