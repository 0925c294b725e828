//! Runs every input in `fuzz/seeds` and `fuzz/regressions` again without a fuzzer.

use std::collections::BTreeSet;
use std::fs;
use std::panic;
use std::path::{Path, PathBuf};

use unstuck_checks::{
    canary, canonicalize, checkpoint, engine, fingerprint, gossip, guard, text, trace,
};

type Check = fn(&[u8]);

/// The checks that must hold, by the names of their targets.
const CHECKS: [(&str, Check); 8] = [
    ("canonicalize", canonicalize::check),
    ("checkpoint", checkpoint::check),
    ("engine", engine::check),
    ("fingerprint", fingerprint::check),
    ("gossip", gossip::check),
    ("guard", guard::check),
    ("text", text::check),
    ("trace", trace::check),
];

/// Two laps of four calls, each as a byte for the kind of event and one for the call.
const FOUND: [u8; 16] = [0, 0, 0, 1, 0, 2, 0, 3, 0, 0, 0, 1, 0, 2, 0, 3];

/// Returns a folder of the fuzzing crate.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(name)
}

/// Returns the paths of a folder, which may be missing.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

/// Returns the inputs of `kind` for a target.
fn inputs(kind: &str, target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let files = entries(&folder(kind).join(target)).into_iter();
    files.map(|path| (path.clone(), fs::read(path).expect("a readable file"))).collect()
}

/// Returns the first of `inputs` that breaks the check.
fn broken(check: Check, inputs: Vec<(PathBuf, Vec<u8>)>) -> Option<PathBuf> {
    let holds = |input: &[u8]| panic::catch_unwind(|| check(input)).is_ok();
    inputs.into_iter().find_map(|(path, input)| (!holds(&input)).then_some(path))
}

#[test]
fn every_check_holds_of_its_seeds() {
    for (target, check) in CHECKS {
        let inputs = inputs("seeds", target);
        assert!(!inputs.is_empty(), "{target} has no seeds");
        assert_eq!(broken(check, inputs), None, "the check `{target}` fails");
    }
}

#[test]
fn every_check_holds_of_what_was_found() {
    for (target, check) in CHECKS {
        assert_eq!(broken(check, inputs("regressions", target)), None, "{target} fails again");
    }
}

#[test]
fn the_check_that_can_fail_does() {
    let found = Path::new("found");
    assert_eq!(broken(canary::check, vec![(found.into(), FOUND.into())]), Some(found.into()));
    // Without the last call there is nothing to find.
    assert_eq!(broken(canary::check, vec![(found.into(), FOUND[..14].into())]), None);
}

#[test]
fn each_folder_and_each_target_has_a_check() {
    let named: BTreeSet<_> = CHECKS.iter().map(|(target, _)| (*target).to_owned()).collect();
    let stem = |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    for kind in ["seeds", "regressions"] {
        let folders = entries(&folder(kind)).into_iter().filter(|path| path.is_dir());
        let folders: BTreeSet<_> = folders.map(|path| stem(&path)).collect();
        assert!(folders.is_subset(&named), "{kind}: {folders:?} are not all in {named:?}");
    }
    let mut targets: BTreeSet<_> = entries(&folder("fuzz_targets")).iter().map(stem).collect();
    assert!(targets.remove("canary"), "{targets:?}");
    assert_eq!(targets, named);
}
