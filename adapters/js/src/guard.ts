/** The guard of one agent. */

import {
  ACTIONS,
  ANSWERS,
  type Action,
  type Answer,
  Decision,
  escalationOf,
  Finding,
  KINDS,
  type Kind,
  type OnEscalate,
  PolicyError,
  Stuck,
  Ticket,
} from "./decision.js";
import { engine, fullEngine } from "./engine.js";
import { checked, type GuardOptions, type Policy, policyOf } from "./setup.js";
import { isPromiseLike, propertyOf } from "./tools.js";
import { text } from "./values.js";

/** The bits of a decision, as in `adapters/wasm/src/guard.rs`. */
const ACTION_BITS = 7;
const JUDGED = 3;
const BLOCKED = 1 << 6;
const ENDS_RUN = 1 << 7;
const MESSAGE = 1 << 8;
const FINDING = 1 << 9;
const TICKET = 1 << 10;
const NOTE = 1 << 11;
const ESCALATES = 1 << 12;

/** The answer that a finding was wrong. Those in `ANSWERS` have the numbers before. */
const FALSE_POSITIVE = ANSWERS.length;

/** The number of loops about which a function is asked, unless the host says another. */
const ESCALATIONS = 2;

/** The words around the message in a question, as in `adapters/guard/src/decision.rs`. */
const STUCK = "[unstuck] The model that works here is stuck, and you take its next turn. It was told:";
const INSTEAD = "What would you do instead?";

/** The guard of the engine. */
type Engine = InstanceType<ReturnType<typeof engine>["Guard"]>;

/** A call of a tool, for `Guard.before`. */
export interface CallOptions {
  /** The host's id of the call: a call that comes twice with one id counts once. */
  id?: number | string | undefined;
  /** A key that only calls share that the model issued together. Without it, the guard numbers the steps. */
  step?: number | string | undefined;
}

/** The result of a call, for `Guard.after`. */
export interface ResultOptions {
  /** Whether the call failed. */
  error?: boolean | undefined;
}

/** Counts over the life of a guard. */
export interface Statistics {
  /** The number of calls and turns of text that were judged. */
  readonly calls: number;
  /** The number of loops, each counted once in a run. */
  readonly loops: number;
  /** The number of calls that were refused. */
  readonly blocked: number;
  /** The number of findings that were reported as wrong. */
  readonly falsePositives: number;
  /** The number of judgements with a finding of each kind. A loop has many. */
  readonly findings: Readonly<Record<Kind, number>>;
  /** The number of judgements that asked for each action. */
  readonly actions: Readonly<Record<Exclude<Action, "proceed">, number>>;
}

/** A call: its ticket, or the host's id. */
export type CallName = Ticket | number | string | undefined;

/** Watches the calls of one agent, and decides what to do about them. */
export class Guard {
  /** The name of the session. */
  readonly session: string;
  /** The name of the worker. */
  readonly worker: string;
  readonly #policy: Policy;
  readonly #observe: boolean;
  readonly #escalate: number;
  readonly #onEscalate: OnEscalate | undefined;
  /** The decision for which a promise of the host stands, if there is one. */
  #asked: Promise<Decision> | undefined;
  #engine: Engine | undefined;

  /** Throws {@link PolicyError} if the setup is wrong. */
  constructor(options: GuardOptions = {}) {
    const { session = "", worker = "main", observe = false, onEscalate } = options;
    const { escalate = onEscalate ? ESCALATIONS : 0 } = options;
    if (!Number.isInteger(escalate) || escalate < 0 || escalate > 255) {
      throw new PolicyError(`escalate: expected an integer from 0 to 255, not ${escalate}`);
    }
    this.session = String(session);
    this.worker = String(worker);
    this.#observe = Boolean(observe);
    this.#escalate = escalate;
    this.#onEscalate = onEscalate;
    this.#policy = policyOf(options);
    this.#engine = this.#made(NOTHING);
  }

  /**
   * Returns a guard with the state that `save` returned. Throws an `Error` if the state is damaged, or was saved under
   * another policy or by another version. Untrusted bytes are safe.
   */
  static restore(state: Uint8Array, options: GuardOptions = {}): Guard {
    const guard = new Guard(options);
    guard.free();
    if (state.length === 0) throw new Error("the state is empty");
    try {
      guard.#engine = guard.#made(state);
    } catch (error) {
      if (error instanceof PolicyError) throw new Error(error.message);
      throw error;
    }
    return guard;
  }

  /**
   * Judges a call before it runs. `args` is an object, JSON text, or any other value.
   *
   * If the decision is `blocked`, the call must not run. It is recorded as refused already.
   */
  before(tool: string, args: unknown, { id, step }: CallOptions = {}): Decision {
    const call = [text(tool), text(args), key(id), key(step)] as const;
    const engine = this.#timed();
    return this.#heard(decision(engine, engine.before(...call)), "");
  }

  /**
   * Reports the result of a call, by the ticket of its decision or by its id. `error` says that the call failed. A
   * result of a call that is not open changes nothing.
   */
  after(call: CallName, result: unknown, { error = false }: ResultOptions = {}): Decision {
    const ended = [idOf(call), text(result), Boolean(error)] as const;
    const engine = this.#timed();
    const decided = decision(engine, engine.after(Ticket.number(call, engine), ...ended), call);
    return this.#heard(decided, ended[1]);
  }

  /**
   * Judges a call that has run, for a host that sees calls only then. Its message promises no refusal, because the next
   * such call is not announced either.
   */
  finished(
    tool: string,
    args: unknown,
    result: unknown,
    { id, step, error = false }: CallOptions & ResultOptions = {},
  ): Decision {
    const call = [text(tool), text(args), key(id), key(step), text(result), Boolean(error)] as const;
    const engine = this.#timed();
    return this.#heard(decision(engine, engine.finished(...call)), call[4]);
  }

  /** Reports that somebody else refused the call. It counts as an attempt. */
  refused(call: CallName): Decision {
    const id = idOf(call);
    const engine = this.#used();
    return decision(engine, engine.refused(Ticket.number(call, engine), id), call);
  }

  /** Takes a call back that never ran or was broken off. */
  cancelled(call: CallName): Decision {
    const id = idOf(call);
    const engine = this.#used();
    return decision(engine, engine.cancelled(Ticket.number(call, engine), id), call);
  }

  /**
   * Reports a message of the user. A new text, or `undefined`, starts afresh. A text that came before, such as an
   * automatic "please continue", does not.
   */
  userMessage(message?: unknown): Decision {
    const read = message === undefined ? undefined : text(message);
    const engine = this.#used();
    const said = engine.user_message(read);
    // The time until now was the user's.
    this.#timed();
    return decision(engine, said);
  }

  /** Reports tokens and dollars that were spent of the budget. The guard counts calls and minutes itself. */
  spend({ tokens = 0, dollars = 0 }: { tokens?: number | undefined; dollars?: number | undefined }): void {
    if (!(tokens >= 0 && tokens <= 0xffff_ffff)) throw new RangeError("tokens: expected a number from 0 to 4294967295");
    if (!(dollars >= 0 && dollars < Infinity)) throw new RangeError("dollars: expected a number from 0");
    this.#used().spend(tokens, dollars);
  }

  /** Reports a turn of the agent without a call. */
  textTurn(turn: unknown): Decision {
    const read = text(turn);
    const engine = this.#used();
    return decision(engine, engine.text_turn(read));
  }

  /** Reports that the host compacted the context, so that the model may ask again for what it was shown. */
  compacted(): void {
    this.#used().compacted();
  }

  /** Ends the step, because all calls that were issued together are announced. */
  endStep(): void {
    this.#used().end_step();
  }

  /** Forgets all calls and turns, because a new run begins. The statistics stay. */
  clear(): void {
    this.#used().clear();
  }

  /** Reports that a finding was wrong. The loop is not found again. */
  falsePositive(finding: Finding): void {
    const id = text(finding.id);
    this.#used().answered(id, FALSE_POSITIVE);
  }

  /**
   * Takes in what somebody says about a decision with a question. Returns the decision that holds. `"go on"` silences
   * the loop, `"stop"` ends the run, and `undefined` leaves the decision as it is.
   */
  answered(decided: Decision, answer: Answer | undefined): Decision {
    if (answer === undefined || decided.finding === undefined) return decided;
    const number = ANSWERS.indexOf(answer);
    if (number < 0) throw new TypeError(`expected the answer "go on", "stop" or undefined, not ${answer}`);
    const id = text(decided.finding.id);
    const engine = this.#used();
    return decision(engine, engine.answered(id, number));
  }

  /**
   * Waits for the promise of `onEscalate`, if it returned one. Returns the decision that holds, once: until then, the
   * guard's own holds.
   */
  async heard(): Promise<Decision | undefined> {
    const asked = this.#asked;
    this.#asked = undefined;
    return asked;
  }

  /**
   * Returns those of the ids whose calls only repeat, so that a host may leave them out of the context.
   *
   * Such a call stands between two equal calls, with the same result all three times. The first and the latest of a
   * series are not among them, nor is a call that may change something and worked, nor an id that comes twice. The
   * guard remembers 64 calls; one that was restored knows only those since then.
   */
  repeated(ids: readonly string[]): string[] {
    const engine = this.#used();
    const repeated = ids.filter((id) => engine.is_repeated(id));
    return repeated.filter((id) => ids.indexOf(id) === ids.lastIndexOf(id));
  }

  /** The counts so far. */
  get statistics(): Statistics {
    const [calls = 0, loops = 0, blocked = 0, falsePositives = 0, ...counts] = this.#used().statistics();
    const named = <N extends string>(names: readonly N[], from: number): Record<N, number> =>
      Object.fromEntries(names.map((name, at) => [name, counts[from + at] ?? 0])) as Record<N, number>;
    const actions = ACTIONS.slice(1) as Exclude<Action, "proceed">[];
    const [ofKinds, ofActions] = [named(KINDS, 0), named(actions, KINDS.length)];
    return { calls, loops, blocked, falsePositives, findings: ofKinds, actions: ofActions };
  }

  /** Returns the state of the guard: digests and names of tools, some KiB. */
  save(): Uint8Array {
    return this.#used().save();
  }

  /**
   * Runs a call, and returns its result with the note for the model appended if it is text. Throws {@link Stuck} if
   * the call must not run, or the run ends.
   *
   * An error is recorded as the result of a failed call, and goes on.
   */
  call<T>(tool: string, args: unknown, run: () => T, options?: CallOptions): T {
    const before = this.before(tool, args, options);
    if (before.blocked) throw new Stuck(before);
    const noted = (after: Decision, result: unknown): unknown => {
      if (after.endsRun) throw new Stuck(after);
      return typeof result === "string" ? after.annotate(result) : result;
    };
    const ended = (result: unknown): unknown => {
      const after = this.after(before.ticket, result);
      // Only a call that is awaited can wait for somebody else.
      if (after.question === undefined || typeof then !== "function") return noted(after, result);
      return this.heard().then((held) => noted(held ?? after, result));
    };
    const failed = (error: unknown): never => {
      if (isAbort(error)) this.cancelled(before.ticket);
      else this.after(before.ticket, error, { error: true });
      throw error;
    };
    let result: T;
    let then: unknown;
    try {
      result = run();
    } catch (error) {
      return failed(error);
    }
    then = propertyOf(result, "then");
    if (typeof then !== "function") return ended(result) as T;
    try {
      // A promise stays a promise; only its value gets the note.
      return Reflect.apply(then, result, [ended, failed]) as T;
    } catch (error) {
      return failed(error);
    }
  }

  /**
   * Returns `run`, watched: each call goes through {@link Guard.call}. `tool` is the name of the tool, instead of the
   * function's. A watched `async` function rejects with
   * {@link Stuck} instead of throwing it. So does a function that has returned a promise before.
   */
  watch<A extends unknown[], R>(run: (...args: A) => R, tool = propertyOf(run, "name") as string): (...args: A) => R {
    let isAsync = propertyOf(propertyOf(run, "constructor"), "name") === "AsyncFunction";
    const guard = this;
    return function (this: unknown, ...args) {
      try {
        const result = guard.call(tool, args.length === 1 ? args[0] : args, () => run.apply(this, args));
        isAsync ||= isPromiseLike(result);
        return result;
      } catch (error) {
        if (isAsync && error instanceof Stuck) return Promise.reject(error) as R;
        throw error;
      }
    };
  }

  /** Releases the memory of the guard now, and not when it is collected. If it is used again, it begins anew. */
  free(): void {
    this.#engine?.free();
    this.#engine = undefined;
  }

  /** Asks the function of the host about a decision with a question. Returns the decision that holds now. */
  #heard(decided: Decision, result: string): Decision {
    const escalation = this.#onEscalate && escalationOf(decided, result);
    if (this.#onEscalate === undefined || escalation === undefined) return decided;
    const answer = this.#onEscalate(escalation);
    if (!isPromiseLike(answer)) return this.answered(decided, answer);
    this.#asked = Promise.resolve(answer).then((said) => this.answered(decided, said));
    // Nobody may wait for it.
    this.#asked.catch((error: unknown) => console.error("unstuck: onEscalate failed:", error));
    return decided;
  }

  /** Returns the engine. Code of the host, such as a `toJSON` that releases the guard, runs before this, and not after. */
  #used(): Engine {
    return (this.#engine ??= this.#made(NOTHING));
  }

  /** Returns the engine, which knows the time if it has a budget. */
  #timed(): Engine {
    const engine = this.#used();
    // The small engine has no budgets.
    if (engine.has_budget?.()) engine.tell_time(Date.now());
    return engine;
  }

  #made(state: Uint8Array): Engine {
    const { preset, config, isJson, tools, budget } = this.#policy;
    const [observe, off, escalate] = [this.#observe, isOff(), this.#escalate];
    if (config === undefined && tools === undefined && budget === undefined && isPreset(preset)) {
      const { Guard } = engine();
      return checked(() => new Guard(preset, observe, off, escalate, this.session, this.worker, state));
    }
    const { Guard } = fullEngine();
    return checked(() =>
      Guard.of_policy(preset, config, isJson, tools, budget, observe, off, escalate, this.session, this.worker, state),
    );
  }
}

const NOTHING = new Uint8Array();

/** Returns whether the small engine has this preset. */
function isPreset(name: string): boolean {
  return (known ??= engine().presets()).includes(name);
}

let known: string[] | undefined;

/** Returns whether the variable `UNSTUCK` turns all guards off. */
function isOff(): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return ["off", "0", "false"].includes(process?.env?.UNSTUCK?.toLowerCase() ?? "");
}

/** Returns an id or a step as text. */
function key(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : text(value);
}

function idOf(call: unknown): string | undefined {
  if (call instanceof Ticket) return undefined;
  if (["bigint", "number", "string", "undefined"].includes(typeof call) || call === null) return key(call);
  throw new TypeError(`expected the ticket of a decision, the id of a call or undefined, not ${typeof call}`);
}

/** Returns the last decision of a guard, from its bits. It is about `call`, or about a new one. */
function decision(engine: Engine, bits: number, call?: unknown): Decision {
  const has = (bit: number): boolean => (bits & bit) !== 0;
  const found = has(FINDING) ? finding(engine) : undefined;
  return new Decision(
    action(bits),
    action(bits >> JUDGED),
    has(BLOCKED),
    has(ENDS_RUN),
    has(MESSAGE) ? engine.message() : undefined,
    found,
    has(TICKET) ? new Ticket(engine, engine.ticket()) : call instanceof Ticket ? call : undefined,
    has(NOTE),
    has(ESCALATES) ? `${STUCK} ${found?.message} ${INSTEAD}` : undefined,
  );
}

function action(bits: number): Action {
  return ACTIONS[bits & ACTION_BITS] ?? "proceed";
}

function finding(engine: Engine): Finding {
  const [id = "", rule = "", kind = "streak", action = "proceed", tool = "", message = "", line = "", cause, text = ""] =
    engine.finding();
  const [period = 1, laps = 0, confidence = 0, first = 0, last = 0, ...calls] = engine.numbers();
  return new Finding({
    id,
    rule,
    kind: kind as Kind,
    action: action as Action,
    tool,
    worker: "",
    message,
    period,
    laps,
    confidence,
    first,
    at: last,
    last,
    calls,
    line,
    cause: cause === undefined ? undefined : { kind: cause, text },
  });
}

function isAbort(error: unknown): boolean {
  return propertyOf(error, "name") === "AbortError";
}
