/**
 * Middleware for LangChain agents.
 *
 * The guard of a thread is found by its thread id and checkpoint namespace. A run without a thread id, and a
 * middleware that is `stateless`, rebuilds the guard from the messages of the state at each call, so nothing is
 * kept between calls and any process may serve any turn.
 */

// `wrapToolCall` has to return an instance of the framework's own class.
import { AIMessage, HumanMessage, ToolMessage } from "langchain";

import { type Answer, type Decision, type Escalation, escalationOf, type Ticket } from "./decision.js";
import { Guard } from "./guard.js";
import type { GuardsOptions } from "./guards.js";
import { fingerprint } from "./index.js";
import { failsOpen, Sessions, textOf } from "./sessions.js";

/** The options of `Guards`, and `stateless`. */
export interface UnstuckMiddlewareOptions extends GuardsOptions {
  /** Rebuild the guard from the messages at each call, also in threads. */
  stateless?: boolean | undefined;
  /** The model that takes one turn before a loop is refused, with the finding as its question. */
  escalateTo?: unknown;
  /** Whether turns that only repeat are left out of the requests. */
  collapse?: boolean | undefined;
}

/** The middleware, in the shape of `createMiddleware`. */
export interface UnstuckMiddleware {
  name: string;
  beforeAgent: (state: State, runtime: Runtime) => void;
  beforeModel: {
    hook: (state: State) => { jumpTo: "end"; messages: any[] } | undefined;
    canJumpTo: "end"[];
  };
  wrapModelCall: (request: any, handler: (request: any) => any) => any;
  wrapToolCall: (request: Request, handler: (request: any) => any) => Promise<any>;
}

/** A request to the model, as far as it is changed here. */
interface ModelRequest {
  messages: unknown[];
  runtime: Runtime;
}

interface State {
  messages: unknown[];
}

interface Runtime {
  configurable?: { thread_id?: string; [name: string]: unknown };
  signal?: AbortSignal;
}

interface ToolCall {
  name: string;
  args: unknown;
  id?: string;
}

interface Request {
  toolCall: ToolCall;
  state: State;
  runtime: Runtime;
}

/** A message of the state, as far as it is read here. */
interface Message {
  type: string;
  id?: string;
  content: unknown;
  text?: unknown;
  tool_calls?: ToolCall[];
  response_metadata?: Record<string, unknown>;
}

interface ToolAnswer extends Message {
  tool_call_id: string;
  name?: string;
  status?: "success" | "error";
  artifact?: unknown;
  additional_kwargs?: unknown;
  metadata?: unknown;
}

/** What the middleware did, in the `response_metadata` of a tool message under `KEY`. */
interface Kept {
  refused?: boolean;
  content?: unknown;
  stop?: string | undefined;
  question?: string | undefined;
  answer?: Answer | undefined;
}

const KEY = "unstuck";

/**
 * Returns middleware that adds notes to the results of repeated calls, refuses calls that keep failing, and ends
 * stuck runs.
 *
 * Put it before (outside) other middleware. A tool that throws is answered with its error, as in an agent whose tool
 * calls no middleware wraps. The framework would end the run otherwise.
 *
 * ```js
 * const agent = createAgent({ model, tools, middleware: [unstuckMiddleware()] });
 * ```
 */
export function unstuckMiddleware(options: UnstuckMiddlewareOptions = {}): UnstuckMiddleware {
  const { stateless = false, escalateTo, onEscalate, collapse = false, ...others } = options;
  const isAsked = escalateTo !== undefined || onEscalate !== undefined;
  const guards = { ...others, escalate: others.escalate ?? (isAsked ? 2 : 0) };
  const { capacity: _, ...guard } = guards;
  const sessions = new Sessions(guards);
  const sessionOf = (runtime: Runtime) => (stateless ? undefined : threadOf(runtime));

  /** Returns the guard of the call's thread, or one rebuilt from the messages before the call. */
  const guardOf = ({ state, runtime }: Request): Guard | undefined => {
    try {
      const session = sessionOf(runtime);
      if (session !== undefined) return sessions.guard(session);
      const own = new Guard(guard);
      replay(own, messagesOf(state));
      return own;
    } catch (defect) {
      sessions.failed(defect);
      return undefined;
    }
  };

  /** Returns what the function of the host says, if it is asked. */
  const ask = async (escalation: Escalation | undefined): Promise<Answer | undefined> => {
    try {
      return escalation && (await onEscalate?.(escalation));
    } catch (defect) {
      sessions.failed(defect);
      return undefined;
    }
  };

  /** Returns the ids of the calls that only repeat. */
  const repeated = ({ messages, runtime }: ModelRequest): string[] => {
    const session = sessionOf(runtime);
    const ids = (messages as Message[]).flatMap(callsOf);
    if (session !== undefined) return sessions.repeated(session, ids);
    const own = new Guard(guard);
    replay(own, messages as Message[], ids.filter((id) => ids.indexOf(id) === ids.lastIndexOf(id)));
    return own.repeated(ids);
  };

  /** Returns the request without turns that only repeat, and for the other model if it takes this turn. */
  const prepared = (request: ModelRequest): ModelRequest => {
    const question = escalateTo === undefined ? undefined : latest(request.messages as Message[], "question");
    const messages = collapse ? withoutCalls(request.messages as Message[], repeated(request)) : request.messages;
    if (question === undefined) return collapse ? { ...request, messages } : request;
    return { ...request, model: escalateTo, messages: [...messages, new HumanMessage(question)] } as ModelRequest;
  };

  return {
    name: "unstuck",

    beforeAgent: failsOpen(sessions, (state, runtime) => {
      const session = sessionOf(runtime);
      const last = messagesOf(state).at(-1);
      if (session !== undefined && last?.type === "human") sessions.userMessage(session, plain(last));
    }),

    beforeModel: {
      hook: failsOpen(sessions, (state) => {
        const text = latest(messagesOf(state), "stop");
        return text === undefined ? undefined : { jumpTo: "end", messages: [new AIMessage(text)] };
      }),
      canJumpTo: ["end"],
    },

    wrapModelCall: (request, handler) => handler(failsOpen(sessions, prepared)(request) ?? request),

    async wrapToolCall(request, handler) {
      const call = new Call(request, sessions, guardOf(request));
      call.heard(await ask(call.escalation));
      const { refusal } = call;
      if (refusal !== undefined) return refusal;
      let result: unknown;
      try {
        result = await handler(request);
      } catch (error) {
        result = call.raised(error);
      }
      call.ended(result);
      call.heard(await ask(call.escalation));
      return call.answered(result);
    },
  };
}

/** Returns why the run has to end, or what the other model is asked, if one of the latest results says so. */
function latest(messages: Message[], key: "question" | "stop"): string | undefined {
  for (const message of messages.toReversed()) {
    if (message.type !== "tool") return undefined;
    const text = keptOf(message)[key];
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Returns the ids of the calls in a message. */
function callsOf({ type, tool_calls = [] }: Message): string[] {
  return type === "ai" ? tool_calls.map(({ id = "" }) => id) : [];
}

/** Returns the messages without the turns whose calls all have one of these ids, and without their results. */
function withoutCalls(messages: Message[], ids: string[]): Message[] {
  const turns = messages.map(callsOf).filter((calls) => calls.every((id) => ids.includes(id)));
  const gone = new Set(turns.flat());
  return messages.filter((message) => {
    const own = message.type === "tool" ? [(message as ToolAnswer).tool_call_id] : callsOf(message);
    return own.length === 0 || own.some((id) => !gone.has(id));
  });
}

/** One call between its announcement and its result. */
class Call {
  readonly #request: Request;
  readonly #sessions: Sessions;
  readonly #guard: Guard | undefined;
  readonly #ticket: Ticket | undefined;
  /** The latest decision, and the result that it is about. */
  #decision: Decision | undefined;
  #text = "";
  #answer: Answer | undefined;

  constructor(request: Request, sessions: Sessions, guard: Guard | undefined) {
    [this.#request, this.#sessions, this.#guard] = [request, sessions, guard];
    if (guard === undefined) return;
    try {
      const { name, args, id } = request.toolCall;
      const step = messagesOf(request.state).findLast(({ type }) => type === "ai")?.id;
      const decision = guard.before(name, args, { ...(id ? { id } : {}), ...(step ? { step } : {}) });
      this.#ticket = decision.ticket;
      this.#decision = decision;
    } catch (defect) {
      sessions.failed(defect);
    }
  }

  /** What somebody is asked about the latest decision, if they are. */
  get escalation(): Escalation | undefined {
    return this.#decision && escalationOf(this.#decision, this.#text);
  }

  /** Takes in what somebody says about the latest decision. */
  heard(answer: Answer | undefined): void {
    if (answer === undefined || this.#decision === undefined) return;
    try {
      this.#decision = this.#guard?.answered(this.#decision, answer);
      this.#answer = answer;
    } catch (defect) {
      this.#sessions.failed(defect);
    }
  }

  /** The answer to a call that must not run. */
  get refusal(): ToolMessage | undefined {
    const decision = this.#decision;
    if (!decision?.blocked) return undefined;
    const kept: Kept = { refused: true, ...this.#kept(decision) };
    return this.#error(decision.message ?? "", { [KEY]: kept });
  }

  /** Reports the result. */
  ended(result: unknown): void {
    this.#decision = undefined;
    if (this.#guard === undefined) return;
    try {
      const message = this.#answerIn(result);
      if (message === undefined) {
        this.#guard.cancelled(this.#ticket);
        return;
      }
      const text = textOf(message.content);
      this.#text = typeof text === "string" ? text : "";
      this.#decision = this.#guard.after(this.#ticket, text, { error: message.status === "error" });
    } catch (defect) {
      this.#sessions.failed(defect);
    }
  }

  /** Returns the result with a note if there is one. */
  answered(result: unknown): unknown {
    const decision = this.#decision;
    if (decision === undefined) return result;
    try {
      const message = this.#answerIn(result);
      const isPlain = decision.message === undefined && !decision.endsRun && this.#answer === undefined;
      if (message === undefined || isPlain) return result;
      const noted = withNote(message, decision, this.#kept(decision));
      return message === result ? noted : replaced(result as Command, message, noted);
    } catch (defect) {
      this.#sessions.failed(defect);
      return result;
    }
  }

  /**
   * Returns the message that the framework makes of an exception if no middleware wraps the call, or reports it and
   * throws it again if that would end the run as well.
   */
  raised(error: unknown): unknown {
    let isOver = this.#request.runtime?.signal?.aborted === true;
    let answer: ToolMessage | undefined;
    try {
      const { is_bubble_up: isInterrupt, "~brand": brand } = Object(error) as Record<string, unknown>;
      isOver ||= isInterrupt === true;
      if (!isOver && brand !== "MiddlewareError") {
        const isInvalid = brand === "ToolInvocationError";
        answer = this.#error(isInvalid ? (error as Error).message : `${error}\n Please fix your mistakes.`);
      }
    } catch {
      // Anything may be thrown. The framework finds no text in such a value either.
    }
    if (answer !== undefined) return answer;
    this.#report((guard, ticket) => {
      if (isOver) guard.cancelled(ticket);
      else guard.after(ticket, error, { error: true });
    });
    throw error;
  }

  #report(report: (guard: Guard, ticket: Ticket | undefined) => void): void {
    try {
      if (this.#guard !== undefined) report(this.#guard, this.#ticket);
    } catch (defect) {
      this.#sessions.failed(defect);
    }
  }

  /** Returns what a message keeps of a decision. */
  #kept(decision: Decision): Kept {
    return { stop: stopOf(decision), question: decision.question, answer: this.#answer };
  }

  #error(content: string, metadata: Record<string, unknown> = {}): ToolMessage {
    const { name, id = "" } = this.#request.toolCall;
    return new ToolMessage({ content, tool_call_id: id, name, status: "error", response_metadata: metadata });
  }

  /** Returns the answer to this call. A `Command` has it among the messages of its update. */
  #answerIn(result: unknown): ToolAnswer | undefined {
    if (ToolMessage.isInstance(result)) return result as unknown as ToolAnswer;
    const messages = (result as Partial<Command> | undefined)?.update?.messages;
    const isAnswer = (message: unknown) =>
      ToolMessage.isInstance(message) &&
      (message as unknown as ToolAnswer).tool_call_id === this.#request.toolCall.id;
    return Array.isArray(messages) ? (messages.find(isAnswer) as ToolAnswer | undefined) : undefined;
  }
}

/** A command of the graph whose update has messages. */
interface Command {
  update: { messages: unknown[] };
}

function replaced(command: Command, message: ToolAnswer, noted: ToolMessage): Command {
  const messages = command.update.messages.map((other) => (other === message ? noted : other));
  const Class = command.constructor as new (fields: Command) => Command;
  return new Class({ ...command, update: { ...command.update, messages } });
}

function withNote(message: ToolAnswer, decision: Decision, own: Kept): ToolMessage {
  const { id, name, content, tool_call_id, status, artifact, additional_kwargs, metadata } = message;
  const notes = decision.message === undefined ? [] : [{ type: "text", text: decision.message }];
  const noted =
    typeof content === "string" ? decision.annotate(content) : [...(content as unknown[]), ...notes];
  const kept: Kept = { content, ...own };
  const response_metadata = { ...message.response_metadata, [KEY]: kept };
  const fields = { id, name, status, artifact, additional_kwargs, metadata };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  return new ToolMessage({ ...Object.fromEntries(known), content: noted, tool_call_id, response_metadata });
}

function stopOf(decision: Decision): string | undefined {
  return decision.endsRun ? (decision.message ?? "The run ends here.") : undefined;
}

/** Reports the history to a new guard, up to the calls that are not answered yet. Names the calls with these ids. */
function replay(guard: Guard, messages: Message[], ids: readonly string[] = []): void {
  const results = messages.filter(({ type }) => type === "tool") as ToolAnswer[];
  const answers = new Map(results.map((answer) => [answer.tool_call_id, answer]));
  for (const message of messages) {
    if (message.type === "human") guard.userMessage(plain(message));
    const calls = message.type === "ai" ? (message.tool_calls ?? []) : [];
    const begun = calls.flatMap(({ id, name, args }) => {
      const answer = answers.get(id ?? "");
      if (answer === undefined) return [];
      const named = id !== undefined && ids.includes(id) ? { id } : {};
      const before = guard.before(name, args, message.id ? { ...named, step: message.id } : named);
      return [{ answer, before }];
    });
    for (const { answer, before } of begun) {
      const kept = keptOf(answer);
      const content = textOf(kept.content ?? answer.content);
      const after = kept.refused
        ? guard.refused(before.ticket)
        : guard.after(before.ticket, content, { error: answer.status === "error" });
      const asked = [before, after].filter(({ question }) => question !== undefined);
      for (const decision of asked) guard.answered(decision, kept.answer);
    }
  }
}

/** Returns the id of the thread and of the graph inside it, if there is a thread. */
function threadOf({ configurable }: Runtime): string | undefined {
  if (configurable?.thread_id === undefined) return undefined;
  // The last part names the task: `tools:<id>`, or `tools:<id>|tools:<id>` in a graph inside a tool.
  const namespace = String(configurable["checkpoint_ns"] ?? "");
  return `${configurable.thread_id}|${namespace.slice(0, Math.max(namespace.lastIndexOf("|"), 0))}`;
}

function keptOf(message: Message): Kept {
  return (message.response_metadata?.[KEY] as Kept | undefined) ?? {};
}

function messagesOf(state: State | undefined): Message[] {
  return Array.isArray(state?.messages) ? (state.messages as Message[]) : [];
}

/** Returns the text of a message of the user, or the fingerprint of one that is more than text, such as an image. */
function plain({ text, content }: Message): string {
  const own = textOf(content);
  if (typeof own !== "string") return fingerprint(content);
  return typeof text === "string" ? text : own;
}
