//! Histories of browser-use: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::{Event, Format, read};

#[test]
fn actions_are_calls_and_results_come_in_their_order() {
    let input = br#"{"history":[
        {"model_output":{"current_state":{"memory":"m","next_goal":"Look."},"action":[
            {"search":{"q":"x"}},{},{"wait":{"seconds":3},"interacted_element":null,"click":null},{"scroll":{}}]},
         "result":[{"is_done":false,"extracted_content":"Searched"},{"extracted_content":"none"},
            {"error":"Timeout","extracted_content":"x"}]},
        {"model_output":null,"result":[{"error":"Rate limit reached."}]},
        {"model_output":{"thinking":"t","next_goal":"Finish.","action":[{"done":{"text":"y"}}]},
         "result":[{"is_done":true,"success":false,"long_term_memory":"y"},{"extracted_content":"one too many"}]},
        {"model_output":{"next_goal":"Nothing.","action":[]},"result":[]},
        {"model_output":{"action":[{"click":{}}]}}]}"#;
    let reading = reading(input, None);
    let expected = [
        "main Assistant: Look.",
        r#"#0 main/1 search {"q":"x"}"#,
        r#"#1 main/1 wait {"seconds":3}"#,
        "#2 main/1 scroll {}",
        r#"#0 main -> "Searched" +0"#,
        r#"#1 main -> failed "Timeout""#,
        "main Assistant: Finish.",
        r#"#3 main/2 done {"text":"y"}"#,
        r#"#3 main -> "y" +3"#,
        "main Assistant only: Nothing.",
    ];
    assert_eq!(reading.events, expected);
    assert_eq!(reading.problems(), ["line 10: a step needs the field `result`"]);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.errors), (Format::BROWSER_USE, Some(1)));
}

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
