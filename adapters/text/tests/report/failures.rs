//! Failures that are told in words, and what outweighs them.

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
        // It went on, or is told of in a log.
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
        "Command timed out after 120 seconds",
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
