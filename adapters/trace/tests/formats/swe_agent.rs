//! SWE-agent and mini-swe-agent trajectories: one small case for each trap that real files set.

use crate::reading::reading;
use unstuck_trace::Format;

const STEPS: &str = r#"[
{"action":"ls\n","observation":"a.rs","response":"I look.\n```\nls\n```","thought":"I look.","state":{}},
{"action":"cat \"a\"","observation":"","thought":""},
{"action":"","observation":"","response":"I am lost."},
{"action":"submit","observation":null,"thought":"Done."}]"#;

const HISTORY: &str = r#"[
{"role":"system","content":"Be brief.","agent":"main","message_type":"system_prompt"},
{"role":"user","content":"Like this:","agent":"main","is_demo":true},
{"role":"assistant","content":"x","action":"demo","agent":"main","is_demo":true},
{"role":"user","content":"Go","agent":"main","message_type":"observation"},
{"role":"assistant","content":"I look.\n```\nls\n```","thought":"I look.","action":"ls\n","agent":"main","tool_calls":[{"id":"c","type":"function","function":{"name":"list","arguments":"{}"}}]},
{"role":"tool","content":[{"type":"text","text":"a.rs"}],"agent":"main","tool_call_ids":["c"]},
{"role":"assistant","content":"I am lost.","agent":"main"},
{"role":"user","content":"Give a command.","agent":"main"},
{"role":"assistant","content":"Submit.","action":"submit","agent":"main"}]"#;

#[test]
fn the_steps_of_a_trajectory_suffice() {
    let expected = [
        "main Assistant: I look.",
        r#"#0 main/1 bash {"command":"ls\n"}"#,
        "#0 main -> \"a.rs\"",
        r#"#1 main/2 bash {"command":"cat \"a\""}"#,
        "#1 main -> \"\"",
        "main Assistant only: I am lost.",
        "main Assistant: Done.",
        r#"#2 main/3 bash {"command":"submit"}"#,
    ];
    let table = [
        format!(r#"{{"environment":"x","trajectory":{STEPS},"history":{HISTORY},"info":{{}}}}"#),
        format!(r#"{{"history":[],"trajectory":{STEPS}}}"#),
    ];
    for input in table {
        for from in [None, Some(Format::SWE_AGENT)] {
            let reading = reading(input.as_bytes(), from);
            assert_eq!(reading.events, expected);
            let trace = reading.end.expect("a trace");
            assert_eq!((trace.format, trace.errors, trace.workers), (Format::SWE_AGENT, None, 1));
        }
    }
}

#[test]
fn a_demonstration_may_hold_only_the_history() {
    let expected = [
        "main System: Be brief.",
        "main User: Go",
        "main Assistant: I look.",
        r#"#0 main/1 bash {"command":"ls\n"}"#,
        "#0 main -> \"a.rs\"",
        "main Assistant only: I am lost.",
        "main User: Give a command.",
        "main Assistant: Submit.",
        r#"#1 main/2 bash {"command":"submit"}"#,
    ];
    for input in [
        format!("{{\"history\":{HISTORY}}}"),
        format!(r#"{{"trajectory":[],"history":{HISTORY}}}"#),
        format!(r#"{{"history":{HISTORY},"trajectory":{STEPS}}}"#),
    ] {
        assert_eq!(reading(input.as_bytes(), None).events, expected);
    }
}

#[test]
fn a_result_answers_the_latest_command_of_its_agent() {
    let input = br#"{"history":[
{"role":"assistant","action":"a","agent":"one","thought":""},
{"role":"assistant","action":"b","agent":"two","thought":""},
{"role":"user","content":"x","agent":"one"},
{"role":"assistant","action":"c","agent":"two","thought":""},
{"role":"user","content":"y","agent":"two"},
{"role":"user","content":"z","agent":"two"}]}"#;
    let reading = reading(input, None);
    let expected = [
        r#"#0 one/1 bash {"command":"a"}"#,
        r#"#1 two/2 bash {"command":"b"}"#,
        "#0 one -> \"x\"",
        r#"#2 two/3 bash {"command":"c"}"#,
        "#2 two -> \"y\"",
        "two User: z",
    ];
    assert_eq!(reading.events, expected);
}

#[test]
fn a_step_that_cannot_be_read_costs_only_itself() {
    let input = b"{\"trajectory\":[{\"action\":\"a\",\"observation\":\"x\"},\n7,{\"y\":1}]}";
    let reading = reading(input, Some(Format::SWE_AGENT));
    assert_eq!(reading.events, [r#"#0 main/1 bash {"command":"a"}"#, "#0 main -> \"x\""]);
    let problems = [
        "line 2: expected a JSON object, found a number",
        "line 2: a step needs the field `action`",
    ];
    assert_eq!(reading.problems(), problems);
}

#[test]
fn mini_swe_agent_mirrors_its_actions_in_tool_calls_and_scripts() {
    let script = r#"{"model":{"outputs":[{"role":"assistant","content":"```bash\nls\n```","extra":{"actions":[{"command":"ls"}]}}]}}"#;
    let with_calls = r#"[
{"role":"system","content":"Be brief."},{"role":"user","content":"Go"},
{"role":"assistant","content":"Both.","tool_calls":[{"id":"c","function":{"name":"bash","arguments":"{\"command\": \"a\"}"}},{"id":"d","function":{"name":"bash","arguments":"{}"}}],"extra":{"actions":[{"command":"a","tool_call_id":"c"},{"command":"b","tool_call_id":"d"}]}},
{"role":"tool","content":"two","tool_call_id":"d","extra":{"returncode":1}},
{"role":"tool","content":"one","tool_call_id":"c","extra":{"returncode":0}},
{"role":"assistant","content":null,"extra":{"actions":[{"command":"echo DONE","tool_call_id":"e"}]}},
{"role":"exit","content":"done","extra":{"exit_status":"Submitted"}}]"#;
    let expected = [
        "main System: Be brief.",
        "main User: Go",
        "main Assistant: Both.",
        r#"#0 main/1 bash {"command":"a"}"#,
        r#"#1 main/1 bash {"command":"b"}"#,
        "#1 main -> failed \"two\"",
        "#0 main -> \"one\"",
        r#"#2 main/2 bash {"command":"echo DONE"}"#,
        "main Other: done",
    ];
    let input = format!(
        r#"{{"info":{{"config":{script}}},"messages":{with_calls},"trajectory_format":"mini-swe-agent-1.1"}}"#
    );
    assert_eq!(reading(input.as_bytes(), None).events, expected);
}

#[test]
fn mini_swe_agent_may_keep_actions_alone() {
    let with_actions = r#"[
{"role":"user","content":"Go"},
{"role":"assistant","content":"Both.","extra":{"actions":[{"command":"a"},{"command":"b"}]}},
{"role":"user","content":"one","extra":{"returncode":0}},
{"role":"user","content":"two","extra":{"returncode":-1}},
{"role":"assistant","content":"```bash\nnot run\n```","extra":{"actions":[]}},
{"role":"user","content":"One command, please."},
{"role":"assistant","content":"Again.","extra":{"actions":[{"command":"a"}]}}]"#;
    let expected = [
        "main User: Go",
        "main Assistant: Both.",
        r#"#0 main/1 bash {"command":"a"}"#,
        r#"#1 main/1 bash {"command":"b"}"#,
        "#0 main -> \"one\"",
        "#1 main -> failed \"two\"",
        "main Assistant only: ```bash\nnot run\n```",
        "main User: One command, please.",
        "main Assistant: Again.",
        r#"#2 main/2 bash {"command":"a"}"#,
    ];
    assert_eq!(reading(with_actions.as_bytes(), None).events, expected);
}

#[test]
fn mini_swe_agent_gave_commands_in_its_text_at_first() {
    let with_text = r#"[
{"role":"user","content":"Give ```mswea_bash_command\nx\n``` blocks."},
{"role":"assistant","content":"I look.\n\n```mswea_bash_command\nls\n```"},
{"role":"user","content":"<returncode>1</returncode>\n<output>\n</output>"},
{"role":"assistant","content":"Two.\n```mswea_bash_command\na\n```\n```mswea_bash_command\nb\n```"},
{"role":"user","content":"One, please."}]"#;
    let reading = reading(with_text.as_bytes(), None);
    let expected = [
        "main User: Give ```mswea_bash_command\nx\n``` blocks.",
        "main Assistant: I look.\n\n```mswea_bash_command\nls\n```",
        r#"#0 main/1 bash {"command":"ls"}"#,
        r#"#0 main -> failed "<returncode>1</returncode>\n<output>\n</output>""#,
        "main Assistant only: Two.\n```mswea_bash_command\na\n```\n```mswea_bash_command\nb\n```",
        "main User: One, please.",
    ];
    assert_eq!(reading.events, expected);
    let trace = reading.end.expect("a trace");
    assert_eq!((trace.format, trace.errors), (Format::MINI_SWE_AGENT, Some(1)));
}

#[test]
fn calls_of_mini_swe_agent_may_stand_in_tool_calls_alone() {
    let input = br#"{"trajectory_format":"mini-swe-agent-1.1","messages":[
{"role":"assistant","content":"","tool_calls":[{"id":"c","function":{"name":"bash","arguments":"{\"command\": \"a\"}"}}]},
{"role":"tool","content":"x","tool_call_id":"c"},
{"role":"tool","content":"orphan","tool_call_id":"z"},
{"content":"no role"}]}"#;
    let reading = reading(input, None);
    assert_eq!(reading.events, [r#"#0 main/1 bash {"command": "a"}"#, "#0 main -> \"x\""]);
    assert_eq!(reading.problems(), ["line 5: a message needs the field `role`"]);
}
