// pi itself, with the extension in process, with the extension that runs the program, and without either.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Model, PROGRAM, Place, outline, until } from "./agent-runs.mjs";

const NODE_MODULES = join(dirname(fileURLToPath(import.meta.url)), "node_modules");
const PI = [process.execPath, join(NODE_MODULES, "@earendil-works/pi-coding-agent/dist/bundle/cli.js")];

const bash = (command, more = {}) => ["bash", { command, ...more }];
const cat = (name) => bash(`cat ${name}`);
const times = (count, turn) => Array(count).fill(turn);

/** The scripts of the sessions. */
const SCRIPTS = {
  "exit-code": [...times(12, [cat("missing.txt")]), "done"],
  reworded: [...Array.from({ length: 12 }, (_, n) => [bash("cat missing.txt", { timeout: 60 + n })]), "done"],
  "missing-file": [...times(12, [["read", { path: "missing.txt" }]]), "done"],
  "unknown-tool": [...times(12, [["write_poem", { about: "loops" }]]), "done"],
  "invalid-arguments": [...times(12, [["read", { file: 7 }]]), "done"],
  parallel: [...times(3, times(2, cat("missing.txt"))), "done"],
  success: [...times(4, [cat("a.txt")]), "done"],
  "two-in-turns": [...times(8, [[cat("a.txt")], [cat("missing.txt")]]).flat(), "done"],
  healthy: [[cat("a.txt")], [cat("b.txt"), cat("c.txt")], [cat("missing.txt")], [cat("b.txt")], "done"],
  "new-message": [...times(6, [cat("missing.txt")]), "done", ...times(3, [cat("missing.txt")]), "done"],
  compacted: [...times(2, [cat("missing.txt")]), "done", ...times(4, [cat("missing.txt")]), "done"],
  interrupted: [...times(3, [bash("touch started && sleep 60")]), "done"],
  "text-only": [...times(5, "I shall look at it."), [cat("a.txt")], "done"],
};

/** What becomes of the calls of each session. A session that was ended has no last answer. */
const EXPECTED = {
  "exit-code": "calls 7 · told 3 5 · refused 6 7 · ended",
  reworded: "calls 7 · told 3 5 · refused 6 7 · ended",
  "missing-file": "calls 7 · told 3 5 · refused 6 7 · ended",
  "two-in-turns": "calls 11 · told 4 6 8 · refused 9 10 11 · ended",
  success: "calls 4 · told 3",
  healthy: "calls 5",
  "new-message": "calls 9 · told 3 5 9 · refused 6",
  // The conversation after the compaction has the last four of six calls.
  compacted: "calls 4 · told 1 3 · refused 4",
  // pi reports a command that the user aborts as a failed one, before it reports the abort.
  interrupted: "calls 3 · told 3",
};

/** The messages of the user, if there is more than one. The same text again is no new instruction. */
const again = (name, count) => times(count, `Please play script ${name}.`);
const TEXTS = {
  "new-message": [...again("new-message", 1), "The file is there now."],
  compacted: again("compacted", 2),
  interrupted: again("interrupted", 4),
  "text-only": again("text-only", 6),
};

const PROVIDER = {
  api: "openai-completions",
  apiKey: "none",
  models: [
    {
      id: "m",
      name: "m",
      reasoning: false,
      input: ["text"],
      contextWindow: 128000,
      maxTokens: 4096,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    },
  ],
};

/** The extensions, by mode. */
const EXTENSIONS = {
  process: `export { default } from "unstuck/pi";\n`,
  observe: `import { unstuck } from "unstuck/pi";\nexport default unstuck({ observe: true });\n`,
  broken: `import { Guard } from "unstuck";
Guard.prototype.before = Guard.prototype.finished = () => {
  throw new Error("a defect");
};
export { default } from "unstuck/pi";
`,
};

/** One home, with everything that was played in it. */
class Played {
  lines = [];

  constructor(mode) {
    this.mode = mode;
    this.place = new Place();
    this.model = new Model(SCRIPTS);
  }

  async start() {
    const { place, mode } = this;
    for (const name of ["a", "b", "c"]) place.write(`project/${name}.txt`, `content of ${name}\n`);
    const scripted = { ...PROVIDER, baseUrl: `${await this.model.start()}/v1` };
    place.write("home/.pi/agent/models.json", JSON.stringify({ providers: { scripted } }));
    const compaction = { enabled: false, keepRecentTokens: 1 };
    // As `pi install npm:unstuck` writes it for the package in the registry.
    const packages = mode === "package" ? [join(NODE_MODULES, "unstuck")] : [];
    place.write("home/.pi/agent/settings.json", JSON.stringify({ compaction, packages }));
    if (mode === "program") {
      const { code, output } = await place.run([PROGRAM, "install", "pi"]);
      assert.equal(code, 0, output);
    } else if (EXTENSIONS[mode]) {
      place.write("home/.pi/agent/extensions/unstuck.js", EXTENSIONS[mode]);
      mkdirSync(join(place.home, ".pi/agent/node_modules"));
      symlinkSync(join(NODE_MODULES, "unstuck"), join(place.home, ".pi/agent/node_modules/unstuck"));
    }
  }

  stop() {
    this.model.stop();
    this.place.remove();
  }

  command(...words) {
    return [...PI, "--provider", "scripted", "--model", "m", ...words];
  }

  /** Plays a script in a process of its own, with its messages of the user. */
  async play(name) {
    const child = this.place.start(this.command("--mode", "rpc"), { PI_OFFLINE: "1" });
    const send = (command) => child.stdin.write(`${JSON.stringify(command)}\n`);
    const turns = () => child.collected.split('\n{"type":"agent_settled"').length - 1;
    for (const [index, message] of (TEXTS[name] ?? again(name, 1)).entries()) {
      send({ type: "prompt", message });
      if (name === "interrupted") await this.interrupt(send);
      await until(() => turns() > index, `end of ${name}: ${child.collected}`);
      if (name === "compacted" && index === 0) {
        send({ type: "compact", id: "compact" });
        const answer = () => /^.*"id":"compact".*$/m.exec(child.collected)?.[0];
        assert.match(await until(answer, "compaction"), /"success":true/);
      }
    }
    child.stdin.end();
    const { code, output } = await child.ended;
    assert.equal(code, 0, output);
    this.lines.push(...output.split("\n").filter((line) => line.includes('"method":"notify"')));
  }

  /** Aborts the turn as soon as its command runs, or goes on if there is no command any more. */
  async interrupt(send) {
    const started = join(this.place.project, "started");
    await until(() => existsSync(started) || this.model.requests.interrupted.length > 3, "command");
    if (!existsSync(started)) return;
    rmSync(started);
    send({ type: "abort" });
  }

  /** What the model read in a session. */
  read(name) {
    return JSON.parse(JSON.stringify(this.model.requests[name]).replaceAll(this.place.root, "ROOT"));
  }

  outline(name) {
    const requests = this.read(name);
    const isOver = SCRIPTS[name].length === requests.length;
    return outline(requests) + (isOver ? "" : " · ended");
  }
}

/** Plays scripts in a home of their own, a few at a time. */
async function played(mode, names = Object.keys(SCRIPTS)) {
  const run = new Played(mode);
  try {
    await run.start();
    const left = [...names];
    const next = async () => {
      for (let name; (name = left.shift()) !== undefined; ) await run.play(name);
    };
    await Promise.all([next(), next(), next()]);
    return run;
  } finally {
    run.stop();
  }
}

const alone = await played("alone", ["exit-code", "healthy"]);
const own = await played("process");
const program = PROGRAM && (await played("program"));

for (const [name, expected] of Object.entries(EXPECTED)) {
  test(`${name}: ${expected}`, () => assert.equal(own.outline(name), expected));
}

for (const name of Object.keys(SCRIPTS).filter((name) => name !== "parallel")) {
  test(`${name}: the model reads the same with the program`, { skip: !program }, () => {
    assert.deepEqual(own.read(name), program.read(name));
    assert.equal(own.outline(name), program.outline(name));
  });
}

test("parallel: the calls of one turn are one step", () => {
  // Which of two calls ends first differs.
  const notes = (messages) => JSON.stringify(messages).split("[unstuck]").length - 1;
  const told = (run) => run.read("parallel").map(notes);
  assert.deepEqual(told(own), [0, 0, 0, 1]);
  if (program) assert.deepEqual(told(own), told(program));
});

test("the user reads what was refused", () => {
  assert.ok(own.lines.some((line) => line.includes("Refused a call: `bash` 6 times in a row")), own.lines.join("\n"));
  assert.ok(own.lines.some((line) => line.includes("Ended the turn: `bash` 8 times in a row")));
});

test("a healthy session is untouched", () => {
  assert.deepEqual(own.read("healthy"), alone.read("healthy"));
});

test("a guard that observes, and a broken one, change nothing", async () => {
  for (const mode of ["observe", "broken"]) {
    const run = await played(mode, ["exit-code", "healthy"]);
    assert.deepEqual(run.model.requests, alone.model.requests);
  }
});

test("pi -p ends without an error, and takes the package as well", async () => {
  const run = new Played("package");
  try {
    await run.start();
    const { code, output } = await run.place.run(run.command("-p", ...again("exit-code", 1)), { PI_OFFLINE: "1" });
    assert.equal(code, 0, output);
    assert.equal(run.outline("exit-code"), EXPECTED["exit-code"]);
  } finally {
    run.stop();
  }
});
