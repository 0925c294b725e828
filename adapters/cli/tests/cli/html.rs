//! `scan --format html` and `--format svg`, for all that can be checked without a browser.

use std::fmt::Write as _;

use crate::harness::{CLEAN, Folder, runs, scan, stuck, unstuck};
use crate::shown::words_everywhere;

/// Texts that break out of a page that does not escape them.
const HOSTILE: [&str; 6] = [
    "</script><img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "'--></style><script>alert(1)</script>",
    "\u{202E}\u{1b}[31mred\u{1b}]8;;http://a.example\u{7}",
    "&lt;b&gt; ]]> {{7*7}} ${7*7}",
    "javascript:alert(1)",
];

/// Returns a native trace with this many sessions, which all have the same loop.
fn sessions(count: usize) -> String {
    let of = |session| format!("{{\"session\":\"s{session}\"}}\n{}", stuck());
    (0..count).map(of).collect()
}

#[test]
fn a_loop_has_the_calls_of_its_session_only() {
    let lines = |count: usize| {
        let folder = Folder::new();
        let file = folder.file("sessions.jsonl", sessions(count));
        let page = scan(&file, &["--format", "html", "--include-args", "full"]);
        assert_eq!(page.exit, 1, "{}", page.err);
        let loops = page.out.matches("class=\"loop\"").count();
        (loops, page.out.lines().count())
    };
    let ((one, short), (all, long)) = (lines(1), lines(200));
    assert!(all > one);
    assert!(long <= short * all, "{long} lines for {all} loops, {short} for {one}");
}

#[test]
fn hostile_text_is_escaped_in_every_field() {
    for (number, text) in HOSTILE.into_iter().enumerate() {
        let folder = Folder::new();
        let file = folder.file(&format!("a&{number}<b>.jsonl"), words_everywhere(text));
        for args in ["none", "short", "full"] {
            let page = unstuck([
                "scan",
                "--format",
                "html",
                "--include-args",
                args,
                file.to_str().unwrap(),
            ]);
            assert_eq!(page.exit, 1, "{}", page.err);
            let html = &page.out;
            assert_eq!(html.matches("<script").count(), 1, "{text}");
            assert_eq!(html.matches("<style").count(), 1, "{text}");
            for bad in
                ["<img", "<svg onload", "<b>.jsonl", "\u{1b}", "\u{202E}", "onerror=alert(1)>"]
            {
                assert!(!html.contains(bad), "{bad} of {text}");
            }
            assert_eq!(html.contains("{&quot;"), args != "none", "{args}");
            let id = id_of(html);
            let svg =
                unstuck(["scan", "--format", "svg", "--explain", &id, file.to_str().unwrap()]);
            assert_eq!((svg.exit, &*svg.err), (1, ""));
            for bad in ["<script", "<img", "onload=alert(1)>", "\u{1b}", "\u{202E}"] {
                assert!(!svg.out.contains(bad), "{bad} of {text}");
            }
        }
    }
}

/// Returns the id of the first loop in a page.
fn id_of(html: &str) -> String {
    let begin = html.find("data-loop=\"").expect("a loop") + "data-loop=\"".len();
    html[begin..begin + 16].to_owned()
}

#[test]
fn a_page_needs_no_network_and_names_its_own_parts() {
    let page = unstuck(["scan", "--format", "html", runs().to_str().unwrap()]);
    let html = &page.out;
    assert_eq!((page.exit, &*page.err), (1, ""));
    for bad in ["http:", "https:", "url(data", "@import", "src="] {
        assert!(!html.contains(bad), "{bad}");
    }
    assert!(html.contains("default-src 'none'; style-src 'sha256-"), "a policy");
    assert!(html.ends_with("</body></html>\n"));
    // Each link leads to a part of the page, and each part has a row of its own.
    let links: Vec<&str> =
        html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() > 20);
    for link in links {
        assert_eq!(html.matches(&format!(" id=\"{link}\"")).count(), 1, "{link}");
    }
}

#[test]
fn a_page_says_what_it_leaves_out() {
    let folder = Folder::new();
    for n in 0..105 {
        folder.file(&format!("{n}.jsonl"), CLEAN);
    }
    folder.file("stuck.jsonl", stuck());
    let page = scan(folder.path(), &["--format", "html"]);
    assert_eq!(page.exit, 1, "{}", page.err);
    assert_eq!(page.out.matches("<section class=\"run\"").count(), 21);
    assert!(page.out.contains("Details follow for 21 runs"));
    assert_eq!(page.out.matches("<tr data-stuck").count(), 1);
}

#[test]
fn a_long_run_is_drawn_in_part_and_folded() {
    let mut trace = String::new();
    for n in 0..10_050 {
        let _ = writeln!(
            trace,
            "{{\"type\":\"call\",\"tool\":\"t\",\"args\":{{\"n\":{}}},\"result\":\"same\"}}",
            n % 3
        );
    }
    let folder = Folder::new();
    folder.file("long.jsonl", &trace);
    let page = scan(folder.path(), &["--format", "html"]);
    assert!(page.out.contains("The pictures show the first 10000 calls; 50 more follow."));
    assert!(page.out.contains("Ribbon of 10000 calls</summary>"));
    assert!(page.out.len() < 1_200_000, "{} bytes", page.out.len());
}
