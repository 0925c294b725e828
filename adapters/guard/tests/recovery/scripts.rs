//! Sessions in a repository, in `scripts`: commands of a person and an agent, and what comes of them.
//!
//! ```text
//! == the title of a case, which begins with an empty repository on the branch `main`
//! write a one\r\n              writes a file; `remove`, `executable` and `commit` need no words
//! git checkout -q -b other     runs git; `{name}` is the commit that `head name` remembered
//! begin run                    keeps the start; also `begin again run` and `begin next`
//! kept start                   whether the commit is reachable from a saved run; also `exists FILE`
//! ls                           the files; also `saved`, the saved runs, and `read FILE`
//! snap start                   remembers the files, the branch, the commit and the index
//! start over
//! > 1: 1 file removed          the output; that of git is always compared
//! same start                   `same`, `files` and `index` compare with what was remembered
//! restore 7
//! ! NoNumber                   the error, and a part of its message
//! ```
//!
//! A line in parentheses is a comment.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::PathBuf;

use unstuck::{GitError, GitWorkTree, WentBack};

use crate::repository::{Content, Repository, git, set_executable};

#[test]
fn branches() {
    play(include_str!("scripts/branches.txt"));
}

#[test]
fn bytes() {
    play(include_str!("scripts/bytes.txt"));
}

#[test]
fn runs() {
    play(include_str!("scripts/runs.txt"));
}

/// Plays all cases of a file, and lists every command that went otherwise.
fn play(file: &str) {
    let (mut session, mut wrong) = (Session::new(), Vec::new());
    let mut lines = (1..).zip(file.lines()).peekable();
    while let Some((number, line)) = lines.next() {
        if line.starts_with("== ") {
            session = Session::new();
        }
        if line.is_empty() || line.starts_with(['(', '=']) {
            continue;
        }
        let mut expected = Vec::new();
        while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with(['>', '!'])) {
            expected.push(session.filled(line));
        }
        let found = session.run(&session.filled(line));
        let is_expected = match (&found, &expected[..]) {
            (Ok(_), []) if !line.starts_with("git ") => true,
            (Ok(output), _) => output.lines().map(|line| format!("> {line}")).eq(expected),
            (Err(error), [line]) => {
                let (kind, part) = line[2..].split_once(' ').unwrap_or((&line[2..], ""));
                let (said, error) = (error.to_string(), format!("{error:?}"));
                error.starts_with(kind) && (said.contains(part) || error.contains(part))
            }
            (Err(_), _) => false,
        };
        if !is_expected {
            wrong.push(format!("{number}: {line}\n    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A repository, a run in it, and what the script remembers.
struct Session {
    repository: Repository,
    tree: Option<GitWorkTree>,
    heads: HashMap<String, String>,
    states: HashMap<String, (BTreeMap<PathBuf, Content>, String)>,
}

impl Session {
    fn new() -> Self {
        let (heads, states) = (HashMap::new(), HashMap::new());
        Self { repository: Repository::new(), tree: None, heads, states }
    }

    /// Runs a command, and returns its output.
    fn run(&mut self, line: &str) -> Result<String, GitError> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (repository, top) = (&self.repository, self.repository.top());
        match word {
            "write" => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                repository.write(name, unescaped(text));
            }
            "remove" => repository.remove(rest),
            "executable" => set_executable(&top.join(rest), true),
            "commit" => repository.commit(),
            "git" => return Ok(git(top, words(rest)).trim_end().to_owned()),
            "begin" => {
                let tree = match rest.split_once(' ') {
                    Some(("again", run)) => GitWorkTree::begin_again(top, run),
                    _ if rest == "next" => GitWorkTree::begin_next(top),
                    _ => GitWorkTree::begin(top, rest),
                };
                return Ok(self.tree.insert(tree?).run().to_owned());
            }
            "start" => {
                let went = self.tree().start_over()?;
                return Ok(self.said(&went));
            }
            "restore" => {
                let went = self.tree().restore(rest.parse().expect("a number"))?;
                return Ok(self.said(&went));
            }
            "head" => {
                let head = repository.git(["rev-parse", "HEAD"]).trim().to_owned();
                self.heads.insert(rest.to_owned(), head);
            }
            "kept" => {
                let refs = ["for-each-ref", "--contains", rest, "refs/unstuck/run"];
                return Ok(if repository.git(refs).is_empty() { "no" } else { "yes" }.to_owned());
            }
            "snap" => {
                let state = (repository.files(), repository.staged());
                self.states.insert(rest.to_owned(), state);
            }
            "same" | "files" | "index" => {
                let (files, staged) = &self.states[rest];
                if word != "index" {
                    assert_eq!(repository.files(), *files, "{line}");
                }
                if word != "files" {
                    assert_eq!(repository.staged(), *staged, "{line}");
                }
            }
            "ls" => {
                let names = repository.files().into_keys().map(|name| name.display().to_string());
                return Ok(names.collect::<Vec<_>>().join("\n"));
            }
            "saved" => {
                let number =
                    |number: Option<u32>| number.map_or("start".into(), |it| it.to_string());
                let saved = GitWorkTree::list(top)?.into_iter();
                let saved = saved.map(|saved| format!("{} {}", saved.run, number(saved.number)));
                return Ok(saved.collect::<Vec<_>>().join("\n"));
            }
            "exists" => return Ok(if top.join(rest).exists() { "yes" } else { "no" }.to_owned()),
            "read" => return Ok(fs::read_to_string(top.join(rest)).expect("a file")),
            _ => panic!("no command `{word}`"),
        }
        Ok(String::new())
    }

    /// Returns the line with the commits that it names.
    fn filled(&self, line: &str) -> String {
        let heads = self.heads.iter();
        heads.fold(line.to_owned(), |line, (name, head)| line.replace(&format!("{{{name}}}"), head))
    }

    /// Returns a report in one line: the number, the files, and whatever else changed.
    fn said(&self, went: &WentBack) -> String {
        let mut said = vec![went.files()];
        if went.branch != went.to.branch {
            let name = |branch: &Option<String>| branch.clone().unwrap_or("no branch".to_owned());
            said.push(format!("{} to {}", name(&went.branch), name(&went.to.branch)));
        }
        if went.head != went.to.head {
            let known =
                |head: &Option<String>| self.heads.iter().find(|it| head.as_ref() == Some(it.1));
            let name = |head| known(head).map_or("a commit", |(name, _)| name);
            said.push(format!("{} to {}", name(&went.head), name(&went.to.head)));
        }
        said.extend(went.was_staged.then(|| "index changed".to_owned()));
        said.retain(|part| !part.is_empty());
        assert_eq!(went.is_change(), !said.is_empty(), "{went:?}");
        let names = |what: &'static str| move |path: &PathBuf| format!("{what} {}", path.display());
        said.extend(went.left.iter().map(names("left")));
        said.extend(went.nested.iter().map(names("nested")));
        format!("{}: {}", went.number, said.join("; ")).trim_end().to_owned()
    }

    fn tree(&mut self) -> &mut GitWorkTree {
        self.tree.as_mut().expect("a run")
    }
}

/// Returns the words of a line, some of them in quotes.
fn words(line: &str) -> Vec<&str> {
    let parts = line.split('\'').enumerate();
    let words = parts.map(|(n, part)| match n % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    words.collect::<Vec<_>>().concat()
}

/// Returns the bytes of a text, with `\n`, `\r` and `\xFF` for those that a line cannot hold.
fn unescaped(text: &str) -> Vec<u8> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (byte, rest) = match part.as_bytes() {
            [b'n', rest @ ..] => (b'\n', rest),
            [b'r', rest @ ..] => (b'\r', rest),
            [b'x', rest @ ..] => (u8::from_str_radix(&part[1..3], 16).expect("a byte"), &rest[2..]),
            _ => panic!("no escape: {part}"),
        };
        bytes.push(byte);
        bytes.extend(rest);
    }
    bytes
}
