// Prints the line of a run: how the model's calls went, how the run ended, and whether a scan agrees with the hook.
//
//     node observe.mjs RUN ENDS [AGENT TRANSCRIPTS]
//
// takes the folder of the run and the words about its end. With an agent it runs `unstuck status` and `unstuck scan`
// as the user of the run, and compares them. TRANSCRIPTS is a shell command that prints the paths of the transcripts.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [run, ends, agent, transcripts] = process.argv.slice(2);

const linesOf = (text) => text.split("\n").filter(Boolean);
const logged = (file) => (existsSync(join(run, file)) ? linesOf(readFileSync(join(run, file), "utf8")) : []);

function output(program, ...words) {
  const stdio = ["ignore", "pipe", "ignore"];
  return spawnSync(program, words, { encoding: "utf8", maxBuffer: Infinity, stdio }).stdout;
}

/** Writes `3 4 5 6 9` as `3-6 9`. Up to three numbers in a row are written out. */
function ranges(numbers) {
  const rows = [];
  for (const number of numbers) {
    if (rows.at(-1)?.at(-1) === number - 1) rows.at(-1).push(number);
    else rows.push([number]);
  }
  return rows.map((row) => (row.length > 3 ? `${row[0]}-${row.at(-1)}` : row.join(" "))).join(" ");
}

/** The rows of `unstuck WORDS`, which are also kept beside the other logs. */
function rowsOf(file, ...words) {
  const text = output(join(run, "bin/unstuck"), ...words, "--format", "jsonl");
  writeFileSync(join(run, file), text);
  return linesOf(text).map((line) => JSON.parse(line));
}

const sum = (rows, field) => rows.reduce((total, row) => total + (row[field] ?? 0), 0);

/** Calls and errors if both count them, and each finding with its action and the laps at which it came. The hook
 * records each refusal, and a scan the first one. */
function told(rows, hasCalls, hasErrors) {
  const findings = rows.flatMap((row) => row.findings ?? []);
  const known = new Set();
  const isFirst = ({ loop, rule, action }) => {
    const key = `${loop} ${rule} ${action}`;
    return !known.has(key) && known.add(key);
  };
  const words = findings.filter(isFirst).map(({ rule, action, laps }) => `${rule} ${action}@${laps}`);
  const calls = hasCalls ? `${sum(rows, "calls")} calls` : "calls of some workers";
  const errors = hasErrors ? `, ${sum(rows, "errors")} errors` : "";
  return `${calls}${errors}: ${words.join(", ") || "nothing"}`;
}

/** Compares what the hook counted with what a scan of the transcripts finds: `=`, or what each of them says. */
function comparison() {
  const files = linesOf(output("sh", "-c", transcripts)).sort();
  if (!files.length) return "has no transcript";
  const status = rowsOf("status.jsonl", "status", "--all");
  const scan = rowsOf("scan.jsonl", "scan", "--from", agent, ...files);
  const hasErrors = [status, scan].every((rows) => rows.every((row) => "errors" in row));
  // Of an ended session, a worker without findings is not kept.
  const hasCalls = !status.length || status.length === sum(scan, "workers");
  const [hook, file] = [status, scan].map((rows) => told(rows, hasCalls, hasErrors));
  const isEqual = status.length ? hook === file : !scan.some((row) => row.findings?.length);
  return isEqual ? "=" : `≠ (hook: ${status.length ? hook : "nothing"}; scan: ${file})`;
}

const calls = logged("model/calls.txt").filter((line) => !line.startsWith("end ")).map((line) => line.split(" ")[2]);
const numbers = (wanted) => ranges(calls.flatMap((kind, index) => (kind === wanted ? [index + 1] : [])));
const parts = [`calls ${calls.length}`];
if (existsSync(join(run, "ran.log"))) parts.push(`ran ${logged("ran.log").length}`);
for (const kind of ["told", "refused"]) if (calls.includes(kind)) parts.push(`${kind} ${numbers(kind)}`);
parts.push(`ended by ${ends}`);
if (agent) parts.push(`scan ${comparison()}`);
console.log(parts.join(" · "));
