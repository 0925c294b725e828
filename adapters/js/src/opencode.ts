/** A plugin for opencode. It does the same as the plugin that `unstuck install opencode` writes, in process. */

import { type Answer, CodingAgents, type Ending, quietly, Recent, textOfBlocks } from "./coding-agents.js";
import type { GuardsOptions } from "./guards.js";
import { fingerprint } from "./index.js";
import { failsOpen } from "./sessions.js";

// opencode calls every function that the module of a plugin exports, so this one exports nothing else.

/** The part of opencode's context that the plugin uses. */
interface Input {
  client: {
    session: {
      abort(options: { path: { id: string } }): unknown;
      messages(options: { path: { id: string } }): PromiseLike<{ data?: unknown }>;
    };
    tui: { showToast(options: { body: { message: string; variant: "warning" } }): unknown };
  };
}

interface ToolInput {
  tool: string;
  sessionID: string;
  callID: string;
}

/** The result of a tool, which an MCP server writes as content blocks. */
interface Result {
  output?: unknown;
  content?: { type: string; text?: string }[];
  isError?: boolean;
  metadata?: { exit?: unknown } | undefined;
}

interface Part {
  id?: string;
  messageID?: string;
  type: string;
  text?: string;
  synthetic?: boolean;
  sessionID: string;
  callID: string;
  tool: string;
  time?: { end?: number };
  state: State;
}

interface State {
  status: string;
  input: unknown;
  output?: string;
  error: string;
  metadata?: { interrupted?: boolean; exit?: unknown };
}

/** A stored message. */
interface Message {
  info: { id: string; role: string };
  parts: Part[];
}

interface Properties {
  info?: { id: string; parentID?: string };
  part?: Part;
  sessionID?: string;
  error?: { name?: string };
}

/** A message of the user. */
interface Sent {
  message: { id: string };
  parts: any[];
}

/** The largest number of sessions, of open calls, and of failed calls whose answers are kept for the next requests. */
const KEPT_MAX = 4096;

/** The deepest nesting of subagents. */
const DEPTH_MAX = 64;

/** The longest time that stored messages are waited for, in milliseconds. */
const RECALL_MAX = 5000;

/**
 * Adds notes to the results of repeated calls, refuses calls that keep failing, and ends stuck turns. Takes the
 * options of `Guards`.
 *
 * ```js
 * // .opencode/plugin/unstuck.js
 * export { Unstuck } from "unstuck/opencode";
 * ```
 */
export const Unstuck = async ({ client }: Input, options?: GuardsOptions) => {
  const agents = new CodingAgents(options);
  /** The parents of the sessions of subagents. */
  const parents = new Recent<string>(KEPT_MAX);
  /** The text with which each session's answer ends. */
  const texts = new Recent<string>(KEPT_MAX);
  /** The calls that have begun, and the answers to those that failed. */
  const open = new Recent<true>(KEPT_MAX);
  const failures = new Recent<Answer>(KEPT_MAX);

  /** The sessions whose stored messages are known, or are being read. */
  const recalled = new Recent<Promise<void>>(KEPT_MAX);

  /** Returns the name of the worker that has this session. */
  const worker = (session: string) => {
    let root = session;
    for (let depth = 0; depth < DEPTH_MAX; depth += 1) root = parents.get(root) ?? root;
    return `${root}|${root === session ? "" : session}`;
  };

  /** Ends the turn. It is not awaited, because it waits for the call that is running now. */
  const stop = (session: string) => {
    quietly(() => client.session.abort({ path: { id: session } }));
  };

  /** Shows a line to the user, in a terminal. */
  const show = (message: string | undefined) => {
    if (message) quietly(() => client.tui.showToast({ body: { message, variant: "warning" } }));
  };

  /** Takes in a call that threw: it never reaches `tool.execute.after`. */
  const failed = (part: Part) => {
    if (failures.has(keyOfPart(part))) return;
    const { sessionID, callID, tool, state } = part;
    open.delete(keyOf(part));
    const cancelled = state.metadata?.interrupted === true;
    const call = { id: callID, tool: toolOf(tool, state.input), args: state.input };
    const answer = agents.after(worker(sessionID), call, { output: state.error, failed: true, cancelled });
    failures.set(keyOfPart(part), answer);
    show(answer.person);
    if (answer.stop) stop(sessionID);
  };

  /** Takes in what another process did in this session, up to the message `last`. */
  const recall = (session: string, last?: string): Promise<void> => {
    const read = async () => {
      try {
        const answer = await within(RECALL_MAX, client.session.messages({ path: { id: session } }));
        const messages = Array.isArray(answer?.data) ? (answer.data as Message[]) : [];
        replay(agents, worker(session), messages.filter(({ info }) => info.id !== last));
      } catch {
        // The session begins with an empty history.
      }
    };
    const known = recalled.get(session) ?? read();
    recalled.set(session, known);
    return known;
  };

  const happened = (type: string, { info, part, sessionID, error }: Properties) => {
    if (type === "message.part.updated") {
      if (part && isError(part)) failed(part);
      else if (part?.type === "text" && part.time?.end) texts.set(part.sessionID, part.text ?? "");
    } else if (type === "session.created" || type === "session.updated") {
      if (info?.parentID) parents.set(info.id, info.parentID);
      if (info && type === "session.created") recalled.set(info.id, Promise.resolve());
    } else if (type === "session.deleted" && info) {
      agents.ended(worker(info.id));
      parents.delete(info.id);
      texts.delete(info.id);
      recalled.delete(info.id);
    } else if (type === "session.error" && error?.name === "MessageAbortedError" && sessionID) {
      agents.interrupted(worker(sessionID));
    } else if (type === "session.compacted" && sessionID) {
      agents.compacted(worker(sessionID));
    } else if (type === "session.idle" && sessionID && texts.has(sessionID)) {
      agents.idle(worker(sessionID), texts.get(sessionID) ?? "");
      texts.delete(sessionID);
    }
  };

  /** Judges a call. Returns why it must not run, if so. */
  const before = failsOpen(agents, async (call: ToolInput, { args }: { args: unknown }) => {
    const { tool, sessionID, callID } = call;
    await recall(sessionID);
    open.set(keyOf(call), true);
    // The id may have been that of an earlier call.
    failures.delete(keyOf(call));
    const answer = agents.before(worker(sessionID), { id: callID, tool: toolOf(tool, args), args });
    show(answer.person);
    if (answer.stop) stop(sessionID);
    return answer.stop ?? answer.refuse;
  });

  /** Adds the note to the error of a failed call, unless it is there already. */
  const noted = failsOpen(agents, (part: Part) => {
    const answer = failures.get(keyOfPart(part));
    const words = answer?.stop ?? answer?.tell;
    if (words && !part.state.error.endsWith(words)) part.state.error += `\n\n${words}`;
  });

  /** Returns a hook that does nothing if it is defective. */
  const hook = <A extends unknown[]>(work: (...args: A) => unknown) => {
    const open = failsOpen(agents, work);
    return async (...args: A): Promise<void> => {
      await open(...args);
    };
  };

  return {
    "tool.execute.before": async (call: ToolInput, output: { args: unknown }) => {
      const words = await before(call, output);
      if (words) throw new Error(words);
    },

    "tool.execute.after": hook((input: ToolInput & { args: unknown }, result: Result | undefined) => {
      const { tool, sessionID, callID, args } = input;
      open.delete(keyOf(input));
      const blocks = Array.isArray(result?.content) ? result.content : undefined;
      const output = blocks ? textOfBlocks(blocks) : result?.output;
      // opencode runs the tool "invalid" in place of one that does not exist.
      const failed = result?.isError === true || tool === "invalid";
      const ending = { output, failed, exit: result?.metadata?.exit };
      const answer = agents.after(worker(sessionID), { id: callID, tool: toolOf(tool, args), args }, ending);
      show(answer.person);
      if (answer.stop) stop(sessionID);
      const words = answer.stop ?? answer.tell;
      if (words && blocks) blocks.push({ type: "text", text: words });
      else if (words && result) result.output = `${output}\n\n${words}`;
    }),

    // What the model reads of a failed call is its error, which is stored without our note.
    "experimental.chat.messages.transform": hook((_: object, { messages }: { messages: any[] }) => {
      const parts = (messages as Partial<Message>[]).flatMap(({ parts = [] }) => parts);
      const calls = parts.filter((part) => part?.type === "tool");
      // Of the calls with one id, only the last can be open.
      const latest = new Map(calls.map((part) => [keyOf(part), part]));
      for (const [key, part] of latest) if (isError(part) && open.has(key)) failed(part);
      for (const part of calls.filter(isError)) noted(part);
    }),

    "chat.message": hook(async ({ sessionID }: { sessionID: string }, { message, parts }: Sent) => {
      await recall(sessionID, message.id);
      const own = ownWords(parts ?? []);
      if (own !== undefined) agents.prompt(worker(sessionID), own);
    }),

    event: hook(({ event }: { event: { type: string; properties: unknown } }) => {
      happened(event.type, (event.properties ?? {}) as Properties);
    }),
  };
};

/** Returns the key of an open call. Some providers begin to number the calls anew in each session or answer. */
function keyOf({ sessionID, callID }: { sessionID: string; callID: string }): string {
  return `${sessionID}|${callID}`;
}

/** Returns the key of a call that has ended. */
function keyOfPart(part: Part): string {
  return part.id ?? keyOf(part);
}

function isError(part: Part): boolean {
  return part.type === "tool" && part.state?.status === "error";
}

/**
 * Returns what the user wrote in a message, or nothing if the message is from opencode: the text, or the fingerprint
 * of what is more than text, such as an image.
 */
function ownWords(parts: Part[]): string | undefined {
  const own = parts.filter(({ type, synthetic }) => /^(text|file|subtask)$/.test(type) && !synthetic);
  if (own.length === 0) return undefined;
  if (own.every(({ type }) => type === "text")) return textOfBlocks(own);
  // No two messages have these ids in common.
  return fingerprint(own.map(({ id: _, messageID: __, sessionID: ___, ...content }) => content));
}

/** Resolves to the value of `promise`, or to `undefined` if that takes too long. */
async function within<T>(milliseconds: number, promise: PromiseLike<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reports stored messages as if they came now. */
function replay(agents: CodingAgents, worker: string, messages: Message[]): void {
  let text: string | undefined;
  const idle = () => {
    if (text !== undefined) agents.idle(worker, text);
    text = undefined;
  };
  for (const [turn, { info, parts }] of messages.entries()) {
    if (info.role === "user") {
      idle();
      const own = ownWords(parts);
      if (own !== undefined) agents.prompt(worker, own);
      continue;
    }
    text = parts.findLast((part) => part.type === "text" && part.time?.end)?.text ?? text;
    const ended = parts.filter(({ type, state }) => type === "tool" && /^(completed|error)$/.test(state.status));
    const callOf = ({ callID: id, tool, state }: Part) => ({ id, tool: toolOf(tool, state.input), args: state.input });
    for (const part of ended) agents.before(worker, callOf(part), turn);
    for (const part of ended) agents.after(worker, callOf(part), endingOf(part), turn);
  }
  idle();
}

/**
 * Returns the name under which a call is reported. opencode hands a call with arguments that do not fit to its tool
 * `invalid`, with the name of the tool that the model asked for.
 */
function toolOf(tool: string, args: unknown): string {
  const asked = (args as { tool?: unknown } | null | undefined)?.tool;
  const isMeant = tool === "invalid" && typeof asked === "string" && asked !== tool;
  return isMeant ? `${asked} with invalid arguments` : tool;
}

/** Returns the stored end of a call, without a note of ours. */
function endingOf({ tool, state }: Part): Ending {
  const { status, output = "", error, metadata } = state;
  if (status === "error") return { output: error, failed: true, cancelled: metadata?.interrupted === true };
  const note = output.lastIndexOf("\n\n[unstuck] ");
  const own = note < 0 ? output : output.slice(0, note);
  return { output: own, failed: tool === "invalid", exit: metadata?.exit };
}
