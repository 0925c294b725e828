//! Agents at work: their calls repeat, and each repetition makes progress.

use super::{CHECK, TEST};
use crate::script::Format::{ClaudeCode, Native, OpenAi};
use crate::script::{
    Label, MAIN, Scenario, Script, Turn, edit, list, page, read, say, shell, turn, write,
};

pub(super) fn all() -> Vec<Scenario> {
    vec![fix(), batch(), paging(), shrinking(), poll()]
}

/// Two bugs in one file: the second failure shows once the first is gone.
fn fix() -> Scenario {
    Scenario {
        name: "healthy-fix",
        number: 1,
        project: &[
            CHECK,
            (
                "src/total.sh",
                r#"# Prints the sum of 1 to N.
total() {
    sum=0
    i=1
    while [ "$i" -lt "$1" ]; do
        sum=$((sum + i))
        i=$((i + 1))
    done
    printf '%s\n' "$sum"
}

# Prints the mean of 1 to N, rounded up.
mean() {
    printf '%s\n' "$(($(total "$1") / $1))"
}
"#,
            ),
            (
                "tests/run.sh",
                r#". tests/check.sh
. src/total.sh
check 'total 1' "$(total 1)" 1
check 'total 4' "$(total 4)" 10
check 'mean 4' "$(mean 4)" 3
report
"#,
            ),
        ],
        script: Script {
            worker: MAIN,
            task: "The tests fail. Find out why and fix it.",
            turns: vec![
                turn("I will look at the project first.", [list(".")]),
                turn("", [list("src")]),
                turn("", [read("src/total.sh")]),
                turn("Now the tests.", [shell(TEST)]),
                turn(
                    "The loop stops one short of N.",
                    [edit("src/total.sh", r#"-lt "$1""#, r#"-le "$1""#)],
                ),
                turn("", [shell(TEST)]),
                turn(
                    "The totals are right. The mean is cut off, not rounded up.",
                    [edit(
                        "src/total.sh",
                        r#"$(total "$1") / $1"#,
                        r#"($(total "$1") + $1 - 1) / $1"#,
                    )],
                ),
                turn("", [shell(TEST)]),
                turn("All pass. A last look at the file.", [read("src/total.sh")]),
                say("Both bugs are fixed: the sum now includes N, and the mean is rounded up."),
            ],
            label: Label::Work {
                kind: "test_fix",
                why: "the same test command three times, another result each time",
            },
        },
        formats: &[Native, ClaudeCode],
    }
}

/// The greetings that the batch writes.
const GREETINGS: [(&str, &str); 12] = [
    ("greetings/cs.txt", "Dobrý den\n"),
    ("greetings/da.txt", "God dag\n"),
    ("greetings/de.txt", "Guten Tag\n"),
    ("greetings/el.txt", "Καλημέρα\n"),
    ("greetings/es.txt", "Buenos días\n"),
    ("greetings/fi.txt", "Hyvää päivää\n"),
    ("greetings/fr.txt", "Bonjour\n"),
    ("greetings/it.txt", "Buongiorno\n"),
    ("greetings/ja.txt", "こんにちは\n"),
    ("greetings/nl.txt", "Goedendag\n"),
    ("greetings/pl.txt", "Dzień dobry\n"),
    ("greetings/sv.txt", "God dag\n"),
];

/// Twelve files, written one a turn and read again four a turn.
fn batch() -> Scenario {
    let mut turns: Vec<Turn> =
        GREETINGS.iter().map(|(path, greeting)| turn("", [write(path, greeting)])).collect();
    turns.extend(GREETINGS.chunks(4).map(|four| Turn {
        text: "Reading back what I wrote.",
        calls: four.iter().map(|(path, _)| read(path)).collect(),
    }));
    turns.push(say("All twelve greetings are in place."));
    Scenario {
        name: "healthy-batch",
        number: 2,
        project: &[],
        script: Script {
            worker: MAIN,
            task: "Write a greeting in each of our twelve languages, then make sure of them.",
            turns,
            label: Label::Work {
                kind: "batch",
                why: "twelve writes with like answers, then twelve reads, a different file each",
            },
        },
        formats: &[Native, OpenAi],
    }
}

/// A long log, read twelve lines at a time until the cause of a failure stands there.
fn paging() -> Scenario {
    const LOG: &str = "build.log";
    let mut turns = vec![
        turn("", [shell("sh build.sh >build.log")]),
        turn("The build failed. I will read its log.", [page(LOG, 1, 12)]),
    ];
    turns.extend((13..=73).step_by(12).map(|line| turn("", [page(LOG, line, 12)])));
    turns.push(say(
        "The resolver breaks it: it asks for a names.txt that is not there (line 81 of the log).",
    ));
    Scenario {
        name: "healthy-paging",
        number: 3,
        project: &[(
            "build.sh",
            r#"status=0
for unit in lexer parser printer typer folder emitter resolver; do
    for stage in scan parse name type check fold lower emit link strip copy; do
        if [ "$unit $stage" = 'resolver name' ] && [ ! -f names.txt ]; then
            printf 'resolver: error: there is no names.txt\n'
            status=1
        else
            printf '%s: %s\n' "$unit" "$stage"
        fi
    done
    printf '%s: done\n' "$unit"
done
exit "$status"
"#,
        )],
        script: Script {
            worker: MAIN,
            task: "The build is broken. Which unit breaks it?",
            turns,
            label: Label::Work {
                kind: "paging",
                why: "one file again and again, another page each time",
            },
        },
        formats: &[Native],
    }
}

/// Five wrong factors, corrected one by one with a test run after each.
fn shrinking() -> Scenario {
    const UNITS: &str = "src/units.sh";
    const WRONG_TO_RIGHT: [(&str, &str); 5] = [
        ("$1 * 50", "$1 * 60"),
        ("$1 * 12)) # days", "$1 * 24)) # days"),
        ("$1 * 10)) # feet", "$1 * 12)) # feet"),
        ("$1 * 100)) # kilograms", "$1 * 1000)) # kilograms"),
        ("$1 * 10)) # euros", "$1 * 100)) # euros"),
    ];
    let mut turns = vec![turn("", [read(UNITS)]), turn("", [shell(TEST)])];
    for (wrong, right) in WRONG_TO_RIGHT {
        turns.push(turn("One factor at a time.", [edit(UNITS, wrong, right)]));
        turns.push(turn("", [shell(TEST)]));
    }
    turns.push(say("All five factors are right now."));
    Scenario {
        name: "healthy-shrinking",
        number: 4,
        project: &[
            CHECK,
            (
                UNITS,
                "seconds() { printf '%s\\n' $(($1 * 50)) # minutes\n}\n\
                 hours() { printf '%s\\n' $(($1 * 12)) # days\n}\n\
                 inches() { printf '%s\\n' $(($1 * 10)) # feet\n}\n\
                 grams() { printf '%s\\n' $(($1 * 100)) # kilograms\n}\n\
                 cents() { printf '%s\\n' $(($1 * 10)) # euros\n}\n",
            ),
            (
                "tests/run.sh",
                r#". tests/check.sh
. src/units.sh
check seconds "$(seconds 2)" 120
check hours "$(hours 2)" 48
check inches "$(inches 2)" 24
check grams "$(grams 2)" 2000
check cents "$(cents 2)" 200
report
"#,
            ),
        ],
        script: Script {
            worker: MAIN,
            task: "Make the tests of the units pass.",
            turns,
            label: Label::Work {
                kind: "edit_test",
                why: "edit and test in turns, one failure fewer each time",
            },
        },
        formats: &[Native],
    }
}

/// A job that a status command is asked about until it has finished.
fn poll() -> Scenario {
    let mut turns = vec![turn("I will wait for the job.", [list(".")])];
    turns.extend((0..9).map(|_| turn("", [shell("sh status.sh 7")])));
    turns.push(turn("", [read("job-7.log")]));
    turns.push(say("Job 7 has finished; all nine parts are built."));
    Scenario {
        name: "healthy-poll",
        number: 5,
        project: &[(
            "status.sh",
            r#"# Time is short here: each look at a job finds one part more.
log=job-$1.log
printf 'built a part\n' >>"$log"
parts=$(grep -c part "$log")
if [ "$parts" -lt 9 ]; then
    printf 'job %s: %s of 9 parts\n' "$1" "$parts"
else
    printf 'job %s: finished\n' "$1"
fi
"#,
        )],
        script: Script {
            worker: MAIN,
            task: "Tell me when job 7 has finished.",
            turns,
            label: Label::Work {
                kind: "poll",
                why: "the same question nine times, and the answer moves each time",
            },
        },
        formats: &[Native],
    }
}
