//! `scan --compare` on runs that are written here.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{CLEAN, Folder, PRESETS, Ran, evaluated, labels, run_in, runs, unstuck};
use crate::published::RULE_SETS;

/// A policy that speaks at the second equal call in a row, refuses at the third, and ends the run at the fifth.
const STRICT: &str = r#"
name = "a policy of one's own, and a strict one"
window = 10

[[rule]]
name = "in-a-row"
args = "same"
results = "same"
pattern = { times = 2 }
ladder.rungs = [
    { count = 2, action = "warn" }, { count = 3, action = "block" }, { count = 5, action = "stop" },
]
"#;

/// Returns a run of calls, one a minute, each with 1000 tokens of input and 100 of output. The calls are equal from
/// the call `same` on.
fn run(calls: usize, same: usize) -> String {
    let call = |n: usize| {
        let time = format!("2026-01-01T{:02}:{:02}:00Z", n / 60, n % 60);
        json!({
            "type": "call", "tool": "bash", "args": { "command": format!("echo {}", n.min(same)) },
            "result": format!("line {}", n.min(same)), "is_error": false, "time": time,
            "tokens": { "input": 1000, "output": 100 },
        })
        .to_string()
            + "\n"
    };
    (0..calls).map(call).collect()
}

/// A run's last call, which commits.
const COMMIT: &str = r#"{"type":"call","tool":"bash","args":{"command":"git commit -am x"},"result":"[main 1f2e3d4] mend it\n 1 file changed"}"#;

/// The runs of [`folder`], each with its number of calls.
const CALLS: [(&str, usize); 5] =
    [("a-two", 2), ("b-three", 3), ("c-eight", 8), ("d-twice", 20), ("e-long", 130)];

/// Returns a folder with runs of several lengths. The calls of two repeat.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, run) in [
        ("a-two", CLEAN.to_owned()),
        // Two equal calls.
        ("b-three", run(3, 1)),
        // Six equal calls.
        ("c-eight", run(8, 2)),
        ("d-twice", run(19, 99) + COMMIT),
        ("e-long", run(130, 200)),
    ] {
        folder.file(&format!("runs/{name}.jsonl"), run);
    }
    folder.file("good.txt", "runs/b-three.jsonl\n\nruns/d-twice.jsonl\r\n./runs/e-long.jsonl");
    folder.file("strict.toml", STRICT);
    folder
}

/// Runs `unstuck scan --compare` in `folder`.
fn compared(folder: &Folder, policies: &str, options: &[&str]) -> Ran {
    run_in(folder.path(), &[&["scan", "runs", "--compare", policies], options].concat())
}

/// Returns the lines for programs. There must be no error.
fn lines(folder: &Folder, policies: &str, options: &[&str]) -> Vec<Value> {
    let ran = compared(folder, policies, &[&["--format", "jsonl"], options].concat());
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{policies}");
    ran.lines()
}

const PRICE: [&str; 2] = ["--price", "input=3,output=15"];

#[test]
fn a_table_for_people() {
    let options = [&["--good", "good.txt"], &PRICE[..]].concat();
    let ran = compared(&folder(), "balanced,strict.toml,openhands,steps:60", &options).quiet(0);
    insta::assert_snapshot!(ran.out);
}

#[test]
fn a_table_without_a_price_and_without_a_list() {
    let ran = compared(&folder(), "graduated_conservative,steps:5", &[]).quiet(0);
    insta::assert_snapshot!(ran.out);
}

#[test]
fn a_table_for_a_page() {
    let folder = folder();
    folder.file("odd.toml", STRICT.replace("a policy of one's own", "| <b> `code`"));
    let options = [&["--good", "good.txt", "--format", "markdown"], &PRICE[..]].concat();
    let ran = compared(&folder, "balanced,odd.toml,steps:60", &options).quiet(0);
    insta::assert_snapshot!(ran.out);
}

#[test]
fn a_picture_and_a_page_of_the_same_figures() {
    let folder = folder();
    let options = ["--good", "good.txt", "--format", "svg", "-o", "bill.svg", "--format", "html"];
    let ran = compared(&folder, "balanced,strict.toml,steps:60", &options).quiet(0);
    let svg = fs::read_to_string(folder.path().join("bill.svg")).expect("a picture");
    for text in [&ran.out, &svg] {
        for part in ["steps:60", "2 of 5", "1 of 3", "3 listed as good"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert_eq!((ran.out.matches("<svg ").count(), ran.out.matches("<script").count()), (1, 0));
    let row =
        "<th scope=\"row\">steps:60</th><td class=\"number\">1</td><td class=\"number\">0</td>";
    assert!(ran.out.contains(row), "{}", ran.out);
}

#[test]
fn what_a_policy_would_have_done_is_counted_by_its_actions() {
    let [strict] = &lines(&folder(), "strict.toml", &PRICE)[..] else { panic!("one line") };
    // It speaks in two runs, at the third call and at the fourth, and refuses and ends in one of them.
    let all = ["runs", "spoke", "refused", "ended"].map(|field| strict[field].as_u64());
    assert_eq!(all, [5, 2, 1, 1].map(Some));
    // After the fourth of eight calls, and after the last of three.
    assert_eq!((&strict["calls"], &strict["calls_after"]), (&163.into(), &4.into()));
    assert_eq!(strict["tokens_after"], json!({ "input": 4000, "cached": 0, "output": 400 }));
    assert_eq!(strict["seconds_after"], 240);
    let dollars = strict["dollars_after"].as_f64().expect("a price");
    assert!((dollars - (4000.0 * 3.0 + 400.0 * 15.0) / 1e6).abs() < 1e-9, "{dollars}");
}

#[test]
fn a_limit_of_steps_ends_each_run_that_asks_for_one_call_more() {
    let folder = folder();
    for limit in [1, 2, 3, 7, 8, 20, 60, 129, 130, 1000] {
        let [line] = &lines(&folder, &format!("steps:{limit}"), &[])[..] else {
            panic!("one line")
        };
        let beyond = CALLS.iter().filter(|(_, calls)| *calls > limit);
        let (count, after) =
            beyond.fold((0, 0), |(n, sum), (_, calls)| (n + 1, sum + calls - limit));
        for (field, expected) in
            [("spoke", count), ("refused", 0), ("ended", count), ("calls_after", after)]
        {
            assert_eq!(line[field], expected, "{field} of {limit}");
        }
    }
    // The sixty-first call has the answer that asked for it, and comes a minute after the sixtieth.
    let [line] = &lines(&folder, "steps:60", &[])[..] else { panic!("one line") };
    assert_eq!(line["tokens_after"]["output"], 69 * 100);
    assert_eq!(line["seconds_after"], 69 * 60);
}

#[test]
fn good_runs_are_those_that_a_file_lists() {
    let folder = folder();
    let good =
        |line: &Value| ["runs", "spoke", "refused", "ended"].map(|it| line["good"][it].as_u64());
    let found = lines(&folder, "strict.toml,steps:2,steps:1000", &["--good", "good.txt"]);
    let found: Vec<_> = found.iter().map(good).collect();
    assert_eq!(found, [[3, 1, 0, 0], [3, 3, 0, 3], [3, 0, 0, 0]].map(|row| row.map(Some)));
    // The same list as labels, beside paths: relative to the folder that is scanned, and to the file.
    let label = |file: &str, is_loop: &str| json!({ "file": file, "loop": is_loop }).to_string();
    let list = [
        label("b-three.jsonl", "no"),
        label("c-eight.jsonl", "yes"),
        "../runs/d-twice.jsonl".to_owned(),
        label("e-long.jsonl", "no"),
    ];
    folder.file("lists/good.jsonl", list.join("\n"));
    let found = lines(&folder, "strict.toml", &["--good", "lists/good.jsonl"]);
    assert_eq!(good(&found[0]), [3, 1, 0, 0].map(Some));
    let interval = &found[0]["good_interval"];
    let share = found[0]["good_share"].as_f64().expect("a share");
    assert!(interval[0].as_f64() < Some(share) && interval[1].as_f64() > Some(share), "{interval}");
    // A list among the runs is no run.
    folder.file("runs/good.jsonl", label("b-three.jsonl", "no"));
    let found = lines(&folder, "steps:2", &["--good", "runs/good.jsonl"]);
    assert_eq!((&found[0]["runs"], good(&found[0])), (&5.into(), [1, 1, 0, 1].map(Some)));
}

#[test]
fn without_a_list_the_end_of_a_run_says_whether_it_is_good() {
    let folder = folder();
    let found = lines(&folder, "steps:9", &[]);
    assert_eq!(found[0]["good"], json!({ "runs": 1, "spoke": 1, "refused": 0, "ended": 1 }));
    fs::remove_file(folder.path().join("runs/d-twice.jsonl")).expect("a run");
    let found = lines(&folder, "steps:9", &[]);
    assert_eq!(found[0]["good"], Value::Null);
}

#[test]
fn each_run_of_a_file_is_counted_for_itself() {
    let folder = Folder::new();
    let run = run(5, 99);
    folder.file(
        "runs/both.jsonl",
        format!("{{\"session\":\"a\"}}\n{run}{{\"session\":\"b\"}}\n{run}"),
    );
    for (limit, count, after) in [(2, 2, 6), (4, 2, 2), (5, 0, 0)] {
        let found = lines(&folder, &format!("steps:{limit}"), &[]);
        let fields = ["runs", "spoke", "calls_after"].map(|field| found[0][field].as_u64());
        assert_eq!(fields, [2, count, after].map(Some), "{limit}");
    }
}

#[test]
fn the_bill_of_labelled_runs_agrees_with_their_scores() {
    let (labels, runs) = (labels(), runs());
    let all = [&PRESETS[..], &RULE_SETS[..]].concat();
    let words = ["--compare", &*all.join(","), "--format", "jsonl", "--good"].map(str::to_owned);
    let paths = [&labels, &runs].map(|path| path.to_str().expect("UTF-8").to_owned());
    let ran = unstuck(["scan".to_owned()].into_iter().chain(words).chain(paths));
    assert_eq!(ran.exit, 0, "{}", ran.err);
    for (name, bill) in all.iter().zip(ran.lines()) {
        let score = evaluated(&labels, &runs, &["--preset", name, "--format", "jsonl"]).only_line();
        let number = |field: &str| score[field].as_u64().expect("a number");
        assert_eq!(
            (&bill["policy"], bill["runs"].as_u64()),
            (&(*name).into(), Some(number("runs")))
        );
        assert_eq!(bill["good"]["spoke"], number("false_alarms"), "{name}");
        assert_eq!(
            bill["spoke"],
            number("hits") + number("early") + number("false_alarms"),
            "{name}"
        );
    }
}

#[test]
fn a_table_is_never_wider_than_a_terminal() {
    let folder = folder();
    let all = [&PRESETS[..], &RULE_SETS[..], &["strict.toml", "steps:4000000000"]].concat();
    for options in [&[][..], &PRICE] {
        let ran = compared(&folder, &all.join(","), options);
        let widest = ran.out.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{}", ran.out);
        assert!(ran.out.contains("a policy of one's"), "{}", ran.out);
    }
}

#[test]
fn two_policies_of_one_name_cannot_be_compared() {
    let folder = folder();
    folder
        .file("same.toml", STRICT.replace("a policy of one's own, and a strict one", "openhands"));
    compared(&folder, "openhands,same.toml", &[]).fails(64, "has openhands twice");
}

#[test]
fn a_wrong_file_is_named_with_the_place() {
    let folder = folder();
    for (list, place, why) in [
        ("runs/b-three.jsonl\n\n  runs/none.jsonl\n", "good.txt:3:1: ", "no such file"),
        ("{\"file\":\"runs/b-three.jsonl\"}", "good.txt:1:1: ", "not a label"),
        ("{\"file\":\"runs/none.jsonl\",\"loop\":\"no\"}", "good.txt:1:1: ", "no such file"),
    ] {
        folder.file("good.txt", list);
        let ran = compared(&folder, "balanced", &["--good", "good.txt"]);
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{list}");
        assert!(ran.err.contains(place) && ran.err.contains(why), "{list}: {}", ran.err);
    }
    folder.file("good.txt", "runs/b-three.jsonl");
    for (policies, options, place) in [
        ("balanced", &["--good", "none.txt"][..], "none.txt: "),
        ("none.toml", &[], "none.toml: "),
        ("strict.toml", &["-o", "strict.toml"], "strict.toml: is also an input"),
        ("balanced", &["--good", "good.txt", "-o", "good.txt"], "good.txt: is also an input"),
    ] {
        let ran = compared(&folder, policies, options);
        assert_eq!((ran.exit, ran.out.as_str()), (4, ""), "{options:?}");
        assert!(ran.err.contains(place), "{options:?}: {}", ran.err);
    }
}

#[test]
fn a_run_that_cannot_be_read_is_reported_and_one_without_work_left_out() {
    let folder = folder();
    folder.file("runs/broken.jsonl", "no transcript");
    folder.file("runs/cut.jsonl", format!("{CLEAN}{{\"type\":\"ca"));
    folder.file("runs/empty.jsonl", r#"{"type":"message","role":"user","text":"hi"}"#);
    let ran = compared(&folder, "steps:1", &["--format", "jsonl", "-o", "bill.jsonl"]);
    assert_eq!((ran.exit, ran.out.as_str()), (3, ""));
    for text in
        ["broken.jsonl: ", "cut.jsonl: 1 record could not be read", "left out 1 run in which"]
    {
        assert!(ran.err.contains(text), "{text}: {}", ran.err);
    }
    let bill = fs::read_to_string(folder.path().join(Path::new("bill.jsonl"))).expect("a bill");
    let bill: Value = serde_json::from_str(&bill).expect("a line of JSON");
    assert_eq!(bill["runs"], 6);
}
