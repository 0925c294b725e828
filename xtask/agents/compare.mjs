// Compares what the hook counted with what a scan of the transcript finds.
//
//     node compare.mjs STATUS SCAN
//
// takes the output of `unstuck status --format jsonl` and of `unstuck scan --format jsonl`, and prints `=`,
// or what each of them says.

import { readFileSync } from "node:fs";

const [status, scan] = process.argv.slice(2).map((file) =>
  readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)),
);

const sum = (rows, field) => rows.reduce((total, row) => total + (row[field] ?? 0), 0);

/** Calls, errors if both count them, and each finding with its action and the laps at which it came. The hook
 * records each refusal, and a scan the first one. */
function told(rows, hasErrors) {
  const findings = rows.flatMap((row) => row.findings ?? []);
  const known = new Set();
  const isFirst = ({ loop, rule, action }) => {
    const key = `${loop} ${rule} ${action}`;
    return !known.has(key) && known.add(key);
  };
  const words = findings.filter(isFirst).map(({ rule, action, laps }) => `${rule} ${action}@${laps}`);
  const errors = hasErrors ? `, ${sum(rows, "errors")} errors` : "";
  return `${sum(rows, "calls")} calls${errors}: ${words.join(", ") || "nothing"}`;
}

const hasFindings = (rows) => rows.some((row) => row.findings?.length);
const hasErrors = [status, scan].every((rows) => rows.every((row) => "errors" in row));
const [hook, file] = [told(status, hasErrors), told(scan, hasErrors)];
// An ended session without findings is not kept.
const isEqual = status.length ? hook === file : !hasFindings(scan);
console.log(isEqual ? "=" : `≠ (hook: ${status.length ? hook : "nothing"}; scan: ${file})`);
