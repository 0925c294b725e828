//! The report as HTML: an overview of all runs, and a part for each.
//!
//! It works without scripts and needs only the style and the classes of `html/report.css`. All text of a
//! recording goes through [`plain`] and is escaped by `maud`.

mod overview;
mod run;

use maud::{Markup, html};
use unstuck_core::Policy;

use crate::draw::hatch;
use crate::parts::Needs;
use crate::recurring::named;
use crate::report::Report;
use crate::shown::{counted, plain, shortened};
use overview::Overview;

/// The style of a page with the report.
pub const STYLE: &str = include_str!("html/report.css");
/// The script of such a page, which works without it.
pub const SCRIPT: &str = include_str!("html/report.js");

/// The most runs that have a part of their own, and the most of them without a loop. The others are only rows
/// of the table.
const RUNS_MAX: usize = 1000;
const CLEAN_MAX: usize = 20;

/// The part of arguments and results that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum IncludeArgs {
    /// Neither arguments nor results
    None,
    /// Their beginnings, 160 characters at most
    Short,
    /// All that is kept, some 500 bytes of arguments and 4 KB of a result
    Full,
}

impl IncludeArgs {
    /// Returns the part of `text` that is shown, or `None` if arguments and results are left out.
    pub fn excerpt(self, text: &str) -> Option<String> {
        match self {
            Self::None => None,
            Self::Short => Some(shortened(&plain(text), 160)),
            Self::Full => Some(plain(text)),
        }
    }
}

/// The overview of some runs, and the limits of their parts.
pub struct Html {
    policy: &'static Policy<'static>,
    args: IncludeArgs,
    overview: Overview,
    shown: usize,
    clean: usize,
}

impl Html {
    /// The parts of a report that are shown: some loops, their steps and the picture of the run.
    pub const NEEDS: Needs = Needs { picture: true, steps: true, ..Needs::loops(20) };

    /// Begins the overview of runs that are judged by `policy`.
    pub fn new(args: IncludeArgs, policy: &'static Policy<'static>) -> Self {
        Self { policy, args, overview: Overview::default(), shown: 0, clean: 0 }
    }

    /// Takes in the next run. Returns its part, unless it has none.
    pub fn take(&mut self, report: &Report) -> Option<Markup> {
        let picture = report.picture.as_ref()?;
        let number = self.overview.runs() + 1;
        let anchor = self.has_part(report).then(|| format!("run-{number}"));
        self.overview.take(report, picture, anchor.as_deref());
        Some(run::part(report, picture, &anchor?, self.args, self.policy))
    }

    /// Takes in an input that could not be read at all.
    pub fn unread(&mut self, path: &str, why: &str) {
        self.overview.unread(path, why);
    }

    /// Returns the title of the report.
    pub fn title(&self) -> String {
        let runs = counted(self.overview.runs(), "run");
        match self.overview.stuck() {
            0 => format!("No loop in {runs}"),
            stuck => format!("Loops in {stuck} of {runs}"),
        }
    }

    /// Returns the title and the overview of all runs so far, with the pattern that the parts refer to.
    pub fn overview(&self) -> Markup {
        html! { (hatch()) h1 { (self.title()) } (self.overview.markup(self.shown)) }
    }

    /// Returns whether the run gets a part of its own.
    fn has_part(&mut self, report: &Report) -> bool {
        let is_clean = report.judged.loops.count == 0;
        if self.shown == RUNS_MAX || (is_clean && self.clean == CLEAN_MAX) {
            return false;
        }
        self.shown += 1;
        self.clean += usize::from(is_clean);
        true
    }
}

/// Returns the title of a loop with the name of its tool as code.
fn titled(title: &str) -> Markup {
    html! {
        @if let Some((tool, rest)) = named(title) { code { (tool) } (rest) } @else { (title) }
    }
}

/// Returns a description with the names in it, which are between backquotes, as code.
fn described(text: &str) -> Markup {
    html! {
        @for (place, part) in text.split('`').enumerate() {
            @if place % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::check;

    #[test]
    fn the_names_in_a_title_and_in_a_description_are_code() {
        check("html: a title with the name of its tool", |title| titled(title).into_string());
        check("html: a description with names between backquotes", |text| {
            described(text).into_string()
        });
    }
}
