//! Properties of installing and uninstalling, tested on odd settings and on random ones.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

use crate::agents::hooks::{HookEvent, Matcher, Shape};
use crate::agents::host::Host;
use crate::agents::settings::Line;
use crate::agents::settings::{installed, listed, uninstalled};
use crate::agents::{Agent, claude_code, codex};
use crate::cases::cases;

/// Tables of settings. Line breaks and the mark of an editor are escaped.
const CASES: &str = include_str!("laws.txt");

/// Returns the text of a case.
fn unescaped(text: &str) -> String {
    let escapes = [(r"\n", "\n"), (r"\r", "\r"), (r"\t", "\t"), (r"\ufeff", "\u{feff}")];
    escapes.iter().fold(text.to_owned(), |text, (escape, c)| text.replace(escape, c))
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

/// Installs, and checks that a second install changes nothing and that each event has one entry.
fn put_in(old: &str, host: &Host) -> String {
    let install = |old: &str| {
        installed(old, &host.hooks, &line(host)).unwrap_or_else(|why| panic!("{old:?}: {why:?}"))
    };
    let new = install(old);
    assert_eq!(install(&new), new, "a second install changes nothing");
    let entries = listed(&new).expect("settings");
    assert_eq!(entries.len(), host.hooks.events.len(), "{old}\n{new}");
    assert!(entries.iter().all(|entry| entry.line == line(host)), "{new}");
    for event in host.hooks.events {
        assert_eq!(entries.iter().filter(|entry| entry.event == event.name).count(), 1, "{new}");
    }
    new
}

/// Returns what settings mean, without events that have no hooks.
fn kept(mut value: Value) -> Value {
    if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        hooks.retain(|_, groups| *groups != json!([]));
    }
    meaning(&value.to_string())
}

/// Installs, checks that all else is as it was, uninstalls, and returns the settings.
fn there_and_back(old: &str, host: &Host) -> String {
    let new = put_in(old, host);
    let mut others = meaning(&new);
    for event in host.hooks.events {
        let groups = others["hooks"][event.name].as_array_mut().expect("a list");
        groups.pop().expect("what was put in, last");
    }
    assert_eq!(kept(others), kept(meaning(old)), "all else is as it was:\n{new}");
    uninstalled(&new).expect("settings")
}

#[test]
fn settings_are_the_same_after_install_and_uninstall() {
    for (old, same) in cases(CASES, "settings") {
        let old = unescaped(old);
        assert_eq!(listed(&old), Ok(Vec::new()), "no entry runs this program: {old}");
        for host in hosts() {
            let back = there_and_back(&old, host);
            match same {
                "bytes" => assert_eq!(back, old),
                "meaning" => assert_eq!(meaning(&back), meaning(&old), "{old}"),
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn entries_are_brought_up_to_date() {
    for (old, expected) in cases(CASES, "groups") {
        let (agent, old) = old.split_once(' ').expect("an agent and groups");
        let host = Agent::named(agent).expect("an agent").host();
        let mut newest = meaning(&put_in(r#"{"hooks": {}}"#, host));
        let new = newest["hooks"]["PreToolUse"][0].to_string();
        let entry = newest["hooks"]["PreToolUse"][0]["hooks"][0].to_string();
        let expected = expected.replace("FOR_ALL", &format!(r#"{{"hooks": [{entry}]}}"#));
        let expected =
            expected.replace("ENTRY", entry.trim_matches(['{', '}'])).replace("NEW", &new);
        newest["hooks"]["PreToolUse"] = serde_json::from_str(&expected).expect("groups");
        // At this event, nothing is put in any more.
        let gone = r#"[{"hooks": [{"command": "'/a b/unstuck' hook claude-code -x"}]}]"#;
        let old = format!(r#"{{"hooks": {{"PreToolUse": {old}, "Notification": {gone}}}}}"#);
        assert_eq!(meaning(&put_in(&old, host)), newest, "{old}");
    }
}

#[test]
fn entries_of_every_earlier_spelling_are_brought_up_to_date() {
    for host in hosts() {
        let newest = put_in("{}", host);
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
            let new = put_in(&old, host);
            let groups = &meaning(&new)["hooks"][event];
            assert_eq!(groups[1], meaning(&newest)["hooks"][event][0], "{old}\n{new}");
            assert_eq!(groups.as_array().map(Vec::len), Some(2), "{new}");
        }
    }
}

#[test]
fn another_spelling_of_the_same_command_stays() {
    let spelled = r#"\"/opt/my tools/unstuck\"  hook codex --observe"#;
    let old =
        put_in("{}", &codex::HOST).replace("'/opt/my tools/unstuck' hook codex --observe", spelled);
    assert!(old.contains(spelled), "{old}");
    assert_eq!(put_in(&old, &codex::HOST), old);
}

#[test]
fn an_entry_anywhere_in_a_list_can_be_removed() {
    let (own, other) = (r#"{"command": "unstuck hook"}"#, r#"{"command": "say // it"}"#);
    let hooks = |list: &str| {
        let list = unescaped(list).replace("OWN", own).replace("OTHER", other);
        format!(r#"{{"hooks": {{"Stop": [{{"hooks": {list}}}]}}}}"#)
    };
    for (list, left) in cases(CASES, "lists") {
        let back = uninstalled(&hooks(list)).expect("settings");
        assert_eq!(back, hooks(left), "{list}");
        assert_eq!(listed(&back), Ok(Vec::new()));
    }
}

#[test]
fn invalid_settings_are_refused_with_line_and_column() {
    let host = &claude_code::HOST;
    for (old, expected) in cases(CASES, "refused") {
        let (old, (place, says)) = (unescaped(old), expected.split_once(' ').expect("a mistake"));
        let mistake = installed(&old, &host.hooks, &line(host)).expect_err(&old);
        let (line, column) = mistake.place(&old);
        assert_eq!(format!("{line}:{column}"), place, "{old}: {}", mistake.what());
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
        let members = btree_map("[a-z\"/]{1,4}", inner.clone(), 1..4);
        prop_oneof![
            vec(inner, 1..4).prop_map(Value::from),
            members.prop_map(|members| json!(members)),
        ]
    })
}

/// Hooks of other programs, at events of Claude Code and at an unknown event.
fn hooks() -> impl Strategy<Value = Value> {
    let entry = "[a-z /]{1,8}".prop_map(|command| json!({ "type": "command", "command": command }));
    let group = vec(entry, 1..3).prop_map(|all| json!({ "matcher": "Bash", "hooks": all }));
    let event = select(&["PreToolUse", "Stop", "SessionEnd", "Other"][..]);
    btree_map(event.prop_map(str::to_owned), vec(group, 1..3), 1..4).prop_map(|all| json!(all))
}

/// An entry that runs this program, as an older version, another installation or a user may have written
/// it.
fn own_entry() -> impl Strategy<Value = Value> {
    let commands = [
        "unstuck hook",
        "/old/unstuck hook codex --observe",
        "'/opt/my tools/unstuck' hook gemini --observe",
        "[ ! -x '/opt/my tools/unstuck' ] || '/opt/my tools/unstuck' hook gemini --observe",
        "/usr/bin/unstuck",
    ];
    let members = [
        ("type", json!("command")),
        ("args", json!(["hook", "codex", "--preset", "nudge"])),
        ("args", Value::Null),
        ("timeout", json!(600)),
        ("statusMessage", json!("looking")),
        ("async", json!(true)),
    ];
    let members = subsequence(members.to_vec(), 0..5);
    (select(commands.to_vec()), members).prop_map(|(command, members)| {
        let members = members.into_iter().chain([("command", json!(command))]);
        members.map(|(name, value)| (name.to_owned(), value)).collect()
    })
}

/// Hooks in which this program may stand anywhere among others, and values that are no hooks.
fn mixed_hooks() -> impl Strategy<Value = Value> {
    let others = [json!({ "type": "command", "command": "lint" }), json!("odd"), Value::Null];
    let entry = prop_oneof![1 => own_entry(), 3 => select(others.to_vec())];
    let matchers = [json!("*"), json!(""), json!("Bash"), json!(["Bash"])];
    let matcher = proptest::option::weighted(0.8, select(matchers.to_vec()));
    let group = (matcher, vec(entry, 0..4)).prop_map(|(matcher, entries)| {
        let mut group = json!({ "hooks": entries });
        if let Some(matcher) = matcher {
            group["matcher"] = matcher;
        }
        group
    });
    // Some agents list entries without groups.
    let group = prop_oneof![3 => group, 1 => own_entry()];
    let groups = prop_oneof![8 => vec(group, 0..4).prop_map(Value::from), 1 => Just(Value::Null)];
    let events = ["PreToolUse", "preToolUse", "BeforeTool", "Stop", "SessionEnd", "Gone"];
    let event = select(events.to_vec()).prop_map(str::to_owned);
    let events = btree_map(event, groups, 0..4).prop_map(|events| json!(events));
    prop_oneof![8 => events, 1 => Just(Value::Null)]
}

/// Writes a value with comments, trailing commas, spaces and line ends, which `seed` chooses.
fn written(value: &Value, seed: &mut u64) -> String {
    let (brackets, parts): (_, Vec<String>) = match value {
        Value::Object(members) => {
            let name = |name, seed: &mut u64| format!("{}:{}", json!(name), space(seed));
            let member =
                |(of, value)| space(seed).to_owned() + &name(of, seed) + &written(value, seed);
            (["{", "}"], members.iter().map(member).collect())
        }
        Value::Array(items) => {
            let item = |item| space(seed).to_owned() + &written(item, seed);
            (["[", "]"], items.iter().map(item).collect())
        }
        other => return other.to_string(),
    };
    let [open, close] = brackets;
    let last = if parts.is_empty() || seed.is_multiple_of(2) { "" } else { "," };
    let parts: Vec<_> = parts.into_iter().map(|part| part + space(seed)).collect();
    format!("{open}{}{}{last}{}{close}", space(seed), parts.join(","), space(seed))
}

/// Returns what may stand between two values, and moves `seed` on.
fn space(seed: &mut u64) -> &'static str {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let choices = ["", " ", "", "\n  ", "\r\n\t", " // its\n", "/* \"hooks\": [ */", ""];
    choices[usize::try_from(*seed >> 61).expect("three bits")]
}

/// Returns what the hooks of other programs mean: the members of `hooks`, without entries of this program.
fn others(settings: &str) -> Value {
    kept(meaning(&uninstalled(settings).expect("settings")))
}

/// Settings on one line or on many, with either line ending.
fn settings() -> impl Strategy<Value = String> {
    let members = btree_map("[a-z]{1,6}", value(), 1..5);
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
        members in btree_map("[a-z]{1,6}", value(), 0..3),
        hooks in mixed_hooks(),
        mut seed in any::<u64>(),
    ) {
        let mut value: Value = members.into_iter().collect();
        value["hooks"] = hooks;
        let old = written(&value, &mut seed);
        for host in Agent::ALL.iter().map(|agent| agent.host()) {
            let once = put_in(&old, host);
            prop_assert_eq!(others(&once), others(&old), "{}\n{}", old, once);
            // By the way of other options it comes to the same.
            let other = Line::new("/other/unstuck", host.name, Vec::new());
            let detour = installed(&old, &host.hooks, &other).expect("settings");
            let detour = installed(&detour, &host.hooks, &line(host)).expect("settings");
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
