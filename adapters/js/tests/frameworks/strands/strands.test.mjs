// Strands Agents, with tools that run side by side and one after the other.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Agent, ImageBlock, Model, TextBlock, tool } from "@strands-agents/sdk";
import { z } from "zod";

import { PolicyError } from "unstuck";
import { UnstuckPlugin } from "unstuck/strands";
import { Played, failing, readFile, scenarios } from "./plays.mjs";

let ids = 0;

function text(block) {
  if (block.type === "toolUseBlock") return `call: ${JSON.stringify(block.input)}`;
  return block.type === "toolResultBlock" ? block.content.map(text).join("\n") : block.text;
}

/** Answers with a script. */
class Scripted extends Model {
  constructor(script, played, called) {
    super();
    Object.assign(this, { script, played, called });
  }

  updateConfig() {}

  getConfig() {
    return {};
  }

  async *stream(messages) {
    const { requests } = this.played;
    requests.push(messages.flatMap(({ content }) => content.map(text)).join("\n"));
    const turn = this.script[requests.length - 1];
    yield { type: "modelMessageStartEvent", role: "assistant" };
    for (const block of typeof turn === "string" ? [turn] : turn) {
      const isText = typeof block === "string";
      const start = { type: "toolUseStart", name: this.called, toolUseId: `c${ids++}` };
      const delta = isText
        ? { type: "textDelta", text: block }
        : { type: "toolUseInputDelta", input: JSON.stringify(block) };
      yield { type: "modelContentBlockStartEvent", ...(isText ? {} : { start }) };
      yield { type: "modelContentBlockDeltaEvent", delta };
      yield { type: "modelContentBlockStopEvent" };
    }
    yield { type: "modelMessageStopEvent", stopReason: typeof turn === "string" ? "endTurn" : "toolUse" };
  }
}

/** An agent that plays a script. */
function agentOf(script, played, plugins, { called = "read_file", toolExecutor = "concurrent", work = readFile } = {}) {
  const read_file = tool({
    name: "read_file",
    description: "Reads a file.",
    inputSchema: z.object({ path: z.string() }),
    callback: async ({ path }) => {
      played.ran.push(path);
      return work(path);
    },
  });
  const model = new Scripted(script, played, called);
  return new Agent({ model, tools: [read_file], plugins, toolExecutor, printer: false });
}

/** Plays with agents of their own, which share the plugin: an agent has one run at a time. */
const player =
  (toolExecutor) =>
  async (scripts, { options, called }) => {
    const plugins = options === null ? [] : [new UnstuckPlugin(options)];
    const run = async (script) => {
      const played = new Played();
      const result = await agentOf(script, played, plugins, { called, toolExecutor }).invoke("go");
      played.end = result.lastMessage.content[0].text;
      return played;
    };
    return Promise.all(scripts.map(run));
  };

scenarios("side by side", player("concurrent"), { seesUnknown: true });
scenarios("one after the other", player("sequential"), { seesUnknown: true });

test("a new message of the user lifts the refusal", async () => {
  const played = new Played();
  const agent = agentOf([...failing(6), ...failing(1)], played, [new UnstuckPlugin()]);
  await agent.invoke("go");
  assert.equal(played.ran.length, 5);
  await agent.invoke("the file is there now");
  assert.equal(played.ran.length, 6);
});

test("a message with another image is a new one", async () => {
  const image = (byte) => new ImageBlock({ format: "png", source: { bytes: new Uint8Array([byte]) } });
  for (const text of [[], [new TextBlock("look")]]) {
    const played = new Played();
    const agent = agentOf([...failing(6), ...failing(1), ...failing(1)], played, [new UnstuckPlugin()]);
    await agent.invoke([...text, image(1)]);
    assert.equal(played.ran.length, 5);
    // The same again is no new message.
    await agent.invoke([...text, image(1)]);
    assert.equal(played.ran.length, 5);
    await agent.invoke([...text, image(2)]);
    assert.equal(played.ran.length, 6);
  }
});

test("a cancelled run does not count", async () => {
  const played = new Played();
  const script = [...Array(6).fill([{ path: "a.txt" }]), "done"];
  const work = () => {
    if (played.ran.length > 3) return "content";
    agent.cancel();
    throw new Error("broken off");
  };
  const agent = agentOf(script, played, [new UnstuckPlugin()], { work });
  for (const _ of [1, 2, 3]) assert.equal((await agent.invoke("go")).stopReason, "cancelled");
  await agent.invoke("go");
  assert.equal(played.ran.length, 6);
  assert.ok(!played.requests[4].includes("[unstuck]"), played.requests[4]);
});

test("a wrong option is an error at once", () => {
  assert.throws(() => new UnstuckPlugin({ preset: "no such preset" }), PolicyError);
});
