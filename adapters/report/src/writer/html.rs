//! `--format html`: one page that shows where each run got stuck, without a network and without a framework.
//!
//! The page works without scripts. Its policy forbids everything but its own style and script, which are named
//! by their hashes.

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use unstuck_core::Policy;

use crate::baseline::Tally;
use crate::html::{Html, IncludeArgs, SCRIPT, STYLE};
use crate::parts::{FullReport, Needs};
use crate::spool::{OpenDisk, Spool};
use crate::writer::Writer;

/// The hashes of [`STYLE`] and [`SCRIPT`] for the policy of the page: SHA-256 as base64.
pub(super) const STYLE_HASH: &str = "hx+GdYsgYFu0TvanLI9vciuaL3v9Kh9FMiZoLPJ92h0=";
const SCRIPT_HASH: &str = "Il3wZRetOicJ2VN6br0jrEwxeUp61Bqi840QFYsUaHI=";

/// The page with all runs.
pub struct WholePage {
    html: Html,
    /// The parts of the runs, in the order of the runs.
    runs: Spool,
    count: usize,
    /// The number of this page, if a server has newer ones.
    live: Option<u64>,
}

impl WholePage {
    /// Begins a page about runs that are judged by `policy`. `disk` opens a file for many runs.
    pub fn new(
        args: IncludeArgs,
        policy: &'static Policy<'static>,
        disk: Option<OpenDisk>,
    ) -> Self {
        Self { html: Html::new(args, policy), runs: Spool::new(disk), count: 0, live: None }
    }

    /// Makes this the page `number` of a server, which tells of newer ones under `events`, as Server-Sent Events with their
    /// numbers. The page loads itself again when it hears of one.
    #[must_use]
    pub fn live(self, number: u64) -> Self {
        Self { live: Some(number), ..self }
    }
}

impl Writer for WholePage {
    fn needs(&self) -> Needs {
        Html::NEEDS
    }

    fn report(&mut self, report: &mut FullReport, _output: &mut dyn Write) -> io::Result<()> {
        if let Some(part) = self.html.take(report) {
            self.runs.push(self.count, part.into_string());
        }
        self.count += 1;
        Ok(())
    }

    fn unread(&mut self, path: &str, why: &str) {
        self.html.unread(path, why);
    }

    fn finish(&mut self, _tally: &Tally, output: &mut dyn Write) -> io::Result<()> {
        output.write_all(begin(&self.html.title(), self.live).into_string().as_bytes())?;
        output.write_all(self.html.overview().into_string().as_bytes())?;
        self.runs.each("html", &mut |part| output.write_all(part.as_bytes()))?;
        output.write_all(foot(self.live).into_string().as_bytes())
    }
}

/// Returns the begin of the page.
fn begin(title: &str, live: Option<u64>) -> Markup {
    let network = if live.is_some() { "connect-src 'self'; " } else { "" };
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{STYLE_HASH}'; script-src 'sha256-{SCRIPT_HASH}'; \
         {network}base-uri 'none'; form-action 'none'"
    );
    // The page ends in `foot`, because its parts are written one by one.
    html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        (head(title, &policy))
        @match live {
            Some(number) => (PreEscaped(format!("<body data-live=\"{number}\">"))),
            None => (PreEscaped("<body>")),
        }
        a.skip href="#runs" { "Skip to the runs" }
        (PreEscaped("<main>"))
    }
}

/// Returns the head of a page that has the style of the report and this policy.
pub(super) fn head(title: &str, policy: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content={ "unstuck " (env!("CARGO_PKG_VERSION")) };
            title { (title) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

fn foot(live: Option<u64>) -> Markup {
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
        footer {
            "unstuck " (env!("CARGO_PKG_VERSION"))
            @if live.is_some() { ". This page follows the recordings on this machine." }
            @else { ". This page needs no network." }
        }
        script { (PreEscaped(SCRIPT)) }
        (PreEscaped("</body></html>\n"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Returns `bytes` as base64, by its definition in RFC 4648.
    pub(in crate::writer) fn base64(bytes: &[u8]) -> String {
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
}
