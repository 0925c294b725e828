// Budgets: notes at 80 %, refusals at 100 %, and no word of a loop.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Guard, Guards } from "unstuck";

/** Makes a call like no other before. Returns the decision on its result, or the refusal. */
function step(guard, path) {
  const before = guard.before("read_file", { path });
  return before.blocked ? before : guard.after(before.ticket, path);
}

const said = (guard, paths) => [...paths].map((path) => step(guard, path).message);

test("calls are noted at 80 percent and refused at the limit", () => {
  const guard = new Guard({ budget: { calls: 5, at_limit: "refuse" } });
  const words = said(guard, "abcdefghij");
  const near = "[unstuck] 4 of 5 calls of this session are spent. Finish what matters, or say what is missing.";
  assert.deepEqual(words.slice(0, 4), [undefined, undefined, undefined, near]);
  assert.match(words[4], /5 of 5 calls of this session are spent\. Further calls are refused/);
  for (const refusal of words.slice(5)) assert.match(refusal, /This call was not run\. 5 of 5 calls/);
  const last = step(guard, "k");
  assert.deepEqual([last.action, last.finding, guard.statistics.loops], ["stop", undefined, 0]);
});

test("tokens and dollars are what the host reports", () => {
  const guard = new Guard({ budget: { tokens: 1000, turn: { dollars: 2 } } });
  guard.spend({ tokens: 700, dollars: 1.5 });
  assert.deepEqual(said(guard, "a"), [undefined]);
  guard.spend({ tokens: 100, dollars: 0.25 });
  assert.match(step(guard, "b").message, /1\.75 of 2\.00 dollars of this turn are spent\. 800 of 1000 tokens/);
  guard.userMessage("go on");
  guard.spend({ tokens: 1 });
  assert.deepEqual(said(guard, "cd"), [undefined, undefined]);
  assert.throws(() => guard.spend({ dollars: -1 }), RangeError);
  assert.throws(() => guard.spend({ tokens: Number.NaN }), RangeError);
});

test("a budget goes with every setup and with the state", () => {
  const budget = { calls: 5 };
  const guards = [
    new Guard({ budget }),
    new Guard({ policy: { preset: "balanced", budget } }),
    new Guard({ policy: 'preset = "balanced"\nbudget.calls = 50', budget }),
    new Guards({ budget }).get("s"),
  ];
  for (const guard of guards) {
    assert.deepEqual(said(guard, "abc"), [undefined, undefined, undefined]);
    const restored = Guard.restore(guard.save(), { budget });
    assert.match(step(restored, "d").message, /^\[unstuck\] 4 of 5 calls/);
  }
});

test("minutes are those in which the agent works", (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_000 });
  const minutes = (count) => context.mock.timers.tick(count * 60_000);
  const guard = new Guard({ budget: { turn: { minutes: 10 } } });
  guard.userMessage("begin");
  minutes(7);
  assert.deepEqual(said(guard, "a"), [undefined]);
  minutes(1);
  assert.match(step(guard, "b").message, /8 of 10 minutes of this turn/);
  minutes(120);
  guard.userMessage("go on");
  minutes(7);
  assert.deepEqual(said(guard, "c"), [undefined]);
});

test("without a budget nothing is said", () => {
  const guard = new Guard();
  guard.spend({ tokens: 1e9, dollars: 1e9 });
  for (let call = 0; call < 500; call += 1) assert.equal(step(guard, String(call)).message, undefined);
});

test("a wrong budget says what is right", () => {
  const wrong = (budget, words) => assert.throws(() => new Guard({ budget }), { name: "PolicyError", message: words });
  wrong({ hours: 1 }, /a budget has no field `hours`/);
  wrong({}, /a budget needs a limit: calls, tokens, dollars, minutes/);
  wrong({ calls: 1, at_limit: "stop" }, /expected one of note, ask, refuse/);
  wrong(3, /budget: expected an object, not number/);
});
