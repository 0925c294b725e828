//! One run of a client: a scratch home, the hooks, the prompts, and what the model saw.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::client::{Client, Prompt, Transcripts, VARIABLES};
use super::install;
use super::model::Model;
use super::observation::{self, End, Observation};
use super::place::{self, Place};
use super::process;
use super::scenario::{Circumstance, Scenario};
use crate::machine;

/// The time limit of one prompt.
const LIMIT: Duration = Duration::from_secs(120);

/// The time limit of a command of `unstuck`.
const OWN_LIMIT: Duration = Duration::from_secs(20);

/// The log of the client and of the commands of `unstuck`.
const OUTPUT: &str = "output.txt";

/// Compares what the hook counted with a scan.
const COMPARE: &str = "xtask/agents/compare.mjs";

/// What the runs of a client have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'r> {
    pub(super) client: &'static Client,
    /// The `unstuck` to install.
    pub(super) program: &'r Path,
    pub(super) model: &'r Model,
    pub(super) has_hooks: bool,
}

impl Run<'_> {
    /// Plays a scenario. The inner error says why this machine cannot play it.
    ///
    /// # Errors
    ///
    /// If the run cannot be prepared, or the client does not start.
    pub(super) fn of(&self, scenario: &Scenario) -> Result<Result<Observation, String>, String> {
        let mount = match Mount::of(scenario.circumstance) {
            Ok(mount) => mount,
            Err(why) => return Ok(Err(why)),
        };
        let installations: &[&[&str]] = match scenario.circumstance {
            Circumstance::Observed => &[&["--observe"]],
            Circumstance::InstalledTwice => &[&[], &[]],
            Circumstance::UserAndProject => &[&[], &["--scope", "project"]],
            _ => &[&[]],
        };
        let place = self.prepared(scenario.name, scenario.script, installations)?;
        if scenario.circumstance == Circumstance::ProgramGone && self.has_hooks {
            fs::remove_file(own_program(&place)).map_err(|error| error.to_string())?;
        }
        let mut prompt = Prompt {
            text: format!("Please do the job of script {}.", scenario.script),
            continues: false,
            in_code_mode: scenario.circumstance == Circumstance::CodeMode,
        };
        let mut ends = vec![self.prompt(&place, &prompt, mount.as_ref())?];
        if scenario.circumstance == Circumstance::SecondPrompt {
            prompt.continues = true;
            ends.push(self.prompt(&place, &prompt, mount.as_ref())?);
        }
        let keeps_state = mount.is_none() && scenario.circumstance != Circumstance::ProgramGone;
        let scan = if self.has_hooks && keeps_state { self.scan(&place)? } else { String::new() };
        let log = fs::read_to_string(place.root.join("ran.log"));
        let ran = log.ok().map(|log| log.lines().count());
        Ok(Ok(Observation { ran, ends, scan, ..Observation::read(&place.logs()) }))
    }

    /// Makes the folder of a run, with the settings of the client and the hooks. Each installation is a list of
    /// options.
    pub(super) fn prepared(
        &self,
        name: &str,
        script: &str,
        installations: &[&[&str]],
    ) -> Result<Place, String> {
        let failed = |error: io::Error| format!("{} {name}: {error}", self.client.name);
        let url = self.model.url(self.client, name, script);
        let place = Place::new(place::folder(self.client, name), url).map_err(failed)?;
        (self.client.prepare)(&place).map_err(failed)?;
        if self.has_hooks {
            self.copy_program(&place)?;
            for options in installations {
                self.install(&place, options)?;
            }
        }
        Ok(place)
    }

    /// Copies the program into the folder of the run, because the scenario may remove it.
    fn copy_program(&self, place: &Place) -> Result<(), String> {
        let own = own_program(place);
        let copy = || {
            fs::hard_link(self.program, &own).or_else(|_| fs::copy(self.program, &own).map(drop))
        };
        let copied = fs::create_dir_all(place.root.join("bin")).and_then(|()| copy());
        copied.map_err(|error| format!("{}: {error}", own.display()))
    }

    /// Installs the hooks.
    fn install(&self, place: &Place, options: &[&str]) -> Result<(), String> {
        let mut command = self.command(place, &own_program(place));
        command.args(["install", self.client.name]).args(options);
        let status = process::run(&mut command, &place.root.join(OUTPUT), OWN_LIMIT)?;
        if status.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let log = place.root.join(OUTPUT);
        Err(format!("`unstuck install {}` failed; see {}", self.client.name, log.display()))
    }

    /// Gives the client a prompt and waits until it ends.
    pub(super) fn prompt(
        &self,
        place: &Place,
        prompt: &Prompt,
        mount: Option<&Mount>,
    ) -> Result<End, String> {
        let invocation = (self.client.invocation)(place, prompt);
        let program = install::bin(self.client.name).join(self.client.program);
        let mut command = match mount {
            Some(mount) => {
                mount.wrapped(self.command(place, Path::new("unshare")), place, &program)
            }
            None => self.command(place, &program),
        };
        command.args(invocation.arguments).envs(invocation.variables);
        let output = place.root.join(OUTPUT);
        let Some(status) = process::run(&mut command, &output, LIMIT)? else {
            return Ok(End { by: "the time limit".into(), code: None });
        };
        Ok(End { by: self.ended_by(place, &output), code: status.code() })
    }

    /// Who ended a prompt whose client has ended.
    fn ended_by(&self, place: &Place, output: &Path) -> String {
        if let Some(words) = observation::last_words(&place.logs()) {
            return format!("the model (\"{words}\")");
        }
        let output = fs::read(output).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        if self.client.guard_end.is_some_and(|text| output.contains(text)) {
            return "the agent's guard".into();
        }
        let shows_hook = self.client.hook_end.is_none_or(|text| output.contains(text));
        let is_hook = self.has_hooks && shows_hook && place.logs().exists();
        if is_hook { "the hook".into() } else { "the agent".into() }
    }

    /// A command in the project, with the scratch home and none of the variables of this process.
    fn command(&self, place: &Place, program: &Path) -> Command {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [install::bin("node"), install::bin(self.client.name)];
        let path = env::join_paths(folders.into_iter().chain(env::split_paths(&path)));
        let mut command = Command::new(program);
        command.env_clear().envs(VARIABLES.iter().copied()).current_dir(&place.project);
        command.env("PATH", path.unwrap_or_default()).env("HOME", &place.home);
        command.env("TMPDIR", place.root.join("tmp"));
        // A cache for all runs of a client: some unpack themselves into it.
        let cache = machine::root().join("target/agents/cache").join(self.client.name);
        command.env("npm_config_cache", cache.join("npm")).env("XDG_CACHE_HOME", cache);
        command
    }

    /// Compares the transcript that the run wrote with what the hook counted.
    fn scan(&self, place: &Place) -> Result<String, String> {
        let Some((files, format)) = self.transcripts(place)? else {
            return Ok("has no transcript".into());
        };
        let own = own_program(place);
        let mut status = self.command(place, &own);
        status.args(["status", "--all", "--format", "jsonl"]);
        let mut scan = self.command(place, &own);
        scan.args(["scan", "--from", format, "--format", "jsonl"]).args(files);
        let [status_file, scan_file] =
            ["status.jsonl", "scan.jsonl"].map(|name| place.root.join(name));
        saved(&mut status, &status_file)?;
        if saved(&mut scan, &scan_file)? == Some(install::USAGE) {
            return Ok("does not know the format".into());
        }
        let mut compare = Command::new(install::node());
        compare.current_dir(machine::root()).arg(COMPARE).args([status_file, scan_file]);
        let output = compare.output().map_err(|error| format!("{COMPARE}: {error}"))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().into())
    }

    /// The transcripts of the run and their format.
    fn transcripts(&self, place: &Place) -> Result<Option<(Vec<PathBuf>, &'static str)>, String> {
        let mut files = Vec::new();
        let format = match &self.client.transcripts {
            Transcripts::Files { folder, ending, format } => {
                find(&place.home.join(folder), ending, &mut files);
                files.sort();
                format
            }
            Transcripts::Export { list, id, export, format } => {
                let client = || {
                    let program = install::bin(self.client.name).join(self.client.program);
                    let mut command = self.command(place, &program);
                    command.envs((self.client.invocation)(place, &Prompt::default()).variables);
                    command
                };
                let sessions = place.root.join("sessions.json");
                saved(client().args(*list), &sessions)?;
                let sessions = fs::read_to_string(&sessions).map_err(|error| error.to_string())?;
                let latest = sessions.split('"').find(|word| word.starts_with(id));
                if let Some(latest) = latest {
                    files.push(place.root.join("transcript.json"));
                    saved(client().args([export, latest]), &place.root.join("transcript.json"))?;
                }
                format
            }
        };
        Ok((!files.is_empty()).then_some((files, format)))
    }
}

/// Runs a command, saves its standard output in a file, and returns its exit code.
fn saved(command: &mut Command, file: &Path) -> Result<Option<i32>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stdin(Stdio::null()).output().map_err(|error| format!("{name}: {error}"))?;
    fs::write(file, &output.stdout).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(output.status.code())
}

fn own_program(place: &Place) -> PathBuf {
    place.root.join("bin/unstuck")
}

/// Collects the files below `folder` whose name has this ending.
fn find(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, ending, files);
        } else if path.to_string_lossy().ends_with(ending) {
            files.push(path);
        }
    }
}

/// A small file system over the state folder, in a mount namespace that ends with the client.
#[derive(Debug)]
pub(super) struct Mount {
    /// The arguments of `unshare`.
    arguments: &'static [&'static str],
    /// The commands that mount it. `$1` is the folder.
    script: &'static str,
}

impl Mount {
    const READ_ONLY: &str = "mount -t tmpfs -o ro tmpfs \"$1\"";
    const FULL: &str = "mount -t tmpfs -o size=4k tmpfs \"$1\" && ! head -c 8192 /dev/zero 2>/dev/null >\"$1/filler\"";

    /// The file system that a circumstance needs.
    ///
    /// # Errors
    ///
    /// If this machine mounts none.
    fn of(circumstance: Circumstance) -> Result<Option<Self>, String> {
        let script = match circumstance {
            Circumstance::StateReadOnly => Self::READ_ONLY,
            Circumstance::StateFull => Self::FULL,
            _ => return Ok(None),
        };
        let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
        let works = |arguments: &&&[&str]| {
            let mut probe = Command::new("unshare");
            probe.args(**arguments).args(["sh", "-c", "mount -t tmpfs tmpfs /mnt"]);
            probe.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            probe.status().is_ok_and(|status| status.success())
        };
        match ways.iter().find(works) {
            Some(arguments) => Ok(Some(Self { arguments, script })),
            None => Err("`unshare --mount` cannot mount a file system here".into()),
        }
    }

    /// Adds to `unshare` the mount and the program. The caller adds the arguments of the program.
    fn wrapped(&self, mut unshare: Command, place: &Place, program: &Path) -> Command {
        let script = format!("{} && shift && exec \"$@\"", self.script);
        unshare
            .args(self.arguments)
            .args(["sh", "-c", &script, "sh"])
            .arg(place.state())
            .arg(program);
        unshare
    }
}
