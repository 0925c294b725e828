// An MCP server on standard input and output, whose tools fail: `order` says why, and `crash` ends the server.

import { createInterface } from "node:readline";

const TOOLS = ["order", "crash"].map((name) => ({
  name,
  description: `To ${name}`,
  inputSchema: { type: "object", properties: { item: { type: "string" } }, required: ["item"] },
}));

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "desk", version: "1" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: TOOLS }),
  "tools/call": ({ name, arguments: { item } }) => {
    if (name === "crash") process.exit(1);
    return { isError: true, content: [{ type: "text", text: `There is no ${item} in stock: no such item in ORDERS` }] };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = METHODS[method]
    ? { result: METHODS[method](params) }
    : { error: { code: -32601, message: `Method not found: ${method}` } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}
