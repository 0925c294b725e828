//! The commands and options of a fleet in a program that is built without them. The help marks them, and the program
//! answers them with the way to get them.

#[cfg(not(feature = "fleet"))]
pub(crate) use without_fleet::{Lacking, Server, how, refuse};

/// Returns the help text of a command or an option of a fleet, with a mark if this program lacks it.
pub(crate) fn marked(help: &str) -> String {
    if cfg!(feature = "fleet") { help.to_owned() } else { format!("{help} (not in this build)") }
}

#[cfg(not(feature = "fleet"))]
mod without_fleet {
    use std::ffi::{OsStr, OsString};

    use clap::builder::TypedValueParser;
    use clap::error::ErrorKind;
    use clap::{Arg, Args, Command, Error};

    use crate::exit::Exit;
    use crate::output::fail;

    /// Returns the sentence that says how to get what this program lacks.
    pub(crate) fn how(what: &str) -> String {
        format!(
            "{what} is not in this build: take a released program, or build it in a clone with \
             cargo install --locked --profile dist --path adapters/cli --features fleet"
        )
    }

    /// The words after a command that this program lacks, whatever they are.
    #[derive(Args)]
    #[command(after_help = how("This command"))]
    pub(crate) struct Lacking {
        #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
        _words: Vec<OsString>,
    }

    /// Answers a command that this program lacks.
    pub(crate) fn refuse(command: &str) -> Exit {
        fail(Exit::Usage, command, &how("this command"))
    }

    /// Refuses the URL of a swarm. The error does not repeat it, because it may contain a password.
    #[derive(Clone)]
    pub(crate) struct Server;

    impl TypedValueParser for Server {
        type Value = String;

        fn parse_ref(
            &self,
            command: &Command,
            _: Option<&Arg>,
            _: &OsStr,
        ) -> Result<String, Error> {
            let why = how("--swarm") + "\n";
            Err(Error::raw(ErrorKind::ValueValidation, why).with_cmd(command))
        }
    }
}
