//! The options of `unstuck json`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const EXIT_CODES: &str = "Exit codes: 0 all documents were read, 3 the file cannot be read or has a document that is \
                          not JSON, 4 the output could not be written, 64 a usage error.";

#[derive(Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Json {
    /// A file with one document, or one document a line, of at most 64 MiB; - for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// The output format
    #[arg(long, value_enum, default_value_t = DocumentFormat::Human)]
    pub(crate) format: DocumentFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    /// For people
    Human,
    /// One JSON object a line for each document
    Jsonl,
}
