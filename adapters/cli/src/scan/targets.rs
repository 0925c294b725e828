//! The outputs of `unstuck scan`: pairs of `--format` and `-o`.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum, value_parser};

#[cfg(not(feature = "fleet"))]
use crate::lacking::how;
use crate::lacking::marked;

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
            let why = how("--format parquet") + "\n";
            return Err(clap::Error::raw(ErrorKind::InvalidValue, why));
        }
        let targets = Self::of(formats, with_places(matches, "output"));
        targets.map_err(|why| clap::Error::raw(ErrorKind::ArgumentConflict, why + "\n"))
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

#[cfg(test)]
mod tests {
    use super::{OutputFormat, Targets};
    use OutputFormat::{Human, Json, Jsonl};

    /// Parses `line`, whose words are formats and files that end with a dot.
    fn targets(line: &str) -> Result<Vec<(OutputFormat, Option<String>)>, String> {
        let (mut formats, mut paths) = (Vec::new(), Vec::new());
        for (place, word) in line.split_whitespace().enumerate() {
            match word {
                "human" => formats.push((place, Human)),
                "json" => formats.push((place, Json)),
                "jsonl" => formats.push((place, Jsonl)),
                path => paths.push((place, path.into())),
            }
        }
        let path = |path: std::path::PathBuf| path.display().to_string();
        let all = Targets::of(formats, paths)?.0.into_iter();
        Ok(all.map(|target| (target.format, target.path.map(path))).collect())
    }

    #[test]
    fn a_file_belongs_to_the_format_before_it() {
        let file = |name: &str| Some(name.to_owned());
        for (line, expected) in [
            ("", vec![(Human, None)]),
            ("a.", vec![(Human, file("a."))]),
            ("json", vec![(Json, None)]),
            ("a. json", vec![(Json, file("a."))]),
            ("json a.", vec![(Json, file("a."))]),
            ("json a. human", vec![(Json, file("a.")), (Human, None)]),
            ("human json a.", vec![(Human, None), (Json, file("a."))]),
            ("json a. jsonl b.", vec![(Json, file("a.")), (Jsonl, file("b."))]),
            ("json a. json b.", vec![(Json, file("a.")), (Json, file("b."))]),
        ] {
            assert_eq!(targets(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_paired_is_an_error() {
        for (line, why) in [
            ("json human", "json and human would both go to standard output"),
            ("json human a. jsonl", "json and jsonl would both go to standard output"),
            ("json a. b.", "one --format has two files, a. and b."),
            ("a. b.", "one --format has two files"),
            ("a. json b. human", "one --format has two files, a. and b."),
        ] {
            let error = targets(line).expect_err(line);
            assert!(error.starts_with(why), "{line}: {error}");
        }
    }
}
