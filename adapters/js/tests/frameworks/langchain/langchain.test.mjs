// LangChain agents, with and without threads, and deepagents.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { Command, MemorySaver, interrupt } from "@langchain/langgraph";
import { createDeepAgent } from "deepagents";
import { AIMessage, HumanMessage, ToolMessage, createAgent, createMiddleware, tool } from "langchain";
import { z } from "zod";

import { PolicyError } from "unstuck";
import { unstuckMiddleware } from "unstuck/langchain";
import { DONE, NOTE, Played, REFUSAL, STOP, failing, readFile, scenarios } from "./plays.mjs";

let ids = 0;
const callsOf = (name, ...args) =>
  new AIMessage({
    content: "",
    tool_calls: args.map((one) => ({ name, args: one, id: `c${ids++}`, type: "tool_call" })),
  });

/** Answers with the script that the first message of the user names. */
class Scripted extends BaseChatModel {
  constructor(scripts, played, called) {
    super({});
    Object.assign(this, { scripts, played, called });
  }

  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    const name = messages.find(({ type }) => type === "human").text;
    const { requests } = this.played.get(name);
    requests.push(messages.map(({ type, content }) => `${type}: ${JSON.stringify(content)}`).join("\n"));
    const turn = this.scripts.get(name)[requests.length - 1];
    const message =
      typeof turn === "string"
        ? new AIMessage(turn)
        : callsOf(this.called, ...turn.map((args) => ({ ...args, run: name })));
    return { generations: [{ message, text: message.text }] };
  }
}

const RECURSION = { recursionLimit: 500 };

/** Plays with one agent; each run has a thread of its own if there are threads. */
const player = (hasThreads, own = {}, { create = createAgent, name: toolName = "read_file", fails } = {}) =>
  async function play(scripts, { options, called }) {
    const named = new Map(scripts.map((script, index) => [`run ${index}`, script]));
    const played = new Map([...named.keys()].map((name) => [name, new Played()]));
    const read = ({ path, run }, config) => {
      played.get(run).ran.push(path);
      try {
        return readFile(path);
      } catch (error) {
        if (fails) return fails(error, config);
        throw error;
      }
    };
    const schema = z.object({ path: z.string(), run: z.string() });
    const agent = create({
      model: new Scripted(named, played, called),
      tools: [tool(read, { name: toolName, description: "Reads a file.", schema })],
      middleware: options === null ? [] : [unstuckMiddleware({ ...own, ...options })],
      ...(hasThreads ? { checkpointer: new MemorySaver() } : {}),
    });
    const run = async (name) => {
      const config = hasThreads ? { configurable: { thread_id: name }, ...RECURSION } : RECURSION;
      const { messages } = await agent.invoke({ messages: [new HumanMessage(name)] }, config);
      played.get(name).end = messages.at(-1).text;
    };
    await Promise.all([...named.keys()].map(run));
    return [...played.values()];
  };

/** The answer to a call that failed. */
const failure = ({ message }, { toolCall: { id, name } }) =>
  new ToolMessage({ content: message, tool_call_id: id, name, status: "error" });

const seen = { seesUnknown: true };
scenarios("threads", player(true), seen);
scenarios("without threads", player(false), seen);
scenarios("stateless", player(true, { stateless: true }), seen);

// It has a tool `read_file` of its own, and middleware around all calls, so that a tool that throws ends the run.
const deep = { create: createDeepAgent, name: "read_page", fails: failure };
scenarios("deepagents", player(true, {}, deep), { tool: "read_page" });

test("deepagents: a tool that throws is answered", async () => {
  const play = player(true, {}, { ...deep, fails: undefined });
  await assert.rejects(play([failing(1)], { options: null, called: "read_page" }), /no such file/);
  const [played] = await play([failing(1)], { options: {}, called: "read_page" });
  assert.ok(played.requests[1].includes("no such file"), played.requests[1]);
});

/** An agent with one tool, whose model plays a script under the name `go`. */
function single(script, run, { middleware = [unstuckMiddleware()], schema = z.any(), called = "read_file" } = {}) {
  const played = new Played();
  const model = new Scripted(new Map([["go", script]]), new Map([["go", played]]), called);
  const read_file = tool(run, { name: "read_file", description: "Reads a file.", schema });
  const agent = createAgent({ model, tools: [read_file], middleware, checkpointer: new MemorySaver() });
  const say = (text) =>
    agent.invoke(text instanceof Command ? text : { messages: [new HumanMessage(text)] }, {
      configurable: { thread_id: "1" },
      ...RECURSION,
    });
  return { played, say };
}

test("a new message of the user lifts the refusal", async () => {
  const { played, say } = single([...failing(6), ...failing(1)], ({ path }) => {
    played.ran.push(path);
    throw new Error("no such file");
  });
  await say("go");
  assert.equal(played.ran.length, 5);
  await say("the file is there now");
  assert.equal(played.ran.length, 6);
});

test("a message with another image is a new one", async () => {
  const image = (name) => ({ type: "image_url", image_url: { url: `data:image/png;base64,${name}` } });
  for (const text of [[], [{ type: "text", text: "look" }]]) {
    const script = [DONE, ...failing(6), ...failing(1), ...failing(1)];
    const { played, say } = single(script, ({ path }) => {
      played.ran.push(path);
      throw new Error("no such file");
    });
    await say("go");
    await say([...text, image("AAAA")]);
    assert.equal(played.ran.length, 5);
    // The same again is no new message.
    await say([...text, image("AAAA")]);
    assert.equal(played.ran.length, 5);
    await say([...text, image("BBBB")]);
    assert.equal(played.ran.length, 6);
  }
});

test("any value that a tool throws is a failing call, and is thrown on if it has no text", async () => {
  const hostile = {
    get is_bubble_up() {
      return assert.fail("a getter");
    },
  };
  for (const thrown of [Object.create(null), hostile]) {
    const { wrapToolCall } = unstuckMiddleware();
    const runtime = { configurable: { thread_id: "1" } };
    const refusals = [];
    for (let id = 0; id < 6; id += 1) {
      const request = { toolCall: { name: "look", args: {}, id: `c${id}` }, state: { messages: [] }, runtime };
      const call = wrapToolCall(request, async () => {
        throw thrown;
      });
      await call.then((answer) => refusals.push(answer.status), (error) => assert.ok(error === thrown));
    }
    assert.deepEqual(refusals, ["error"]);
  }
});

test("hooks that are given anything else do nothing", () => {
  const { beforeAgent, beforeModel } = unstuckMiddleware();
  const log = mock.method(console, "error", () => {});
  try {
    assert.equal(beforeAgent({ messages: [null] }, undefined), undefined);
    assert.equal(beforeModel.hook({ messages: [null] }), undefined);
    assert.equal(log.mock.callCount(), 1);
  } finally {
    log.mock.restore();
  }
});

test("invalid arguments are a failing call", async () => {
  const schema = z.object({ path: z.number() });
  const { played, say } = single(failing(6), () => assert.fail("it ran"), { schema });
  await say("go");
  assert.ok(played.requests[3].includes("Error invoking tool"), played.requests[3]);
  assert.ok(played.requests[3].includes(NOTE), played.requests[3]);
  assert.ok(played.requests[6].includes(REFUSAL), played.requests[6]);
});

test("what an agent alone makes of an exception, it makes with the middleware", async () => {
  for (const schema of [z.any(), z.object({ path: z.number() })]) {
    const requests = [];
    for (const middleware of [[], [unstuckMiddleware()]]) {
      const run = () => {
        throw new TypeError("broken");
      };
      const { played, say } = single(failing(2), run, { middleware, schema });
      await say("go");
      // The stack trace of a rejected call names the frames of the middleware.
      requests.push(played.requests.map((text) => text.replace(/\\n +at [^"]*/g, "")));
    }
    assert.deepEqual(requests[0], requests[1]);
    assert.equal(requests[0].length, 3);
  }
});

test("a note stands beside other results", async () => {
  const block = [{ type: "text", text: "no such file" }];
  const answer = (config) => failure(new Error("no such file"), config);
  const commanded = (_, config) => new Command({ update: { messages: [answer(config)] } });
  for (const run of [() => block, commanded]) {
    const { played, say } = single(failing(3), run);
    await say("go");
    assert.ok(played.requests[3].includes(NOTE.slice(0, 60)), played.requests[3]);
    assert.ok(played.requests[3].includes("no such file"));
  }
});

test("a defect of another middleware ends the run as ever", async () => {
  const broken = createMiddleware({
    name: "broken",
    wrapToolCall: () => {
      throw new RangeError("not ours");
    },
  });
  const { say } = single(failing(3), () => "", { middleware: [unstuckMiddleware(), broken] });
  await assert.rejects(say("go"), /not ours/);
});

test("an interrupt of the graph is no failure", async () => {
  const { played, say } = single(failing(1), ({ path }) => `${interrupt("may it?")} ${path}`);
  const paused = await say("go");
  assert.equal(paused.__interrupt__[0].value, "may it?");
  await say(new Command({ resume: "yes" }));
  assert.ok(played.requests[1].includes("yes missing.txt"), played.requests[1]);
});

test("an agent in a tool has a guard of its own", async () => {
  const lines = [callsOf("look", { path: "x" }), callsOf("look", { path: "x" }), new AIMessage("a")];
  const inner = new Lines([...lines, ...[1, 2, 3, 4].map(() => callsOf("look", { path: "x" })), new AIMessage("b")]);
  const look = tool(() => "Error: no such file", { name: "look", description: "Looks.", schema: z.any() });
  const sub = createAgent({ model: inner, tools: [look], middleware: [unstuckMiddleware()] });
  const task = tool(
    async (_, config) => (await sub.invoke({ messages: [new HumanMessage("look")] }, config)).messages.at(-1).text,
    { name: "task", description: "Looks.", schema: z.any() },
  );
  const outer = new Lines([callsOf("task", {}), callsOf("task", {}), new AIMessage(DONE)]);
  const agent = createAgent({
    model: outer,
    tools: [task],
    middleware: [unstuckMiddleware()],
    checkpointer: new MemorySaver(),
  });
  await agent.invoke({ messages: [new HumanMessage("go")] }, { configurable: { thread_id: "1" } });
  // Two equal looks of the first agent and four of the second: only the latter has three.
  const noted = inner.read.map((text) => text.includes("[unstuck]"));
  assert.deepEqual(noted, [...Array(6).fill(false), true, false]);
});

test("a subagent of deepagents has a guard of its own", async () => {
  const looks = (count) => Array.from({ length: count }, () => callsOf("look", { path: "x" }));
  const inner = new Lines([...looks(2), new AIMessage("a"), ...looks(4), new AIMessage("b")]);
  const task = { description: "-", subagent_type: "looker" };
  const agent = createDeepAgent({
    model: new Lines([callsOf("task", task), callsOf("task", task), new AIMessage(DONE)]),
    middleware: [unstuckMiddleware()],
    subagents: [
      {
        name: "looker",
        description: "Looks.",
        systemPrompt: "-",
        tools: [tool(() => "Error: no such file", { name: "look", description: "Looks.", schema: z.any() })],
        model: inner,
        middleware: [unstuckMiddleware()],
      },
    ],
    checkpointer: new MemorySaver(),
  });
  await agent.invoke({ messages: [new HumanMessage("go")] }, { configurable: { thread_id: "1" }, ...RECURSION });
  const noted = inner.read.map((text) => text.includes("[unstuck]"));
  assert.deepEqual(noted, [...Array(6).fill(false), true, false]);
});

/** Answers with these messages in turn, and keeps what it read last. */
class Lines extends BaseChatModel {
  constructor(lines) {
    super({});
    Object.assign(this, { lines, read: [] });
  }

  _llmType() {
    return "lines";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    this.read.push(JSON.stringify(messages.at(-1).content));
    const message = this.lines.shift();
    return { generations: [{ message, text: message.text }] };
  }
}

test("a wrong option is an error at once", () => {
  assert.throws(() => unstuckMiddleware({ preset: "no such preset" }), PolicyError);
});

const QUESTION = "[unstuck] The model that works here is stuck, and you take its next turn.";

/** Plays a script with two models. Returns what the strong one was asked, with the number of the turn. */
async function escalated(script, options) {
  const played = new Played();
  const scripts = [new Map([["go", script]]), new Map([["go", played]]), "read_file"];
  const asked = [];
  class Strong extends Scripted {
    async _generate(messages) {
      asked.push([played.requests.length, messages.at(-1).text]);
      return super._generate(messages);
    }
  }
  const read = ({ path }) => {
    played.ran.push(path);
    return readFile(path);
  };
  const { escalates, ...own } = options;
  const middleware = [unstuckMiddleware(escalates ? { ...own, escalateTo: new Strong(...scripts) } : own)];
  const read_file = tool(read, { name: "read_file", description: "Reads a file.", schema: z.any() });
  const model = new Scripted(...scripts);
  const agent = createAgent({ model, tools: [read_file], middleware, checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "1" }, ...RECURSION };
  const { messages } = await agent.invoke({ messages: [new HumanMessage("go")] }, config);
  assert.ok(!messages.some(({ text }) => text.includes(QUESTION)), "the question is not kept");
  played.end = messages.at(-1).text;
  return { asked, played };
}

for (const stateless of [false, true]) {
  const mode = stateless ? "stateless" : "thread";

  test(`the strong model takes one turn before a refusal, at most twice: ${mode}`, async () => {
    const loops = ["a", "b", "c"].flatMap((name) => Array(6).fill([{ path: `missing ${name}` }]));
    const { asked } = await escalated([...loops, DONE], { escalates: true, stateless });
    // After the fifth equal failure of a loop, the sixth turn is the other model's.
    assert.deepEqual(asked.map(([turn]) => turn), [5, 11]);
    assert.ok(asked[0][1].startsWith(QUESTION), asked[0][1]);
  });

  test(`a loop that goes on is refused and ends as always: ${mode}`, async () => {
    const { asked, played } = await escalated(failing(12), { escalates: true, stateless });
    assert.deepEqual([asked.length, played.requests.length, played.ran.length], [1, 8, 5]);
    assert.ok(played.end.startsWith(STOP), played.end);
  });

  test(`a second opinion holds: ${mode}`, async () => {
    for (const wrapped of [(answer) => answer, async (answer) => answer]) {
      for (const [answer, ran, requests] of [["go on", 9, 10], ["stop", 5, 5], [undefined, 5, 8]]) {
        const seen = [];
        const onEscalate = ({ excerpt }) => {
          seen.push(excerpt);
          return wrapped(answer);
        };
        const { played } = await escalated(failing(9), { onEscalate, stateless });
        assert.equal(seen.length, 1);
        assert.ok(seen[0].includes("no such file: missing.txt"), seen[0]);
        assert.deepEqual([played.ran.length, played.requests.length], [ran, requests], `${answer}`);
        assert.equal(played.end === DONE, answer === "go on");
      }
    }
  });

  test(`turns that only repeat are left out of the requests: ${mode}`, async () => {
    const count = (request) => request.split("no such file").length - 1;
    const other = [[{ path: "a.txt" }, ...failing(1)[0]]];
    const script = [...failing(4).slice(0, -1), ...other, DONE];
    const { played } = await escalated(script, { collapse: true, stateless });
    // The first and the latest stay. A turn that has more than a repeated call stays whole.
    assert.deepEqual(played.requests.map(count), [0, 1, 2, 2, 2, 2]);
    assert.ok(played.requests[5].includes("content of a.txt"));
    for (const request of played.requests.slice(0, 5)) {
      assert.equal(request.split("ai:").length, request.split("tool:").length, request);
    }
    const plain = await escalated(script, { stateless });
    assert.deepEqual(plain.played.requests.map(count), [0, 1, 2, 3, 4, 5]);
  });
}
