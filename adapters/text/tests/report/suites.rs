//! Test runners and compilers, in the shapes of their versions.

use crate::{FAILED, NOTHING, WORKED, check, check_joined, errors, tests};

#[test]
fn pytest_counts_on_its_last_line() {
    check(&[
        ("....\n4 passed in 0.03s\n", tests(0)),
        ("=================== 4 passed in 0.03 seconds ===================\n", tests(0)),
        ("========= 2 failed, 5 passed, 1 warning in 62.50s (0:01:02) =========", tests(2)),
        (
            "\x1b[31m==== \x1b[1m2 failed\x1b[0m, \x1b[32m5 passed\x1b[0m in 0.1s ====\x1b[0m",
            tests(2),
        ),
        ("=== 1 failed, 3 passed, 2 skipped, 1 xfailed, 1 xpassed, 2 rerun in 1.20s ===", tests(1)),
        ("=== 1 passed, 2 errors in 0.20s ===", tests(2)),
        ("=== 1 failed, 2 passed, 1 error in 0.20s ===", tests(2)),
        ("=== 1 failed, 2 passed, 3 subtests passed in 0.20s ===", tests(1)),
        ("=== 3 passed, 40 deselected in 0.20s ===", tests(0)),
        ("=== 2 passed in 0.10s ===\n=== 1 failed, 1 passed in 0.10s ===", tests(1)),
        ("=== 2 skipped in 0.10s ===", WORKED),
    ]);
}

#[test]
fn pytest_that_did_not_run_everything_counts_nothing() {
    check(&[
        ("==== no tests ran in 0.01s ====", FAILED),
        ("==== 12 deselected in 0.01s ====", FAILED),
        ("==== no tests collected, 1 error in 0.10s ====", FAILED),
        (
            "==== ERRORS ====\n____ ERROR collecting tests/test_a.py ____\n\
             ImportError while importing test module '/app/tests/test_a.py'.\n\
             !!!!!!!! Interrupted: 1 error during collection !!!!!!!!\n\
             ==== 1 error in 0.12s ====",
            FAILED,
        ),
        ("==== 2 errors in 0.12s ====", FAILED),
        (
            "____ ERROR collecting tests/test_b.py ____\n==== 1 passed, 1 error in 0.12s ====",
            FAILED,
        ),
        ("!!!! stopping after 1 failures !!!!\n==== 1 failed, 3 passed in 0.12s ====", FAILED),
        ("!!!! KeyboardInterrupt !!!!\n==== 3 passed in 0.12s ====", FAILED),
        (
            "ImportError while loading conftest '/app/tests/conftest.py'.\ntests/conftest.py:1: in <module>",
            FAILED,
        ),
        ("INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR> KeyError: 'a'", FAILED),
    ]);
}

#[test]
fn unittest_gives_its_verdict_behind_the_count() {
    const RULE: &str = "----------------------------------------------------------------------";
    for (text, expected) in [
        ("Ran 3 tests in 0.001s\n\nOK", tests(0)),
        ("Ran 1 test in 0.001s\n\nOK (skipped=1)", tests(0)),
        ("Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=2, skipped=1)", tests(3)),
        ("Ran 5 tests in 0.001s\n\nFAILED (errors=1)\nDestroying test database...", tests(1)),
        ("Ran 5 tests in 0.001s\n\nFAILED (unexpected successes=1)", tests(1)),
        ("Ran 0 tests in 0.000s\n\nOK", WORKED),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", FAILED),
        ("Ran 0 tests in 0.000s\n\nFAILED (errors=1)", FAILED),
    ] {
        check_joined(&[RULE, "\n", text], expected);
    }
    check(&[
        (
            "ERROR: tests.test_a (unittest.loader._FailedTest.tests.test_a)\nImportError: x\n\
             Ran 4 tests in 0.001s\n\nFAILED (errors=1)",
            FAILED,
        ),
        (
            "ERROR: setUpClass (tests.test_a.Suite)\nRan 4 tests in 0.001s\n\nFAILED (errors=1)",
            FAILED,
        ),
        ("OK\nFAILED (failures=2)", NOTHING),
    ]);
}

#[test]
fn cargo_test_counts_in_each_binary() {
    const OK: &str = "running 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    const BAD: &str = "running 3 tests\n.FF\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n";
    const EMPTY: &str = "running 0 tests\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out; finished in 0.00s\n";
    const RERUN: &str = "error: test failed, to rerun pass `--lib`\n";
    for (parts, expected) in [
        (vec![OK, OK, EMPTY], tests(0)),
        (vec![OK, BAD, BAD, RERUN], tests(4)),
        (vec![EMPTY, EMPTY], WORKED),
        // Cut off before its end, or in the middle.
        (vec![OK, "running 12 tests\ntest a ... ok\n"], NOTHING),
        (vec![OK, "running 12 tests\ntest a ... ok\n", OK], NOTHING),
        (vec!["running 12 tests\n", BAD, RERUN], FAILED),
        (
            vec![
                OK,
                "running 3 tests\n",
                RERUN,
                "Caused by:\n  process didn't exit successfully: `target/debug/deps/a` (signal: 6, SIGABRT: process abort signal)\n",
            ],
            FAILED,
        ),
        (
            vec![OK, "error: could not compile `a` (test \"b\") due to 2 previous errors\n"],
            errors(2),
        ),
    ] {
        check_joined(&parts, expected);
    }
}

#[test]
fn nextest_counts_in_its_summary() {
    check(&[
        ("     Summary [   0.005s] 3 tests run: 3 passed, 0 skipped", tests(0)),
        ("     Summary [   0.005s] 1 test run: 1 passed (1 slow), 4 skipped", tests(0)),
        (
            "     Summary [   1.005s] 7 tests run: 2 passed (1 slow, 1 leaky), 2 failed, 1 timed out, 2 exec failed, 0 skipped\n        FAIL [   0.003s] app::b c\nerror: test run failed",
            tests(5),
        ),
        ("     Summary [   0.005s] 3/8 tests run: 2 passed, 1 failed, 0 skipped", FAILED),
        (
            "     Summary [   0.000s] 0 tests run: 0 passed, 8 skipped\nerror: no tests to run",
            FAILED,
        ),
    ]);
}

#[test]
fn jest_counts_files_and_tests() {
    check(&[
        (
            "Test Suites: 2 passed, 2 total\nTests:       7 passed, 7 total\nSnapshots:   0 total\n",
            tests(0),
        ),
        (
            "Test Suites: 1 failed, 2 passed, 3 total\nTests:       2 failed, 1 skipped, 1 todo, 5 passed, 9 total\n",
            tests(2),
        ),
        (
            "  ● Test suite failed to run\nTest Suites: 2 failed, 1 passed, 3 total\nTests:       1 failed, 5 passed, 6 total\n",
            FAILED,
        ),
        ("Test Suites: 1 failed, 1 total\nTests:       0 total\n", FAILED),
        ("Test Suites: 1 failed, 1 of 3 total\nTests:       2 failed, 2 total\n", FAILED),
        ("No tests found, exiting with code 1\nRun with `--passWithNoTests`", FAILED),
        ("Tests: all of them, in total", NOTHING),
    ]);
}

#[test]
fn vitest_counts_files_and_tests() {
    check(&[
        (
            " Test Files  2 passed (2)\n      Tests  7 passed (7)\n   Start at  12:00:00\n   Duration  1.02s\n",
            tests(0),
        ),
        (
            " Test Files  1 failed | 1 passed (2)\n      Tests  2 failed | 4 passed | 1 skipped | 1 todo (8)\n",
            tests(2),
        ),
        (" Test Files  1 failed | 1 passed (2)\n      Tests  4 passed (4)\n", FAILED),
        (" Test Files  1 failed (1)\n      Tests  no tests\n", FAILED),
        (" Test Files  1 passed (1)\n      Tests  4 passed (4)\n     Errors  1 error\n", FAILED),
        ("No test files found, exiting with code 1\n", FAILED),
        ("      Tests  2 failed (8)\n", NOTHING),
    ]);
}

#[test]
fn go_names_what_fails_and_its_package() {
    const BAD: &str = "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n        a_test.go:7: no\n--- FAIL: TestC (0.01s)\nFAIL\n";
    for (parts, expected) in [
        (vec!["PASS\nok  \texample.com/a\t0.003s\n"], tests(0)),
        (vec!["ok  \texample.com/a\t(cached)\n?   \texample.com/b\t[no test files]\n"], tests(0)),
        (vec!["ok  \texample.com/a\t0.003s [no tests to run]\n"], WORKED),
        (vec![BAD, "FAIL\texample.com/a\t0.005s\nok  \texample.com/b\t0.003s\nFAIL\n"], tests(2)),
        (vec![BAD, "FAIL    example.com/a    0.005s\n", BAD, "FAIL\tb\t0.1s\nFAIL\n"], tests(4)),
        (vec!["ok  \texample.com/b\t0.003s\nFAIL\texample.com/a [build failed]\n"], FAILED),
        (vec!["FAIL\texample.com/a [setup failed]\nFAIL\n"], FAILED),
        (vec![BAD, "panic: nil [recovered]\n\ngoroutine 7 [running]:\nFAIL\ta\t0.005s\n"], FAILED),
        (vec![BAD, "FAIL\ta\t0.005s\nFAIL\tb\t0.002s\n"], FAILED),
        (vec![BAD], FAILED),
    ] {
        check_joined(&parts, expected);
    }
}

#[test]
fn tap_counts_tests_against_its_plan() {
    check(&[
        ("TAP version 13\n1..2\nok 1 - a\nok 2 - b\n", tests(0)),
        ("1..3\nnot ok 1 - a\nok 2 b\nnot ok 3\n", tests(2)),
        ("ok 1 - a\n    not ok 1 - inner\nnot ok 2 - b\n1..2\n# fail 1\n", tests(1)),
        ("1..3\nok 1\nnot ok 2 - b # TODO later\nnot ok 3 - c # skip no net\n", tests(0)),
        ("1..2\nok 1 # SKIP\nok 2 # Skipped: no net\n", WORKED),
        ("1..9\nok 1\nok 2\n", NOTHING),
        ("1..9\nok 1\nnot ok 2\n", FAILED),
        ("1..9\nok 1\nBail out! no database\n", FAILED),
        ("not ok 1 - no plan\n", NOTHING),
        ("1..4 are the rows\nok then\nnot ok at all\n", NOTHING),
    ]);
}

#[test]
fn junit_counts_in_attributes() {
    check(&[
        (
            r#"<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" errors="1" failures="2" skipped="0" tests="9"><testcase/></testsuite></testsuites>"#,
            tests(3),
        ),
        (
            "<testsuites tests=\"4\" failures=\"1\" errors=\"0\">\n  <testsuite tests=\"4\" failures=\"1\" errors=\"0\"/>\n</testsuites>",
            tests(1),
        ),
        (
            "<testsuites><testsuite tests=\"2\" failures=\"1\"><testsuite tests=\"2\" failures=\"1\"/></testsuite>\n<testsuite tests=\"3\" failures=\"1\"></testsuite></testsuites>",
            tests(2),
        ),
        (r#"<testsuite tests="3" failures="0" errors="0" skipped="1"/>"#, tests(0)),
        (r#"<testsuite tests="1" failures="0" errors="1"/>"#, FAILED),
        (r#"<html><testsuite tests="1" failures="1"/>"#, NOTHING),
        ("The attribute <testsuite failures=\"3\"> is a count.", NOTHING),
    ]);
}

#[test]
fn compilers_count_errors_and_no_tests() {
    check(&[
        ("error: could not compile `app` (bin \"app\") due to 1 previous error\n", errors(1)),
        ("error: could not compile `app` due to previous error\n", errors(1)),
        (
            "error: could not compile `app` (lib) due to 3 previous errors; 2 warnings emitted\nwarning: build failed, waiting for other jobs to finish...\nerror: could not compile `app` (lib test) due to 4 previous errors\n",
            errors(4),
        ),
        (
            "error: aborting due to 2 previous errors; 1 warning emitted\n\nFor more information",
            errors(2),
        ),
        (
            "a.c:3:5: error: use of undeclared identifier 'x'\n    3 |     x;\n1 warning and 2 errors generated.\n",
            errors(2),
        ),
        ("1 error generated.\n2 errors generated.\n", errors(3)),
        ("1 warning generated.\n", NOTHING),
        (
            "a.c: In function 'main':\na.c:3:5: error: 'x' undeclared\na.c:3:5: note: reported once\nb.c:1:10: fatal error: b.h: No such file or directory\n",
            FAILED,
        ),
        // The number of lines that `head` printed.
        ("src/a.ts(3,5): error TS2322: no\nsrc/b.ts(9,1): error TS2304: no\n", FAILED),
        ("src/a.ts:3:5 - error TS2322: no\n\nFound 1 error in src/a.ts:3\n", errors(1)),
        ("Found 3 errors in 2 files.\n\nErrors  Files\n     2  a.ts:1\n", errors(3)),
        ("Found 3 errors in the same file, starting at: src/a.ts:3\n", errors(3)),
        (
            "a.py:3: error: no  [arg-type]\nFound 1 error in 1 file (checked 2 source files)\n",
            errors(1),
        ),
        ("Found 2 errors.\n[*] 1 fixable with the `--fix` option.\n", errors(2)),
        ("Found 0 errors. Watching for file changes.\n", NOTHING),
        // The output of a compiler under test belongs to the test.
        ("a.c:3:5: error: no\n1 error generated.\n=== 4 passed in 0.03s ===\n", tests(0)),
    ]);
}
