// opencode itself, with the plugin in process, with the plugin that runs the program, and without either.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Model, PROGRAM, Place, outline, until } from "./agent-runs.mjs";

const NODE_MODULES = join(dirname(fileURLToPath(import.meta.url)), "node_modules");
const OPENCODE = join(NODE_MODULES, "opencode-ai/bin/opencode.exe");

// The program of this machine takes its place here, if npm ran no scripts.
execFileSync(process.execPath, ["postinstall.mjs"], { cwd: join(NODE_MODULES, "opencode-ai") });

const bash = (command, description = "Shows a file") => ["bash", { command, description }];
const cat = (name, ...rest) => bash(`cat ${name}`, ...rest);
const times = (count, turn) => Array(count).fill(turn);

/** The scripts of the sessions, each with the prompts that the user sends. */
const SCRIPTS = {
  "exit-code": [...times(12, [cat("missing.txt")]), "done"],
  reworded: [...Array.from({ length: 12 }, (_, n) => [cat("missing.txt", `Try ${n}`)]), "done"],
  "thrown-error": [...times(12, [["read", { filePath: "missing.txt" }]]), "done"],
  "unknown-tool": [...times(12, [["write_poem", { about: "loops" }]]), "done"],
  parallel: [...times(3, times(2, cat("missing.txt"))), "done"],
  success: [...times(4, [cat("a.txt")]), "done"],
  "two-in-turns": [...times(8, [[cat("a.txt")], [cat("missing.txt")]]).flat(), "done"],
  healthy: [[cat("a.txt")], [cat("b.txt"), cat("c.txt")], [cat("missing.txt")], [cat("b.txt")], "done"],
  "new-message": [...times(6, [cat("missing.txt")]), "done", ...times(3, [cat("missing.txt")]), "done"],
  compacted: [...times(2, [cat("missing.txt")]), "done", ...times(4, [cat("missing.txt")]), "done"],
  interrupted: [...times(3, [bash("touch started && sleep 60")]), "done"],
  subagent: [
    ...times(2, [["task", { description: "Look", prompt: "script inner", subagent_type: "general" }]]),
    ...times(3, [cat("missing.txt")]),
    "done",
  ],
  // Played by `opencode run`, in two processes.
  continued: [...times(4, [cat("missing.txt")]), "done", ...times(8, [cat("missing.txt")]), "done"],
  inner: [...times(2, [cat("missing.txt")]), "one", ...times(2, [cat("missing.txt")]), "two"],
};

/** What becomes of the calls of each session. */
const EXPECTED = {
  "exit-code": "calls 7 · told 3 5 · refused 6 7 · aborted",
  reworded: "calls 7 · told 3 5 · refused 6 7 · aborted",
  "thrown-error": "calls 7 · told 3 5 · refused 6 7 · aborted",
  "unknown-tool": "calls 7 · told 3 5 · refused 6 7 · aborted",
  "two-in-turns": "calls 11 · told 4 6 8 · refused 9 10 11 · aborted",
  success: "calls 4 · told 3",
  healthy: "calls 5",
  "new-message": "calls 9 · told 3 5 9 · refused 6",
  // The conversation after the compaction has the last four of six calls.
  compacted: "calls 4 · told 1 3 · refused 4",
  interrupted: "calls 3",
  subagent: "calls 5 · told 5",
  inner: "calls 2",
};

/** The requests of an aborted session that count. The abort is not waited for, so that more may follow. */
const REQUESTS = {
  "exit-code": 8,
  reworded: 8,
  "thrown-error": 8,
  "unknown-tool": 8,
  "two-in-turns": 12,
  continued: 9,
};

const CACHE = join(NODE_MODULES, ".cache/opencode");

const VARIABLES = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  XDG_CACHE_HOME: CACHE,
  npm_config_cache: join(CACHE, "npm"),
};

const SETTINGS = {
  autoupdate: false,
  share: "disabled",
  permission: { "*": "allow" },
  model: "scripted/m",
  small_model: "scripted/m",
};

function provider(url) {
  const m = { name: "m", tool_call: true, limit: { context: 128000, output: 4096 } };
  const options = { baseURL: `${url}/v1`, apiKey: "none" };
  return { npm: "@ai-sdk/openai-compatible", name: "scripted", options, models: { m } };
}

/** The files in the folder of plugins, by mode. */
const PLUGINS = {
  process: `export { Unstuck } from "unstuck/opencode";\n`,
  broken: `import { Guard } from "unstuck";
Guard.prototype.before = Guard.prototype.finished = () => {
  throw new Error("a defect");
};
export { Unstuck } from "unstuck/opencode";
`,
};

/** One server of opencode, with everything that was played on it. */
class Server {
  ends = {};

  constructor(mode) {
    this.mode = mode;
    this.place = new Place();
    this.model = new Model(SCRIPTS);
  }

  /** Writes the settings. */
  async prepare() {
    const { place } = this;
    for (const name of ["a", "b", "c"]) place.write(`project/${name}.txt`, `content of ${name}\n`);
    // As `["unstuck", …]` for the package in the registry.
    const plugin = this.mode === "observe" ? [[join(NODE_MODULES, "unstuck"), { observe: true }]] : [];
    const config = { ...SETTINGS, plugin, provider: { scripted: provider(await this.model.start()) } };
    place.write("home/.config/opencode/opencode.json", JSON.stringify(config));
    if (this.mode === "program") {
      const { code, output } = await place.run([PROGRAM, "install", "opencode"]);
      assert.equal(code, 0, output);
    } else if (PLUGINS[this.mode]) {
      place.write("home/.config/opencode/plugin/unstuck.js", PLUGINS[this.mode]);
      // opencode installs packages of its own in this folder, and removes those that the file does not name.
      const dependencies = { unstuck: `file:${join(NODE_MODULES, "unstuck")}` };
      place.write("home/.config/opencode/package.json", JSON.stringify({ dependencies }));
    }
  }

  async start() {
    await this.prepare();
    this.child = this.place.start([OPENCODE, "serve", "--port", "0"], VARIABLES);
    const address = () => /listening on (http:\S+)/.exec(this.child.collected)?.[1];
    this.url = await until(address, "address of opencode");
  }

  async stop() {
    this.child?.kill();
    await this.child?.ended;
    this.model.stop();
    this.place.remove();
  }

  async post(path, body) {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(this.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response.json();
  }

  /** Plays a script in a session of its own, with these messages of the user. */
  async play(name, texts = [`Please play script ${name}.`], { meanwhile, afterwards } = {}) {
    const { id } = await this.post("/session", { title: name });
    for (const [index, text] of texts.entries()) {
      const message = this.post(`/session/${id}/message`, { parts: [{ type: "text", text }] });
      await meanwhile?.(id);
      this.ends[name] = (await message).info.error?.name === "MessageAbortedError";
      if (index === 0) await afterwards?.(id);
    }
  }

  async playAll() {
    const inTurn = ["new-message", "compacted", "interrupted", "continued", "inner"];
    const atOnce = Object.keys(SCRIPTS).filter((name) => !inTurn.includes(name));
    await Promise.all(atOnce.map((name) => this.play(name)));
    const again = (name, count) => times(count, `Please play script ${name}.`);
    await this.play("new-message", [...again("new-message", 1), "The file is there now."]);
    const summarize = (id) => this.post(`/session/${id}/summarize`, { providerID: "scripted", modelID: "m" });
    await this.play("compacted", again("compacted", 2), { afterwards: summarize });
    const meanwhile = (id) => this.interrupt(id);
    await this.play("interrupted", again("interrupted", 4), { meanwhile });
  }

  /** Aborts the session as soon as its command runs, or goes on if there is no command any more. */
  async interrupt(id) {
    const started = join(this.place.project, "started");
    const isOver = () => existsSync(started) || this.model.requests.interrupted.length > 3;
    await until(isOver, "command");
    if (!existsSync(started)) return;
    rmSync(started);
    await this.post(`/session/${id}/abort`, {});
  }

  /** What the model read in a session. */
  read(name) {
    const text = JSON.stringify(this.model.requests[name].slice(0, REQUESTS[name]));
    return JSON.parse(text.replaceAll(this.place.root, "ROOT").replace(/ses_\w+/g, "SESSION"));
  }

  /** The calls of a session, and whether it was aborted: between two messages, no message has the error. */
  outline(name) {
    const isShort = name in REQUESTS && this.model.requests[name].length < SCRIPTS[name].length;
    return outline(this.read(name)) + (this.ends[name] || isShort ? " · aborted" : "");
  }
}


/** Plays all scripts, or only some, on a server of its own. */
async function played(mode, names) {
  const server = new Server(mode);
  try {
    await server.start();
    await (names ? Promise.all(names.map((name) => server.play(name))) : server.playAll());
    return server;
  } finally {
    await server.stop();
  }
}

const alone = await played("alone", ["exit-code", "healthy"]);
const own = await played("process");
const program = PROGRAM && (await played("program"));

for (const [name, expected] of Object.entries(EXPECTED)) {
  test(`${name}: ${expected}`, () => assert.equal(own.outline(name), expected));
}

for (const name of Object.keys(EXPECTED)) {
  test(`${name}: the model reads the same with the program`, { skip: !program }, () => {
    assert.deepEqual(own.read(name), program.read(name));
    assert.equal(own.outline(name), program.outline(name));
  });
}

test("parallel: the calls of one turn are one step", () => {
  // Which of two calls ends first differs.
  const notes = (messages) => JSON.stringify(messages).split("[unstuck]").length - 1;
  const told = (server) => server.read("parallel").map(notes);
  assert.deepEqual(told(own), [0, 0, 0, 1]);
  if (program) assert.deepEqual(told(own), told(program));
});

test("a healthy session is untouched", () => {
  assert.deepEqual(own.read("healthy"), alone.read("healthy"));
});

test("a guard that observes, and a broken one, change nothing", async () => {
  for (const mode of ["observe", "broken"]) {
    const server = await played(mode, ["exit-code", "healthy"]);
    assert.equal(server.model.requests["exit-code"].length, 13);
    assert.deepEqual(server.model.requests, alone.model.requests);
    assert.equal(server.child.collected.split("unstuck: internal error").length - 1, mode === "broken" ? 1 : 0);
  }
});

/** Runs a script with `opencode run`, and once more in a process that continues the session. */
async function continued(mode) {
  const server = new Server(mode);
  const run = (...words) =>
    server.place.run([OPENCODE, "run", ...words, "Please play script continued."], VARIABLES);
  try {
    await server.prepare();
    const ends = [await run(), await run("--continue")];
    return { ends, read: server.read("continued") };
  } finally {
    await server.stop();
  }
}

test("a process that continues a session goes on with its history", async () => {
  const { ends, read } = await continued("process");
  assert.deepEqual(ends.map(({ code }) => code), [0, 1], ends.map(({ output }) => output).join("\n"));
  assert.equal(outline(read), "calls 7 · told 3 5 · refused 6 7");
  if (PROGRAM) assert.deepEqual(read, (await continued("program")).read);
});
