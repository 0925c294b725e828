//! `unstuck completions` and `unstuck man`: the command line for shells and for `man`.

use clap::{Command, CommandFactory as _};
use clap_mangen::Man as Page;

use crate::args::{Arguments, Completions, Man};
use crate::exit::Exit;
use crate::output::{self, Reader};

pub(crate) fn completions(completions: &Completions) -> Exit {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(completions.shell, &mut command, "unstuck", &mut script);
    print(&script)
}

pub(crate) fn page(man: &Man) -> Exit {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = Page::new(documented(man)).render(&mut page);
    print(&page)
}

/// Returns the command that the page describes: the program, or one of its commands.
fn documented(man: &Man) -> Command {
    let mut program = Arguments::command();
    // Gives each command its full name, for example `unstuck-scan`, and the options of the program.
    program.build();
    let one = man.command.as_deref().and_then(|name| program.find_subcommand(name));
    one.cloned().unwrap_or(program)
}

fn print(text: &[u8]) -> Exit {
    // The help texts are UTF-8, and so is what is made of them.
    output::print(Reader::Program, &String::from_utf8_lossy(text), Exit::Clean)
}
