// Opens pages of `unstuck scan --format html` in Chromium and checks what only a browser can tell.
//
// page.mjs CHROMIUM FILE… prints a line for each check that fails, then a line for each page. It exits
// with 1 if one failed. `--picture FILE OUT SELECTOR` takes a picture instead.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [program, ...files] = process.argv.slice(2);
const path = execFileSync("sh", ["-c", 'command -v "$0"', program], { encoding: "utf8" }).trim();
const browser = await chromium.launch({ executablePath: path, args: ["--no-sandbox"] });
let failures = 0;

function fail(where, what) {
  failures += 1;
  console.log(`failed: ${where}: ${what}`);
}

// Opens `file` and notes everything that a page must not do.
async function open(file, where, options) {
  const page = await browser.newPage({ bypassCSP: false, ...options });
  page.on("console", (message) => fail(where, `console: ${message.text()}`));
  page.on("pageerror", (error) => fail(where, `script: ${error.message}`));
  page.on("dialog", async (dialog) => { fail(where, `dialog: ${dialog.message()}`); await dialog.dismiss(); });
  page.on("request", (request) => {
    if (request.url() !== page.url() && !request.url().startsWith(`file://${file}`)) fail(where, `request: ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  return page;
}

async function looks(file) {
  for (const width of [400, 800, 1400]) {
    for (const colorScheme of ["light", "dark"]) {
      const where = `${file} at ${width} ${colorScheme}`;
      const page = await open(file, where, { viewport: { width, height: 900 }, colorScheme });
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (over > 0) fail(where, `scrolls ${over} pixels to the side`);
      await page.close();
    }
  }
}

async function reads(file) {
  for (const colorScheme of ["light", "dark"]) {
    const where = `${file} by axe, ${colorScheme}`;
    // The page's policy forbids other scripts, so this one page is opened without it.
    const page = await open(file, where, { viewport: { width: 1000, height: 900 }, colorScheme, bypassCSP: true });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run(document));
    for (const { id, impact, nodes } of violations) {
      if (impact === "serious" || impact === "critical") fail(where, `${impact}: ${id}: ${nodes[0].html.slice(0, 200)} (${nodes.length} times)`);
    }
    await page.close();
  }
}

async function works(file) {
  const page = await open(file, file, { viewport: { width: 1000, height: 900 } });
  const shown = () => page.locator(".runs tbody tr:visible").count();
  const all = await page.locator(".runs tbody tr").count();
  const stuck = await page.locator(".runs tbody tr[data-stuck]").count();
  const expect = (what, found, wanted) => { if (found !== wanted) fail(file, `${what}: ${found} instead of ${wanted}`); };
  expect("rows", await shown(), all);
  await page.locator("#stuck").check();
  expect("stuck rows", await shown(), stuck);
  await page.locator("#stuck").uncheck();
  await page.keyboard.press("/");
  await page.keyboard.type("no run has this text");
  expect("filtered rows", await shown(), 0);
  await page.locator("#filter").fill("");
  await page.keyboard.press("Escape");
  const calls = page.locator(".runs thead th button").nth(3);
  await calls.click();
  await calls.click();
  const numbers = await page.locator(".runs tbody tr td:nth-of-type(3)").allTextContents();
  const sorted = [...numbers].sort((a, b) => b - a);
  expect("rows by calls", numbers.join(), sorted.join());
  await page.keyboard.press("?");
  expect("help", await page.locator("#help").isVisible(), true);
  await page.keyboard.press("Escape");
  const parts = await page.locator(".run").count();
  if (parts > 1) {
    // Each press of a key goes to the next part, and back.
    const top = (at) => page.locator(".run").nth(at).evaluate((part) => Math.abs(part.getBoundingClientRect().top) < 8);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    expect("the second run after j j", (await top(1)) || (await top(parts - 1)), true);
    await page.keyboard.press("k");
    expect("the first run after k", await top(0), true);
  }
  await page.close();
}

async function worksWithoutScripts(file) {
  const page = await open(file, `${file} without scripts`, { javaScriptEnabled: false });
  const hidden = await page.locator(".runs tbody tr:not(:visible), .run:not(:visible)").count();
  if (hidden > 0) fail(file, `${hidden} parts are hidden without scripts`);
  await page.close();
}

if (files[0] === "--picture") {
  const [, file, out, selector] = files;
  const page = await open(file, file, { viewport: { width: 1000, height: 900 }, bypassCSP: true });
  // Parts that were not drawn yet would move the picture.
  await page.addStyleTag({ content: ".run { content-visibility: visible !important; padding: 0 16px 16px; }" });
  await page.locator(selector).first().screenshot({ path: out });
} else {
  for (const file of files) {
    const begin = performance.now();
    await (await open(file, file, {})).close();
    const opened = Math.round(performance.now() - begin);
    await looks(file);
    await reads(file);
    await works(file);
    await worksWithoutScripts(file);
    console.log(`${file}: ${Math.round(statSync(file).size / 1024)} KiB, opened in ${opened} ms`);
  }
}
await browser.close();
process.exit(failures > 0 ? 1 : 0);
