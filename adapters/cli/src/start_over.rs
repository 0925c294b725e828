//! `unstuck start-over`: keeps what an agent did to a work tree of git, and undoes it.

mod changed;
mod messages;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use unstuck::{GitError, GitWorkTree, Undone, WentBack};

use crate::exit::Exit;
use crate::output::{Output, Reader, complain};
use changed::Change;

/// StartOverCommand messages name as their origin.
const NAME: &str = "start-over";

const KEPT: &str = "Files in git's index and those that are neither there nor ignored are kept byte \
                    by byte, with what is staged, the branch and its commit, under refs/unstuck in \
                    the repository. Ignored files and repositories within the tree are left alone. \
                    A run is forgotten when its refs are removed; list prints the command for \
                    that.";

const EXIT_CODES: &str = "Exit codes: 0 all is done, 1 all but for files that were being changed \
                          meanwhile, 3 no such work tree, run or number, 4 the work \
                          tree cannot be kept or go back as it is, 64 a usage error.";

#[derive(Args)]
#[command(after_help = KEPT)]
pub(crate) struct StartOver {
    #[command(subcommand)]
    command: StartOverCommand,
}

#[derive(Subcommand)]
enum StartOverCommand {
    /// Keep what there is as the start of a run
    Begin(Begin),
    /// Keep what there is, and go back to the start of the run
    Now(Now),
    /// Print what is kept: starts of runs, and by number what there was before each way back
    List(List),
    /// Keep what there is, and go to what is kept under a number
    Restore(Restore),
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
struct Begin {
    /// The name of the run [default: run-1, or the next that is free]
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    run: Option<String>,
    /// Begin a run again that was begun before; its former start stays, under the next number
    #[arg(long, requires = "run")]
    again: bool,
    /// A folder of the work tree, all of which is kept
    #[arg(value_name = "PATH", default_value = ".")]
    folder: PathBuf,
}

/// A run that was begun.
#[derive(Args)]
struct RunOptions {
    /// The name of the run [default: the one of this work tree that was begun last]
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
    /// How to print what was undone
    #[arg(long, value_enum, default_value_t = NowFormat::Human)]
    format: NowFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum NowFormat {
    /// For people
    Human,
    /// StartOverCommand to tell the model, which names no file and asks for another approach
    Model,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
struct List {
    /// Only this run
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    run: Option<String>,
    /// A folder of a work tree of the repository
    #[arg(value_name = "PATH", default_value = ".")]
    folder: PathBuf,
    /// How to print it
    #[arg(long, value_enum, default_value_t = ListFormat::Human)]
    format: ListFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    /// For people
    Human,
    /// One JSON object a line for each state that is kept
    Jsonl,
}

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
struct Restore {
    /// The number, as list prints it
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
    let mut kept = GitWorkTree::list(folder)?;
    if let Some(run) = run {
        kept.retain(|kept| kept.run == *run);
        if kept.is_empty() {
            return Err(GitError::NoRun { run: Some(run.clone()), folder: folder.clone() });
        }
    }
    Ok(match format {
        ListFormat::Human => {
            let change = Change::latest(folder, &kept);
            print(Reader::Person, &messages::list(&kept, change.as_ref()), Exit::Clean)
        }
        ListFormat::Jsonl => print(Reader::Program, &messages::lines(&kept), Exit::Clean),
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

/// Says what became of the work tree. Files that were left are a finding.
fn back(went: &WentBack, text: &str) -> Exit {
    let exit = if went.left.is_empty() { Exit::Clean } else { Exit::Found };
    print(Reader::Person, text, exit)
}

fn print(reader: Reader, text: &str, exit: Exit) -> Exit {
    match Output::stdout(reader).write(text) {
        Ok(()) => exit,
        Err(closed) => closed.exit(exit),
    }
}

/// StartOverCommand is at fault: what was named, or what the work tree is like.
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
