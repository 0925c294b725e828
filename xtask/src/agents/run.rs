//! One run of a client: a scratch home, the hooks, the prompts, and what the model saw.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::client::{Client, Transcripts, VARIABLES};
use super::install;
use super::model::Model;
use super::observation::{self, End, Observation};
use super::place::{self, Place};
use super::process;
use super::scenario::{Circumstance, Scenario};
use crate::machine;

/// The time limit of one prompt.
const LIMIT: Duration = Duration::from_secs(150);

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
        let place = self.prepared(scenario.name, scenario.script)?;
        if scenario.circumstance == Circumstance::ProgramGone && self.has_hooks {
            fs::remove_file(own_program(&place)).map_err(|error| error.to_string())?;
        }
        let mut ends = vec![self.prompt(&place, scenario.script, false, mount.as_ref())?];
        if scenario.circumstance == Circumstance::SecondPrompt {
            ends.push(self.prompt(&place, scenario.script, true, mount.as_ref())?);
        }
        let scan = match scenario.circumstance {
            Circumstance::Ordinary | Circumstance::SecondPrompt if self.has_hooks => {
                self.scan(&place)?
            }
            _ => String::new(),
        };
        let log = fs::read_to_string(place.root.join("ran.log"));
        let ran = log.ok().map(|log| log.lines().count());
        Ok(Ok(Observation { ran, ends, scan, ..Observation::read(&place.logs()) }))
    }

    /// Makes the folder of a run, with the settings of the client and the hooks.
    pub(super) fn prepared(&self, name: &str, script: &str) -> Result<Place, String> {
        let failed = |error: io::Error| format!("{} {name}: {error}", self.client.name);
        let url = self.model.url(self.client, name, script);
        let place = Place::new(place::folder(self.client, name), url).map_err(failed)?;
        (self.client.prepare)(&place).map_err(failed)?;
        if self.has_hooks {
            self.install(&place)?;
        }
        Ok(place)
    }

    /// Installs the hooks, from a copy of the program that the scenario may remove.
    fn install(&self, place: &Place) -> Result<(), String> {
        let own = own_program(place);
        let linked = fs::create_dir_all(place.root.join("bin")).and_then(|()| {
            fs::hard_link(self.program, &own).or_else(|_| fs::copy(self.program, &own).map(drop))
        });
        linked.map_err(|error| format!("{}: {error}", own.display()))?;
        let mut command = self.command(place, &own);
        command.args(["install", self.client.name]);
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
        script: &str,
        continues: bool,
        mount: Option<&Mount>,
    ) -> Result<End, String> {
        let more = if continues { " Go on." } else { "" };
        let prompt = format!("Please do the job of script {script}.{more}");
        let invocation = (self.client.invocation)(place, &prompt, continues);
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
        let Some(Transcripts { folder, ending, format }) = &self.client.transcripts else {
            return Ok("has no transcript format".into());
        };
        let mut files = Vec::new();
        find(&place.home.join(folder), ending, &mut files);
        if files.is_empty() {
            return Ok("found no transcript".into());
        }
        files.sort();
        let saved = |name: &str, words: &[&str], files: &[PathBuf]| {
            let mut command = self.command(place, &own_program(place));
            command.args(words).args(files).stdin(Stdio::null());
            let output = command.output().map_err(|error| format!("unstuck {name}: {error}"))?;
            let file = place.root.join(format!("{name}.jsonl"));
            fs::write(&file, &output.stdout)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            Ok::<_, String>((file, output.status.code()))
        };
        let (status, _) = saved("status", &["status", "--all", "--format", "jsonl"], &[])?;
        let words = ["scan", "--from", format, "--format", "jsonl"];
        let (scan, code) = saved("scan", &words, &files)?;
        // 64: a usage error.
        if code == Some(64) {
            return Ok("has no transcript format".into());
        }
        let mut compare = Command::new(install::node());
        compare.current_dir(machine::root()).arg(COMPARE).args([status, scan]);
        let output = compare.output().map_err(|error| format!("{COMPARE}: {error}"))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().into())
    }
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
