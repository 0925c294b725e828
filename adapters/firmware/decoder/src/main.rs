//! Decodes the log of a board from standard input: `unstuck-firmware-decoder ELF < LOG`.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, Read as _, Write};
use std::process::ExitCode;

use defmt_decoder::{DecodeError, Frame, Table};

fn main() -> ExitCode {
    let Some(program) = env::args_os().nth(1) else {
        eprintln!("error: say which program logged: unstuck-firmware-decoder ELF < LOG");
        return ExitCode::FAILURE;
    };
    match fs::read(program).map_err(Into::into).and_then(|program| decode(&program)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the log. The ELF file `program` holds its formats.
fn decode(program: &[u8]) -> Result<(), Box<dyn Error>> {
    let words = Table::parse(program)?.ok_or("the program logs nothing by defmt")?;
    let mut log = Vec::new();
    io::stdin().read_to_end(&mut log)?;
    let mut frames = words.new_stream_decoder();
    frames.received(&log);
    let mut out = io::stdout().lock();
    loop {
        match frames.decode() {
            Ok(frame) => print(&frame, &mut out)?,
            Err(DecodeError::UnexpectedEof) => return Ok(()),
            Err(DecodeError::Malformed) => {
                return Err("the log holds what defmt never sends".into());
            }
        }
    }
}

/// Prints one entry as a computer would: the time, the level and the event.
fn print(frame: &Frame<'_>, out: &mut impl Write) -> io::Result<()> {
    if let Some(at) = frame.display_timestamp() {
        write!(out, "{at} ")?;
    }
    if let Some(level) = frame.level() {
        write!(out, "{} ", level.as_str().to_uppercase())?;
    }
    writeln!(out, "{}", frame.display_message())
}
