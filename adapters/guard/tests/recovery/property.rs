//! A small tree goes back to its start and forth again after any changes.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use unstuck::GitWorkTree;

use crate::repository::{Content, Repository, link, set_executable};

type File = (PathBuf, Content);

/// File names. Some are folders of others, and some are ignored.
const NAMES: [&str; 8] = ["a", "b", "a/b", "a/b/c", "d/e", "d/f.o", "g.o", "b/.gitignore"];

/// A change of the tree by an agent or a person.
#[derive(Clone, Debug)]
enum Edit {
    Write(usize, u8),
    Link(usize, u8),
    Remove(usize),
    Executable(usize, bool),
    Rename(usize, usize),
    Stage,
    Unstage,
    Commit,
    Branch(u8),
    Ignore(u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    let name = || 0..NAMES.len();
    prop_oneof![
        6 => (name(), 0..4_u8).prop_map(|(name, bytes)| Edit::Write(name, bytes)),
        2 => (name(), 0..4_u8).prop_map(|(name, to)| Edit::Link(name, to)),
        3 => name().prop_map(Edit::Remove),
        2 => (name(), any::<bool>()).prop_map(|(name, executable)| Edit::Executable(name, executable)),
        2 => (name(), name()).prop_map(|(from, to)| Edit::Rename(from, to)),
        2 => Just(Edit::Stage),
        1 => Just(Edit::Unstage),
        2 => Just(Edit::Commit),
        1 => (0..2_u8).prop_map(Edit::Branch),
        1 => (0..3_u8).prop_map(Edit::Ignore),
    ]
}

/// Removes the thing at `path`, and the files that stand in place of its folders.
fn make_way(top: &Path, path: &Path) {
    let above = path.ancestors().skip(1).take_while(|&above| above != top);
    for above in above.filter(|above| above.symlink_metadata().is_ok_and(|found| !found.is_dir())) {
        fs::remove_file(above).expect("a file in the way");
    }
    match path.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).expect("a folder in the way"),
        Ok(_) => fs::remove_file(path).expect("a file in the way"),
        Err(_) => {}
    }
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

fn apply(repository: &Repository, edit: &Edit) {
    let top = repository.top();
    let at = |name: usize| top.join(NAMES[name]);
    match *edit {
        Edit::Write(name, bytes) => {
            make_way(top, &at(name));
            repository.write(
                NAMES[name],
                [b"\r\nx"[..usize::from(bytes)].to_vec(), vec![bytes]].concat(),
            );
        }
        Edit::Link(name, to) => {
            make_way(top, &at(name));
            link(Path::new(&format!("to-{to}")), &at(name));
        }
        Edit::Remove(name) => make_way(top, &at(name)),
        Edit::Executable(name, executable) if is_file(&at(name)) => {
            set_executable(&at(name), executable);
        }
        Edit::Rename(from, to) if is_file(&at(from)) => {
            let held = top.join("held");
            fs::rename(at(from), &held).expect("a file");
            make_way(top, &at(to));
            fs::rename(held, at(to)).expect("a file");
        }
        Edit::Executable(..) | Edit::Rename(..) => {}
        Edit::Stage => drop(repository.git(["add", "-A"])),
        Edit::Unstage => drop(repository.git(["read-tree", "--empty"])),
        Edit::Commit => drop(repository.git(["commit", "-q", "--allow-empty", "-m", "a commit"])),
        Edit::Branch(n) => {
            repository.git(["symbolic-ref", "HEAD", &format!("refs/heads/branch-{n}")]);
        }
        Edit::Ignore(n) => {
            make_way(top, &top.join(".gitignore"));
            repository.write(".gitignore", ["", "*.o\n", "/a\nd/\n"][usize::from(n)]);
        }
    }
}

/// Returns the files that git lists, which are the saved ones.
fn kept(repository: &Repository) -> Vec<File> {
    let listed = repository.git(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed: std::collections::BTreeSet<_> = listed.split('\0').map(Path::new).collect();
    let files = repository.files().into_iter();
    files.filter(|(name, _)| listed.contains(name.as_path())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases / 5,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_tree_goes_back_to_its_start_and_comes_again(
        before in prop::collection::vec(edit(), 0..8),
        since in prop::collection::vec(edit(), 0..12),
    ) {
        let repository = Repository::new();
        for edit in &before {
            apply(&repository, edit);
        }
        let mut tree = GitWorkTree::begin(repository.top(), "run").expect("a start");
        let start = (kept(&repository), repository.staged());
        for edit in &since {
            apply(&repository, edit);
        }
        let (end, end_staged) = (kept(&repository), repository.staged());
        let all = repository.files();

        let went = tree.start_over().expect("the start");
        prop_assert_eq!(&went.left, &Vec::<PathBuf>::new());
        prop_assert_eq!(repository.staged(), start.1);
        // Ignored files are left alone, even if they are not ignored any more.
        let is_ignored = |file: &File| all.get(&file.0) == Some(&file.1) && !end.contains(file);
        let (uncovered, others): (Vec<_>, Vec<_>) =
            kept(&repository).into_iter().partition(|file| is_ignored(file) && !start.0.contains(file));
        prop_assert_eq!((others, uncovered.len()), (start.0, went.uncovered));
        tree.restore(1).expect("the end");
        prop_assert_eq!((kept(&repository), repository.staged()), (end, end_staged));
        // Even ignored files have not changed on the way.
        prop_assert_eq!(repository.files(), all);
    }
}
