// What the scripted model does. A script takes the conversation and returns the next calls, or a text, which
// ends the turn.

/** In place of calls: the model does not answer, until the client is stopped. */
export const STALL = "(no answer)";

/** The most turns of a loop that nobody stops. */
const TURNS_MAX = 14;

/** The most turns of a model that ignores everything. */
const DEAF_MAX = 40;

const run = (command) => ({ run: command });
const read = (path) => ({ read: path });
const edit = (path, old, now) => ({ edit: { path, old, now } });
const fix = (bugs) => edit("calc.py", `BUGS = ${bugs}`, `BUGS = ${bugs - 1}`);
// Qwen Code takes a `sed -i` for an edit, which needs a read before it.
const fixByShell = (bugs) => run(`echo 'BUGS = ${bugs - 1}' > calc.py`);

/** A call of the first of these tools that the client has, or else of the last one. */
const call = (names, args) => ({ call: { names, args } });

/** A tool of the MCP server of the scenarios, as clients name it. */
const mcp = (tool) => [`mcp__desk__${tool}`, `mcp_desk_${tool}`, `desk_${tool}`, `desk-${tool}`, `mcp__desk/${tool}`];

const BUILD = run("./build.sh");
const TEST = run("./test.sh");

/** The turns of `make`, at most `most` after each prompt. */
const repeat = (make, most = TURNS_MAX) => ({ recent }) =>
  recent.length < most ? make(recent.length) : "I give up.";

/** These calls one after another, and again from the first. */
const lap = (calls, most) => repeat((n) => [calls[n % calls.length]], most);

const textsOf = (turn) => [...turn.calls.map((call) => call.result ?? ""), ...turn.beside].join("\n");

/** These calls one after another, and then the end: a success if the last result contains `wanted`. */
const steps = (calls, wanted = "") => ({ recent }) => {
  if (recent.length < calls.length) return [calls[recent.length]];
  return textsOf(recent.at(-1)).includes(wanted) ? "It works." : "It does not work.";
};

/** A long result, which is worth a compaction, and then five times the same call. */
const afterLong = (call) => repeat((n) => [n ? call : run("seq 1 3000")], 6);

/** Loops until it reads a note, and then takes another way. */
function freed({ turns }) {
  const noted = turns.findIndex((turn) => textsOf(turn).includes("[unstuck]"));
  if (noted < 0) return turns.length < TURNS_MAX ? [BUILD] : "I give up.";
  return steps([...Array(noted + 1).fill(BUILD), run("ls"), run("cat client.conf")], "retries")({ recent: turns });
}

/** Starts a job in the background, and reads the file of its output again and again. */
function background({ turns, recent }) {
  const path = /[^\s`"']+\.output/.exec(turns.map(textsOf).join("\n"))?.[0];
  if (!turns.length) return [call(["Bash"], { command: "echo epoch 1 of 40; sleep 30; echo ready", run_in_background: true })];
  if (!path) return "No file is named.";
  return recent.length < TURNS_MAX ? [read(path)] : "I give up.";
}

/** Three agents at once, of which each repeats the failing command. Their prompt differs from the user's. */
function subagents(conversation) {
  if (conversation.firstPrompt.includes("Build part")) return lap([BUILD])(conversation);
  if (conversation.turns.length) return "I give up.";
  return [1, 2, 3].map((part) => ({ delegate: { part, prompt: `Build part ${part}: the job of script subagents` } }));
}

/** The failing loop, in which the client is stopped at the fifth turn. The session is resumed. */
function resumed(conversation) {
  const { prompts, recent } = conversation;
  return prompts.length === 1 && recent.length === 4 ? STALL : lap([BUILD])(conversation);
}

/** A log that grows: a line, its number, its end. */
const grow = (n) => [run(`echo 'line ${n}' >> log.txt`), run("wc -l log.txt"), run("tail -n 2 log.txt")];

const hundred = Array.from({ length: 100 }, (_, n) => grow(n)).flat();

const bugs = [3, 2, 1];
const parts = Array.from({ length: 12 }, (_, n) => n);

export const SCRIPTS = {
  "same-failing-command": lap([BUILD]),
  "same-words": lap([{ ...BUILD, why: "Build" }]),
  "two-in-turns": lap([BUILD, run("cat client.conf")], 16),
  "failing-edit": repeat((n) => [n ? edit("calc.py", "BUGS = 99", "BUGS = 0") : read("calc.py")], 12),
  "missing-file": lap([read("missing.conf")]),
  "missing-by-shell": lap([run("cat missing.conf")]),
  "same-success": lap([run("grep -n retries client.conf")]),
  "wait-that-stays": lap([run("sleep 0.2 && cat state.txt")], 12),
  "poll-that-moves": lap([run("./job.sh")], 12),
  "healthy-by-tool": steps([read("calc.py"), TEST, ...bugs.flatMap((n) => [fix(n), TEST])], "5 tests passed"),
  "healthy-by-shell": steps([TEST, ...bugs.flatMap((n) => [fixByShell(n), TEST])], "5 tests passed"),
  "many-files": steps(parts.map((n) => run(`wc -l part${n}.txt`))),
  flaky: steps([run("./flaky.sh"), run("./flaky.sh"), run("./flaky.sh")], "connected"),
  parallel: repeat(() => Array(4).fill(BUILD), 5),
  "unknown-tool": lap([call(["look_up"], { key: "retries" })]),
  "wrong-arguments": lap([call(["exec_command", "Bash", "run_shell_command", "shell", "bash"], { line: 7 })]),
  "missing-image": lap([{ image: "nothing.png" }]),
  "failing-mcp": lap([call(mcp("order"), { item: "pencil" })]),
  "dead-mcp": lap([call(mcp("crash"), { item: "pencil" })]),
  background,
  subagents,
  "healthy-long": steps(hundred),
  cost: steps(hundred.slice(0, 40)),
  "long-results": lap([run("seq 1 300000"), run("seq 2 300000"), run("seq 3 300000")], 9),
  "denied-variants": repeat((n) => [run(`touch made${n}.txt`)], 12),
  "plan-mode": repeat((n) => [n < 12 ? read(`part${n}.txt`) : fix(3)], 12 + TURNS_MAX),
  compaction: afterLong(read("client.conf")),
  "compaction-failing": afterLong(BUILD),
  resumed,
  interrupted: lap([run("./serve.sh")], 1),
  freed,
  deaf: lap([BUILD], DEAF_MAX),
};

/** How long the model thinks, in milliseconds. Where no event reports how a call ended, the hook takes calls
 * within a second for calls that were issued together. */
export const PAUSES = { "failing-edit": 1200 };

/** After how many turns the memory of the model is full. */
export const FULL = { compaction: 2, "compaction-failing": 2 };
