//! The scenarios: a script of the model, and the circumstances under which it plays.

/// A script and its circumstances.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The script in `xtask/agents/scripts.mjs`.
    pub(super) script: &'static str,
    /// The client for which alone the scenario makes sense.
    pub(super) only: Option<&'static str>,
    /// The options of each `unstuck install`.
    pub(super) installations: &'static [&'static str],
    /// How often the user speaks in the session.
    pub(super) prompts: usize,
    pub(super) mode: Mode,
    /// Whether the MCP server runs behind `unstuck mcp`.
    pub(super) has_proxy: bool,
    /// The name of the model, for a client whose tools depend on it.
    pub(super) model: &'static str,
    /// The shell command that starts the client.
    pub(super) start: &'static str,
}

/// What a client may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// It runs every call.
    Free,
    /// It asks the user, who is not there.
    Asking,
    /// It makes a plan, and changes nothing.
    Planning,
}

pub(super) const ALL: &[Scenario] = &[
    plain("same-failing-command", "a command that fails alike each time"),
    plain("same-words", "the same, and the model does not reword its description"),
    plain("two-in-turns", "a failing command and a look at a file, in turns"),
    plain("failing-edit", "an edit whose old text is not in the file"),
    plain("missing-file", "a file that is not there, by the tool that reads files"),
    plain("missing-by-shell", "a file that is not there, by `cat`"),
    plain("same-success", "a command that prints the same each time"),
    plain("wait-that-stays", "`sleep` and a look, with the same answer each time"),
    plain("poll-that-moves", "a job that has moved on at each look"),
    plain("healthy-by-tool", "edit and test, with the tool that edits"),
    plain("healthy-by-shell", "edit and test, with `echo`"),
    plain("many-files", "twelve files with the same content"),
    plain("flaky", "a command that works at the third try"),
    plain("unknown-tool", "a tool that does not exist"),
    plain("wrong-arguments", "a tool without the argument that it needs"),
    plain("missing-image", "an image that is not there"),
    plain("failing-mcp", "a tool of an MCP server that fails"),
    plain("dead-mcp", "a tool whose MCP server dies at the first call"),
    Scenario {
        script: "failing-mcp",
        has_proxy: true,
        ..plain("proxied-mcp", "a tool that fails, whose MCP server runs behind `unstuck mcp`")
    },
    Scenario {
        only: Some("claude-code"),
        ..plain("background", "reads of the output of a job in the background (only claude-code)")
    },
    plain("parallel", "four calls of the failing command at once"),
    plain("freed", "a loop that ends when the model reads a note"),
    plain("deaf", "forty turns, whatever the model is told"),
    plain("healthy-long", "three hundred calls that bring news"),
    plain("long-results", "results of two megabytes"),
    plain("subagents", "three subagents at once, each in the failing loop"),
    Scenario {
        start: r#""$@" & "$@"; wait"#,
        ..failing("two-sessions", "two sessions in one folder")
    },
    Scenario { prompts: 2, ..failing("two-prompts", "the user asks for more of the loop") },
    Scenario {
        only: Some("codex"),
        model: "gpt-6.1-sol",
        ..failing("code-mode", "a model that calls tools by programs (only codex)")
    },
    Scenario {
        installations: &["--observe"],
        ..failing("observed", "the hooks are installed with `--observe`")
    },
    Scenario { installations: &["", ""], ..failing("installed-twice", "`install` ran twice") },
    Scenario {
        installations: &["", "--scope project"],
        ..failing("user-and-project", "the hooks are installed in both")
    },
    Scenario {
        mode: Mode::Asking,
        ..failing("denied", "a command that the client does not permit")
    },
    Scenario { mode: Mode::Asking, ..plain("denied-variants", "twelve such commands") },
    Scenario { mode: Mode::Planning, ..plain("plan-mode", "reads, and then an edit in plan mode") },
    plain("compaction", "a read, whose results a compaction takes from the model"),
    plain("compaction-failing", "a failing command, before and after a compaction"),
    Scenario {
        prompts: 2,
        start: KILLED,
        ..plain("resumed", "the client dies within a loop, and the session is resumed")
    },
    Scenario {
        prompts: 4,
        start: INTERRUPTED,
        ..plain("interrupted", "the user interrupts a command, and says \"try again\"")
    },
    Scenario {
        start: r#"rm -f ../bin/unstuck; exec "$@""#,
        ..failing("program-gone", "`unstuck` was removed after `install`")
    },
    Scenario {
        start: r#"exec unshare --user --map-root-user --mount sh -c '
            mount -t tmpfs -o ro tmpfs ~/.local/state/unstuck && exec "$@"' sh "$@""#,
        ..failing("state-read-only", "the state folder is read-only")
    },
    Scenario {
        start: r#"exec unshare --user --map-root-user --mount sh -c '
            mount -t tmpfs -o size=4k tmpfs ~/.local/state/unstuck &&
            ! head -c 8192 /dev/zero 2>/dev/null >~/.local/state/unstuck/filler && exec "$@"' sh "$@""#,
        ..failing("state-full", "there is no space for state")
    },
];

/// The scenario whose calls are timed.
pub(super) const COST: Scenario = plain("cost", "forty calls that bring news");

/// The same, with a program in place of `unstuck` that does nothing.
pub(super) const IDLE: Scenario = Scenario {
    script: "cost",
    start: r#"ln -sf "$(command -v true)" ../bin/unstuck; exec "$@""#,
    ..plain("cost-idle", "the same calls, with hooks that do nothing")
};

/// The command that starts a client as it is.
pub(super) const ORDINARY: &str = r#"exec "$@""#;

/// The exit code of a client that the user stopped.
pub(super) const STOPPED: i32 = 99;

/// Stops the client when the file `stalled` appears, as if its machine went down.
const KILLED: &str = r#""$@" &
until [ -e ../stalled ]; do kill -0 $! 2>/dev/null || { wait $!; exit; }; sleep 0.1; done
rm ../stalled; kill -KILL $!; wait $!; exit 99"#;

/// The same, as the user does it.
const INTERRUPTED: &str = r#"env --default-signal=INT "$@" &
until [ -e ../stalled ]; do kill -0 $! 2>/dev/null || { wait $!; exit; }; sleep 0.1; done
rm ../stalled; sleep 0.5; kill -INT $!; wait $!; exit 99"#;

/// A scenario whose script has the same name.
const fn plain(name: &'static str, about: &'static str) -> Scenario {
    Scenario {
        name,
        about,
        script: name,
        only: None,
        installations: &[""],
        prompts: 1,
        mode: Mode::Free,
        has_proxy: false,
        model: "gpt-5.5",
        start: ORDINARY,
    }
}

/// A scenario of the failing command.
const fn failing(name: &'static str, about: &'static str) -> Scenario {
    Scenario { script: "same-failing-command", ..plain(name, about) }
}
