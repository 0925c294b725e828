//! The number of parallel jobs does not change the output.

use crate::harness::{CLEAN, Folder, Ran, effort, is_exhaustive, runs, scan, shared, stuck};

/// Returns a folder with many files of every kind, which differ in length by `growth` records.
fn mixed(growth: usize) -> Folder {
    let folder = Folder::new();
    for n in 0..40 {
        let (name, content) = match n % 4 {
            0 => (format!("{n:02}-stuck.jsonl"), stuck()),
            1 => (format!("{n:02}-clean.jsonl"), CLEAN.repeat(1 + n * growth)),
            2 => (format!("{n:02}-part.jsonl"), format!("{CLEAN}not json\n")),
            _ => (format!("{n:02}-other.json"), "no trace".to_owned()),
        };
        folder.file(&name, content);
    }
    folder
}

#[test]
fn the_same_is_printed_whatever_the_number_of_jobs() {
    let mixed = mixed([2, 10, 50][effort()]);
    let real = if is_exhaustive() { &["traces", "formats"][..] } else { &[] };
    let shared = real.iter().filter_map(|folder| shared(folder));
    for path in [mixed.path().to_owned(), runs()].into_iter().chain(shared) {
        let is_real = !path.starts_with(mixed.path());
        let formats =
            if is_real && effort() < 2 { &["jsonl"][..] } else { &["human", "jsonl", "json"] };
        for format in formats {
            let scan = |jobs: &str| {
                let Ran { exit, out, err } =
                    scan(&path, &["--format", format, "--jobs", jobs, "--verbose"]);
                (exit, out, err)
            };
            let alone = scan("1");
            for jobs in ["2", "7"] {
                assert_eq!(scan(jobs), alone, "{} {format} {jobs}", path.display());
            }
        }
    }
}

#[test]
fn errors_come_in_the_order_of_the_inputs() {
    let folder = mixed(2);
    let ran = scan(folder.path(), &["--jobs", "4", "--verbose"]);
    let named = |line: &str| line.split_once("other.json: ").map(|(path, _)| path.to_owned());
    let complained: Vec<String> = ran.err.lines().filter_map(named).collect();
    assert_eq!(complained.len(), 10, "{}", ran.err);
    assert!(complained.is_sorted(), "{}", ran.err);
}
