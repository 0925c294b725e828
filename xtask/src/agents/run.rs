//! One run of a client: a scratch home, the hooks, the prompts, and what the model saw.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::client::{self, CLIENTS, Client};
use super::scenario::{ORDINARY, STOPPED, Scenario};
use crate::machine;

/// The folder of all runs.
const RUNS: &str = "target/agents/runs";

/// The scripted model: a process of Node on loopback. It ends with this value, because its standard input does.
#[derive(Debug)]
pub(super) struct Model {
    port: u16,
    _process: Child,
}

impl Model {
    /// Starts the model on a free port.
    pub(super) fn start() -> io::Result<Self> {
        let mut command = machine::program(CLIENTS.node.bin().join("node"));
        command.args(["xtask/agents/model.mjs", RUNS]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn()?;
        let mut line = String::new();
        if let Some(output) = &mut process.stdout {
            BufReader::new(output).read_line(&mut line)?;
        }
        let port = line.trim().parse().map_err(|_| io::Error::other("the model has no port"))?;
        Ok(Self { port, _process: process })
    }
}

/// A scenario for a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'r> {
    pub(super) client: &'static Client,
    pub(super) scenario: &'static Scenario,
    /// The `unstuck` to install.
    pub(super) program: &'r Path,
    pub(super) model: &'r Model,
    pub(super) has_hooks: bool,
}

impl Run<'_> {
    /// The folder with the home, the project and the logs.
    pub(super) fn folder(&self) -> PathBuf {
        machine::root().join(RUNS).join(&self.client.name).join(&self.scenario.name)
    }

    /// Plays the scenario, and returns its line in the table. Returns `None` if it cannot be played on this machine.
    pub(super) fn line(&self) -> io::Result<Option<String>> {
        self.prepare()?;
        let mut trial = self.command();
        trial.args(["sh", "-c", &*self.scenario.start, "sh", "true"]);
        if self.ended(&mut trial)? != Some(0) {
            return Ok(None);
        }
        let prompts = (0..self.scenario.prompts).map(|index| self.prompt(index > 0));
        let ends = prompts.collect::<io::Result<Vec<_>>>()?.join(", then by ");
        let mut observe = self.command();
        observe.arg("node").arg(machine::root().join("xtask/agents/observe.mjs"));
        observe.arg(self.folder()).arg(ends);
        if self.has_hooks && self.scenario.start == ORDINARY {
            observe.args([&self.client.name, &self.client.transcripts]);
        }
        let output = observe.stderr(Stdio::inherit()).output()?;
        Ok(Some(String::from_utf8_lossy(&output.stdout).trim().into()))
    }

    /// Makes the folder of the run, with the settings of the client and the hooks.
    pub(super) fn prepare(&self) -> io::Result<()> {
        let mut place = machine::program("sh");
        place.arg("xtask/agents/place.sh").arg(self.folder()).arg(self.program);
        if !place.status()?.success() {
            return Err(io::Error::other("the folder of the run cannot be made"));
        }
        for (path, text) in &self.client.settings {
            let file = self.folder().join("home").join(path);
            fs::create_dir_all(file.parent().unwrap_or(&file))?;
            fs::write(file, self.filled(text))?;
        }
        let installations = if self.has_hooks { &*self.scenario.installations } else { &[] };
        for options in installations {
            let mut install = self.command();
            install.arg("../bin/unstuck").args(["install", &*self.client.name]);
            if self.ended(install.args(options.split_whitespace()))? != Some(0) {
                let log = self.folder().join("output.txt");
                return Err(io::Error::other(format!("no hooks installed; see {}", log.display())));
            }
        }
        Ok(())
    }

    /// Gives the client a prompt and waits until it ends. Returns who ended it, and its exit code.
    pub(super) fn prompt(&self, continues: bool) -> io::Result<String> {
        let resumed = if continues { &*self.client.continues } else { "" };
        let prompt = format!("Please do the job of script {}.", self.scenario.script());
        let mode = &self.client.modes[self.scenario.mode as usize];
        let line = self.filled(&self.client.command);
        let line = line.replace("$continue", resumed).replace("$mode", mode);
        let mut client = self.command();
        client.args(["sh", "-c", &*self.scenario.start, "sh"]);
        let words = line.split_whitespace();
        client.args(words.map(|word| if word == "$prompt" { &prompt } else { word }));
        // A time limit that ends by a signal ends its own process, too.
        Ok(match self.ended(&mut client)? {
            None | Some(137) => "the time limit".into(),
            Some(STOPPED) => "the user".into(),
            Some(code) => format!("{}, exit {code}", self.ended_by()?),
        })
    }

    /// Who ended a prompt whose client has ended.
    fn ended_by(&self) -> io::Result<String> {
        let calls = fs::read_to_string(self.folder().join("model/calls.txt"));
        let last_words =
            calls.iter().flat_map(|text| text.lines()).find_map(|line| line.strip_prefix("end "));
        if let Some(words) = last_words {
            return Ok(format!("the model (\"{words}\")"));
        }
        let output = fs::read(self.folder().join("output.txt"))?;
        let output = String::from_utf8_lossy(&output);
        let is_hook = self.has_hooks && calls.is_ok() && output.contains(&self.client.hook_end);
        Ok(match &self.client.guard_end {
            Some(text) if output.contains(text) => "the agent's guard".into(),
            _ if is_hook => "the hook".into(),
            _ => "the agent".into(),
        })
    }

    /// Writes the address and the name of the model, and the MCP server, into a text.
    fn filled(&self, text: &str) -> String {
        let (client, Scenario { name, model, .. }) = (&self.client.name, self.scenario);
        let script = self.scenario.script();
        let url = format!("http://127.0.0.1:{}/{client}/{name}/{script}", self.model.port);
        let desk = format!("\"{}\"", machine::root().join("xtask/agents/desk.mjs").display());
        let program = self.folder().join("bin/unstuck").display().to_string();
        let (host, desk) = if self.scenario.has_proxy {
            (&*program, format!("\"mcp\",\"--\",\"node\",{desk}"))
        } else {
            ("node", desk)
        };
        let text = text.replace("$url", &url).replace("$model", model);
        text.replace("$host", host).replace("$desk", &desk)
    }

    /// A time limit of two minutes for the command that is added to it. It runs in the project, with the scratch home and none of
    /// the variables of this process.
    fn command(&self) -> Command {
        let (folder, path) = (self.folder(), env::var_os("PATH").unwrap_or_default());
        let path =
            [CLIENTS.node.bin(), self.client.bin()].into_iter().chain(env::split_paths(&path));
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "120"]).env_clear().current_dir(folder.join("project"));
        let variables = format!("{} {}", client::VARIABLES, self.filled(&self.client.variables));
        command.envs(variables.split_whitespace().filter_map(|word| word.split_once('=')));
        command.env("PATH", env::join_paths(path).unwrap_or_default());
        command.env("HOME", folder.join("home")).env("TMPDIR", folder.join("tmp"));
        // A cache for all runs of a client: some unpack themselves into it.
        let cache = machine::root().join("target/agents/cache").join(&self.client.name);
        command.env("npm_config_cache", cache.join("npm")).env("XDG_CACHE_HOME", cache);
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command with its output in a log, and returns its exit code. Whatever it started in its process group
    /// ends with it.
    fn ended(&self, command: &mut Command) -> io::Result<Option<i32>> {
        let path = self.folder().join("output.txt");
        let log = File::options().create(true).append(true).open(path)?;
        let mut process = command.stdout(log.try_clone()?).stderr(log).spawn()?;
        let status = process.wait()?;
        // The time limit leads the group, which is usually empty now.
        let group = format!("-{}", process.id());
        Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status()?;
        Ok(status.code())
    }
}
