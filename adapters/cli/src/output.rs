//! Where the output goes, and what becomes of it when nobody reads.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::PathBuf;

use crate::exit::Exit;

/// Standard output, with colours if it is a terminal that wants them, or a file.
pub(crate) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    name: String,
}

impl Output {
    pub(crate) fn open(path: Option<&PathBuf>) -> Result<Self, Exit> {
        let Some(path) = path else {
            let writer: Box<dyn Write> = Box::new(anstream::stdout());
            return Ok(Self { writer: BufWriter::new(writer), name: "standard output".to_owned() });
        };
        let name = path.display().to_string();
        match File::create(path) {
            Ok(file) => {
                let writer: Box<dyn Write> = Box::new(anstream::StripStream::new(file));
                Ok(Self { writer: BufWriter::new(writer), name })
            }
            Err(error) => {
                complain(&name, &format!("cannot be written: {error}"));
                Err(Exit::Output)
            }
        }
    }

    /// Writes `text` as one piece and hands it on, so that no reader ever sees half of it.
    /// `Err` says how to exit.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), Exit> {
        let written = self.writer.write_all(text.as_bytes()).and_then(|()| self.writer.flush());
        written.map_err(|error| self.gone(&error))
    }

    fn gone(&self, error: &io::Error) -> Exit {
        if error.kind() == ErrorKind::BrokenPipe {
            // The reader has seen enough; that is no failure.
            return Exit::Clean;
        }
        complain(&self.name, &format!("cannot be written: {error}"));
        Exit::Output
    }
}

/// Says on standard error what is wrong with `path`.
pub(crate) fn complain(path: &str, what: &str) {
    let path = crate::shown::plain(path);
    let what = crate::shown::plain(what);
    let red = anstyle::AnsiColor::Red.on_default().bold();
    // If nobody reads errors, the exit code still tells.
    let _ = writeln!(anstream::stderr(), "{red}error{red:#}: {path}: {what}");
}
