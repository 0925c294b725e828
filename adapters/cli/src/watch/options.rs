//! The options of `unstuck watch`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use unstuck_report::html::IncludeArgs;

use super::clock::Clock;
use crate::policy::options::PolicyOptions;

const ABOUT: &str = "Send it what a collector or an SDK exports by OTLP over HTTP: POST /v1/traces in protobuf or \
                     JSON, with gzip or without. Logs and metrics are accepted and ignored. GET /metrics is for \
                     Prometheus, /healthz says that the program runs, /readyz that it takes in spans.\n\n\
                     UNSTUCK_WEBHOOK_SECRET is the secret of --webhook, and OTEL_EXPORTER_OTLP_HEADERS has further \
                     headers for --forward.\n\n\
                     Exit codes: 0 after SIGTERM, SIGINT or the end of standard output's reader, 4 a bad \
                     configuration, or an address or a state folder that cannot be used, 64 a usage error.";

const FORWARD: &str =
    "Send findings as log records to this OTLP/HTTP server, for example http://127.0.0.1:4319";

const SECRET: &str =
    "Read the secret of --webhook from this file instead of UNSTUCK_WEBHOOK_SECRET";

const TEXTFILE: &str =
    "Write the metrics to this file every 15 seconds, for the textfile collector of node_exporter";

#[derive(Args)]
#[command(after_help = ABOUT)]
pub(crate) struct Watch {
    /// Receive spans at this address, for example 127.0.0.1:4318
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(super) otlp: SocketAddr,
    /// Allow an address that other machines can reach, and any name of it as the Host of a request. There is no
    /// authentication and no encryption: put a collector or a proxy before it
    #[arg(long)]
    pub(super) allow_remote: bool,
    #[command(flatten)]
    pub(super) policy: PolicyOptions,
    /// Add findings to this file instead of standard output, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(super) findings: Option<PathBuf>,
    #[arg(long, value_name = "URL", help = FORWARD)]
    pub(super) forward: Option<String>,
    /// Send each finding to this URL, signed by the Standard Webhooks specification
    #[arg(long, value_name = "URL")]
    pub(super) webhook: Option<String>,
    #[arg(long, value_name = "FILE", requires = "webhook", help = SECRET)]
    pub(super) webhook_secret: Option<PathBuf>,
    /// The part of arguments and results to put into findings
    #[arg(long, value_name = "PART", value_enum, default_value_t = IncludeArgs::None)]
    pub(super) include_args: IncludeArgs,
    /// Keep the state in this folder, so that a restart loses no finding
    #[arg(long, value_name = "FOLDER")]
    pub(super) state: Option<PathBuf>,
    /// How long a span waits for spans that began earlier
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=600))]
    pub(super) settle: u64,
    /// How long a session may be without spans before it ends
    #[arg(long, value_name = "SECONDS", default_value_t = 1800, value_parser = clap::value_parser!(u64).range(1..=604_800))]
    pub(super) quiet: u64,
    /// The maximum number of sessions. Beyond it, the session that was idle longest ends
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) sessions: u32,
    /// The memory limit for sessions, and the same limit for waiting spans, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(super) memory: u32,
    /// The maximum size of a request's body in MiB, before and after decompression
    #[arg(long, value_name = "MIB", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=512))]
    pub(super) max_body: u32,
    /// The clock for --settle and --quiet
    #[arg(long, value_name = "CLOCK", value_enum, default_value_t = Clock::Wall)]
    pub(super) clock: Clock,
    #[arg(long, value_name = "FILE", help = TEXTFILE)]
    pub(super) textfile: Option<PathBuf>,
}

/// Reads the address to receive spans at.
fn address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| "expected an IP address and a port, for example 127.0.0.1:4318")
}
