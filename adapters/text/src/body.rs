//! The body of an answer with the lines at its ends, which most readers ask for.

use crate::find;
use crate::said::Clocks;

/// The body of an answer, of which the lines at both ends were looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<'t> {
    /// The text without white space at its ends.
    pub(crate) text: &'t str,
    /// The same with what stands before its first line: a traceback that is indented is a part of something else.
    pub(crate) whole: &'t str,
    /// The clocks before its lines.
    pub(crate) clocks: Clocks,
    /// The first line, without a clock, and without colours and white space at its ends.
    pub(crate) first: &'t str,
    /// The next line that shows anything, in the same way, or `None` if the body is a single line.
    pub(crate) second: Option<&'t str>,
    /// The last line, if it is not the first, and the one before it that shows anything. A clock before a later line
    /// makes it the entry of a log, so these lines keep theirs.
    pub(crate) last: Option<(&'t str, &'t str)>,
}

impl<'t> Body<'t> {
    /// Looks at the ends of `text`. O(length of the lines there).
    pub(crate) fn of(text: &'t str) -> Self {
        let (text, whole) = (find::trim(text), text.trim_end());
        let clocks = Clocks::of(text);
        let mut lines = full(find::lines(text));
        let first = lines.next().unwrap_or_default();
        let second = lines.next();
        let last = second.and_then(|_| {
            let mut lines = full(find::lines_back(text));
            Some((lines.next()?, lines.next()?))
        });
        let shown = |line| find::trim(clocks.off(line));
        Self { text, whole, clocks, first: shown(first), second: second.map(shown), last }
    }

    /// Returns whether the body is a single line.
    pub(crate) const fn is_single(&self) -> bool {
        self.second.is_none()
    }

    /// Returns the lines that show anything, without clocks.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &'t str> + Clone + use<'t> {
        let clocks = self.clocks;
        full(find::lines(self.whole)).map(move |line| clocks.off(line))
    }

    /// Returns the lines that show anything in reverse order, without clocks.
    pub(crate) fn lines_back(&self) -> impl Iterator<Item = &'t str> + Clone + use<'t> {
        let clocks = self.clocks;
        full(find::lines_back(self.whole)).map(move |line| clocks.off(line))
    }
}

/// The lines that show anything.
fn full<'t>(lines: impl Iterator<Item = &'t str> + Clone) -> impl Iterator<Item = &'t str> + Clone {
    lines.filter(|line| !line.trim_ascii().is_empty())
}
