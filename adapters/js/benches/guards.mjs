// Measures a call and its result of 500 bytes in a guard, beside two fingerprints, and the memory of long runs.
//
// Run it by `cargo xtask js --bench`. Each row is the fastest of many rounds, because other programs of the machine
// only ever add time.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import canonicalize from "canonicalize";
import { fingerprint, Guard, Guards } from "unstuck";

const CALLS = 500;
const ROUNDS = 200;

/** Returns a word of its own for each number. */
const word = (n) => n.toString(36).replace(/\d/g, (digit) => "ghijklmnop"[digit]);

const args = (n) => ({ path: `src/module_${n}/lib.rs`, offset: n * 7, limit: 200 });
/** Returns the beginning of a file of its own for each number. */
const result = (n) => {
  const name = word(n * 7919);
  return `fn ${name}() {\n${`    println!("${name} is one line of a file");\n`.repeat(14)}`.slice(0, 500);
};
const hash = (text) => createHash("sha256").update(text).digest("hex");

/** What is measured: each takes the number of a call, and whether calls are equal. */
const SUBJECTS = {
  "unstuck, before and after": () => {
    const guard = new Guard();
    return (n) => {
      const { ticket } = guard.before("read_file", args(n));
      guard.after(ticket, result(n));
    };
  },
  "unstuck, the fingerprint of the arguments": () => (n) => fingerprint(args(n)),
  "RFC 8785 and SHA-256 of tool and arguments": () => (n) => hash(`read_file${canonicalize(args(n))}`),
  "JSON.stringify and SHA-256 of tool, arguments and result": () => (n) =>
    hash(`read_file${JSON.stringify(args(n))}${result(n)}`),
  "the arguments and the result alone": () => (n) => `${args(n).path}${result(n)}`.length,
};

/** Returns the microseconds of a call in the fastest round. */
function fastest(call, isNew) {
  let best = Infinity;
  let n = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let calls = 0; calls < CALLS; calls++) call(isNew ? (n += 1) : 0);
    best = Math.min(best, ((performance.now() - start) * 1000) / CALLS);
  }
  return best;
}

function row(name, ...cells) {
  console.log(`| ${[name, ...cells].join(" | ")} |`);
}

console.log(`${process.release.name} ${process.version}, ${CALLS} calls a round\n`);
row("a call", "new calls, µs", "equal calls, µs");
row("---", "--:", "--:");
for (const [name, make] of Object.entries(SUBJECTS)) {
  // A first run lets the compilers finish.
  fastest(make(), true);
  row(name, fastest(make(), true).toFixed(1), fastest(make(), false).toFixed(1));
}

const MIB = 1 << 20;
const memory = () => {
  globalThis.gc();
  return (process.memoryUsage.rss() / MIB).toFixed(0);
};

console.log("\nMemory of the process in MiB:\n");
row("calls of one guard", "new calls");
row("--:", "--:");
const guard = new Guard();
for (let n = 0; n <= 1_000_000; n++) {
  guard.after(guard.before("read_file", args(n)).ticket, result(n));
  if (n % 200_000 === 0) row(n, memory());
}
console.log();
row("sessions of `Guards`, ten calls each, 1,024 remembered", "MiB");
row("--:", "--:");
const guards = new Guards();
for (let session = 0; session <= 100_000; session++) {
  const own = guards.get(`session ${session}`);
  for (let n = 0; n < 10; n++) own.after(own.before("read_file", args(n)).ticket, result(n));
  if (session % 20_000 === 0) row(session, memory());
}
console.log();
row("guards that are only dropped, one call each", "MiB");
row("--:", "--:");
for (let n = 0; n <= 100_000; n++) {
  const own = new Guard();
  own.after(own.before("read_file", args(n)).ticket, result(n));
  // Memory is released between tasks.
  if (n % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
  if (n % 20_000 === 0) row(n, memory());
}

const size = (file) => readFileSync(new URL(`node_modules/unstuck/dist/${file}`, import.meta.url)).length;
console.log(`\nunstuck.wasm: ${size("unstuck.wasm")} bytes, unstuck-full.wasm: ${size("unstuck-full.wasm")} bytes`);
