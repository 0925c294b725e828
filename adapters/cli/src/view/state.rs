//! The state of the view: keys and news go in, and lines to draw come out of it.
//!
//! It knows neither the terminal nor files.

use std::path::PathBuf;
use std::time::SystemTime;

use unstuck_report::Report;
use unstuck_report::cost::Spent;
use unstuck_report::recurring::what_recurs;
use unstuck_report::shown::plain;

use super::document::{Document, loop_document, run_document};

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Up,
    Down,
    Left,
    Right,
    Enter,
    Esc,
    Backspace,
    PageUp,
    PageDown,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
}

/// The size of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) lines: usize,
}

/// Something that happened outside the state.
pub(super) enum News {
    /// A recording was found. Its row is the next one.
    Found(PathBuf, Option<SystemTime>),
    /// The recording of a row has changed.
    Changed(usize, Option<SystemTime>),
    /// A recording was read for its row.
    Row(usize, Result<Summary, String>),
    /// The run that is open was read.
    Run(usize, Result<Box<Report>, String>),
}

/// Something that has to be done outside the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// Read the recording of this row.
    Read(usize),
    /// Read all of the recording of this row.
    Open(usize),
    Quit,
}

/// The order of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// As they were given. The files of a folder are in the order of their names.
    #[default]
    Path,
    /// The most calls after the first finding first, then the most calls.
    Cost,
    Newest,
}

impl Order {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Cost => "cost",
            Self::Newest => "newest",
        }
    }

    const fn next(self) -> Self {
        match self {
            Self::Path => Self::Cost,
            Self::Cost => Self::Newest,
            Self::Newest => Self::Path,
        }
    }
}

/// The state of the view.
#[derive(Default)]
pub(super) struct State {
    pub(super) size: Size,
    pub(super) rows: Vec<Row>,
    /// The rows that are shown, in their order.
    pub(super) shown: Vec<usize>,
    /// The place of the chosen row among those that are shown, and of the first one on the screen.
    pub(super) at: usize,
    pub(super) top: usize,
    pub(super) order: Order,
    pub(super) filter: String,
    /// Whether keys are letters of the filter.
    pub(super) is_typing: bool,
    pub(super) only_stuck: bool,
    pub(super) has_help: bool,
    /// The run that is open.
    pub(super) open: Option<Open>,
}

impl State {
    pub(super) fn new(size: Size, order: Order) -> Self {
        Self { size, order, ..Self::default() }
    }

    /// Returns the chosen row.
    pub(super) fn chosen(&self) -> Option<usize> {
        self.shown.get(self.at).copied()
    }

    /// Returns the number of lines for the rows of the list.
    pub(super) fn list_lines(&self) -> usize {
        self.size.lines.saturating_sub(if self.has_detail() { 5 } else { 3 }).max(1)
    }

    /// Returns whether there is room for details on the chosen row.
    pub(super) const fn has_detail(&self) -> bool {
        self.size.lines >= 12
    }

    /// Returns whether something is being read.
    pub(super) fn is_waiting(&self) -> bool {
        let opens = self.open.as_ref().is_some_and(|open| open.run.is_none());
        opens || self.rows.iter().any(|row| row.result.is_none())
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
        if let Some(open) = &mut self.open {
            open.resize(size);
        }
        self.follow();
    }

    /// Takes in news, and returns what has to be done.
    pub(super) fn take(&mut self, news: Vec<News>) -> Vec<Task> {
        let mut tasks = Vec::new();
        for one in news {
            match one {
                News::Found(path, modified) => {
                    tasks.push(Task::Read(self.rows.len()));
                    self.rows.push(Row::new(path, modified));
                }
                News::Changed(row, modified) => {
                    tasks.push(Task::Read(row));
                    tasks.extend(self.is_open(row).then_some(Task::Open(row)));
                    self.rows[row].modified = modified;
                }
                News::Row(row, result) => self.rows[row].take(result),
                News::Run(row, result) if self.is_open(row) => {
                    let size = self.size;
                    if let Some(open) = &mut self.open {
                        open.take(result, size);
                    }
                }
                News::Run(..) => {}
            }
        }
        self.arrange();
        tasks
    }

    fn is_open(&self, row: usize) -> bool {
        self.open.as_ref().is_some_and(|open| open.row == row)
    }

    /// Chooses the rows to show and their order. The chosen row stays chosen if it is still there.
    fn arrange(&mut self) {
        let chosen = self.chosen();
        let wanted = self.filter.to_lowercase();
        let is_shown = |&row: &usize| self.rows[row].is_shown(&wanted, self.only_stuck);
        let mut shown: Vec<usize> = (0..self.rows.len()).filter(is_shown).collect();
        match self.order {
            Order::Path => {}
            Order::Cost => shown.sort_by_key(|&row| std::cmp::Reverse(self.rows[row].cost())),
            Order::Newest => shown.sort_by_key(|&row| std::cmp::Reverse(self.rows[row].modified)),
        }
        self.shown = shown;
        let place = chosen.and_then(|row| self.shown.iter().position(|&other| other == row));
        self.at = place.unwrap_or(self.at).min(self.shown.len().saturating_sub(1));
        self.follow();
    }

    /// Moves the list so that the chosen row is on the screen.
    fn follow(&mut self) {
        let lines = self.list_lines();
        self.top = self.top.min(self.at).max((self.at + 1).saturating_sub(lines));
    }

    /// Takes in a key, and returns what has to be done.
    pub(super) fn press(&mut self, key: Key) -> Option<Task> {
        if key == Key::Interrupt {
            return Some(Task::Quit);
        }
        if self.is_typing {
            self.type_in(key);
            return None;
        }
        if self.has_help {
            // Any key closes the help.
            self.has_help = false;
            return (key == Key::Char('q')).then_some(Task::Quit);
        }
        match key {
            Key::Char('q') => return Some(Task::Quit),
            Key::Char('?') => self.has_help = true,
            _ => match &mut self.open {
                Some(open) => {
                    if !open.press(key, self.size) {
                        self.open = None;
                    }
                }
                None => return self.press_in_list(key),
            },
        }
        None
    }

    fn press_in_list(&mut self, key: Key) -> Option<Task> {
        let (last, page) = (self.shown.len().saturating_sub(1), self.list_lines());
        match key {
            Key::Char('j') | Key::Down => self.at = (self.at + 1).min(last),
            Key::Char('k') | Key::Up => self.at = self.at.saturating_sub(1),
            Key::PageDown | Key::Char(' ') => self.at = (self.at + page).min(last),
            Key::PageUp => self.at = self.at.saturating_sub(page),
            Key::Char('g') | Key::Home => self.at = 0,
            Key::Char('G') | Key::End => self.at = last,
            Key::Char('n') => self.at = self.stuck(self.at + 1..self.shown.len()),
            Key::Char('N') => self.at = self.stuck((0..self.at).rev()),
            Key::Char('/') => self.is_typing = true,
            Key::Esc if !self.filter.is_empty() => {
                self.filter.clear();
                self.arrange();
            }
            Key::Char('s') => {
                self.only_stuck = !self.only_stuck;
                self.arrange();
            }
            Key::Char('o') => {
                self.order = self.order.next();
                self.arrange();
                self.at = 0;
            }
            Key::Enter | Key::Right | Key::Char('l') => {
                let row = self.chosen()?;
                self.open = Some(Open::new(row));
                return Some(Task::Open(row));
            }
            _ => {}
        }
        self.follow();
        None
    }

    /// Returns the first of these places whose run is stuck, or the chosen place.
    fn stuck(&self, mut places: impl Iterator<Item = usize>) -> usize {
        places.find(|&place| self.rows[self.shown[place]].is_stuck()).unwrap_or(self.at)
    }

    /// Changes the filter. The rows follow each letter.
    fn type_in(&mut self, key: Key) {
        match key {
            Key::Char(c) => self.filter.push(c),
            Key::Backspace => {
                self.is_typing = self.filter.pop().is_some();
            }
            Key::Esc => {
                self.filter.clear();
                self.is_typing = false;
            }
            Key::Enter => self.is_typing = false,
            _ => {}
        }
        self.arrange();
    }
}

/// A row of the list.
pub(super) struct Row {
    pub(super) file: PathBuf,
    /// The path, as it may be shown.
    pub(super) path: String,
    pub(super) modified: Option<SystemTime>,
    /// `None` as long as the run was not read. An error says why it cannot be.
    pub(super) result: Option<Result<Summary, String>>,
    /// The text that a filter searches, in lower case.
    searched: String,
}

/// What a row shows of a run.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    pub(super) word: &'static str,
    pub(super) calls: usize,
    /// The first loop in words and its rule, or empty.
    pub(super) what: String,
    pub(super) rule: &'static str,
    pub(super) loops: usize,
    /// The cost after the first finding.
    pub(super) after: Option<Spent>,
}

impl Summary {
    pub(super) fn of(report: &Report) -> Self {
        let loops = &report.judged.loops;
        let first = loops.shown.first().map(|one| &one.rungs[0]);
        Self {
            word: report.status(),
            calls: report.trace.calls,
            what: first.map_or_else(String::new, |found| what_recurs(&found.finding, &found.tool)),
            rule: first.map_or("", |found| found.rule),
            loops: loops.count,
            after: report.cost.after,
        }
    }
}

impl Row {
    fn new(file: PathBuf, modified: Option<SystemTime>) -> Self {
        let path = plain(&file.display().to_string());
        let searched = path.to_lowercase();
        Self { file, path, modified, result: None, searched }
    }

    fn take(&mut self, result: Result<Summary, String>) {
        let text = match &result {
            Ok(Summary { word, what, rule, .. }) => format!("{} {word} {what} {rule}", self.path),
            Err(why) => format!("{} unread {why}", self.path),
        };
        self.searched = text.to_lowercase();
        self.result = Some(result.map_err(|why| plain(&why)));
    }

    pub(super) fn is_stuck(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.as_ref().is_ok_and(|one| one.loops > 0))
    }

    /// Returns whether the row has the text `wanted`, which is in lower case.
    fn is_shown(&self, wanted: &str, only_stuck: bool) -> bool {
        self.searched.contains(wanted) && (!only_stuck || self.is_stuck())
    }

    /// Returns the calls after the first finding and all calls.
    fn cost(&self) -> (usize, usize) {
        let Some(Ok(summary)) = &self.result else { return (0, 0) };
        (summary.after.map_or(0, |after| after.calls), summary.calls)
    }
}

/// The run that is open.
pub(super) struct Open {
    pub(super) row: usize,
    /// `None` as long as it was not read. An error says why it cannot be.
    pub(super) run: Option<Result<Box<Report>, String>>,
    /// The page of the run, and the page of one of its loops, which is on top.
    pub(super) page: Page,
    pub(super) of_loop: Option<Page>,
    /// The loop that is chosen.
    pub(super) chosen: usize,
}

/// A text that can be longer than the screen.
#[derive(Default)]
pub(super) struct Page {
    pub(super) document: Document,
    /// The first line on the screen.
    pub(super) top: usize,
}

impl Page {
    /// Replaces the text. The place stays the same if there still is such a line.
    fn show(&mut self, document: Document, size: Size) {
        self.document = document;
        self.go(self.top, size);
    }

    fn go(&mut self, top: usize, size: Size) {
        self.top = top.min(self.document.lines.len().saturating_sub(page_lines(size)));
    }

    /// Returns whether the key moved, or tried to move, the page.
    fn press(&mut self, key: Key, size: Size) -> bool {
        let page = page_lines(size).saturating_sub(1).max(1);
        let top = match key {
            Key::Char('j') | Key::Down => self.top + 1,
            Key::Char('k') | Key::Up => self.top.saturating_sub(1),
            Key::PageDown | Key::Char(' ') => self.top + page,
            Key::PageUp => self.top.saturating_sub(page),
            Key::Char('g') | Key::Home => 0,
            Key::Char('G') | Key::End => usize::MAX,
            _ => return false,
        };
        self.go(top, size);
        true
    }
}

/// Returns the number of lines for the page.
fn page_lines(size: Size) -> usize {
    size.lines.saturating_sub(2).max(1)
}

impl Open {
    fn new(row: usize) -> Self {
        Self { row, run: None, page: Page::default(), of_loop: None, chosen: 0 }
    }

    /// Takes in the run, which may have been read before.
    fn take(&mut self, run: Result<Box<Report>, String>, size: Size) {
        self.run = Some(run);
        self.chosen = self.chosen.min(self.loops().saturating_sub(1));
        self.resize(size);
    }

    fn loops(&self) -> usize {
        match &self.run {
            Some(Ok(report)) => report.judged.loops.shown.len(),
            _ => 0,
        }
    }

    fn resize(&mut self, size: Size) {
        let Some(Ok(report)) = &self.run else {
            self.of_loop = None;
            return;
        };
        self.page.show(run_document(report, size.columns), size);
        match (&mut self.of_loop, report.judged.loops.shown.get(self.chosen)) {
            (Some(page), Some(one)) => page.show(loop_document(report, one, size.columns), size),
            (of_loop, _) => *of_loop = None,
        }
    }

    /// Takes in a key. Returns `false` if the run is to be closed.
    fn press(&mut self, key: Key, size: Size) -> bool {
        let page = self.of_loop.as_mut().unwrap_or(&mut self.page);
        if page.press(key, size) {
            return true;
        }
        match key {
            Key::Char('h') | Key::Esc | Key::Left | Key::Backspace => {
                return self.of_loop.take().is_some();
            }
            Key::Char('n') => self.choose(self.chosen + 1, size),
            Key::Char('N') => self.choose(self.chosen.saturating_sub(1), size),
            Key::Enter | Key::Right | Key::Char('l') if self.of_loop.is_none() => {
                self.of_loop = Some(Page::default());
                self.resize(size);
            }
            _ => {}
        }
        true
    }

    /// Chooses the loop `number`, if there is one, and moves the page to it.
    fn choose(&mut self, number: usize, size: Size) {
        let last = self.loops().saturating_sub(1);
        self.chosen = number.min(last);
        if let Some(&line) = self.page.document.loops.get(self.chosen) {
            self.page.go(line, size);
        }
        if self.of_loop.is_some() {
            self.of_loop = Some(Page::default());
            self.resize(size);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::view::draw::tests::report;

    const SIZE: Size = Size { columns: 80, lines: 24 };

    /// Returns the summary of a run with `calls` calls, of which `after` come after its first finding.
    pub(in crate::view) fn summary(calls: usize, after: Option<usize>) -> Summary {
        let spent = |calls| Spent { calls, ..Spent::default() };
        Summary {
            word: if after.is_some() { "stuck" } else { "clean" },
            calls,
            what: after
                .map_or_else(String::new, |_| "`bash` 3 times, each time an error".to_owned()),
            rule: after.map_or("", |_| "repeated-error"),
            loops: usize::from(after.is_some()),
            after: after.map(spent),
        }
    }

    /// Returns a state with `runs`, of which every third is stuck and the last is not read yet.
    pub(in crate::view) fn state(runs: usize, size: Size) -> State {
        let mut state = State::new(size, Order::Path);
        let found = |n| News::Found(PathBuf::from(format!("runs/agent-{n}/session.jsonl")), None);
        assert_eq!(state.take((0..runs).map(found).collect()).len(), runs);
        let read = |n: usize| News::Row(n, Ok(summary(10 + n, (n % 3 == 1).then_some(n))));
        state.take((0..runs - 1).map(read).collect());
        state
    }

    /// Takes in a word of `state.txt`: news with a row, the name of a key, or letters. Returns what has to be done.
    fn take(state: &mut State, word: &str) -> Vec<Task> {
        const KEYS: [Key; 11] = {
            use Key::{
                Backspace, Down, End, Enter, Esc, Home, Interrupt, Left, PageDown, PageUp, Up,
            };
            [Backspace, Down, End, Enter, Esc, Home, Interrupt, Left, PageDown, PageUp, Up]
        };
        let (what, of) = word.split_once('=').unwrap_or((word, ""));
        let numbers: Vec<usize> = of.split(',').filter_map(|of| of.parse().ok()).collect();
        let news = match (what, &numbers[..]) {
            ("runs", &[count]) => {
                *state = self::state(count, SIZE);
                return Vec::new();
            }
            ("size", &[columns, lines]) => {
                state.resize(Size { columns, lines });
                return Vec::new();
            }
            ("cost", &[row, calls, after]) => News::Row(row, Ok(summary(calls, Some(after)))),
            ("unread", &[row]) => News::Row(row, Err("no such file".to_owned())),
            ("changed", &[row]) => News::Changed(row, Some(SystemTime::UNIX_EPOCH)),
            ("stuck", &[row]) => News::Run(row, Ok(Box::new(report("stuck-edit.jsonl")))),
            ("healthy", &[row]) => News::Run(row, Ok(Box::new(report("healthy-fix.jsonl")))),
            ("lost", &[row]) => News::Run(row, Err("no such file".to_owned())),
            _ => {
                let key = KEYS.into_iter().find(|key| format!("{key:?}") == word);
                let letters = word.replace("Space", " ");
                let keys =
                    key.map_or_else(|| letters.chars().map(Key::Char).collect(), |key| vec![key]);
                return keys.into_iter().filter_map(|key| state.press(key)).collect();
            }
        };
        state.take(vec![news])
    }

    /// Returns the state as `state.txt` has it.
    fn told(state: &State) -> String {
        let is_whole = state.shown.iter().copied().eq(0..state.rows.len());
        let rows = is_whole.then(|| state.rows.len().to_string());
        let rows = rows.unwrap_or_else(|| format!("{:?}", state.shown));
        let list = format!("{} of {rows}, top {}, by {}", state.at, state.top, state.order.name());
        let more = [
            (!state.filter.is_empty(), format!(", /{}", state.filter)),
            (state.is_typing, ", typing".to_owned()),
            (state.only_stuck, ", only stuck".to_owned()),
            (state.has_help, ", help".to_owned()),
            (state.is_waiting(), ", waiting".to_owned()),
        ];
        let more = more.into_iter().filter_map(|(is_so, what)| is_so.then_some(what));
        let page = |page: &Page| format!("line {} of {}", page.top, page.document.lines.len());
        let open = state.open.as_ref().map(|open| {
            let run = match &open.run {
                None => "waits",
                Some(Ok(_)) => "is read",
                Some(Err(_)) => "is lost",
            };
            let of_loop = open.of_loop.as_ref();
            let of_loop = of_loop.map(|of| format!("; loop {}, {}", open.chosen, page(of)));
            format!("; run {} {run}, {}", open.row, page(&open.page)) + &of_loop.unwrap_or_default()
        });
        [list].into_iter().chain(more).chain(open).collect()
    }

    /// Each line of `state.txt` has keys and news, and the state after them. A run `waits` until it is read.
    #[test]
    fn keys_and_news_change_the_state() {
        let mut state = State::default();
        let mut line = |line: &str| {
            let (given, _) = line.split_once(" => ").unwrap_or((line, ""));
            if given.is_empty() || given.starts_with('#') {
                return given.to_owned() + "\n";
            }
            let tasks = given.split(' ').map(|word| take(&mut state, word)).last();
            let tasks = tasks.unwrap_or_default().into_iter().map(|task| format!("; {task:?}"));
            format!("{given} => {}{}\n", told(&state), tasks.collect::<String>())
        };
        let text = include_str!("state.txt");
        assert_eq!(text.lines().map(&mut line).collect::<String>(), text);
    }
}
