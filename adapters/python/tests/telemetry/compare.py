"""Compares what is read from the spans of the SDKs with what the runs themselves recorded.

    python compare.py FOLDER UNSTUCK EVENTS [FINDINGS]

FOLDER is that of `play.py`. UNSTUCK is the program, and EVENTS the example `events` of `unstuck-trace`. FINDINGS is
the file that `unstuck watch --findings` wrote. It prints one line for each SDK and scenario, then one with a tab for
each SDK. It fails if a difference has no reason in `limits.json`, or if a reason there is no longer needed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenarios import SCENARIOS

Worker = tuple[str, str]
"""A session and the name of a worker."""

Found = tuple[str, str, str, str, str, int]
"""A finding: session, worker, rule, action, tool, and the number of the call among the worker's calls."""


@dataclass
class Run:
    """The calls of one file, as the library reads them."""

    calls: dict[Worker, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    prompts: dict[Worker, list[str]] = field(default_factory=lambda: defaultdict(list))
    places: dict[int, tuple[Worker, int]] = field(default_factory=dict)

    def column(self, *names: str) -> dict[Worker, list[Any]]:
        return {worker: [[call.get(n) for n in names] for call in calls] for worker, calls in self.calls.items()}

    def steps(self) -> dict[Worker, list[int]]:
        """The calls of each step in turn, as their number."""
        counts: dict[Worker, list[int]] = {}
        for worker, calls in self.calls.items():
            steps = [call["step"] for call in calls]
            counts[worker] = [steps.count(step) for step in dict.fromkeys(steps)]
        return counts


def value(text: str | None) -> Any:
    """Returns the JSON value of a text, or the text itself if it is none."""
    try:
        return json.loads(text) if text is not None else None
    except ValueError:
        return text


def events(program: str, file: Path) -> Run:
    """Reads a file with the example `events`."""
    run, session, by_index = Run(), "", {}
    lines = subprocess.run([program, str(file)], check=True, capture_output=True, text=True).stdout
    for event in map(json.loads, lines.splitlines()):
        match event["event"]:
            case "begin":
                session = event["session"] or ""
            case "call":
                worker = (session, event["worker"])
                calls = run.calls[worker]
                run.places[event["index"]] = (worker, len(calls))
                by_index[event["index"]] = event | {"args": value(event["args"])}
                calls.append(by_index[event["index"]])
            case "outcome":
                by_index[event["call"]] |= {"result": value(event["text"]), "failed": event["failed"]}
            case "message" if event["role"] == "User":
                run.prompts[(session, event["worker"])].append(event["text"])
    return run


def scanned(program: str, file: Path, run: Run) -> set[Found]:
    """Returns the findings of `unstuck scan`."""
    command = [program, "scan", "--format", "jsonl", "--fail-on", "never", str(file)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {
        (*worker, finding["rule"], finding["action"], finding["tool"], number)
        for line in map(json.loads, lines.splitlines())
        for finding in line["findings"]
        for worker, number in [run.places[finding["at_call"]]]
    }


def guarded(file: Path) -> set[Found]:
    """Returns the findings of the guard inside the run."""
    names = ("session", "worker", "rule", "action", "tool", "at")
    return {tuple(finding[name] for name in names) for finding in json.loads(file.read_text())}  # type: ignore[misc]


def differences(read: Run, true: Run, is_dark: bool) -> Iterator[tuple[str, str]]:
    """Yields each aspect in which two runs differ, with an example."""
    aspects = {
        "workers": (set(read.calls), set(true.calls)),
        "tools": (read.column("tool"), true.column("tool")),
        "failures": (read.column("failed"), true.column("failed")),
        "steps": (read.steps(), true.steps()),
    }
    if not is_dark:
        aspects["arguments"] = (read.column("args"), true.column("args"))
        aspects["results"] = (read.column("result"), true.column("result"))
        aspects["prompts"] = (dict(read.prompts), dict(true.prompts))
    for aspect, (ours, theirs) in aspects.items():
        if ours != theirs:
            yield aspect, first_of(ours, theirs)


def first_of(ours: Any, theirs: Any) -> str:
    """Returns the first difference in words."""
    if isinstance(ours, dict) and set(ours) == set(theirs):
        worker = next(worker for worker in ours if ours[worker] != theirs[worker])
        pairs = zip(ours[worker], theirs[worker], strict=False)
        pair = next((pair for pair in pairs if pair[0] != pair[1]), (len(ours[worker]), len(theirs[worker])))
        return f"{worker[0]}/{worker[1]}: {pair[0]}, in the run {pair[1]}"
    return f"{sorted(ours)}, in the run {sorted(theirs)}"


@dataclass
class Programs:
    """The programs that read the files, and what the receiver found."""

    unstuck: str
    events: str
    received: list[dict[str, Any]] | None

    def compare(self, folder: Path, name: str) -> tuple[dict[str, str], int]:
        """Returns the differences of one SDK and scenario with an example of each, and the number of calls."""
        spans, truth = (folder / kind / f"{name}.jsonl" for kind in ("spans", "truth"))
        read, true = events(self.events, spans), events(self.events, truth)
        inside = guarded(truth.with_suffix(".findings.json"))
        by_spans = scanned(self.unstuck, spans, read)
        found = dict(differences(read, true, is_dark(name)))
        others = {
            "native trace": scanned(self.unstuck, truth, true),
            "findings": by_spans,
        }
        for aspect, theirs in others.items():
            # Without arguments, nobody knows which rule the calls would have met.
            seen = coarse if is_dark(name) and aspect == "findings" else set
            if seen(theirs) != seen(inside):
                found[aspect] = f"{sorted(theirs)}, in the run {sorted(inside)}"
        if self.received is not None:
            received = set(at_receiver(self.received, name, read))
            if received != by_spans:
                found["receiver"] = f"{sorted(received)}, in the file {sorted(by_spans)}"
        return found, len(read.places)


def coarse(findings: set[Found]) -> set[tuple[str, str, str]]:
    """Returns the session, the worker and the tool of each finding."""
    return {(session, worker, tool) for session, worker, _, _, tool, _ in findings}


def is_dark(name: str) -> bool:
    return not SCENARIOS[name.partition("-")[2]].content


def at_receiver(lines: list[dict[str, Any]], name: str, run: Run) -> Iterator[Found]:
    """Yields the findings of the receiver in the sessions of one SDK and scenario."""
    for line in lines:
        if line["session"].startswith(f"{name}."):
            # It counts the calls of each session.
            places = [run.places[index] for index in sorted(run.places)]
            places = [place for place in places if place[0][0] == line["session"]]
            worker, number = places[line["at_call"]]
            yield (*worker, line["rule"], line["action"], line["tool"], number)


def explained(limits: list[dict[str, Any]], name: str, aspect: str) -> str | None:
    """Returns the reason why an aspect of this SDK and scenario differs, if it is known."""
    sdk, _, scenario = name.partition("-")
    for limit in limits:
        if sdk in limit["sdks"] and aspect in limit["aspects"] and scenario in limit.get("scenarios", [scenario]):
            return str(limit["reason"])
    return None


def main(folder: Path, unstuck: str, program: str, findings: Path | None) -> int:
    limits = json.loads(Path(__file__).with_name("limits.json").read_text())
    received = findings and [json.loads(line) for line in findings.read_text().splitlines()]
    programs, used, failed = Programs(unstuck, program, received), set(), 0
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name in sorted(file.stem for file in (folder / "spans").glob("*.jsonl")):
        found, calls = programs.compare(folder, name)
        notes, words = [], "same"
        for aspect, example in found.items():
            reason = explained(limits, name, aspect)
            used.add(reason)
            words = "known limits" if reason and words != "different" else "different"
            notes.append(f"{aspect}: {reason}" if reason else f"{aspect} DIFFER: {example}")
        failed += words == "different"
        counts[name.partition("-")[0]].update({words: 1, "calls": calls})
        print(f"{name:<32} {calls:>3} calls  {'; '.join(notes) or 'same'}")
    for sdk, count in counts.items():
        words = ("same", "known limits", "different", "calls")
        print(f"{sdk}\t{', '.join(f'{count[word]} {word}' for word in words)}")
    unused = {str(limit["reason"]) for limit in limits} - used
    for reason in sorted(unused):
        print(f"no longer needed: {reason}")
    return 1 if failed or unused else 0


if __name__ == "__main__":
    file = Path(sys.argv[4]) if len(sys.argv) > 4 else None
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], file))
