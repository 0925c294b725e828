// Puts the page `unstuck.html` together: one file with the engine inside, and a content security policy that forbids
// everything else.
//
// assemble.mjs WASM GLUE VERSION PAGE runs at the root of the project. GLUE is that of `wasm-bindgen` for the target `web`.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const [wasm, glue, version, page] = process.argv.slice(2);
const text = (path) => readFileSync(path, "utf8");
const own = (name) => text(`adapters/wasm/page/${name}`);
// The style and the script of the report are those of `unstuck scan --format html`.
const report = (name) => text(`adapters/report/src/html/${name}`);
const hash = (part) => createHash("sha256").update(part).digest("base64");

// A module as a script, because a page that is opened from a file can start no other thread than that of a script.
function withoutExports(module) {
  const lines = module.split(/(?<=\n)/).filter((line) => !line.startsWith("export {"));
  return lines.map((line) => line.replace(/^export /, "").replace(/\n?$/, "\n")).join("");
}

const style = report("report.css") + own("page.css");
const script = own("page.js").replaceAll("{{report}}", () => report("report.js"));
const parts = {
  policy:
    `default-src 'none'; style-src 'sha256-${hash(style)}'; script-src 'sha256-${hash(script)}' 'wasm-unsafe-eval'; ` +
    "worker-src blob:; base-uri 'none'; form-action 'none'",
  version,
  style,
  script,
  // The script of the thread, which the page runs from a blob.
  worker: withoutExports(text(glue)) + own("worker.js"),
  // The run behind the button "Try an example".
  sample: text("adapters/trace/runs/native/stuck-same-test.jsonl"),
  engine: readFileSync(wasm).toString("base64"),
};

function part(name) {
  if (!Object.hasOwn(parts, name)) throw new Error(`there is no part ${name}`);
  if (/<\/|<!--/.test(parts[name])) throw new Error(`the part ${name} has a text that ends its element`);
  return parts[name];
}

writeFileSync(page, own("page.html").replaceAll(/{{(.*?)}}/gs, (_, name) => part(name)));
