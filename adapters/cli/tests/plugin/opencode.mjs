// Plays opencode for the plugin whose path is the only argument. Prints, as JSON, what the plugin did.

import { pathToFileURL } from "node:url";

const { Unstuck } = await import(pathToFileURL(process.argv[2]));
const done = [];
const client = {
  session: { abort: async ({ path }) => done.push(`abort ${path.id}`) },
  tui: { showToast: async ({ body }) => done.push(`show ${body.message}`) },
};
const hooks = await Unstuck({ client, directory: "/work" });
const [sessionID, tool] = ["s", "bash"];
const emit = (type, properties) => hooks.event({ event: { type, properties } });

// A call that runs.
const args = { command: "ls" };
let refusal = null;
try {
  await hooks["tool.execute.before"]({ sessionID, tool, callID: "1" }, { args });
} catch (error) {
  refusal = error.message;
}
const result = { title: "ls", output: "a.rs", metadata: { exit: 0 } };
await hooks["tool.execute.after"]({ sessionID, tool, callID: "1", args }, result);

// A call of an MCP server.
const blocks = { content: [{ type: "text", text: "a" }, { type: "image", data: "b" }] };
await hooks["tool.execute.after"]({ sessionID, tool: "mcp", callID: "2", args }, blocks);

// A call that throws: the bus may report it before or after the next request, and more than once.
const state = { status: "error", input: args, error: "No such file" };
const part = { type: "tool", sessionID, tool, callID: "3", state };
await hooks["tool.execute.before"]({ sessionID, tool, callID: "3" }, { args }).catch(() => {});
const requests = [];
for (let n = 0; n < 2; n += 1) {
  const old = { ...part, callID: "0", state: { ...state } };
  const messages = [{ parts: [old] }, { parts: [{ ...part, state: { ...state } }] }];
  await hooks["experimental.chat.messages.transform"]({}, { messages });
  await emit("message.part.updated", { part });
  requests.push(messages.map(({ parts }) => parts[0].state.error));
}

// A subagent, and the rest of a session.
const text = { type: "text", text: "Look.", id: "p" };
await emit("session.created", { info: { id: "child", parentID: sessionID } });
await hooks["chat.message"]({ sessionID: "child" }, { parts: [text, { ...text, synthetic: true }] });
const cut = { ...part, callID: "4", state: { ...state, metadata: { interrupted: true } } };
await emit("message.part.updated", { part: cut });
await emit("message.part.updated", { part: { ...text, sessionID, time: { start: 1, end: 2 } } });
await emit("session.error", { sessionID, error: { name: "MessageAbortedError" } });
await emit("session.idle", { sessionID });
await emit("session.idle", { sessionID });
await emit("session.compacted", { sessionID });
await emit("session.deleted", { info: { id: sessionID } });
await emit("server.connected");
await hooks.dispose();
console.log(JSON.stringify({ refusal, output: result.output, blocks: blocks.content, requests, done }));
