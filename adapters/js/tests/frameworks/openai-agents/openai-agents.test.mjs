// The OpenAI Agents SDK.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import {
  Agent,
  run,
  Runner,
  setTracingDisabled,
  tool,
  ToolInputGuardrailTripwireTriggered,
} from "@openai/agents";
import { assistantMessage, functionCall, modelResponder, ScriptedModel } from "@openai/agents-core/testing";
import { Decision } from "unstuck";
import { Unstuck } from "unstuck/openai-agents";
import { z } from "zod";

import { DONE, failing, MISSING, NOTE, Played, readFile, REFUSAL, scenarios, STOP } from "./plays.mjs";

setTracingDisabled(true);

/** The SDK's own text about a failure. */
const FAILED = "An error occurred while running the tool. Please try again.";

let calls = 0;

/** The text of what the model reads. Ids that differ in each run are left out. */
function textOf(item) {
  if (item.type === "function_call") return `${item.name} ${item.arguments}`;
  if (item.type === "function_call_result") return `result ${item.output.text ?? JSON.stringify(item.output)}`;
  const { role, content } = item;
  return `${role}: ${typeof content === "string" ? content : content.map(({ text }) => text).join("\n")}`;
}

/** A model that answers each run with the script that its first message names. */
function scripted(scripts, { played = {}, called = "read_file", others = {} } = {}) {
  for (const name of Object.keys(scripts)) played[name] ??= new Played();
  const respond = ({ request: { input } }) => {
    const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
    const name = textOf(items[0]).slice("user: ".length);
    const { requests } = played[name];
    requests.push(items.map(textOf).join("\n"));
    const number = requests.length - 1;
    const turn = scripts[name][number];
    if (typeof turn === "string") return [assistantMessage(turn)];
    const toolName = others[number] ?? called;
    return turn.map((args) => functionCall(toolName, args, { callId: `c${(calls += 1)}` }));
  };
  return { model: new ScriptedModel(Array(100).fill(modelResponder(respond))), played };
}

const parameters = z.object({ path: z.string() });

/** The decision of the error that ended a run. */
function decisionOf(error) {
  const tripwire = error.error ?? error;
  assert.ok(tripwire instanceof ToolInputGuardrailTripwireTriggered, String(error));
  return tripwire.result.output.outputInfo;
}

function player(start) {
  return async (scripts, { options, called }) => {
    const named = Object.fromEntries(scripts.map((script, at) => [`run ${at}`, script]));
    const { model, played } = scripted(named, { called });
    const watch = new Unstuck(options ?? {});
    const read_file = tool({
      name: "read_file",
      description: "Reads a file.",
      parameters,
      // The run that nobody watches has the same texts of errors.
      errorFunction: watch.errorFunction,
      execute: ({ path }, context) => {
        played[context.context.name].ran.push(path);
        return readFile(path);
      },
    });
    const agent = new Agent({ name: "files", model, tools: options === null ? [read_file] : watch.tools([read_file]) });
    const config = options === null ? { toolNotFoundBehavior: "return_error_to_model" } : watch.runConfig();
    await Promise.all(
      Object.entries(played).map(async ([name, one]) => {
        try {
          one.end = await start(agent, name, { context: { name }, maxTurns: 50, ...config });
        } catch (error) {
          one.end = decisionOf(error).message;
        }
      }),
    );
    return Object.values(played);
  };
}

const whole = async (agent, name, options) => (await run(agent, name, options)).finalOutput;
scenarios("OpenAI Agents", player(whole), { seesUnknown: true });

const stream = async (agent, name, options) => {
  const result = await run(agent, name, { ...options, stream: true });
  await result.completed;
  return result.finalOutput;
};
scenarios("OpenAI Agents, as a stream", player(stream), { seesUnknown: true });

/** Runs one script with one tool. */
async function runOne(script, execute, { settings = {}, options = {}, config = {} } = {}) {
  const { model, played } = scripted({ run: script });
  const watch = new Unstuck(options);
  const read_file = tool({ name: "read_file", description: "", parameters, execute, ...settings });
  const agent = new Agent({ name: "files", model, tools: watch.tools([read_file]) });
  const runner = new Runner(watch.runConfig(config));
  const error = await runner.run(agent, "run", { maxTurns: 50 }).then(
    () => undefined,
    (error) => error,
  );
  return { requests: played.run.requests, error };
}

test("OpenAI Agents: failures that the SDK hides are failures", async () => {
  const { requests } = await runOne(failing(6), ({ path }) => readFile(path));
  assert.ok(requests[3].includes(NOTE), requests[3]);
  assert.ok(!requests[3].includes("no such file"));
  assert.ok(requests[6].includes(REFUSAL), requests[6]);
});

test("OpenAI Agents: invalid arguments are a failing call if the SDK does not hide them", async () => {
  const script = [...Array(6).fill([{ file: 1 }]), DONE];
  const hidden = await runOne(script, ({ path }) => readFile(path));
  assert.ok(!hidden.requests.some((request) => request.includes("[unstuck]")));
  process.env.OPENAI_AGENTS_DONT_LOG_TOOL_DATA = "0";
  try {
    const { requests } = await runOne(script, ({ path }) => readFile(path));
    assert.ok(requests[3].includes(NOTE), requests[3]);
    assert.ok(requests[6].includes(REFUSAL), requests[6]);
  } finally {
    delete process.env.OPENAI_AGENTS_DONT_LOG_TOOL_DATA;
  }
});

test("OpenAI Agents: the error that ends a run has the decision", async () => {
  const { error } = await runOne(failing(12), ({ path }) => readFile(path));
  const decision = decisionOf(error);
  assert.ok(decision instanceof Decision);
  assert.ok(decision.endsRun);
  assert.ok(decision.message.startsWith(STOP));
});

test("OpenAI Agents: a note follows results of any shape", async () => {
  const shapes = [
    ["same", "result same\n\n[unstuck]"],
    [{ same: true }, 'result {"same":true}\n\n[unstuck]'],
    [{ type: "text", text: "same" }, '{"type":"input_text","text":"same"},{"type":"input_text","text":"[unstuck]'],
  ];
  for (const [result, expected] of shapes) {
    const { requests } = await runOne([...Array(12).fill([MISSING]), DONE], () => result);
    const noted = requests.find((request) => request.includes("[unstuck]"));
    assert.ok(noted?.includes(expected), noted);
  }
});

test("OpenAI Agents: a result with a schema gets no note", async () => {
  const settings = {
    outputSchema: z.object({ same: z.boolean() }),
    errorFunction: () => ({ same: false }),
  };
  const { requests, error } = await runOne([...Array(9).fill([MISSING]), DONE], () => ({ same: true }), { settings });
  assert.ok(requests.length > 3);
  assert.ok(!requests.some((request) => request.includes("[unstuck]")));
  assert.ok(error === undefined || decisionOf(error).endsRun);
});

test("OpenAI Agents: guardrails of the tool go on", async () => {
  const seen = [];
  const guardrail = (type) => ({
    name: type,
    run: async () => {
      seen.push(type);
      return { behavior: { type: "allow" } };
    },
  });
  const settings = { inputGuardrails: [guardrail("input")], outputGuardrails: [guardrail("output")] };
  await runOne(failing(1), ({ path }) => readFile(path), { settings });
  assert.deepEqual(seen, ["input", "output"]);
});

test("OpenAI Agents: an agent that is a tool has a guard of its own", async () => {
  const played = {};
  const watch = new Unstuck();
  const read_file = tool({
    name: "read_file",
    description: "",
    parameters,
    errorFunction: watch.errorFunction,
    execute: ({ path }) => readFile(path),
  });
  const tools = watch.tools([read_file]);
  // Each reads the missing file twice. Three times by one agent would be noted.
  const inner = new Agent({ name: "inner", model: scripted({ inner: failing(2) }, { played }).model, tools });
  const script = [[MISSING], [MISSING], [{ input: "inner" }], DONE];
  const { model } = scripted({ outer: script }, { played, others: { 2: "ask" } });
  const ask = inner.asTool({ toolName: "ask", toolDescription: "Asks." });
  await run(new Agent({ name: "outer", model, tools: [...tools, ...watch.tools([ask])] }), "outer", watch.runConfig());
  const requests = Object.values(played).flatMap((one) => one.requests);
  assert.equal(requests.length, 4 + 3);
  assert.ok(!requests.some((request) => request.includes("[unstuck]")));
});

test("OpenAI Agents: tools that are not functions and the tools of the program stay as they are", () => {
  const watch = new Unstuck();
  const hosted = { type: "hosted_tool", name: "web_search" };
  const own = tool({ name: "own", description: "", parameters, execute: () => "" });
  const [first, second] = watch.tools([hosted, own]);
  assert.equal(first, hosted);
  assert.notEqual(second, own);
  assert.equal(own.inputGuardrails.length, 0);
  assert.equal(second.invoke, own.invoke);
});

test("OpenAI Agents: an error of any type is a failure that the model reads", async () => {
  const hostile = new Proxy(new Error("hidden"), {
    get() {
      throw new Error("no property");
    },
    getPrototypeOf() {
      throw new Error("no prototype");
    },
  });
  const shapes = [
    [undefined, "Error: undefined"],
    [null, "Error: null"],
    [Object.create(null), FAILED],
    [Object.assign(new Error(), { message: Symbol("none") }), FAILED],
    [{ toString: () => ({}) }, FAILED],
    [hostile, FAILED],
  ];
  for (const [error, expected] of shapes) assert.equal(new Unstuck().errorFunction({}, error), expected);
  // The SDK's own code fails for the values above.
  for (const error of ["text", 0, Symbol("none"), { toString: () => "text" }]) {
    const expected = `Error: ${String(error)}`;
    const watch = new Unstuck();
    const execute = () => {
      throw error;
    };
    const { errorFunction } = watch;
    const read_file = tool({ name: "read_file", description: "", parameters, execute, errorFunction });
    const { model, played } = scripted({ run: failing(3) });
    await run(new Agent({ name: "files", model, tools: watch.tools([read_file]) }), "run", watch.runConfig());
    const { requests } = played.run;
    assert.ok(requests[1].endsWith(expected), requests[1]);
    assert.ok(requests[3].includes(NOTE), requests[3]);
  }
});

test("OpenAI Agents: an error function needs no run", () => {
  const log = mock.method(console, "error", () => {});
  try {
    const { errorFunction } = new Unstuck();
    const details = { toolCall: { callId: "1" } };
    for (const context of [undefined, null]) {
      assert.equal(errorFunction(context, new TypeError("wrong"), details), "Error: TypeError: wrong");
      assert.equal(errorFunction(context, "text"), "Error: text");
    }
    assert.equal(log.mock.callCount(), 0);
    assert.equal(errorFunction("no object", "text", details), "Error: text");
    assert.equal(log.mock.callCount(), 1);
  } finally {
    log.mock.restore();
  }
});

test("OpenAI Agents: a formatter that is told nothing leaves the error as it is", () => {
  const log = mock.method(console, "error", () => {});
  try {
    assert.equal(new Unstuck().runConfig().toolErrorFormatter(undefined), undefined);
    assert.equal(log.mock.callCount(), 1);
  } finally {
    log.mock.restore();
  }
});

test("OpenAI Agents: a formatter of the host stays", () => {
  const config = { toolErrorFormatter: () => "ours" };
  assert.equal(new Unstuck().runConfig(config), config);
});

test("OpenAI Agents: a wrong setup is an error at once", () => {
  assert.throws(() => new Unstuck({ preset: "nonsense" }), /nonsense/);
});
