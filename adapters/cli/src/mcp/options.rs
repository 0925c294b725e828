//! The options of `unstuck mcp`.

use std::ffi::OsString;

use clap::Args;

use crate::agents::notify::Notify;
use crate::policy::options::PolicyOptions;

const PROXIES: &str = "In the client's configuration, put unstuck mcp -- before the server's \
                       command. A call that continues a loop is answered with an error and does \
                       not reach the server. A warning is added to the result that caused it, and output \
                       schemas in the list of tools allow it as a member. All other traffic passes \
                       byte for byte; with UNSTUCK=off in the environment, everything does.\n\n\
                       Exit codes: the server's, or 128 and its number for a signal; 127 if the \
                       server is not found, 126 if it cannot be started; 4 a bad configuration, 64 a \
                       usage error.";

#[derive(Args)]
#[command(after_help = PROXIES)]
pub(crate) struct Mcp {
    /// The command of the server, with its arguments
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
    #[command(flatten)]
    pub(crate) policy: PolicyOptions,
    #[command(flatten)]
    pub(crate) notify: Notify,
    /// Print on standard error what would be done, and do nothing
    #[arg(long)]
    pub(crate) observe: bool,
}
