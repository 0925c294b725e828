//! Properties of installing and uninstalling, tested on odd settings and on random ones.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agents::hooks::{HookEvent, Matcher, Shape};
use crate::agents::host::Host;
use crate::agents::settings::Line;
use crate::agents::settings::{installed, listed, uninstalled};
use crate::agents::{Agent, claude_code, codex, copilot};

/// Settings that people may have. After install and uninstall they must be the same again, byte for byte
/// or only in meaning.
const ODD: [(&str, Same); 27] = [
    ("", Same::Meaning),
    ("\n\n", Same::Meaning),
    ("{}", Same::Bytes),
    ("{}\n", Same::Bytes),
    ("{ }\n", Same::Meaning),
    ("{\n}\n", Same::Meaning),
    ("\u{feff}{}\r\n", Same::Bytes),
    ("// mine\n", Same::Meaning),
    ("{\"model\":\"opus\"}", Same::Bytes),
    ("{\"model\":\"opus\",\"hooks\":{}}", Same::Meaning),
    ("{\n  \"hooks\": {}\n}\n", Same::Meaning),
    ("{\n    \"model\": \"opus\", // the large one\n    /* and */ \"n\": 1e2\n}\n", Same::Bytes),
    ("{\n\t\"model\": \"opus\", // the large one\n\t\"n\": 1.0, // a number\n}", Same::Bytes),
    ("{\r\n  \"a\": [1,2 , 3],\r\n  \"b\": {\"c\": null}\r\n}\r\n", Same::Bytes),
    ("{\n  \"a\": 1 // no comma, and more\n  // below\n}", Same::Bytes),
    ("{\n  // nothing yet\n}", Same::Bytes),
    ("{\"a\": 1 // one\n}", Same::Bytes),
    (
        "{\n  \"hooks\": {\n    \"PreToolUse\": [{\n      \"matcher\": \"Bash\",\n      \"hooks\": \
         [{ \"type\": \"command\", \"command\": \"lint\" }]\n    }]\n  },\n  \"z\": 0\n}\n",
        Same::Bytes,
    ),
    (
        "{\n  \"hooks\": {\n    \"BeforeTool\": [\n      {\n        \"hooks\": [],\n      },\n    \
         ],\n    \"Notification\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]\n  \
         }\n}",
        Same::Bytes,
    ),
    (
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say\"}]}]}}",
        Same::Bytes,
    ),
    ("{\"hooks\": {\"PreToolUse\": [\"odd\", {\"hooks\": 3}, {}]}}", Same::Bytes),
    (
        "{\"hooks\": {\"PreToolUse\": [[[[[]]]]], \"Odd\": 7}, \"deep\": [[[{\"a\": [{}]}]]]}",
        Same::Bytes,
    ),
    ("{\"a\": 1, \"a\": 2, \"b\": {\"c\": 1, \"c\": 2}}", Same::Bytes),
    ("{ \"url\": \"https://x\" }", Same::Bytes),
    ("{\"hooks\": null, \"a\": 1}", Same::Meaning),
    ("{\n  \"a\": 1, // mine\n  \"hooks\": null\n}", Same::Meaning),
    ("{\"hooks\": {\"PreToolUse\": null, \"BeforeTool\": null, \"Odd\": null}}", Same::Meaning),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Same {
    Bytes,
    Meaning,
}

/// The agents that list hooks in settings.
fn hosts() -> impl Iterator<Item = &'static Host> {
    Agent::ALL.iter().map(|agent| agent.host()).filter(|host| !host.has_plugin())
}

fn line(host: &Host) -> Line {
    Line::new("/opt/my tools/unstuck", host.name, vec!["--observe".to_owned()])
}

/// Returns the value of the settings, without an empty `hooks` member, without `null` in place of a list
/// of hooks, and without a version that stands alone.
fn meaning(settings: &str) -> Value {
    let mut value = crate::agents::settings::meaning(settings).unwrap_or(json!({}));
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, groups| !groups.is_null());
    }
    if let Some(members) = value.as_object_mut() {
        members.retain(|name, value| name != "hooks" || !(value.is_null() || *value == json!({})));
        if members.len() == 1 {
            members.remove("version");
        }
    }
    value
}

/// Installs, checks the result, uninstalls, and returns the settings.
fn there_and_back(old: &str, host: &Host) -> String {
    let line = line(host);
    let new =
        installed(old, &host.hooks, &line).unwrap_or_else(|mistake| panic!("{old}: {mistake:?}"));
    let entries = listed(&new).expect("settings");
    assert_eq!(entries.len(), host.hooks.events.len(), "{old}\n{new}");
    assert!(entries.iter().all(|entry| entry.line == line), "{new}");
    let again = installed(&new, &host.hooks, &line);
    assert_eq!(again.as_deref(), Ok(new.as_str()), "a second install changes nothing");

    let mut others = meaning(&new);
    for event in host.hooks.events {
        let groups = others["hooks"][event.name].as_array_mut().expect("a list");
        groups.pop().expect("what was put in, last");
        if groups.is_empty() {
            others["hooks"].as_object_mut().expect("hooks").remove(event.name);
        }
    }
    let kept = |mut value: Value| {
        if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
            hooks.retain(|_, groups| *groups != json!([]));
        }
        meaning(&serde_json::to_string(&value).expect("JSON"))
    };
    assert_eq!(kept(others), kept(meaning(old)), "all else is as it was:\n{new}");
    uninstalled(&new).expect("settings")
}

#[test]
fn odd_settings_are_the_same_after_install_and_uninstall() {
    for host in hosts() {
        for (old, same) in ODD {
            let back = there_and_back(old, host);
            match same {
                Same::Bytes => assert_eq!(back, old),
                Same::Meaning => assert_eq!(meaning(&back), meaning(old), "{old}"),
            }
        }
    }
}

#[test]
fn older_entries_are_brought_up_to_date() {
    let host = &claude_code::HOST;
    let line = line(host);
    let newest = installed("{}", &host.hooks, &line).expect("settings");
    let at = |event: &str, entry: &str| {
        format!(r#"{{"hooks": {{"{event}": [{{"matcher": "*", "hooks": [{entry}]}}]}}}}"#)
    };
    for (event, entry) in [
        ("PreToolUse", r#"{"type": "command", "command": "unstuck hook claude-code"}"#),
        ("PreToolUse", r#"{"command": "/old/unstuck", "args": ["hook"], "timeout": 600}"#),
        (
            "PreToolUse",
            r#"{"type": "command", "command": "unstuck hook"}, {"command": "unstuck hook"}"#,
        ),
        ("Notification", r#"{"type": "command", "command": "'/a b/unstuck' hook claude-code -x"}"#),
    ] {
        let old = at(event, entry);
        let new = installed(&old, &host.hooks, &line).expect("settings");
        assert_eq!(meaning(&new), meaning(&newest), "{old}\n{new}");
    }
}

#[test]
fn entries_of_every_earlier_spelling_are_brought_up_to_date() {
    for host in hosts() {
        let line = line(host);
        let newest = installed("{}", &host.hooks, &line).expect("settings");
        let HookEvent { name: event, matcher, .. } = host.hooks.events[0];
        let matcher = if matcher == Matcher::Every { r#""matcher": "*","# } else { "" };
        for entry in [
            r#"{"command": "'/opt/my tools/unstuck' hook NAME --observe"}"#,
            r#"{"command": "/opt/my tools/unstuck", "args": ["hook", "NAME", "--observe"]}"#,
            r#"{"args": ["hook", "NAME"], "command": "unstuck", "args": ["hook"]}"#,
            r#"{"command": "unstuck hook NAME", "args": null}"#,
            r#"{"command": "[ ! -x /old/unstuck ] || /opt/unstuck hook NAME"}"#,
            r#"{"command": "lint", "command": "unstuck hook NAME"}"#,
        ] {
            let entry = entry.replace("NAME", host.name);
            let old = match host.hooks.shape {
                Shape::Grouped => format!(
                    r#"{{"hooks": {{"{event}": [{{{matcher} "hooks": []}}, {{{matcher} "hooks": [{entry}]}}]}}}}"#
                ),
                Shape::Flat => format!(r#"{{"hooks": {{"{event}": [{{}}, {entry}]}}}}"#),
            };
            let new = installed(&old, &host.hooks, &line).expect("settings");
            assert_eq!(installed(&new, &host.hooks, &line).as_ref(), Ok(&new), "{old}");
            let groups = &meaning(&new)["hooks"][event];
            assert_eq!(groups[1], meaning(&newest)["hooks"][event][0], "{old}\n{new}");
            assert_eq!(groups.as_array().map(Vec::len), Some(2), "{new}");
        }
    }
}

#[test]
fn entries_of_another_shape_are_replaced() {
    let flat = r#"{"hooks": {"PreToolUse": [{"command": "unstuck hook"}, {"command": "lint"}]}}"#;
    let grouped = r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "unstuck hook"}]}]}}"#;
    for (old, host) in [(flat, &claude_code::HOST), (grouped, &copilot::HOST)] {
        let new = installed(old, &host.hooks, &line(host)).expect("settings");
        let entries = listed(&new).expect("settings");
        assert_eq!(entries.len(), host.hooks.events.len(), "{new}");
        assert!(entries.iter().all(|entry| entry.line == line(host)), "{new}");
        assert_eq!(new.contains("lint"), old == flat, "{new}");
    }
}

#[test]
fn an_entry_for_all_tools_is_kept_rather_than_one_for_some() {
    let host = &claude_code::HOST;
    let line = line(host);
    let own = r#"{"command": "unstuck hook"}"#;
    let old = format!(
        r#"{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": [{own}]}}, {{"hooks": [{own}]}}]}}}}"#
    );
    let matchers = |text: &str| {
        let entries = listed(text).expect("settings").into_iter();
        let entries = entries.filter(|entry| entry.event == "PreToolUse");
        entries.map(|entry| entry.matcher).collect::<Vec<_>>()
    };
    assert_eq!(matchers(&old), [Some("Bash".to_owned()), None]);
    assert_eq!(matchers(&installed(&old, &host.hooks, &line).expect("settings")), [None]);
}

#[test]
fn codex_gets_no_more_time_than_it_allows() {
    let new = installed("{}", &codex::HOST.hooks, &line(&codex::HOST)).expect("settings");
    for (event, timeout) in [("PreToolUse", 5), ("Interrupt", 3), ("Stop", 5), ("SessionEnd", 3)] {
        let entry = &meaning(&new)["hooks"][event][0]["hooks"][0];
        assert_eq!(entry["timeout"], timeout, "{event}");
    }
}

#[test]
fn members_that_a_user_added_to_an_entry_stay() {
    let host = &codex::HOST;
    let line = line(host);
    let old = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"statusMessage": "looking", "type": "command", "command": "'/opt/my tools/unstuck' hook codex"},
        {"type": "command", "command": "lint"}
    ]}]}}"#;
    let new = installed(old, &host.hooks, &line).expect("settings");
    let group = &meaning(&new)["hooks"]["PreToolUse"];
    let command = "'/opt/my tools/unstuck' hook codex --observe";
    let entry =
        json!({ "statusMessage": "looking", "type": "command", "command": command, "timeout": 5 });
    let other = json!({ "type": "command", "command": "lint" });
    assert_eq!(*group, json!([{ "matcher": "Bash", "hooks": [entry, other] }]));
}

#[test]
fn another_spelling_of_the_same_command_stays() {
    let host = &codex::HOST;
    let line = line(host);
    let spelled = r#"\"/opt/my tools/unstuck\"  hook codex --observe"#;
    let old = installed("{}", &host.hooks, &line).expect("settings");
    let old = old.replace("'/opt/my tools/unstuck' hook codex --observe", spelled);
    assert!(old.contains(spelled), "{old}");
    assert_eq!(installed(&old, &host.hooks, &line).as_ref(), Ok(&old));
}

#[test]
fn entries_of_other_programs_are_not_touched() {
    let host = &claude_code::HOST;
    let old = r#"{"hooks": {"Stop": [{"hooks": [
        {"type": "command", "command": "unstuck scan"},
        {"type": "command", "command": "echo unstuck hook claude-code"},
        {"type": "command", "command": "unstuck", "args": "hook"},
        {"type": "prompt", "prompt": "unstuck hook"}
    ]}]}}"#;
    assert_eq!(listed(old), Ok(Vec::new()));
    assert_eq!(there_and_back(old, host), old);
}

#[test]
fn an_entry_anywhere_in_a_list_can_be_removed() {
    let hooks = |list: &str| format!("{{\"hooks\": {{\"Stop\": [{{\"hooks\": [{list}]}}]}}}}");
    let (own, other) = (r#"{"command": "unstuck hook"}"#, r#"{"command": "say // it"}"#);
    for (list, left) in [
        (format!("{own}, {other}"), format!(" {other}")),
        (format!("{other}, {own}"), other.to_owned()),
        (format!("{other}, {own}, {other}"), format!("{other}, {other}")),
        (format!("{own}, {own}, {other}, {own},"), format!(" {other},")),
        (format!("{other}, // mine\n {own}"), format!("{other} // mine\n ")),
        (format!("{other}, // mine\n {own}\n"), format!("{other} // mine\n")),
        (format!("{other} /* mine */, {own} /* its */ "), format!("{other} /* mine */ /* its */ ")),
        (format!("{own} // its\n, {other}"), format!(" {other}")),
        (format!("// mine\n {own} // its\n, {other}"), format!("// mine\n  {other}")),
    ] {
        let back = uninstalled(&hooks(&list)).expect("settings");
        assert_eq!(back, hooks(&left), "{list}");
        assert_eq!(listed(&back), Ok(Vec::new()));
    }
}

#[test]
fn invalid_settings_are_refused_with_line_and_column() {
    let host = &claude_code::HOST;
    for (old, place, says) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", (2, 9), "not JSON"),
        ("{\"a\": 'b'}", (1, 7), "not JSON"),
        ("{\"a\": 1", (1, 1), "not JSON"),
        ("[1]", (1, 1), "an object"),
        ("{\"hooks\": []}", (1, 11), "an object with a list for each event"),
        ("{\"hooks\": {\"Stop\": {}}}", (1, 20), "a list, […], of the hooks of Stop"),
        ("{\"hooks\": {}, \"hooks\": {}}", (1, 15), "a second \"hooks\""),
        ("{\"hooks\": {\"Stop\": [], \"Stop\": []}}", (1, 24), "a second \"Stop\""),
        (
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"unstuck hook\"}]}], \"Stop\": null}}",
            (1, 64),
            "a second \"Stop\"",
        ),
    ] {
        let mistake = installed(old, &host.hooks, &line(host)).expect_err(old);
        assert_eq!(mistake.place(old), place, "{old}: {}", mistake.what());
        assert!(mistake.what().contains(says), "{old}: {}", mistake.what());
    }
}

/// A value with a few members.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(Value::from),
            proptest::collection::btree_map("[a-z\"/]{1,4}", inner, 1..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Hooks of other programs, at events of Claude Code and at an unknown event.
fn hooks() -> impl Strategy<Value = Value> {
    let entry = "[a-z /]{1,8}".prop_map(|command| json!({ "type": "command", "command": command }));
    let group = proptest::collection::vec(entry, 1..3)
        .prop_map(|entries| json!({ "matcher": "Bash", "hooks": entries }));
    let groups = proptest::collection::vec(group, 1..3).prop_map(Value::from);
    let event = prop_oneof![Just("PreToolUse"), Just("Stop"), Just("SessionEnd"), Just("Other")];
    proptest::collection::btree_map(event.prop_map(str::to_owned), groups, 1..4)
        .prop_map(|events| events.into_iter().collect())
}

/// An entry that runs this program, as an older version, another installation or a user may have written
/// it.
fn own_entry() -> impl Strategy<Value = Value> {
    let command = prop_oneof![
        Just("unstuck hook"),
        Just("/old/unstuck hook codex --observe"),
        Just("'/opt/my tools/unstuck' hook gemini --observe"),
        Just("[ ! -x '/opt/my tools/unstuck' ] || '/opt/my tools/unstuck' hook gemini --observe"),
        Just("/usr/bin/unstuck"),
    ];
    let members = proptest::sample::subsequence(
        vec![
            ("type", json!("command")),
            ("args", json!(["hook", "codex", "--preset", "nudge"])),
            ("args", Value::Null),
            ("timeout", json!(600)),
            ("statusMessage", json!("looking")),
            ("async", json!(true)),
        ],
        0..5,
    );
    (command, members).prop_map(|(command, members)| {
        let members = members.into_iter().chain([("command", json!(command))]);
        members.map(|(name, value)| (name.to_owned(), value)).collect()
    })
}

/// Hooks in which this program may stand anywhere among others, and values that are no hooks.
fn mixed_hooks() -> impl Strategy<Value = Value> {
    let other = Just(json!({ "type": "command", "command": "lint" }));
    let entry = prop_oneof![own_entry(), other, Just(json!("odd")), Just(Value::Null)];
    let matcher = prop_oneof![
        Just(Value::Null),
        Just(json!("*")),
        Just(json!("")),
        Just(json!("Bash")),
        Just(json!(["Bash"])),
    ];
    let group = (matcher, proptest::collection::vec(entry, 0..4)).prop_map(|(matcher, entries)| {
        let mut group = json!({ "hooks": entries });
        if !matcher.is_null() {
            group["matcher"] = matcher;
        }
        group
    });
    // Some agents list entries without groups.
    let group = prop_oneof![3 => group, 1 => own_entry()];
    let groups = prop_oneof![
        8 => proptest::collection::vec(group, 0..4).prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    let event = prop_oneof![
        Just("PreToolUse"),
        Just("preToolUse"),
        Just("BeforeTool"),
        Just("Stop"),
        Just("SessionEnd"),
        Just("Gone")
    ];
    let events = proptest::collection::btree_map(event.prop_map(str::to_owned), groups, 0..4)
        .prop_map(|events| events.into_iter().collect());
    prop_oneof![8 => events, 1 => Just(Value::Null)]
}

/// Writes a value with comments, trailing commas, spaces and line ends, which `seed` chooses.
fn written(value: &Value, seed: &mut u64) -> String {
    let parts = |brackets: [&str; 2], parts: Vec<String>, seed: &mut u64| {
        let [open, close] = brackets;
        let last = if parts.is_empty() || seed.is_multiple_of(2) { "" } else { "," };
        format!("{open}{}{}{last}{}{close}", space(seed), parts.join(","), space(seed))
    };
    match value {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                let (before, after) = (space(seed), space(seed));
                let value = written(value, seed);
                format!("{before}{}:{after}{value}{}", json!(name), space(seed))
            };
            let members = members.iter().map(member).collect();
            parts(["{", "}"], members, seed)
        }
        Value::Array(items) => {
            let item = |item| format!("{}{}{}", space(seed), written(item, seed), space(seed));
            let items = items.iter().map(item).collect();
            parts(["[", "]"], items, seed)
        }
        other => other.to_string(),
    }
}

/// Returns what may stand between two values, and moves `seed` on.
fn space(seed: &mut u64) -> &'static str {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let choices = ["", " ", "", "\n  ", "\r\n\t", " // its\n", "/* \"hooks\": [ */", ""];
    choices[usize::try_from(*seed >> 61).expect("three bits")]
}

/// Returns what the hooks of other programs mean: the members of `hooks`, without entries of this program.
fn others(settings: &str) -> Value {
    let mut value = meaning(&uninstalled(settings).expect("settings"));
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, groups| *groups != json!([]));
    }
    meaning(&value.to_string())
}

/// Settings on one line or on many, with either line ending.
fn settings() -> impl Strategy<Value = String> {
    let members = proptest::collection::btree_map("[a-z]{1,6}", value(), 1..5);
    (members, proptest::option::of(hooks()), any::<[bool; 2]>()).prop_map(
        |(mut members, hooks, [is_pretty, is_windows])| {
            members.remove("hooks");
            members.extend(hooks.map(|hooks| ("hooks".to_owned(), hooks)));
            let members: Value = members.into_iter().collect();
            let text = if is_pretty { format!("{members:#}") } else { members.to_string() };
            if is_windows { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #[test]
    fn any_settings_are_the_same_after_install_and_uninstall(old in settings()) {
        for host in hosts() {
            prop_assert_eq!(&there_and_back(&old, host), &old);
        }
    }

    #[test]
    fn a_second_install_changes_nothing_whatever_stood_there(
        members in proptest::collection::btree_map("[a-z]{1,6}", value(), 0..3),
        hooks in mixed_hooks(),
        mut seed in any::<u64>(),
    ) {
        let mut value: Value = members.into_iter().collect();
        value["hooks"] = hooks;
        let old = written(&value, &mut seed);
        for agent in Agent::ALL {
            let hooks = &agent.host().hooks;
            let line = line(agent.host());
            let once = installed(&old, hooks, &line)
                .unwrap_or_else(|mistake| panic!("{old:?}: {mistake:?}"));
            prop_assert_eq!(&installed(&once, hooks, &line).expect("settings"), &once);
            let entries = listed(&once).expect("settings");
            prop_assert_eq!(entries.len(), hooks.events.len(), "{}", once);
            prop_assert!(entries.iter().all(|entry| entry.line == line), "{}", once);
            for event in hooks.events {
                let ours = entries.iter().filter(|entry| entry.event == event.name);
                prop_assert_eq!(ours.count(), 1, "{}", once);
            }
            prop_assert_eq!(others(&once), others(&old), "{}\n{}", old, once);
            // By the way of other options it comes to the same.
            let other = Line::new("/other/unstuck", agent.name(), Vec::new());
            let detour = installed(&old, hooks, &other).expect("settings");
            let detour = installed(&detour, hooks, &line).expect("settings");
            prop_assert_eq!(meaning(&detour), meaning(&once));
        }
    }

    #[test]
    fn any_text_is_changed_or_refused(old in r#"[{}\[\]",:/* \n a1]{0,40}"#) {
        let host = &codex::HOST;
        if let Ok(new) = installed(&old, &host.hooks, &line(host)) {
            let entries = listed(&new).expect("settings");
            prop_assert_eq!(entries.len(), host.hooks.events.len(), "{}", new);
            let back = uninstalled(&new).expect("settings");
            prop_assert_eq!(listed(&back), Ok(Vec::new()));
        }
    }
}
