// The Claude Agent SDK, with the program that it carries and a scripted model on loopback.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, mock, test } from "node:test";

import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

import { PolicyError } from "unstuck";
import { hooks } from "unstuck/claude-agent";
import { NOTE, Played, failing, readFile, scenarios } from "./plays.mjs";

const TOOL = "mcp__files__read_file";
const HOME = mkdtempSync(join(tmpdir(), "unstuck-claude-"));
let ids = 0;

after(() => rmSync(HOME, { recursive: true, force: true, maxRetries: 3 }));

const blocks = ({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : content);

function text(block) {
  if (block.type === "tool_use") return `call: ${JSON.stringify(block.input)}`;
  if (block.type !== "tool_result") return block.text ?? block.type;
  return typeof block.content === "string" ? block.content : block.content.map(text).join("\n");
}

/** The events of an answer with these blocks, by the wire of Anthropic's messages. */
function events(content) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const head = { id: `msg_${ids++}`, type: "message", role: "assistant", model: "m", content: [], usage };
  const parts = content.flatMap((block, index) => {
    const isText = block.type === "text";
    const start = isText ? { ...block, text: "" } : { ...block, input: {} };
    const delta = isText
      ? { type: "text_delta", text: block.text }
      : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    return [
      { type: "content_block_start", index, content_block: start },
      { type: "content_block_delta", index, delta },
      { type: "content_block_stop", index },
    ];
  });
  const stop_reason = content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn";
  return [
    { type: "message_start", message: { ...head, stop_reason: null, stop_sequence: null } },
    ...parts,
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

/** Serves scripts. The first `play N` of a request names one. */
async function endpoint(scripts, played, called) {
  const answer = (body) => {
    if (!(body.tools ?? []).some(({ name }) => name === TOOL)) return [{ type: "text", text: "a title" }];
    const told = body.messages.flatMap(blocks).map(text).join("\n");
    const [name] = /play \d+/.exec(told);
    const { requests } = played.get(name);
    requests.push(told);
    const turn = scripts.get(name)[requests.length - 1];
    if (typeof turn === "string") return [{ type: "text", text: turn }];
    return turn.map((input) => ({ type: "tool_use", name: called, id: `toolu_${ids++}`, input }));
  };
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    if (request.method !== "POST" || request.url.includes("count_tokens")) {
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ input_tokens: 1 }));
      return;
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const list = events(answer(JSON.parse(Buffer.concat(pieces).toString())));
    response.end(list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** Plays scripts with tools that run side by side or one after the other. */
const player =
  (readOnlyHint) =>
  async (scripts, { options, called }) => {
    const named = new Map(scripts.map((script, index) => [`play ${index}`, script]));
    const played = new Map([...named.keys()].map((name) => [name, new Played()]));
    const server = await endpoint(named, played, called);
    const watch = options === null ? {} : { hooks: hooks(options) };
    const run = async (name) => {
      const read_file = tool(
        "read_file",
        "Reads a file.",
        { path: z.string() },
        async ({ path }) => {
          played.get(name).ran.push(path);
          try {
            return { content: [{ type: "text", text: readFile(path) }] };
          } catch (error) {
            return { content: [{ type: "text", text: error.message }], isError: true };
          }
        },
        { annotations: { readOnlyHint } },
      );
      const own = {
        ...watch,
        mcpServers: { files: createSdkMcpServer({ name: "files", tools: [read_file] }) },
        allowedTools: [TOOL],
        tools: [],
        settingSources: [],
        systemPrompt: "-",
        cwd: HOME,
        env: {
          PATH: process.env.PATH,
          HOME,
          ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
          ANTHROPIC_API_KEY: "none",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          CLAUDE_CONFIG_DIR: join(HOME, name),
          DISABLE_AUTOUPDATER: "1",
          DISABLE_TELEMETRY: "1",
        },
      };
      for await (const message of query({ prompt: name, options: own })) {
        if (message.type !== "result") continue;
        played.get(name).end = message.result ?? "";
        played.get(name).reason = message.terminal_reason;
      }
    };
    try {
      await Promise.all([...named.keys()].map(run));
    } finally {
      server.closeAllConnections();
      server.close();
    }
    return [...played.values()];
  };

scenarios("side by side", player(true), { tool: TOOL, except: ["the run ends"] });

const inTurn = player(false);
const ofSteps = /^(parallel calls are one step|three steps of parallel calls are three)$/;
scenarios("one after the other", inTurn, { tool: TOOL, only: ofSteps });

test("the run ends", async () => {
  // The result has no text. It says that a hook ended the run; the reason is in the refusal before it.
  const [played] = await inTurn([failing(12)], { options: {}, called: TOOL });
  assert.equal(played.requests.length, 8);
  assert.deepEqual(played.ran, Array(5).fill("missing.txt"));
  assert.deepEqual([played.end, played.reason], ["", "hook_stopped"]);
});

test("an unknown tool is a failing call", async () => {
  const [played] = await inTurn([failing(12)], { options: {}, called: "write_file" });
  assert.ok(played.requests[3].includes(NOTE.replace("read_file", "write_file")), played.requests[3]);
  assert.equal(played.requests.length, 8);
  assert.equal(played.reason, "hook_stopped");
});

/** The hooks of the program, and a clock for them. `run` is one call from its beginning to its end. */
function program(t) {
  const all = hooks();
  const { timers } = mock;
  timers.enable({ apis: ["Date"], now: 1_000_000 });
  t.after(() => timers.reset());
  const hook = (event, fields) => all[event][0].hooks[0]({ session_id: "s", hook_event_name: event, ...fields });
  const run = async (number) => {
    const call = { tool_name: "Task", tool_input: { prompt: "roll a die" }, tool_use_id: `t${number}` };
    const { hookSpecificOutput: denied } = await hook("PreToolUse", call);
    if (denied) return "refused";
    const { hookSpecificOutput: noted } = await hook("PostToolUse", { ...call, tool_response: "six" });
    return noted ? "noted" : "";
  };
  return { hook, run, wait: (milliseconds) => timers.tick(milliseconds) };
}

test("any number of calls in the first answer is one step", async (t) => {
  const { hook, run } = program(t);
  for (let number = 0; number < 100; number += 1) assert.equal(await run(number), "");
  await hook("PostToolBatch", { tool_calls: [] });
  assert.deepEqual([await run("a"), await run("b")], ["", ""]);
  await hook("PostToolBatch", { tool_calls: [] });
  assert.equal(await run("c"), "noted");
});

test("a program that reports no batches is watched as well", async (t) => {
  const { hook, run, wait } = program(t);
  const ends = [];
  for (let number = 0; number < 14; number += 1) {
    wait(1000);
    ends.push(await run(number));
  }
  assert.deepEqual(ends.slice(0, 9), Array(9).fill(""));
  assert.equal(ends[9], "noted");
  // If it reports one after all, the calls in it are known.
  assert.deepEqual(await hook("PostToolBatch", { tool_calls: [{ tool_use_id: "t13", tool_name: "Task" }] }), {});
});

test("calls that no batch ends are forgotten", async (t) => {
  const { run } = program(t);
  const ends = [];
  for (let number = 0; number < 1030; number += 1) ends.push(await run(number));
  // A batch has no more than 1024 calls.
  assert.ok(ends.slice(0, 1024).every((end) => end === ""));
  assert.ok(ends.slice(1024).includes("noted"), ends.slice(1020).join());
});

test("a message of images alone is a new one", async (t) => {
  const { hook, run } = program(t);
  let ids = 0;
  const turn = async () => {
    const end = await run(ids++);
    await hook("PostToolBatch", { tool_calls: [] });
    return end;
  };
  const say = (prompt) => hook("UserPromptSubmit", { prompt, prompt_id: `p${ids++}` });
  const ends = [];
  for (const prompt of ["go", "go", "", ""]) {
    await say(prompt);
    ends.push([await turn(), await turn(), await turn()]);
  }
  assert.deepEqual(ends[0], ["", "", "noted"]);
  assert.notDeepEqual(ends[1], ends[0]);
  assert.deepEqual(ends.slice(2), [ends[0], ends[0]]);
});

test("no hook throws, whatever it is given", async () => {
  const log = mock.method(console, "error", () => {});
  try {
    for (const [{ hooks: [hook] }] of Object.values(hooks())) {
      for (const fields of [undefined, null, { tool_calls: [null] }]) assert.deepEqual(await hook(fields), {});
    }
    assert.equal(log.mock.callCount(), 1);
  } finally {
    log.mock.restore();
  }
});

test("a wrong option is an error at once", () => {
  assert.throws(() => hooks({ preset: "no such preset" }), PolicyError);
});
