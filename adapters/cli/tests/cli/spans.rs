//! Traces of OpenTelemetry without arguments and results, as most SDKs write them by default, are judged by
//! the tools' names and failures alone, and the outputs say so.

use crate::harness::{Folder, PRESETS, Ran, scan};

/// A call of a tool: its error, if it failed.
type Call<'a> = (&'a str, Option<&'a str>);

/// Returns a trace of one agent with these calls, one span a line, each without arguments and result.
fn trace(calls: &[Call<'_>]) -> String {
    let line = |(number, (tool, error)): (usize, &Call<'_>)| {
        let failure = error.map_or(String::new(), |error| {
            format!(r#","status":{{"code":2,"message":"{error}"}}"#)
        });
        let begin = number + 1;
        format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"{begin:016x}","parentSpanId":"00f067aa0ba902b7","name":"execute_tool {tool}","startTimeUnixNano":"{begin}000000000","endTimeUnixNano":"{begin}500000000","attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"execute_tool"}}}},{{"key":"gen_ai.tool.name","value":{{"stringValue":"{tool}"}}}}]{failure}}}]}}]}}]}}"#
        )
    };
    calls.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

fn judged(calls: &[Call<'_>], options: &[&str]) -> Ran {
    let folder = Folder::new();
    let file = folder.file("spans.jsonl", trace(calls));
    scan(&file, options)
}

/// Returns the rules that found something.
fn rules(calls: &[Call<'_>], preset: &str) -> Vec<String> {
    let report = judged(calls, &["--preset", preset, "--format", "jsonl"]).only_line();
    assert_eq!(report["calls_without_arguments"], calls.len());
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().map(|found| found["rule"].as_str().expect("a rule").to_owned()).collect()
}

/// The runs of agents that make progress.
fn healthy() -> [(&'static str, Vec<Call<'static>>); 6] {
    let (no, late) = (Some("no such file"), Some("timed out"));
    [
        ("reads many files", vec![("read_file", None); 60]),
        ("runs many commands", vec![("bash", None); 60]),
        ("polls a job", vec![("get_job_status", None); 60]),
        ("edits and tests", [("edit_file", None), ("run_tests", None)].repeat(30)),
        ("retries now and then", [("fetch", late), ("fetch", None), ("parse", None)].repeat(20)),
        ("looks for a file", [("read_file", no), ("list", None), ("read_file", None)].repeat(3)),
    ]
}

#[test]
fn a_healthy_run_without_content_is_clean_under_every_preset() {
    for (what, calls) in healthy() {
        for preset in PRESETS {
            assert_eq!(rules(&calls, preset), Vec::<String>::new(), "{what}, {preset}");
        }
    }
}

#[test]
fn a_tool_that_fails_in_a_row_is_found_without_content() {
    for error in ["no such file", ""] {
        let calls = [("read_file", Some(error)); 9];
        assert!(rules(&calls, "balanced").contains(&"same-failure".to_owned()), "{error:?}");
    }
}

#[test]
fn the_outputs_say_that_arguments_are_missing() {
    let calls = [("read_file", None); 4];
    let human = judged(&calls, &[]).out;
    let remark = "no arguments recorded: judged by tool names and failures alone";
    assert!(human.contains(remark), "{human}");
    let page = judged(&calls, &["--format", "html"]).out;
    assert!(page.contains(remark), "{page}");
}
