// Someone else who looks at a loop, and calls that only repeat.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Guard, Guards, PolicyError, Stuck } from "unstuck";

const QUESTION =
  "[unstuck] The model that works here is stuck, and you take its next turn. It was told: You have made the same " +
  "`bash` call 5 times in a row, and it fails in the same way each time. Write down what you know and what you need, " +
  "then take a smaller step or ask the user. The call is blocked from here on: do not retry it. What would you do " +
  "instead?";

/** Makes equal failing calls. Returns the decisions on the results, and on the calls that did not run. */
function fail(guard, times, target = "all") {
  return Array.from({ length: times }, () => {
    const before = guard.before("bash", `make ${target}`);
    return before.blocked ? before : guard.after(before.ticket, `no rule for ${target}`, { error: true });
  });
}

test("by default, nobody is asked", () => {
  assert.deepEqual(fail(new Guard(), 8).map(({ question }) => question), Array(8).fill(undefined));
});

test("a decision has the question once, and a session has at most so many", () => {
  const guard = new Guard({ escalate: 2 });
  const asked = ["a", "b", "c"].map((target) => fail(guard, 7, target).map(({ question }) => question));
  assert.deepEqual(asked.map((loop) => loop.filter((question) => question !== undefined).length), [1, 1, 0]);
  assert.equal(asked[0][4], QUESTION);
  const restored = Guard.restore(guard.save(), { escalate: 2 });
  assert.ok(fail(restored, 7, "d").every(({ question }) => question === undefined));
});

test("a wrong number is an error", () => {
  for (const escalate of [-1, 0.5, 256, "2"]) assert.throws(() => new Guard({ escalate }), PolicyError);
});

for (const [answer, actions] of [
  [undefined, ["block", "block"]],
  ["go on", ["proceed", "proceed"]],
  ["stop", ["stop", "stop"]],
]) {
  test(`the answer of a function holds: ${answer}`, () => {
    const seen = [];
    const onEscalate = (escalation) => {
      seen.push(escalation);
      return answer;
    };
    const guards = new Guards({ onEscalate });
    const decisions = fail(guards.get("a"), 6);
    assert.deepEqual(decisions.slice(4).map(({ action }) => action), actions);
    assert.equal(seen.length, 1);
    assert.deepEqual([seen[0].question, seen[0].excerpt, seen[0].finding.laps], [QUESTION, "no rule for all", 5]);
  });

  test(`a promise counts from when it is kept: ${answer}`, async () => {
    const guard = new Guard({ onEscalate: async () => answer });
    assert.equal(fail(guard, 5)[4].action, "block");
    assert.equal((await guard.heard()).action, actions[0]);
    assert.equal(await guard.heard(), undefined);
    assert.equal(fail(guard, 1)[0].action, actions[1]);
  });

  test(`a watched function waits for the answer: ${answer}`, async () => {
    const guard = new Guard({ onEscalate: async () => answer });
    let ran = 0;
    const make = guard.watch(async function bash() {
      ran += 1;
      return "the same";
    });
    const ends = [];
    for (let at = 0; at < 30; at += 1) ends.push(await make("all").catch((error) => error));
    const stuck = ends.findIndex((end) => end instanceof Stuck);
    if (answer === "go on") assert.deepEqual([ran, stuck], [30, -1]);
    // The result of the call that was asked about is not returned.
    if (answer === "stop") assert.ok(ends[stuck].decision.endsRun && ran === stuck + 1);
    if (answer === undefined) assert.equal(ends[stuck].decision.action, "block");
  });
}

test("a host with a loop of its own asks and answers", () => {
  const guard = new Guard({ escalate: 1 });
  const decision = fail(guard, 5)[4];
  assert.equal(guard.answered(decision, undefined), decision);
  assert.throws(() => guard.answered(decision, "perhaps"), TypeError);
  const stopped = guard.answered(decision, "stop");
  assert.deepEqual([stopped.endsRun, stopped.question], [true, undefined]);
  assert.equal(guard.answered(guard.before("bash", "ls"), "stop").action, "proceed");
});

test("a function that throws is an error of the host", () => {
  const guard = new Guard({
    onEscalate: () => {
      throw new RangeError("ours");
    },
  });
  assert.throws(() => fail(guard, 5), RangeError);
  assert.ok(guard.before("bash", "make all").blocked);
});

test("calls that only repeat are named by the ids of the host", () => {
  const guard = new Guard();
  const ids = ["c0", "c1", "c2", "c3", "c4"];
  for (const id of ids) {
    const { ticket } = guard.before("read_file", { path: "a" }, { id });
    guard.after(ticket, "no such file", { error: true });
  }
  const written = ["w0", "w1", "w2", "w3"];
  for (const id of written) guard.after(guard.before("write_file", { path: "a" }, { id }).ticket, "written");
  assert.deepEqual(guard.repeated([...ids, ...written, "unknown"]), ["c1", "c2", "c3"]);
  // An id that comes twice in the context of the host names no call.
  assert.deepEqual(guard.repeated([...ids, "c2"]), ["c1", "c3"]);
  assert.deepEqual(guard.repeated([]), []);
});
