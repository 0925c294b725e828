/** Guards for many sessions. */

import { Guard } from "./guard.js";
import { PolicyError } from "./decision.js";
import type { GuardOptions } from "./setup.js";

/** The setup of {@link Guards}. */
export interface GuardsOptions extends Omit<GuardOptions, "session" | "worker"> {
  /** The most sessions that are remembered. The default is 1024. */
  capacity?: number | undefined;
}

/** One guard for each session. The session that was idle longest is forgotten first. */
export class Guards {
  readonly #options: GuardOptions;
  readonly #capacity: number;
  /** The guards, in the order of their last use. */
  readonly #guards = new Map<string, Guard>();

  /** Throws {@link PolicyError} if the setup is wrong. */
  constructor({ capacity = 1024, ...options }: GuardsOptions = {}) {
    if (!Number.isInteger(capacity) || capacity < 1) {
      throw new PolicyError(`capacity: expected an integer of at least 1, not ${capacity}`);
    }
    this.#options = options;
    this.#capacity = capacity;
    // A wrong setup is an error here, and not at the first call.
    new Guard(options).free();
  }

  /** Returns the guard of a session, and makes one if the session is new. */
  get(sessionId: string): Guard {
    const guard = this.#guards.get(sessionId) ?? new Guard({ ...this.#options, session: sessionId });
    this.#guards.delete(sessionId);
    this.#guards.set(sessionId, guard);
    if (this.#guards.size > this.#capacity) {
      const [oldest] = this.#guards;
      if (oldest !== undefined) {
        this.#guards.delete(oldest[0]);
        // Memory of WebAssembly does not make the collector run.
        oldest[1].free();
      }
    }
    return guard;
  }

  /** The number of sessions that are remembered. */
  get size(): number {
    return this.#guards.size;
  }
}
