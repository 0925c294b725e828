// The tools of each client: a step of a script becomes a call with the client's names.

const SHELLS = ["Bash", "run_shell_command", "exec_command", "shell_command", "shell", "bash", "exec"];
const READERS = ["Read", "read_file", "read", "view"];
const EDITORS = ["Edit", "replace", "edit", "apply_patch"];

/** The names that clients give to the same parameter. */
const PATH = ["file_path", "filePath", "absolute_path", "path"];
const OLD = ["old_string", "oldString", "old_str", "oldText"];
const NEW = ["new_string", "newString", "new_str", "newText"];
const COMMAND = ["command", "cmd"];
/** Worded anew at each call, as models do. */
const REWORDED = ["description", "instruction"];

/** Returns whether a client calls its shell so. A request without a shell is a side request. */
export const isShell = (name) => SHELLS.includes(name);

const first = (names, among) => names.find((name) => among.includes(name));

/** The call that a step becomes: `{ name, args, form }`. */
export function toolCall(tools, step, turn) {
  const [kind, wanted] = Object.entries(step)[0];
  return { run, read, edit }[kind](tools, wanted, turn);
}

/** Arguments by the fields that the tool declares. `values` are pairs of possible names and a value. */
function fill(tool, values, turn) {
  const args = {};
  for (const [names, value] of values) args[first(names, tool.fields) ?? names[0]] = value;
  for (const name of REWORDED.filter((name) => tool.fields.includes(name))) args[name] = `Step ${turn + 1}`;
  if (tool.fields.includes("is_background")) args.is_background = false;
  return args;
}

function run(tools, command, turn) {
  const name = first(SHELLS, Object.keys(tools));
  // Codex in Code Mode: the model writes a program.
  if (name === "exec") return program(`tools.exec_command(${JSON.stringify({ cmd: command })})`, "r");
  return { name, args: fill(tools[name], [[COMMAND, command]], turn), form: "function" };
}

const program = (call, shown) => ({
  name: "exec",
  args: `const r = await ${call}; text(${shown});`,
  form: "custom",
});

function read(tools, path, turn) {
  const name = first(READERS, Object.keys(tools));
  if (!name) return run(tools, `cat ${path}`, turn);
  return { name, args: fill(tools[name], [[PATH, path]], turn), form: "function" };
}

function edit(tools, { path, old, now }, turn) {
  const name = first(EDITORS, Object.keys(tools));
  const patch = `*** Begin Patch\n*** Update File: ${path}\n@@\n-${old}\n+${now}\n*** End Patch\n`;
  if (!name && tools.exec) return program(`tools.apply_patch(${JSON.stringify(patch)})`, "r");
  if (!name) return run(tools, `grep -q '${old}' ${path} && sed -i 's/${old}/${now}/' ${path}`, turn);
  if (name === "apply_patch" && tools[name].form === "custom") return { name, args: patch, form: "custom" };
  if (name === "apply_patch") return { name, args: { [tools[name].fields[0]]: patch }, form: "function" };
  const args = tools[name].fields.includes("edits")
    ? { [first(PATH, tools[name].fields)]: path, edits: [{ oldText: old, newText: now }] }
    : fill(tools[name], [[PATH, path], [OLD, old], [NEW, now]], turn);
  return { name, args, form: "function" };
}
