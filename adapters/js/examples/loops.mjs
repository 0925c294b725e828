// Five agents that are stuck, each in its own way, and one that is not: `node loops.mjs`.

import { Guard } from "unstuck";

/** The turns of each agent: a call, its arguments, its result, and whether it failed; or only words. */
const AGENTS = {
  "the same call again and again": (n) => ["read_file", { path: "src/mian.rs" }, "no such file", true],
  "two calls in turns": (n) =>
    n % 2 === 0
      ? ["read_file", { path: "a.toml" }, 'name = "a"', false]
      : ["read_file", { path: "b.toml" }, 'name = "b"', false],
  "variants that all meet one error": (n) => [
    "bash",
    { command: `psql -h ${["db", "db1", "database", "postgres", "pg", "sql", "localhost", "main"][n % 8]} -c 'select 1'` },
    "password authentication failed",
    true,
  ],
  "tests that keep failing alike": (n) =>
    n % 2 === 0
      ? ["edit_file", { path: "src/sum.rs", old: `a + ${n}`, new: `a + ${n + 2}` }, "ok", false]
      : ["bash", { command: "cargo test" }, "test sum ... FAILED\ntest result: FAILED. 4 passed; 1 failed", true],
  "talk without action": (n) => "I will now look at the file and fix the problem.",
  "an agent that gets on": (n) => ["read_file", { path: `src/${"abcdefghijkl"[n]}.rs` }, `pub mod ${"mnopqrstuvwx"[n]};`, false],
};

for (const [name, turn] of Object.entries(AGENTS)) {
  const guard = new Guard({ session: name });
  const heard = [];
  for (let n = 0; n < 12; n++) {
    const taken = turn(n);
    const decision = typeof taken === "string" ? guard.textTurn(taken) : call(guard, taken);
    if (decision.message !== undefined) heard.push(`  turn ${n + 1}, ${decision.action}: ${decision.message}`);
    if (decision.endsRun) break;
  }
  console.log([`${name}:`, ...(heard.length > 0 ? heard : ["  nothing to say"])].join("\n"));
}

function call(guard, [tool, args, result, error]) {
  const before = guard.before(tool, args);
  return before.blocked ? before : guard.after(before.ticket, result, { error });
}
