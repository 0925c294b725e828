// Plays pi for the extension whose path is the only argument. Prints, as JSON, what the extension did.

import { pathToFileURL } from "node:url";

const { default: extension } = await import(pathToFileURL(process.argv[2]));
const handlers = new Map();
extension({ on: (event, handler) => handlers.set(event, handler) });
const done = [];
const ctx = {
  cwd: "/work",
  hasUI: true,
  sessionManager: { getSessionId: () => "s" },
  ui: { notify: (line) => done.push(`show ${line}`) },
  abort: () => done.push("abort"),
};
const emit = (type, event) => handlers.get(type)({ type, ...event }, ctx);
const content = [{ type: "text", text: "a.rs" }];
const call = { toolCallId: "1", toolName: "bash" };
const input = { command: "ls" };

await emit("input", { text: "Look.", source: "interactive" });
await emit("input", { text: "Go on.", source: "extension" });

// A call that runs.
await emit("tool_execution_start", { ...call, args: input });
const before = (await emit("tool_call", { ...call, input })) ?? null;
const after = (await emit("tool_result", { ...call, input, content, isError: false })) ?? null;
const told = { role: "toolResult", ...call, content, isError: false };
const again = (await emit("message_end", { message: told })) ?? null;

// A call of an unknown tool.
const unknown = { toolCallId: "2", toolName: "nosuch" };
await emit("tool_execution_start", { ...unknown, args: { a: 1 } });
const missing = { role: "toolResult", ...unknown, content, isError: true };
const end = (await emit("message_end", { message: missing })) ?? null;

// The rest of a session.
await emit("message_end", { message: { role: "user", content } });
const words = [{ type: "thinking", thinking: "Hm." }, { type: "text", text: "Done." }];
await emit("message_end", { message: { role: "assistant", content: words, stopReason: "aborted" } });
await emit("agent_settled", {});
await emit("agent_settled", {});
await emit("session_compact", {});
await emit("session_tree", {});
await emit("session_shutdown", { reason: "reload" });
await emit("session_shutdown", { reason: "quit" });
console.log(JSON.stringify({ before, after, again, end, done }));
