/**
 * Notices when an agent that calls tools is stuck, and gets it out.
 *
 * ```js
 * import { Guard } from "unstuck";
 *
 * const guard = new Guard(); // one for each agent in each session
 * const before = guard.before("read_file", { path: "src/mian.rs" });
 * const after = guard.after(before.ticket, "no such file", { error: true });
 * ```
 *
 * @module
 */

import { engine } from "./engine.js";
import { text } from "./values.js";

export {
  type Action,
  type Answer,
  type Cause,
  Decision,
  type Escalation,
  Finding,
  type Kind,
  type OnEscalate,
  PolicyError,
  Stuck,
  Ticket,
} from "./decision.js";
export { init, type InitOptions } from "./engine.js";
export { type CallName, type CallOptions, Guard, type ResultOptions, type Statistics } from "./guard.js";
export { Guards, type GuardsOptions } from "./guards.js";
export { type Proof, type Run, scan, type ScanOptions } from "./scan.js";
export type { Budget, GuardOptions, Limits, PolicyOptions } from "./setup.js";

/** Returns the digest of a value as 16 hexadecimal digits. Equal arguments have equal digests. */
export function fingerprint(value: unknown): string {
  return engine().fingerprint(text(value));
}

/** Returns a result as results are compared, with a word in place of each volatile part. */
export function normalize(result: unknown): string {
  return engine().normalize(text(result));
}

/**
 * Returns the names of the built-in presets, the default first. `preset` also takes the rule sets of other agents, such
 * as `"crush"`.
 */
export function presets(): string[] {
  return engine().presets();
}
