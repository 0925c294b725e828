//! The output of `scan` as SARIF 2.1.0, which code-scanning services show: one result for each loop.
//!
//! The readers of transcripts report no lines, and viewers want one. Each location is therefore line 1 of the file, and
//! its logical location is the number of the call.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Value, json};
use unstuck_core::{Action, Policy};

use crate::baseline::Tally;
use crate::cost::Spent;
use crate::json::json;
use crate::parts::{FullReport, Needs};
use crate::recurring;
use crate::report::{Loop, Novelty, Report};
use crate::shown::{counted, plain};
use crate::words::step;
use crate::writer::{Folder, Writer};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The most results, locations of a result, and locations of its steps that GitHub reads.
const RESULTS_MAX: usize = 25_000;
const LOCATIONS_MAX: usize = 1_000;
const STEPS_MAX: usize = 10_000;

/// The most notifications about inputs.
const NOTIFICATIONS_MAX: usize = 1_000;

/// The writer of a log with one run.
pub struct Sarif {
    policy: &'static Policy<'static>,
    here: Folder,
    job: Option<String>,
    begun: bool,
    /// The number of results in the file, and of all.
    written: usize,
    found: usize,
    notifications: Notifications,
}

/// Messages about the scan itself.
#[derive(Default)]
struct Notifications {
    shown: Vec<Value>,
    count: usize,
}

impl Notifications {
    /// Adds a message about the file `file`, which is relative, or about all files.
    fn add(&mut self, level: &str, text: &str, file: Option<&str>) {
        self.count += 1;
        if self.shown.len() < NOTIFICATIONS_MAX {
            let location = file.map(|file| json!({"physicalLocation": physical(file)}));
            let locations: Vec<_> = location.into_iter().collect();
            let message = json!({"text": text});
            self.shown.push(json!({"level": level, "message": message, "locations": locations}));
        }
    }

    /// Returns all, and a last one with the number of the others.
    fn end(mut self) -> Vec<Value> {
        if let Some(more @ 1..) = self.count.checked_sub(self.shown.len()) {
            let text = format!("and {}", counted(more, "more notification"));
            self.shown.push(json!({"level": "warning", "message": {"text": text}}));
        }
        self.shown
    }
}

impl Sarif {
    /// Begins a log for readers in the folder `here`, of runs that are judged by `policy` in the job called `job`.
    pub fn new(policy: &'static Policy<'static>, here: Folder, job: Option<String>) -> Self {
        let job = job.filter(|job| !job.is_empty());
        let (begun, written, found, notifications) = (false, 0, 0, Notifications::default());
        Self { policy, here, job, begun, written, found, notifications }
    }

    /// Returns the beginning of the file, once.
    fn head(&mut self) -> String {
        if std::mem::replace(&mut self.begun, true) {
            return String::new();
        }
        let rules: Vec<_> = rules(self.policy).collect();
        let version = env!("CARGO_PKG_VERSION");
        let tool =
            json!({"driver": {"name": "unstuck", "semanticVersion": version, "rules": rules}});
        let job = self.job.as_deref().map_or_else(String::new, |job| plain(job) + "/");
        let automation = json!({"id": format!("unstuck/{job}")});
        format!(
            "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{},\
             \"automationDetails\":{},\"columnKind\":\"unicodeCodePoints\",\"results\":[",
            json(&tool),
            json(&automation),
        )
    }

    /// Returns the place of a rule among the rules of the file.
    fn rule_index(&self, name: &str) -> Option<usize> {
        let calls = self.policy.rules().iter().map(|rule| rule.name);
        calls.chain(self.policy.texts().iter().map(|rule| rule.name)).position(|rule| rule == name)
    }

    /// Returns the results of a run that have room.
    fn results(&mut self, report: &Report) -> String {
        let loops = &report.judged.loops;
        self.found += loops.count;
        let room = RESULTS_MAX - self.written;
        let file = self.here.relative(&report.path);
        let mut text = String::new();
        for (number, (one, after)) in report.loops().enumerate().take(room) {
            let id = one.first().finding.loop_id;
            let before = loops.shown[..number].iter();
            let occurrence = 1 + before.filter(|other| other.first().finding.loop_id == id).count();
            let result = self.result(&file, one, after, occurrence);
            text += if self.written == 0 { "\n" } else { ",\n" };
            text += &json(&result);
            self.written += 1;
        }
        text
    }

    /// Returns a loop of `file` as a result, with what the run cost after it. It is the `occurrence`th of its id in the
    /// run.
    fn result(&self, file: &str, one: &Loop, after: Option<Spent>, occurrence: usize) -> Value {
        let found = one.first();
        let id = found.finding.loop_id;
        let unit = found.location.noun();
        let steps = found.proof.iter().enumerate().take(STEPS_MAX).map(|(number, call)| {
            let location = location(file, unit, call.index, &step(call));
            json!({"location": location, "executionOrder": number + 1, "nestingLevel": 0})
        });
        let steps: Vec<_> = steps.collect();
        let related = one.milestones().into_iter().take(LOCATIONS_MAX);
        let related: Vec<_> = related.map(|(at, text)| location(file, unit, at, &text)).collect();
        let (first, at, last) = one.numbers();
        let mut place = location(file, unit, first, "");
        place.as_object_mut().and_then(|place| place.remove("message"));
        let mut result = json!({
            "ruleId": found.rule,
            "level": level(one.worst()),
            "message": {"text": unlinked(&message(one, after))},
            "locations": [place],
            "relatedLocations": related,
            "partialFingerprints": {
                "primaryLocationLineHash": format!("{id}:{occurrence}"),
                "unstuck/v1": id.to_string(),
            },
            "properties": {
                "action": one.worst().name(),
                "kind": found.finding.kind.name(),
                "worker": plain(&found.worker),
                "first": first, "at": at, "last": last,
            },
        });
        if !steps.is_empty() {
            result["codeFlows"] = json!([{"threadFlows": [{"locations": steps}]}]);
        }
        if let Some(index) = self.rule_index(found.rule) {
            result["ruleIndex"] = index.into();
        }
        if let Some(novelty) = one.novelty {
            result["baselineState"] = match novelty {
                Novelty::New => "new",
                Novelty::Again => "unchanged",
            }
            .into();
        }
        result
    }
}

impl Writer for Sarif {
    fn needs(&self) -> Needs {
        Needs::loops(300)
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        if let Some(why) = report.incomplete() {
            self.notifications.add("warning", &why, Some(&self.here.relative(&report.path)));
        }
        let text = self.head() + &self.results(report);
        output.write_all(text.as_bytes())
    }

    fn unread(&mut self, path: &str, why: &str) {
        self.notifications.add("error", &plain(why), Some(&self.here.relative(path)));
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        let Self { written, found, .. } = *self;
        if found > written {
            let text =
                format!("{written} of {found} loops are in this file: --format jsonl has all");
            self.notifications.add("warning", &text, None);
        }
        let notifications = std::mem::take(&mut self.notifications).end();
        let invocation = json!({
            "executionSuccessful": tally.unread == 0,
            "toolExecutionNotifications": notifications,
        });
        let head = self.head();
        write!(output, "{head}\n],\"invocations\":[{}]}}]}}\n", json(&invocation))
    }
}

/// Returns the rules of a policy.
fn rules(policy: &Policy<'_>) -> impl Iterator<Item = Value> {
    let calls =
        policy.rules().iter().map(|rule| (rule.name, recurring::condition(rule), &rule.ladder));
    let texts = policy.texts().iter().map(|rule| (rule.name, recurring::turns(rule), &rule.ladder));
    calls.chain(texts).map(|(name, condition, ladder)| {
        let help = "The agent repeats itself without progress. Read the calls of the loop: a wrong path, a missing \
                    tool or an unclear task is the usual cause.";
        json!({
            "id": name,
            "shortDescription": {"text": condition},
            "fullDescription": {"text": format!("{condition}; {}", recurring::ladder(ladder))},
            "help": {"text": help},
            "defaultConfiguration": {"level": "warning"},
            "properties": {"tags": ["agent", "loop"]},
        })
    })
}

fn level(action: Action) -> &'static str {
    match action {
        Action::Proceed | Action::Nudge => "note",
        Action::Warn => "warning",
        Action::Block | Action::StartOver | Action::Stop => "error",
    }
}

/// Returns what recurs and what the run cost after it.
fn message(one: &Loop, after: Option<Spent>) -> String {
    let after = after.filter(|after| after.calls > 0);
    let after = after.map_or_else(String::new, |after| format!("; {after} after it"));
    format!("The agent is stuck: {}{after}.", one.title())
}

/// Returns the location of the call or message `number` in `file`.
fn location(file: &str, unit: &str, number: usize, text: &str) -> Value {
    let name = format!("{unit} {number}");
    json!({
        "physicalLocation": physical(file),
        "logicalLocations": [{"name": name, "fullyQualifiedName": name}],
        "message": {"text": unlinked(text)},
    })
}

fn physical(file: &str) -> Value {
    json!({"artifactLocation": {"uri": uri(file)}, "region": {"startLine": 1}})
}

/// Returns the URI of a file, relative or absolute like its path.
fn uri(path: &str) -> String {
    if path == "-" {
        return "stdin".to_owned();
    }
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            // Writing to a string cannot fail.
            byte => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

/// Returns `text` without the links of SARIF's messages.
fn unlinked(text: &str) -> String {
    text.replace("](", "\\](")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::check;

    fn sarif() -> Sarif {
        Sarif::new(unstuck_text::PRESETS[0].policy, Folder::default(), None)
    }

    #[test]
    fn a_uri_has_only_the_characters_of_a_uri() {
        check("sarif: a path as a URI", uri);
    }

    #[test]
    fn a_tool_cannot_make_a_link() {
        check("sarif: text without links", unlinked);
    }

    #[test]
    fn notifications_are_limited_and_the_others_counted() {
        let mut all = Notifications::default();
        (0..NOTIFICATIONS_MAX + 7).for_each(|_| all.add("error", "no", Some("a")));
        let shown = all.end();
        assert_eq!(shown.len(), NOTIFICATIONS_MAX + 1);
        assert_eq!(shown.last().expect("the last")["message"]["text"], "and 7 more notifications");
    }

    #[test]
    fn results_are_limited_and_the_others_counted() {
        let mut output = Vec::new();
        let mut sarif = sarif();
        (sarif.written, sarif.found) = (RESULTS_MAX - 2, RESULTS_MAX - 2);
        for _ in 0..2 {
            sarif.report(&mut FullReport::of_loops(15, 9), &mut output).expect("an output");
        }
        sarif.finish(&Tally::default(), &mut output).expect("an output");
        let text = String::from_utf8(output).expect("a report");
        // The results before were not written, and a comma stands for them.
        let log: Value = serde_json::from_str(&text.replacen("[,", "[", 1)).expect("JSON");
        assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(2));
        let last = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0];
        let text = "25000 of 25008 loops are in this file: --format jsonl has all";
        assert_eq!(last["message"]["text"], text);
    }

    #[test]
    fn a_loop_that_comes_back_later_has_the_next_number() {
        let calls = |args: usize| {
            format!(r#"{{"type":"call","tool":"t","args":{args},"result":"no","is_error":true}}"#)
                + "\n"
        };
        let others: String = (1..90).map(calls).collect();
        let text = format!("{0}{others}{0}", calls(0).repeat(3));
        let report = FullReport::of_text(&text, 300);
        let mut sarif = sarif();
        let log = format!("[{}]", sarif.results(&report));
        let results: Vec<Value> = serde_json::from_str(&log).expect("JSON");
        let same = &results[0]["partialFingerprints"]["unstuck/v1"];
        let same: Vec<_> = results
            .iter()
            .map(|result| &result["partialFingerprints"])
            .filter(|prints| prints["unstuck/v1"] == *same)
            .map(|prints| prints["primaryLocationLineHash"].as_str().expect("a hash"))
            .collect();
        assert_eq!(same.len(), 2, "{log}");
        assert!(same[0].ends_with(":1") && same[1].ends_with(":2"), "{same:?}");
    }
}
