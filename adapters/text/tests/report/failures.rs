//! Failures that are told in words, and what outweighs them.

use unstuck_text::Report;

use crate::{FAILED, NOTHING, WORKED, check, check_joined, errors, tests};

#[test]
fn an_exit_status_is_read_at_either_end() {
    check(&[
        ("Exit code 1\ncat: a: no", FAILED),
        ("exit code: 127", FAILED),
        ("a\nb\n[exit status: 2]\n", FAILED),
        ("a\n(exit code -9)", FAILED),
        ("a\nEXIT=3\nexit code=3", FAILED),
        ("a\nProcess exited with code 2.", FAILED),
        ("error Command failed with exit code 1.", FAILED),
        ("[Jupyter: a]\n[Command finished with exit code 1]\n", FAILED),
        ("Chunk ID: 7\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\na\n", FAILED),
        ("Output: a\nError: (none)\nExit Code: 1\nSignal: (none)\nProcess Group PGID: 7", FAILED),
        (
            "subprocess.CalledProcessError: Command '['a', 'b']' returned non-zero exit status 128.",
            FAILED,
        ),
        ("<returncode>1</returncode>\n<output>\na\n</output>", FAILED),
        ("exitcode: 1 (execution failed)\nCode output: a\n", FAILED),
        ("exitcode: 0 (execution succeeded)\nCode output: a\n", WORKED),
        ("<returncode>0</returncode>\n<output>\na\n</output>", WORKED),
        ("a\nexit code: 0\n", WORKED),
        ("Process exited with code 0\nOutput:\na\nexit status 1", FAILED),
        ("a\nexit status 2\n", FAILED),
        ("make: *** [Makefile:2: all] Error 1", FAILED),
    ]);
}

#[test]
fn a_crash_ends_or_begins_a_result() {
    const TRACE: &str = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    main()\nValueError: not a number\n";
    const CHAIN: &str = "\nDuring handling of the above exception, another exception occurred:\n\n";
    const PANIC: &str = "thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
    const OLD: &str = "thread 'main' panicked at 'no', src/main.rs:2:5\n";
    for (parts, expected) in [
        (vec!["step 1\nstep 2\n", TRACE], FAILED),
        (vec!["step 1\n", TRACE, CHAIN, TRACE], FAILED),
        (vec![TRACE, "step 1\nstep 2\n1\n2\n3\n4\n5\n"], FAILED),
        (vec!["a\n", PANIC], FAILED),
        (vec!["a\n", OLD, "stack backtrace:\n   0: a\n   1: b\n"], FAILED),
        (vec!["a\nthread 'main' (4242) panicked at src/main.rs:2:5:\nno\n"], FAILED),
        (
            vec![
                "-----\nNameError                     Traceback (most recent call last)\n",
                "Cell In[2], line 2\n      1 a = 1\n----> 2 b\n\nFile a.py:3, in c()\n\n",
                "NameError: name 'b' is not defined\nYou have 2 steps left.\n",
            ],
            FAILED,
        ),
        (
            vec![
                "Output:\n-----\nKeyError       Traceback (most recent call last)\nKeyError: 'a'\n",
                "1\n2\n3\n4\n5\n6\n",
            ],
            FAILED,
        ),
        // The program went on, or a log quotes the failure.
        (vec!["a\n", TRACE, "retry\n1\n2\n3\n4\n5\n"], NOTHING),
        (vec!["2024-05-01 12:00:01 ERROR app: no\n", TRACE], NOTHING),
        (vec!["a\n", TRACE, "2024-05-01 12:00:02 INFO app: retry\n"], NOTHING),
        (vec![TRACE, "[INFO] retry\n"], NOTHING),
        (vec!["    Traceback (most recent call last):\n    ValueError: no\n"], NOTHING),
    ] {
        check_joined(&parts, expected);
    }
    check(&[(
        "node:internal/modules:1\n  throw err;\n\nError: no\n    at a\n\nNode.js v20.11.0\n",
        FAILED,
    )]);
}

#[test]
fn a_complaint_stands_first_or_last() {
    for complaint in [
        "bash: foo: command not found",
        "bash: line 1: foo: command not found",
        "/bin/sh: 1: foo: not found",
        "zsh: command not found: foo",
        "bash: -c: line 1: syntax error near unexpected token `)'",
        "cat: x: No such file or directory",
        "ls: cannot access 'x': No such file or directory",
        "rm: missing operand",
        "cut: option requires an argument -- 'd'",
        "find: missing argument to `-exec'",
        "Error executing query: Table 'a.b' doesn't exist",
        "tar: invalid option -- 'Q'",
        "/usr/bin/python3: No module named pytest",
        "python: can't open file '/x.py': [Errno 2] No such file or directory",
        "make: *** No rule to make target 'x'.  Stop.",
        "fatal: not a git repository (or any of the parent directories): .git",
        "error: no bin target named `x`",
        "\x1b[1m\x1b[31merror\x1b[0m: no such command: `x`",
        "Error: File does not exist.",
        "ERROR: No matching distribution found for x",
        "SyntaxError: invalid syntax",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "npm ERR! Missing script: \"x\"",
        "npm error Missing script: \"x\"",
        "Exception in thread \"main\" java.lang.NullPointerException",
    ] {
        for (before, after) in [("", ""), ("", "\na\nb\n"), ("a\nb\n", "\n")] {
            check_joined(&[before, complaint, after], FAILED);
        }
        check_joined(&["a\n", complaint, "\nb\n"], NOTHING);
    }
}

#[test]
fn a_complaint_in_free_words_opens_a_short_result() {
    for complaint in [
        "Could not find the exact text in a.rs. The old text must match exactly.",
        "Failed to fetch https://a.b/c",
        "failed to read a.txt",
        "cannot divide by zero",
        "unable to resolve host",
        "Unknown command: foo",
        "Unknown tool: bar",
        "No such table: a",
        "Invalid JSON: unexpected token",
        "missing required parameter: path",
        "Input validation error: 'x' is a required property",
        "1 validation error for Args",
        "File not found",
        "dupl not found in PATH",
        "Entity not found: Issue",
        "404 Not Found",
        "HTTP/1.1 500 Internal Server Error",
        "Request failed with status code 404",
        "Permission denied",
        "Access denied",
        "ERROR 1054 (42S22): Unknown column 'a' in 'field list'",
        "Malformed command",
        "❌ Cannot connect to the server",
        "docker: invalid reference format",
        "awk: line 1: syntax error at or near %",
    ] {
        check_joined(&[complaint], FAILED);
        check_joined(&[complaint, "\nSee the manual.\n"], FAILED);
        check_joined(&["a\n", complaint, "\n"], NOTHING);
        check_joined(&[complaint, "\n", &"a\n".repeat(40)], NOTHING);
        check_joined(&[complaint, "\nIt succeeded the second time.\n"], NOTHING);
    }
    check(&[
        ("Error executing tool read: no path", FAILED),
        ("Error: ENOENT", FAILED),
        ("Error: not_found\n", FAILED),
        ("Invalid argument", FAILED),
        ("usage: foo [-h] FILE\nfoo: error: unrecognized arguments: -x", FAILED),
        ("Usage: cal [options] [[month] year]\n", FAILED),
        ("/bin/sh: 1: Syntax error: \"(\" unexpected", FAILED),
    ]);
}

#[test]
fn a_tool_says_in_its_own_shape_that_it_failed() {
    check(&[
        ("<tool_use_error>File does not exist.</tool_use_error>", FAILED),
        ("<tool_use_error>Found 2 matches, but\na\nb</tool_use_error>", FAILED),
        (r#"{"error": "no such user"}"#, FAILED),
        (r#"{"error": {"code": 7, "message": "bad id"}}"#, FAILED),
        (r#"{"status": "error", "message": "bad id"}"#, FAILED),
        (r#"{"success": false, "error": "bad id"}"#, FAILED),
        (r#"{"exit_code": 1, "stdout": "", "stderr": "no"}"#, FAILED),
        (r#"{"exit_code": 0, "stdout": "", "stderr": ""}"#, WORKED),
        (r#"{"error": null, "data": [1]}"#, NOTHING),
        (r#"{"error": "", "response": "{'message': 'no'}"}"#, NOTHING),
        (r#"{"status": "failed", "job": 7}"#, NOTHING),
        ("EISDIR: illegal operation on a directory, read", FAILED),
        ("rg: a: No such file or directory (os error 2)", FAILED),
        ("curl: (6) Could not resolve host: a.b", FAILED),
        ("String to replace not found in file.\nString: a\nb\n", FAILED),
        ("zsh:1: no matches found: *.x", FAILED),
    ]);
}

#[test]
fn a_refusal_is_a_failure() {
    check(&[
        ("The user doesn't want to proceed with this tool use. The tool use was rejected.", FAILED),
        ("Permission to use Edit has been denied.", FAILED),
        ("Request rejected", FAILED),
        ("Command denied by policy", FAILED),
        ("This command requires approval", FAILED),
        ("File has not been read yet. Read it first before writing to it.", FAILED),
        ("File has been modified since read, either by the user or by a linter.", FAILED),
    ]);
}

#[test]
fn a_time_out_is_a_failure_of_its_own_kind() {
    const TIMED_OUT: Report = Report { timed_out: true, ..FAILED };
    check(&[
        ("Command timed out after 120s", TIMED_OUT),
        ("a\nb\nCommand timed out after 2m 0.0s", TIMED_OUT),
        ("Command timed out after 120 seconds\na\nb\n", TIMED_OUT),
        ("timeout", TIMED_OUT),
        ("Error: connect ETIMEDOUT 10.0.0.1:443", TIMED_OUT),
        ("context deadline exceeded", TIMED_OUT),
        ("a\nexit code 124", TIMED_OUT),
        ("TimeoutError: locator.click: Timeout 5000ms exceeded.\n  - waiting\n", TIMED_OUT),
        ("requests.exceptions.ReadTimeout: Read timed out.", TIMED_OUT),
        ("504 Gateway Timeout", TIMED_OUT),
        (r#"{"error": "the request timed out"}"#, TIMED_OUT),
        ("exit code 1", FAILED),
        ("a\ntimed out once, then it worked\nb", NOTHING),
        ("Timed out\nexit code: 0", WORKED),
        ("timeout: 30\nretries: 3\n", NOTHING),
        ("How to handle a timeout\n\nSay when.\n", NOTHING),
        ("12:00:01 request timed out", NOTHING),
        ("request timed out\n12:00:02 INFO retry\n", NOTHING),
        ("<retrieval_status>timeout</retrieval_status>\n<status>running</status>", NOTHING),
    ]);
}

#[test]
fn what_weighs_more_decides() {
    check(&[
        // Tests that fail, and errors, outweigh the exit status of a pipe.
        ("=== 1 failed in 0.10s ===\nexit code: 0", tests(1)),
        ("1 error generated.\nexit code: 0", errors(1)),
        // An exit status outweighs tests that pass, and both outweigh words.
        ("=== 1 passed in 0.10s ===\nERROR: Coverage failure: too low\nexit code: 2", {
            let mut report = tests(0);
            report.failed = Some(true);
            report
        }),
        ("=== 1 passed in 0.10s ===\ncat: x: No such file or directory", tests(0)),
        ("cat: x: No such file or directory\nexit code: 0", WORKED),
    ]);
}
