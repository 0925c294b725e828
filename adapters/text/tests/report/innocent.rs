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
            "2024-05-01 12:00:01 ready\n2024-05-01 12:00:02 Error: lost the connection, trying again\n",
            NOTHING,
        ),
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

#[test]
fn texts_that_open_with_the_words_of_a_complaint_are_no_failures() {
    check(&[
        // Source code and settings.
        ("Invalid = \"invalid\"\nUnknown = \"unknown\"\n", NOTHING),
        ("cannot_be_empty = true\n", NOTHING),
        ("// Cannot happen: the list is full.\nfn a() {}\n", NOTHING),
        ("# could not be simpler\nx = 1\n", NOTHING),
        ("raise NotFound(name)  # file not found\n", NOTHING),
        ("\"Failed to read {path}\",\n\"Failed to write {path}\",\n", NOTHING),
        ("Unknown,\nInvalid,\nNotFound,\n", NOTHING),
        ("usage: &str,\n", NOTHING),
        ("90→\t// Returns nil if it does not exist.\n", NOTHING),
        // Lists, tables and counts.
        ("Invalid rows\nrow 3\nrow 9\n", NOTHING),
        ("Unsupported formats:\n- a\n- b\n", NOTHING),
        ("Failed to parse: 0\nparsed: 12\n", NOTHING),
        ("Invalid entries: 0", NOTHING),
        ("Errors: 0\nWarnings: 0\n", NOTHING),
        ("unknown_hosts.txt\nknown_hosts.txt\n", NOTHING),
        ("not-found.html\nindex.html\n", NOTHING),
        ("404.html\n500.html\n", NOTHING),
        ("404 pages\n", NOTHING),
        ("500 files copied\n", NOTHING),
        // Search hits and differences.
        ("src/a.rs:3: Failed to read the file\n", NOTHING),
        ("3: Could not read\n9: Could not write\n", NOTHING),
        ("3-cannot read\n", NOTHING),
        ("+Could not read\n-Cannot read\n", NOTHING),
        ("+ error: no such file\n", NOTHING),
        ("> Access denied\n", NOTHING),
        ("| Invalid | 3 |\n", NOTHING),
        // Documents and titles.
        ("# Permission denied\n\nWhat to do then.\n", NOTHING),
        ("* Invalid tokens are now refused\n* Unknown options too\n", NOTHING),
        ("- Permission denied\n- Access denied\n", NOTHING),
        ("Unknown Pleasures\n", NOTHING),
        ("Error handling\n\nErrors are values.\n", NOTHING),
        ("Error handling in Go\n", NOTHING),
        ("Usage: tool [options] [command]\n\nOptions:\n  -h, --help  Show this\n", NOTHING),
        (
            "usage: tool [-h] file\n\npositional arguments:\n  file\n\noptions:\n  -h, --help  show\n",
            NOTHING,
        ),
        ("Could it not be found?\n", NOTHING),
        ("Unable to find image 'a:latest' locally\nlatest: Pulling from a\n", NOTHING),
        ("No missing file was not found\n", NOTHING),
        // Commits.
        ("1234567 fix: file not found\n", NOTHING),
        ("fix: file not found\n", NOTHING),
        ("[main 1234567] Say that the file does not exist\n 1 file changed\n", NOTHING),
        ("fix/unknown-command\nmain\n", NOTHING),
        // Logs.
        ("Failed to connect, trying again\n12:00:02 INFO ready\n", NOTHING),
        ("[INFO] Could not connect, trying again\nready\n", NOTHING),
        // Successes.
        ("Failed to connect\nTrying again\nDone.\n", NOTHING),
        ("The file a.rs has been updated:\nerror: String\n", NOTHING),
        ("File created successfully at: a/errors.py", NOTHING),
        ("Task #2 created successfully: Fix inconsistent error message", NOTHING),
        (r#"User has answered your questions: "Which error?"="file not found""#, NOTHING),
        ("0 errors, 0 warnings", NOTHING),
        ("No errors found", NOTHING),
        // Searches that found nothing.
        ("No matches found", NOTHING),
        ("No files found", NOTHING),
        ("0 results", NOTHING),
        ("[]", NOTHING),
        // Talk of refusals.
        ("The refund requires approval by a manager.", NOTHING),
        ("allow: edit\ndeny: bash\n", NOTHING),
        // Objects.
        (r#"{"name": "error", "level": "fatal"}"#, NOTHING),
        (r#"{"items": [{"error": "one of many"}]}"#, NOTHING),
        (r#"{"error": 0.034, "epoch": 3}"#, NOTHING),
        (r#"[{"error": "in a list"}]"#, NOTHING),
        (r#"{"errorRate": 0.5, "errors": 0}"#, NOTHING),
    ]);
}
