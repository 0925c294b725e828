//! The rules of the repository that no compiler and no linter knows.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use crate::machine;
use crate::source::{code_only, has_word, test_modules, without_tests};

/// Every folder that may stand at the top level.
const FOLDERS: &[&str] = &[".cargo", ".ci", "adapters", "benches", "core", "fuzz", "xtask"];

/// The folder whose code must do without an operating system and an allocator.
const ENGINE: &str = "core/src/";

/// The crates that the engine must not name.
const HOSTED: &[&str] = &["std", "alloc"];

/// The size in bytes over which a file is an artefact rather than a source.
const FILE_SIZE_MAX: u64 = 512 * 1024;

/// What stands for unfinished work, in code.
const UNFINISHED: &[&str] = &["todo!", "unimplemented!", "#[ignore", "should_panic"];

/// Something in the tree that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The file or folder, from the root of the repository.
    path: String,
    /// The line, counted from 1, where the rule is about one.
    line: Option<usize>,
    /// What is wrong, and what would be right.
    what: String,
}

impl Violation {
    fn of_path(path: &str, what: impl Into<String>) -> Self {
        Self { path: path.into(), line: None, what: what.into() }
    }

    /// `index` counts from 0.
    fn of_line(path: &str, index: usize, what: impl Into<String>) -> Self {
        Self { line: Some(index + 1), ..Self::of_path(path, what) }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.what),
            None => write!(f, "{}: {}", self.path, self.what),
        }
    }
}

/// Every violation in the tree at `root`, in the order of the paths.
///
/// The tree is what git has or would have: files that it ignores are nobody's
/// concern.
///
/// # Errors
///
/// If git cannot list the tree or a file of it cannot be read.
pub(crate) fn check(root: &Path) -> io::Result<Vec<Violation>> {
    let paths = listed(root)?;
    let mut violations = foreign_folders(&paths);
    violations.extend(empty_folders(root)?);
    let mut sources = Vec::new();
    for path in paths {
        let file = root.join(&path);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{path}: {error}"));
        let size = fs::metadata(&file).map_err(named)?.len();
        violations.extend(oversize(&path, size));
        if file.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&file).map_err(named)?;
            sources.push((path, text));
        }
    }
    for (path, text) in &sources {
        violations.extend(unopened(path, text));
        violations.extend(unfinished(path, text));
    }
    violations.extend(hosted(&sources));
    violations.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    Ok(violations)
}

/// Every file that git has or would have, from `root`, in their order.
fn listed(root: &Path) -> io::Result<Vec<String>> {
    let mut command = machine::program("git");
    command.current_dir(root);
    command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = command.output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("git ls-files: {}", why.trim())));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // A file that is removed but not yet from git's index is still in its list.
    let paths = text.split_terminator('\0');
    let paths: BTreeSet<_> = paths.filter(|path| root.join(path).is_file()).collect();
    Ok(paths.into_iter().map(String::from).collect())
}

/// Folders at the top level that are not one of [`FOLDERS`].
fn foreign_folders(paths: &[String]) -> Vec<Violation> {
    let folders = paths.iter().filter_map(|path| path.split_once('/'));
    let folders: BTreeSet<_> = folders.map(|(folder, _)| folder).collect();
    folders
        .into_iter()
        .filter(|folder| !FOLDERS.contains(folder))
        .map(|folder| {
            let what = format!("no folder for the top level; those are {FOLDERS:?}");
            Violation::of_path(folder, what)
        })
        .collect()
}

/// Folders at the top level with nothing in them: git keeps none, so that they
/// promise on one machine what another does not have.
fn empty_folders(root: &Path) -> io::Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && fs::read_dir(entry.path())?.next().is_none() {
            let name = entry.file_name();
            let what = "an empty folder; remove it or put in what it is for";
            violations.push(Violation::of_path(&name.to_string_lossy(), what));
        }
    }
    Ok(violations)
}

/// A file of more than [`FILE_SIZE_MAX`] bytes.
fn oversize(path: &str, size: u64) -> Option<Violation> {
    let what = format!("{size} bytes; a file has {FILE_SIZE_MAX} at most");
    (size > FILE_SIZE_MAX).then(|| Violation::of_path(path, what))
}

/// A source that does not open by saying what lives in it.
fn unopened(path: &str, text: &str) -> Option<Violation> {
    let what = "a source opens with `//!` and one sentence on what lives there";
    (!text.starts_with("//!")).then(|| Violation::of_line(path, 0, what))
}

/// Lines that stand for work not done: code that panics for lack of any, tests
/// that do not run or that any panic satisfies, examples of that kind.
fn unfinished(path: &str, text: &str) -> Vec<Violation> {
    let code = code_only(text);
    let in_code = code.lines().enumerate().flat_map(|(index, line)| {
        let words = UNFINISHED.iter().filter(move |word| line.contains(**word));
        words.map(move |word| (index, *word))
    });
    let in_examples = text.lines().enumerate().flat_map(|(index, line)| {
        let words = fence_words(line).filter(|word| ["ignore", "should_panic"].contains(word));
        words.map(move |word| (index, word))
    });
    in_code
        .chain(in_examples)
        .map(|(index, word)| {
            let what = format!("`{word}`: finish it, or take it out");
            Violation::of_line(path, index, what)
        })
        .collect()
}

/// The words after the fence that opens an example in a documentation comment.
fn fence_words(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_start();
    let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
    let fence = comment.and_then(|comment| comment.trim_start().strip_prefix("```"));
    fence.unwrap_or_default().split([',', ' '])
}

/// Lines of the engine that name one of the [`HOSTED`] crates, tests aside.
fn hosted(sources: &[(String, String)]) -> Vec<Violation> {
    let engine: Vec<_> = sources
        .iter()
        .filter(|(path, _)| path.starts_with(ENGINE))
        .map(|(path, text)| (path, code_only(text)))
        .collect();
    let tests: Vec<_> = engine
        .iter()
        .flat_map(|(path, code)| test_modules(code).into_iter().map(|name| child(path, name)))
        .collect();
    let is_test = |path: &str| {
        tests
            .iter()
            .filter_map(|module| path.strip_prefix(module.as_str()))
            .any(|ending| ending.starts_with(['.', '/']))
    };
    let mut violations = Vec::new();
    for (path, code) in engine.iter().filter(|(path, _)| !is_test(path)) {
        for (index, line) in without_tests(code).lines().enumerate() {
            let names = HOSTED.iter().filter(|name| has_word(line, name));
            violations.extend(names.map(|name| {
                let what = format!("names `{name}`; the engine has `core` and no more");
                Violation::of_line(path, index, what)
            }));
        }
    }
    violations
}

/// The path, without its ending, of the module `name` that the file `parent`
/// declares.
fn child(parent: &str, name: &str) -> String {
    let stem = parent.trim_end_matches(".rs");
    let folder = match stem.rsplit_once('/') {
        Some((folder, "lib" | "main" | "mod")) => folder,
        _ => stem,
    };
    format!("{folder}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Violations as `path:line`, or `path` where no line is at fault.
    fn places(violations: impl IntoIterator<Item = Violation>) -> Vec<String> {
        let place = |violation: Violation| match violation.line {
            Some(line) => format!("{}:{line}", violation.path),
            None => violation.path,
        };
        violations.into_iter().map(place).collect()
    }

    #[test]
    fn a_source_opens_with_its_sentence() {
        assert_eq!(unopened("a.rs", "//! What lives here.\n"), None);
        for text in ["", "\n//! Late.", "// No.", "/// No.", "use a;"] {
            assert_eq!(places(unopened("a.rs", text)), ["a.rs:1"], "{text}");
        }
    }

    #[test]
    fn unfinished_work_is_found_in_code_and_in_examples() {
        for (text, lines) in [
            ("a();\ntodo!()", vec!["a.rs:2"]),
            ("unimplemented!(\"b\")", vec!["a.rs:1"]),
            ("#[test]\n#[ignore]\nfn a() {}", vec!["a.rs:2"]),
            ("#[ignore = \"slow\"]", vec!["a.rs:1"]),
            ("#[should_panic(expected = \"a\")]", vec!["a.rs:1"]),
            ("#[ignore] #[should_panic]", vec!["a.rs:1", "a.rs:1"]),
            ("/// ```should_panic\n/// ```", vec!["a.rs:1"]),
            ("    //! ```rust, ignore", vec!["a.rs:1"]),
            ("/// ```text\n/// todo!()", vec![]),
            ("// todo!()\nlet a = \"#[ignore]\";", vec![]),
            ("let ignore = 1;", vec![]),
        ] {
            assert_eq!(places(unfinished("a.rs", text)), lines, "{text}");
        }
    }

    #[test]
    fn the_engine_names_no_hosted_crate_outside_of_tests() {
        let sources = [
            (
                "core/src/lib.rs",
                "//! std\n#![no_std]\n#[cfg(test)]\nextern crate std;\n#[cfg(test)]\nmod oracle;\n",
            ),
            ("core/src/oracle.rs", "use std::vec::Vec;"),
            ("core/src/oracle/deep.rs", "use std::vec::Vec;"),
            ("core/src/oracles.rs", "use alloc::vec::Vec;"),
            (
                "core/src/window.rs",
                "/// std\nuse core::fmt;\nuse std::fmt;\n#[cfg(test)]\nmod tests {\n    use std::vec;\n}\n",
            ),
            ("core/src/window/mod.rs", "#[cfg(test)]\nmod cases;"),
            ("core/src/window/cases.rs", "use std::vec;"),
            ("core/tests/table.rs", "use std::vec;"),
            ("adapters/cli/src/main.rs", "use std::io;"),
        ];
        let sources = sources.map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert_eq!(places(hosted(&sources)), ["core/src/oracles.rs:1", "core/src/window.rs:3"]);
    }

    #[test]
    fn a_module_is_beside_or_beneath_its_parent() {
        for (parent, expected) in [
            ("core/src/lib.rs", "core/src/a"),
            ("core/src/b/mod.rs", "core/src/b/a"),
            ("core/src/b.rs", "core/src/b/a"),
        ] {
            assert_eq!(child(parent, "a"), expected);
        }
    }

    #[test]
    fn the_top_level_holds_no_other_folder() {
        let paths = ["README.md", "core/src/lib.rs", "docs/a.md", "docs/b/c.md"];
        let paths = paths.map(String::from);
        assert_eq!(places(foreign_folders(&paths)), ["docs"]);
    }

    #[test]
    fn a_large_file_is_an_artefact() {
        assert_eq!(oversize("a", FILE_SIZE_MAX), None);
        assert_eq!(places(oversize("a", FILE_SIZE_MAX + 1)), ["a"]);
    }

    #[test]
    fn a_violation_says_where_and_what() {
        let violation = Violation::of_line("a.rs", 2, "wrong");
        assert_eq!(violation.to_string(), "a.rs:3: wrong");
        assert_eq!(Violation::of_path("a", "wrong").to_string(), "a: wrong");
    }
}
