//! A comparison of policies as a picture with bars, and as a page with the picture and a table.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::html::{STYLE_HASH, head};
use crate::shown::{plain, shortened};

/// The style of the picture, and its hash for the policy of the page: SHA-256 as base64.
const STYLE: &str = include_str!("chart/chart.css");
const CHART_HASH: &str = "gjYa2YQxVVcemNAQTnOXSyxnhNtHZNylBgZgolpCwXM=";

/// The width of the picture, its margin, and the height of a line.
const WIDTH: usize = 800;
const MARGIN: usize = 24;
const LINE: usize = 22;

/// The places from the left of the names of bars, of the bars and of their numbers, and the width of a full bar.
const LABELS: usize = 220;
const BARS: usize = 260;
const FULL: usize = 400;
const NUMBERS: usize = BARS + FULL + 8;

/// The height of a bar, and of the two bars of a policy with the space below.
const BAR: usize = 14;
const ROW: usize = 52;

/// The most columns of a name in the picture.
const NAME_MAX: usize = 26;

/// A comparison of policies. All texts may be of others: they are made safe to show.
pub struct Chart {
    /// What is compared.
    pub title: &'static str,
    /// The runs that it is about.
    pub note: String,
    /// The heads of the columns behind the name.
    pub heads: Vec<&'static str>,
    /// The policies.
    pub rows: Vec<ChartRow>,
    /// What the columns mean.
    pub legend: Vec<&'static str>,
}

/// A policy in a comparison.
pub struct ChartRow {
    /// The name of the policy.
    pub name: String,
    /// Its cells, one for each head.
    pub cells: Vec<String>,
    /// The bar of all runs.
    pub all: Share,
    /// The bar of the good runs. `None` if no run is known to be good.
    pub good: Option<Share>,
}

/// The part of some runs in which a policy would have done something.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The number of runs.
    pub runs: usize,
    /// Those in which it would have spoken, refused or ended.
    pub spoke: usize,
    /// Those in which it would have refused or ended.
    pub stopped: usize,
}

impl Chart {
    /// Returns the picture as an SVG file.
    pub fn svg(&self) -> String {
        self.picture(true).into_string() + "\n"
    }

    /// Returns a page in HTML with the picture and the table. It needs no network, and has no script.
    pub fn page(&self) -> String {
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{STYLE_HASH}' 'sha256-{CHART_HASH}'; base-uri 'none'; \
             form-action 'none'"
        );
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                (head(self.title, &policy))
                body {
                    main {
                        h1 { (self.title) }
                        p { (plain(&self.note)) }
                        div.scroll tabindex="0" role="region" aria-label="Picture" { (self.picture(false)) }
                        (self.table())
                        @for line in &self.legend { p.dim { (line) } }
                    }
                    footer { "unstuck " (env!("CARGO_PKG_VERSION")) ". This page needs no network." }
                }
            }
        };
        page.into_string() + "\n"
    }

    fn table(&self) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label="Table of the policies" {
                table {
                    thead {
                        tr {
                            th scope="col" { "policy" }
                            @for head in &self.heads { th.number scope="col" { (head) } }
                        }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                th scope="row" { (plain(&row.name)) }
                                @for cell in &row.cells { td.number { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns the picture. Without a `head`, its title and the note are not shown, because a page shows them.
    fn picture(&self, head: bool) -> Markup {
        let top = MARGIN + 4 * LINE + 8;
        let height = top + self.rows.len() * ROW + MARGIN;
        let hidden = if head { 0 } else { MARGIN + 2 * LINE };
        html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height - hidden)
                viewBox={ "0 " (hidden) " " (WIDTH) " " (height - hidden) } role="img"
                aria-labelledby="title" {
                title #title { (self.title) }
                style { (PreEscaped(STYLE)) }
                rect.page width=(WIDTH) height=(height) {}
                @if head {
                    text.title x=(MARGIN) y=(MARGIN + LINE / 2) { (self.title) }
                    text.dim x=(MARGIN) y=(MARGIN + LINE * 3 / 2) { (shortened(&plain(&self.note), 110)) }
                }
                (key("spoke", BARS, "would have spoken"))
                (key("stopped", BARS + FULL / 2, "of these: refused or ended"))
                @for (place, row) in self.rows.iter().enumerate() {
                    g transform={ "translate(0 " (top + place * ROW) ")" } {
                        text x=(MARGIN) y=(BAR - 2) { (shortened(&plain(&row.name), NAME_MAX)) }
                        (bar(0, "all", row.all))
                        @if let Some(good) = row.good { (bar(BAR + 4, "good", good)) }
                    }
                }
                text.dim x=(WIDTH - MARGIN) y=(height - 10) text-anchor="end" { "unstuck" }
            }
        }
    }
}

/// Returns the meaning of a colour.
fn key(colour: &str, x: usize, what: &str) -> Markup {
    let y = MARGIN + LINE * 2 + 8;
    html! {
        rect class=(colour) x=(x) y=(y) width=(BAR) height=(BAR) {}
        text.dim x=(x + BAR + 6) y=(y + BAR - 3) { (what) }
    }
}

/// Returns a bar `y` below the top of its row.
fn bar(y: usize, label: &str, share: Share) -> Markup {
    let width = |part: usize| part * FULL / share.runs.max(1);
    html! {
        text.dim x=(LABELS) y=(y + BAR - 3) { (label) }
        @for (colour, width) in [("track", FULL), ("spoke", width(share.spoke)), ("stopped", width(share.stopped))] {
            @if width > 0 { rect class=(colour) x=(BARS) y=(y) width=(width) height=(BAR) {} }
        }
        text.dim x=(NUMBERS) y=(y + BAR - 3) { (share.spoke) " of " (share.runs) }
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::super::html::tests::base64;
    use super::*;

    fn chart(name: &str) -> Chart {
        let row = |share: Share, good: Option<Share>| ChartRow {
            name: name.to_owned(),
            cells: vec!["7".to_owned()],
            all: share,
            good,
        };
        let share = Share { runs: 8, spoke: 4, stopped: 1 };
        Chart {
            title: "Policies",
            note: "8 runs <b>".to_owned(),
            heads: vec!["spoke"],
            rows: vec![row(share, Some(Share { runs: 0, spoke: 0, stopped: 0 })), row(share, None)],
            legend: vec!["Spoke: runs."],
        }
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        let svg = chart("balanced").svg();
        let bars = |colour: &str, width: usize| {
            let start = format!("<rect class=\"{colour}\" x=\"{BARS}\"");
            let ends = format!("width=\"{width}\"");
            svg.match_indices(&start).filter(|(at, _)| svg[*at..*at + 80].contains(&ends)).count()
        };
        assert_eq!((bars("spoke", FULL / 2), bars("stopped", FULL / 8)), (2, 2), "{svg}");
        assert_eq!(bars("track", FULL), 3, "{svg}");
        assert_eq!(svg.matches("4 of 8").count(), 2);
        assert_eq!(svg.matches("0 of 0").count(), 1);
    }

    #[test]
    fn the_page_has_the_table_and_shows_no_markup_of_others() {
        let page = chart("<script>\u{202E}").page();
        assert!(
            page.contains("<td class=\"number\">7</td>") && page.contains("Spoke: runs."),
            "{page}"
        );
        assert!(!page.contains("<script") && !page.contains("<b>") && !page.contains('\u{202E}'));
    }

    #[test]
    fn the_policy_of_the_page_names_the_style() {
        assert_eq!(CHART_HASH, base64(&Sha256::digest(STYLE)));
        assert!(!STYLE.contains("</"));
    }
}
