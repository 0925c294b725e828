// Guards: decisions, sessions, and their state.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

import { Decision, Finding, Guard, Guards, PolicyError, presets, Stuck, Ticket } from "unstuck";

const CALL = ["read_file", { path: "src/mian.rs" }];

/** Repeats one failing call, and returns the decisions that the agent sees. */
function repeat(guard, times, call = CALL, result = "no such file") {
  return Array.from({ length: times }, () => {
    const before = guard.before(...call);
    return before.blocked ? before : guard.after(before.ticket, result, { error: true });
  });
}

test("a failing call is noted, then refused, then ends the run", () => {
  const guard = new Guard({ session: "s" });
  const decisions = repeat(guard, 8);
  assert.deepEqual(
    decisions.map(({ action }) => action),
    ["proceed", "proceed", "nudge", "nudge", "block", "block", "block", "stop"],
  );
  const [first, , noted, , , refused, , ended] = decisions;
  assert.ok(first instanceof Decision && first.message === undefined && first.finding === undefined);
  assert.equal(first.annotate("text"), "text");
  assert.match(noted.message, /^\[unstuck\] You have made the same `read_file` call 3 times/);
  assert.equal(noted.annotate("no such file"), `no such file\n\n${noted.message}`);
  assert.equal(noted.annotate(""), noted.message);
  assert.ok(refused.blocked && !refused.endsRun && refused.message.startsWith("[unstuck] This call was not run."));
  assert.ok(ended.endsRun && ended.blocked);
});

test("a finding has its evidence", () => {
  const { finding } = repeat(new Guard(), 3)[2];
  assert.ok(finding instanceof Finding);
  const { id, message, ...rest } = { ...finding };
  assert.match(id, /^[0-9a-f]{16}$/);
  assert.ok(message.startsWith("You have made the same"));
  assert.deepEqual(rest, {
    rule: "same-effect",
    kind: "streak",
    action: "nudge",
    tool: "read_file",
    worker: "",
    period: 1,
    laps: 3,
    confidence: rest.confidence,
    first: 0,
    at: 2,
    last: 2,
    calls: [0, 1, 2],
    cause: undefined,
  });
  assert.equal(finding.isText, false);
  assert.equal(String(finding), `same-effect: streak of 3 at \`read_file\`, loop ${id}`);
});

test("a finding tells the cause, if the answer does", () => {
  const guard = new Guard();
  let decision;
  for (let n = 0; n < 3; n++) {
    const { ticket } = guard.before("bash", { command: "jq . a.json" });
    decision = guard.after(ticket, "bash: jq: command not found", { error: true });
  }
  const text = "The program `jq` is not there. Install it, or use another one.";
  assert.deepEqual(decision.finding.cause, { kind: "program_missing", text });
  assert.ok(decision.finding.message.endsWith(text));
});

test("results are matched by ticket and by id", () => {
  const guard = new Guard();
  const before = guard.before(...CALL, { id: "a" });
  assert.ok(before.ticket instanceof Ticket);
  guard.before("list", {}, { id: "b" });
  guard.after("b", "[]");
  guard.after(before.ticket, "text");
  // Neither is open any more, and the last is none.
  for (const call of ["a", before.ticket, "c", undefined]) assert.equal(guard.after(call, "text").action, "proceed");
  assert.equal(guard.statistics.calls, 2);
  assert.throws(() => guard.after({}, "text"), { name: "TypeError", message: /expected the ticket of a decision/ });
  const twice = [guard.before(...CALL, { id: "c" }), guard.before(...CALL, { id: "c" })].map(({ ticket }) => ticket);
  assert.deepEqual(twice[0], twice[1], "a call that comes twice with one id counts once");
  assert.equal(guard.statistics.calls, 3);
});

test("a ticket is good for its guard only, and not after its guard was released", () => {
  const [one, other] = [new Guard(), new Guard()];
  const { ticket } = one.before(...CALL);
  other.before("list", {});
  other.after(ticket, "not of this guard", { error: true });
  one.free();
  one.before("list", {});
  one.after(ticket, "of a call before", { error: true });
  for (const guard of [one, other]) assert.equal(guard.after("none", "").action, "proceed");
  const guards = new Guards({ capacity: 1 });
  const slow = [1, 2, 3].map(() => guards.get("a").before("slow", {}).ticket);
  guards.get("b");
  for (const late of slow) {
    const guard = guards.get("a");
    const { ticket } = guard.before("read_file", { path: String(late) });
    assert.equal(guard.after(late, "503", { error: true }).message, undefined);
    assert.equal(guard.after(ticket, `line ${Math.random()}`).message, undefined);
  }
});

test("ids and steps may be numbers", () => {
  const guard = new Guard();
  for (let n = 0; n < 5000; n++) guard.before("t", { a: n }, { id: n, step: n });
  assert.equal(guard.after("4999", "done").action, "proceed");
  const own = new Guard();
  const results = [7, 8n, "9"].map((id) => own.before(...CALL, { id }) && own.after(id, "503", { error: true }));
  assert.equal(results[2].action, "nudge");
  guard.falsePositive({ id: 5 });
  guard.before("t", {}, { id: null, step: null });
});

test("code of the host neither throws out of a guard nor leaves a call open", async () => {
  const fails = () => { throw new Error("no"); };
  const item = Object.defineProperty([1], 0, { get: fails });
  const proxy = new Proxy([1], { get: fails });
  const huge = Array(3).fill("a".repeat(1 << 28));
  for (const value of [item, proxy, huge, Symbol("s"), Object.create(null)]) {
    const guard = new Guard();
    const decisions = repeat(guard, 3, [value, value], value);
    assert.equal(decisions[2].action, "nudge", "each result was heard");
    guard.before(value, value, { id: value, step: value });
  }
  const frees = (guard) => ({ toJSON: () => guard.free() ?? 1 });
  const guard = new Guard();
  const own = frees(guard);
  const { ticket } = guard.before(own, own, { id: own, step: own });
  for (const call of [ticket, new Proxy(ticket, { get: () => own.toJSON() })]) guard.after(call, own);
  guard.finished("t", own, own, { id: own });
  guard.userMessage(own);
  guard.textTurn(own);
  guard.falsePositive({ id: own });
  assert.equal(guard.statistics.calls, 0);
});

test("a tool's own result comes back, whatever it is", async () => {
  const fails = () => { throw new Error("no"); };
  const guard = new Guard();
  const odd = [
    new Proxy({}, { get: fails }),
    Object.defineProperty({}, "then", { get: fails }),
    Object.defineProperty([1], 0, { get: fails }),
  ];
  for (const result of odd) {
    assert.equal(guard.call("t", {}, () => result), result);
    assert.throws(() => guard.call("t", {}, () => { throw result; }), (error) => error === result);
    for (const run of [() => Promise.reject(result), guard.watch(async () => { throw result; }, "t")]) {
      const caught = await guard.call("t", {}, run).then(() => [], (error) => [error]);
      assert.equal(caught[0], result);
    }
  }
  const nameless = Object.defineProperty(() => 1, "name", { get: fails });
  assert.equal(guard.watch(Object.defineProperty(nameless, "constructor", { get: fails }))(), 1);
  const then = new Guard();
  for (let n = 0; n < 3; n++) assert.throws(() => then.call("t", {}, () => ({ then: fails })), { message: "no" });
  assert.equal(then.statistics.loops, 1, "a `then` that throws is a failed call");
});

test("calls of one step are judged together, and refused and cancelled calls are told", () => {
  const guard = new Guard();
  for (const path of ["a", "b", "c", "d", "e"]) guard.before("read", { path }, { step: "turn 1" });
  guard.endStep();
  assert.equal(guard.statistics.loops, 0);
  guard.refused(guard.before(...CALL).ticket);
  guard.cancelled(guard.before(...CALL).ticket);
  assert.equal(guard.statistics.loops, 0);
});

test("a host that sees calls only when they have run promises no refusal", () => {
  const guard = new Guard();
  const decisions = Array.from({ length: 6 }, (_, n) =>
    guard.finished(...CALL, "no such file", { error: true, id: String(n), step: n }),
  );
  assert.deepEqual(decisions.map(({ action }) => action), ["proceed", "proceed", "nudge", "nudge", "block", "block"]);
  assert.match(decisions[4].message, /^\[unstuck\] You have made .* If it goes on, it will be stopped\.$/);
  assert.equal(guard.finished(...CALL, "no such file", { error: true, id: "5" }).action, "proceed", "it came before");
});

test("a compacted model may read again", () => {
  const line = (_, n) => `the ${"abcdefghijklmnopqrst"[n % 20]}${"uvwxyz"[n % 6]}${"abcde"[n % 5]} line says something`;
  const lines = Array.from({ length: 60 }, line);
  const rules = (isCompacted) => {
    const guard = new Guard();
    const findings = Array.from({ length: 8 }, (_, n) => {
      if (isCompacted) guard.compacted();
      const { ticket } = guard.before("read_file", { path: "a", offset: n * 3 });
      // After the whole file, parts of it.
      return guard.after(ticket, (n === 0 ? lines : lines.slice(n * 3, n * 3 + 20)).join("\n")).finding;
    });
    return [...new Set(findings.map((finding) => finding?.rule))];
  };
  assert.deepEqual(rules(false), [undefined, "nothing-new"]);
  assert.deepEqual(rules(true), [undefined]);
});

test("text turns repeat, and a user's message starts afresh", () => {
  const guard = new Guard();
  const turns = ["I will look.", "I will look.", "I will look."].map((turn) => guard.textTurn(turn));
  assert.deepEqual(turns.map(({ action }) => action).slice(0, 2), ["proceed", "proceed"]);
  const { finding, message } = turns[2];
  assert.ok(finding.isText && finding.kind === "text");
  assert.match(message, /Your last 3 turns were only text/);
  assert.equal(guard.userMessage("Go on.").action, "proceed");
  repeat(guard, 2);
  assert.equal(guard.userMessage().action, "proceed");
  assert.equal(repeat(guard, 2)[1].action, "proceed");
  guard.clear();
  assert.equal(repeat(guard, 2)[1].action, "proceed");
});

test("a guard that observes only says what it would do", () => {
  const decisions = repeat(new Guard({ observe: true }), 8);
  assert.ok(decisions.every(({ action, blocked, message }) => action === "proceed" && !blocked && !message));
  assert.equal(decisions[5].judged, "block");
});

test("a false positive does not come again", () => {
  const guard = new Guard();
  const { finding } = repeat(guard, 3)[2];
  guard.falsePositive(finding);
  assert.ok(repeat(guard, 5).every(({ action }) => action === "proceed"));
  assert.equal(guard.statistics.falsePositives, 1);
  const other = new Guard();
  other.falsePositive(finding);
  assert.ok(repeat(other, 5).every(({ action }) => action === "proceed"), "the loop is silenced by its id");
});

test("the statistics count", () => {
  const guard = new Guard();
  repeat(guard, 8);
  const { calls, loops, blocked, findings, actions } = guard.statistics;
  assert.deepEqual({ calls, loops, blocked }, { calls: 8, loops: 1, blocked: 3 });
  assert.ok(findings.streak > 0 && findings.echo === 0);
  assert.equal(actions.stop, 1);
});

test("a state is saved and restored", () => {
  const guard = new Guard({ session: "s", worker: "w" });
  repeat(guard, 5);
  const state = guard.save();
  const restored = Guard.restore(state, { session: "s", worker: "w" });
  assert.equal(restored.before(...CALL).action, "block");
  for (const wrong of [new Uint8Array(), state.slice(1), state.slice(0, -1), new Uint8Array(1000)]) {
    assert.throws(() => Guard.restore(wrong, { session: "s", worker: "w" }), Error);
  }
  assert.throws(() => Guard.restore(state, { preset: "nudge" }), Error, "another policy");
});

test("presets are known by name", () => {
  assert.equal(presets()[0], "balanced");
  for (const preset of presets()) new Guard({ preset });
  assert.throws(() => new Guard({ preset: "oops" }), { name: "PolicyError", message: /no preset "oops"; there are balanced/ });
});

test("a policy is TOML or an object, and tools are declared", () => {
  const waits = { tools: { read_file: "waits" } };
  const byTools = new Guard(waits);
  const byObject = new Guard({ policy: { tools: { read_file: { effect: "waits" } } } });
  const byText = new Guard({ policy: 'preset = "balanced"\n[tools.read_file]\neffect = "waits"' });
  const exempt = new Guard({ tools: { read_file: { exempt: true } } });
  for (const guard of [byTools, byObject, byText]) {
    for (let n = 0; n < 5; n++) assert.equal(guard.after(guard.before(...CALL).ticket, "pending").action, "proceed");
  }
  assert.ok(exempt.before(...CALL).ticket instanceof Ticket);
  assert.ok(repeat(exempt, 9).every(({ action }) => action === "proceed"));
  assert.equal(new Guard({ preset: "openhands" }).before(...CALL).action, "proceed", "a rule set of another agent");
});

test("a wrong policy is an error that says where", () => {
  for (const [options, message] of [
    [{ policy: "window = x" }, /^policy, line 1, column 10: /],
    [{ policy: { window: "x" } }, /^policy, line 1, column 1: /],
    [{ policy: { window: null } }, /^policy: /],
    [{ policy: 7 }, /expected TOML or an object, not number/],
    [{ tools: "a" }, /tools: expected an object, not string/],
    [{ tools: { a: "flies" } }, /flies/],
    [{ preset: "nudge", policy: 'preset = "cycles"' }, /leave one of the two out/],
    [{ preset: 7 }, /preset: expected a name/],
  ]) {
    assert.throws(() => new Guard(options), (error) => error instanceof PolicyError && message.test(error.message));
    assert.throws(() => new Guards(options), PolicyError);
  }
  assert.throws(() => new Guards({ capacity: 0 }), { name: "PolicyError", message: /capacity/ });
});

test("each session has a guard of its own, and the one that was idle longest is forgotten", () => {
  const guards = new Guards({ capacity: 2 });
  const first = guards.get("a");
  repeat(first, 2);
  guards.get("b");
  assert.equal(guards.get("a"), first);
  guards.get("c");
  assert.equal(guards.size, 2);
  assert.equal(guards.get("a"), first);
  guards.get("d");
  guards.get("e");
  assert.notEqual(guards.get("a"), first);
  // Who still has it gets a guard without a past.
  assert.equal(repeat(first, 2)[1].action, "proceed");
  assert.equal(first.session, "a");
});

test("functions are watched", async () => {
  const guard = new Guard();
  let runs = 0;
  const read = guard.watch(async function read(path) {
    runs += 1;
    throw new Error(`${path}: no such file`);
  });
  const heard = [];
  for (let n = 0; n < 7; n++) await read("a").catch((error) => heard.push(error));
  assert.equal(runs, 5);
  assert.ok(heard[5] instanceof Stuck && heard[5].message === heard[5].decision.message);
  const list = new Guard().watch(() => "a\nb", "list");
  const tools = { root: "src", list(path) { return `${this.root}/${path}`; } };
  tools.list = new Guard().watch(tools.list, "list");
  assert.equal(tools.list("a"), "src/a");
  const results = Array.from({ length: 5 }, () => list("src"));
  assert.ok(results.some((result) => result.startsWith("a\nb\n\n[unstuck] You have made")), String(results));
  const aborted = new Guard();
  for (let n = 0; n < 9; n++) {
    assert.throws(
      () => aborted.call("t", {}, () => { throw new DOMException("broken off", "AbortError"); }),
      { name: "AbortError" },
    );
  }
  assert.equal(aborted.statistics.loops, 0);
});

test("modules and CommonJS know each other's errors, decisions and tickets", () => {
  const one = { Decision, Finding, Guard, PolicyError, Stuck, Ticket };
  const other = createRequire(import.meta.url)("unstuck");
  assert.notEqual(one.Guard, other.Guard, "two copies");
  for (const [made, asked] of [[one, other], [other, one], [one, one]]) {
    const [first, , , , , refused] = repeat(new made.Guard(), 6);
    assert.ok(first.ticket instanceof asked.Ticket && !(first.ticket instanceof asked.Decision));
    assert.ok(refused instanceof asked.Decision && refused.finding instanceof asked.Finding);
    assert.equal(new asked.Guard().after(first.ticket, "of another guard").action, "proceed");
    const errors = [new made.Stuck(refused), new made.PolicyError("")];
    assert.deepEqual(errors.map((error) => error instanceof asked.Stuck), [true, false]);
    assert.deepEqual(errors.map((error) => error instanceof asked.PolicyError), [false, true]);
    assert.ok(!(errors[0] instanceof (class Own extends asked.Stuck {})));
    for (const none of [undefined, null, 1, {}, new Error("a")]) assert.ok(!(none instanceof asked.Stuck));
  }
  const throwing = new Proxy({}, { getPrototypeOf() { throw new Error("no"); } });
  assert.ok(!(throwing instanceof Stuck));
});

test("the environment turns guards off", () => {
  process.env.UNSTUCK = "off";
  try {
    assert.ok(repeat(new Guard(), 9).every(({ action }) => action === "proceed"));
  } finally {
    delete process.env.UNSTUCK;
  }
});
