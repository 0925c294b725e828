//! Answers, and what each reader finds in them.

#[path = "../support/cases.rs"]
mod support;

use support::{Case, cases, spelled};
use unstuck_core::Tag;
use unstuck_text::{
    Answer, Cause, Envelope, LoopCause, PastCall, Recipe, Unescaped, complaint, finds_nothing,
    is_pending, is_placeholder, is_refusal, is_silent, report,
};

/// Asks `reader` for each line of `file` under the heading `name`, which it says yes to, and under `not name`.
fn ask(file: &str, name: &str, reader: fn(&str) -> bool) {
    let mut asked = 0;
    for Case { group, heading, text } in cases(file) {
        let is_it = heading == name;
        if is_it || heading.strip_prefix("not ") == Some(name) {
            for line in text.lines().map(spelled) {
                assert_eq!(reader(&line), is_it, "{line:?} is {heading} {group}");
                asked += 1;
            }
        }
    }
    assert!(asked > 0, "{name}");
}

#[test]
fn a_line_may_tell_a_failure_or_a_time_out() {
    let lines = include_str!("lines.txt");
    ask(lines, "failed", |line| report(line).failed == Some(true));
    ask(lines, "timed out", |line| report(line).timed_out);
}

#[test]
fn of_a_tool_that_writes_the_first_line_is_read() {
    let fails = |text| {
        let answer = Answer { kind: Tag::Write, ..Answer::new("edit", text, false) };
        Recipe::BALANCED.outcome_of(&answer).has_failed()
    };
    assert!(fails("String to replace not found in file.\nString: let x = 1;"));
    assert!(!fails("The file a.log has been updated:\nerror: no such command"));
}

#[test]
fn a_job_that_goes_on_is_pending() {
    ask(include_str!("pending.txt"), "pending", is_pending);
}

#[test]
fn an_empty_search_says_so() {
    ask(include_str!("nothing.txt"), "empty", finds_nothing);
}

#[test]
fn an_answer_without_information_is_silent_and_a_placeholder_says_what_is_gone() {
    ask(include_str!("silence.txt"), "silent", is_silent);
    ask(include_str!("silence.txt"), "gone", is_placeholder);
}

#[test]
fn a_refusal_is_the_first_line() {
    ask(include_str!("refusals.txt"), "refused", is_refusal);
}

#[test]
fn an_answer_without_a_sign_is_silent_and_nothing_else() {
    for answer in ["", " ", "\n", " \n"] {
        let readers: [fn(&str) -> bool; 4] =
            [is_pending, finds_nothing, is_placeholder, is_refusal];
        assert!(is_silent(answer) && !readers.iter().any(|is| is(answer)), "{answer:?}");
        let mut memory = Unescaped::default();
        assert_eq!(Envelope::open(answer, &mut memory), Envelope::bare(answer));
    }
}

/// Returns the texts of `file`, each with its heading and with what stands between `«` and `»` in it, if there is such a
/// part.
fn marked(file: &str) -> impl Iterator<Item = (&str, String, Option<String>)> {
    cases(file).into_iter().map(|Case { heading, text, .. }| {
        let text = spelled(text);
        let part = text.split_once('«').and_then(|(_, rest)| rest.split_once('»'));
        let part = part.map(|(part, _)| part.to_owned());
        (heading, text.replace(['«', '»'], ""), part)
    })
}

#[test]
fn the_sentence_with_the_cause_is_found() {
    for (_, text, sentence) in marked(include_str!("complaints.txt")) {
        for text in [text.clone(), text + "\n"] {
            assert_eq!(complaint(&text), sentence.as_deref(), "{text}");
        }
    }
}

#[test]
fn the_words_of_many_tools_tell_one_cause() {
    for (kind, text, subject) in marked(include_str!("causes.txt")) {
        let mut memory = Unescaped::default();
        let told = Cause::of(&text, &mut memory).map(|cause| (cause.kind.name(), cause.subject));
        assert_eq!(told.unwrap_or(("none", None)), (kind, subject.as_deref()), "{text}");
    }
}

#[test]
fn every_wrapper_is_taken_off_and_nothing_else_is() {
    for (heading, text, body) in marked(include_str!("envelopes.txt")) {
        for text in [text.clone(), text + "\n"] {
            let mut memory = Unescaped::default();
            let opened = Envelope::open(&text, &mut memory);
            if heading == "bare" {
                assert_eq!(opened, Envelope::bare(&text));
                continue;
            }
            let told = match opened.exit {
                Some(code) => format!("exit {code}"),
                None if opened.is_running => "running".to_owned(),
                None => "no status".to_owned(),
            };
            assert_eq!((Some(opened.body.trim()), &*told), (body.as_deref(), heading), "{text}");
        }
    }
}

#[test]
fn earlier_calls_tell_more_of_a_cause() {
    for Case { group, heading, text } in cases(include_str!("clues.txt")) {
        let text = text.lines().map(spelled).collect::<Vec<_>>();
        let calls: Vec<_> = text.iter().map(|line| call(line)).collect();
        let (mut memory, answer) = (Unescaped::default(), calls.last().expect("a call").answer);
        let cause = LoopCause::of(answer, calls.iter().rev().copied(), &mut memory);
        let cause = cause.map(|cause| cause.to_string()).unwrap_or_default();
        let is_told = match heading.strip_prefix("no ") {
            _ if heading == "nothing" => cause.is_empty(),
            Some(unsaid) => !cause.contains(unsaid),
            None => cause.contains(heading),
        };
        assert!(is_told, "{cause}\n{heading}\n{group}");
    }
}

/// Returns the call on a line.
fn call(line: &str) -> PastCall<'_> {
    let failed = line.contains('✗');
    let (call, answer) = line.split_once(['✓', '✗']).expect("a call and an answer");
    let (tool, args) = call.split_once(' ').expect("a tool");
    PastCall { tool, args: args.trim_end(), answer: answer.trim_start_matches(' '), failed }
}
