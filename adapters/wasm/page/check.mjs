// Opens `unstuck.html` in Chromium, drops runs onto it, and compares it with the program.
//
// check.mjs CHROMIUM PAGE UNSTUCK FOLDER prints a line for each check that fails, then a line of numbers. It exits with 1
// if one failed. FOLDER has recorded runs. `--pictures OUT` at the end writes pictures for people, too.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [program, file, unstuck, folder, , pictures] = process.argv.slice(2);
const path = execFileSync("sh", ["-c", 'command -v "$0"', program], { encoding: "utf8" }).trim();
const browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox"] });
// The runs, by their paths as `unstuck scan` names them.
const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".jsonl") || name.endsWith(".json")).sort();
let failures = 0;

function fail(where, what) {
  failures += 1;
  console.log(`failed: ${where}: ${String(what).slice(0, 400)}`);
}

function expect(where, found, wanted) {
  if (found !== wanted) fail(where, `${found} instead of ${wanted}`);
}

// Opens the page and notes everything that it must not do.
async function open(where, options) {
  const page = await browser.newPage({ acceptDownloads: true, ...options });
  page.on("console", (message) => fail(where, `console: ${message.text()}`));
  page.on("pageerror", (error) => fail(where, `script: ${error.message}`));
  page.on("dialog", async (dialog) => { fail(where, `dialog: ${dialog.message()}`); await dialog.dismiss(); });
  page.on("request", (request) => {
    if (!request.url().startsWith(`file://${file}`) && !request.url().startsWith("blob:")) fail(where, `request: ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  await page.waitForSelector("body[data-ready]");
  return page;
}

// Drops files, each with a name and a text or a number of bytes.
async function drop(page, dropped) {
  await page.evaluate((dropped) => {
    const transfer = new DataTransfer();
    for (const { name, text, bytes } of dropped) transfer.items.add(new File([text ?? new Uint8Array(bytes)], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, dropped);
}

// Waits until everything is judged, drawn and compared.
async function settled(page) {
  await page.waitForFunction(() => {
    const isBusy = document.querySelector("#report").getAttribute("aria-busy") === "true";
    const isJudging = document.querySelector("#changes").textContent.startsWith("Judging");
    return !isBusy && !isJudging && document.querySelector("#progress").textContent === "";
  }, undefined, { timeout: 120_000 });
}

// Returns the runs that the page saves as JSON lines.
async function saved(page) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  const text = readFileSync(await download.path(), "utf8");
  return text.split("\n").filter((line) => line).map((line) => JSON.parse(line));
}

function scanned(...options) {
  const args = ["scan", "--format", "jsonl", "--fail-on", "never", ...options, folder];
  const lines = execFileSync(unstuck, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 30 });
  const runs = lines.split("\n").filter((line) => line).map((line) => JSON.parse(line));
  return runs.map((run) => ({ ...run, path: run.path.slice(folder.length).replace(/^\//, "") }));
}

const texts = files.map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));

async function agreesWithTheProgram() {
  const page = await open("verdicts");
  await drop(page, texts);
  await settled(page);
  const names = await page.locator("#preset option").allTextContents();
  for (const name of names) {
    await page.selectOption("#preset", name);
    await settled(page);
    const [found, wanted] = [await saved(page), scanned("--preset", name)];
    expect(`runs by ${name}`, found.length, wanted.length);
    const of = new Map(found.map((run) => [run.path, JSON.stringify(run)]));
    for (const run of wanted) expect(`${run.path} by ${name}`, of.get(run.path), JSON.stringify(run));
    const stuck = wanted.filter(({ findings }) => findings.length > 0).length;
    expect(`stuck rows by ${name}`, await page.locator(".runs tr[data-stuck]").count(), stuck);
  }
  await page.close();
}

async function showsWhatChanges() {
  const page = await open("policy");
  const changes = () => page.locator("#changes").innerText();
  const edit = async (text) => {
    await page.fill("#toml", text);
    await page.waitForTimeout(450);
    await settled(page);
  };
  await drop(page, texts);
  await settled(page);
  expect("no change", await changes(), "The loops and actions are the same as with balanced.");
  const preset = await page.inputValue("#toml");
  expect("the policy can be edited", preset.includes('name = "same-effect"'), true);
  await edit('preset = "balanced"\n[tools.shell]\nexempt = true\n');
  expect("an edited policy has a name of its own", await page.inputValue("#preset"), "your edits");
  const without = await saved(page);
  expect("an exempt tool has no loop", without.some(({ findings }) => findings.some(({ tool }) => tool === "shell")), false);
  const shown = await changes();
  if (!/\d+ loops? gone/.test(shown) || !/Stuck runs: \d+ → \d+\./.test(shown)) fail("loops that went", shown);
  await edit(preset.replace("times = 3", "times = 4"));
  expect("the policy can work", await page.locator("#wrong").innerText(), "");
  if (!/at call #\d+ \(.*\) → /.test(await changes())) fail("loops that are judged later", await changes());
  await page.selectOption("#against", "the policy before");
  await settled(page);
  if (!/\d+ new loops?/.test(await changes())) fail("loops that came", await changes());
  await page.selectOption("#against", "openhands");
  await settled(page);
  if (!(await changes()).includes("Stuck runs")) fail("another policy to compare with", await changes());
  await page.locator("#changes a").first().click();
  expect("a link to a run", await page.evaluate(() => document.querySelector(`${location.hash}.run`) !== null), true);
  await edit('preset = "balanced"\n# 🎉\nexempt = ["shell", "nothing"]\n');
  const wrong = await page.locator("#wrong").innerText();
  if (!wrong.startsWith("Line 3, column 20: ") || !wrong.includes('3 | exempt = ["shell", "nothing"]')) fail("a mistake", wrong);
  await page.click("#wrong button");
  const selected = () => page.locator("#toml").evaluate((area) => area.value.slice(area.selectionStart).slice(0, 9));
  expect("the place of the mistake", await selected(), '"nothing"');
  await page.selectOption("#preset", "balanced");
  await settled(page);
  expect("the mistake is gone", await page.locator("#wrong").innerText(), "");
  await page.selectOption("#preset", "your edits");
  if (!(await page.inputValue("#toml")).includes("nothing")) fail("edits", "are lost");
  await page.close();
}

async function takesRunsInEveryWay() {
  const page = await open("inputs");
  const rows = async (what, wanted) => {
    const has = (wanted) => document.querySelectorAll(".runs tbody tr").length === wanted;
    await page.waitForFunction(has, wanted, { timeout: 20_000 }).catch(() => fail(what, `not ${wanted} rows`));
    await settled(page);
  };
  await page.click("#example");
  await settled(page);
  expect("the example is stuck", await page.locator(".runs tr[data-stuck]").count(), 1);
  await page.click(".adding .paste");
  await page.fill("#pasted", texts[0].text);
  await page.click('#pasting button[value="read"]');
  await rows("a pasted run is added", 2);
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  }, texts[1].text);
  await rows("the clipboard is read", 3);
  await page.setInputFiles("#pick-files", join(folder, files[0]));
  await settled(page);
  await page.setInputFiles("#pick-files", join(folder, files[0]));
  await rows("a file is added once", 4);
  await page.click("#clear");
  expect("all are removed", await page.locator("#start").isVisible(), true);
  // As a person drags a folder from the desktop.
  const session = await page.context().newCDPSession(page);
  const drag = (type, path) => session.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data: { items: [], files: [path], dragOperationsMask: 1 } });
  await drag("dragEnter", folder);
  await drag("dragOver", folder);
  expect("the page says that it takes what is dragged", await page.locator("#veil").isVisible(), true);
  await drag("drop", folder);
  await rows("a folder is dropped", scanned().length);
  expect("nothing is dragged any more", await page.locator("#veil").isVisible(), false);
  expect("a dropped folder has its names", (await saved(page)).some(({ path }) => path === `${basename(folder)}/${files[0]}`), true);
  for (const type of ["dragEnter", "dragOver", "drop"]) await drag(type, createRequire(import.meta.url).resolve("axe-core/axe.min.js"));
  await page.getByText("1 input could not be read").waitFor({ timeout: 20_000 }).catch(() => fail("a dropped file", "is not read"));
  await page.click("#clear");
  await page.setInputFiles("#pick-folder", folder);
  await rows("a folder is read", scanned().length);
  const [policy] = await Promise.all([page.waitForEvent("download"), page.click("#keep")]);
  expect("the policy is saved", readFileSync(await policy.path(), "utf8"), await page.inputValue("#toml"));
  await page.locator("#report").focus();
  await page.keyboard.press("j");
  expect("j goes to a run", (await page.evaluate(() => scrollY)) > 0, true);
  await page.keyboard.press("t");
  await page.locator("#toml").focus();
  await page.keyboard.type("jjj");
  expect("typing is no key", await page.evaluate(() => scrollY), 0);
  await page.close();
}

const LURE = `</script></textarea><img src=x onerror=alert(1)><b>&amp;"'\u202Egnp`;

async function survivesHostileInputs() {
  const page = await open("hostile");
  const call = (n, tool = "t") => JSON.stringify({ type: "call", tool, args: { lure: LURE }, result: `${LURE} ${n}`, is_error: true });
  const lines = (count, line) => Array.from({ length: count }, (_, n) => line(n)).join("\n");
  await drop(page, [
    { name: `${LURE}.jsonl`, text: lines(9, (n) => call(0, `<i>${LURE}`)) },
    { name: "broken.json", text: '{"messages": [{"role": "user", "content": "' },
    { name: "binary.jsonl", bytes: 1 << 20 },
    { name: "empty.jsonl", text: "" },
    { name: "deep.json", text: `{"messages": ${"[".repeat(100_000)}` },
    { name: "partly.jsonl", text: `${lines(9, call)}\n{"type": "call", "tool": 7}\n{{{\n` },
    { name: "many-workers.jsonl", text: lines(5000, (n) => JSON.stringify({ type: "call", tool: "t", args: n, worker: `w${n}` })) },
    { name: "long.jsonl", text: lines(100_000, (n) => call(n % 7)) },
  ]);
  await settled(page);
  expect("hostile runs", await page.locator(".runs tbody tr").count(), 4);
  expect("hostile inputs that are no run", (await page.locator("summary", { hasText: "could not be read" }).innerText()), "4 inputs could not be read");
  expect("elements of recordings", await page.locator("main img, main b:text('&amp;')").count(), 0);
  await page.selectOption("#preset", "openhands");
  await settled(page);
  const shown = await page.evaluate(() => document.body.innerText);
  expect("marks of direction", shown.includes("\u202E"), false);
  expect("elements of recordings in the changes", await page.locator("#changes img, #changes i").count(), 0);
  await page.close();
}

async function staysUsable() {
  const page = await open("large");
  const line = JSON.stringify({ type: "call", tool: "bash", args: { command: "make" }, result: "x ".repeat(150) });
  const large = Array.from({ length: 100_000 }, () => line).join("\n");
  await page.evaluate((text) => { window.large = new File([text], "large.jsonl"); }, large);
  const begin = performance.now();
  const measured = page.evaluate(() => new Promise((done) => {
    let [last, longest] = [performance.now(), 0];
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
      if (document.querySelector(".runs")) { clearInterval(timer); done(Math.round(longest)); }
    }, 5);
  }));
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.items.add(window.large);
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
  });
  // Edits while the engine is busy: only the last one counts.
  for (const name of ["nudge", "openhands", "repeat"]) await page.selectOption("#preset", name);
  const longest = await measured;
  await settled(page);
  expect("the last policy counts", (await saved(page))[0].findings.length > 0, true);
  const time = Math.round(performance.now() - begin);
  // The engine fails on the run that it is reading. The others are judged.
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([window.large], "defect.jsonl"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
  });
  await page.waitForFunction(() => document.querySelector("#progress").textContent.startsWith("Reading run 2"));
  await page.evaluate("worker.dispatchEvent(new ErrorEvent('error', { message: 'a test' }))");
  await settled(page);
  expect("the other run", await page.locator(".runs tbody tr").count(), 1);
  await page.locator("summary", { hasText: "1 input could not be read" }).click();
  expect("the defect is shown", await page.getByText("unstuck crashed on this run. Please report this bug: a test").isVisible(), true);
  await page.close();
  return { time, longest };
}

async function hasLimits() {
  const page = await open("limits");
  await page.evaluate((text) => {
    const transfer = new DataTransfer();
    const piece = new Blob([new Uint8Array(1 << 20)]);
    transfer.items.add(new File(Array.from({ length: 1025 }, () => piece), "large.jsonl"));
    for (let n = 0; n < 5001; n += 1) transfer.items.add(new File([text], `${n}.jsonl`));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true }));
  }, JSON.stringify({ type: "call", tool: "t", args: 1 }));
  await page.waitForFunction(() => document.querySelectorAll(".runs tbody tr").length === 5000, undefined, { timeout: 120_000 });
  const notes = await page.locator("#notes").innerText();
  for (const note of ["1 file larger than 1 GiB left out (large.jsonl): use unstuck scan.", "1 file left out: at most 5000 are read here"]) {
    if (!notes.includes(note)) fail(note, notes);
  }
  await page.close();
}

async function saysWhyItCannotWork() {
  const page = await browser.newPage();
  await page.addInitScript(() => { WebAssembly.compile = () => Promise.reject(new Error("a test")); });
  await page.goto(`file://${file}`);
  await page.getByText("This browser cannot run the engine: a test").waitFor({ timeout: 10_000 }).catch(() => fail("no engine", "no message"));
  await page.close();
  const other = await open("a thread that ends");
  await other.evaluate("worker.dispatchEvent(new ErrorEvent('error', { message: 'a test' }))");
  expect("a thread that ends", await other.locator("#progress").innerText(), "The engine has stopped: a test. Reload the page.");
  await other.close();
}

// The policy of the page forbids what a script of a recording would do.
async function forbidsConnections() {
  const page = await browser.newPage();
  await page.goto(`file://${file}`);
  const done = await page.evaluate(async () => {
    const works = async (what) => { try { return await what(); } catch { return false; } };
    const loads = (name, place) => new Promise((done) => {
      const element = Object.assign(document.createElement(name), { onload: () => done(true), onerror: () => done(false), ...place });
      document.body.append(element);
    });
    return {
      fetch: await works(async () => (await fetch("http://127.0.0.1:9/"), true)),
      image: await loads("img", { src: "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7" }),
      script: await loads("script", { src: "data:text/javascript,window.ran=1" }),
      eval: await works(() => eval("true")),
      inline: await works(() => { document.body.append(Object.assign(document.createElement("script"), { textContent: "window.ran = 1" })); return window.ran === 1; }),
    };
  });
  for (const [what, worked] of Object.entries(done)) expect(`${what} is forbidden`, worked, false);
  await page.close();
}

async function looks() {
  for (const width of [400, 800, 1400]) {
    for (const colorScheme of ["light", "dark"]) {
      const where = `${width} ${colorScheme}`;
      const page = await open(where, { viewport: { width, height: 900 }, colorScheme });
      const over = async (state) => {
        const pixels = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (pixels > 0) fail(where, `${state} scrolls ${pixels} pixels to the side`);
        if (pictures) await page.screenshot({ path: join(pictures, `${state}-${width}-${colorScheme}.png`) });
      };
      await over("empty");
      await drop(page, texts);
      await settled(page);
      await over("runs");
      await page.locator("#policy").evaluate((details) => { details.open = true; });
      await page.fill("#toml", 'preset = "balanced"\n[tools.shell]\nexempt = true\n');
      await page.waitForTimeout(450);
      await settled(page);
      await over("edited");
      await page.close();
    }
  }
}

async function reads() {
  for (const colorScheme of ["light", "dark"]) {
    // The page's policy forbids other scripts, so this one page is opened without it.
    const page = await open(`axe, ${colorScheme}`, { viewport: { width: 1200, height: 900 }, colorScheme, bypassCSP: true });
    await page.evaluate(axe);
    const check = async (state) => {
      const { violations } = await page.evaluate(() => axe.run(document));
      for (const { id, impact, nodes } of violations) fail(`axe, ${state}, ${colorScheme}`, `${impact}: ${id}: ${nodes[0].html.slice(0, 200)} (${nodes.length} times)`);
    };
    await check("empty");
    await drop(page, texts);
    await settled(page);
    await check("runs");
    await page.selectOption("#preset", "openhands");
    await settled(page);
    await page.fill("#toml", "wrong");
    await page.waitForSelector("#wrong button");
    await check("changes and a mistake");
    await page.click(".adding .paste");
    await check("a dialog");
    await page.close();
  }
}

const begin = performance.now();
await (await open("start")).close();
const opened = Math.round(performance.now() - begin);
await agreesWithTheProgram();
await showsWhatChanges();
await takesRunsInEveryWay();
await survivesHostileInputs();
const { time, longest } = await staysUsable();
await hasLimits();
await saysWhyItCannotWork();
await forbidsConnections();
await looks();
await reads();
console.log(`${file}: ${Math.round(statSync(file).size / 1024)} KiB, opened in ${opened} ms; ${texts.length} runs; 100,000 calls in ${time} ms, and the page waits at most ${longest} ms`);
await browser.close();
process.exit(failures > 0 ? 1 : 0);
