/** Hooks for the Claude Agent SDK. Each session has a guard of its own, and so has each subagent in it. */

import { Recent } from "./coding-agents.js";
import type { Decision } from "./decision.js";
import type { GuardsOptions } from "./guards.js";
import { fingerprint } from "./index.js";
import { failsOpen, Sessions, textOf } from "./sessions.js";

/** A hook of the SDK. */
export type Hook = (input: any) => Promise<Output>;

/** The hooks, in the shape of the SDK's options. */
export type Hooks = Record<Event, { hooks: Hook[] }[]>;

/** What a hook answers. */
export interface Output {
  continue?: false;
  stopReason?: string;
  hookSpecificOutput?: any;
}

type Event = "UserPromptSubmit" | "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch";

/** The fields of an event, as far as they are read here. */
interface Fields {
  session_id: string;
  agent_id?: string;
  hook_event_name: string;
  prompt?: unknown;
  prompt_id?: string;
  tool_name: string;
  tool_input: unknown;
  tool_use_id: string;
  tool_response?: unknown;
  error?: unknown;
  is_interrupt?: boolean;
  tool_calls?: Fields[];
}

/** The largest number of sessions whose batches are counted. */
const SESSIONS_MAX = 1024;

/** The largest number of calls in a batch. */
const CALLS_MAX = 1024;

/** The shortest time that a model takes to answer, in milliseconds. Calls of one batch follow each other faster. */
const ANSWER_MIN = 250;

/** After so many answers without a batch, the program is too old to report any. */
const ANSWERS_MAX = 8;

/**
 * Returns hooks for `options.hooks`. They add notes to the results of repeated calls, refuse calls that keep failing,
 * and end stuck runs. To add hooks of your own, append matchers to the lists.
 *
 * ```js
 * const run = query({ prompt, options: { hooks: hooks() } });
 * ```
 */
export function hooks(options: GuardsOptions = {}): Hooks {
  const sessions = new Sessions(options);
  const watch = new Watch(sessions);
  const list = (hook: (fields: Fields) => Output | undefined) => {
    const open = failsOpen(sessions, hook);
    return [{ hooks: [async (fields: Fields) => open(fields) ?? {}] }];
  };
  return {
    UserPromptSubmit: list((fields) => watch.prompt(fields)),
    PreToolUse: list((fields) => watch.before(fields)),
    PostToolUse: list((fields) => watch.after(fields)),
    PostToolUseFailure: list((fields) => watch.after(fields)),
    PostToolBatch: list((fields) => watch.batch(fields)),
  };
}

/**
 * Counts the batches of a session: the calls that one answer of the model has.
 *
 * The program runs most tools of a batch one after the other, so a guard could not tell them from steps.
 */
class Batches {
  ended = 0;
  /** The answers that the model seems to have given since the last batch. */
  answers = 0;
  lastSeen = 0;
  /** The announced calls of this batch. */
  readonly hasResult = new Recent<boolean>(CALLS_MAX);

  /** Takes in that a call begins or ends. */
  see(call: string, hasResult: boolean): void {
    const now = Date.now();
    if (!hasResult && now - this.lastSeen >= ANSWER_MIN) this.answers += 1;
    this.lastSeen = now;
    this.hasResult.set(call, hasResult);
  }

  get seemUnreported(): boolean {
    return this.answers > ANSWERS_MAX || this.hasResult.size === CALLS_MAX;
  }
}

class Watch {
  readonly #sessions: Sessions;
  readonly #batches = new Recent<Batches>(SESSIONS_MAX);
  /** Whether the program reports batches, if that is known. */
  #areReported: boolean | undefined;

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  prompt(fields: Fields): undefined {
    const { prompt = "", prompt_id: id = "" } = fields;
    const text = typeof prompt === "string" ? prompt : fingerprint(prompt);
    // The program reports no images, so the text of a message that has nothing else is empty.
    this.#sessions.userMessage(sessionOf(fields), text || id);
  }

  before(fields: Fields): Output | undefined {
    const [session, id] = [sessionOf(fields), fields.tool_use_id];
    const step = this.#seen(session, id, false);
    const decision = this.#sessions.before(session, fields.tool_name, fields.tool_input, { id, step });
    if (decision === undefined || !decision.blocked) return undefined;
    const denial = { permissionDecision: "deny", permissionDecisionReason: decision.message ?? "" };
    return withEnd({ hookSpecificOutput: { hookEventName: "PreToolUse", ...denial } }, decision);
  }

  after(fields: Fields): Output | undefined {
    const { hook_event_name: hookEventName, tool_use_id: call } = fields;
    const session = sessionOf(fields);
    this.#seen(session, call, true);
    if (fields.is_interrupt) {
      this.#sessions.cancelled(session, call);
      return undefined;
    }
    const error = hookEventName === "PostToolUseFailure";
    const result = error ? fields.error : textOf(fields.tool_response);
    const decision = this.#sessions.after(session, call, result, { error });
    if (decision?.message === undefined) return undefined;
    return withEnd({ hookSpecificOutput: { hookEventName, additionalContext: decision.message } }, decision);
  }

  /** Judges the calls of unknown tools, for which no other hook is called. */
  batch(fields: Fields): Output | undefined {
    const session = sessionOf(fields);
    const batches = this.#batchesOf(session);
    // The calls were not kept if no batch was expected.
    const calls = this.#areReported === false ? [] : (fields.tool_calls ?? []);
    this.#areReported = true;
    const decisions = calls.map((call) => this.#listed(session, batches, call));
    batches.ended += 1;
    batches.hasResult.clear();
    const told = decisions.filter((decision) => decision?.message !== undefined) as Decision[];
    const ending = told.find(({ endsRun }) => endsRun) ?? told.at(-1);
    if (ending === undefined) return undefined;
    const additionalContext = told.map(({ message }) => message).join("\n\n");
    return withEnd({ hookSpecificOutput: { hookEventName: "PostToolBatch", additionalContext } }, ending);
  }

  /** Takes in a call of a batch. Most of them had hooks of their own. */
  #listed(session: string, batches: Batches, call: Fields): Decision | undefined {
    const { tool_use_id: id, tool_name: tool, tool_input: args } = call;
    const hasResult = batches.hasResult.get(id);
    if (hasResult === true) return undefined;
    // Another hook or the user refused it, or this guard did, and then it knows.
    if (hasResult === false) return this.#sessions.refused(session, id);
    const before = this.#sessions.before(session, tool, args, { id, step: batches.ended });
    if (before?.blocked) return before;
    return this.#sessions.after(session, id, textOf(call.tool_response), { error: true });
  }

  /** Takes in that a call begins or ends. Returns the number of its step, if the program reports batches. */
  #seen(session: string, call: string, hasResult: boolean): number | undefined {
    if (this.#areReported === false) return undefined;
    const batches = this.#batchesOf(session);
    batches.see(call, hasResult);
    if (this.#areReported || !batches.seemUnreported) return batches.ended;
    this.#areReported = false;
    this.#batches.clear();
    return undefined;
  }

  #batchesOf(session: string): Batches {
    const batches = this.#batches.get(session) ?? new Batches();
    this.#batches.set(session, batches);
    return batches;
  }
}

function sessionOf({ session_id: session, agent_id: agent = "" }: Fields): string {
  return `${session}|${agent}`;
}

function withEnd(output: Output, decision: Decision): Output {
  if (!decision.endsRun) return output;
  return { ...output, continue: false, stopReason: decision.message ?? "The run ends here." };
}
