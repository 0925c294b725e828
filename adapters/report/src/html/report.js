"use strict";
// Filters and sorts the table of runs, and adds keys. Without it the page shows everything.
const $ = (id) => document.getElementById(id);
const table = document.querySelector(".runs");
const body = table.tBodies[0];
const rows = [...body.rows];
const parts = [...document.querySelectorAll(".run")];
const texts = rows.map((row) => row.textContent.toLowerCase());
document.querySelector(".tools").hidden = rows.length < 2;

function filter() {
  const words = $("filter").value.toLowerCase().split(/\s+/);
  const stuck = $("stuck").checked;
  let shown = 0;
  rows.forEach((row, at) => {
    row.hidden = (stuck && !("stuck" in row.dataset)) || !words.every((word) => texts[at].includes(word));
    shown += !row.hidden;
  });
  $("count").textContent = shown === rows.length ? "" : `${shown} of ${rows.length} runs`;
}
$("filter").addEventListener("input", filter);
$("stuck").addEventListener("change", filter);

const places = new Map(rows.map((row, at) => [row, at]));
[...table.tHead.rows[0].cells].forEach((head, column) => {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => {
    const down = head.ariaSort === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.ariaSort = down ? "descending" : "ascending";
    const key = (row) => row.cells[column].dataset.key ?? "";
    const text = (row) => row.cells[column].textContent;
    const order = [...rows].sort((a, b) => key(a) - key(b) || text(a).localeCompare(text(b)) || places.get(a) - places.get(b));
    if (down) order.reverse();
    body.append(...order);
  });
});

const help = $("help");
$("keys").addEventListener("click", () => help.showModal());
function step(by) {
  const at = parts.findIndex((part) => part.getBoundingClientRect().top > 1);
  const here = at < 0 ? parts.length : at;
  const next = by > 0 ? parts.findIndex((part) => part.getBoundingClientRect().top > 8) : here - 1;
  const top = by < 0 && next >= 0 && Math.abs(parts[next].getBoundingClientRect().top) < 8 ? next - 1 : next;
  if (top >= 0) parts[top].scrollIntoView();
  else if (by < 0) scrollTo(0, 0);
}
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.target.matches("[type=search]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const keys = { j: () => step(1), k: () => step(-1), t: () => scrollTo(0, 0), "/": () => $("filter").focus(), "?": () => help.showModal() };
  if (event.key in keys) {
    event.preventDefault();
    keys[event.key]();
  }
});

// A page of `unstuck view --web` loads itself again when a recording has changed, but not under the reader's hands.
const { live } = document.body.dataset;
if (live) {
  new EventSource("events").addEventListener("message", ({ data }) => {
    if (data !== live && !help.open && getSelection().isCollapsed) location.reload();
  });
}
