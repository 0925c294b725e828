/** An extension for pi. It does the same as the extension that `unstuck install pi` writes, in process. */

import { CodingAgents, quietly, Recent, textOfBlocks } from "./coding-agents.js";
import type { GuardsOptions } from "./guards.js";
import { fingerprint } from "./index.js";
import { failsOpen } from "./sessions.js";

/** The part of pi's API that the extension uses. */
interface Pi {
  on(event: any, handler: (event: any, context: any) => any): unknown;
}

interface Context {
  sessionManager: { getSessionId(): string };
  hasUI: boolean;
  ui: { notify(line: string, type: "warning"): unknown };
  abort(): void;
}

type Block = { type: string; text?: string };

/** The result of a call. */
interface Result {
  toolCallId: string;
  toolName: string;
  content: Block[];
  isError: boolean;
}

/** A message of the conversation. */
interface Message extends Result {
  role: string;
  stopReason?: string;
}

/** The largest number of calls whose events are not complete. */
const CALLS_MAX = 1024;

/**
 * Returns an extension that adds notes to the results of repeated calls, refuses calls that keep failing, and ends
 * stuck turns. Takes the options of `Guards`.
 */
export function unstuck(options?: GuardsOptions) {
  const agents = new CodingAgents(options);
  return (pi: Pi): void => watch(pi, agents);
}

// pi takes an extension only as the default export.
/**
 * The extension with the default options.
 *
 * ```js
 * // ~/.pi/agent/extensions/unstuck.ts
 * export { default } from "unstuck/pi";
 * ```
 */
export default unstuck();

function watch(pi: Pi, agents: CodingAgents): void {
  /** The arguments of calls that have begun, and the calls whose events are complete. */
  const begun = new Recent<unknown>(CALLS_MAX);
  const announced = new Recent<true>(CALLS_MAX);
  /** The number of the model's current turn. */
  let turn = 0;
  /** The text with which the model's answer ends. */
  let last: string | undefined;

  const session = (context: Context) => context.sessionManager.getSessionId();

  /** Shows a line to the user, in a terminal. */
  const show = (context: Context, line: string | undefined) => {
    if (line && context.hasUI) quietly(() => context.ui.notify(line, "warning"));
  };

  /** Reports the result of a call. Returns its content with a note, or `undefined` without one. */
  const after = (context: Context, result: Result, args: unknown): Block[] | undefined => {
    const { toolCallId: id, toolName: tool, content, isError: failed } = result;
    const ending = { output: textOfBlocks(content), failed };
    const answer = agents.after(session(context), { id, tool, args }, ending, turn);
    show(context, answer.person);
    if (answer.stop) quietly(() => context.abort());
    const words = answer.stop ?? answer.tell;
    return words ? [...content, { type: "text", text: words }] : undefined;
  };

  /** Registers a handler that does nothing if it is defective. */
  const on = (event: string, handler: (event: any, context: Context) => unknown) => {
    const open = failsOpen(agents, handler);
    pi.on(event, async (happened, context) => open(happened, context));
  };

  on("input", ({ text, images, source }, context) => {
    if (source === "extension") return;
    agents.prompt(session(context), images?.length > 0 ? fingerprint([text, images]) : text);
  });

  on("turn_start", () => {
    turn += 1;
  });

  on("tool_execution_start", ({ toolCallId, args }) => {
    begun.set(toolCallId, args);
  });

  on("tool_call", ({ toolCallId: id, toolName: tool, input: args }, context) => {
    announced.set(id, true);
    const answer = agents.before(session(context), { id, tool, args }, turn);
    show(context, answer.person);
    if (answer.stop) return { block: true, reason: answer.stop, terminate: true };
    return answer.refuse ? { block: true, reason: answer.refuse } : undefined;
  });

  on("tool_result", (result, context) => {
    const content = after(context, result, result.input);
    return content && { content };
  });

  on("message_end", ({ message }: { message: Message }, context) => {
    if (message.role === "assistant") {
      last = textOfBlocks(message.content.filter(({ type }) => type === "text"));
      if (message.stopReason === "aborted") agents.interrupted(session(context));
    } else if (message.role === "toolResult") {
      const args = begun.get(message.toolCallId);
      begun.delete(message.toolCallId);
      // An unknown tool or invalid arguments cause no other event.
      if (announced.delete(message.toolCallId)) return undefined;
      const content = after(context, message, args);
      return content && { message: { ...message, content } };
    }
    return undefined;
  });

  on("agent_settled", (_, context) => {
    if (last !== undefined) agents.idle(session(context), last);
    last = undefined;
  });

  on("session_compact", (_, context) => {
    agents.compacted(session(context));
  });

  // The conversation goes on from another point, without what came after that.
  on("session_tree", (_, context) => {
    agents.began(session(context));
  });

  on("session_shutdown", ({ reason }, context) => {
    if (reason !== "reload") agents.ended(session(context));
  });
}
