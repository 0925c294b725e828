//! Situations in which `balanced` speaks, and the like ones in which it does not.

use unstuck_core::{Action, Verdict};
use unstuck_text::{LINE_WORDS, Preset, Worker};

use crate::texts::texts;

/// A call: its tool, its arguments, its result, and whether the host reports a failure.
type Call = (&'static str, String, String, bool);

/// Returns the number of the first call with a finding, its rule, and the strongest action of all.
fn judged(calls: impl IntoIterator<Item = Call>) -> (Option<(usize, &'static str)>, Action) {
    let Preset { policy, recipe } = Preset::BALANCED;
    let mut worker: Worker<'_, 64, 8, LINE_WORDS> = Worker::new(policy, recipe).unwrap();
    let (mut first, mut most) = (None, Action::Proceed);
    for (number, (tool, args, result, failed)) in (1..).zip(calls) {
        let asked = worker.announce(tool, &args);
        let said: Verdict = worker.outcome(asked.ticket, tool, &result, failed);
        let said = said.or_stronger(asked.verdict).or_stronger(asked.settled);
        most = most.max(said.action);
        let name = |finding: unstuck_core::Finding| finding.rule_name(policy);
        first = first.or(said.finding.map(|finding| (number, name(finding))));
    }
    (first, most)
}

fn call(tool: &'static str, args: String, result: impl Into<String>) -> Call {
    (tool, args, result.into(), false)
}

fn shell(command: impl AsRef<str>, result: impl Into<String>) -> Call {
    call("bash", format!("{{\"command\":{:?}}}", command.as_ref()), result)
}

const HITS: &str = r#"[{"title":"Docs","url":"https://a.example/docs"},{"title":"Home","url":"https://a.example"}]"#;

#[test]
fn the_same_answer_to_other_words_is_found() {
    let queries = ["a docs", "documentation of a", "official manual", "a developer pages"];
    let asked =
        |query: &str, answer: &str| call("top5", format!("{{\"query\":{query:?}}}"), answer);
    let searches = queries.map(|query| asked(query, HITS));
    assert_eq!(judged(searches).0, Some((4, "same-answer")));
    // A short answer may be a confirmation.
    assert_eq!(judged(queries.map(|query| asked(query, "42 documents"))).0, None);
    let written = |n| call("create_note", format!("{{\"text\":\"n{n}\"}}"), HITS);
    assert_eq!(judged((0..6).map(written)).0, None);
}

#[test]
fn a_failure_that_may_pass_is_found_later() {
    let first = |said: &'static str| {
        let fails = move |_| ("fetch_prices", String::from("{\"day\":1}"), said.into(), true);
        judged((0..8).map(fails)).0.map(|(call, _)| call)
    };
    for said in texts![
        "HTTP 429 Too Many Requests" "503 Service Unavailable"
        "Rate limit exceeded for this key. Please try again in 20 s."
        "The model is overloaded, try again later" "connect ECONNREFUSED 127.0.0.1:5432"
        "curl: (7) Failed to connect to localhost port 8080: Connection refused"
        "fatal: Unable to create '/srv/app/.git/index.lock': File exists."
        "sqlite3.OperationalError: database is locked" "Temporary failure in name resolution"
    ] {
        // Equal failures of any calls are found at the fourth.
        assert_eq!(first(said), Some(4), "{said}");
    }
    for said in texts![
        "HTTP 404 Not Found" "no such city: Berlim" "permission denied"
        "error: unexpected token at line 503 column 2"
    ] {
        assert_eq!(first(said), Some(3), "{said}");
    }
}

#[test]
fn each_wish_of_the_user_is_another_refusal() {
    const SAID: &str = "The user doesn't want to proceed with this tool use.";
    let edit = |n: usize, wish: &str| {
        let args = format!("{{\"file_path\":\"/a/{n}.py\",\"new_string\":\"x{n}\"}}");
        ("Edit", args, format!("{SAID}{wish}"), true)
    };
    let wishes =
        ["shorter names", "no comment", "use the helper", "keep the old test", "other file"];
    let said = |(n, wish)| edit(n, &format!(" To tell you how to proceed, the user said:\n{wish}"));
    assert_eq!(judged(wishes.into_iter().enumerate().map(said)).0, None);
    assert!(judged((0..5).map(|n| edit(n, ""))).0.is_some());
}

/// In the arguments, `#` stands for a text and `%` for a number, which are others in each call.
#[test]
fn what_only_describes_or_limits_a_call_makes_no_other_call() {
    const UNMADE: &str = "make: *** No rule to make target 'all'.  Stop.";
    const TWICE: &str = "The old text matches more than one position in the file.";
    const ABSENT: &str = "Failed to edit, 0 occurrences found for old_string.";
    let texts =
        ["Add a check", "Insert a nil guard", "Handle empty URLs", "Fix parse", "Be careful"];
    let same = Some((3, "same-effect"));
    for (tool, args, answer, expected) in [
        ("get_scan", r#"{"topic":"/scan","timeout_sec":%}"#, "none", Some((5, "alike"))),
        ("edit_file", r##"{"display_description":"#","path":"url.go"}"##, TWICE, same),
        ("bash", r##"{"command":"make","description":"#"}"##, UNMADE, same),
        ("run_command", r#"{"command":"make","timeout":%000}"#, UNMADE, same),
        ("replace", r##"{"instruction":"#","old_string":"a"}"##, ABSENT, same),
        // What is logged, the content, and another request.
        ("log_event", r##"{"level":"info","description":"#"}"##, "logged", None),
        ("create_issue", r##"{"description":"#"}"##, "created", None),
        ("request_approval", r##"{"id":4,"justification":"#"}"##, "noted", None),
    ] {
        let args = |(n, text): (u8, &str)| args.replace('#', text).replace('%', &n.to_string());
        let calls = (1..).zip(texts).map(|it| call(tool, args(it), answer));
        assert_eq!(judged(calls).0, expected, "{tool}");
    }
}

#[test]
fn a_page_is_the_same_but_for_its_tokens() {
    let page = |n: usize| {
        let token = ["Ab9/t+3", "x7Qk=2", "99zz/1", "q0+81x"][n];
        let html = format!(
            "<h1>Sorry</h1><input name=\"_csrf\" value=\"{token}\"><script nonce=\"{token}\">"
        );
        call("fetch_page", r#"{"url":"https://a.example"}"#.into(), html)
    };
    assert_eq!(judged((0..3).map(page)).0, Some((3, "same-effect")));
    let snapshot = |n: usize, text: &str| {
        call("take_snapshot", "{}".into(), format!("uid={n}_0 button \"Go\"\n[ref=e{n}] {text}"))
    };
    assert_eq!(judged((1..4).map(|n| snapshot(n, "Login"))).0, Some((3, "same-effect")));
    let pages = ["Login", "Cart", "Pay", "Done"];
    assert_eq!(judged((1..5).zip(pages).map(|(n, text)| snapshot(n, text))).0, None);
}

#[test]
fn steps_and_advice_of_a_host_are_not_part_of_an_answer() {
    let answer = |n: usize, advice: &str| {
        let text = format!("A page\nYou have {n} steps left.\n\nExpert feedback:\n{advice}.");
        shell("python search.py", text)
    };
    let calls = [(5, "Look elsewhere"), (4, "Try another name"), (3, "Read the question")];
    assert_eq!(judged(calls.map(|(n, advice)| answer(n, advice))).0, Some((3, "same-effect")));
}

#[test]
fn a_job_of_the_agents_own_is_waited_for() {
    let start = || shell("python train.py &", "Command running in background with ID: b7");
    let look = |n: usize| shell("tail -3 train.log", format!("epoch {} of 40", n / 9));
    let (first, most) = judged([start()].into_iter().chain((0..9).map(look)));
    assert_eq!((first, most), (Some((4, "same-effect")), Action::Warn), "it is never refused");
    let (_, most) = judged((0..9).map(look));
    assert!(most >= Action::Block, "nothing is under way");
    // Starting it again is no wait.
    let names = ["amber-otter", "swift-cloud", "calm-pine", "kind-sage"].repeat(3);
    let again = names.into_iter().map(|name| {
        shell("bash scan.sh", format!("Command still running (session {name}, pid 4711)."))
    });
    assert_eq!(judged(again).0, Some((5, "still-waiting")));
    let empty = |_| shell("", "[The command has no new output after 10 seconds. You may wait.]");
    assert_eq!(judged((0..7).map(empty)).0, None);
}

#[test]
fn work_that_goes_on_is_not_accused() {
    let image = |n: usize| {
        let args = format!("{{\"filePath\":\"invoices/invoice_{n:03}.png\"}}");
        call("read", args, "Image read successfully")
    };
    assert_eq!(judged((0..8).map(image)).0, None, "a sweep that only acknowledges");
    let fresh = |n: usize| {
        let text = format!("{{\"tab\": {n}, \"text\": \"{}\"}}", format!("word{n} ").repeat(20));
        shell(
            format!("$env:X; show {n}"),
            format!("/usr/bin/bash: line 1: :X: command not found\n{text}"),
        )
    };
    assert_eq!(judged((0..7).map(fresh)).0, None, "the script goes on behind the complaint");
    let edit = |n: usize| {
        let (place, failed) = (n / 2 * 10, n.is_multiple_of(2));
        let result = if failed {
            "Your proposed edit has introduced new syntax error(s).\n- E999 SyntaxError".into()
        } else {
            format!("[File: a.py ({} lines total)]\nFile updated.", 400 + n)
        };
        ("edit", format!("{{\"command\":\"edit {place}:{n}\"}}"), result, failed)
    };
    assert_eq!(judged((0..10).map(edit)).0, None, "each refused edit is mended at once");
}

#[test]
fn searches_that_find_nothing_are_found_by_their_patterns() {
    let grep = |name: &str, answer| shell(format!("grep -rn '{name}' src | head"), answer);
    let like = ["foo", "fo0", "f00", "f0o", "foo", "food", "foot"];
    let names = texts![
        "runOldApply" "shouldSkip" "ApplyAttemptedAt" "legacyTimer" "waitForIdle" "printAll"
        "CACHE_DIR" "mkTemp" "emitClose" "xor_bits" "quoteJson" "hashKey"
    ];
    for answer in texts![
        "" "(no output)" "Exit code 1"
        "Your command ran successfully and did not produce any output."
    ] {
        let first = |names: &[&str]| {
            judged(names.iter().map(|name| grep(name, answer))).0.map(|(at, _)| at)
        };
        assert_eq!(first(&like), Some(5), "{answer}");
        assert_eq!(first(&names), Some(10), "{answer}");
    }
    let failed =
        |name: &&str| ("bash", format!("{{\"command\":\"rg {name}\"}}"), String::new(), true);
    assert_eq!(
        judged(like.iter().map(failed)).0,
        Some((5, "alike")),
        "the host calls it a failure"
    );
    let pattern = |name: &&str| {
        call("Grep", format!("{{\"pattern\":\"{name}\",\"path\":\"/p\"}}"), "No files found")
    };
    assert_eq!(judged(like.iter().map(pattern)).0, Some((5, "alike")));
    let edit = || {
        call(
            "Edit",
            r#"{"file_path":"/p/a.go","old_string":"foo","new_string":"bar"}"#.into(),
            "Updated.",
        )
    };
    let checked = [edit()].into_iter().chain(like.iter().map(pattern));
    assert_eq!(judged(checked).0, None, "it is gone");
    let broken = |name: &str| grep(name, "grep: Unmatched [, [^");
    assert_ne!(judged(like.map(broken)).0.map(|(_, rule)| rule), Some("nothing-new"));
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

#[test]
fn json_is_compared_by_its_meaning() {
    let answers = [
        r#"{"title":"Docs","size":1.50,"tags":["a","b"],"at":{"x":1,"y":2}}"#,
        r#"{"at": {"y": 2, "x": 1}, "size": 1.5, "title": "Docs", "tags": ["a", "b"]}"#,
        "{\n  \"tags\" : [ \"a\", \"b\" ],\n  \"title\": \"Docs\", \"size\": 1.5,\n  \"at\": {\"x\":1,\"y\":2}\n}\n",
    ];
    let asked = |answer: &str| call("get_page", r#"{"id":7}"#.into(), answer);
    assert_eq!(judged(answers.map(asked)).0, Some((3, "same-effect")));
    assert!(
        judged(answers.into_iter().cycle().take(8).map(asked)).1 >= Action::Block,
        "they are equal"
    );
    for other in [
        r#"{"title":"Docs","size":1.5,"tags":["b","a"],"at":{"x":1,"y":2}}"#,
        r#"{"title":"Docs","size":1.5,"tags":["a","b"],"at":{"x":2,"y":1}}"#,
        r#"{"title":"Docs","size":15,"tags":["a","b"],"at":{"x":1,"y":2}}"#,
        r#"{"title":"Docs","size":1.5,"tags":["a","b"],"x":1,"at":{"y":2}}"#,
        r#"{"title":"Docs","size":1.5,"tags":["a","b"],"at":[{"x":1,"y":2}]}"#,
    ] {
        assert_eq!(judged([answers[0], answers[1], other].map(asked)).0, None, "{other}");
    }
    let timed = |n: usize| {
        let (first, second) = (format!("\"elapsed_ms\": {n}12"), "\"found\": \"nothing of use\"");
        let members = if n.is_multiple_of(2) {
            format!("{first}, {second}")
        } else {
            format!("{second}, {first}")
        };
        asked(&format!("{{{members}}}"))
    };
    assert_eq!(judged((0..3).map(timed)).0, Some((3, "same-effect")), "a volatile member");
}

#[test]
fn things_that_are_missing_are_looked_up_one_by_one() {
    let note = |n: usize| {
        ("get_note", format!("{{\"customer_id\":\"C-{n}\"}}"), "Error: note not found".into(), true)
    };
    assert_eq!(judged((0..6).map(note)).0, None);
    assert_eq!(judged((0..9).map(note)).0, Some((7, "same-failure")));
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
    assert_eq!(judged((0..9).map(|_| status())).0, Some((8, "still-waiting")));
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

#[test]
fn weak_answers_to_many_calls_are_found_later() {
    let count = |n: usize| shell(format!("grep -c TODO src/f{n}.rs"), "0");
    assert_eq!(judged((0..9).map(count)).0, Some((8, "alike")));
    let label = |n: usize| {
        (
            "create_label",
            format!("{{\"name\":\"L{n}\"}}"),
            "Error: label already exists".into(),
            true,
        )
    };
    assert_eq!(judged((0..9).map(label)).0, Some((7, "same-failure")));
}

#[test]
fn a_run_in_which_most_calls_fail_gets_one_nudge() {
    let errors = texts![
        "no such flag: -x" "cannot open a.db" "port 80 is in use" "division by zero"
        "missing bracket" "the table users has no column b" "unknown host db1"
        "the image has no layers" "it is not a tarball" "checksum mismatch"
        "invalid utf-8 in line 4" "the lock file is newer"
    ];
    let fails = |(n, error): (usize, &str)| {
        let tools = ["build", "query", "deploy", "convert"];
        (tools[n % 4], format!("{{\"target\":\"t{n}\"}}"), format!("error: {error}"), true)
    };
    let run = errors.into_iter().enumerate().map(fails);
    assert_eq!(judged(run.clone()), (Some((9, "many-failures")), Action::Nudge));
    let works = |n: usize| {
        call("build", format!("{{\"target\":\"u{n}\"}}"), format!("built u{n} in one go"))
    };
    let mixed = run.enumerate().flat_map(|(n, call)| [call, works(n)]);
    assert_eq!(judged(mixed).0, None);
}

#[test]
fn scripts_that_time_out_one_after_the_other_are_found() {
    let step = |n: usize| match n % 2 {
        0 => shell(format!("cat > eval_{n}.py <<E\nload({n})\nE"), ""),
        _ => shell(
            format!("timeout 60 python eval_{}.py", n - 1),
            format!(
                "The last command <command>timeout 60 python eval_{}.py</command> timed out and has been killed.\nPlease try another command.",
                n - 1
            ),
        ),
    };
    assert_eq!(judged((0..12).map(step)).0, Some((8, "one-error")));
    // A tool that works again between is slow, and not stuck.
    let fetch = |n: usize| {
        let (late, url) = (n.is_multiple_of(2), format!("{{\"url\":\"https://a/{n}\"}}"));
        (
            "fetch",
            url,
            if late { "timed out".into() } else { format!("page {n} of the book") },
            late,
        )
    };
    assert_eq!(judged((0..20).map(fetch)).0, None);
}

#[test]
fn the_usage_of_an_edit_is_a_refusal() {
    let edit = |n: usize| {
        let args = format!("{{\"command\":\"edit {n}\\n  value: {n}\"}}");
        call("edit", args, "Usage: edit <start_line>:<end_line>")
    };
    assert_eq!(judged((15..23).map(edit)).0.map(|(at, _)| at), Some(4));
}
