// The Vercel AI SDK 7, and its approval of tools that the client runs.

import assert from "node:assert/strict";
import { test } from "node:test";

import { generateText, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { unstuck } from "unstuck/ai";
import { z } from "zod";

import { cases, scripted } from "./ai.mjs";
import { failing, MISSING, NOTE, REFUSAL } from "./plays.mjs";

cases("AI SDK 7", MockLanguageModelV4);

const inputSchema = z.object({ path: z.string() });
const read_file = tool({ inputSchema, outputSchema: z.string() });

/** Lets a client answer the calls of `read_file` in as many requests as the script needs. */
async function converse(script, own = {}, id = undefined, watch = unstuck()) {
  const { model, played } = scripted(MockLanguageModelV4, { run: script }, undefined, id);
  const messages = [{ role: "user", content: "run" }];
  let asked = 0;
  for (;;) {
    const result = await generateText({ model, messages, ...watch({ tools: { read_file }, session: "a", ...own }) });
    messages.push(...result.response.messages);
    const answered = new Set(
      result.response.messages.flatMap(({ role, content }) =>
        role === "tool" ? content.map(({ toolCallId }) => toolCallId) : [],
      ),
    );
    const open = result.toolCalls.filter(({ toolCallId }) => !answered.has(toolCallId));
    if (open.length === 0) return { result, requests: played.run.requests, asked };
    asked += open.length;
    const content = open.map(({ toolCallId, toolName }) => {
      const output = { type: "error-text", value: "no such file: missing.txt" };
      return { type: "tool-result", toolCallId, toolName, output };
    });
    messages.push({ role: "tool", content });
  }
}

test("AI SDK 7: a call that the client runs gets a note, then a refusal", async () => {
  const { requests, asked, result } = await converse(failing(6));
  assert.ok(requests[3].includes(NOTE), requests[3]);
  assert.equal(asked, 5);
  const denial = result.content.find(({ type }) => type === "tool-approval-response");
  assert.ok(denial.reason.startsWith(REFUSAL), denial.reason);
});

test("AI SDK 7: a call that the client runs is watched if its id comes again", async () => {
  const { requests, asked } = await converse([[{ path: "a.txt" }], ...failing(6)], {}, () => "0");
  assert.equal(asked, 6);
  const [before, ...noted] = requests[4].split(NOTE);
  assert.equal(noted.length, 1, requests[4]);
  assert.equal(before.split("no such file").length, 5);
});

test("AI SDK 7: calls that clients run in two sessions may share an id", async () => {
  const watch = unstuck();
  const sessions = ["a", "b"].map((session) => converse(failing(3), { session }, () => "0", watch));
  for (const { requests } of await Promise.all(sessions)) assert.ok(requests[3].includes(NOTE), requests[3]);
});

test("AI SDK 7: parallel calls that the client runs are one step", async () => {
  const { requests, asked } = await converse([Array(4).fill(MISSING), "done"]);
  assert.equal(asked, 4);
  assert.ok(!requests[1].includes("[unstuck]"));
});

test("AI SDK 7: the approval of the program goes on", async () => {
  for (const toolApproval of [() => "denied", { read_file: "denied" }, { read_file: async () => "denied" }]) {
    const { asked, result } = await converse(failing(1), { toolApproval });
    assert.equal(asked, 0);
    assert.ok(result.content.some(({ type, approved }) => type === "tool-approval-response" && !approved));
  }
});

test("AI SDK 7: a tool with an approval of its own keeps it", async () => {
  const watch = unstuck();
  const { model } = scripted(MockLanguageModelV4, { run: failing(1) });
  const tools = { read_file: { ...read_file, needsApproval: ({ path }) => path === "missing.txt" } };
  const result = await generateText({ model, prompt: "run", ...watch({ tools, session: "a" }) });
  assert.ok(result.content.some(({ type }) => type === "tool-approval-request"));
});

test("AI SDK 7: no approval is added without a session", () => {
  assert.ok(!("toolApproval" in unstuck()({ tools: { read_file } })));
});
