// A scripted model on loopback, for real coding agents.
//
//     node model.mjs RUNS
//
// prints its port and serves until its standard input ends. It speaks Anthropic Messages, OpenAI Responses,
// OpenAI chat completions and Gemini. The path of a request names the run and the script:
//
//     http://127.0.0.1:PORT/AGENT/SCENARIO/SCRIPT/...
//
// The answer follows from the conversation in the request alone, so that retries and side requests do no
// harm. The agent works in RUNS/AGENT/SCENARIO/project. Beside it, the folder `model` gets these files:
//
//     requests.jsonl  every request as it came
//     seen.txt        what each request adds, word for word: results, notes, refusals
//     calls.txt       one line for each call: its number, its turn, how it went, its tool
//     times.txt       the milliseconds between each answer with calls and the next request

import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import { FULL, PAUSES, SCRIPTS, STALL } from "./scripts.mjs";
import { isMain, toolCall } from "./tools.mjs";
import { wireOf } from "./wires.mjs";

const RUNS = resolve(process.argv[2]);

/** Starts every note and refusal. */
const SIGN = "[unstuck]";

/** What a client may write before a refusal. */
const BEFORE_REFUSAL = /^(error: *)?(Wall time: [^\n]*\nOutput:\s*)?([^\n]*(block|den(y|ied)|refus|reject|PreToolUse:\S+ hook error|MCP server)[^\n]*: *)?$/i;

/** What the model makes of a conversation that is too long. */
const SUMMARY = "<state_snapshot>The user wants the job of the script done. Nothing else is known.</state_snapshot>";

/** So many tokens that every client compacts the conversation. */
const TOKENS_FULL = 170_000;

/** The most characters of one text in `seen.txt`. */
const TEXT_MAX = 4000;

/** How a call went, by its result: a refusal stands in place of it, a note stands after it. */
function kindOf(result) {
  const at = result.indexOf(SIGN);
  if (at < 0) return "plain";
  return BEFORE_REFUSAL.test(result.slice(0, at).trim()) ? "refused" : "told";
}

/** The calls of a conversation, in order, each with how it went. */
function outcomes({ turns }) {
  return turns.flatMap(({ calls, beside }, index) =>
    calls.map(({ name, result }, position) => {
      const kind = result === undefined ? "open" : kindOf(result);
      // A text that stands beside the results belongs to the last of them.
      const isTold = position === calls.length - 1 && beside.some((text) => text.includes(SIGN));
      return { turn: index + 1, name, kind: kind === "plain" && isTold ? "told" : kind };
    }),
  );
}

function callLines(conversation, asked, text) {
  const turn = conversation.turns.length + 1;
  const open = asked.map(({ name }) => ({ turn, name, kind: "open" }));
  const rows = [...outcomes(conversation), ...open];
  const lines = rows.map(({ turn, kind, name }, index) => `${index + 1} ${turn} ${kind} ${name}`);
  return [...lines, ...(asked.length ? [] : [`end ${text}`])].join("\n") + "\n";
}

const folded = (text) => (text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}...` : text);

/** The paragraph of `seen.txt` for one request. */
function paragraph(conversation, asked, text) {
  const last = conversation.turns.at(-1);
  const news = last
    ? [
        ...last.calls.map((call) => `result: ${folded(call.result ?? "(none)")}`),
        ...last.beside.map((text) => `beside: ${folded(text)}`),
      ]
    : [`tools: ${Object.keys(conversation.tools).join(", ")}`];
  const answer = asked.length ? JSON.stringify(asked.map(({ name, args }) => [name, args])) : text;
  return [`=== after ${conversation.turns.length} turns`, ...news, `model: ${answer}`, ""].join("\n");
}

/** When each run got its latest answer with calls. */
const answered = new Map();

function answer(run, script, wire, path, body) {
  const arrived = performance.now();
  const folder = join(run, "model");
  mkdirSync(folder, { recursive: true });
  appendFileSync(join(folder, "requests.jsonl"), JSON.stringify({ path, body }) + "\n");
  const conversation = wire.read(body);
  if (asksForSummary(script, conversation)) return wire.answer({ body, path, calls: [], text: SUMMARY });
  if (!isMain(conversation.tools)) {
    return wire.answer({ body, path, calls: [], text: sideAnswer(body) });
  }
  const since = answered.get(run);
  if (since) appendFileSync(join(folder, "times.txt"), `${arrived - since}\n`);
  const plan = SCRIPTS[script](conversation);
  if (plan === STALL) return writeFileSync(join(run, "stalled"), "");
  const text = typeof plan === "string" ? plan : "";
  const turn = conversation.turns.length;
  const project = join(run, "project");
  const calls = text ? [] : plan.map((step) => toolCall({ tools: conversation.tools, project, turn }, step));
  writeFileSync(join(folder, "calls.txt"), callLines(conversation, calls, text));
  appendFileSync(join(folder, "seen.txt"), paragraph(conversation, calls, text));
  const isFull = turn === FULL[script] && !JSON.stringify(body).includes(SUMMARY);
  if (calls.length) answered.set(run, performance.now());
  else answered.delete(run);
  return wire.answer({ body, path, calls, text, conversation, tokens: isFull ? TOKENS_FULL : undefined });
}

/** Returns whether the client wants the conversation in few words. */
function asksForSummary(script, { said }) {
  const last = said.at(-1) ?? "";
  return script in FULL && !last.includes(SUMMARY) && /summar|state_snapshot/i.test(last);
}

/** The answer to a request without tools: a title, or a choice that a client wants as JSON. */
function sideAnswer(body) {
  const format = JSON.stringify(body.generationConfig ?? body.response_format ?? body.text ?? "");
  if (!format.toLowerCase().includes("json")) return "ok";
  const choice = { complexity_reasoning: "x", complexity_score: 10, reasoning: "x", model_choice: "flash" };
  return JSON.stringify({ ...choice, title: "title", next_speaker: "user" });
}

async function bodyOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

async function handle(request, response) {
  const send = (type, text, status = 200) => {
    response.writeHead(status, { "Content-Type": type });
    response.end(text);
  };
  const json = (value, status) => send("application/json", JSON.stringify(value), status);
  const raw = await bodyOf(request);
  const { pathname } = new URL(request.url, "http://loopback");
  if (/count_?tokens/i.test(pathname)) return json({ input_tokens: 100, totalTokens: 100 });
  if (request.method !== "POST") {
    const isList = pathname.endsWith("/models");
    return json(isList ? { object: "list", data: [], models: [] } : {}, isList ? 200 : 404);
  }
  const [, agent, scenario, script] = pathname.split("/");
  const wire = wireOf(pathname);
  if (!wire || !SCRIPTS[script]) {
    appendFileSync(join(RUNS, "unknown.txt"), `${request.method} ${request.url}\n`);
    return json({}, 404);
  }
  const answered = answer(join(RUNS, agent, scenario), script, wire, request.url, JSON.parse(raw));
  if (!answered) return;
  await setTimeout(PAUSES[script] ?? 0);
  send(answered.type, answered.text);
}

const server = createServer((request, response) => {
  handle(request, response).catch((error) => {
    appendFileSync(join(RUNS, "errors.txt"), `${request.url}: ${error.stack}\n`);
    response.writeHead(500).end();
  });
});
mkdirSync(RUNS, { recursive: true });
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit(0)).resume();
