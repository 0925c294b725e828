// The scenarios that an integration passes, with a scripted model that stands in for a real one.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Guard } from "unstuck";

/** The arguments of a call of `read_file` that fails. */
export const MISSING = { path: "missing.txt" };

/** The last answer of each script. */
export const DONE = "done";

const SAME = "You have made the same `read_file` call";
export const NOTE = `[unstuck] ${SAME} 3 times in a row`;
export const REFUSAL = `[unstuck] This call was not run. ${SAME} 6 times in a row`;
export const STOP = `[unstuck] This call was not run. ${SAME} 8 times in a row`;

/** A turn of the model is text, or the arguments of the calls of `read_file` that it issues together. */
export const HEALTHY = [
  [{ path: "a.txt" }],
  [{ path: "b.txt" }, { path: "c.txt" }],
  [MISSING],
  [{ path: "d.txt" }],
  DONE,
];

/** The same failing call in `times` turns, and the last answer. */
export const failing = (times) => [...Array(times).fill([MISSING]), DONE];

/** What one run did. */
export class Played {
  /** The messages of each request to the model, as text. Ids that differ in each run are left out. */
  requests = [];
  /** The paths that the tool was asked for, if it ran. */
  ran = [];
  /** The last text of the run, or the message of the exception that ended it. */
  end = "";
}

/** The work of the tool. It throws for names that begin with `missing`. */
export function readFile(path) {
  if (path.startsWith("missing")) throw new Error(`no such file: ${path}`);
  return `content of ${path}`;
}

/**
 * Defines the tests of an integration. `play(scripts, { options, called })` plays each script in a run of its own,
 * at the same time, with one shared adapter that has these options, or without any if `options` is `null`. The
 * model calls the tool `called`. A test in `except` is left out, because the framework cannot pass it; `only` chooses
 * tests by their titles.
 */
export function scenarios(name, play, { tool = "read_file", except = [], only = /./, seesUnknown = false } = {}) {
  const about = (message) => message.replaceAll("read_file", tool);
  const playOne = async (script, options = {}, called = tool) =>
    (await play([script], { options, called }))[0];
  const define = (title, run) => {
    if (!except.includes(title) && only.test(title)) test(`${name}: ${title}`, run);
  };

  define("the model reads the note", async () => {
    const played = await playOne(failing(3));
    assert.equal(played.requests.length, 4);
    assert.ok(!played.requests[2].includes("[unstuck]"));
    assert.ok(played.requests[3].includes(about(NOTE)), played.requests[3]);
    assert.ok(played.requests[3].includes("no such file: missing.txt"));
    assert.equal(played.end, DONE);
  });

  define("a repeated failing call is refused", async () => {
    const played = await playOne(failing(6));
    assert.deepEqual(played.ran, Array(5).fill("missing.txt"));
    assert.ok(!played.requests[5].includes(about(REFUSAL)));
    assert.ok(played.requests[6].includes(about(REFUSAL)), played.requests[6]);
    assert.equal(played.end, DONE);
  });

  define("the run ends", async () => {
    const played = await playOne(failing(12));
    assert.equal(played.requests.length, 8);
    assert.deepEqual(played.ran, Array(5).fill("missing.txt"));
    assert.ok(played.end.startsWith(about(STOP)), played.end);
  });

  define("a healthy run is untouched", async () => {
    const [watched, alone] = [await playOne(HEALTHY), await playOne(HEALTHY, null)];
    assert.equal(alone.requests.length, 5);
    assert.deepEqual([watched.requests, watched.end], [alone.requests, alone.end]);
    assert.deepEqual(watched.ran.sort(), alone.ran.sort());
  });

  define("a guard that observes changes nothing", async () => {
    const [watched, alone] = [await playOne(failing(9), { observe: true }), await playOne(failing(9), null)];
    assert.deepEqual([watched.requests, watched.ran, watched.end], [alone.requests, alone.ran, alone.end]);
  });

  define("concurrent runs do not mix", async () => {
    // The runs fail at different steps, so one guard for all would count them all.
    const [a, b] = [[{ path: "a.txt" }], [{ path: "b.txt" }]];
    const scripts = [failing(2), [a, ...failing(2)], [a, b, ...failing(2)], failing(3)];
    const played = await play(scripts, { options: {}, called: tool });
    const noted = played.map(({ requests }) => requests.at(-1).includes(about(NOTE)));
    assert.deepEqual(noted, [false, false, false, true]);
  });

  define("parallel calls are one step", async () => {
    const played = await playOne([Array(4).fill(MISSING), DONE]);
    assert.deepEqual(played.ran, Array(4).fill("missing.txt"));
    assert.equal(played.requests.length, 2);
    assert.ok(!played.requests[1].includes("[unstuck]"));
  });

  define("three steps of parallel calls are three", async () => {
    const played = await playOne([...Array(3).fill([MISSING, MISSING]), DONE]);
    assert.ok(!played.requests[2].includes("[unstuck]"));
    assert.ok(played.requests[3].includes(about(NOTE)), played.requests[3]);
  });

  for (const method of ["before", "after"]) {
    define(`a defect of ${method} lets calls run`, async () => {
      const broken = mock.method(Guard.prototype, method, () => {
        throw new Error("a defect");
      });
      const log = mock.method(console, "error", () => {});
      try {
        const played = await playOne(failing(9));
        assert.deepEqual(played.ran, Array(9).fill("missing.txt"));
        assert.equal(played.end, DONE);
        assert.ok(!played.requests.at(-1).includes("[unstuck]"));
        assert.ok(broken.mock.callCount() > 0);
        const ours = log.mock.calls.filter((call) => String(call.arguments[0]).includes("unstuck"));
        assert.equal(ours.length, 1);
      } finally {
        broken.mock.restore();
        log.mock.restore();
      }
    });
  }

  if (!seesUnknown) return;
  define("an unknown tool is a failing call", async () => {
    const played = await playOne(failing(6), {}, "write_file");
    assert.ok(played.requests[3].includes(NOTE.replace("read_file", "write_file")), played.requests[3]);
    assert.ok(played.requests[6].includes(REFUSAL.replace("read_file", "write_file")), played.requests[6]);
  });
}
