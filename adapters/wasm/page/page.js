"use strict";
// Takes files, lets the engine judge them in another thread, and shows the report and what a policy changes.
const $ = (id) => document.getElementById(id);

// The most files, the most bytes of one, and the most changes that are listed. `unstuck scan` has no limits.
const FILES_MAX = 5000;
const BYTES_MAX = 2 ** 30;
const CHANGES_MAX = 100;
// The policies whose results are kept to compare with.
const KEPT_MAX = 8;
// The transcripts of a folder, as `unstuck scan` chooses them.
const ENDING = /\.(jsonl|json|ndjson|traj)$/i;
// The option for a policy that was edited, and the one for the policy that judged before.
const EDITED = "your edits";
const BEFORE = "the policy before";

function report(addEventListener) {
{{report}}
}

// ---- What is known

// The inputs: a name, a file, and the reason why it cannot be read, if the engine failed on it.
let runs = [];
// The policies by name, as TOML.
const presets = new Map();
// The results of a policy by its text: the runs, and the loops of each, or undefined if it cannot be read.
const kept = new Map();
// The report that is shown: its policy, and its runs with their results.
let shown = { policy: undefined, runs: [], results: [] };
// The runs that the engine has judged for the report and can add to, with their policy.
let held;
let [edited, before] = ["", undefined];
let notes = [];

// ---- The engine

let [module, worker, busy, jobs] = [undefined, undefined, undefined, 0];

// Starts the thread. It is ended to end a job, so this may happen often.
function start(first) {
  const code = new Blob([$("worker").textContent], { type: "text/javascript" });
  const url = URL.createObjectURL(code);
  worker = new Worker(url);
  worker.addEventListener("message", ({ data }) => heard(data));
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    failed(event.message);
  });
  worker.postMessage({ module, first });
  worker.addEventListener("message", () => URL.revokeObjectURL(url), { once: true });
}

// The engine failed on a run. It begins again without this run.
function failed(message) {
  const run = busy?.job.runs[busy.place - busy.job.from];
  if (!run) {
    progress(`The engine has stopped: ${message}. Reload the page.`);
    return;
  }
  run.broken = `unstuck crashed on this run. Please report this bug: ${message}`;
  restart();
  judge();
}

function restart() {
  worker.terminate();
  busy = held = undefined;
  start(false);
}

// Gives the engine a job. `done` gets the results of all its runs, and the end of the report.
function give(job, done) {
  jobs += 1;
  busy = { job, results: [], done, place: job.from };
  worker.postMessage({ ...job, job: jobs });
}

function heard(data) {
  if (data.kind === "ready") {
    if (data.policies) ready(data.policies);
    return;
  }
  if (!busy || data.job !== jobs) return;
  if (data.kind === "next") {
    busy.place = data.place;
    return;
  }
  if (data.kind === "wrong") {
    busy = undefined;
    progress("");
    wrong(data);
    return;
  }
  busy.results.push(...data.results);
  if (data.kind === "some") {
    step(data.share);
  } else {
    const { done, results } = busy;
    busy = undefined;
    done(results, data);
  }
}

// Shows which run is read, and how much of all.
function step(share) {
  const all = busy.job.from + busy.job.runs.length;
  progress(`Reading run ${busy.place + 1} of ${all} …`, (busy.place + share) / all);
}

// ---- Judging

// Judges all runs by the policy in the editor, or only the new ones if nothing else has changed.
function judge() {
  if (busy) restart();
  $("desk").hidden = $("actions").hidden = runs.length === 0;
  $("start").hidden = runs.length > 0;
  if (runs.length === 0) return;
  const [policy, full, all] = [$("toml").value, $("full").checked, [...runs]];
  const goesOn = held?.policy === policy && held.full === full && held.runs.every((run, at) => run === all[at]);
  const old = goesOn ? shown.results : [];
  held = undefined;
  $("report").setAttribute("aria-busy", "true");
  give({ policy, full, shown: true, from: old.length, runs: all.slice(old.length) }, (added, { title, overview }) => {
    wrong();
    if (shown.policy !== undefined && shown.policy !== policy) before = shown.policy;
    held = { policy, full, runs: all };
    shown = { policy, runs: all, results: [...old, ...added] };
    keep(policy, all, shown.results);
    show(title, overview, shown.results);
  });
}

// Keeps the results of a policy, and forgets those that were kept first.
function keep(policy, of, results) {
  const loops = results.map((result) => result.loops && JSON.parse(result.loops).loops);
  kept.delete(policy);
  kept.set(policy, { runs: of, loops });
  if (kept.size > KEPT_MAX) kept.delete(kept.keys().next().value);
}

// ---- What changes

// Compares the results with those of another policy, which are made first if they are missing. A job that runs
// does it at its end.
function compare() {
  if (busy) return;
  const name = $("against").value;
  const policy = name === BEFORE ? before : presets.get(name);
  if (policy === undefined || shown.policy === undefined) {
    changes([], "Edit the policy, and the difference to this result is listed here.");
    return;
  }
  const old = kept.get(policy);
  if (old && shown.runs.every((run, at) => run === old.runs[at])) {
    differences(name, old.loops, kept.get(shown.policy).loops);
    return;
  }
  changes([], `Judging by ${name} …`);
  held = undefined;
  const all = shown.runs;
  give({ policy, full: false, shown: false, from: 0, runs: all }, (results) => {
    keep(policy, all, results);
    progress("");
    compare();
  });
}

function differences(name, old, now) {
  const [lists, count] = [[], { came: 0, went: 0, changed: 0, same: 0 }];
  now.forEach((loops, at) => {
    const list = loops && old[at] ? changed(old[at], loops) : [];
    for (const { how } of list) count[how] += 1;
    const seen = list.filter(({ how }) => how !== "same");
    if (seen.length > 0) lists.push({ at, list: seen });
  });
  const stuck = (all) => all.filter((loops) => loops?.length > 0).length;
  const total = count.came + count.went + count.changed;
  const parts = [];
  if (count.came > 0) parts.push(`${count.came} new ${count.came === 1 ? "loop" : "loops"}`);
  if (count.went > 0) parts.push(`${counted(count.went, "loop")} gone`);
  if (count.changed > 0) parts.push(`${count.changed} changed`);
  const text = total === 0 ? `The loops and actions are the same as with ${name}.` : `${parts.join(", ")}; ${count.same} the same. Stuck runs: ${stuck(old)} → ${stuck(now)}.`;
  changes(lists, text);
}

// Returns how the loops of one run differ. Loops of other rules over the same calls are one loop.
function changed(old, now) {
  const list = [];
  const key = ({ loop, worker }) => `${loop} ${worker}`;
  const rest = new Map(old.map((one) => [key(one), one]));
  const unknown = [];
  for (const one of now) {
    if (rest.has(key(one))) list.push(both(rest.get(key(one)), one));
    else unknown.push(one);
    rest.delete(key(one));
  }
  for (const one of unknown) {
    const meets = (other) => other.worker === one.worker && other.of === one.of && other.first <= one.last && one.first <= other.last;
    const other = [...rest.values()].find(meets);
    if (other) rest.delete(key(other));
    list.push(other ? both(other, one) : { how: "came", one });
  }
  for (const one of rest.values()) list.push({ how: "went", one });
  return list.sort((a, b) => a.one.at - b.one.at);
}

function both(old, one) {
  const isSame = old.action === one.action && old.at === one.at && old.rule === one.rule;
  return { how: isSame ? "same" : "changed", one, old };
}

function counted(n, what) {
  return n === 1 ? `1 ${what}` : `${n} ${what}s`;
}

function element(name, content = [], attributes = {}) {
  const made = document.createElement(name);
  made.append(...[content].flat());
  return Object.assign(made, attributes);
}

// Lists what changes. All text of a recording comes through the engine, which makes it safe to show.
function changes(lists, text) {
  const items = [];
  let left = CHANGES_MAX;
  for (const { at, list } of lists.slice(0, CHANGES_MAX)) {
    if (left <= 0) break;
    const anchor = `run-${at + 1}`;
    const name = shortName(JSON.parse(shown.results[at].loops).name);
    const title = $(anchor) ? element("a", name, { href: `#${anchor}` }) : name;
    items.push(element("li", [title, element("ul", list.slice(0, left).map(change))]));
    left -= list.length;
  }
  const all = lists.reduce((sum, { list }) => sum + list.length, 0);
  const more = all > CHANGES_MAX ? [element("p", `and ${all - CHANGES_MAX} more`, { className: "dim" })] : [];
  const list = items.length > 0 ? [element("ul", items, { className: "changes" })] : [];
  $("changes").replaceChildren(element("p", text), ...list, ...more);
}

function change({ how, one, old }) {
  const words = { came: "new", went: "gone", changed: "changed" };
  const text = [element("span", words[how], { className: `how ${how}` }), " "];
  // The names in a description are between backquotes.
  text.push(...one.what.split("`").map((part, at) => (at % 2 ? element("code", part) : part)), ": ");
  const place = ({ action, of, at, rule }) => `${action.replace("_", " ")} at ${of} #${at} (${rule})`;
  text.push(how === "changed" ? `${place(old)} → ${place(one)}` : place(one));
  return element("li", text);
}

function shortName(path) {
  return path.split("/").slice(-2).join("/");
}

// ---- The report

let [drawn, keys] = [0, new AbortController()];

// Shows the report. Many parts are parsed some at a time, so that the page stays usable.
async function show(title, overview, results) {
  drawn += 1;
  const mine = drawn;
  const place = element("div");
  place.innerHTML = overview;
  const html = results.map((result) => result.html).filter((part) => part);
  for (let at = 0; at < html.length; at += 20) {
    place.insertAdjacentHTML("beforeend", html.slice(at, at + 20).join(""));
    if (html.length > 20) {
      progress(`Drawing run ${at + 1} of ${html.length} …`, at / html.length);
      await new Promise((done) => setTimeout(done));
      if (mine !== drawn) return;
    }
  }
  const [top, open] = [scrollY, $("report").hasChildNodes()];
  $("report").replaceChildren(...place.childNodes);
  $("report").setAttribute("aria-busy", "false");
  document.title = `${title} – unstuck`;
  if (open) scrollTo(0, top);
  keys.abort();
  keys = new AbortController();
  // The keys of the report must not get in the way of typing.
  const listen = (kind, listener) => {
    const guarded = (event) => {
      if (!event.target.matches?.("textarea, select, input:not([type=search])") && !document.querySelector("dialog[open]")) listener(event);
    };
    addEventListener(kind, guarded, { signal: keys.signal });
  };
  report(listen);
  if (!busy) progress("");
  compare();
}

function progress(text, share) {
  const bar = share === undefined ? [] : [element("progress", [], { value: share, ariaLabel: "Progress" })];
  $("progress").replaceChildren(...(text ? [element("p", text), ...bar] : []));
}

// ---- The editor

// Shows the mistake in the policy, or that there is none.
function wrong(mistake) {
  $("toml").setAttribute("aria-invalid", String(mistake !== undefined));
  $("report").setAttribute("aria-busy", "false");
  if (!mistake) {
    $("wrong").replaceChildren();
    return;
  }
  const { line, column, what, quote } = mistake;
  const go = element("button", `Line ${line}, column ${column}`, { type: "button" });
  go.addEventListener("click", () => {
    const at = place($("toml").value, line, column);
    $("toml").focus();
    $("toml").setSelectionRange(at, at);
    $("toml").scrollTop = (line - 4) * lineHeight();
  });
  const old = runs.length > 0 && shown.policy !== undefined ? " The report still shows the last valid policy." : "";
  $("wrong").replaceChildren(element("p", [go, `: ${what}.${old}`]), element("pre", quote.trimEnd(), { tabIndex: 0 }));
}

// Returns the index of a place in `text`. Columns are characters, and the index counts half surrogates.
function place(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
}

function lineHeight() {
  return parseFloat(getComputedStyle($("toml")).lineHeight);
}

function numbered() {
  const count = $("toml").value.split("\n").length;
  if (Number($("lines").dataset.count) !== count) {
    $("lines").dataset.count = count;
    $("lines").textContent = Array.from({ length: count }, (_, n) => n + 1).join("\n");
  }
  $("lines").scrollTop = $("toml").scrollTop;
}

// Puts a policy into the editor.
function edit(text) {
  $("toml").value = text;
  $("toml").scrollTop = 0;
  numbered();
}

function option(name) {
  return element("option", name, { value: name });
}

function ready(policies) {
  for (const { name, text } of policies) presets.set(name, text);
  const names = [...presets.keys()];
  $("preset").replaceChildren(...names.map(option));
  $("against").replaceChildren(...names.map(option), option(BEFORE));
  edit(presets.get(names[0]));
  // On a small screen the report comes first.
  $("policy").open = matchMedia("(min-width: 1100px)").matches;
  document.body.dataset.ready = "";
  if (runs.length > 0) judge();
}

let later;
function typed() {
  numbered();
  edited = $("toml").value;
  const preset = [...presets].find(([, text]) => text === edited)?.[0];
  if (!preset && !$("preset").querySelector(`[value="${EDITED}"]`)) $("preset").prepend(option(EDITED));
  $("preset").value = preset ?? EDITED;
  clearTimeout(later);
  later = setTimeout(judge, 400);
}

// ---- Files

// Adds files, and says which are left out.
function add(files) {
  notes = [];
  const large = files.filter(({ file }) => file.size > BYTES_MAX);
  if (large.length > 0) notes.push(`${counted(large.length, "file")} larger than 1 GiB left out (${large.map(({ name }) => shortName(name)).slice(0, 3).join(", ")}): use unstuck scan.`);
  const isNew = ({ name, file }) => !runs.some((run) => run.name === name && run.file.size === file.size && run.file.lastModified === file.lastModified);
  const wanted = files.filter((one) => one.file.size <= BYTES_MAX && isNew(one));
  const room = FILES_MAX - runs.length;
  if (wanted.length > room) notes.push(`${counted(wanted.length - room, "file")} left out: at most ${FILES_MAX} are read here, and unstuck scan reads any number.`);
  runs = [...runs, ...wanted.slice(0, Math.max(room, 0))];
  noted();
  if (presets.size > 0) judge();
}

function noted() {
  $("notes").hidden = notes.length === 0;
  $("notes").textContent = notes.join(" ");
}

// Returns the transcripts below a folder, in the order of their names. `list` returns its entries.
async function below(folder, path, list) {
  const entries = await list(folder);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = [];
  for (const one of entries) {
    const name = `${path}/${one.name}`;
    if (one.isDirectory || one.kind === "directory") files.push(...(await below(one, name, list)));
    else if (ENDING.test(name)) files.push({ name, file: await (one.getFile?.() ?? new Promise((done, fail) => one.file(done, fail))) });
    if (files.length > FILES_MAX) break;
  }
  return files;
}

async function handles(folder) {
  const entries = [];
  for await (const one of folder.values()) entries.push(one);
  return entries;
}

async function entriesOf(folder) {
  const reader = folder.createReader();
  const entries = [];
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return entries;
    entries.push(...some);
  }
}

// Returns the files of what was dropped: a file, or a folder. Chromium reads folders only by their handles if the page
// is opened from a file. Other browsers have no handles.
async function filesOf({ file, entry, handle }) {
  if (!entry?.isDirectory) return file ? [{ name: file.name, file }] : [];
  if (handle) return below(await handle, entry.name, handles);
  return below(entry, entry.name, entriesOf);
}

async function dropped(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  // The items are gone after the first pause.
  const inputs = items.map((item) => {
    const [file, entry] = [item.getAsFile(), item.webkitGetAsEntry?.()];
    return { file, entry, handle: entry?.isDirectory ? item.getAsFileSystemHandle?.() : undefined };
  });
  const text = transfer.getData("text/plain");
  if (inputs.length === 0 && text) {
    pasted(text);
    return;
  }
  const [files, errors] = [[], []];
  for (const input of inputs) {
    try {
      files.push(...(await filesOf(input)));
    } catch (error) {
      errors.push(`${input.entry.name}: the browser cannot read what was dropped (${error.message}). Choose the folder instead.`);
    }
  }
  add(files);
  if (files.length === 0 && errors.length === 0) errors.push("There is no transcript in what was dropped.");
  notes.push(...errors);
  noted();
}

let pastes = 0;
function pasted(text) {
  if (text.trim() === "") return;
  pastes += 1;
  add([{ name: `pasted ${pastes}`, file: new File([text], "pasted") }]);
}

function chosen({ target }) {
  const files = [...target.files];
  const isFolder = target.webkitdirectory;
  const named = files.map((file) => ({ name: file.webkitRelativePath || file.name, file }));
  const wanted = isFolder ? named.filter(({ name }) => ENDING.test(name)) : named;
  wanted.sort((a, b) => (isFolder && a.name > b.name ? 1 : isFolder && a.name < b.name ? -1 : 0));
  add(wanted);
  target.value = "";
}

// Lets the user save a text as a file.
function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  element("a", [], { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// ---- The page

for (const button of document.querySelectorAll(".files")) button.addEventListener("click", () => $("pick-files").click());
for (const button of document.querySelectorAll(".folder")) button.addEventListener("click", () => $("pick-folder").click());
for (const button of document.querySelectorAll(".paste")) {
  button.addEventListener("click", () => {
    $("pasted").value = "";
    $("pasting").returnValue = "";
    $("pasting").showModal();
  });
}
$("pasting").addEventListener("close", () => $("pasting").returnValue === "read" && pasted($("pasted").value));
$("pick-files").addEventListener("change", chosen);
$("pick-folder").addEventListener("change", chosen);
$("example").addEventListener("click", () => add([{ name: "example.jsonl", file: new File([$("sample").textContent.trim()], "example.jsonl") }]));
$("clear").addEventListener("click", () => {
  [runs, notes] = [[], []];
  shown = { policy: undefined, runs: [], results: [] };
  before = held = undefined;
  kept.clear();
  drawn += 1;
  $("report").replaceChildren();
  document.title = "unstuck";
  noted();
  judge();
});
$("save").addEventListener("click", () => save("unstuck.jsonl", "application/x-ndjson", shown.results.filter(({ json }) => json).map(({ json }) => `${json}\n`).join("")));
$("keep").addEventListener("click", () => save("policy.toml", "application/toml", $("toml").value));
$("toml").addEventListener("input", typed);
$("toml").addEventListener("scroll", numbered);
$("full").addEventListener("change", judge);
$("against").addEventListener("change", compare);
$("preset").addEventListener("change", () => {
  const name = $("preset").value;
  edit(name === EDITED ? edited : presets.get(name));
  clearTimeout(later);
  judge();
});

let depth = 0;
const veil = (is) => ($("veil").hidden = !is);
addEventListener("dragenter", (event) => {
  event.preventDefault();
  depth += 1;
  veil(true);
});
addEventListener("dragleave", () => {
  depth = Math.max(depth - 1, 0);
  veil(depth > 0);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  depth = 0;
  veil(false);
  if (!event.target.matches?.("textarea") || event.dataTransfer.files.length > 0) dropped(event.dataTransfer);
});
addEventListener("paste", (event) => {
  if (event.target.matches?.("textarea, input")) return;
  const files = [...event.clipboardData.files];
  if (files.length > 0) add(files.map((file) => ({ name: file.name, file })));
  else pasted(event.clipboardData.getData("text/plain"));
});

async function load() {
  const bytes = Uint8Array.from(atob($("engine").textContent), (c) => c.charCodeAt(0));
  module = await WebAssembly.compile(bytes);
  start(true);
}
load().catch((error) => progress(`This browser cannot run the engine: ${error.message}`));
