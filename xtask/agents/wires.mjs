// The four APIs: requests are read into one `Conversation`, and answers are written for each.

import { randomBytes } from "node:crypto";

/** A conversation as the scripts see it. */
export class Conversation {
  /** The declared tools by name: `{ fields, form, space }`. */
  tools = {};
  /** One entry for each answer of the model that called tools: `{ calls, beside }`. */
  turns = [];
  /** How many turns there were at each prompt of the user. */
  prompts = [];
  /** The first text that is not the model's and names a script. */
  firstPrompt = undefined;
  /** All texts that are not the model's. */
  said = [];

  /** Declares a tool. `form` is how it is called: `function`, or `custom` for plain text. */
  declare(name, schema, form = "function", space = undefined) {
    this.tools[name] = { fields: Object.keys(schema?.properties ?? {}), form, space };
  }

  /** Begins a turn. */
  turn() {
    this.turns.push({ calls: [], beside: [] });
  }

  /** Adds a call to the turn that is open, or to a new one if its results have begun. */
  call(id, name) {
    const last = this.turns.at(-1);
    const isOver = !last || last.beside.length || last.calls.some((call) => call.result !== undefined);
    if (isOver) this.turn();
    this.turns.at(-1).calls.push({ id, name });
  }

  /** Adds the result of a call. Without an id it belongs to the first open call of that tool. */
  result(id, text, name) {
    const calls = this.turns.flatMap((turn) => turn.calls);
    const open = calls.filter((call) => call.result === undefined);
    const call = calls.find((call) => id && call.id === id) ?? open.find((call) => call.name === name);
    if (call) call.result = (call.result ?? "") + text;
  }

  /** Adds a text that is not the model's. */
  heard(text) {
    this.said.push(text);
    if (text.includes("the job of script")) {
      this.firstPrompt ??= text;
      this.prompts.push(this.turns.length);
    }
    this.turns.at(-1)?.beside.push(text);
  }

  /** The turns since the user spoke last. */
  get recent() {
    return this.turns.slice(this.prompts.at(-1) ?? 0);
  }
}

/** The text of whatever a client puts where text is expected. */
function textOf(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  const inner = value.text ?? value.content ?? value.output;
  return inner === undefined ? JSON.stringify(value) : textOf(inner);
}

const random = (prefix) => `${prefix}_${randomBytes(8).toString("hex")}`;

/** Server-sent events. An event is its data, or its name and its data. */
function events(list, isNamed) {
  const lines = list.map((data) => {
    const name = isNamed ? `event: ${data.type}\n` : "";
    return `${name}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
  });
  return { type: "text/event-stream", text: lines.join("") };
}

const whole = (value) => ({ type: "application/json", text: JSON.stringify(value) });

const anthropic = {
  read(body) {
    const seen = new Conversation();
    for (const tool of body.tools ?? []) seen.declare(tool.name, tool.input_schema);
    for (const { role, content } of body.messages) {
      const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
      for (const part of parts) {
        if (part.type === "tool_use") seen.call(part.id, part.name);
        else if (part.type === "tool_result") seen.result(part.tool_use_id, textOf(part.content));
        else if (role !== "assistant") seen.heard(textOf(part));
      }
    }
    return seen;
  },

  answer({ body, calls, text, tokens = 100 }) {
    const uses = calls.map(({ name, args }) => ({ type: "tool_use", id: random("toolu"), name, input: args }));
    const content = [...(text ? [{ type: "text", text }] : []), ...uses];
    const stop_reason = calls.length ? "tool_use" : "end_turn";
    const usage = { input_tokens: tokens, output_tokens: 20 };
    const message = { id: random("msg"), type: "message", role: "assistant", model: body.model, usage };
    if (!body.stream) return whole({ ...message, content, stop_reason, stop_sequence: null });
    const blocks = content.flatMap((block, index) => {
      const isText = block.type === "text";
      const empty = isText ? { ...block, text: "" } : { ...block, input: {} };
      const delta = isText
        ? { type: "text_delta", text: block.text }
        : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
      return [
        { type: "content_block_start", index, content_block: empty },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index },
      ];
    });
    const open = { ...message, content: [], stop_reason: null, stop_sequence: null };
    return events(
      [
        { type: "message_start", message: open },
        ...blocks,
        { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } },
        { type: "message_stop" },
      ],
      true,
    );
  },
};

const responses = {
  read(body) {
    const seen = new Conversation();
    const declare = (tool, space) => {
      for (const inner of tool.tools ?? []) declare(inner, space ?? tool.name);
      if (tool.tools) return;
      const form = tool.type === "custom" ? "custom" : "function";
      seen.declare(tool.name ?? tool.type, tool.parameters, form, space);
    };
    for (const tool of body.tools ?? []) declare(tool);
    for (const item of body.input) {
      const type = item.type ?? "message";
      if (type === "additional_tools") item.tools.forEach((tool) => declare(tool));
      else if (type.endsWith("_call")) seen.call(item.call_id, item.name);
      else if (type.endsWith("_call_output")) seen.result(item.call_id, textOf(item.output));
      else if (type === "message" && item.role !== "assistant") seen.heard(textOf(item.content));
    }
    return seen;
  },

  answer({ body, calls, text, conversation, tokens = 100 }) {
    const message = {
      type: "message",
      role: "assistant",
      id: random("msg"),
      content: [{ type: "output_text", text, annotations: [] }],
    };
    const output = [...(text ? [message] : [])];
    for (const { name, args, form, space: hidden } of calls) {
      const call = { id: random("item"), call_id: random("call"), name };
      const space = conversation?.tools[name]?.space ?? hidden;
      if (space) call.namespace = space;
      output.push(
        form === "custom"
          ? { ...call, type: "custom_tool_call", input: args }
          : { ...call, type: "function_call", arguments: JSON.stringify(args) },
      );
    }
    const usage = {
      input_tokens: tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens + 20,
    };
    const response = { id: random("resp"), object: "response", status: "completed", output, usage };
    if (body.stream === false) return whole(response);
    return events(
      [
        { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
        ...output.flatMap((item, output_index) => [
          { type: "response.output_item.added", output_index, item },
          { type: "response.output_item.done", output_index, item },
        ]),
        { type: "response.completed", response },
      ],
      true,
    );
  },
};

const chat = {
  read(body) {
    const seen = new Conversation();
    for (const { function: tool } of body.tools ?? []) seen.declare(tool.name, tool.parameters);
    for (const message of body.messages) {
      const text = textOf(message.content);
      if (message.role === "tool") seen.result(message.tool_call_id, text);
      else if (message.role !== "assistant") seen.heard(text);
      for (const call of message.tool_calls ?? []) seen.call(call.id, call.function.name);
    }
    return seen;
  },

  answer({ body, calls, text, tokens = 100 }) {
    const tool_calls = calls.map(({ name, args }, index) => ({
      index,
      id: random("call"),
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }));
    const finish_reason = calls.length ? "tool_calls" : "stop";
    const usage = { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 };
    const base = { id: random("chatcmpl"), created: Math.floor(Date.now() / 1000), model: body.model };
    const message = { role: "assistant", content: text || null, ...(calls.length ? { tool_calls } : {}) };
    if (!body.stream) {
      const choices = [{ index: 0, message, finish_reason }];
      return whole({ ...base, object: "chat.completion", usage, choices });
    }
    const chunk = (delta, finish_reason = null) => ({
      ...base,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason }],
    });
    return events([
      chunk({ role: "assistant", content: text }),
      ...tool_calls.map((call) => chunk({ tool_calls: [call] })),
      chunk({}, finish_reason),
      { ...base, object: "chat.completion.chunk", choices: [], usage },
      "[DONE]",
    ]);
  },
};

const gemini = {
  read(body) {
    const seen = new Conversation();
    for (const tool of (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? [])) {
      seen.declare(tool.name, tool.parametersJsonSchema ?? tool.parameters);
    }
    for (const { role, parts } of body.contents ?? []) {
      for (const { functionCall, functionResponse, text } of parts ?? []) {
        if (functionCall) seen.call(functionCall.id, functionCall.name);
        else if (functionResponse) {
          const { id, name, response } = functionResponse;
          seen.result(id, textOf(response.output ?? response.error ?? response), name);
        } else if (role !== "model") seen.heard(text ?? "");
      }
    }
    return seen;
  },

  answer({ path, calls, text, tokens = 100 }) {
    const parts = calls.map(({ name, args }) => ({ functionCall: { name, args } }));
    if (text) parts.unshift({ text });
    const value = {
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: tokens, candidatesTokenCount: 20, totalTokenCount: tokens + 20 },
      modelVersion: "scripted",
    };
    return path.includes("stream") ? events([value]) : whole(value);
  },
};

/** The API that a path belongs to. */
export function wireOf(path) {
  if (path.endsWith("/messages")) return anthropic;
  if (path.endsWith("/chat/completions")) return chat;
  if (path.endsWith("/responses")) return responses;
  return /generateContent/i.test(path) ? gemini : undefined;
}
