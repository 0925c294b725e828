// The examples of the README that need no framework.

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";

const readme = readFileSync(new URL("node_modules/unstuck/README.md", import.meta.url), "utf8");
const fences = readme.matchAll(/```js\n([\s\S]*?)```\n(?:\n```text\n([\s\S]*?)```)?/g);
const examples = [...fences].filter(([, code]) => code.includes('from "unstuck"'));

test("there are examples", () => assert.ok(examples.length >= 6));

for (const [number, [, code, output]] of examples.entries()) {
  test(`example ${number + 1} works`, async () => {
    const file = new URL(`readme-example-${number}.mjs`, import.meta.url);
    const { log, assert: check } = console;
    const lines = [];
    console.log = (line) => lines.push(line);
    console.assert = (isTrue) => assert.ok(isTrue, code);
    writeFileSync(file, code);
    try {
      await import(file);
    } finally {
      Object.assign(console, { log, assert: check });
      rmSync(file);
    }
    if (output !== undefined) assert.equal(`${lines.join("\n")}\n`, output);
  });
}
