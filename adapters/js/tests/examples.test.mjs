// The example `loops.mjs`: at which turn each agent hears a word first, and what becomes of it.

import assert from "node:assert/strict";
import { test } from "node:test";

const FIRST_AND_LAST = {
  "the same call again and again": "turn 3, nudge … turn 8, stop",
  "two calls in turns": "turn 4, nudge … turn 12, stop",
  "variants that all meet one error": "turn 4, nudge … turn 6, warn",
  "tests that keep failing alike": "turn 6, nudge … turn 8, warn",
  "talk without action": "turn 3, nudge … turn 5, warn",
  "an agent that gets on": "nothing to say",
};

test("each loop is found, and nothing else", async () => {
  const { log } = console;
  const agents = [];
  console.log = (text) => agents.push(text);
  try {
    await import("./loops.mjs");
  } finally {
    console.log = log;
  }
  const heard = agents.map((text) => {
    const [name, ...lines] = text.split("\n");
    const words = lines.map((line) => line.trim().split(":")[0]);
    return [name.slice(0, -1), words.length > 1 ? `${words[0]} … ${words.at(-1)}` : words[0]];
  });
  assert.deepEqual(Object.fromEntries(heard), FIRST_AND_LAST);
});
