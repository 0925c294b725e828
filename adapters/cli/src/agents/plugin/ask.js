// unstuck, plugin version 1: it notices repeated tool calls and tells the model.
// `unstuck install __AGENT__` writes this file and `unstuck uninstall __AGENT__` removes it. Changes to it
// are lost when it is installed again.

import { spawn } from "node:child_process";

const COMMAND = __COMMAND__;

const TIME_LIMIT_MS = 5000;

// The runs of the program that have not ended.
const running = new Set();

// Tells the program of an event. Returns its answer, which is empty if there is none. Nothing that goes
// wrong here may disturb the agent: it never throws or rejects, and prints nothing.
function ask(event) {
  const run = new Promise((resolve) => {
    let child;
    let out = "";
    const end = (answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => {
      child?.kill("SIGKILL");
      resolve({});
    }, TIME_LIMIT_MS);
    try {
      const [program, ...words] = COMMAND;
      child = spawn(program, words, { stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
      child.on("error", () => end({}));
      child.on("close", () => end(parsed(out)));
      child.stdin.on("error", () => {});
      child.stdout.on("error", () => {});
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (text) => (out += text));
      child.stdin.end(JSON.stringify(event));
    } catch {
      end({});
    }
  });
  running.add(run);
  run.then(() => running.delete(run));
  return run;
}

// Does something for which the agent need not wait, and which may fail.
function quietly(work) {
  Promise.resolve().then(work).catch(() => {});
}

function parsed(text) {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

// Returns the text of a list of content blocks. Blocks without text are written as JSON.
function textOf(blocks) {
  return blocks.map((block) => block.text ?? JSON.stringify(block)).join("\n");
}
