//! The run that is open, and the page of it that is shown.

use unstuck_report::Report;

use super::{Key, Size};
use crate::view::draw::{Document, loop_document, run_document};

/// The run that is open.
pub(in crate::view) struct Open {
    pub(in crate::view) row: usize,
    /// `None` as long as it was not read. An error says why it cannot be.
    pub(in crate::view) run: Option<Result<Box<Report>, String>>,
    /// The page of the run, and the page of one of its loops, which is on top.
    pub(in crate::view) page: Page,
    pub(in crate::view) of_loop: Option<Page>,
    /// The loop that is chosen.
    pub(in crate::view) chosen: usize,
}

/// A text that can be longer than the screen.
#[derive(Default)]
pub(in crate::view) struct Page {
    pub(in crate::view) document: Document,
    /// The first line on the screen.
    pub(in crate::view) top: usize,
}

impl Page {
    /// Replaces the text. The place stays the same if there still is such a line.
    fn show(&mut self, document: Document, size: Size) {
        self.document = document;
        self.go(self.top, size);
    }

    fn go(&mut self, top: usize, size: Size) {
        self.top = top.min(self.document.lines.len().saturating_sub(lines(size)));
    }

    /// Returns whether the key moved, or tried to move, the page.
    fn press(&mut self, key: Key, size: Size) -> bool {
        let page = lines(size).saturating_sub(1).max(1);
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
fn lines(size: Size) -> usize {
    size.lines.saturating_sub(2).max(1)
}

impl Open {
    pub(super) fn new(row: usize) -> Self {
        Self { row, run: None, page: Page::default(), of_loop: None, chosen: 0 }
    }

    /// Takes in the run, which may have been read before.
    pub(super) fn take(&mut self, run: Result<Box<Report>, String>, size: Size) {
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

    pub(super) fn resize(&mut self, size: Size) {
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
    pub(super) fn press(&mut self, key: Key, size: Size) -> bool {
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
mod tests {
    use super::*;
    use crate::view::draw::tests::report;

    const SIZE: Size = Size { columns: 60, lines: 12 };

    fn open(name: &str) -> Open {
        let mut open = Open::new(0);
        open.take(Ok(Box::new(report(name))), SIZE);
        open
    }

    #[test]
    fn a_page_moves_and_stops_at_its_ends() {
        let mut open = open("stuck-edit.jsonl");
        let last = open.page.document.lines.len() - 10;
        for (key, top) in [
            (Key::Up, 0),
            (Key::Down, 1),
            (Key::PageDown, 10.min(last)),
            (Key::Home, 0),
            (Key::End, last),
            (Key::Char('j'), last),
            (Key::Char('k'), last - 1),
        ] {
            assert!(open.press(key, SIZE));
            assert_eq!(open.page.top, top, "{key:?}");
        }
    }

    #[test]
    fn a_loop_opens_over_its_run_and_closes_before_it() {
        let mut open = open("stuck-edit.jsonl");
        assert!(open.press(Key::Char('n'), SIZE));
        assert_eq!(open.chosen, 0, "there is one loop");
        assert!(open.press(Key::Enter, SIZE));
        assert!(open.of_loop.as_ref().is_some_and(|page| !page.document.lines.is_empty()));
        assert!(open.press(Key::Char('n'), SIZE) && open.of_loop.is_some());
        open.resize(Size { columns: 30, lines: 12 });
        assert!(open.of_loop.is_some());
        assert!(open.press(Key::Esc, SIZE), "back to the run");
        assert!(!open.press(Key::Char('h'), SIZE), "back to the list");
    }

    #[test]
    fn the_place_stays_when_the_run_is_read_again() {
        let mut open = open("stuck-edit.jsonl");
        open.press(Key::Down, SIZE);
        open.take(Ok(Box::new(report("stuck-edit.jsonl"))), SIZE);
        assert_eq!(open.page.top, 1);
        // A file that cannot be read any more, and a run without loops.
        open.press(Key::Enter, SIZE);
        open.take(Err("no such file".to_owned()), SIZE);
        assert!(open.of_loop.is_none());
        open.take(Ok(Box::new(report("healthy-fix.jsonl"))), SIZE);
        open.press(Key::Enter, SIZE);
        assert!(open.of_loop.is_none(), "no loop to open");
        open.press(Key::Char('N'), SIZE);
        assert_eq!(open.chosen, 0);
    }
}
