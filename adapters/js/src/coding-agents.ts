/**
 * The sessions of a coding agent, for its plugins. They follow the rules of the program's hook
 * (`unstuck hook`), so that a plugin does the same with and without the program. Tests run both in the real agents,
 * with one script, and compare what the model reads.
 */

import type { Decision, Finding } from "./decision.js";
import type { Guard } from "./guard.js";
import type { GuardsOptions } from "./guards.js";
import { fingerprint } from "./index.js";
import { Sessions } from "./sessions.js";

/** An answer has one of `tell`, `refuse` and `stop`, each with the text for the model, or none. */
export interface Answer {
  tell?: string;
  refuse?: string;
  stop?: string;
  /** A line for the user. */
  person?: string;
}

/** A call, before or after it has run. */
export interface Call {
  id: string;
  tool: string;
  args: unknown;
}

/** The end of a call, as the agent reports it. */
export interface Ending {
  output: unknown;
  failed?: boolean | undefined;
  cancelled?: boolean | undefined;
  /** The exit code of a command. */
  exit?: unknown;
}

type Event = "before" | "after" | "idle" | "other";

const SIGN = "[unstuck]";

/** The beginnings of the errors of calls that the user, a rule of the agent or this guard refused. */
const REFUSED = [
  SIGN,
  "The user rejected permission to use",
  "The user has specified a rule which prevents you",
];

/** The longest pause between calls that were issued together, in milliseconds. */
const TOGETHER = 1000;

/** The largest number of calls without a reported end that are kept for one worker. */
const CALLS_MAX = 256;

/** The largest number of workers. */
const WORKERS_MAX = 1024;

/** A map with a largest size. The entry that was set longest ago is forgotten first. */
export class Recent<V> extends Map<string, V> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
  }

  override set(key: string, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this.keys();
    if (this.size > this.#max && oldest !== undefined) this.delete(oldest);
    return this;
  }
}

/** The guards of all workers: agents and their subagents. Its methods never throw. */
export class CodingAgents {
  readonly #sessions: Sessions;
  readonly #workers = new Recent<Worker>(WORKERS_MAX);

  constructor(options: GuardsOptions = {}) {
    this.#sessions = new Sessions(options);
  }

  /** Judges a call. The calls of one `turn` of the model are one step; without
   * `turn`, a call joins the step if it begins within a second while another call is open. */
  before(worker: string, call: Call, turn?: number): Answer {
    return this.#answer(worker, "before", (state) => state.before(call, turn));
  }

  /** Reports the end of a call, which need not have been announced. */
  after(worker: string, call: Call, ending: Ending, turn?: number): Answer {
    return this.#answer(worker, "after", (state) => state.after(call, ending, turn));
  }

  /** Reports a message of the user. */
  prompt(worker: string, text: string): void {
    this.#answer(worker, "other", (state) => state.prompt(text));
  }

  /** Reports that the agent ends its turn with this text. */
  idle(worker: string, text: string): void {
    this.#answer(worker, "idle", (state) => state.idle(text));
  }

  /** Reports that the user broke the turn off. */
  interrupted(worker: string): void {
    this.#answer(worker, "other", (state) => state.interrupted());
  }

  /** Reports that the agent compacted the context. */
  compacted(worker: string): void {
    this.#answer(worker, "other", (state) => state.compacted());
  }

  /** Reports that an empty conversation begins. */
  began(worker: string): void {
    this.#answer(worker, "other", (state) => state.began());
  }

  /** Reports that a session is over. */
  ended(worker: string): void {
    this.began(worker);
    this.#workers.delete(worker);
  }

  /** Logs a defect of a plugin. */
  failed(defect: unknown): void {
    this.#sessions.failed(defect);
  }

  #answer(worker: string, event: Event, take: (state: Worker) => Reply): Answer {
    try {
      const state = this.#workers.get(worker) ?? new Worker(() => this.#sessions.guard(worker));
      this.#workers.set(worker, state);
      return state.answer(event, take(state));
    } catch (defect) {
      this.#sessions.failed(defect);
      return {};
    }
  }
}

/** An answer before its event has a place for it. */
type Reply = { kind: "nothing" } | { kind: "tell" | "refuse" | "stop"; model: string; person: string };

const NOTHING: Reply = { kind: "nothing" };
const RANKS = { nothing: 0, tell: 1, refuse: 2, stop: 3 };
const rank = ({ kind }: Reply) => RANKS[kind];

/** A call in the current step. */
interface Begun {
  /** The id that the guard has for it. */
  readonly id: string;
  digest: string;
  isOpen: boolean;
}

/** One worker under watch, as `Worker` in the program's `agents/hook/session.rs`. */
class Worker {
  readonly #guard: () => Guard;
  /** The calls that were announced and whose end is not known. */
  readonly #calls = new Recent<Begun>(CALLS_MAX);
  /** How many calls had begun when the last one with an id did. Some providers use an id again in another answer. */
  readonly #uses = new Recent<number>(CALLS_MAX);
  #begun = 0;
  #step = 0;
  #inStep: Begun[] = [];
  #turn: number | undefined;
  #isStepOver = false;
  #lastSeen = 0;
  #hasCalled = false;
  #prompt: string | undefined;
  /** A reply that no event had a place for yet. */
  #pending = NOTHING;

  constructor(guard: () => Guard) {
    this.#guard = guard;
  }

  /** Returns the reply to an event, or the pending one if it is more severe and there is a place for it. */
  answer(event: Event, own: Reply): Answer {
    this.#lastSeen = Date.now();
    const pending = this.#pending;
    this.#pending = NOTHING;
    if (rank(pending) > rank(own)) {
      const answer = answerOf(pending, event);
      if (answer !== undefined) return answer;
      this.#pending = pending;
    }
    const answer = answerOf(own, event);
    if (answer === undefined && rank(own) > rank(this.#pending)) this.#pending = own;
    return answer ?? {};
  }

  before(call: Call, turn: number | undefined): Reply {
    this.#begun += 1;
    if (!this.#calls.get(call.id)?.isOpen) this.#uses.set(call.id, this.#begun);
    const begun = this.#begin(call, turn);
    const decision = this.#guard().before(call.tool, call.args, { id: begun.id, step: this.#step });
    begun.isOpen = !decision.blocked;
    this.#calls.set(call.id, begun);
    return replyBefore(decision);
  }

  after(call: Call, { output, failed = false, cancelled = false, exit }: Ending, turn?: number): Reply {
    const error = failed || (typeof exit === "number" && exit !== 0);
    // Without a result, nothing proves that the call came back as another did. The next step ends the wait for it.
    if (output == null && !error && !cancelled && exit === undefined) return NOTHING;
    const text = typeof output === "string" ? output : "";
    const isRefused = error && REFUSED.some((beginning) => text.startsWith(beginning));
    const begun = this.#calls.get(call.id);
    if (begun === undefined) {
      return cancelled || isRefused ? NOTHING : this.#finished(call, text, error, turn);
    }
    this.#calls.delete(call.id);
    begun.isOpen = false;
    const guard = this.#guard();
    if (cancelled) return replyAfter(guard.cancelled(begun.id));
    if (isRefused) return replyAfter(guard.refused(begun.id));
    return replyAfter(guard.after(begun.id, text, { error }));
  }

  /** Takes in a call that was not announced, because the agent rejected it. */
  #finished(call: Call, text: string, error: boolean, turn: number | undefined): Reply {
    const begun = this.#begin(call, turn);
    begun.isOpen = false;
    const { id } = begun;
    return replyAfter(this.#guard().finished(call.tool, call.args, text, { id, step: this.#step, error }));
  }

  prompt(text: string): Reply {
    const isNew = text !== this.#prompt;
    this.#prompt = text;
    const decision = this.#guard().userMessage(text);
    this.#hasCalled = false;
    this.#isStepOver = true;
    if (isNew) this.#pending = NOTHING;
    return replyAfter(decision);
  }

  /** Takes in the last words of a turn. Only a turn without a call is a turn of mere text. */
  idle(text: string): Reply {
    this.#isStepOver = true;
    const hasCalled = this.#hasCalled;
    this.#hasCalled = false;
    if (hasCalled) return NOTHING;
    return replyAfter(this.#guard().textTurn(text));
  }

  interrupted(): Reply {
    for (const { id, isOpen } of this.#calls.values()) if (isOpen) this.#guard().cancelled(id);
    this.#calls.clear();
    this.#isStepOver = true;
    return NOTHING;
  }

  compacted(): Reply {
    this.#guard().compacted();
    return NOTHING;
  }

  began(): Reply {
    this.#guard().clear();
    this.#pending = NOTHING;
    this.#hasCalled = false;
    this.#isStepOver = true;
    return NOTHING;
  }

  /** Begins a call, and another step if the model did not issue it together with those before it. */
  #begin(call: Call, turn: number | undefined): Begun {
    const id = JSON.stringify([call.id, turn ?? null, this.#uses.get(call.id) ?? null]);
    const begun = { id, digest: fingerprint([call.tool, call.args]), isOpen: true };
    if (this.#isStepOver || !this.#joinsStep(begun, turn)) {
      this.#step += 1;
      this.#inStep = [];
    }
    this.#inStep.push(begun);
    [this.#turn, this.#isStepOver, this.#hasCalled] = [turn, false, true];
    return begun;
  }

  #joinsStep({ digest }: Begun, turn: number | undefined): boolean {
    if (turn !== undefined) return turn === this.#turn;
    const isSoon = Date.now() - this.#lastSeen < TOGETHER;
    const hasEnded = this.#inStep.some((other) => other.digest === digest && !other.isOpen);
    return isSoon && this.#inStep.some(({ isOpen }) => isOpen) && !hasEnded;
  }
}

/** Returns the reply to a call that has not run yet. */
function replyBefore(decision: Decision): Reply {
  const reply = replyAfter(decision);
  if (reply.kind !== "tell" || !decision.blocked) return reply;
  return { ...reply, kind: "refuse", person: personOf("Refused a call", decision) };
}

/** Returns the reply to anything that has happened. */
function replyAfter(decision: Decision): Reply {
  const { message: model, action } = decision;
  if (model === undefined) return NOTHING;
  const kind = action === "stop" || action === "start_over" ? "stop" : "tell";
  return { kind, model, person: personOf("Ended the turn", decision) };
}

/** Returns the line for the user. */
function personOf(what: string, { finding }: Decision): string {
  return `${SIGN} ${what}: ${finding ? wordsOf(finding) : "it came back after a stop"}.`;
}

function wordsOf({ kind, tool, period, laps }: Finding): string {
  if (kind === "text" || kind === "echo") return `the same text ${laps} times`;
  if (kind === "cycle") return `a cycle of ${period} calls, ${laps} laps`;
  return `\`${tool}\` ${laps} times${kind === "streak" ? " in a row" : ", others between"}`;
}

/** Returns the answer to an event, or `undefined` if the event has no place for it. */
function answerOf(reply: Reply, event: Event): Answer | undefined {
  if (reply.kind === "nothing") return {};
  const { kind, model, person } = reply;
  if (kind === "tell") return event === "after" ? { tell: model } : undefined;
  if (kind === "refuse") return event === "before" ? { refuse: model, person } : undefined;
  // At the end of a turn there is nothing left to stop.
  if (event === "idle") return {};
  return event === "other" ? undefined : { stop: model, person };
}

/** Returns the text of a list of content blocks. Blocks without text are written as JSON. */
export function textOfBlocks(blocks: readonly { text?: unknown }[]): string {
  return blocks.map((block) => block.text ?? JSON.stringify(block)).join("\n");
}

/** Does something for which the agent need not wait, and which may fail. */
export function quietly(work: () => unknown): void {
  Promise.resolve()
    .then(work)
    .catch(() => {});
}
