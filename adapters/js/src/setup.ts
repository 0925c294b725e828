/** The setup of guards and scans: a preset, or a policy of its own. */

import { type OnEscalate, PolicyError } from "./decision.js";
import { text } from "./values.js";

/** A policy: a preset, and what is changed about it. */
export interface PolicyOptions {
  /** The name of a preset. The default is `"balanced"`. */
  preset?: string | undefined;
  /** A policy in the format of `unstuck presets --format toml`: its text, or an object of the same shape. */
  policy?: string | object | undefined;
  /** Declared tools by their names, each with an effect or the fields of `[tools.NAME]`. */
  tools?: Readonly<Record<string, string | object>> | undefined;
}

/** The limits of one scope of a budget. */
export interface Limits {
  /** The number of calls. */
  calls?: number | undefined;
  /** The number of tokens, as `Guard.spend` reports them. */
  tokens?: number | undefined;
  /** US dollars, as `Guard.spend` reports them. */
  dollars?: number | undefined;
  /** Minutes in which the agent was at work. */
  minutes?: number | undefined;
}

/** What an agent may spend. The limits of the budget itself are those of the session. */
export interface Budget extends Limits {
  /** The limits since the user's last new message. */
  turn?: Limits | undefined;
  /** The limits of the whole session. */
  session?: Limits | undefined;
  /** The limits of a day, which begins at midnight UTC. */
  day?: Limits | undefined;
  /** What happens at 100 %: a note, which is the default, or the refusal of further calls. */
  at_limit?: "note" | "refuse" | undefined;
}

/** The setup of a guard. */
export interface GuardOptions extends PolicyOptions {
  /** What the agent may spend: a note comes at 80 % and at 100 %. */
  budget?: Budget | undefined;
  /** Whether decisions only say what the guard would do, as `Decision.judged`. */
  observe?: boolean | undefined;
  /**
   * The number of loops about which someone else is asked before their calls are refused. The default is 2 with
   * `onEscalate`, and else 0.
   */
  escalate?: number | undefined;
  /** Is asked about such a loop. */
  onEscalate?: OnEscalate | undefined;
  /** The name of the session. */
  session?: string | undefined;
  /** The name of the worker. The default is `"main"`. */
  worker?: string | undefined;
}

/** A policy as the engine takes it. */
export interface Policy {
  readonly preset: string;
  /** The policy in TOML, or else in JSON. */
  readonly config: string | undefined;
  readonly isJson: boolean;
  /** The declared tools in JSON. */
  readonly tools: string | undefined;
  /** The budget in JSON. */
  readonly budget: string | undefined;
}

/** Checks a policy. */
export function policyOf({ preset = "balanced", policy, tools, budget }: PolicyOptions & GuardOptions): Policy {
  if (typeof preset !== "string") throw new PolicyError(`preset: expected a name, not ${typeof preset}`);
  const isJson = isObject(policy);
  if (policy !== undefined && typeof policy !== "string" && !isJson) {
    throw new PolicyError(`policy: expected TOML or an object, not ${typeof policy}`);
  }
  if (tools !== undefined && !isObject(tools)) throw new PolicyError(`tools: expected an object, not ${typeof tools}`);
  if (budget !== undefined && !isObject(budget)) {
    throw new PolicyError(`budget: expected an object, not ${typeof budget}`);
  }
  return {
    preset,
    config: isJson ? text(policy) : policy,
    isJson,
    tools: tools === undefined ? undefined : text(tools),
    budget: budget === undefined ? undefined : text(budget),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns what `make` returns. Its errors are those of a policy. */
export function checked<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof Error && !(error instanceof WebAssembly.RuntimeError)) throw new PolicyError(error.message);
    throw error;
  }
}
