//! Agents that are stuck: their calls repeat without progress.

use super::{CHECK, TEST};
use crate::script::Format::{ClaudeCode, Native, OpenAi};
use crate::script::{
    Label, MAIN, Scenario, Script, Turn, delegate, edit, list, read, say, shell, turn,
};

pub(super) fn all() -> Vec<Scenario> {
    vec![same_test(), two_in_turns(), lap_of_three(), same_error(), talk(), parallel(), worker()]
}

/// The same turn `times` times.
fn again(times: usize, turn: impl Fn() -> Turn) -> impl Iterator<Item = Turn> {
    (0..times).map(move |_| turn())
}

/// A failing test, run again and again; the one edit between changes a comment.
fn same_test() -> Scenario {
    const CLAMP: &str = "src/clamp.sh";
    let test = || turn("Let me run the tests again.", [shell(TEST)]);
    let mut turns = vec![turn("", [list("src")]), turn("", [read(CLAMP)])];
    turns.extend(again(3, test));
    turns.push(turn(
        "I will make the intent clear.",
        [edit(CLAMP, "# Prints N", "# Clamps: prints N")],
    ));
    turns.extend(again(4, test));
    Scenario {
        name: "stuck-same-test",
        number: 6,
        project: &[
            CHECK,
            (
                CLAMP,
                r#"# Prints N, but at least LOW and at most HIGH.
clamp() {
    if [ "$1" -lt "$2" ]; then
        printf '%s\n' "$2"
    else
        printf '%s\n' "$1"
    fi
}
"#,
            ),
            (
                "tests/run.sh",
                r#". tests/check.sh
. src/clamp.sh
check 'clamp 5 1 9' "$(clamp 5 1 9)" 5
check 'clamp 0 1 9' "$(clamp 0 1 9)" 1
check 'clamp 12 1 9' "$(clamp 12 1 9)" 9
report
"#,
            ),
        ],
        script: Script {
            worker: MAIN,
            task: "Make the tests of clamp pass.",
            turns,
            label: Label::Stuck {
                kind: "exact",
                why: "the same failing test seven times; the edit between changes a comment",
                start: 2,
                at: 4,
                end: 9,
            },
        },
        formats: &[Native, OpenAi],
    }
}

/// A file and a search in it, in turns: neither can answer the question.
fn two_in_turns() -> Scenario {
    let mut turns = vec![turn("", [list(".")])];
    for _ in 0..5 {
        turns.push(turn("The setting must be here.", [read("client.conf")]));
        turns.push(turn("", [shell("grep -n retries client.conf")]));
    }
    Scenario {
        name: "stuck-two-in-turns",
        number: 7,
        project: &[
            ("client.conf", "host = example.org\nport = 8080\ntimeout = 30\n"),
            ("server.conf", "listen = 8080\nretries = 3\n"),
        ],
        script: Script {
            worker: MAIN,
            task: "How many retries are configured?",
            turns,
            label: Label::Stuck {
                kind: "ABAB",
                why: "reads the same file and searches it for what is not there, in turns",
                start: 1,
                at: 6,
                end: 10,
            },
        },
        formats: &[Native],
    }
}

/// Test, source, test source: the same lap again and again, with one odd search in each.
fn lap_of_three() -> Scenario {
    const ODD: [&str; 5] = [
        "grep -n sed src/slug.sh",
        "grep -n printf src/slug.sh",
        "grep -c check tests/run.sh",
        "grep -n dash src/slug.sh",
        "ls tests",
    ];
    let turns = ODD.iter().flat_map(|odd| {
        [
            turn("", [shell(TEST)]),
            turn("What does the code do?", [read("src/slug.sh")]),
            turn("What does the test want?", [read("tests/run.sh")]),
            turn("", [shell(odd)]),
        ]
    });
    Scenario {
        name: "stuck-lap-of-three",
        number: 8,
        project: &[
            CHECK,
            (
                "src/slug.sh",
                r#"# Prints a title in the form of a file name.
slug() {
    printf '%s\n' "$1" | sed 's/ /-/'
}
"#,
            ),
            (
                "tests/run.sh",
                r#". tests/check.sh
. src/slug.sh
check 'one word' "$(slug one)" one
check 'three words' "$(slug 'one two three')" one-two-three
report
"#,
            ),
        ],
        script: Script {
            worker: MAIN,
            task: "Make the tests of slug pass.",
            turns: turns.collect(),
            label: Label::Stuck {
                kind: "cycle",
                why: "test, read, read: five laps with one odd search each, and no edit",
                start: 0,
                at: 10,
                end: 18,
            },
        },
        formats: &[Native],
    }
}

/// An edit that never applies: the file is indented by a tab, the agent tries every number of blanks.
fn same_error() -> Scenario {
    const LIMITS: &str = "src/limits.sh";
    const TRIES: [(&str, &str); 6] = [
        ("    max=10", "    max=20"),
        ("  max=10", "  max=20"),
        ("        max=10", "        max=20"),
        ("    max=10;", "    max=20;"),
        (" max=10", " max=20"),
        ("   max=10", "   max=20"),
    ];
    let mut turns = vec![turn("", [read(LIMITS)])];
    turns.extend(
        TRIES
            .iter()
            .map(|(old, new)| turn("The indentation must be different.", [edit(LIMITS, old, new)])),
    );
    Scenario {
        name: "stuck-edit",
        number: 9,
        project: &[(LIMITS, "limits() {\n\tmin=1\n\tmax=10\n}\n")],
        script: Script {
            worker: MAIN,
            task: "Raise the upper limit to 20.",
            turns,
            label: Label::Stuck {
                kind: "same_error",
                why: "six guesses at the same blanks, the same error each time",
                start: 1,
                at: 4,
                end: 6,
            },
        },
        formats: &[Native, ClaudeCode],
    }
}

/// Words instead of deeds, whatever the host says.
fn talk() -> Scenario {
    let promise = || say("I will now open src/queue.sh and correct the comparison in pop.");
    Scenario {
        name: "stuck-talk",
        number: 10,
        project: &[],
        script: Script {
            worker: MAIN,
            task: "Correct the comparison in pop.",
            turns: again(6, promise).collect(),
            label: Label::Stuck {
                kind: "text_only",
                why: "index is of messages: six times the same promise, and never a call",
                start: 1,
                at: 5,
                end: 11,
            },
        },
        formats: &[Native],
    }
}

/// Two reads issued together, again and again; one of the files is not there.
fn parallel() -> Scenario {
    let both =
        || turn("Let me read both files again.", [read("src/lexer.sh"), read("src/lexer.conf")]);
    let mut turns = vec![turn("", [list("src")])];
    turns.extend(again(5, both));
    Scenario {
        name: "stuck-parallel",
        number: 11,
        project: &[
            ("src/lexer.sh", "tokens() {\n    cat lexer.conf\n}\n"),
            ("src/parser.sh", "tree() {\n    tokens\n}\n"),
        ],
        script: Script {
            worker: MAIN,
            task: "Explain how the lexer is configured.",
            turns,
            label: Label::Stuck {
                kind: "exact",
                why: "the same two reads in every step, the same file missing each time",
                start: 1,
                at: 5,
                end: 10,
            },
        },
        formats: &[Native, ClaudeCode, OpenAi],
    }
}

/// A worker that searches for what is not there, while the agent that sent it gets on with its work.
fn worker() -> Scenario {
    const SEARCH: &str = "grep -n deadline src/clock.sh src/timer.sh";
    let search = || turn("The deadline must be set somewhere.", [shell(SEARCH)]);
    let mut turns = vec![turn("", [list("src")])];
    turns.extend(again(6, search));
    turns.push(say("I could not find where the deadline is set."));
    let errand = Script {
        worker: "a3c58e1f07b94d26a",
        task: "Find out where the deadline is set.",
        turns,
        label: Label::Stuck {
            kind: "exact",
            why: "the same search without a match six times",
            start: 1,
            at: 3,
            end: 6,
        },
    };
    Scenario {
        name: "stuck-worker",
        number: 12,
        project: &[
            ("src/clock.sh", "now() {\n    cat clock.txt\n}\n"),
            ("src/timer.sh", "limit=30\n\nleft() {\n    printf '%s\\n' $((limit - $1))\n}\n"),
        ],
        script: Script {
            worker: MAIN,
            task: "Where is the deadline set, and how long is it?",
            turns: vec![
                turn("", [list(".")]),
                turn("I will have someone search for it.", [delegate("find the deadline", errand)]),
                turn("Then I will look myself.", [read("src/timer.sh")]),
                turn("", [shell(". src/timer.sh; left 10")]),
                say("It is the limit in src/timer.sh: 30, of which 20 are left after 10."),
            ],
            label: Label::Work {
                kind: "none",
                why: "four different calls; the worker that it sent is stuck",
            },
        },
        formats: &[Native, ClaudeCode],
    }
}
