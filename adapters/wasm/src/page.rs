//! The engine of the page `unstuck.html`, which judges the runs that are dropped onto it.
//!
//! The page is one file, because people keep it, send it, and open it without a server. Its content security policy
//! names the style and the script by their hashes, and has no source for connections. It compares loops by their
//! calls, because the id of a loop depends on the modes of its rule. On a page that is opened from a
//! file, Chromium starts no module worker, so the build turns the glue into a classic script.

use std::io::{self, BufReader, Read};

use unstuck_report::{IncludeArgs, WrongPolicy, check_policy, config, plain};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

/// The bytes that are read from a file at a time.
const BUFFER: usize = 1024 * 1024;

#[wasm_bindgen]
extern "C" {
    /// A file of the browser.
    pub type Source;

    /// Writes the next bytes of the file to `into`. Returns their number, 0 at the end.
    #[wasm_bindgen(method, structural, catch)]
    fn read(this: &Source, into: &mut [u8]) -> Result<usize, JsValue>;
}

/// A file as a reader, so that only a part of it is in memory.
struct Bytes<'s>(&'s Source);

impl Read for Bytes<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(into).map(|count| count.min(into.len()));
        read.map_err(|_| io::Error::other("the browser cannot read the file"))
    }
}

/// The report on the runs that were dropped, by one policy.
#[wasm_bindgen]
pub struct Page(unstuck_report::Page);

/// The report on one run.
#[wasm_bindgen(getter_with_clone)]
pub struct Part {
    /// The part of the page, or nothing if the run is only a row of the overview.
    pub html: Option<String>,
    /// The line that `unstuck scan --format jsonl` prints.
    pub json: String,
    /// The name and the loops as JSON, to compare with the same run by another policy.
    pub loops: String,
}

/// A mistake in the TOML text of a policy.
#[wasm_bindgen(getter_with_clone)]
pub struct Wrong {
    /// The line and the column in characters, counted from 1.
    pub line: usize,
    pub column: usize,
    pub what: String,
    /// The line with the mistake marked.
    pub quote: String,
}

#[wasm_bindgen]
impl Page {
    /// Returns an empty report that judges by the policy in the TOML text `config`, and shows all that is kept
    /// of arguments and results, or their beginnings.
    pub fn of(config: &str, full: bool) -> Result<Page, Wrong> {
        let preset = check_policy(config).map_err(|wrong| {
            let WrongPolicy { line, column, what, quote } = wrong;
            Wrong { line, column, what: plain(&what), quote }
        })?;
        let args = if full { IncludeArgs::Full } else { IncludeArgs::Short };
        Ok(Self(unstuck_report::Page::new(preset, args)))
    }

    /// Returns the names of all policies, the default first.
    pub fn names() -> Vec<String> {
        config::names().map(str::to_owned).collect()
    }

    /// Returns the policy called `name` as a TOML text.
    pub fn text(name: &str) -> Option<String> {
        config::named(name).map(config::editable)
    }

    /// Reads and judges the run called `name`. The error says why it cannot be read.
    pub fn take(&mut self, name: &str, source: &Source) -> Result<Part, String> {
        let input = BufReader::with_capacity(BUFFER, Bytes(source));
        let part = self.0.take(name, input).map_err(|problem| plain(&problem.to_string()))?;
        let unstuck_report::Part { html, json, loops } = part;
        Ok(Part { html, json, loops })
    }

    /// Adds an input that cannot be read to the report.
    pub fn unread(&mut self, name: &str, why: &str) {
        self.0.unread(name, why);
    }

    /// Returns the title of the report.
    pub fn title(&self) -> String {
        self.0.title()
    }

    /// Returns the overview of all runs so far.
    pub fn overview(&self) -> String {
        self.0.overview()
    }
}
