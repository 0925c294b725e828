//! `unstuck view`: shows recorded runs in the terminal, and sessions that are going on.

mod document;
mod draw;
mod load;
mod state;
mod terminal;
mod text;
mod web;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use clap::Args;
use unstuck_report::Settings;
use unstuck_report::cost::Price;
use unstuck_report::html::Html;
use unstuck_report::parts::Needs;
use unstuck_text::Preset;
use unstuck_trace::Format;

use crate::exit::Exit;
use crate::output::{complain, fail, misused};
use crate::policy::options::PolicyOptions;
use crate::read::inputs::{self, Input, Inputs};
use crate::read::jobs::one_for_each_core;
use crate::scan::feedback;
use crate::scan::judge::loops_in;
use crate::scan::options::from_names;
use crate::sessions::transcripts;
use load::{Loader, Watch};
use state::{News, Order, State, Task};
use terminal::Terminal;

/// The parts of the findings that a row and the page of a run show.
const ROW: Needs = Needs::loops(1);
const RUN: Needs = Html::NEEDS;

/// The time to wait for a key while something is read, and else.
const BUSY: Duration = Duration::from_millis(50);
const IDLE: Duration = Duration::from_millis(250);

/// The most news that are taken in before the next look at the keys.
const NEWS_MAX: usize = 1000;

#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 after q, 3 no input could be read, 4 a bad configuration or a \
                        terminal that failed, 64 a usage error, also if there is no terminal."
)]
pub(crate) struct View {
    /// Files, or folders (read recursively). Without any, the sessions of the agents on this machine, the
    /// newest first
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read files again that grow, and show new files of folders
    #[arg(short, long)]
    watch: bool,
    /// Serve the page of scan --format html on the loopback interface instead, at an address that only you
    /// know, and anew when a recording changes
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    web: Option<u16>,
    /// The format of the inputs; auto detects it for each file
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = from_names())]
    from: String,
    #[command(flatten)]
    policy: PolicyOptions,
    /// Ignore the loops that this file lists, one id a line, or at least its first four digits
    #[arg(long, value_name = "FILE")]
    feedback: Option<PathBuf>,
    /// The prices of a million tokens in US dollars, for example input=3,cached=0.3,output=15
    #[arg(long, value_name = "PRICE")]
    price: Option<Price>,
}

impl View {
    fn from(&self) -> Option<Format> {
        self.from.parse().ok()
    }

    fn order(&self) -> Order {
        if self.paths.is_empty() { Order::Newest } else { Order::Path }
    }

    /// Returns `preset` with the loops of the feedback silenced, which are looked for in `inputs`.
    fn heeding(&self, preset: &'static Preset, inputs: &[Input]) -> Result<&'static Preset, Exit> {
        let Some(path) = &self.feedback else { return Ok(preset) };
        let found = || loops_in(inputs, self.from(), preset, one_for_each_core());
        Ok(feedback::silencing(preset, feedback::load(path, found)?.loops))
    }

    /// Finds the inputs, and prints an error for each that cannot be read.
    fn inputs(&self) -> Result<Vec<Input>, Exit> {
        let inputs =
            find(&self.paths, self.from()).map_err(|what| misused::<Self>("view", what))?;
        for (path, why) in &inputs.errors {
            complain(path, why);
        }
        // A folder that is watched may be empty.
        if inputs.found.is_empty() && !self.watch && self.web.is_none() {
            return Err(Exit::Input);
        }
        Ok(inputs.found)
    }
}

fn find(paths: &[PathBuf], from: Option<Format>) -> Result<Inputs, String> {
    match paths {
        [] => transcripts::find(Inputs::default(), from, |_, _| {}),
        paths => Ok(inputs::find(paths)),
    }
}

pub(crate) fn run(view: &View) -> Exit {
    show(view).map_or_else(|exit| exit, |()| Exit::Clean)
}

fn show(view: &View) -> Result<(), Exit> {
    if view.paths.iter().any(|path| path.as_os_str() == "-") {
        let why = "standard input is for keys here: save the recording to a file".to_owned();
        return Err(misused::<View>("view", why));
    }
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if view.web.is_none() && !is_terminal {
        let why = "view needs a terminal. Without one, use unstuck view --web, unstuck scan, or unstuck \
                   scan --format html";
        return Err(misused::<View>("view", why.to_owned()));
    }
    let preset = view.policy.preset()?;
    let found = view.inputs()?;
    let preset = view.heeding(preset, &found)?;
    let (from, price) = (view.from(), view.price);
    let settings = |needs| Settings { from, price, ..Settings::new(preset, needs) };
    if let Some(port) = view.web {
        let (paths, order) = (view.paths.clone(), view.order());
        let find = move || web::shown(find(&paths, from).unwrap_or_default().found, order);
        return web::serve(port, settings(RUN), &web::shown(found, order), find);
    }
    let (to, news) = mpsc::channel();
    let loader = Loader::start(settings(ROW), settings(RUN), &to);
    let mut watch = Watch::default();
    let first = watch.look(&found);
    if view.watch {
        let paths = view.paths.clone();
        watch.start(move || find(&paths, from).unwrap_or_default().found, to);
    }
    let shown = Terminal::enter().and_then(|mut terminal| {
        let state = State::new(Terminal::size(), view.order());
        Shown { state, loader }.run(first, &news, &mut terminal)
    });
    shown.map_err(|error| fail(Exit::Setup, "the terminal", &format!("failed: {error}")))
}

/// The view while it is shown.
struct Shown {
    state: State,
    loader: Loader,
}

impl Shown {
    /// Shows the state until a key or a signal ends it.
    fn run(
        mut self,
        first: Vec<News>,
        news: &Receiver<News>,
        terminal: &mut Terminal,
    ) -> io::Result<()> {
        let ended = signalled()?;
        self.take(first);
        terminal.draw(draw::frame(&self.state))?;
        while !ended.load(Ordering::SeqCst) {
            let time = if self.state.is_waiting() { BUSY } else { IDLE };
            match Terminal::wait(time)? {
                Some(terminal::Input::Key(key)) => match self.state.press(key) {
                    Some(Task::Quit) => return Ok(()),
                    task => self.perform(task),
                },
                Some(terminal::Input::Resized) => {
                    self.state.resize(Terminal::size());
                    terminal.clear()?;
                }
                None => {}
            }
            let heard: Vec<News> = news.try_iter().take(NEWS_MAX).collect();
            if !heard.is_empty() {
                self.take(heard);
            }
            if !self.loader.is_alive() {
                return Err(io::Error::other("a thread that reads recordings has ended"));
            }
            terminal.draw(draw::frame(&self.state))?;
        }
        Ok(())
    }

    fn take(&mut self, news: Vec<News>) {
        let tasks = self.state.take(news);
        self.perform(tasks);
    }

    fn perform(&self, tasks: impl IntoIterator<Item = Task>) {
        let wanted = |row: usize| (row, Input::File(self.state.rows[row].file.clone()));
        let mut rows = Vec::new();
        for task in tasks {
            match task {
                Task::Read(row) => rows.push(wanted(row)),
                Task::Open(row) => self.loader.open(wanted(row)),
                Task::Quit => {}
            }
        }
        // The newest are the first ones on the screen.
        if self.state.order == Order::Newest {
            rows.sort_by_key(|(row, _)| std::cmp::Reverse(self.state.rows[*row].modified));
        }
        if !rows.is_empty() {
            self.loader.read(rows);
        }
    }
}

/// The exit code if the terminal is closed or fails.
#[cfg(unix)]
const GONE: i32 = 4;

/// Returns a flag that a signal to end sets, so that the terminal is restored first.
#[cfg(unix)]
fn signalled() -> io::Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    // The terminal is gone, and there is nothing to restore.
    let always = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_shutdown(SIGHUP, GONE, always)?;
    Ok(ended)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "signals of Unix may fail")]
fn signalled() -> io::Result<Arc<AtomicBool>> {
    Ok(Arc::default())
}
