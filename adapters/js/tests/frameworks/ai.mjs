// What both versions of the Vercel AI SDK have to do, with their mock models.

import assert from "node:assert/strict";
import { mock, test } from "node:test";

import {
  dynamicTool,
  generateText,
  NoObjectGeneratedError,
  Output,
  stepCountIs,
  streamText,
  tool,
  ToolLoopAgent,
} from "ai";
import { convertArrayToReadableStream } from "ai/test";
import { Guard, Stuck } from "unstuck";
import { unstuck } from "unstuck/ai";
import { z } from "zod";

import { DONE, failing, MISSING, NOTE, Played, readFile, REFUSAL, scenarios, STOP } from "./plays.mjs";

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const LIMIT = stepCountIs(50);
const QUESTION = "user: [unstuck] The model that works here is stuck, and you take its next turn.";

let calls = 0;
const newId = () => `c${(calls += 1)}`;

/** The content of a turn, and why it ended. */
function answer(turn, called, id) {
  if (typeof turn === "string") return { content: [{ type: "text", text: turn }], finishReason: { unified: "stop" } };
  const content = turn.map((input) => ({
    type: "tool-call",
    toolCallId: id(),
    toolName: called,
    input: typeof input === "string" ? input : JSON.stringify(input),
  }));
  return { content, finishReason: { unified: "tool-calls" } };
}

/** The text of what the model reads. Ids that differ in each run are left out. */
function textOf({ role, content }) {
  if (typeof content === "string") return `${role}: ${content}`;
  const parts = content.map((part) => {
    if (part.type === "text") return part.text;
    if (part.type === "file") return "a file";
    if (part.type === "tool-call") return `${part.toolName} ${JSON.stringify(part.input)}`;
    const { type, value, reason } = part.output;
    return `${type} ${typeof value === "string" ? value : JSON.stringify(value ?? reason)}`;
  });
  return `${role}: ${parts.join("\n")}`;
}

/** A model that answers each run with the script that its first message names. `id` returns the id of a call. */
export function scripted(Mock, scripts, called = "read_file", id = newId) {
  const played = Object.fromEntries(Object.keys(scripts).map((name) => [name, new Played()]));
  const next = ({ prompt }) => {
    const name = prompt.find(({ role }) => role === "user").content[0].text;
    const { requests } = played[name];
    requests.push(prompt.map(textOf).join("\n"));
    return answer(scripts[name][requests.length - 1], called, id);
  };
  const model = new Mock({
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
      const stream = [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage: USAGE }];
      return { stream: convertArrayToReadableStream(stream) };
    },
  });
  return { model, played };
}

const inputSchema = z.object({ path: z.string() });

/** The tool of the scenarios, made in different ways. */
const MADE = {
  async: (work) => tool({ inputSchema, execute: async ({ path }, options) => work(path, options) }),
  sync: (work) => tool({ inputSchema, execute: ({ path }, options) => work(path, options) }),
  streaming: (work) =>
    tool({
      inputSchema,
      async *execute({ path }, options) {
        yield "reading";
        yield work(path, options);
      },
    }),
  dynamic: (work) =>
    dynamicTool({ description: "", inputSchema, execute: async ({ path }, options) => work(path, options) }),
};

/** The ways to run. They return the text of the last step. */
const WAYS = {
  generateText: async (settings, prompt) => (await generateText({ ...settings, prompt })).text,
  streamText: async (settings, prompt) => {
    const result = streamText({ ...settings, prompt, onError: () => {} });
    await result.consumeStream();
    return result.text;
  },
};

/** Plays scripts as `scenarios` wants it. `start` gets the settings and returns a way to run one prompt. */
function player(Mock, make, start) {
  return async (scripts, { options, called }) => {
    const named = Object.fromEntries(scripts.map((script, at) => [`run ${at}`, script]));
    const { model, played } = scripted(Mock, named, called);
    const read_file = make((path, { messages }) => {
      const { content } = messages.find(({ role }) => role === "user");
      played[typeof content === "string" ? content : content[0].text].ran.push(path);
      return readFile(path);
    });
    const tools = { read_file };
    const watch = options === null ? (settings) => settings : unstuck(options);
    const run = start({ model, stopWhen: LIMIT }, { tools }, watch);
    await Promise.all(Object.entries(played).map(async ([name, run_]) => (run_.end = await run(name))));
    return Object.values(played);
  };
}

export function cases(version, Mock) {
  for (const [way, run] of Object.entries(WAYS)) {
    const start = (settings, own, watch) => (prompt) => run({ ...settings, ...watch(own) }, prompt);
    scenarios(`${version}, ${way}`, player(Mock, MADE.async, start), { seesUnknown: true });
  }
  const agent = (settings, own, watch) => {
    const shared = new ToolLoopAgent({ ...settings, ...watch(own) });
    return async (prompt) => (await shared.generate({ prompt })).text;
  };
  scenarios(`${version}, ToolLoopAgent`, player(Mock, MADE.async, agent), { seesUnknown: true });
  const stream = (settings, own, watch) => {
    const shared = new ToolLoopAgent(watch({ ...settings, ...own }));
    return async (prompt) => (await shared.stream({ prompt })).text;
  };
  scenarios(`${version}, ToolLoopAgent as a stream`, player(Mock, MADE.async, stream), { seesUnknown: true });
  for (const made of ["sync", "streaming", "dynamic"]) {
    const start = (settings, own, watch) => (prompt) => WAYS.generateText({ ...settings, ...watch(own) }, prompt);
    scenarios(`${version}, ${made} tool`, player(Mock, MADE[made], start));
  }

  const define = (title, run) => test(`${version}: ${title}`, run);
  const generate = async (script, tools, { settings = {}, own = {}, options = {}, called, id } = {}) => {
    const { model, played } = scripted(Mock, { run: script }, called, id);
    const watch = unstuck(options);
    const result = await generateText({
      model,
      prompt: "run",
      stopWhen: LIMIT,
      ...settings,
      ...watch({ tools, ...own }),
    });
    return { result, requests: played.run.requests };
  };
  const failingTool = tool({ inputSchema, execute: async ({ path }) => readFile(path) });

  define("the end has a finish reason of its own and asks no model", async () => {
    const { result, requests } = await generate(failing(12), { read_file: failingTool });
    assert.equal(result.finishReason, "other");
    assert.equal(result.rawFinishReason, "unstuck");
    assert.equal(result.steps.length, 9);
    assert.equal(requests.length, 8);
  });

  define("the end comes although the model must call a tool", async () => {
    const settings = { toolChoice: "required" };
    const { result } = await generate(failing(12), { read_file: failingTool }, { settings });
    assert.ok(result.text.startsWith(STOP), result.text);
  });

  define("the limit of steps stays as it is", async () => {
    const { result } = await generate(failing(12), { read_file: failingTool }, { settings: { stopWhen: undefined } });
    assert.equal(result.steps.length, 1);
    const { model } = scripted(Mock, { run: Array(30).fill([{ path: "a" }]) });
    let reads = 0;
    const read_file = tool({ inputSchema, execute: () => (reads += 1) });
    const agent = new ToolLoopAgent({ model, ...unstuck()({ tools: { read_file } }) });
    assert.equal((await agent.generate({ prompt: "run" })).steps.length, 20);
  });

  define("notes leave the results of the program as they are", async () => {
    const { result, requests } = await generate(failing(4), { read_file: failingTool });
    const errors = result.steps.flatMap(({ content }) => content).filter(({ type }) => type === "tool-error");
    assert.deepEqual(
      errors.map(({ error }) => error.message),
      Array(4).fill("no such file: missing.txt"),
    );
    assert.ok(requests[4].includes(NOTE));
    // The note is read once and stays where it was.
    assert.equal(requests[4].split(NOTE).length, 2);
  });

  define("a refusal is an error that the program can tell", async () => {
    const { result } = await generate(failing(6), { read_file: failingTool });
    const { error } = result.steps[5].content.find(({ type }) => type === "tool-error");
    assert.ok(error instanceof Stuck);
    assert.equal(error.decision.action, "block");
  });

  define("a note follows results of any shape", async () => {
    const shapes = {
      text: [() => "same", undefined, "text same\n\n"],
      json: [() => ({ same: true }), undefined, 'text {"same":true}\n\n'],
      content: [
        () => ({}),
        () => ({ type: "content", value: [{ type: "text", text: "seen" }] }),
        '{"type":"text","text":"seen"},{"type":"text","text":"[unstuck]',
      ],
    };
    for (const [name, [execute, toModelOutput, expected]] of Object.entries(shapes)) {
      const read_file = tool({ inputSchema, execute, ...(toModelOutput && { toModelOutput }) });
      const script = [...Array(12).fill([{ path: "a.txt" }]), DONE];
      const { requests } = await generate(script, { read_file });
      const noted = requests.find((request) => request.includes("[unstuck]"));
      assert.ok(noted, name);
      assert.ok(noted.includes(expected), noted);
    }
  });

  define("invalid input is a failing call", async () => {
    const script = [...Array(6).fill([{ file: 1 }]), DONE];
    const { requests } = await generate(script, { read_file: failingTool });
    assert.ok(requests[3].includes(NOTE), requests[3]);
    assert.ok(requests[6].includes(REFUSAL), requests[6]);
  });

  define("a note stays with its call if the id comes again", async () => {
    const script = [[{ path: "a.txt" }], [MISSING], [MISSING], [MISSING], [{ path: "b.txt" }], DONE];
    const { requests } = await generate(script, { read_file: failingTool }, { id: () => "0" });
    assert.ok(requests[4].includes(NOTE), requests[4]);
    const results = requests[5].split("\n").filter((line) => /^tool:/.test(line));
    assert.equal(requests[5].split(NOTE).length, 2);
    assert.equal(results[0], "tool: text content of a.txt");
    assert.equal(results[4], "tool: text content of b.txt");
    // The note follows the third failure, and not another.
    assert.equal(requests[5].split(NOTE)[0].split("no such file").length, 4);
  });

  define("a refusal stays with its call if the id comes again", async () => {
    const script = [...Array(6).fill([{ file: 1 }]), [{ path: "b.txt" }], DONE];
    const { requests } = await generate(script, { read_file: failingTool }, { id: () => "0" });
    assert.ok(requests[6].includes(REFUSAL), requests[6]);
    assert.equal(requests[7].split(REFUSAL).length, 2);
    assert.ok(requests[7].endsWith("tool: text content of b.txt"), requests[7]);
  });

  /** Plays a script with two models. Returns what the strong one was asked, with the number of the step. */
  const escalate = async (script, options = {}) => {
    const { model, played } = scripted(Mock, { run: script });
    const asked = [];
    const escalateTo = new Mock({
      doGenerate: async (request) => {
        asked.push([played.run.requests.length, textOf(request.prompt.at(-1))]);
        return model.doGenerate(request);
      },
    });
    const watch = unstuck({ escalateTo, ...options });
    const settings = { ...watch({ tools: { read_file: failingTool } }), stopWhen: LIMIT };
    const result = await generateText({ model, prompt: "run", ...settings });
    return { asked, result, requests: played.run.requests };
  };

  define("the strong model takes one turn before a refusal, at most twice", async () => {
    const loops = ["a", "b", "c"].flatMap((name) => Array(6).fill([{ path: `missing ${name}` }]));
    const { asked, requests } = await escalate([...loops, DONE]);
    // After the fifth equal failure of a loop, the sixth step is the other model's.
    assert.deepEqual(asked.map(([step]) => step), [5, 11]);
    assert.ok(asked[0][1].startsWith(QUESTION), asked[0][1]);
    assert.ok(asked[0][1].includes("the same `read_file` call 5 times in a row"), asked[0][1]);
    const steps = requests.flatMap((request, at) => (request.includes(QUESTION) ? [at] : []));
    assert.deepEqual(steps, [5, 11]);
  });

  define("a loop that goes on is refused and ends as always", async () => {
    const { asked, requests, result } = await escalate(failing(12));
    assert.equal(asked.length, 1);
    assert.equal(requests.length, 8);
    assert.ok(result.text.startsWith(STOP), result.text);
  });

  define("a second opinion holds", async () => {
    const later = (answer) => new Promise((resolve) => setTimeout(resolve, 5, answer));
    for (const onTime of [(answer) => answer, later]) {
      for (const [answer, steps] of [["go on", 10], ["stop", 6], [undefined, 9]]) {
        const seen = [];
        const onEscalate = ({ excerpt, finding }) => {
          seen.push([excerpt, finding.laps]);
          return onTime(answer);
        };
        const tools = { read_file: failingTool };
        const { result } = await generate(failing(9), tools, { options: { onEscalate } });
        assert.equal(seen.length, 1);
        assert.ok(seen[0][0].includes("no such file: missing.txt"), seen[0][0]);
        assert.equal(result.steps.length, steps, `${answer}`);
        assert.equal(result.text === DONE, answer === "go on");
      }
    }
  });

  define("turns that only repeat are left out of the requests", async () => {
    const count = (request) => request.split("no such file").length - 1;
    const other = [[{ path: "a.txt" }, MISSING]];
    const script = [...Array(4).fill([MISSING]), ...other, DONE];
    const options = { collapse: true };
    const { requests } = await generate(script, { read_file: failingTool }, { options });
    // The first and the latest stay. A turn that has more than a repeated call stays whole.
    assert.deepEqual(requests.map(count), [0, 1, 2, 2, 2, 2]);
    assert.ok(requests[5].includes("content of a.txt"));
    for (const request of requests) {
      assert.equal(request.split("assistant:").length, request.split("tool:").length, request);
    }
    const plain = await generate(script, { read_file: failingTool });
    assert.deepEqual(plain.requests.map(count), [0, 1, 2, 3, 4, 5]);
  });

  define("a prepareStep of the program goes on", async () => {
    const seen = [];
    const prepareStep = ({ stepNumber, messages }) => {
      seen.push(messages.map((message) => JSON.stringify(message)).join("\n"));
      return stepNumber === 1 ? { messages: [...messages, { role: "user", content: "go on" }] } : undefined;
    };
    const { requests, result } = await generate(failing(12), { read_file: failingTool }, { own: { prepareStep } });
    assert.ok(requests[1].includes("go on"));
    assert.ok(seen[3].includes("3 times in a row"));
    assert.equal(seen.length, 8);
    assert.ok(result.text.startsWith(STOP));
  });

  define("two calls with one session share a guard, and a new message lifts the refusal", async () => {
    const watch = unstuck();
    const ran = [];
    const read_file = tool({
      inputSchema,
      execute: ({ path }) => {
        ran.push(path);
        return readFile(path);
      },
    });
    const { model, played } = scripted(Mock, { run: [...failing(6), ...failing(1)] });
    const settings = { model, stopWhen: LIMIT, ...watch({ tools: { read_file }, session: "a" }) };
    const messages = [{ role: "user", content: "run" }];
    const first = await generateText({ ...settings, messages });
    messages.push(...first.response.messages, { role: "user", content: "look again" });
    await generateText({ ...settings, messages });
    assert.equal(ran.length, 6);
    assert.ok(!played.run.requests.at(-1).split("look again")[1].includes("[unstuck]"));
  });

  define("a session counts on over calls without a new message", async () => {
    const watch = unstuck();
    const { model, played } = scripted(Mock, { run: [...failing(2), ...failing(1)] });
    const tools = { read_file: failingTool };
    const run = (session) => ({ model, stopWhen: LIMIT, ...watch({ tools, ...(session && { session }) }) });
    const messages = [{ role: "user", content: "run" }];
    const first = await generateText({ ...run("a"), messages });
    // The messages end with an answer of the agent, which is no new instruction.
    messages.push(...first.response.messages);
    await generateText({ ...run("a"), messages });
    assert.ok(played.run.requests.at(-1).includes(NOTE), played.run.requests.at(-1));
  });

  define("a message with an image is new if its image or its text is", async () => {
    const content = (text, byte) => [
      { type: "text", text },
      { type: "image", image: new Uint8Array([0x89, 0x50, 0x4e, 0x47, byte]) },
    ];
    const notes = async (contentOf) => {
      const watch = unstuck();
      const messages = [];
      let noted = 0;
      for (let at = 0; at < 4; at += 1) {
        const { model, played } = scripted(Mock, { run: failing(1) });
        messages.push({ role: "user", content: "run" }, { role: "user", content: contentOf(at) });
        const settings = watch({ tools: { read_file: failingTool }, session: "a" });
        const { response } = await generateText({ model, messages, stopWhen: LIMIT, ...settings });
        messages.push(...response.messages);
        noted += played.run.requests.at(-1).includes("[unstuck]") ? 1 : 0;
      }
      return noted;
    };
    assert.equal(await notes((at) => content("look at this", at)), 0);
    assert.equal(await notes((at) => content(`look at ${at}`, 0)), 0);
    // An automatic message stays the same.
    assert.ok((await notes(() => content("go on", 0))) > 0);
  });

  define("a call that the program aborts is taken back", async () => {
    const watch = unstuck();
    // The messages end with an answer of the agent, so no new instruction lifts what the guard knows.
    const messages = [{ role: "user", content: "run" }, { role: "assistant", content: "…" }];
    const run = async (execute, abortSignal) => {
      const { model, played } = scripted(Mock, { run: failing(1) });
      const tools = { read_file: tool({ inputSchema, execute }) };
      const settings = { model, messages, abortSignal, stopWhen: LIMIT, ...watch({ tools, session: "a" }) };
      await generateText(settings).catch(() => {});
      return played.run.requests;
    };
    for (let at = 0; at < 9; at += 1) {
      const abort = new AbortController();
      await run((_, { abortSignal }) => {
        abort.abort();
        return Promise.reject(abortSignal.reason);
      }, abort.signal);
    }
    const requests = await run(({ path }) => readFile(path));
    assert.equal(requests.length, 2);
    assert.ok(!requests[1].includes("[unstuck]"), requests[1]);
  });

  define("a tool that exceeds its time limit has failed", async () => {
    const execute = (_, { abortSignal }) => Promise.reject(abortSignal.reason);
    const { tools } = unstuck()({ tools: { read_file: tool({ inputSchema, execute }) }, session: "a" });
    const refusals = async (reason) => {
      let refused = 0;
      for (let at = 0; at < 20; at += 1) {
        const options = { messages: [], toolCallId: `${reason}${at}`, abortSignal: AbortSignal.abort(reason) };
        try {
          await tools.read_file.execute(MISSING, options);
        } catch (error) {
          if (error instanceof Stuck) refused += 1;
        }
      }
      return refused;
    };
    assert.equal(await refusals(), 0);
    assert.ok((await refusals(new DOMException("too slow", "TimeoutError"))) > 0);
  });

  define("calls that the user approves are watched in a session", async () => {
    const watch = unstuck();
    const { model, played } = scripted(Mock, { run: failing(6) });
    const ran = [];
    const read_file = tool({
      inputSchema,
      needsApproval: true,
      execute: ({ path }) => {
        ran.push(path);
        return readFile(path);
      },
    });
    const settings = { model, stopWhen: LIMIT, ...watch({ tools: { read_file }, session: "a" }) };
    const messages = [{ role: "user", content: "run" }];
    for (let at = 0; at < 7; at += 1) {
      const { content, response, responseMessages } = await generateText({ ...settings, messages });
      messages.push(...(responseMessages ?? response.messages));
      const asked = content.filter(({ type }) => type === "tool-approval-request");
      const approved = asked.map(({ approvalId }) => ({ type: "tool-approval-response", approvalId, approved: true }));
      messages.push({ role: "tool", content: approved });
    }
    assert.equal(ran.length, 5);
    assert.ok(played.run.requests[3].includes(NOTE), played.run.requests[3]);
    assert.ok(played.run.requests[6].includes(REFUSAL), played.run.requests[6]);
  });

  define("a run with structured output ends with the SDK's error about it", async () => {
    const settings = { output: Output.object({ schema: z.object({ done: z.boolean() }) }) };
    await assert.rejects(generate(failing(12), { read_file: failingTool }, { settings }), (error) => {
      assert.ok(NoObjectGeneratedError.isInstance(error), String(error));
      assert.ok(error.text.startsWith(STOP), error.text);
      return true;
    });
  });

  define("a stream that nobody reads to its end is taken back", async () => {
    async function* execute() {
      yield "one";
      yield "two";
    }
    const { tools } = unstuck()({ tools: { read_file: tool({ inputSchema, execute }) } });
    const cancelled = mock.method(Guard.prototype, "cancelled");
    try {
      const parts = tools.read_file.execute(MISSING, { messages: [], toolCallId: "s" });
      assert.deepEqual(await parts.next(), { done: false, value: "one" });
      assert.equal(cancelled.mock.callCount(), 0);
      await parts.return();
      assert.equal(cancelled.mock.callCount(), 1);
    } finally {
      cancelled.mock.restore();
    }
  });

  define("a step is known by its messages although some are appended", async () => {
    const { tools, prepareStep } = unstuck()({ tools: { read_file: failingTool } });
    const steps = [];
    let messages = [{ role: "user", content: "run" }];
    for (const stepNumber of [0, 1, 2]) {
      await prepareStep({ steps, stepNumber, messages });
      const toolCallId = `k${stepNumber}`;
      const appended = [...messages, { role: "user", content: "These tools may be called by others." }];
      await assert.rejects(tools.read_file.execute(MISSING, { toolCallId, messages: appended }));
      const output = { type: "error-text", value: "no such file: missing.txt" };
      messages = [...messages, { role: "tool", content: [{ type: "tool-result", toolCallId, output }] }];
    }
    const prepared = await prepareStep({ steps, stepNumber: 3, messages });
    assert.ok(prepared.messages.at(-1).content[0].output.value.includes(NOTE));
  });

  define("an agent inside a tool has a guard of its own", async () => {
    const watch = unstuck();
    const { model, played } = scripted(Mock, {
      outer: [[MISSING], [MISSING], [{ path: "inner" }], DONE],
      inner: failing(2),
    });
    const tools = { read_file: failingTool };
    const read_file = tool({
      inputSchema,
      execute: async ({ path }) => {
        if (path !== "inner") return readFile(path);
        return (await generateText({ model, prompt: "inner", stopWhen: LIMIT, ...watch({ tools }) })).text;
      },
    });
    await generateText({ model, prompt: "outer", stopWhen: LIMIT, ...watch({ tools: { read_file } }) });
    const requests = [...played.outer.requests, ...played.inner.requests];
    assert.equal(requests.length, 4 + 3);
    assert.ok(!requests.some((request) => request.includes("[unstuck]")));
  });

  define("a tool that the program runs itself needs no options", async () => {
    const told = [];
    const execute = (input, options) => {
      told.push(options);
      return input.path;
    };
    const { tools } = unstuck()({ tools: { read_file: { inputSchema, execute }, none: undefined } });
    for (const options of [undefined, null, {}, { toolCallId: "1" }]) {
      for (let at = 0; at < 9; at += 1) assert.equal(tools.read_file.execute(MISSING, options), MISSING.path);
      assert.ok(told.every((one) => one === options));
      told.length = 0;
    }
  });

  define("options that answer with an error let a call run", () => {
    const log = mock.method(console, "error", () => {});
    try {
      const { tools } = unstuck()({ tools: { read_file: { inputSchema, execute: () => "ran" } } });
      for (const key of ["messages", "toolCallId", "abortSignal"]) {
        const options = {
          toolCallId: "1",
          messages: [],
          get [key]() {
            throw new Error("no options");
          },
        };
        assert.equal(tools.read_file.execute(MISSING, options), "ran");
      }
      assert.equal(log.mock.callCount(), 1);
    } finally {
      log.mock.restore();
    }
  });

  define("a result that answers with errors is passed on", async () => {
    const hostile = new Proxy({}, {
      get() {
        throw new Error("no property");
      },
    });
    const { tools } = unstuck()({ tools: { read_file: { inputSchema, execute: () => hostile } } });
    assert.equal(tools.read_file.execute(MISSING, { toolCallId: "1", messages: [] }), hostile);
    // The value of a promise is asked for `then` by the language, but for nothing else.
    const promised = new Proxy({}, {
      get(_, key) {
        if (key === "then") return undefined;
        throw new Error("no property");
      },
    });
    const { tools: others } = unstuck()({ tools: { read_file: { inputSchema, execute: async () => promised } } });
    assert.equal(await others.read_file.execute(MISSING, { toolCallId: "1", messages: [] }), promised);
  });

  define("an error of any type and any reason of an abort are passed on", async () => {
    const hostile = new Proxy({}, {
      get() {
        throw new Error("no property");
      },
    });
    for (const error of [undefined, null, Object.create(null), Symbol("error"), hostile]) {
      for (const abortSignal of [undefined, AbortSignal.abort(hostile)]) {
        const execute = () => {
          throw error;
        };
        const { tools } = unstuck()({ tools: { read_file: { inputSchema, execute } } });
        let thrown;
        try {
          tools.read_file.execute(MISSING, { toolCallId: "1", messages: [], abortSignal });
        } catch (caught) {
          thrown = [caught];
        }
        assert.ok(thrown[0] === error);
      }
    }
  });

  define("a tool keeps its prototype, and settings that are not ours pass through", () => {
    class Reader {
      inputSchema = inputSchema;
      #text = "text";
      execute() {
        return this.#text;
      }
      extra() {}
    }
    const watched = unstuck()({ tools: { read_file: new Reader() }, temperature: 0, session: "a" });
    assert.ok(watched.tools.read_file instanceof Reader);
    const options = { toolCallId: "1", messages: [] };
    assert.equal(watched.tools.read_file.execute({}, options), "text");
    assert.equal(watched.temperature, 0);
    assert.ok(!("session" in watched));
  });

  define("all functions of a tool work on the tool itself", async () => {
    class Base {
      get description() {
        return this.secret();
      }
    }
    class Reader extends Base {
      inputSchema = inputSchema;
      #text = "none";
      onInputAvailable = function () {
        this.#text = "asked";
      };
      secret() {
        return this.#text;
      }
      execute({ path }) {
        this.#text = `read ${path}`;
        return {};
      }
      toModelOutput() {
        return { type: "text", value: this.#text };
      }
    }
    const reader = new Reader();
    const { requests } = await generate([[{ path: "a.txt" }], DONE], { read_file: reader });
    assert.ok(requests[1].endsWith("text read a.txt"), requests[1]);
    const { read_file } = unstuck()({ tools: { read_file: Object.freeze(reader) } }).tools;
    assert.equal(read_file.description, "read a.txt");
    read_file.onInputAvailable();
    assert.equal(read_file.description, "asked");
    assert.deepEqual(Object.keys(read_file).sort(), ["execute", "inputSchema", "onInputAvailable"]);
    assert.equal(read_file.constructor, Reader);
  });

  define("a schema that is a function keeps its properties", () => {
    const schema = Object.assign(() => true, { "~standard": { version: 1 } });
    const { read_file } = unstuck()({ tools: { read_file: { inputSchema: schema, execute: () => "" } } }).tools;
    assert.equal(read_file.inputSchema, schema);
  });

  define("a wrong setup is an error at once", () => {
    assert.throws(() => unstuck({ preset: "nonsense" }), /nonsense/);
  });

  define("a defect in the state of a run lets it run", async () => {
    const log = mock.method(console, "error", () => {});
    try {
      const watched = unstuck()({ tools: {} });
      const settings = await watched.prepareStep({ steps: null, messages: null, stepNumber: 0 });
      assert.equal(settings, undefined);
      assert.equal(log.mock.callCount(), 1);
    } finally {
      log.mock.restore();
    }
  });
}
