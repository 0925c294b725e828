//! `unstuck swarm watch`: shows a table of the most frequent calls and redraws it.

use std::io::{self, IsTerminal as _};
use std::thread;

use terminal_size::{Height, Width, terminal_size};
use unstuck_report::shown::COLUMNS;

use super::frame::{self, Room, Title};
use super::local::FindSessions;
use super::sampler::{Sample, Sampler};
use super::{NoSettings, fails, servers, settings};
use crate::exit::Exit;
use crate::output::{Closed, Output, Reader, complain};
use crate::swarm::options::Watch;
use crate::time::now;

/// The lines of the terminal without calls: the title, the heads, and the cursor's line.
const LINES_BESIDE: usize = 3;

pub(crate) fn run(watch: &Watch, find: FindSessions) -> Exit {
    let settings = settings(&watch.address.swarm)
        .and_then(|settings| settings.rule(watch.rule()).map_err(NoSettings::Wrong));
    let settings = match settings {
        Ok(settings) => settings,
        Err(error) => return fails(&error, Exit::Setup),
    };
    let swarm = settings.swarm().to_owned();
    let title = Title { swarm: &swarm, servers: servers(&watch.address.swarm) };
    let mut printer = Printer::new(watch);
    let mut looker = Sampler::new(settings, find);
    loop {
        let look = looker.look(now());
        if let Err(closed) = printer.print(&title, &look, watch.limit()) {
            return closed.exit(Exit::Clean);
        }
        if watch.once {
            return exit(&look);
        }
        thread::sleep(watch.interval());
    }
}

/// Returns the exit code for one look.
fn exit(look: &Sample) -> Exit {
    match &look.rows {
        Err(_) => Exit::Input,
        Ok(_) if look.loops() > 0 => Exit::Found,
        Ok(_) => Exit::Clean,
    }
}

/// The kind of output.
enum Printer {
    /// A terminal. Each look replaces the previous one, which had `lines` lines.
    Terminal {
        output: Output,
        control: Output,
        lines: usize,
    },
    /// A file or a pipe. Looks follow each other, with `gap` after each.
    Pages {
        output: Output,
        gap: &'static str,
    },
    Lines {
        output: Output,
    },
}

impl Printer {
    fn new(watch: &Watch) -> Self {
        let output = Output::stdout;
        if watch.is_for_programs() {
            return Self::Lines { output: output(Reader::Program) };
        }
        if watch.once || !io::stdout().is_terminal() {
            let gap = if watch.once { "" } else { "\n" };
            return Self::Pages { output: output(Reader::Person), gap };
        }
        // The cursor moves even if colours are off.
        let control = output(Reader::Program);
        Self::Terminal { output: output(Reader::Person), control, lines: 0 }
    }

    /// Prints a look with at most `calls` calls.
    fn print(&mut self, title: &Title<'_>, look: &Sample, calls: usize) -> Result<(), Closed> {
        match self {
            Self::Lines { output } => {
                if let Err(error) = &look.rows {
                    complain("swarm", &error.to_string());
                }
                output.write(&frame::lines(title, look, calls))
            }
            Self::Pages { output, gap } => output.write(
                &(frame::human(title, look, Room { columns: COLUMNS, calls, lines: usize::MAX })
                    + gap),
            ),
            Self::Terminal { output, control, lines } => {
                let text = frame::human(title, look, room(calls));
                if *lines > 0 {
                    control.write(&format!("\x1b[{lines}A\x1b[J"))?;
                }
                *lines = text.lines().count();
                output.write(&text)
            }
        }
    }
}

/// Returns the space on the terminal, for at most `calls` calls.
fn room(calls: usize) -> Room {
    let Some((Width(columns), Height(lines))) = terminal_size() else {
        return Room { columns: COLUMNS, calls, lines: usize::MAX };
    };
    let lines = usize::from(lines).saturating_sub(LINES_BESIDE);
    Room { columns: columns.into(), calls, lines }
}
