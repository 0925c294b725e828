/** The scan of recorded runs. */

import { type Action, Finding, type FindingFields, type Kind } from "./decision.js";
import { fullEngine } from "./engine.js";
import { checked, type PolicyOptions, policyOf } from "./setup.js";

/** The options of {@link scan}. */
export interface ScanOptions extends PolicyOptions {
  /** The format of the run. The default is `"auto"`. */
  format?: string | undefined;
}

/** A recorded call that proves a finding. */
export interface Proof {
  /** The number of the call, counted from 0. */
  readonly call: number;
  /** The tool, or `null` for text. */
  readonly tool: string | null;
  /** The beginning of the arguments or of the text. */
  readonly text: string;
}

/** A recorded run and its loops. */
export interface Run {
  /** Whether there is a finding. */
  readonly stuck: boolean;
  /** The format of the run. */
  readonly format: string;
  /** The name of the session, if the run has one. */
  readonly session: string | null;
  /** The number of calls. */
  readonly calls: number;
  /** The number of workers that issued calls. */
  readonly workers: number;
  /** The number of failed calls, or `null` if the format does not tell. */
  readonly errors: number | null;
  /** The number of lines that could not be read. */
  readonly skipped: number;
  /** The reasons for the first of these lines. */
  readonly problems: readonly string[];
  /** The findings in their order: one for each loop and each action that it reached. */
  readonly findings: readonly (Finding & { readonly proof: readonly Proof[] })[];
}

type Read = Omit<Run, "stuck" | "findings"> & {
  findings: (FindingFields & { kind: Kind; action: Action; proof: Proof[] })[];
};

/**
 * Reads a recorded run and finds its loops, as the program `unstuck scan` does. `run` is the text of a transcript.
 *
 * Throws an error if nothing of the run can be read, and `PolicyError` if an option is wrong.
 */
export function scan(run: string | Uint8Array, options: ScanOptions = {}): Run {
  const { preset, config, isJson, tools } = policyOf(options);
  const engine = fullEngine();
  const bytes = typeof run === "string" ? new TextEncoder().encode(run) : run;
  const policy = checked(() => new engine.Scan(preset, config, isJson, tools, String(options.format ?? "auto")));
  try {
    const read = JSON.parse(policy.run(bytes)) as Read;
    const findings = read.findings.map(({ proof, ...fields }) => Object.assign(new Finding(fields), { proof }));
    return { stuck: findings.length > 0, ...read, findings };
  } finally {
    policy.free();
  }
}
