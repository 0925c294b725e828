/**
 * Tool guardrails for the OpenAI Agents SDK.
 *
 * Guardrails see the calls of function tools. The SDK shows them no hosted tool, no handoff and no tool of an
 * MCP server. Each agent of a run has a guard of its own, and so have the unknown tools of a run.
 *
 * Nothing of the SDK is imported: guardrails and their answers are plain objects.
 */

import type { Decision, GuardsOptions } from "./index.js";
import { Identities, Sessions, textOf } from "./sessions.js";

/** The largest number of failed calls whose output is awaited. Another guardrail may withhold an output. */
const RAISED_MAX = 1024;

/** The output of a tool that throws, unless it has an `errorFunction` of its own. */
const FAILED = "An error occurred while running the tool. Please try again.";

/** Settings of a run, with which the model reads about unknown tools. */
export interface RunSettings {
  toolNotFoundBehavior: "return_error_to_model";
  toolErrorFormatter: (error: any) => string | undefined;
}

/**
 * Watches the function tools of agents. Takes the options of `Guards`.
 *
 * A stuck run ends with the SDK's `ToolInputGuardrailTripwireTriggered` or
 * `ToolOutputGuardrailTripwireTriggered`; the `result.output.outputInfo` of that error is the decision.
 *
 * ```ts
 * const watch = new Unstuck();
 * const agent = new Agent({ name: "files", tools: watch.tools([readFile]) });
 * await run(agent, "…", watch.runConfig());
 * ```
 */
export class Unstuck {
  readonly #sessions: Sessions;
  readonly #identities = new Identities();
  readonly #raised = new Set<string>();

  constructor(options: GuardsOptions = {}) {
    this.#sessions = new Sessions(options);
  }

  /** Returns copies of the function tools with the guardrails added, and other tools as they are. */
  tools<T>(tools: readonly T[]): T[] {
    return tools.map((tool) => (isFunctionTool(tool) ? this.#watched(tool) : tool));
  }

  /**
   * Returns `config`, for `run` or a `Runner`, with a change: a call of an unknown tool becomes an error that
   * the model reads and the guard counts, instead of the end of the run. A `toolErrorFormatter` that is already
   * set stays, and then nothing is changed.
   */
  runConfig<C extends object = {}>(config?: C): C & RunSettings {
    const own = (config ?? {}) as C & RunSettings;
    if (own.toolErrorFormatter !== undefined) return own;
    return {
      ...own,
      toolNotFoundBehavior: "return_error_to_model",
      toolErrorFormatter: (error: FormatterArgs) => this.#format(error),
    };
  }

  /**
   * Tells the model the message of the error that a tool threw, for the option `errorFunction` of `tool`. By
   * default, the SDK hides it, and all failures of a tool look the same.
   */
  readonly errorFunction = (context: object, error: unknown, details?: { toolCall?: ToolCall }): string => {
    try {
      const id = details?.toolCall?.callId;
      // Nobody knows the run of a tool that the program runs itself.
      if (id !== undefined && context) {
        if (this.#raised.size >= RAISED_MAX) this.#raised.clear();
        this.#raised.add(this.#key(context, id));
      }
    } catch (defect) {
      this.#sessions.failed(defect);
    }
    return errorText(error);
  };

  #watched<T extends FunctionTool>(tool: T): T {
    const before = { type: "tool_input", name: "unstuck", run: async (data: Data) => this.#input(data) };
    // The schema of a result leaves no room for a note.
    const hasSchema = tool.outputSchema !== undefined;
    const run = async (data: OutputData) => this.#output(data, hasSchema);
    const after = { type: "tool_output", name: "unstuck", run };
    // Some properties of a tool have symbols as keys.
    const copy: T = Object.create(Object.getPrototypeOf(tool), Object.getOwnPropertyDescriptors(tool));
    return Object.assign(copy, {
      inputGuardrails: [...(tool.inputGuardrails ?? []), before],
      outputGuardrails: [...(tool.outputGuardrails ?? []), after],
    });
  }

  #session(data: Data): string {
    // An agent that is a tool of another one may have the context of that one's run.
    return `${this.#identities.of(data.context)}|${this.#identities.of(data.agent)}`;
  }

  #key(context: object, callId: string): string {
    return `${this.#identities.of(context)}|${callId}`;
  }

  #input(data: Data): Answer {
    try {
      const { name, callId, arguments: args } = data.toolCall;
      // The SDK hides invalid arguments, so nobody can tell such calls apart.
      if (args === "") return ALLOW;
      const step = data.context.usage.requests;
      const decision = this.#sessions.before(this.#session(data), name, args, { id: callId, step });
      if (decision === undefined || !decision.blocked) return ALLOW;
      return decision.endsRun ? end(decision) : reject(decision.message ?? "", decision);
    } catch (defect) {
      this.#sessions.failed(defect);
      return ALLOW;
    }
  }

  #output(data: OutputData, hasSchema: boolean): Answer {
    try {
      const { output } = data;
      const key = this.#key(data.context, data.toolCall.callId);
      const error = this.#raised.delete(key) || output === FAILED;
      const id = data.toolCall.callId;
      const decision = this.#sessions.after(this.#session(data), id, textOf(output), { error });
      if (decision === undefined) return ALLOW;
      if (decision.endsRun) return end(decision);
      if (decision.message === undefined || hasSchema) return ALLOW;
      return reject(noted(output, decision), decision);
    } catch (defect) {
      this.#sessions.failed(defect);
      return ALLOW;
    }
  }

  #format(error: FormatterArgs): string | undefined {
    try {
      const { kind, toolName, callId, defaultMessage, runContext } = error;
      if (kind !== "tool_not_found") return undefined;
      const session = this.#identities.of(runContext);
      const step = runContext.usage.requests;
      const before = this.#sessions.before(session, toolName, {}, { id: callId, step });
      if (before?.blocked) return before.message;
      const after = this.#sessions.after(session, callId, defaultMessage, { error: true });
      return after?.annotate(defaultMessage);
    } catch (defect) {
      this.#sessions.failed(defect);
      return undefined;
    }
  }
}

const ALLOW: Answer = { behavior: { type: "allow" } };

function end(decision: Decision): Answer {
  return { behavior: { type: "throwException" }, outputInfo: decision };
}

function reject(message: unknown, decision: Decision): Answer {
  return { behavior: { type: "rejectContent", message }, outputInfo: decision };
}

/** Returns an output with the note. The SDK sends content blocks as such, and the JSON of other objects. */
function noted(output: unknown, decision: Decision): unknown {
  const blocks = Array.isArray(output) ? output : [output];
  if (blocks.length > 0 && blocks.every(isBlock)) {
    return [...blocks, { type: "text", text: decision.message ?? "" }];
  }
  if (typeof output === "string") return decision.annotate(output);
  const isObject = typeof output === "object" && output !== null;
  return decision.annotate(isObject ? JSON.stringify(output) : String(output));
}

/** Returns the text of an error. A tool may throw a value without any text, or one whose own code fails. */
function errorText(error: unknown): string {
  try {
    return error instanceof Error ? `Error: ${error.name}: ${error.message}` : `Error: ${String(error)}`;
  } catch {
    return FAILED;
  }
}

function isBlock(value: unknown): boolean {
  const type = (value as { type?: unknown } | null | undefined)?.type;
  return type === "text" || type === "image" || type === "file";
}

function isFunctionTool<T>(tool: T): tool is T & FunctionTool {
  return (tool as { type?: unknown } | null | undefined)?.type === "function";
}

// The parts of the SDK's types that this module uses.

interface FunctionTool {
  readonly outputSchema?: unknown;
  readonly inputGuardrails?: readonly unknown[];
  readonly outputGuardrails?: readonly unknown[];
}

interface ToolCall {
  readonly name: string;
  readonly callId: string;
  readonly arguments: string;
}

interface Context {
  readonly usage: { readonly requests: number };
}

interface Data {
  readonly context: Context;
  readonly agent: object;
  readonly toolCall: ToolCall;
}

interface OutputData extends Data {
  readonly output: unknown;
}

interface FormatterArgs {
  readonly kind: string;
  readonly toolName: string;
  readonly callId: string;
  readonly defaultMessage: string;
  readonly runContext: Context;
}

interface Answer {
  readonly behavior: { readonly type: string; readonly message?: unknown };
  readonly outputInfo?: Decision;
}
