//! Results of browser-use: which are equal, by the pages behind them.

use unstuck_trace::{Event, read};

/// Returns the part of each result that is not in the file, of steps with one action each.
fn cuts(steps: &[(&str, &str, &str)]) -> Vec<Option<String>> {
    let step = |(action, state, result): &(&str, &str, &str)| {
        format!(
            r#"{{"model_output":{{"action":[{{"{action}":{{}}}}]}},"result":[{{{result}}}],"state":{state}}}"#
        )
    };
    let steps = steps.iter().map(step).collect::<Vec<_>>();
    let input = format!(r#"{{"history":[{}]}}"#, steps.join(","));
    let mut cuts = Vec::new();
    let trace = read(input.as_bytes(), None, &mut |event| {
        if let Event::Outcome(outcome) = event {
            cuts.push(outcome.cut.map(str::to_owned));
        }
    });
    assert_eq!(trace.map(|trace| trace.calls), Ok(steps.len()));
    cuts
}

#[test]
fn equal_results_on_different_pages_are_different() {
    let scrolled = r#""extracted_content":"Scrolled""#;
    let cuts = cuts(&[
        ("scroll", r#"{"url":"a","screenshot":"1"}"#, scrolled),
        ("scroll", r#"{"url":"a","screenshot":"1","title":"x"}"#, scrolled),
        ("scroll", r#"{"url":"a","screenshot":"2"}"#, scrolled),
        ("scroll", r#"{"url":"b","screenshot":"2"}"#, scrolled),
        ("scroll", r#"{"url":"b","screenshot":"2"}"#, r#""error":"No element""#),
    ]);
    let [first, again, moved, elsewhere, failed] = &cuts[..] else { panic!("{cuts:?}") };
    assert!(first.is_some() && first == again, "{cuts:?}");
    assert!(first != moved && moved != elsewhere && first != elsewhere, "{cuts:?}");
    assert_eq!(failed, &None);
}

#[test]
fn what_an_action_brought_is_unknown_without_a_picture() {
    let (page, scrolled) = (r#"{"url":"a","screenshot_path":"p"}"#, r#""extracted_content":"x""#);
    let cuts = cuts(&[
        ("scroll", page, scrolled),
        ("scroll", page, scrolled),
        ("scroll", "null", scrolled),
        ("scroll", page, r#""error":"No element""#),
        ("extract", page, scrolled),
        ("extract", r#"{"url":"a","screenshot":"2"}"#, scrolled),
        ("extract", r#"{"url":"b","screenshot_path":"p"}"#, scrolled),
    ]);
    let unknown = ["0", "1", "2"].map(|cut| Some(cut.to_owned()));
    assert_eq!(cuts[..3], unknown);
    assert_eq!(cuts[3], None);
    assert_eq!(cuts[4], cuts[5]);
    assert!(cuts[4].is_some() && cuts[4] != cuts[6], "{cuts:?}");
}
