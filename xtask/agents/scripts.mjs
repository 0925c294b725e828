// What the scripted model does. A script takes the conversation and returns the next calls, or a text, which
// ends the turn.

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

/** Loops until it reads a note, and then takes another way. */
function freed({ turns }) {
  const noted = turns.findIndex((turn) => textsOf(turn).includes("[unstuck]"));
  if (noted < 0) return turns.length < TURNS_MAX ? [BUILD] : "I give up.";
  return steps([...Array(noted + 1).fill(BUILD), run("ls"), run("cat client.conf")], "retries")({ recent: turns });
}

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
  freed,
  deaf: lap([BUILD], DEAF_MAX),
};

/** How long the model thinks, in milliseconds. Where no event reports how a call ended, the hook takes calls
 * within a second for calls that were issued together. */
export const PAUSES = { "failing-edit": 1200 };
