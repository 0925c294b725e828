//! The outputs of `unstuck scan`: pairs of `--format` and `-o`, and the writer of each format.

use std::env;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum, value_parser};
use unstuck_core::Policy;
use unstuck_report::baseline::Tally;
use unstuck_report::effect::NoteEffect;
use unstuck_report::failure::Failure;
use unstuck_report::parts::{FullReport, Needs};
use unstuck_report::writer::csv::Csv;
use unstuck_report::writer::explain::Explanation;
use unstuck_report::writer::github::GitHub;
use unstuck_report::writer::html::WholePage;
use unstuck_report::writer::human::{Human, View};
use unstuck_report::writer::json::{Document, Lines};
use unstuck_report::writer::junit::Junit;
use unstuck_report::writer::markdown::Markdown;
#[cfg(feature = "fleet")]
use unstuck_report::writer::parquet::Parquet;
use unstuck_report::writer::sarif::Sarif;
use unstuck_report::writer::svg::Svg;
use unstuck_report::writer::{Folder, Writer};

#[cfg(not(feature = "fleet"))]
use crate::lacking::how;
use crate::lacking::marked;
use crate::output::Reader;
use crate::output::effect::{ShownNote, tables};
use crate::scan::judge::temporary;
use crate::scan::options::Scan;

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    Human,
    /// One JSON document
    Json,
    /// One JSON object a line for each run
    Jsonl,
    /// One page with pictures of the runs, for a browser
    Html,
    /// One picture of the loop that --explain names
    Svg,
    /// One row for each loop
    Csv,
    #[value(help = marked("One row for each finding, for data frames and SQL"))]
    Parquet,
    /// A summary for people, to paste into a ticket
    Markdown,
    /// A test case for each run, for CI servers
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations and a job summary for GitHub Actions
    Github,
}

/// A format and the file that it is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) format: OutputFormat,
    /// The file, or `None` for standard output.
    pub(crate) path: Option<PathBuf>,
}

/// The outputs of one scan, at least one. At most one goes to standard output.
///
/// `--format` may be given several times. An `-o` belongs to the `--format` before it, or to the first one if
/// it comes before all of them.
#[derive(Clone, Debug)]
pub(crate) struct Targets(Vec<Target>);

impl Targets {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Target> {
        self.0.iter()
    }

    /// Pairs formats and files, each with its place in the command line.
    fn of(
        formats: Vec<(usize, OutputFormat)>,
        paths: Vec<(usize, PathBuf)>,
    ) -> Result<Self, String> {
        let formats = if formats.is_empty() { vec![(0, OutputFormat::Human)] } else { formats };
        let (places, mut targets): (Vec<_>, Vec<_>) = formats
            .into_iter()
            .map(|(place, format)| (place, Target { format, path: None }))
            .unzip();
        for (place, path) in paths {
            let owner = places.partition_point(|&format| format < place).saturating_sub(1);
            if let Some(first) = targets[owner].path.replace(path.clone()) {
                let (first, second) = (first.display(), path.display());
                return Err(format!(
                    "one --format has two files, {first} and {second}: give --format before each -o"
                ));
            }
        }
        let to_stdout = targets.iter().filter(|target| target.path.is_none());
        if let [one, other, ..] = to_stdout.collect::<Vec<_>>().as_slice() {
            let (one, other) = (one.format.name(), other.format.name());
            return Err(format!(
                "{one} and {other} would both go to standard output: give -o FILE after one of them"
            ));
        }
        Ok(Self(targets))
    }
}

impl OutputFormat {
    /// Returns the name in the command line.
    pub(crate) fn name(self) -> String {
        // No format is hidden from the command line.
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

impl Args for Targets {
    fn augment_args(command: Command) -> Command {
        command
            .arg(
                Arg::new("format")
                    .long("format")
                    .value_name("FORMAT")
                    .action(ArgAction::Append)
                    .value_parser(value_parser!(OutputFormat))
                    .help("The output format; several times for several outputs, each with its -o [default: human]"),
            )
            .arg(
                Arg::new("output")
                    .short('o')
                    .long("output")
                    .value_name("FILE")
                    .action(ArgAction::Append)
                    .value_parser(value_parser!(PathBuf))
                    .help("Write to this file instead of standard output. It belongs to the --format before it"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Targets {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let formats = with_places(matches, "format");
        #[cfg(not(feature = "fleet"))]
        if formats.iter().any(|(_, format)| *format == OutputFormat::Parquet) {
            let why = how("--format parquet");
            return Err(clap::Error::raw(ErrorKind::InvalidValue, why));
        }
        let targets = Self::of(formats, with_places(matches, "output"));
        targets.map_err(|why| clap::Error::raw(ErrorKind::ArgumentConflict, why))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the values of the option `name` with their places in the command line.
fn with_places<T: Clone + Send + Sync + 'static>(
    matches: &ArgMatches,
    name: &str,
) -> Vec<(usize, T)> {
    let places = matches.indices_of(name).into_iter().flatten();
    places.zip(matches.get_many::<T>(name).into_iter().flatten().cloned()).collect()
}

impl OutputFormat {
    /// Returns the reader that the format is made for.
    pub(super) fn reader(self) -> Reader {
        match self {
            Self::Human => Reader::Person,
            _ => Reader::Program,
        }
    }

    /// Returns whether the format is a file of bytes that no terminal can show.
    pub(super) const fn is_binary(self) -> bool {
        matches!(self, Self::Parquet)
    }

    /// Returns whether the format can show the one loop that `--explain` names.
    pub(super) const fn can_explain(self) -> bool {
        matches!(self, Self::Human | Self::Svg)
    }

    /// Returns the writer of a scan by `policy`.
    pub(super) fn writer(
        self,
        scan: &Scan,
        policy: &'static Policy<'static>,
        view: View,
    ) -> Box<dyn Writer> {
        let here = Folder::new(env::current_dir().unwrap_or_default());
        let disk = Some(temporary as _);
        match (self, scan.explain) {
            (Self::Svg, Some(wanted)) => Box::new(Svg::new(wanted, policy)),
            (_, Some(wanted)) => Box::new(Explanation::new(wanted, policy)),
            (Self::Json, _) => Box::new(Document::default()),
            (Self::Jsonl, _) => Box::new(Lines),
            (Self::Html, _) => Box::new(WholePage::new(scan.include_args, policy, disk)),
            (Self::Csv, _) => Box::new(Csv::default()),
            #[cfg(feature = "fleet")]
            (Self::Parquet, _) => Box::new(Parquet::default()),
            #[cfg(not(feature = "fleet"))]
            (Self::Parquet, _) => unreachable!("the command line refuses the format"),
            (Self::Markdown, _) => Box::new(Markdown::new(here)),
            (Self::Junit, _) => Box::new(Junit::new(scan.fails_on_new(), disk)),
            (Self::Sarif, _) => Box::new(Sarif::new(policy, here, env::var(JOB).ok())),
            (Self::Github, _) => Box::new(Job::new(here)),
            (Self::Human, _) if scan.effect => Box::new(WithEffects::new(Human::new(view))),
            (Self::Human | Self::Svg, _) => Box::new(Human::new(view)),
        }
    }
}

/// The variable with the name of the job in GitHub Actions.
const JOB: &str = "GITHUB_JOB";

/// The variable with the file that GitHub shows as the summary of a step.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The longest summary of a step in bytes.
const SUMMARY_MAX: usize = 1 << 20;

/// The writer of annotations and of a summary.
struct Job {
    annotations: GitHub,
    summary: Markdown,
}

impl Job {
    fn new(here: Folder) -> Self {
        Self { annotations: GitHub::new(here.clone()), summary: Markdown::new(here) }
    }

    /// Appends the summary to the file, whose other content counts for the limit.
    fn append(&mut self, tally: &Tally, path: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(path)?;
        let before = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        let text = self.summary.document(tally, SUMMARY_MAX.saturating_sub(before));
        file.write_all(text.as_bytes())
    }
}

impl Writer for Job {
    fn needs(&self) -> Needs {
        self.annotations.needs().and(self.summary.needs())
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        self.summary.report(report, output)?;
        self.annotations.report(report, output)
    }

    fn unread(&mut self, path: &str, why: &str) {
        self.summary.unread(path, why);
        self.annotations.unread(path, why);
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        self.annotations.finish(tally, output)?;
        output.flush()?;
        let Some(path) = env::var_os(SUMMARY).filter(|path| !path.is_empty()) else {
            return Ok(());
        };
        let path = Path::new(&path);
        self.append(tally, path).map_err(|error| {
            Failure::error(&path.to_string_lossy(), format!("cannot be written: {error}"))
        })
    }
}

/// A report for people with these tables.
pub(super) struct WithEffects {
    report: Human,
    notes: Vec<ShownNote<'static>>,
}

impl WithEffects {
    pub(super) fn new(report: Human) -> Self {
        Self { report, notes: Vec::new() }
    }
}

impl Writer for WithEffects {
    fn needs(&self) -> Needs {
        self.report.needs()
    }

    fn report(&mut self, report: &mut FullReport, output: &mut dyn Write) -> io::Result<()> {
        let agent = report.trace.format.name();
        let note = |one: &NoteEffect| ShownNote {
            rule: one.rule,
            rung: one.rung(),
            agent,
            model: None,
            wording: None,
            told: one.told,
            effect: Some(one.effect),
        };
        self.notes.extend(report.effects.iter().map(note));
        self.report.report(report, output)
    }

    fn finish(&mut self, tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        self.report.finish(tally, output)?;
        write!(output, "\n{}", tables("All runs", &self.notes))
    }
}

#[cfg(test)]
mod tests {
    use super::{OutputFormat, Targets};
    use crate::cases::cases;
    use clap::ValueEnum as _;

    /// Describes the outputs of `line`, whose words are formats and files that end with a dot.
    fn targets(line: &str) -> Result<String, String> {
        let (mut formats, mut paths) = (Vec::new(), Vec::new());
        for (place, word) in line.split_whitespace().enumerate() {
            match OutputFormat::from_str(word, false) {
                Ok(format) => formats.push((place, format)),
                Err(_) => paths.push((place, word.into())),
            }
        }
        let all = Targets::of(formats, paths)?.0.into_iter().map(|target| {
            let path = target.path.map(|path| format!(" in {}", path.display()));
            target.format.name() + &path.unwrap_or_default()
        });
        Ok(all.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn a_file_belongs_to_the_format_before_it_and_what_cannot_be_paired_is_an_error() {
        for (line, expected) in cases(include_str!("targets.txt"), "targets") {
            match targets(line) {
                Ok(all) => assert_eq!(all, expected, "{line}"),
                Err(why) => {
                    let why = format!("error: {why}");
                    assert!(why.starts_with(expected), "{line}: {why}");
                }
            }
        }
    }
}
