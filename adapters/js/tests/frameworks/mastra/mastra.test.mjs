// Mastra.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Agent } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import { MastraLanguageModelV2Mock } from "@mastra/core/test-utils/llm-mock";
import { createTool } from "@mastra/core/tools";
import { UnstuckProcessor } from "unstuck/mastra";
import { z } from "zod";

import { DONE, failing, MISSING, NOTE, Played, readFile, REFUSAL, scenarios, STOP } from "./plays.mjs";

const USAGE = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

let calls = 0;
const newId = () => `c${(calls += 1)}`;

/** The content of a turn, and why it ended. */
function answer(turn, called, id) {
  if (typeof turn === "string") return { content: [{ type: "text", text: turn }], finishReason: "stop" };
  const content = turn.map((input) => ({
    type: "tool-call",
    toolCallId: id(),
    toolName: called,
    input: JSON.stringify(input),
  }));
  return { content, finishReason: "tool-calls" };
}

/** The text of what the model reads. Ids that differ in each run are left out. */
function textOf({ role, content }) {
  if (typeof content === "string") return `${role}: ${content}`;
  const parts = content.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "tool-call") return `${part.toolName} ${JSON.stringify(part.input)}`;
    const { type, value } = part.output;
    return `${type} ${typeof value === "string" ? value : JSON.stringify(value)}`;
  });
  return `${role}: ${parts.join("\n")}`;
}

/** A model that answers each run with the script that its last message of the user names. */
function scripted(scripts, { played = {}, called = "read_file", others = {}, id = newId } = {}) {
  for (const name of Object.keys(scripts)) played[name] ??= new Played();
  const next = ({ prompt }) => {
    const name = prompt.findLast(({ role }) => role === "user").content[0].text;
    const { requests } = played[name];
    requests.push(prompt.map(textOf).join("\n"));
    const number = requests.length - 1;
    return answer(scripts[name][number], others[number] ?? called, id);
  };
  const model = new MastraLanguageModelV2Mock({
    doGenerate: async (options) => ({ ...next(options), usage: USAGE, warnings: [] }),
    doStream: async (options) => {
      const { content, finishReason } = next(options);
      const parts = content.flatMap((part) =>
        part.type === "text"
          ? [
              { type: "text-start", id: "0" },
              { type: "text-delta", id: "0", delta: part.text },
              { type: "text-end", id: "0" },
            ]
          : [part],
      );
      const all = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage: USAGE }];
      return { stream: ReadableStream.from(all) };
    },
  });
  return { model, played };
}

const inputSchema = z.object({ path: z.string() });
const OPTIONS = { maxSteps: 50 };

/** The tool of most tests. */
const READ_FILE = {
  id: "read_file",
  description: "Reads a file.",
  inputSchema,
  execute: async ({ path }) => readFile(path),
};

function agentOf({ model, tools, processor, others = [], ...settings }) {
  const inputProcessors = [...others, ...(processor ? [processor] : [])];
  const named = { id: "files", name: "files", instructions: "Read." };
  const agent = new Agent({ ...named, model, tools, inputProcessors, ...settings });
  // Its warnings about errors of tools are no subject of these tests.
  agent.__setLogger?.({ debug() {}, info() {}, warn() {}, error() {}, trackException() {} });
  return agent;
}

const endOf = async ({ text, tripwire }) => (await tripwire)?.reason ?? (await text);

function player(start, others) {
  return async (scripts, { options, called }) => {
    const named = Object.fromEntries(scripts.map((script, at) => [`run ${at}`, script]));
    const { model, played } = scripted(named, { called });
    const read_file = createTool({
      id: "read_file",
      description: "Reads a file.",
      inputSchema,
      execute: async ({ path }, { requestContext }) => {
        played[requestContext.get("run")].ran.push(path);
        return readFile(path);
      },
    });
    const processor = options === null ? undefined : new UnstuckProcessor(options);
    const agent = agentOf({ model, tools: { read_file }, processor, others });
    await Promise.all(Object.entries(played).map(async ([name, one]) => (one.end = await start(agent, name))));
    return Object.values(played);
  };
}

const generate = async (agent, name) =>
  endOf(await agent.generate(name, { ...OPTIONS, requestContext: new RequestContext([["run", name]]) }));
const stream = async (agent, name) => {
  const result = await agent.stream(name, { ...OPTIONS, requestContext: new RequestContext([["run", name]]) });
  await result.consumeStream();
  return endOf(result);
};
scenarios("Mastra, generate", player(generate), { seesUnknown: true });
scenarios("Mastra, stream", player(stream), { seesUnknown: true });

// Mastra makes one workflow of several processors.
const others = [
  { id: "first", processInputStep: () => undefined },
  { id: "second", processInput: ({ messages }) => messages },
];
scenarios("Mastra, among other processors", player(generate, others), { seesUnknown: true });

/** Runs one script with one tool. */
async function runOne(script, execute, { settings = {}, options = {}, ...scripting } = {}) {
  const { model, played } = scripted({ run: script }, scripting);
  const read_file = createTool({ id: "read_file", description: "", inputSchema, execute, ...settings });
  const agent = agentOf({ model, tools: { read_file }, processor: new UnstuckProcessor(options) });
  const result = await agent.generate("run", OPTIONS);
  return { requests: played.run.requests, result };
}

test("Mastra: a run that ends has the reason as its tripwire", async () => {
  const { result, requests } = await runOne(failing(12), async ({ path }) => readFile(path));
  assert.equal(requests.length, 8);
  assert.equal(result.tripwire.processorId, "unstuck");
  assert.ok(result.tripwire.reason.startsWith(STOP));
});

test("Mastra: a tool that is called by its id is watched", async () => {
  const { model, played } = scripted({ run: failing(3) });
  const reader = createTool(READ_FILE);
  const agent = agentOf({ model, tools: { reader }, processor: new UnstuckProcessor() });
  await agent.generate("run", OPTIONS);
  assert.ok(played.run.requests[3].includes("3 times in a row"), played.run.requests[3]);
});

test("Mastra: invalid input is a failing call", async () => {
  const { requests } = await runOne([...Array(6).fill([{ file: 1 }]), DONE], async ({ path }) => readFile(path));
  assert.ok(requests[3].includes(NOTE), requests[3]);
  assert.ok(requests[6].includes(REFUSAL), requests[6]);
});

test("Mastra: a note follows results of any shape", async () => {
  const shapes = [
    ["same", undefined, "text same\n\n[unstuck]"],
    [{ same: true }, undefined, 'text {"same":true}\n\n[unstuck]'],
    [
      {},
      () => ({ type: "content", value: [{ type: "text", text: "seen" }] }),
      '{"type":"text","text":"seen"},{"type":"text","text":"[unstuck]',
    ],
  ];
  for (const [value, toModelOutput, expected] of shapes) {
    const settings = toModelOutput ? { toModelOutput } : {};
    const { requests } = await runOne([...Array(12).fill([MISSING]), DONE], async () => value, { settings });
    const noted = requests.find((request) => request.includes("[unstuck]"));
    assert.ok(noted?.includes(expected), noted);
  }
});

// Mastra keeps the newest result alone if an id comes again.
test("Mastra: a note stays with its call if the id comes again", async () => {
  const script = [[{ path: "a.txt" }], [MISSING], [MISSING], [MISSING], [{ path: "b.txt" }], [MISSING], DONE];
  const scripting = { id: () => "0", others: { 5: "write_file" } };
  const { requests } = await runOne(script, async ({ path }) => readFile(path), scripting);
  assert.ok(requests[4].includes(NOTE), requests[4]);
  for (const at of [1, 2, 3, 5, 6]) assert.ok(!requests[at].includes("[unstuck]"), requests[at]);
  assert.ok(requests[5].endsWith("tool: text content of b.txt"), requests[5]);
  assert.ok(requests[6].includes("write_file"), requests[6]);
});

test("Mastra: a note stays with its call if another tool answers to its id", async () => {
  const scripting = { id: () => "0", others: { 3: "write_file" } };
  const { requests } = await runOne(failing(4), async ({ path }) => readFile(path), scripting);
  assert.ok(requests[3].includes(NOTE), requests[3]);
  assert.ok(requests[4].includes("write_file"), requests[4]);
  assert.ok(!requests[4].includes("[unstuck]"), requests[4]);
});

test("Mastra: of two results with one id, the newest gets the note", async () => {
  const processor = new UnstuckProcessor();
  const state = {};
  const turn = (value) => [
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "0", toolName: "read_file", input: {} }] },
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "0", toolName: "read_file", output: { type: "error-text", value } }],
    },
  ];
  const old = turn("an answer of an earlier run");
  const request = (prompt, stepNumber) => processor.processLLMRequest({ prompt, state, stepNumber })?.prompt;
  assert.equal(request(old, 0), undefined);
  const read_file = { execute: async () => Promise.reject(new Error("no such file")) };
  for (let at = 0; at < 3; at += 1) {
    const { tools } = processor.processInputStep({ tools: { read_file }, state, stepNumber: at });
    await assert.rejects(tools.read_file.execute({}, { toolCallId: "0" }));
  }
  const prompt = request([...old, ...turn("no such file")], 3);
  assert.deepEqual(prompt.slice(0, 3), [...old, ...turn().slice(0, 1)]);
  assert.ok(prompt[3].content[0].output.value.includes(NOTE));
});

test("Mastra: notes leave what the agent stores as it is", async () => {
  const { result, requests } = await runOne(failing(4), async ({ path }) => readFile(path));
  assert.ok(requests[4].includes(NOTE));
  assert.equal(requests[4].split(NOTE).length, 2);
  assert.ok(!JSON.stringify(result.response.messages).includes("[unstuck]"));
});

test("Mastra: an agent inside an agent has a guard of its own", async () => {
  const played = {};
  const processor = new UnstuckProcessor();
  const read_file = createTool(READ_FILE);
  const tools = { read_file };
  // Each reads the missing file twice. Three times by one agent would be noted.
  const { model: innerModel } = scripted({ inner: failing(2) }, { played });
  const inner = agentOf({ model: innerModel, tools, processor, description: "Asks." });
  const script = [[MISSING], [MISSING], [{ prompt: "inner" }], DONE];
  const { model } = scripted({ outer: script }, { played, others: { 2: "agent-inner" } });
  await agentOf({ model, tools, processor, agents: { inner } }).generate("outer", OPTIONS);
  const requests = Object.values(played).flatMap((one) => one.requests);
  assert.equal(requests.length, 4 + 3);
  assert.ok(!requests.some((request) => request.includes("[unstuck]")));
});

test("Mastra: a tool that the program runs itself needs no options", async () => {
  const read_file = { execute: async (_, options) => options };
  const { tools } = new UnstuckProcessor().processInputStep({ tools: { read_file }, state: {}, stepNumber: 0 });
  for (const options of [undefined, null]) assert.equal(await tools.read_file.execute({}, options), options);
});

test("Mastra: results and errors that answer with errors are passed on", async () => {
  const hostile = new Proxy({}, {
    get(_, key) {
      if (key === "then") return undefined;
      throw new Error("no property");
    },
  });
  const read_file = { execute: async (isError) => (isError ? Promise.reject(hostile) : hostile) };
  const { tools } = new UnstuckProcessor().processInputStep({ tools: { read_file }, state: {}, stepNumber: 0 });
  const options = { toolCallId: "1", abortSignal: AbortSignal.abort(hostile) };
  assert.ok((await tools.read_file.execute(false, options)) === hostile);
  const thrown = await tools.read_file.execute(true, options).then(assert.fail, (error) => [error]);
  assert.ok(thrown[0] === hostile);
});

test("Mastra: all functions of a tool work on the tool itself", async () => {
  class Reader {
    #text = "none";
    async execute({ path }) {
      this.#text = `read ${path}`;
    }
    toModelOutput() {
      return this.#text;
    }
  }
  const read_file = new Reader();
  const { tools } = new UnstuckProcessor().processInputStep({ tools: { read_file }, state: {}, stepNumber: 0 });
  await tools.read_file.execute({ path: "a.txt" }, { toolCallId: "1" });
  assert.equal(tools.read_file.toModelOutput(), "read a.txt");
  assert.ok(tools.read_file instanceof Reader);
});

test("Mastra: a call that suspends is taken back", async () => {
  const processor = new UnstuckProcessor();
  const state = {};
  const read_file = { execute: async (_, { suspend }) => suspend({}) };
  for (let at = 0; at < 20; at += 1) {
    const { tools } = processor.processInputStep({ tools: { read_file }, state, stepNumber: at });
    const options = { toolCallId: `s${at}`, suspend: async () => "suspended" };
    assert.equal(await tools.read_file.execute({}, options), "suspended");
  }
});

test("Mastra: a call that the program aborts is taken back", async () => {
  const processor = new UnstuckProcessor();
  const state = {};
  const read_file = { execute: async (_, { abortSignal }) => Promise.reject(abortSignal.reason) };
  const options = { abortSignal: AbortSignal.abort() };
  for (let at = 0; at < 9; at += 1) {
    const { tools } = processor.processInputStep({ tools: { read_file }, state, stepNumber: at });
    await assert.rejects(tools.read_file.execute({}, { ...options, toolCallId: `a${at}` }), { name: "AbortError" });
  }
});

test("Mastra: a defect in the state of a run lets it run", () => {
  const log = mock.method(console, "error", () => {});
  try {
    const processor = new UnstuckProcessor();
    const step = { tools: {}, prompt: [], state: null, stepNumber: 0, abort: assert.fail };
    assert.equal(processor.processInputStep(step), undefined);
    assert.equal(processor.processLLMRequest(step), undefined);
    assert.equal(log.mock.callCount(), 1);
  } finally {
    log.mock.restore();
  }
});

test("Mastra: a wrong setup is an error at once", () => {
  assert.throws(() => new UnstuckProcessor({ preset: "nonsense" }), /nonsense/);
});
