//! A table of texts for each mask, which is tried alone.

use unstuck_text::{Counter, Mask, Masks};

/// Shows each text by `mask` alone.
pub(super) fn shown(mask: Mask, cases: &[(&str, &str)]) {
    let masks = Masks::NONE.with(mask);
    for (text, expected) in cases {
        assert_eq!(masks.show(text).to_string(), *expected, "{text:?} by {}", mask.name());
    }
}

/// Texts that `mask` leaves as they are.
pub(super) fn left(mask: Mask, texts: &[&str]) {
    for text in texts {
        shown(mask, &[(text, text)]);
    }
}

#[test]
fn terminal_controls_go() {
    shown(
        Mask::Ansi,
        &[
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b[1;38;5;196mx\x1b[m", "x"),
            ("\x1b]0;a title\x07text", "text"),
            ("\x1b]8;;http://a/\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("a\x1b(Bb\x1b7c\x1b=d", "abcd"),
            ("\x1b[2K\x1b[1G> ", "> "),
            // Controls without an end: the escape alone goes.
            ("\x1b]0;no end", "]0;no end"),
            ("a\x1b", "a"),
            ("\x1b[12", "[12"),
        ],
    );
    left(Mask::Ansi, &["[31m", "a  b", "\n\n"]);
}

#[test]
fn a_colour_is_no_part_of_the_word_behind_it() {
    for (text, expected) in [
        ("\x1b[31m3f2a1bc9\x1b[0m", "<hashes>"),
        ("at \x1b[2m12:03:59\x1b[0m it", "at <times> it"),
        ("(\x1b[1m0.02s\x1b[0m)", "(<durations>)"),
        ("\x1b[32m7\x1b[0m passed", "7 passed"),
        ("v\x1b[K\x1b[1m7 passed", "v7 passed"),
    ] {
        assert_eq!(Masks::ALL.show(text).to_string(), expected, "{text:?}");
    }
}

#[test]
fn spaces_fold() {
    shown(
        Mask::Spaces,
        &[
            ("a  b", "a b"),
            ("a \t b", "a b"),
            ("a\r\nb\n\n\nc", "a\nb\nc"),
            ("a  \nb", "a\nb"),
            ("  a  ", "a"),
            (" a\n", "a"),
            ("\n", ""),
            (" ", ""),
            ("   ", ""),
            ("", ""),
        ],
    );
    left(Mask::Spaces, &["a b", "a\tb", "a\nb", "a\rb", "a\u{a0}\u{a0}b"]);
}

#[test]
fn clock_times_go() {
    shown(
        Mask::Times,
        &[
            ("at 12:03:59 it", "at <times> it"),
            ("12:03:59.123456 x", "<times> x"),
            ("[23:59:59,001]", "[<times>]"),
            ("7:30 pm", "<times>"),
            ("7pm.", "<times>."),
            ("2026-05-28T14:38:00Z", "2026-05-28T<times>"),
            ("a-2026-05-28T14_38_00_402Z-0.log", "a-2026-05-28T<times>-0.log"),
            ("2026-05-28T14-38-00.log", "2026-05-28T<times>.log"),
            ("2026-05-28T14_x", "2026-05-28T14_x"),
            ("2026-05-28 14:38", "2026-05-28 <times>"),
            ("2026-05-28T14:38:00.5+02:00 x", "2026-05-28T<times> x"),
            ("May 28 14:38 a.txt", "May 28 <times> a.txt"),
            ("Sat Nov 22 07:49:44 UTC 2026", "Sat Nov 22 <times> 2026"),
            ("28/May/2026:14:38:00 +0200]", "28/May/2026:<times>]"),
            ("{\"created_at\": 1716912345}", "{\"created_at\": <times>}"),
            ("timestamp=1716912345123", "timestamp=<times>"),
            ("{\"updatedAt\":1716912345999}", "{\"updatedAt\":<times>}"),
            ("at 1748441880123 ok", "at <times> ok"),
        ],
    );
    left(
        Mask::Times,
        &[
            "src/a.rs:12:34: error",
            "  12:34  error  no-unused-vars",
            "ratio 16:9",
            "12:34:56:78",
            "25:61:61",
            "10 passed",
            "size 1716912345",
            "user_id=1748441880123",
            "Order No. 1748441880123",
            "at 1348441880123",
            "17484418801234",
            "1.12:03:59",
            "a12:03:59",
            "am 12 a",
        ],
    );
}

#[test]
fn dates_go() {
    shown(
        Mask::Dates,
        &[
            ("on 2026-05-28.", "on <dates>."),
            ("2026/05/28 x", "<dates> x"),
            ("05/28/2026", "<dates>"),
            ("28.05.2026", "<dates>"),
            ("May 28 14:38", "<dates> 14:38"),
            ("May  2  2026 a", "<dates> a"),
            ("28 May 2026", "<dates>"),
            ("28-May-2026", "<dates>"),
            ("September 3, 2026,", "<dates>,"),
            ("2026-05-28T14", "<dates>T14"),
            ("root 16 May 28 14:38 a.txt", "root 16 <dates> 14:38 a.txt"),
            ("root 16 May  8  2025 a.txt", "root 16 <dates> a.txt"),
            ("0 May 28", "0 <dates>"),
        ],
    );
    left(
        Mask::Dates,
        &[
            "2026-13-01",
            "1.2.3",
            "may 28",
            "You may 7",
            "9999-01-01",
            "3 Maybe",
            "Mayor 3",
            "12-34",
            "32 May",
            "May 0",
            "2026-05-281",
            "March 400",
            "10 / 20",
        ],
    );
}

#[test]
fn durations_go() {
    shown(
        Mask::Durations,
        &[
            ("finished in 0.02s", "finished in <durations>"),
            ("250 ms.", "<durations>."),
            ("1m 30s", "<durations>"),
            ("1h2m3.5s x", "<durations> x"),
            ("2h 5m", "<durations>"),
            ("took 3 minutes", "took <durations>"),
            ("31 seconds ago", "<durations> ago"),
            ("12µs", "<durations>"),
            ("real 0m1.234s", "real <durations>"),
        ],
    );
    left(
        Mask::Durations,
        &[
            "5m",
            "5 m",
            "3 steps",
            "12 MB",
            "40 %",
            "v1.2s2",
            "3 sections",
            "10 passed",
            "x5s",
            "1.5.2",
            "0.5",
            "3 hundred",
        ],
    );
}

#[test]
fn ids_and_addresses_go() {
    shown(
        Mask::Uuids,
        &[
            ("id 123e4567-e89b-12d3-a456-426614174000.", "id <uuids>."),
            ("ABCDEFAB-1234-1234-1234-ABCDEFABCDEF", "<uuids>"),
        ],
    );
    left(
        Mask::Uuids,
        &[
            "123e4567-e89b-12d3-a456-42661417400",
            "123e4567-e89b-12d3-a456-4266141740000",
            "123e4567-e89b-12d3-a456-42661417400g",
            "x-123e4567-e89b-12d3-a456-426614174000-y",
        ],
    );
    shown(
        Mask::Hashes,
        &[
            ("commit 3f2a1bc.", "commit <hashes>."),
            ("sha256:9f86d081884c7d659a2feaa0c55ad015", "sha256:<hashes>"),
            ("9F86D081884C", "<hashes>"),
        ],
    );
    left(
        Mask::Hashes,
        &[
            "1234567",
            "12345678901",
            "deadbeef",
            "3f2a1b",
            "1234e567",
            "4096000B",
            "utf8beefx",
            "3f2a1bcg",
            "0x3f2a1bc9",
        ],
    );
    shown(Mask::Addresses, &[("at 0x7ffd5e8a>", "at <addresses>>"), ("0X00FF00", "<addresses>")]);
    left(Mask::Addresses, &["0x1F", "0x10000", "0xfoo123456", "7ffd5e8a", "10x123456"]);
}

#[test]
fn process_ids_go() {
    shown(
        Mask::Pids,
        &[
            ("pid 4711 died", "pid <pids> died"),
            ("PID=4711", "PID=<pids>"),
            ("(pid: 1)", "(pid: <pids>)"),
            ("process 99 exited", "process <pids> exited"),
            ("[4711] x", "[<pids>] x"),
            ("a\n[4711] x", "a\n[<pids>] x"),
            ("sshd[42]: no", "sshd[<pids>]: no"),
            ("==4711== ERROR", "==<pids>== ERROR"),
            ("Process Group PGID: 4711", "Process Group PGID: <pids>"),
            ("process group 4711", "process group <pids>"),
            ("pgid=4711 ppid=1 tid=12", "pgid=<pids> ppid=<pids> tid=<pids>"),
            (r#"{"pid": 4711, "n": 4}"#, r#"{"pid": <pids>, "n": 4}"#),
            ("LWP 4711", "LWP <pids>"),
            ("thread id: 4711", "thread id: <pids>"),
            ("[1] 4711", "[1] <pids>"),
            ("[123] 4711", "[<pids>] 4711"),
            ("$ sleep 9 &\n[1] 4711 \n", "$ sleep 9 &\n[1] <pids> \n"),
        ],
    );
    left(
        Mask::Pids,
        &[
            "[10] x",
            "a [4711] x",
            "[4711/5000] x",
            "a[100] = 5",
            "rapid 5",
            "processes 5",
            "pid 1.5",
            "== 5 ==",
            "thread 4711",
            "group 4711",
            "uid=4711",
            "gid 4711",
            "stupid 5",
            "help 5",
            "[1] 12",
            "[1] 4711 files",
            "a[1] 4711",
            "[1]4711",
        ],
    );
}

#[test]
fn temporary_paths_go() {
    shown(
        Mask::TempPaths,
        &[
            ("/tmp/tmpab12cd_x/out.txt", "/tmp/<temp-paths>/out.txt"),
            ("open('/tmp/tmp.Xa8bcDEf12')", "open('/tmp/<temp-paths>')"),
            ("/var/tmp/rustcAbCdEf/a", "/var/tmp/<temp-paths>/a"),
            ("/tmp/pytest-of-root/pytest-12/t", "/tmp/pytest-of-root/<temp-paths>/t"),
            ("/var/folders/zz/T/tmpq1w2e3r4", "/var/folders/zz/T/<temp-paths>"),
            ("C:\\Users\\a\\Temp\\tmp1234abc.log", "C:\\Users\\a\\Temp\\<temp-paths>"),
        ],
    );
    left(
        Mask::TempPaths,
        &[
            "/tmp/build.log",
            "/tmp/test1.py",
            "/tmp/notes",
            "/home/a/tmp/tmpab12cd_x",
            "/tmp/",
            "/tmpab12cd",
        ],
    );
}

#[test]
fn what_is_masked_before_a_path_changes_nothing_of_it() {
    let once = Masks::ALL.show("7 h/tmp/tmpab12cd_x/a").to_string();
    assert_eq!(once, "<durations>/tmp/tmpab12cd_x/a");
    assert_eq!(Masks::ALL.show(&once).to_string(), once);
}

#[test]
fn local_ports_go() {
    shown(
        Mask::Ports,
        &[
            ("http://localhost:54321/x", "http://localhost:<ports>/x"),
            ("127.0.0.1:8080", "127.0.0.1:<ports>"),
            ("[::1]:9000.", "[::1]:<ports>."),
        ],
    );
    left(
        Mask::Ports,
        &["example.org:8080", "localhost 8080", "10.0.0.1:80", "localhost:1", "localhost:123456"],
    );
}

#[test]
fn inputs_of_a_notebook_go() {
    shown(
        Mask::Inputs,
        &[
            ("Cell In[12], line 7", "Cell In[<inputs>], line 7"),
            ("In [3]: x", "In [<inputs>]: x"),
            ("Out[3]: 1", "Out[<inputs>]: 1"),
            ("<ipython-input-4-aa>", "<ipython-input-<inputs>-aa>"),
        ],
    );
    left(Mask::Inputs, &["Step 3/10", "In 3", "in [3]", "In [3/4]", "input-4-aa"]);
}

#[test]
fn what_may_be_progress_stays_by_all_masks() {
    for text in [
        "40 % done",
        "12 of 100",
        "3 failed, 7 passed",
        "1024 bytes",
        "1.5 MB",
        "src/a.rs:12:34",
        "exit code 2",
        "line 7",
        "lines 100-199",
        "v1.2.3",
        "page 4",
        "HTTP 404",
        r#"{"done": 2, "of": 100}"#,
        "answer number a0x",
        "[1/10] Building",
        "[17/200] Compiling foo",
        "3 files",
        "page 2 of 9",
        "line 12",
        "exit code 1",
        "id: 17",
        "12 tokens",
        "loss 0.693, cost: 0.693",
        "Total: $45.20",
        "step 17",
        "3 files left",
    ] {
        assert_eq!(Masks::ALL.show(text).to_string(), text);
    }
}

#[test]
fn numbers_count_for_one_digest_and_not_for_the_other() {
    let [ten, eleven] = ["10 of 12", "11 of 12"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(ten.result, eleven.result);
    assert_eq!(ten.near, eleven.near);
    // Not the digits in a row, but the numbers.
    let [a, b] = ["1 23", "12 3"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(a.result, b.result);
    assert_eq!(a.near, b.near);
    let [a, b] = ["1 x", "1 y"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(a.near, b.near);
}

#[test]
fn what_is_nothing_but_volatile_is_the_answer_itself() {
    let [a, b] = ["12:03:59\n", "12:04:00\n"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(a.result, b.result);
    let [a, b] =
        ["d41d8cd98f00  -", "0cc175b9c0f1  -"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_ne!(a.result, b.result);
    let [a, b] = ["3f2a1bc9\r\n12:03:59", "\x1b[31m3f2a1bc9\x1b[0m\n12:03:59 "]
        .map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_eq!(a.result, b.result);
    let [a, b] = ["at 12:03:59", "at 12:04:00"].map(|text| Masks::ALL.digest(text.as_bytes()));
    assert_eq!(a.result, b.result);
}

#[test]
fn a_counter_of_the_hosts_is_masked_and_its_number_alone() {
    let counters = [Counter::new("round # of").expect("a counter")];
    let masker = Masks::NONE.and(&counters);
    assert_eq!(masker.show("round 7 of 9").to_string(), "round <counter> of 9");
    assert_eq!(masker.show("round 7.5 of 9").to_string(), "round <counter> of 9");
    assert_eq!(masker.show("round 7 or 9").to_string(), "round 7 or 9");
}

#[test]
fn masks_are_named_and_listed() {
    for mask in Mask::ALL {
        assert_eq!(Mask::named(mask.name()), Some(mask));
        assert!(Masks::ALL.contains(mask) && !Masks::ALL.without(mask).contains(mask));
        assert!(Masks::NONE.with(mask).iter().eq([mask]));
    }
    assert_eq!(Mask::named("none"), None);
    assert!(Masks::ALL.iter().eq(Mask::ALL));
}
