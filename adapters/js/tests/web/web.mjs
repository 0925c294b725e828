// The package in a browser, bundled and not, and in a worker of Cloudflare: `web.mjs CHROMIUM`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { basename, extname, join } from "node:path";
import { gzipSync } from "node:zlib";

import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { chromium } from "playwright-core";

const HERE = import.meta.dirname;

/** What each place runs: a guard before the engine is loaded, a loop, and a recorded run. */
const PROGRAM = `
  import { Guard, init, scan } from "unstuck";

  export async function tried() {
    let early = "no error";
    try {
      new Guard();
    } catch (error) {
      early = error.message;
    }
    await Promise.all([init(), init()]);
    const guard = new Guard();
    const actions = Array.from({ length: 8 }, () => {
      const before = guard.before("read_file", { path: "src/mian.rs" });
      return (before.blocked ? before : guard.after(before.ticket, "no such file", { error: true })).action;
    });
    await init({ full: true });
    const line = '{"type":"call","tool":"bash","args":{"command":"make"},"result":"no rule","is_error":true}\\n';
    return { early, actions, findings: scan(line.repeat(4)).findings.map(String) };
  }
`;

const EXPECTED = {
  actions: ["proceed", "proceed", "nudge", "nudge", "block", "block", "block", "stop"],
  findings: ["\`bash\` 3 times in a row, failing alike"],
};

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript" };

/** Serves this folder on the loopback interface. */
async function served(pages) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    try {
      const body = pages[pathname] ?? (await readFile(join(HERE, pathname)));
      response.setHeader("content-type", TYPES[extname(pathname)] ?? "application/octet-stream").end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

function page(script, map = "") {
  return `<!doctype html><title>unstuck</title><link rel="icon" href="data:,">${map}<script type="module">${script}</script>`;
}

const IMPORTS = {
  unstuck: "/node_modules/unstuck/dist/esm/index.js",
  "#engine": "/node_modules/unstuck/platform/engine-browser.mjs",
  "#full": "/node_modules/unstuck/platform/full-browser.mjs",
};

async function browsers(executablePath) {
  const stdin = { contents: PROGRAM, resolveDir: HERE };
  const bundled = { bundle: true, format: "esm", outdir: join(HERE, "bundled"), splitting: true, minify: true };
  const { metafile } = await build({ ...bundled, stdin, platform: "browser", metafile: true });
  for (const file of Object.keys(metafile.outputs)) {
    const bytes = gzipSync(await readFile(file), { level: 9 }).length;
    const holds = Object.keys(metafile.outputs[file].inputs).map((input) => basename(input));
    console.log(`${basename(file)}: ${bytes} bytes by gzip, of ${holds.length === 1 ? holds[0] : `${holds.length} modules`}`);
  }
  const use = (from) => `import { tried } from ${JSON.stringify(from)}; globalThis.result = tried();`;
  const map = `<script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>`;
  const server = await served({
    "/bundled.html": page(use("/bundled/stdin.js")),
    "/plain.html": page(use("/program.js"), map),
    "/program.js": PROGRAM,
  });
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    for (const name of ["bundled", "plain"]) {
      const tab = await browser.newPage();
      const said = [];
      tab.on("console", (message) => said.push(message.text()));
      tab.on("pageerror", (error) => said.push(String(error)));
      await tab.goto(`${server.origin}/${name}.html`);
      await tab.waitForFunction(() => globalThis.result !== undefined);
      const { early, ...result } = await tab.evaluate(() => globalThis.result);
      assert.deepEqual(result, EXPECTED, name);
      assert.match(early, /the engine is not loaded; call `await init\(\)` first/);
      assert.deepEqual(said, []);
      console.log(`Chromium, ${name}: passed`);
    }
  } finally {
    await browser.close();
    server.close();
  }
}

async function worker() {
  const contents = `${PROGRAM}; export default { fetch: async () => Response.json(await tried()) };`;
  const folder = join(HERE, "worker");
  await build({
    stdin: { contents, resolveDir: HERE },
    bundle: true,
    format: "esm",
    outdir: folder,
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
  });
  const miniflare = new Miniflare({
    modules: true,
    modulesRoot: folder,
    scriptPath: join(folder, "stdin.js"),
    modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
    compatibilityDate: "2026-01-01",
  });
  try {
    const response = await miniflare.dispatchFetch("http://localhost/");
    // There, the engine is loaded when it is first used.
    assert.deepEqual(await response.json(), { early: "no error", ...EXPECTED });
    console.log("workerd: passed");
  } finally {
    await miniflare.dispose();
  }
}

const [program] = process.argv.slice(2);
await browsers(execFileSync("sh", ["-c", 'command -v "$0"', program], { encoding: "utf8" }).trim());
await worker();
