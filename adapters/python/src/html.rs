//! Tables of HTML, for notebooks.

use std::fmt::Write as _;

use unstuck_report::plain;

/// Returns a table below a line of text.
pub(crate) fn table<const N: usize>(
    head: &str,
    columns: [&str; N],
    rows: &[[String; N]],
) -> String {
    let mut html = format!("<p>{}</p>\n<table>\n", shown(head));
    let mut cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
        html.push_str("<tr>");
        for cell in cells {
            // Writing to a string cannot fail.
            let _ = write!(html, "<{tag}>{}</{tag}>", shown(cell));
        }
        html.push_str("</tr>\n");
    };
    cells("th", &mut columns.into_iter());
    for row in rows {
        cells("td", &mut row.iter().map(String::as_str));
    }
    html.push_str("</table>");
    html
}

/// Returns `text` as HTML: on one line, without secrets, and without characters that mean something in it.
pub(crate) fn shown(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}
