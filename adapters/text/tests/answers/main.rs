//! Answers, and what each reader finds in them.

#[path = "../support/cases.rs"]
mod support;

use support::{Case, cases, spelled};
use unstuck_text::{
    Cause, Envelope, Unescaped, complaint, finds_nothing, is_pending, is_placeholder, is_refusal,
    is_silent, report,
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
