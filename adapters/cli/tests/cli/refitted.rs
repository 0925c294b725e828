//! `eval --leave-one-source-out`: scores on sources that the policy was not fitted to.

use serde_json::{Value, json};

use crate::harness::{shared, unstuck};
use crate::tune::{THREE_SOURCES, eval, labelled, run_in, times, tune};

const WITHOUT_EACH_SOURCE: [&str; 7] =
    ["eval", "--labels", "labels.jsonl", "runs", "--leave-one-source-out", "--config", "own.toml"];

#[test]
fn each_source_is_judged_by_a_fit_to_the_others() {
    // Runs that are healthy in the last source are loops in the others, and the reverse.
    let runs = [&THREE_SOURCES[..], &[("delta", 8, "no"), ("delta", 8, "no"), ("delta", 3, "yes")]]
        .concat();
    let folder = labelled(2, &runs);
    let ran = run_in(&folder, &[&WITHOUT_EACH_SOURCE[..], &["--preset", "cycles"]].concat());
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""));
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    insta::assert_snapshot!(ran.out);

    let lines =
        run_in(&folder, &[&WITHOUT_EACH_SOURCE[..], &["--format", "jsonl"]].concat()).lines();
    let (all, sources) = lines.split_last().expect("a line of all");
    assert_eq!(all["source"], Value::Null);
    for figure in ["runs", "hits", "missed", "early", "false_alarms"] {
        for what in ["", "/fitted", "/unseen"] {
            let path = format!("{what}/{figure}");
            let figure = |line: &Value| line.pointer(&path).and_then(Value::as_u64);
            assert_eq!(sources.iter().map(figure).sum::<Option<u64>>(), figure(all), "{path}");
        }
    }
    let delta = &sources[2];
    assert_eq!(delta["source"], "delta");
    assert_eq!(
        (&delta["unseen"]["hits"], &delta["unseen"]["false_alarms"]),
        (&json!(0), &json!(2))
    );
    let mut as_it_is = all.clone();
    let fields = as_it_is.as_object_mut().expect("a line");
    fields.retain(|field, _| !["fitted", "unseen"].contains(&&**field));
    assert_eq!(as_it_is, eval(&folder, "own.toml"));
}

#[test]
fn a_single_source_cannot_be_left_out_and_tune_splits_it() {
    let runs: Vec<(&str, usize, &str)> =
        (0..30).map(|n| ("alpha", 3 + 4 * (n % 2), ["no", "yes"][n % 2])).collect();
    let folder = labelled(2, &runs);
    let ran = run_in(&folder, &WITHOUT_EACH_SOURCE);
    assert_eq!((ran.exit, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("one source"), "{}", ran.err);
    let ran = tune(&folder, &[]);
    assert_eq!((ran.exit, times(&ran.out)), (0, 4));
    assert!(ran.err.contains("5 random parts"), "{}", ran.err);
}

#[test]
fn the_default_policy_does_as_well_on_sources_that_it_was_not_fitted_to() {
    let Some(root) = shared("traces") else { return };
    let labels = root.join("labels.jsonl");
    let words = ["eval", "--leave-one-source-out", "--format", "jsonl", "--labels"];
    let words = words.map(AsRef::as_ref).into_iter().chain([labels.as_os_str(), root.as_os_str()]);
    let lines = unstuck(words).lines();
    let all = lines.last().expect("a line of all");
    let f1 = |what: &str| all.pointer(what).and_then(Value::as_f64).expect("an F1");
    assert!(f1("/unseen/f1") > f1("/fitted/f1") - 0.05, "{all}");
    assert!(f1("/unseen/false_alarm_rate") <= 0.03, "{all}");
}
