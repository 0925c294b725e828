/**
 * A processor for agents of Mastra.
 *
 * It wraps the tools of each step to refuse calls, and edits the prompt of each request: there it adds the
 * notes, and sees the calls that Mastra rejects itself. What an agent stores stays as it is.
 *
 * Nothing of Mastra is imported: a processor is a plain object.
 */

import type { Decision, GuardsOptions, Ticket } from "./index.js";
import { type Message, type Note, type ResultPart, resultsById, resultsOf, withNote } from "./prompt.js";
import { Identities, Sessions, textOf } from "./sessions.js";
import { copyWith, isCancelled, propertyOf } from "./tools.js";

/** One call of `generate` or `stream`. */
interface Run {
  readonly session: string;
  /**
   * The tools of the calls that were reported to the guard or precede the run, by call id. A call whose result is in no
   * request yet has no tool here: a model may call a tool by another name.
   */
  readonly known: Map<string, string | undefined>;
  /** The notes to add, by call id. If a call id is used again, the note belongs to the newest call. */
  readonly notes: Map<string, Note>;
  /** Whether the run has sent a request. Results that appear in a prompt after that belong to this run. */
  hasBegun: boolean;
  /** The reason to end the run at its next request. */
  ending: string | undefined;
}

/**
 * Adds notes to the results of repeated calls, refuses calls that keep failing, and ends stuck runs. Takes the
 * options of `Guards`. Each run has a guard of its own, even if agents share the processor.
 *
 * A stuck run ends with a tripwire: `result.tripwire.reason` says why.
 *
 * ```ts
 * const agent = new Agent({ id, name, instructions, model, tools, inputProcessors: [new UnstuckProcessor()] });
 * ```
 */
export class UnstuckProcessor {
  readonly id = "unstuck";
  readonly name = "unstuck";
  readonly #sessions: Sessions;
  readonly #identities = new Identities();
  /** Runs by the state that Mastra keeps for this processor in each of them. */
  readonly #runs = new WeakMap<object, Run>();

  constructor(options: GuardsOptions = {}) {
    this.#sessions = new Sessions(options);
  }

  /** Wraps the tools of a step. Called by Mastra. */
  processInputStep({ tools, state, stepNumber }: StepArgs): { tools: Record<string, unknown> } | undefined {
    try {
      if (tools === undefined) return undefined;
      const run = this.#run(state);
      const step = stepKey(run, stepNumber);
      const watched = Object.entries(tools).map(([name, tool]) => [name, this.#watched(run, step, name, tool)]);
      return { tools: Object.fromEntries(watched) };
    } catch (defect) {
      this.#sessions.failed(defect);
      return undefined;
    }
  }

  /** Adds the notes to a request, or ends the run. Called by Mastra. */
  processLLMRequest({ prompt: sent, state, stepNumber, abort }: RequestArgs): { prompt: any } | undefined {
    const prompt: readonly Message[] = sent;
    let ending;
    try {
      const run = this.#run(state);
      if (run.hasBegun) this.#reportRejected(run, stepNumber - 1, prompt);
      else for (const { toolCallId, toolName } of prompt.flatMap(resultsOf)) run.known.set(toolCallId, toolName);
      run.hasBegun = true;
      ending = run.ending;
      if (ending === undefined) return run.notes.size === 0 ? undefined : { prompt: withNotes(run, prompt) };
    } catch (defect) {
      this.#sessions.failed(defect);
      return undefined;
    }
    return abort(ending);
  }

  #run(state: object): Run {
    let run = this.#runs.get(state);
    if (run === undefined) {
      const session = this.#identities.of(state);
      run = { session, known: new Map(), notes: new Map(), hasBegun: false, ending: undefined };
      this.#runs.set(state, run);
    }
    return run;
  }

  #watched(run: Run, step: string, name: string, tool: unknown): unknown {
    const execute = (tool as Tool | null | undefined)?.execute;
    if (typeof execute !== "function") return tool;
    return copyWith(tool as Tool, async (input: unknown, options?: ExecuteOptions) => {
      const id = options?.toolCallId ?? options?.agent?.toolCallId;
      const call = { run, id, ticket: this.#begin(run, step, name, input, id) };
      let isSuspended = false;
      const suspend = options?.suspend && (async (...args: unknown[]) => {
        isSuspended = true;
        return options.suspend?.(...args);
      });
      try {
        const result = await execute.call(tool, input, suspend ? { ...options, suspend } : options);
        if (isSuspended) this.#sessions.cancelled(run.session, call.ticket);
        else this.#finish(call, result, isValidationError(result));
        return result;
      } catch (error) {
        if (isSuspended || isCancelled(options?.abortSignal)) this.#sessions.cancelled(run.session, call.ticket);
        else this.#finish(call, error, true);
        throw error;
      }
    });
  }

  /** Announces a call. Throws the refusal, which Mastra sends to the model. */
  #begin(run: Run, step: string, name: string, input: unknown, id: string | undefined): Ticket | undefined {
    if (id !== undefined) {
      run.known.set(id, undefined);
      run.notes.delete(id);
    }
    const decision = this.#sessions.before(run.session, name, input, { id: id && callKey(step, id), step });
    if (!decision?.blocked) return decision?.ticket;
    if (decision.endsRun) run.ending = reason(decision);
    throw new Error(decision.message);
  }

  #finish({ run, id, ticket }: Call, result: unknown, error: boolean): void {
    remember(run, id, this.#sessions.after(run.session, ticket, result, { error }));
  }

  /**
   * Reports the calls of a step that Mastra answered without running a tool, for example calls of unknown tools. If a
   * call id is used again, Mastra keeps only the newest result, so a second such call of one tool looks like the first.
   */
  #reportRejected(run: Run, stepNumber: number, prompt: readonly Message[]): void {
    const calls = new Map(prompt.flatMap(callsOf).map((call) => [call.toolCallId, call]));
    const step = stepKey(run, stepNumber);
    for (const { toolCallId: id, toolName, output } of newestResults(prompt)) {
      const isReported = run.known.has(id) && (run.known.get(id) ?? toolName) === toolName;
      run.known.set(id, toolName);
      if (isReported) continue;
      run.notes.delete(id);
      const call = calls.get(id);
      if (call === undefined || call.providerExecuted) continue;
      const before = this.#sessions.before(run.session, call.toolName, call.input, { id: callKey(step, id), step });
      if (before?.blocked) remember(run, id, before, true);
      else if (output.type === "execution-denied") this.#sessions.refused(run.session, before?.ticket);
      else {
        const error = output.type.startsWith("error");
        remember(run, id, this.#sessions.after(run.session, before?.ticket, textOf(output.value), { error }));
      }
    }
  }
}

function stepKey(run: Run, stepNumber: number): string {
  return `${run.session}:${stepNumber}`;
}

/** Returns an id that no call of another step has. */
function callKey(step: string, id: string): string {
  return `${step}|${id}`;
}

function remember(run: Run, id: string | undefined, decision: Decision | undefined, isRefusal = false): void {
  if (decision === undefined) return;
  if (decision.message !== undefined && id !== undefined) run.notes.set(id, { decision, isRefusal });
  if (decision.endsRun) run.ending = reason(decision);
}

function reason(decision: Decision): string {
  return decision.message ?? "The run ends here.";
}

function withNotes(run: Run, prompt: readonly Message[]): Message[] {
  const noted = new Set(newestResults(prompt).filter(({ toolCallId }) => run.notes.has(toolCallId)));
  return prompt.map((message) => {
    if (!resultsOf(message).some((part) => noted.has(part))) return message;
    const content = (message.content as ResultPart[]).map((part) => {
      const note = noted.has(part) && run.notes.get(part.toolCallId);
      return note ? { ...part, output: withNote(part.output, note) } : part;
    });
    return { ...message, content };
  });
}

/** Returns the newest result with each id. */
function newestResults(prompt: readonly Message[]): ResultPart[] {
  return [...resultsById(prompt).values()].flatMap((results) => results.slice(-1));
}

function callsOf(message: Message): CallPart[] {
  if (message.role !== "assistant" || !Array.isArray(message.content)) return [];
  return (message.content as CallPart[]).filter((part) => part.type === "tool-call");
}

/** Says if a tool rejected its input. It returns such an error, and does not throw it. */
function isValidationError(result: unknown): boolean {
  return propertyOf(result, "error") === true && propertyOf(result, "validationErrors") !== undefined;
}

interface Call {
  readonly run: Run;
  readonly id: string | undefined;
  readonly ticket: Ticket | undefined;
}

// The parts of Mastra's types that this module uses.

interface StepArgs {
  readonly tools?: Record<string, unknown>;
  readonly state: Record<string, unknown>;
  readonly stepNumber: number;
}

interface RequestArgs {
  readonly prompt: any;
  readonly state: Record<string, unknown>;
  readonly stepNumber: number;
  readonly abort: (reason?: string) => never;
}

interface Tool {
  readonly execute?: (input: unknown, options: ExecuteOptions | undefined) => unknown;
}

interface ExecuteOptions {
  readonly toolCallId?: string;
  readonly agent?: { readonly toolCallId?: string };
  readonly abortSignal?: AbortSignal;
  readonly suspend?: (...args: unknown[]) => unknown;
}

interface CallPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly providerExecuted?: boolean;
}
