//! The counters of the receiver, as text for Prometheus.
//!
//! No library writes this text: `prometheus-client` writes that of `OpenMetrics`, and `prometheus` refuses a metric
//! that has no value yet. Neither bounds the number or the length of labels.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::time::Duration;

use unstuck_report::shown::{plain, shortened};

/// The time of the checks, the only histogram.
const CHECKS: &str = "unstuck_check_seconds";

/// The metrics, one a line: name and help. The dashboard and the alert rules use no other name.
const METRICS: &str = include_str!("metrics.txt");

/// Returns the name and the help of each metric.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    METRICS.lines().filter_map(|line| line.split_once(' '))
}

/// The most tools that have a label of their own.
const TOOLS_MAX: usize = 200;

/// The longest label, in characters.
const LABEL_MAX: usize = 64;

/// The upper bounds of the histogram, in microseconds. A check takes a few.
const BUCKETS: [u64; 10] = [1, 2, 5, 10, 25, 50, 100, 1_000, 10_000, 100_000];

/// The counters since the start of the program.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    counts: BTreeMap<(&'static str, String), u64>,
    tools: BTreeMap<String, u64>,
    other_tools: u64,
    buckets: [u64; BUCKETS.len()],
    checks: u64,
    nanoseconds: u64,
}

/// The value of a gauge with these labels.
pub(super) type Gauge = (&'static str, String, u64);

impl Metrics {
    /// Adds `more` to the counter `name` with these labels.
    pub(super) fn add(&mut self, name: &'static str, labels: &[(&str, &str)], more: u64) {
        if more > 0 {
            *self.counts.entry((name, labelled(labels))).or_default() += more;
        }
    }

    /// Counts a call of `tool`, which was judged in this time.
    pub(super) fn call(&mut self, tool: &str, time: Duration) {
        if let Some(count) = self.tools.get_mut(tool) {
            *count += 1;
        } else if self.tools.len() < TOOLS_MAX {
            self.tools.insert(tool.to_owned(), 1);
        } else {
            self.other_tools += 1;
        }
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.checks += 1;
        self.nanoseconds = self.nanoseconds.saturating_add(nanoseconds);
        let bucket = BUCKETS.iter().position(|bound| nanoseconds <= bound * 1000);
        if let Some(count) = bucket.and_then(|bucket| self.buckets.get_mut(bucket)) {
            *count += 1;
        }
    }

    /// Returns the value of a counter.
    #[cfg(test)]
    pub(super) fn count(&self, name: &'static str, labels: &[(&str, &str)]) -> u64 {
        self.counts.get(&(name, labelled(labels))).copied().unwrap_or_default()
    }

    /// Returns all metrics in the text format of Prometheus.
    pub(super) fn text(&self, gauges: &[Gauge]) -> String {
        let mut text = String::new();
        for (name, help) in all() {
            let kind = match name {
                CHECKS => "histogram",
                // Prometheus asks for this end of a counter's name.
                name if name.ends_with("_total") => "counter",
                _ => "gauge",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            let mut value = |labels: &str, value: u64| {
                let _ = writeln!(text, "{name}{labels} {value}");
            };
            match name {
                CHECKS => self.histogram(name, &mut text),
                "unstuck_calls_total" => {
                    for (tool, count) in &self.tools {
                        value(&labelled(&[("tool", tool)]), *count);
                    }
                    if self.other_tools > 0 {
                        value(&labelled(&[("tool", "other")]), self.other_tools);
                    }
                }
                _ => {
                    let counts =
                        self.counts.iter().map(|((of, labels), count)| (of, labels, count));
                    let all =
                        counts.chain(gauges.iter().map(|(of, labels, gauge)| (of, labels, gauge)));
                    let mut of_name = all.filter(|(of, ..)| **of == name).peekable();
                    // A counter without labels is there from the start, so that its rate is known.
                    if of_name.peek().is_none() && UNLABELLED.contains(&name) {
                        value("", 0);
                    }
                    of_name.for_each(|(_, labels, of)| value(labels, *of));
                }
            }
        }
        text
    }

    fn histogram(&self, name: &str, text: &mut String) {
        let mut value = |suffix, labels: &str, value: &dyn Display| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name}{suffix}{labels} {value}");
        };
        let mut sum = 0;
        for (bound, count) in BUCKETS.iter().zip(self.buckets) {
            sum += count;
            value("_bucket", &labelled(&[("le", &seconds(bound * 1000))]), &sum);
        }
        value("_bucket", &labelled(&[("le", "+Inf")]), &self.checks);
        value("_sum", "", &seconds(self.nanoseconds));
        value("_count", "", &self.checks);
    }
}

/// The counters that have no label.
const UNLABELLED: [&str; 5] = [
    "unstuck_calls_without_content_total",
    "unstuck_wasted_tokens_total",
    "unstuck_rescued_total",
    "unstuck_spans_total",
    "unstuck_connections_refused_total",
];

/// Returns nanoseconds as seconds in decimal digits.
fn seconds(nanoseconds: u64) -> String {
    let text = format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns labels in braces. Values are on one line, without secrets and not long.
pub(super) fn labelled(labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let label = |(name, value): &(&str, &str)| {
        let value = shortened(&plain(value), LABEL_MAX);
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{name}=\"{value}\"")
    };
    format!("{{{}}}", labels.iter().map(label).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_text_for_prometheus() {
        let mut metrics = Metrics::default();
        metrics.add("unstuck_findings_total", &[("rule", "same-effect"), ("action", "nudge")], 2);
        metrics.add("unstuck_spans_total", &[], 5);
        metrics.add("unstuck_spans_dropped_total", &[("reason", "broken")], 0);
        metrics.call("a \"b\"\n\\", Duration::from_micros(3));
        metrics.call("slow", Duration::from_secs(2));
        let gauges: Vec<Gauge> = [
            ("unstuck_build_info", &[("policy", "balanced"), ("version", "VERSION")][..], 1),
            ("unstuck_connections", &[], 0),
            ("unstuck_sessions", &[], 0),
            ("unstuck_sessions_bytes", &[], 0),
            ("unstuck_outputs_queued", &[("output", "webhook")], 7),
            ("unstuck_journal_bytes", &[], 0),
            ("unstuck_ready", &[], 1),
        ]
        .map(|(name, labels, value)| (name, labelled(labels), value))
        .into();
        let text = metrics.text(&gauges);
        let values: String = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .flat_map(|line| [line, "\n"])
            .collect();
        insta::assert_snapshot!(values);
        for (name, _) in all() {
            assert!(text.contains(&format!("# TYPE {name} ")));
        }
    }

    #[test]
    fn tools_have_a_limited_number_of_labels() {
        let mut metrics = Metrics::default();
        for n in 0..3 * TOOLS_MAX {
            metrics.call(&format!("tool-{n}"), Duration::ZERO);
        }
        let text = metrics.text(&[]);
        assert_eq!(text.matches("unstuck_calls_total{").count(), TOOLS_MAX + 1);
        assert!(text.contains("unstuck_calls_total{tool=\"other\"} 400\n"));
    }

    /// The files that use the metrics.
    const OPERATIONS: [&str; 3] = [
        include_str!("../../operations/grafana.json"),
        include_str!("../../operations/alerts.yml"),
        include_str!("../../operations/alerts.test.yml"),
    ];

    #[test]
    fn the_dashboard_and_the_alerts_use_metrics_that_exist() {
        let known = |name: &str| all().any(|(known, _)| known == name);
        let mut used = std::collections::BTreeSet::new();
        for text in OPERATIONS {
            for (at, _) in text.match_indices("unstuck_") {
                let is_end = |c: char| !c.is_ascii_lowercase() && c != '_';
                let rest = &text[at..];
                let name = &rest[..rest.find(is_end).unwrap_or(rest.len())];
                let base =
                    ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
                assert!(known(name) || base.is_some_and(known), "{name}");
                used.insert(name);
            }
        }
        assert!(used.len() > 12, "{used:?}");
    }
}
