//! Lines that are filled.

use textwrap::Options;
use unstuck_report::shown::COLUMNS;

/// Returns `text` in lines of the usual width that begin with `indent`.
pub(crate) fn filled(text: &str, indent: &str) -> String {
    let options = Options::new(COLUMNS).initial_indent(indent).subsequent_indent(indent);
    textwrap::fill(text, options) + "\n"
}
