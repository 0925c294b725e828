// The tools of each client: a step of a script becomes a call with the client's names.

import { resolve } from "node:path";

const SHELLS = ["Bash", "run_shell_command", "exec_command", "shell_command", "shell", "bash", "exec"];
const READERS = ["Read", "read_file", "read", "view"];
const EDITORS = ["Edit", "replace", "edit", "apply_patch"];

/** The tools that start a subagent, each with the kind of one that may do everything. */
const KINDS = { Agent: "general-purpose", agent: "general-purpose", invoke_agent: "generalist", task: "general" };

/** The names that clients give to the same parameter. */
const PATH = ["file_path", "filePath", "absolute_path", "path"];
const OLD = ["old_string", "oldString", "old_str", "oldText"];
const NEW = ["new_string", "newString", "new_str", "newText"];
const COMMAND = ["command", "cmd"];
const PATCH = ["patchText", "input", "patch"];
const KIND = ["subagent_type", "agent_type", "agent_name"];
/** Worded anew at each call, as models do. */
const REWORDED = ["description", "instruction"];

/** Returns whether it is the main request of a client that declares these tools. Another asks for a title, for example. */
export const isMain = (tools) => Object.keys(tools).some((name) => SHELLS.includes(name) || READERS.includes(name));

const first = (names, among) => names.find((name) => among.includes(name));

/** The call that a step becomes: `{ name, args, form }`. `place` is `{ tools, project, turn }`. */
export function toolCall(place, step) {
  const [kind, wanted] = Object.entries(step)[0];
  const why = step.why ?? `Step ${place.turn + 1}`;
  return { run, read, image, edit, delegate, call }[kind]({ ...place, why }, wanted);
}

/** A call of the first of these tools that the client declares, as it is. A tool may be there without a declaration:
 * Codex has those of MCP servers in spaces with a name, others by their first name here. */
function call({ tools }, { names, args }) {
  const hidden = tools.exec_command ? names.at(-1) : names[0];
  const path = (first(names, Object.keys(tools)) ?? hidden).split("/");
  return { name: path.at(-1), args, form: "function", space: path.at(-2) };
}

/** A call with the fields that the tool declares. `values` are pairs of possible names and a value. */
function filled({ tools, why }, name, values) {
  const { fields } = tools[name];
  const args = {};
  for (const [names, value] of values) args[first(names, fields) ?? names[0]] = value;
  for (const name of REWORDED.filter((name) => fields.includes(name))) args[name] = why;
  if (fields.includes("is_background")) args.is_background = false;
  return { name, args, form: "function" };
}

function run(place, command) {
  const name = first(SHELLS, Object.keys(place.tools));
  // Codex in Code Mode: the model writes a program.
  if (name === "exec") return program(`tools.exec_command(${JSON.stringify({ cmd: command })})`);
  return filled(place, name, [[COMMAND, command]]);
}

const program = (call) => ({ name: "exec", args: `text(await ${call});`, form: "custom" });

function read(place, path) {
  const name = first(READERS, Object.keys(place.tools));
  if (!name) return run(place, `cat ${path}`);
  return filled(place, name, [[PATH, resolve(place.project, path)]]);
}

function image(place, path) {
  return place.tools.view_image ? filled(place, "view_image", [[["path"], path]]) : read(place, path);
}

/** A call that starts a subagent. Codex declares no tool for it until the model has searched for one. */
function delegate(place, { part, prompt }) {
  const name = first(Object.keys(KINDS), Object.keys(place.tools));
  if (!name) return { name: "spawn_agent", args: { message: prompt }, form: "function", space: "multi_agent_v1" };
  const { fields } = place.tools[name];
  // Two clients call their tool `task`.
  const kind = fields.includes("agent_type") ? "general-purpose" : KINDS[name];
  const args = [[["prompt"], prompt], [KIND, kind], ...(fields.includes("name") ? [[["name"], `part-${part}`]] : [])];
  return filled({ ...place, why: `Part ${part}` }, name, args);
}

function edit(place, { path, old, now }) {
  const { tools, project } = place;
  const name = first(EDITORS, Object.keys(tools));
  const patch = `*** Begin Patch\n*** Update File: ${path}\n@@\n-${old}\n+${now}\n*** End Patch\n`;
  if (!name) return program(`tools.apply_patch(${JSON.stringify(patch)})`);
  if (name === "apply_patch" && tools[name].form === "custom") return { name, args: patch, form: "custom" };
  const file = [PATH, resolve(project, path)];
  if (name === "apply_patch") return filled(place, name, [[PATCH, patch]]);
  if (tools[name].fields.includes("edits")) {
    return filled(place, name, [file, [["edits"], [{ oldText: old, newText: now }]]]);
  }
  return filled(place, name, [file, [OLD, old], [NEW, now]]);
}
