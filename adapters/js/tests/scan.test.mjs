// Recorded runs: the findings are those of the program.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { PolicyError, scan } from "unstuck";

const CALL = '{"type":"call","tool":"bash","args":{"command":"make"},"result":"no rule","is_error":true}\n';

/** The program `unstuck`, and the folders of runs that both scan. */
const { UNSTUCK_PROGRAM: program, UNSTUCK_RUNS: runs = "" } = process.env;

test("a loop is found", () => {
  const run = scan(CALL.repeat(4));
  const { findings, ...rest } = run;
  assert.deepEqual(rest, {
    stuck: true,
    format: "native",
    session: null,
    calls: 4,
    workers: 1,
    errors: 4,
    skipped: 0,
    problems: [],
  });
  assert.equal(findings.length, 1);
  assert.equal(String(findings[0]), "`bash` 3 times in a row, failing alike");
  assert.deepEqual(findings[0].calls, [0, 1, 2]);
  assert.deepEqual(findings[0].proof[0], { call: 0, tool: "bash", text: '{"command":"make"}' });
  assert.deepEqual(scan(new TextEncoder().encode(CALL.repeat(4))), run);
});

test("options are those of a guard", () => {
  assert.equal(scan(CALL.repeat(4), { tools: { bash: { exempt: true } } }).stuck, false);
  assert.equal(scan(CALL.repeat(4), { format: "native" }).stuck, true);
  assert.throws(() => scan(CALL, { preset: "oops" }), PolicyError);
  assert.throws(() => scan(CALL, { format: "oops" }), PolicyError);
});

test("secrets are masked", () => {
  const { findings } = scan(CALL.replace("make", "curl -H 'Authorization: Bearer abcdef0123456789'").repeat(4));
  assert.ok(findings[0].proof.every(({ text }) => !text.includes("abcdef0123456789")));
});

test("what is no run is an error, and a bad line is a problem", () => {
  for (const wrong of ["", "no run", new Uint8Array([0xff, 0xfe]), "[".repeat(100_000)]) {
    assert.throws(() => scan(wrong), Error);
  }
  const { skipped, problems } = scan(`${CALL}oops\n${CALL}`);
  assert.equal(skipped, 1);
  assert.match(problems[0], /line 2/);
});

test("the findings are those of the program", { skip: program ? false : "UNSTUCK_PROGRAM names none" }, () => {
  const folders = runs.split(":").filter(Boolean);
  const { status, stdout: lines } = spawnSync(program, ["scan", "--format", "jsonl", "--fail-on", "never", ...folders], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  // 3: a file of the folders is no run.
  assert.ok(status === 0 || status === 3, `the program ended with ${status}`);
  let compared = 0;
  for (const line of lines.split("\n").filter(Boolean)) {
    const { path, error, format, session = null, calls, workers, errors = null, findings } = JSON.parse(line);
    if (error !== undefined) continue;
    const run = scan(readFileSync(path));
    assert.deepEqual(
      { format: run.format, session: run.session, calls: run.calls, workers: run.workers, errors: run.errors },
      { format, session, calls, workers, errors },
      path,
    );
    const seen = run.findings.map(({ rule, kind, action, tool, worker, period, laps, at, id, confidence, message }) => (
      { rule, kind, action, tool, worker, period, laps, at, loop: id, confidence, message }
    ));
    const expected = findings.map(({ rule, kind, action, tool, worker, period, laps, at_call, at_message, loop, confidence, message }) => (
      { rule, kind, action, tool: tool ?? "", worker, period, laps, at: at_call ?? at_message, loop, confidence, message }
    ));
    assert.deepEqual(seen, expected, path);
    compared += 1;
  }
  console.log(`${compared} runs compared`);
  assert.ok(compared > 0);
});
