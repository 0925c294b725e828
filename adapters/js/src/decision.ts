/** Decisions, the tickets of calls, and findings. */

import { propertyOf } from "./tools.js";

/** The actions, the mildest first. */
export const ACTIONS = ["proceed", "nudge", "warn", "block", "start_over", "stop"] as const;

/** What to do. */
export type Action = (typeof ACTIONS)[number];

/** The ways in which something recurs. */
export const KINDS = ["streak", "recurrence", "cycle", "text", "echo"] as const;

/** The way in which something recurs. */
export type Kind = (typeof KINDS)[number];

/**
 * Lets `instanceof` of `type` know the objects of the other copy of this package: modules and CommonJS have one each.
 * A class that extends `type` knows its own objects only.
 */
function shared(type: Function, name: string): void {
  const mark = Symbol.for(`unstuck.${name}`);
  const ordinary = Function.prototype[Symbol.hasInstance];
  const knows = function (this: unknown, value: unknown): boolean {
    try {
      return ordinary.call(this, value) || (this === type && propertyOf(value, mark) === true);
    } catch {
      // A proxy of the host threw.
      return false;
    }
  };
  Object.defineProperty(type.prototype, mark, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, { value: knows });
}

/** Identifies a call between `before` and `after`. It is valid for the guard that issued it. */
export class Ticket {
  static {
    shared(this, "Ticket");
  }

  readonly #engine: object;
  readonly #number: number;

  /** @internal */
  constructor(engine: object, number: number) {
    this.#engine = engine;
    this.#number = number;
  }

  /**
   * Returns the number by which `engine` knows the call, or 0 if another guard issued the ticket, or it is none.
   *
   * @internal
   */
  static number(ticket: unknown, engine: object): number {
    const isOwn = typeof ticket === "object" && ticket !== null && #engine in ticket && ticket.#engine === engine;
    return isOwn ? ticket.#number : 0;
  }
}

/** A loop, and the calls that prove it. `String(finding)` says in one line what recurs. */
export class Finding {
  static {
    shared(this, "Finding");
  }

  /** The id of the loop: 16 hexadecimal digits, the same in every run with these calls. */
  readonly id: string;
  /** The name of the rule. */
  readonly rule: string;
  /** The way in which the calls recur. */
  readonly kind: Kind;
  /** What the rule asks for. */
  readonly action: Action;
  /** The tool of the last call. It is empty for text. */
  readonly tool: string;
  /** In a recorded run: the worker that is stuck. */
  readonly worker: string;
  /** The text for the model without the prefix `[unstuck]`. It is empty if the model has read it already. */
  readonly message: string;
  /** The number of calls in a lap: 1 except for cycles. */
  readonly period: number;
  /** The number of repetitions. */
  readonly laps: number;
  /** The confidence in percent. */
  readonly confidence: number;
  /** The number of the first call of the loop, counted from 0. */
  readonly first: number;
  /** The number of the call at which the rule asked for its action. */
  readonly at: number;
  /** The number of the last call of the loop. */
  readonly last: number;
  /** The numbers of the calls that prove the loop, as far back as they are kept. */
  readonly calls: readonly number[];
  /** The cause, if the latest call failed and its answer tells why. */
  readonly cause: Cause | undefined;
  readonly #line: string;

  /** @internal */
  constructor(fields: FindingFields) {
    this.id = fields.id;
    this.rule = fields.rule;
    this.kind = fields.kind;
    this.action = fields.action;
    this.tool = fields.tool;
    this.worker = fields.worker;
    this.message = fields.message;
    this.period = fields.period;
    this.laps = fields.laps;
    this.confidence = fields.confidence;
    this.first = fields.first;
    this.at = fields.at;
    this.last = fields.last;
    this.calls = fields.calls;
    this.cause = fields.cause;
    this.#line = fields.line;
  }

  /** Whether text repeats instead of calls. In that case, `first`, `at`, `last` and `calls` count messages. */
  get isText(): boolean {
    return this.kind === "text" || this.kind === "echo";
  }

  toString(): string {
    return this.#line;
  }
}

/** The fields of a finding, and its line of text. */
export interface FindingFields {
  id: string;
  rule: string;
  kind: Kind;
  action: Action;
  tool: string;
  worker: string;
  message: string;
  period: number;
  laps: number;
  confidence: number;
  first: number;
  at: number;
  last: number;
  calls: readonly number[];
  line: string;
  cause?: Cause | undefined;
}

/** The cause of a finding, as the answer tells it. */
export interface Cause {
  /** The kind, such as `path_missing` or `program_missing`. */
  readonly kind: string;
  /** The cause and one way out, in a sentence or two. The message for the model ends with it. */
  readonly text: string;
}

/** The answers of somebody who looks at a loop: it ends the run, or it is none. */
export const ANSWERS = ["stop", "go on"] as const;

/** What somebody says about a loop. */
export type Answer = (typeof ANSWERS)[number];

/** A loop that somebody is asked about. */
export interface Escalation {
  readonly finding: Finding;
  /** What the model was told, and what to do instead. */
  readonly question: string;
  /** The beginning of the latest result. It is empty if the latest call did not run. */
  readonly excerpt: string;
}

/** The most characters of a result that are shown. */
const EXCERPT_MAX = 1000;

/** Returns what somebody is asked about a decision, if they are. `result` is the latest result. */
export function escalationOf({ finding, question }: Decision, result: string): Escalation | undefined {
  if (finding === undefined || question === undefined) return undefined;
  return { finding, question, excerpt: result.slice(0, EXCERPT_MAX) };
}

/**
 * Is asked about a loop before its calls are refused. Answers `"go on"` if it is no loop, `"stop"` to end the run, or
 * `undefined` to leave it to the guard.
 */
export type OnEscalate = (escalation: Escalation) => Answer | undefined | Promise<Answer | undefined>;

/** What to do about a call, and why. */
export class Decision {
  static {
    shared(this, "Decision");
  }

  /** @internal */
  constructor(
    /** What to do. It is `"proceed"` while the guard only observes. */
    readonly action: Action,
    /** What the guard would do if it did not only observe. */
    readonly judged: Action,
    /**
     * Whether the announced call must not run: it is refused, or the run ends. After a result: whether the next such
     * call will be refused.
     */
    readonly blocked: boolean,
    /** Whether the run ends here, or starts over. */
    readonly endsRun: boolean,
    /**
     * The text for the model: in place of a result if the call must not run, else a note to append. Most decisions
     * have none.
     */
    readonly message: string | undefined,
    /** The loop, if there is one. */
    readonly finding: Finding | undefined,
    /** The name of the call, for `Guard.after`. It is `undefined` if no call is watched. */
    readonly ticket: Ticket | undefined,
    private readonly hasNote: boolean,
    /**
     * What to ask someone else, such as a stronger model that takes the next turn. There is a question at the first
     * decision to block a loop, as often as the option `escalate` allows.
     */
    readonly question: string | undefined,
  ) {}

  /** Returns the result of a call as the model is to read it: with the message appended, if there is one. */
  annotate(result: string): string {
    if (!this.hasNote || this.message === undefined) return result;
    if (result === "") return this.message;
    try {
      return `${result}\n\n${this.message}`;
    } catch {
      // A string cannot be longer.
      return result;
    }
  }
}

/** The agent is stuck: a call must not run, or the run ends. The message is what the model should read. */
export class Stuck extends Error {
  static {
    shared(this, "Stuck");
  }

  override readonly name = "Stuck";

  constructor(
    /** The decision of the guard. */
    readonly decision: Decision,
  ) {
    super(decision.message ?? `the guard answered ${decision.action}`);
  }
}

/** The setup of a guard or a scan is wrong, for example an unknown preset. */
export class PolicyError extends Error {
  static {
    shared(this, "PolicyError");
  }

  override readonly name = "PolicyError";
}
