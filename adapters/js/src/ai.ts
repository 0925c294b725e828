/**
 * Tools and settings for the Vercel AI SDK 6 and 7.
 *
 * `execute` of each tool is wrapped, because version 6 has no other place to refuse a call. Everything that
 * the model reads besides refusals goes through `prepareStep`: it adds the notes to the results, sees the
 * calls that the SDK rejects itself, and ends the run. So the results that a program reads stay as they are.
 *
 * Nothing of the SDK is imported. One module serves both versions, and their types differ.
 */

import { type Decision, fingerprint, type GuardsOptions, Stuck, type Ticket } from "./index.js";
import {
  callsOf,
  type Message,
  type Note,
  type ResultPart,
  resultsById,
  resultsOf,
  withNote,
  withoutCalls,
} from "./prompt.js";
import { Identities, Sessions, textOf } from "./sessions.js";
import { copyWith, isAsyncIterable, isCancelled, isPromiseLike, streamed } from "./tools.js";

/** The largest number of calls of tools without `execute` whose results are awaited. */
const ANNOUNCED_MAX = 1024;

/** The number of calls that a guard remembers. */
const NAMES_MAX = 64;

/** Settings of `generateText`, `streamText` or `ToolLoopAgent`. Those that are not listed pass through. */
export interface Settings {
  tools?: object | undefined;
  prepareStep?: ((options: any) => unknown) | undefined;
  /** The approval of AI SDK 7. Version 6 ignores it. */
  toolApproval?: unknown;
  /** The id of a conversation of several calls of the SDK. Without it, each call has a guard of its own. */
  session?: string | undefined;
}

/** The settings with watched tools. */
export type Watched<S extends Settings> = Omit<S, "prepareStep" | "session" | "toolApproval"> & {
  prepareStep: (options: any) => Promise<any>;
  toolApproval?: any;
};

/** The options of `Guards`, and those of requests to the model. */
export interface UnstuckOptions extends GuardsOptions {
  /** The model that takes one turn before a loop is refused, with the finding as its question. */
  escalateTo?: unknown;
  /** Whether turns that only repeat are left out of the requests. */
  collapse?: boolean | undefined;
}

/**
 * Returns a function that adds a guard to settings of the AI SDK. Takes the options of `Guards`.
 *
 * A stuck run ends with the reason as its text, and with `"other"` as its finish reason.
 *
 * ```ts
 * const watch = unstuck();
 * await generateText({ model, prompt, ...watch({ tools }), stopWhen: stepCountIs(50) });
 * const agent = new ToolLoopAgent({ model, ...watch({ tools }) });
 * ```
 */
export function unstuck(options: UnstuckOptions = {}): <S extends Settings>(settings: S) => Watched<S> {
  const watcher = new Watcher(options);
  return (settings) => watcher.settings(settings);
}

/** One call of `generateText` or its like. */
interface Run {
  readonly session: string;
  /** The key of the current step. */
  step: string | undefined;
  /** The ids by which the guard knows the latest calls, by call id. */
  readonly names: Map<string, string>;
  /** The notes of calls whose results are in no step yet, by call id. */
  readonly pending: Map<string, Note>;
  /** The notes to add, by result. An id may come again, but the SDK keeps the objects. */
  readonly notes: WeakMap<ResultPart, Note>;
  /** The reason to end the run at its next step. */
  ending: string | undefined;
  /** The question to the other model at the next step. */
  question: string | undefined;
  /** The questions that were asked. AI SDK 7 passes them on to the next step, which leaves them out. */
  readonly questions: WeakSet<Message>;
}

class Watcher {
  readonly #sessions: Sessions;
  readonly #identities = new Identities();
  /** Runs by their array of steps, which is the same for all steps of a run and for no other run. */
  readonly #runs = new WeakMap<object, Run>();
  /** Runs by the messages of their current step. `execute` receives nothing else that tells runs apart. */
  readonly #running = new WeakMap<object, Run>();
  /** The calls whose results come from the client, by session and call id. */
  readonly #announced = new Map<string, Announced>();

  readonly #escalateTo: unknown;
  readonly #collapse: boolean;

  constructor({ escalateTo, collapse = false, ...options }: UnstuckOptions) {
    this.#escalateTo = escalateTo;
    this.#collapse = collapse;
    this.#sessions = new Sessions(escalateTo === undefined ? options : { ...options, escalate: options.escalate ?? 2 });
  }

  settings<S extends Settings>(settings: S): Watched<S> {
    const { session, tools, prepareStep, toolApproval, ...others } = settings;
    const approval = this.#approval(session, (tools ?? {}) as ToolSet, toolApproval);
    const watched = {
      ...others,
      ...(tools && { tools: this.#tools(session, tools as ToolSet) }),
      ...(approval !== undefined && { toolApproval: approval }),
      prepareStep: (options: StepOptions) => this.#prepareStep(session, prepareStep, options),
    };
    return watched as unknown as Watched<S>;
  }

  #tools(session: string | undefined, tools: ToolSet): ToolSet {
    const watched = Object.entries(tools).map(([name, tool]) => {
      const execute = tool?.execute;
      if (typeof execute !== "function") return [name, tool] as const;
      const watched = (input: unknown, options?: ExecuteOptions) =>
        this.#execute(session, name, input, options, () => execute.call(tool, input, options));
      return [name, this.#tried(() => copyWith(tool as Tool, watched)) ?? tool] as const;
    });
    return Object.fromEntries(watched);
  }

  #execute(
    session: string | undefined,
    name: string,
    input: unknown,
    options: ExecuteOptions | undefined,
    execute: () => unknown,
  ): unknown {
    const call = this.#begin(session, name, input, options);
    if (call?.decision.blocked) throw new Stuck(call.decision);
    const finish = (result: unknown) => this.#finish(call, result);
    const fail = (error: unknown) => this.#fail(call, error);
    let result;
    try {
      result = execute();
    } catch (error) {
      fail(error);
      throw error;
    }
    if (isAsyncIterable(result)) {
      return streamed(result, finish, fail, () => this.#cancel(call));
    }
    if (!isPromiseLike(result)) {
      finish(result);
      return result;
    }
    return result.then(
      (value) => {
        finish(value);
        return value;
      },
      (error: unknown) => {
        fail(error);
        throw error;
      },
    );
  }

  /** Announces a call. A program that runs a tool itself may leave the options out, and then nobody knows its run. */
  #begin(session: string | undefined, name: string, input: unknown, options?: ExecuteOptions): Call | undefined {
    return this.#tried(() => {
      if (options?.messages === undefined) return undefined;
      const { messages, toolCallId, abortSignal } = options;
      const run = this.#runOf(session, messages);
      const step = run.step ?? this.#identities.of(messages.at(-1) ?? messages);
      const id = callKey(run, step, toolCallId);
      const decision = this.#sessions.before(run.session, name, input, { id, step });
      if (decision === undefined) return undefined;
      if (decision.blocked && decision.endsRun) run.ending = reason(decision);
      if (decision.question !== undefined) run.question = decision.question;
      return { run, id, toolCallId, abortSignal, decision, ticket: decision.ticket };
    });
  }

  #finish(call: Call | undefined, result: unknown, error = false): void {
    if (call === undefined) return;
    const { run, toolCallId, ticket } = call;
    this.#tried(() => remember(run, toolCallId, this.#sessions.after(run.session, ticket, result, { error })));
  }

  #fail(call: Call | undefined, error: unknown): void {
    if (isCancelled(call?.abortSignal)) this.#cancel(call);
    else this.#finish(call, error, true);
  }

  #cancel(call: Call | undefined): void {
    if (call !== undefined) this.#sessions.cancelled(call.run.session, call.ticket);
  }

  /** Does work for a program, which goes on if the work is defective. */
  #tried<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (defect) {
      this.#sessions.failed(defect);
      return undefined;
    }
  }

  /** Returns the run whose step has these messages. A call outside of a step belongs to its conversation. */
  #runOf(session: string | undefined, messages: readonly Message[]): Run {
    const run = this.#placed(messages) ?? this.#early(session, messages);
    if (run !== undefined) return run;
    const owner = messages[0] ?? messages;
    const created = newRun(session ?? this.#identities.of(owner));
    this.#running.set(owner, created);
    return created;
  }

  async #prepareStep(
    session: string | undefined,
    own: Settings["prepareStep"],
    options: StepOptions,
  ): Promise<object | undefined> {
    let messages = options.messages;
    let asked: object = {};
    try {
      const run = this.#beginStep(session, options);
      overrule(run, await this.#sessions.heard(run.session));
      if (run.ending !== undefined) {
        const model = endingModel(run.ending);
        run.ending = undefined;
        return { model, toolChoice: "none" };
      }
      messages = this.#collapsed(run, this.#withNotes(run, messages));
      if (messages.some((message) => run.questions.has(message))) {
        messages = messages.filter((message) => !run.questions.has(message));
      }
      if (this.#escalateTo !== undefined && run.question !== undefined) {
        const question = { role: "user", content: run.question };
        run.questions.add(question);
        messages = [...messages, question];
        asked = { model: this.#escalateTo };
      }
      run.question = undefined;
      this.#place(run, options.messages);
      this.#place(run, messages);
    } catch (defect) {
      this.#sessions.failed(defect);
    }
    const isChanged = messages !== options.messages;
    const prepared = (await own?.(isChanged ? { ...options, messages } : options)) as Prepared;
    this.#tried(() => {
      const run = this.#runs.get(options.steps);
      if (run !== undefined && prepared?.messages) this.#place(run, prepared.messages);
    });
    return isChanged ? { ...prepared, ...asked, messages: prepared?.messages ?? messages } : prepared;
  }

  /** Reports what happened since the last step, and returns the run. */
  #beginStep(session: string | undefined, options: StepOptions): Run {
    const { steps, messages } = options;
    let run = this.#runs.get(steps);
    if (run === undefined) {
      run = this.#early(session, messages) ?? newRun(session ?? this.#identities.of(steps));
      this.#runs.set(steps, run);
      const last = messages.at(-1);
      if (last?.role === "user") this.#userMessage(run, last);
    }
    for (const message of options.experimental_steeringMessages ?? []) this.#userMessage(run, message);
    this.#reportInvalid(run, steps.at(-1));
    this.#reportAnnounced(run, messages);
    run.step = `${this.#identities.of(steps)}:${options.stepNumber}`;
    return run;
  }

  /** Returns the run of calls that came before the first step, because the user had to approve them. */
  #early(session: string | undefined, [first]: readonly Message[]): Run | undefined {
    const run = first && this.#running.get(first);
    const isOurs = run?.session === session || session === undefined;
    return run?.step === undefined && isOurs ? run : undefined;
  }

  #userMessage(run: Run, message: Message): void {
    const text = textOf(message.content);
    // Content with an image has no text that stands for all of it.
    this.#sessions.userMessage(run.session, typeof text === "string" ? text : fingerprint(text));
  }

  /** Reports the calls of unknown tools and with invalid input. The SDK answers them without `execute`. */
  #reportInvalid(run: Run, step: Step | undefined): void {
    const content = step?.content ?? [];
    for (const call of content) {
      if (call.type !== "tool-call" || !call.invalid || call.providerExecuted) continue;
      const { toolCallId: id, toolName, input } = call;
      const { step: key } = run;
      const before = this.#sessions.before(run.session, toolName, input, { id: callKey(run, key, id), step: key });
      if (before === undefined) continue;
      if (before.blocked) {
        remember(run, id, before, true);
        continue;
      }
      const answer = content.find((part) => part.type === "tool-error" && part.toolCallId === id);
      remember(run, id, this.#sessions.after(run.session, before.ticket, answer?.error, { error: true }));
    }
  }

  /** Reports the results that came from the client. */
  #reportAnnounced(run: Run, messages: readonly Message[]): void {
    if (this.#announced.size === 0) return;
    for (const [id, results] of resultsById(messages)) {
      const key = announcedKey(run.session, id);
      const announced = this.#announced.get(key);
      const part = results.at(-1);
      if (announced === undefined || part === undefined || results.length <= announced.results) continue;
      this.#announced.delete(key);
      const { type, value } = part.output;
      if (type === "execution-denied") this.#sessions.refused(run.session, announced.id);
      else {
        const error = type.startsWith("error");
        remember(run, id, this.#sessions.after(run.session, announced.id, textOf(value), { error }));
      }
    }
  }

  /** Returns the messages with the notes. AI SDK 7 passes them on to the next step, version 6 does not. */
  #withNotes(run: Run, messages: readonly Message[]): readonly Message[] {
    placeNotes(run, messages);
    const isNoted = (message: Message): boolean => resultsOf(message).some((part) => run.notes.has(part));
    if (!messages.some(isNoted)) return messages;
    return messages.map((message) => {
      if (!isNoted(message)) return message;
      const content = (message.content as ResultPart[]).map((part) => {
        const note = run.notes.get(part);
        return note ? { ...part, output: withNote(part.output, note) } : part;
      });
      return { ...message, content };
    });
  }

  /** Returns the messages without turns that only repeat. */
  #collapsed(run: Run, messages: readonly Message[]): readonly Message[] {
    if (!this.#collapse) return messages;
    const ids = messages.flatMap(callsOf);
    const repeated = new Set(this.#sessions.repeated(run.session, ids.map((id) => run.names.get(id) ?? "")));
    return withoutCalls(messages, ids.filter((id) => repeated.has(run.names.get(id) ?? "")));
  }

  /** Remembers the messages of the current step. */
  #place(run: Run, messages: readonly Message[]): void {
    this.#running.set(messages, run);
    const last = messages.at(-1);
    if (last !== undefined) this.#running.set(last, run);
  }

  /** Finds the run of a step by its messages, or by a copy to which AI SDK 7 appended messages of a user. */
  #placed(messages: readonly Message[]): Run | undefined {
    let run = this.#running.get(messages);
    for (const message of [...messages].reverse()) {
      run ??= this.#running.get(message);
      if (run !== undefined || message.role !== "user") break;
    }
    return run;
  }

  /** Returns the approval that refuses calls of tools which the client runs. Their results need a session. */
  #approval(session: string | undefined, tools: ToolSet, own: unknown): unknown {
    const names = Object.keys(tools).filter((name) => isRunByClient(tools[name]));
    if (session === undefined || names.length === 0) return own;
    if (typeof own === "function") {
      return async (options: ApprovalOptions) => {
        const denial = this.#tried(() => {
          const { toolName, input, toolCallId } = options.toolCall;
          if (!names.includes(toolName)) return undefined;
          return this.#denial(session, toolName, input, { ...options, toolCallId });
        });
        return denial ?? own(options);
      };
    }
    const statuses = (own ?? {}) as Record<string, unknown>;
    const watched = names.map((name) => [
      name,
      async (input: unknown, options: ExecuteOptions) =>
        this.#tried(() => this.#denial(session, name, input, options)) ??
        ownApproval(statuses[name], tools[name], input, options),
    ]);
    return { ...statuses, ...Object.fromEntries(watched) };
  }

  #denial(
    session: string,
    name: string,
    input: unknown,
    options: ExecuteOptions,
  ): { type: "denied"; reason: string } | undefined {
    const key = announcedKey(session, options.toolCallId);
    // The SDK asks again about a call that its user approved.
    if (this.#announced.has(key)) return undefined;
    const call = this.#begin(session, name, input, options);
    if (call?.decision.blocked) return { type: "denied", reason: call.decision.message ?? "" };
    if (call !== undefined) {
      const [oldest] = this.#announced.keys();
      if (this.#announced.size >= ANNOUNCED_MAX) this.#announced.delete(oldest ?? "");
      const results = resultsById(options.messages).get(options.toolCallId)?.length ?? 0;
      this.#announced.set(key, { id: call.id, results });
    }
    return undefined;
  }
}

function newRun(session: string): Run {
  const [step, ending, question] = [undefined, undefined, undefined];
  const [names, pending, notes, questions] = [new Map(), new Map(), new WeakMap(), new WeakSet<Message>()];
  return { session, step, names, pending, notes, ending, question, questions };
}

/** Returns an id that no call of another step has, and remembers it. */
function callKey(run: Run, step: string | undefined, id: string): string | undefined {
  if (!id) return undefined;
  const name = `${step}|${id}`;
  run.names.delete(id);
  run.names.set(id, name);
  const [oldest = ""] = run.names.keys();
  if (run.names.size > NAMES_MAX) run.names.delete(oldest);
  return name;
}

function announcedKey(session: string, id: string): string {
  return JSON.stringify([session, id]);
}

/** Keeps what a decision says about the next step. */
function remember(run: Run, id: string, decision: Decision | undefined, isRefusal = false): void {
  if (decision === undefined) return;
  if (decision.message !== undefined) run.pending.set(id, { decision, isRefusal });
  if (decision.endsRun) run.ending = reason(decision);
  if (decision.question !== undefined) run.question = decision.question;
}

/** Takes in the decision for which somebody was asked, in place of the guard's own. */
function overrule(run: Run, held: Decision | undefined): void {
  if (held === undefined || held.question !== undefined) return;
  run.question = undefined;
  if (held.endsRun) run.ending = reason(held);
  for (const [id, note] of run.pending) {
    if (note.decision.question !== undefined) run.pending.delete(id);
  }
}

/** Ties each new note to the newest result with its id. */
function placeNotes(run: Run, messages: readonly Message[]): void {
  if (run.pending.size === 0) return;
  const results = resultsById(messages);
  for (const [id, note] of run.pending) {
    const part = results.get(id)?.at(-1);
    if (part !== undefined) run.notes.set(part, note);
  }
  run.pending.clear();
}

function reason(decision: Decision): string {
  return decision.message ?? "The run ends here.";
}

/** Returns the approval that a tool has without a guard, by the rule of the SDK. */
async function ownApproval(
  status: unknown,
  tool: Tool | undefined,
  input: unknown,
  options: ExecuteOptions,
): Promise<unknown> {
  if (status != null) return typeof status === "function" ? status(input, options) : status;
  const needed = tool?.needsApproval;
  const isNeeded =
    typeof needed === "function" ? await needed(input, { ...options, context: options.toolContext }) : needed;
  return isNeeded ? "user-approval" : undefined;
}

/**
 * Returns a model that answers with `text` and asks no provider. It ends the run: the step condition of the
 * user stays in force, and the reason is where the answer of the model would be. AI SDK 7 takes a model of
 * version 3, too.
 */
function endingModel(text: string): object {
  const finishReason = { unified: "other", raw: "unstuck" };
  const usage = {
    inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 0, text: 0, reasoning: 0 },
  };
  const parts = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: text },
    { type: "text-end", id: "0" },
    { type: "finish", finishReason, usage },
  ];
  return {
    specificationVersion: "v3",
    provider: "unstuck",
    modelId: "unstuck",
    supportedUrls: {},
    doGenerate: async () => ({ content: [{ type: "text", text }], finishReason, usage, warnings: [] }),
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(part);
          controller.close();
        },
      }),
    }),
  };
}

function isRunByClient(tool: Tool | undefined): boolean {
  return tool !== undefined && tool.execute === undefined && tool.type !== "provider";
}

/** A call whose result comes from the client. */
interface Announced {
  /** The id by which the guard knows the call. */
  readonly id: string | undefined;
  /** The number of results with the id of this call that precede it. */
  readonly results: number;
}

interface Call {
  readonly run: Run;
  /** The id by which the guard knows the call. */
  readonly id: string | undefined;
  readonly toolCallId: string;
  readonly abortSignal: AbortSignal | undefined;
  readonly decision: Decision;
  readonly ticket: Ticket | undefined;
}

// The parts of the SDK's types that this module uses.

type ToolSet = Record<string, Tool | undefined>;

interface Tool {
  readonly type?: string;
  readonly execute?: (input: unknown, options: ExecuteOptions | undefined) => unknown;
  readonly needsApproval?: unknown;
}

interface ExecuteOptions {
  readonly toolCallId: string;
  readonly messages: readonly Message[];
  readonly abortSignal?: AbortSignal;
  readonly toolContext?: unknown;
}

interface ApprovalOptions {
  readonly toolCall: ContentPart;
  readonly messages: readonly Message[];
}

interface StepOptions {
  readonly steps: readonly Step[];
  readonly stepNumber: number;
  readonly messages: readonly Message[];
  readonly experimental_steeringMessages?: readonly Message[];
}

type Prepared = { readonly messages?: readonly Message[] } | undefined;

interface Step {
  readonly content: readonly ContentPart[];
}

interface ContentPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly invalid?: boolean;
  readonly providerExecuted?: boolean;
  readonly error?: unknown;
}
