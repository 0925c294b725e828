//! `--format html`: one page that shows where each run got stuck, without a network and without a framework.
//!
//! The page works without scripts. Its policy forbids everything but its own style and script, which are named
//! by their hashes. All text of a recording goes through [`plain`] and is escaped by `maud`.

mod overview;
mod run;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::exit::Exit;
use crate::output::shown::{counted, plain};
use crate::output::{Closed, Output, complain};
use crate::scan::draw::hatch;
use crate::scan::kept::Needs;
use crate::scan::options::Scan;
use crate::scan::report::{Report, Tally};
use crate::scan::spool::Spool;
use crate::scan::writer::Writer;
use overview::Overview;

use clap::ValueEnum;
use unstuck_core::Policy;

const STYLE: &str = include_str!("html/report.css");
const SCRIPT: &str = include_str!("html/report.js");

/// The hashes of [`STYLE`] and [`SCRIPT`] for the policy of the page: SHA-256 as base64.
const STYLE_HASH: &str = "hx+GdYsgYFu0TvanLI9vciuaL3v9Kh9FMiZoLPJ92h0=";
const SCRIPT_HASH: &str = "SiLbx0zvRd4m//vJX5IpE2d7JvCvfdtC5fNKnkXRDc0=";

/// The most runs that have a part of their own, and the most of them without a loop. The others are only rows
/// of the table.
const RUNS_MAX: usize = 1000;
const CLEAN_MAX: usize = 20;

/// The part of arguments and results that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IncludeArgs {
    /// Neither arguments nor results
    None,
    /// Their beginnings, 160 characters at most
    Short,
    /// All that is kept, some 500 bytes of arguments and 4 KB of a result
    Full,
}

/// The page.
pub(super) struct Html {
    policy: &'static Policy<'static>,
    args: IncludeArgs,
    overview: Overview,
    /// The parts of the runs, in the order of the runs.
    runs: Spool,
    shown: usize,
    clean: usize,
}

impl Html {
    /// The most loops of a run that are shown.
    const LOOPS_MAX: usize = 20;

    /// The parts of the findings that the page shows.
    pub(super) const NEEDS: Needs =
        Needs { loops: Self::LOOPS_MAX, lines: false, explain: None, picture: true, steps: true };

    pub(super) fn new(scan: &Scan, policy: &'static Policy<'static>) -> Self {
        Self {
            policy,
            args: scan.include_args,
            overview: Overview::default(),
            runs: Spool::default(),
            shown: 0,
            clean: 0,
        }
    }

    /// Returns whether the run gets a part of its own.
    fn has_part(&mut self, report: &Report) -> bool {
        let is_clean = report.kept.loops.count == 0;
        if self.shown == RUNS_MAX || (is_clean && self.clean == CLEAN_MAX) {
            return false;
        }
        self.shown += 1;
        self.clean += usize::from(is_clean);
        true
    }
}

impl Writer for Html {
    fn report(&mut self, report: &mut Report, _output: &mut Output) -> Result<(), Closed> {
        let Some(picture) = &report.picture else { return Ok(()) };
        let number = self.overview.runs() + 1;
        let anchor = self.has_part(report).then(|| format!("run-{number}"));
        self.overview.take(report, picture, anchor.as_deref());
        if let Some(anchor) = anchor {
            let part = run::part(report, picture, &anchor, self.args, self.policy);
            self.runs.push(number, part.into_string());
        }
        Ok(())
    }

    fn unread(&mut self, path: &str, why: &str) {
        self.overview.unread(path, why);
    }

    fn finish(&mut self, tally: &Tally, output: &mut Output) -> Result<Exit, Closed> {
        let runs = counted(self.overview.runs(), "run");
        let title = match tally.stuck {
            0 => format!("No loop in {runs}"),
            stuck => format!("Loops in {stuck} of {runs}"),
        };
        output.write(&head(&title).into_string())?;
        output.write(&self.overview.markup(self.shown).into_string())?;
        let copied = self.runs.each(&mut |part| output.write(part));
        copied.unwrap_or_else(|error| {
            complain(
                "the report",
                &format!("cannot be read back from the temporary file: {error}"),
            );
            Err(Closed::ByError)
        })?;
        output.write(&foot().into_string())?;
        Ok(Exit::Clean)
    }
}

/// Returns the begin of the page.
fn head(title: &str) -> Markup {
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; \
         base-uri 'none'; form-action 'none'"
    );
    // The page ends in `foot`, because its parts are written one by one.
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content={ "unstuck " (env!("CARGO_PKG_VERSION")) };
            title { (title) }
            style { (PreEscaped(STYLE)) }
        }
        (PreEscaped("<body>"))
        a.skip href="#runs" { "Skip to the runs" }
        (hatch())
        (PreEscaped("<main>"))
        h1 { (title) }
    }
}

fn foot() -> Markup {
    html! {
        (PreEscaped("</main>"))
        dialog #help aria-labelledby="help-title" {
            h2 #help-title { "Keys" }
            dl {
                dt { kbd { "j" } " " kbd { "k" } } dd { "next and previous run" }
                dt { kbd { "/" } } dd { "filter the runs" }
                dt { kbd { "t" } } dd { "back to the top" }
                dt { kbd { "?" } } dd { "this help" }
            }
            form method="dialog" { button { "Close" } }
        }
        footer { "unstuck " (env!("CARGO_PKG_VERSION")) ". This page needs no network." }
        script { (PreEscaped(SCRIPT)) }
        (PreEscaped("</body></html>\n"))
    }
}

/// Returns `text` of a recording as the page shows it, or `None` if arguments and results are left out.
fn excerpt(text: &str, args: IncludeArgs) -> Option<String> {
    let text = plain(text);
    match args {
        IncludeArgs::None => None,
        IncludeArgs::Short => Some(crate::output::shown::shortened(&text, 160)),
        IncludeArgs::Full => Some(text),
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
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Returns `bytes` as base64, by its definition in RFC 4648.
    fn base64(bytes: &[u8]) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let bits =
                (0..3).fold(0, |bits, n| bits << 8 | usize::from(*chunk.get(n).unwrap_or(&0)));
            let letter = |n: usize| char::from(LETTERS[bits >> (18 - 6 * n) & 63]);
            text.extend((0..4).map(|n| if n <= chunk.len() { letter(n) } else { '=' }));
        }
        text
    }

    #[test]
    fn the_policy_names_the_style_and_the_script() {
        assert_eq!(base64(b"M"), "TQ==");
        let hash = |text: &str| base64(&Sha256::digest(text));
        assert_eq!((STYLE_HASH, SCRIPT_HASH), (&*hash(STYLE), &*hash(SCRIPT)));
        // They must not end the element that they are in.
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
        assert!(SCRIPT.len() <= 5 * 1024, "{} bytes", SCRIPT.len());
    }

    #[test]
    fn names_between_backquotes_are_code() {
        let html = described("`a<b` 3 times, `c").into_string();
        assert_eq!(html, "<code>a&lt;b</code> 3 times, <code>c</code>");
    }
}
