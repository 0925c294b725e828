//! `unstuck start-over`: saves what an agent did to a git work tree, and undoes it.

mod messages;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args, Subcommand, ValueEnum};
use unstuck::{GitError, GitWorkTree, SavedState, Undone, WentBack};

use crate::exit::Exit;
use crate::output::{Reader, complain, print};

/// The origin in messages.
const NAME: &str = "start-over";

const KEPT: &str = "Tracked and untracked files are saved byte by byte, with the index, the \
                    branch and its commit, under refs/unstuck in the repository. Ignored files \
                    and nested repositories are left alone. To delete a run, remove its refs; \
                    list prints the command.";

const EXIT_CODES: &str = "Exit codes: 0 done, 1 done except for files that were being changed at \
                          the time, 3 no such work tree, run or number, 4 the work tree cannot be \
                          saved or restored, 64 a usage error.";

#[derive(Args)]
#[command(after_help = format!("{KEPT}\n\n{EXIT_CODES}"))]
pub(crate) struct StartOver {
    #[command(subcommand)]
    command: StartOverCommand,
}

#[derive(Subcommand)]
enum StartOverCommand {
    /// Save the current state as the start of a run
    Begin(Begin),
    /// Save the current state, then go back to the start of the run
    Now(Now),
    /// Print the saved states: the start of each run, and the numbered states from before each way
    /// back
    List(List),
    /// Save the current state, then restore the state with a number
    Restore(Restore),
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
struct Begin {
    /// The name of the run [default: run-1, or the next free number]
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    run: Option<String>,
    /// Begin an existing run again; its former start is kept under the next number
    #[arg(long, requires = "run")]
    again: bool,
    /// A folder in the work tree; the whole tree is saved
    #[arg(value_name = "PATH", default_value = ".")]
    folder: PathBuf,
}

/// The options that choose an existing run.
#[derive(Args)]
struct RunOptions {
    /// The name of the run [default: the latest run of this work tree]
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    run: Option<String>,
    /// A folder of the work tree
    #[arg(value_name = "PATH", default_value = ".")]
    folder: PathBuf,
}

impl RunOptions {
    fn open(&self) -> Result<GitWorkTree, GitError> {
        GitWorkTree::open(&self.folder, self.run.as_deref())
    }
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
struct Now {
    #[command(flatten)]
    run: RunOptions,
    /// The output format
    #[arg(long, value_enum, default_value_t = NowFormat::Human)]
    format: NowFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NowFormat {
    /// For people
    Human,
    /// A text for the model, which names no file and asks for another approach
    Model,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
struct List {
    /// Only this run
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    run: Option<String>,
    /// A folder in a work tree of the repository
    #[arg(value_name = "PATH", default_value = ".")]
    folder: PathBuf,
    /// The output format
    #[arg(long, value_enum, default_value_t = ListFormat::Human)]
    format: ListFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// For people
    Human,
    /// One JSON object a line for each saved state
    Jsonl,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
struct Restore {
    /// The number of the state, as list prints it
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    number: u32,
    #[command(flatten)]
    run: RunOptions,
}

fn run_name(name: &str) -> Result<String, GitError> {
    GitWorkTree::check_name(name).map(|()| name.to_owned())
}

pub(crate) fn run(start_over: &StartOver) -> Exit {
    let done = match &start_over.command {
        StartOverCommand::Begin(options) => begin(options),
        StartOverCommand::Now(options) => now(options),
        StartOverCommand::Restore(Restore { number, run }) => {
            let went = run.open().and_then(|mut tree| tree.restore(*number));
            went.map(|went| back(&went, &messages::went_back(&went)))
        }
        StartOverCommand::List(options) => list(options),
    };
    done.unwrap_or_else(|error| {
        complain(NAME, &messages::error(&error));
        exit(&error)
    })
}

fn begin(Begin { run, again, folder }: &Begin) -> Result<Exit, GitError> {
    let begun = match run {
        None => GitWorkTree::begin_next(folder),
        Some(run) if *again => GitWorkTree::begin_again(folder, run),
        Some(run) => GitWorkTree::begin(folder, run),
    };
    let start = begun?.start()?;
    Ok(print(Reader::Person, &messages::begun(&start), Exit::Clean))
}

fn list(List { run, folder, format }: &List) -> Result<Exit, GitError> {
    let mut saved = GitWorkTree::list(folder)?;
    if let Some(run) = run {
        saved.retain(|one| one.run == *run);
        if saved.is_empty() {
            return Err(GitError::NoRun { run: Some(run.clone()), folder: folder.clone() });
        }
    }
    Ok(match format {
        ListFormat::Human => {
            let change = Change::latest(folder, &saved);
            print(Reader::Person, &messages::list(&saved, change.as_ref()), Exit::Clean)
        }
        ListFormat::Jsonl => print(Reader::Program, &messages::lines(&saved), Exit::Clean),
    })
}

fn now(Now { run, format }: &Now) -> Result<Exit, GitError> {
    let went = run.open()?.start_over()?;
    let text = match format {
        NowFormat::Human => messages::went_back(&went),
        NowFormat::Model => Undone::from(went.clone()).message() + "\n",
    };
    Ok(back(&went, &text))
}

/// Prints the changes of the work tree. Files that were left alone count as a finding.
fn back(went: &WentBack, text: &str) -> Exit {
    let exit = if went.left.is_empty() { Exit::Clean } else { Exit::Found };
    print(Reader::Person, text, exit)
}

/// Returns the exit code: either the arguments are wrong, or the work tree cannot be saved.
fn exit(error: &GitError) -> Exit {
    match error {
        GitError::Outside { .. }
        | GitError::NoRun { .. }
        | GitError::NoNumber { .. }
        | GitError::OtherWorkTree { .. }
        | GitError::Damaged { .. } => Exit::Input,
        GitError::RunName { .. } => Exit::Usage,
        _ => Exit::Setup,
    }
}

/// The environment variables that would lead git to another repository.
const SURROUNDINGS: [&str; 4] =
    ["GIT_DIR", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"];

/// The start of a run, and its latest state with other files.
struct Change<'k> {
    start: &'k SavedState,
    end: &'k SavedState,
}

impl<'k> Change<'k> {
    /// Returns the change in the latest run, or `None` if there is none or if git fails.
    fn latest(folder: &Path, saved: &'k [SavedState]) -> Option<Self> {
        let start = newest(saved)?;
        let ends: Vec<_> =
            saved.iter().filter(|one| one.run == start.run && one.number.is_some()).collect();
        let commits = [start].into_iter().chain(ends.iter().copied());
        let trees = trees(folder, commits.map(|one| &*one.commit))?;
        let (first, others) = trees.split_first()?;
        let end = ends.into_iter().zip(others).rfind(|(_, tree)| *tree != first)?.0;
        Some(Self { start, end })
    }
}

/// Returns the start of the latest run.
fn newest(saved: &[SavedState]) -> Option<&SavedState> {
    saved.iter().filter(|one| one.number.is_none()).max_by_key(|one| one.time)
}

/// Returns the tree of each of these commits.
fn trees<'c>(folder: &Path, commits: impl Iterator<Item = &'c str>) -> Option<Vec<String>> {
    let mut git = Command::new("git");
    for variable in SURROUNDINGS {
        git.env_remove(variable);
    }
    git.arg("-C").arg(folder).arg("rev-parse");
    git.args(commits.map(|commit| format!("{commit}^{{tree}}")));
    let output = git.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let trees = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| trees.lines().map(str::to_owned).collect())
}
