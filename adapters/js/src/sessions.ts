/** What the integrations share: the guards of their sessions, and the rule that our defects let calls run. */

import type { Decision, Ticket } from "./decision.js";
import { type Guard } from "./guard.js";
import { Guards, type GuardsOptions } from "./guards.js";

type Call = Ticket | string | undefined;

/** The guards of many sessions. Its methods never throw: a call that cannot be judged runs. */
export class Sessions {
  readonly #guards: Guards;
  #hasLogged = false;

  /** Throws an error if an option is wrong. */
  constructor(options: GuardsOptions = {}) {
    this.#guards = new Guards(options);
  }

  /** Returns the guard of a session. This method alone may throw. */
  guard(session: string): Guard {
    return this.#guards.get(session);
  }

  /** Judges a call before it runs. Calls with the same `step` were issued together. */
  before(
    session: string,
    tool: string,
    args: unknown,
    options: { id?: string | undefined; step?: number | string | undefined } = {},
  ): Decision | undefined {
    const { id, step } = options;
    return this.#tried(session, (guard) => guard.before(tool, args, { id: id || undefined, step }));
  }

  /** Reports the result of a call. */
  after(session: string, call: Call, result: unknown, options: { error?: boolean | undefined } = {}): Decision | undefined {
    return this.#tried(session, (guard) => guard.after(call, result, options));
  }

  /** Reports that somebody else refused the call. */
  refused(session: string, call: Call): Decision | undefined {
    return this.#tried(session, (guard) => guard.refused(call));
  }

  /** Takes back a call that was broken off. */
  cancelled(session: string, call: Call): void {
    this.#tried(session, (guard) => guard.cancelled(call));
  }

  /** Waits for the promise of `onEscalate`, if there is one. Returns the decision that holds. */
  async heard(session: string): Promise<Decision | undefined> {
    try {
      return await this.guard(session).heard();
    } catch (defect) {
      this.failed(defect);
      return undefined;
    }
  }

  /** Returns those of the ids whose calls only repeat. */
  repeated(session: string, ids: readonly string[]): string[] {
    return this.#tried(session, (guard) => guard.repeated(ids)) ?? [];
  }

  /** Reports a message of the user. */
  userMessage(session: string, text: string): void {
    this.#tried(session, (guard) => guard.userMessage(text));
  }

  /** Logs the first defect of this object. The host goes on as if nothing had been watched. */
  failed(defect: unknown): void {
    if (this.#hasLogged) return;
    this.#hasLogged = true;
    console.error("unstuck: internal error; this call was not checked (later errors are not logged):", defect);
  }

  #tried<T>(session: string, work: (guard: Guard) => T): T | undefined {
    try {
      return work(this.guard(session));
    } catch (defect) {
      this.failed(defect);
      return undefined;
    }
  }
}

/** Lets a hook return `undefined`, which means "go on", if the hook itself is defective. It may be asynchronous. */
export function failsOpen<A extends unknown[], R>(
  sessions: Pick<Sessions, "failed">,
  hook: (...args: A) => R,
): (...args: A) => R | undefined {
  const failed = (defect: unknown): undefined => sessions.failed(defect) as undefined;
  return (...args) => {
    try {
      const result = hook(...args);
      // Only promises of the hook itself are asked.
      return result instanceof Promise ? (result.catch(failed) as R) : result;
    } catch (defect) {
      return failed(defect);
    }
  };
}

/** Session ids for objects that have no id of their own, such as the agent or the context of a run. */
export class Identities {
  readonly #known = new WeakMap<object, string>();
  #last = 0;

  /** Returns the id of `owner`. */
  of(owner: object): string {
    let name = this.#known.get(owner);
    if (name === undefined) {
      this.#last += 1;
      name = `${owner.constructor?.name ?? "Object"}#${this.#last}`;
      this.#known.set(owner, name);
    }
    return name;
  }
}

/** Returns the text of content blocks, joined. Other content, such as an image, is returned as it is. */
export function textOf(content: unknown): unknown {
  try {
    if (!Array.isArray(content)) return content;
    const texts = content.map(blockText);
    return texts.every((text) => text !== undefined) ? texts.join("\n") : content;
  } catch {
    // Code of the host failed, or the text is longer than one may be. The guard reads what it can.
    return content;
  }
}

function blockText(block: unknown): string | undefined {
  if (typeof block === "string") return block;
  const text: unknown = typeof block === "object" && block !== null ? (block as { text?: unknown }).text : undefined;
  return typeof text === "string" ? text : undefined;
}
