// Runs of a real coding agent against a scripted model on loopback, with a home of their own.

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The program `unstuck`, if it is to be compared with. */
export const PROGRAM = process.env.UNSTUCK_PROGRAM;

/** The time limit of one command, in milliseconds. */
const LIMIT = 120_000;

const SIGN = "[unstuck]";

/** The text of the content of a message. */
function textOf(content) {
  if (Array.isArray(content)) return content.map((block) => block.text ?? JSON.stringify(block)).join("\n");
  return content ?? "";
}

/** A scripted model that speaks OpenAI's chat completions. */
export class Model {
  /** The messages of each request, by the script that a message of the user names. */
  requests = {};
  #server;

  /** `scripts` has the turns of each conversation: a text, or a list of calls `[tool, args]`. */
  constructor(scripts) {
    this.scripts = scripts;
    for (const name of Object.keys(scripts)) this.requests[name] = [];
  }

  /** Starts the server. Returns its address. */
  async start() {
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch((error) => {
        console.error(error);
        response.writeHead(500).end();
      });
    });
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #handle(request, response) {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    if (request.method !== "POST") {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ object: "list", data: [] }));
      return;
    }
    const turn = this.#turn(JSON.parse(Buffer.concat(pieces).toString()));
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.end(chunks(turn).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("") + "data: [DONE]\n\n");
  }

  /** The next turn of the conversation. A request without tools wants a title or a summary. */
  #turn({ messages, tools = [] }) {
    if (tools.length === 0) return "a title";
    const said = messages.filter(({ role }) => role !== "system" && role !== "developer");
    const first = said.filter(({ role }) => role === "user").map(({ content }) => textOf(content)).join("\n");
    const name = Object.keys(this.scripts).find((script) => first.includes(`script ${script}`));
    if (name === undefined) return "no script";
    this.requests[name].push(said.map(plain));
    return this.scripts[name][this.requests[name].length - 1] ?? "the script is over";
  }
}

/** A message without the ids that differ in each run. */
function plain({ role, content, tool_calls: calls = [] }) {
  const called = calls.map(({ function: { name, arguments: args } }) => `${name} ${args}`);
  return { role, content: textOf(content), ...(called.length > 0 ? { called } : {}) };
}

let ids = 0;

function chunks(turn) {
  const id = `chatcmpl-${ids}`;
  const chunk = (delta, finish_reason = null) => ({
    id,
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  });
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const end = { ...chunk({}), choices: [], usage };
  if (typeof turn === "string") return [chunk({ role: "assistant", content: turn }), chunk({}, "stop"), end];
  const called = turn.map(([name, args], index) => ({
    index,
    id: `call_${ids++}`,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [
    chunk({ role: "assistant", content: "" }),
    ...called.map((call) => chunk({ tool_calls: [call] })),
    chunk({}, "tool_calls"),
    end,
  ];
}

/** The folders of one run. */
export class Place {
  constructor() {
    this.root = mkdtempSync(join(tmpdir(), "unstuck-js-"));
    [this.home, this.project] = [join(this.root, "home"), join(this.root, "project")];
    mkdirSync(this.home);
    mkdirSync(this.project);
    mkdirSync(join(this.root, "tmp"));
  }

  write(path, text) {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  /** Starts a command in the project. Its output is `collected`, and `ended` resolves to its exit code. */
  start([program, ...words], variables = {}) {
    const env = {
      CI: "1",
      DO_NOT_TRACK: "1",
      HOME: this.home,
      LANG: "C.UTF-8",
      NO_COLOR: "1",
      NO_PROXY: "127.0.0.1,localhost",
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      SHELL: "/bin/bash",
      TERM: "dumb",
      TMPDIR: join(this.root, "tmp"),
      ...variables,
    };
    const child = spawn(program, words, { cwd: this.project, env, stdio: ["pipe", "pipe", "pipe"] });
    child.collected = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (child.collected += text));
    const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT);
    child.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        clearTimeout(timer);
        resolve({ code, output: child.collected });
      });
    });
    return child;
  }

  /** Runs a command in the project. Resolves to its exit code and its output. */
  run(command, variables) {
    const child = this.start(command, variables);
    child.stdin.end();
    return child.ended;
  }

  remove() {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Waits until `look` returns something, and returns that. */
export async function until(look, what) {
  for (let turn = 0; turn < LIMIT / 50; turn += 1) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`there is no ${what}`);
}

/** What became of the calls of a conversation, in one line: `calls 8 · told 3 5 · refused 6 7`. */
export function outline(requests) {
  const results = (requests.at(-1) ?? []).filter(({ role }) => role === "tool");
  const issued = (requests.at(-1) ?? []).flatMap(({ called = [] }) => called).length;
  const at = (is) => results.flatMap(({ content }, index) => (is(content) ? [index + 1] : []));
  const refused = at((content) => content.replace(/^Error: /, "").startsWith(SIGN));
  const told = at((content) => content.includes(SIGN)).filter((call) => !refused.includes(call));
  const parts = [`calls ${issued}`];
  if (told.length > 0) parts.push(`told ${told.join(" ")}`);
  if (refused.length > 0) parts.push(`refused ${refused.join(" ")}`);
  return parts.join(" · ");
}
