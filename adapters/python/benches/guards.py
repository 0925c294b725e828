"""Measures a call and its result in guards for Python: of 500 bytes, and those of recorded runs.

A folder, if one is given, holds runs in the native format. Each run has a guard of its own. OpenHands' detector
takes no part there: it has a class for each tool.

Time: the fastest of several rounds, in microseconds for one call. Kept: what the guard holds in Python's
memory after the last call, in blocks and bytes for one call. Ours keeps its state outside of it, and its
size does not grow.
"""

import contextlib
import functools
import gc
import importlib.metadata
import json
import os
import pathlib
import sys
import time
import tracemalloc

import unstuck

RESULT = ("fn main() {\n" + "    println!(\"one line of a file\");\n" * 14)[:500]
CALLS = 1000
ROUNDS = 7


def ours():
    guard = unstuck.Guard(observe=True)

    def call(tool, args, result=RESULT):
        guard.after(guard.before(tool, args).ticket, result)

    return call


def agentbelt_loop():
    from agentbelt_loop import LoopDetected, LoopDetector

    detector = LoopDetector()

    def call(tool, args, result=RESULT):
        detector.record("s", tool, args, result)
        with contextlib.suppress(LoopDetected):
            detector.check("s")

    return call


def agent_patrol():
    from agent_patrol import PatrolMonitor

    monitor = PatrolMonitor()
    return lambda tool, args, result=RESULT: monitor.observe(f"{tool} {args}", result)


def loopguard():
    from loopguard import loopguard as watched

    # It looks at arguments only.
    return watched(on_loop=lambda function, args, kwargs: None)(
        lambda tool, args, result=RESULT: result
    )


def openhands_sdk():
    """Its detector, without the time in which a conversation makes events."""
    import logging

    os.environ |= {"OPENHANDS_SUPPRESS_BANNER": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    from openhands.sdk.conversation.stuck_detector import StuckDetector
    from openhands.sdk.event import ActionEvent, ObservationEvent
    from openhands.sdk.llm import MessageToolCall, TextContent

    logging.disable()
    read, shown = openhands_types()

    class State:
        def active_branch(self, limit):
            return self.events[-limit:]

    state = State()
    state.events = []
    detector = StuckDetector(state)

    @functools.lru_cache(maxsize=None)
    def events(path):
        args = arguments("new", 0) | {"path": path}
        call = MessageToolCall(
            id=path, name="read_file", arguments=json.dumps(args), origin="completion"
        )
        names = {"tool_name": "read_file", "tool_call_id": path}
        action = ActionEvent(
            thought=[], action=read(**args), tool_call=call, llm_response_id=path, **names
        )
        observation = shown(content=[TextContent(text=RESULT)])
        return action, ObservationEvent(observation=observation, action_id=action.id, **names)

    for n in range(CALLS):
        events(arguments("new", n)["path"])

    def call(tool, args):
        state.events.extend(events(args["path"]))
        detector.is_stuck()

    return call


@functools.lru_cache(maxsize=None)
def openhands_types():
    from openhands.sdk.tool.schema import Action, Observation

    class ReadFile(Action):
        path: str
        offset: int
        limit: int

    class FileShown(Observation):
        pass

    return ReadFile, FileShown


CONTENDERS = {
    "unstuck": ours,
    "agentbelt-loop": agentbelt_loop,
    "agent-patrol": agent_patrol,
    "loopguard": loopguard,
    "openhands-sdk": openhands_sdk,
}


def arguments(kind, n):
    return {"path": f"src/{n if kind == 'new' else 0}.rs", "offset": 0, "limit": 200}


def time_of(make, kind):
    """Returns the time of a call in microseconds."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        call, calls = make(), [arguments(kind, n) for n in range(CALLS)]
        begin = time.perf_counter()
        for args in calls:
            call("read_file", args)
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest / CALLS * 1e6


def recorded(folder):
    """Returns the calls of each run in `folder`, which have a result in text."""
    runs = []
    for path in sorted(pathlib.Path(folder).rglob("*.jsonl")):
        records = [json.loads(line) for line in path.read_text().splitlines() if line]
        runs.append(
            [
                (record["tool"], record["args"], record["result"])
                for record in records
                if record.get("type") == "call" and isinstance(record.get("result"), str)
            ]
        )
    return runs


def time_of_runs(make, runs):
    """Returns the time of a recorded call in microseconds."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        spent = 0
        for run in runs:
            call = make()
            begin = time.perf_counter()
            for tool, args, result in run:
                call(tool, args, result)
            spent += time.perf_counter() - begin
        fastest = min(fastest, spent)
    return fastest / sum(map(len, runs)) * 1e6


def kept(make, kind):
    """Returns the blocks and the bytes of Python's memory that a call leaves behind."""
    calls = [arguments(kind, n) for n in range(CALLS)]
    call = make()
    call("read_file", arguments("new", -1))
    gc.collect()
    tracemalloc.start()
    blocks, (size, _) = sys.getallocatedblocks(), tracemalloc.get_traced_memory()
    for args in calls:
        call("read_file", args)
    gc.collect()
    blocks, size = sys.getallocatedblocks() - blocks, tracemalloc.get_traced_memory()[0] - size
    tracemalloc.stop()
    return max(blocks, 0) / CALLS, max(size, 0) / CALLS


def main():
    runs = recorded(sys.argv[1]) if len(sys.argv) > 1 else []
    print(f"Python {sys.version.split()[0]}, {CALLS} calls with results of {len(RESULT)} bytes\n")
    print(f"| {'guard':24} | calls | µs | blocks kept | bytes kept |\n|---|---|--:|--:|--:|")
    for name, make in CONTENDERS.items():
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            print(f"| {name}: not installed |")
            continue
        shown = f"{name} {importlib.metadata.version(name)}"
        for kind in ("new", "equal"):
            blocks, size = kept(make, kind)
            print(f"| {shown:24} | {kind} | {time_of(make, kind):.1f} | {blocks:.1f} | {size:.0f} |")
        if runs and make is not openhands_sdk:
            print(f"| {shown:24} | recorded | {time_of_runs(make, runs):.1f} | | |")


if __name__ == "__main__":
    main()
