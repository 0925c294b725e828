// The hooks of the plugin, called as opencode calls them, with what opencode does not send in a short run.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Unstuck } from "unstuck/opencode";

let ids = 0;

/** A plugin whose stored messages are `data`, unless `session` has a method of its own. */
async function plugin({ data = [], ...session } = {}) {
  const aborted = [];
  const methods = { abort: ({ path }) => aborted.push(path.id), messages: async () => ({ data }), ...session };
  const hooks = await Unstuck({ client: { session: methods, tui: { showToast() {} } } });
  const happen = (type, properties) => hooks.event({ event: { type, properties } });
  const begin = (sessionID, callID, { tool = "read", args = { path: "x" } } = {}) =>
    hooks["tool.execute.before"]({ tool, sessionID, callID }, { args });
  return {
    aborted,
    begin,
    happen,
    hooks,
    /** Runs a call that fails. Returns its part, or `undefined` if it was refused. */
    async fail(sessionID, callID, call) {
      try {
        await begin(sessionID, callID, call);
      } catch (refusal) {
        assert.match(refusal.message, /^\[unstuck\] /);
        return undefined;
      }
      const part = failedPart(sessionID, callID, call);
      await happen("message.part.updated", { part: structuredClone(part) });
      return part;
    },
    say: (sessionID, ...parts) => hooks["chat.message"]({ sessionID }, { message: { id: `msg_${ids++}` }, parts }),
    transform: (messages) => hooks["experimental.chat.messages.transform"]({}, { messages }),
  };
}

function failedPart(sessionID, callID, { tool = "read", args = { path: "x" } } = {}) {
  const state = { status: "error", input: args, error: "no such file" };
  return { type: "tool", id: `prt_${ids++}`, messageID: `msg_${ids++}`, sessionID, callID, tool, state };
}

/** A part of a message of the user. */
const words = (text) => ({ type: "text", id: `prt_${ids++}`, messageID: `msg_${ids++}`, text });
const image = (data) => {
  const url = `data:image/png;base64,${data}`;
  return { type: "file", id: `prt_${ids++}`, messageID: `msg_${ids++}`, mime: "image/png", url };
};

/** Runs `work`, and returns how many defects were logged. */
async function logged(work) {
  const log = mock.method(console, "error", () => {});
  try {
    await work();
    return log.mock.callCount();
  } finally {
    log.mock.restore();
  }
}

/** How many of the calls of a session run, if all fail. */
async function ran({ fail }, session, count, name = () => `c${ids++}`) {
  let runs = 0;
  for (let call = 0; call < count; call += 1) if (await fail(session, name())) runs += 1;
  return runs;
}

test("a message with another image is a new one", async () => {
  for (const own of [[], [words("look")]]) {
    const run = await plugin();
    await run.say("a", ...own, image("AAAA"));
    assert.equal(await ran(run, "a", 6), 5);
    // The same again is no new message.
    await run.say("a", ...own, image("AAAA"));
    assert.equal(await ran(run, "a", 1), 0);
    await run.say("a", ...own, image("BBBB"));
    assert.equal(await ran(run, "a", 1), 1);
  }
});

test("a text is reported as ever, and what opencode adds is not", async () => {
  const run = await plugin();
  await run.say("a", words("go"));
  assert.equal(await ran(run, "a", 6), 5);
  await run.say("a", words("go"), { ...words("the file has 3 lines"), synthetic: true });
  await run.say("a", { type: "compaction", id: "prt", auto: true });
  assert.equal(await ran(run, "a", 1), 0);
  await run.say("a", words("it is there now"));
  assert.equal(await ran(run, "a", 1), 1);
});

test("sessions whose calls have the same ids do not mix", async () => {
  const run = await plugin();
  for (let call = 0; call < 4; call += 1) await run.fail("a", `call_${call}`);
  const part = await run.fail("b", "call_2", { tool: "write" });
  const parts = [part];
  await run.transform([{ parts }]);
  assert.equal(part.state.error, "no such file");
});

test("an id may come again in each turn", async () => {
  const run = await plugin();
  const parts = [];
  const errors = () => parts.map(({ state }) => state.error.includes("[unstuck]"));
  for (let call = 0; call < 3; call += 1) parts.push(await run.fail("a", "call_0"));
  await run.transform([{ parts }]);
  assert.deepEqual(errors(), [false, false, true]);
  assert.equal(await ran(run, "a", 4, () => "call_0"), 2);
  // The note is there once, however often the messages are asked for.
  const error = parts[2].state.error;
  await run.transform([{ parts }]);
  assert.equal(parts[2].state.error, error);
});

test("a failed call of which only the history tells is the last one with its id", async () => {
  const old = [failedPart("a", "call_0"), failedPart("a", "call_0")];
  const run = await plugin();
  for (const turn of [1, 2, 3]) {
    await run.begin("a", "call_0");
    const running = { ...failedPart("a", "call_0"), state: { status: "running", input: {} } };
    await run.transform([{ parts: [...old, running] }]);
    const last = failedPart("a", "call_0");
    await run.transform([{ parts: [...old, last] }]);
    assert.equal(last.state.error.includes("[unstuck]"), turn === 3);
  }
});

test("stored messages that do not come are not waited for", async (t) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  t.after(() => mock.timers.reset());
  const run = await plugin({ messages: () => new Promise(() => {}) });
  const call = run.begin("a", "c");
  mock.timers.tick(5000);
  await call;
  // Nor are they asked for again.
  assert.equal(await ran(run, "a", 4), 4);
});

test("stored messages that fail to come begin an empty history", async () => {
  const fails = () => {
    throw new Error("no server");
  };
  for (const messages of [fails, async () => fails(), async () => undefined, async () => ({ data: [null] })]) {
    assert.equal(await ran(await plugin({ messages }), "a", 7), 5);
  }
});

test("sessions may be each other's parents", async () => {
  const run = await plugin();
  const parents = { a: "b", b: "a", c: "c", d: "e", e: "f", f: "d" };
  for (const [id, parentID] of Object.entries(parents)) await run.happen("session.updated", { info: { id, parentID } });
  for (const id of Object.keys(parents)) assert.equal(await ran(run, id, 7), 5);
});

test("a result that cannot be changed is left as it is", async () => {
  const content = Object.freeze([{ type: "text", text: "same" }]);
  for (const result of [Object.freeze({ output: "same", metadata: {} }), { content }]) {
    const { hooks, begin } = await plugin();
    const defects = await logged(async () => {
      for (let call = 0; call < 4; call += 1) {
        await begin("a", `c${call}`, { tool: "ls", args: {} });
        await hooks["tool.execute.after"]({ tool: "ls", sessionID: "a", callID: `c${call}`, args: {} }, result);
      }
    });
    assert.equal(defects, 1);
  }
  assert.equal(content.length, 1);
  const part = failedPart("b", "c");
  const frozen = await plugin();
  for (let call = 0; call < 2; call += 1) await frozen.fail("b", `c${call}`);
  await frozen.begin("b", "c");
  await frozen.happen("message.part.updated", { part });
  const other = structuredClone(part);
  Object.freeze(part.state);
  assert.equal(await logged(() => frozen.transform([{ parts: [part, other] }])), 1);
  assert.ok(other.state.error.includes("[unstuck]"));
});

test("no hook throws, whatever it is given", async () => {
  const names = ["tool.execute.before", "tool.execute.after", "experimental.chat.messages.transform", "chat.message"];
  const part = { type: "tool", state: { status: "error" } };
  const outputs = [undefined, null, {}, { parts: undefined }, { messages: [{ parts: undefined }, { parts: [null] }] }];
  const { hooks } = await plugin();
  const defects = await logged(async () => {
    for (const output of [...outputs, { messages: [{ parts: [part] }] }, { messages: null, message: {}, parts: 7 }]) {
      for (const name of names) {
        await hooks[name]({ sessionID: "a" }, output);
        await hooks[name](undefined, output);
      }
      await hooks.event({ event: { type: "message.part.updated", properties: output } });
      await hooks.event(output);
    }
    await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
  });
  assert.equal(defects, 1);
});

test("a message without parts is no defect", async () => {
  const run = await plugin();
  const defects = await logged(async () => {
    await run.transform([{ parts: undefined }]);
    await run.hooks["chat.message"]({ sessionID: "a" }, { message: { id: "msg" }, parts: undefined });
  });
  assert.equal(defects, 0);
});

test("sessions and calls that never end are forgotten", async () => {
  const asked = [];
  const messages = async ({ path }) => {
    asked.push(path.id);
    return { data: [] };
  };
  const run = await plugin({ messages });
  await run.fail("first", "c");
  for (let session = 0; session < 4096; session += 1) await run.begin(`s${session}`, "c");
  await run.begin("s4095", "d");
  assert.equal(asked.length, 4097);
  await run.begin("first", "d");
  assert.deepEqual(asked.slice(4096), ["s4095", "first"]);
});
