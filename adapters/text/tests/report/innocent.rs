//! Texts that only hold the words of failures: source code, documents, logs, search hits.

use crate::{NOTHING, check};

#[test]
fn source_code_is_no_failure() {
    check(&[
        ("fn fail() {\n    panic!(\"thread 'main' panicked at src/main.rs\");\n}\n", NOTHING),
        (
            "try:\n    main()\nexcept ValueError as error:\n    print(\"Traceback (most recent call last):\")\n",
            NOTHING,
        ),
        ("     1\tTraceback (most recent call last):\n     2\tValueError: no\n", NOTHING),
        ("a\n# CHECK: error: command failed with exit status: 1\n", NOTHING),
        ("!!! Your file was made a long time ago. !!!\n", NOTHING),
        ("// exit code: 1\nint main() { return 1; } // exit code 1\n", NOTHING),
        (
            "assert \"1 failed, 2 passed in 0.1s\" in out\nresult.stdout.fnmatch(['*= 1 failed in *'])\n",
            NOTHING,
        ),
        ("error: string;\nmessage: string;\n", NOTHING),
        ("error: true\nretries: 3\n", NOTHING),
        ("export default {\n  error: 'no such file',\n  Error: no_such,\n}\n", NOTHING),
        ("#define EXIT_FAILURE 1 /* exit status 1 */\n", NOTHING),
        ("case 127: return \"bash: foo: command not found\";\n", NOTHING),
        ("perror(\"cat: x: No such file or directory\");\n", NOTHING),
        ("class ParseError(Exception):\n    pass\n\n\nclass TypeError: ...\n", NOTHING),
        ("echo \"error: could not compile \\`a\\` due to 2 previous errors\"\n", NOTHING),
        ("const FAIL: &str = \"--- FAIL: TestA (0.00s)\";\n", NOTHING),
    ]);
}

#[test]
fn documents_are_no_failures() {
    check(&[
        ("# Errors\n\nIt ends with exit code 1 if a file is missing.\n\nSee below.\n", NOTHING),
        ("# Exit codes\n\nFailure returns exit code 1.\n", NOTHING),
        ("0 nothing found, 1 a finding; never exit code 2", NOTHING),
        (
            "Run it:\n\n```console\n$ pytest\n=== 2 failed, 5 passed in 0.12s ===\n```\n\nThen mend it.\n",
            NOTHING,
        ),
        ("# Panics\n\n```text\nthread 'main' panicked at src/main.rs:2:5:\nno\n```\n", NOTHING),
        ("# Build\n\n~ if you see\n\n```\na.c:3:5: error: no\n```\n\nthen wait.\n", NOTHING),
        (
            "<!DOCTYPE html>\n<pre>\n=== 2 failed in 0.12s ===\nerror: aborting due to 2 previous errors\n</pre>",
            NOTHING,
        ),
        ("Note: nothing cannot be undone: File exists already.\n", NOTHING),
        ("3 passed the exam in 2.5 hours\n2 failed\n", NOTHING),
        ("Found 3 errors in the draft that you sent.\n", NOTHING),
        ("Tests: 2 failed of them in total\nTest Suites: none\n", NOTHING),
        ("The error: nobody had looked.\nThe fatal: flaw.\n", NOTHING),
        ("it works, ok 1 is fine\nnot ok 2 - this is not\n", NOTHING),
        ("Ran 3 tests in 0.001s is what it says, and then OK\n", NOTHING),
    ]);
}

#[test]
fn logs_are_no_failures() {
    check(&[
        ("2024-05-01 12:00:01 INFO start\n2024-05-01 12:00:02 ERROR exit status 1\n", NOTHING),
        ("12:00:01 ready\nError: lost the connection, trying again\n12:00:03 ready\n", NOTHING),
        ("INFO ready\nError: lost the connection, trying again\n", NOTHING),
        ("Error: lost the connection, trying again\n[WARN] slow\n", NOTHING),
        ("2024-05-01T12:00:01Z thread 'main' panicked at src/main.rs:2:5\n", NOTHING),
        (
            "commit 1234\nAuthor: A\n\n    error: say what is wrong\n\n    Exit code 1 is no more.\n",
            NOTHING,
        ),
        ("* 1234567 fatal: is no word\n* 2345678 fix: exit code 1\n", NOTHING),
        ("+error: no such file here\n-Error: no such file there\n", NOTHING),
        ("job  state  code\na    done   exit code 0 or 1, 1\n", NOTHING),
    ]);
}

#[test]
fn search_hits_are_no_failures() {
    check(&[
        ("src/a.py:3:Traceback (most recent call last):\nsrc/a.py:4:ValueError: no\n", NOTHING),
        ("build.log:3:a.c:3:5: error: no\nbuild.log:9:2 errors generated.\n", NOTHING),
        ("3:a.c:3:5: error: no\n", NOTHING),
        ("src/a.sh:9:cat: x: No such file or directory\n", NOTHING),
        ("src/a.rs:7:    error: String,\nsrc/b.rs:8:fatal: no such thing\n", NOTHING),
        ("ci.log:99:=== 2 failed, 5 passed in 0.12s ===\n", NOTHING),
        ("ci.log:99:test result: FAILED. 1 passed; 2 failed; 0 ignored\n", NOTHING),
        ("a.py: x = 1\na.py: y = 2\ngrep: write error: Broken pipe\n", NOTHING),
        ("ci.yml:9: exit code: 1\nci.yml:10: exit status 1\n", NOTHING),
        ("notes.md-12-Process exited with code 2\n", NOTHING),
        ("", NOTHING),
        ("\n \n", NOTHING),
    ]);
}
