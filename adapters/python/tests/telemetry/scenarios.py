"""The scenarios that every SDK plays with scripted models, and what a guard inside the run sees of them."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

Args = dict[str, Any]
Turn = str | list[tuple[str, Args]]
"""A turn of a model: text, or the calls that it issues together."""

MAIN, HELPER = "main", "helper"
"""The agents. The tool ``ask_helper`` of the first one runs the second one."""

Script = dict[str, list[Turn]]
"""The turns of each agent in one conversation. A text ends the agent's answer to one message."""


class FileMissing(Exception):
    """Raised by the tools for a missing file."""


@dataclass
class Scenario:
    """Some conversations that run at the same time in one process."""

    conversations: dict[str, Script]
    content: bool = True
    """``True`` if the SDK may write arguments and results into its spans."""
    messages: int = 1
    """The number of messages of the user in each conversation."""


def read(path: str) -> list[tuple[str, Args]]:
    return [("read_file", {"path": path})]


def one(*turns: Turn, **options: Any) -> Scenario:
    """A scenario with one conversation and one agent."""
    return Scenario({"talk": {MAIN: [*turns, "done"]}}, **options)


_QUERIES = (
    "SELECT * FROM orders",
    "SELECT id FROM orders LIMIT 1",
    "SELECT count(*) FROM orders WHERE open",
    "SELECT name FROM customers ORDER BY name",
    "SHOW TABLES",
    "SELECT 1",
)
_QUESTION = {"question": "Where is the file?"}

SCENARIOS: dict[str, Scenario] = {
    "failing": one(*[read("missing.txt")] * 9),
    "turns": one(*[read("a.txt"), [("search", {"query": "b"})]] * 5),
    "variants": one(*([("query", {"sql": sql})] for sql in _QUERIES)),
    "healthy": one(
        read("a.txt"), read("b.txt"), read("missing.txt"), [("search", {"query": "c"})], read("c.txt")
    ),
    "parallel": one(*[[*read("missing.txt"), *read("missing.txt")]] * 3),
    "fan-out": one([*read("a.txt"), *read("b.txt"), *read("c.txt"), *read("missing.txt")]),
    "workers": Scenario(
        {
            "talk": {
                MAIN: [
                    *[read("missing.txt")] * 2,
                    [("ask_helper", _QUESTION)],
                    read("a.txt"),
                    "done",
                ],
                HELPER: [*[read("missing.txt")] * 4, "nowhere"],
            }
        }
    ),
    "poll": one(*[[("status", {"job": 7})]] * 8),
    "interleaved": Scenario(
        {
            "first": {MAIN: [*[read("missing.txt")] * 2, "done"]},
            "second": {MAIN: [read("a.txt"), *[read("missing.txt")] * 3, "done"]},
            "third": {MAIN: [read("a.txt"), read("b.txt"), *[read("missing.txt")] * 2, "done"]},
        }
    ),
    "messages": one(*[*[read("missing.txt")] * 2, "Where is it?"] * 2, messages=3),
    "dark-failing": one(*[read("missing.txt")] * 9, content=False),
    "dark-healthy": one(*(read(f"{letter}.txt") for letter in "abcdefghijkl"), content=False),
}


class World:
    """The tools of one conversation, without a framework."""

    def __init__(self) -> None:
        self._progress = itertools.count(10, 10)

    def read_file(self, path: str) -> str:
        if path.startswith("missing"):
            raise FileMissing(f"no such file: {path}")
        return f"content of {path}"

    def search(self, query: str) -> str:
        return f"one match for {query}: line 12"

    def query(self, sql: str) -> str:
        raise FileMissing("the database `orders.db` is locked by another process")

    def status(self, job: int) -> str:
        return f"job {job} is running, {next(self._progress)} % done"

    def do(self, tool: str, args: Args) -> str:
        return str(getattr(self, tool)(**args))


@dataclass
class Agent:
    """One agent of one conversation: its script, and the guard that watches it."""

    conversation: str
    name: str
    turns: list[Turn]
    world: World
    guard: Any
    reads: Callable[[str | Exception], Any]
    """Returns the text that the model reads for a result, or for the exception of a failed call."""
    ask: Callable[[str], Awaitable[str]] | None = None
    """Runs the helper."""
    records: list[dict[str, Any]] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    step: int = 0

    def answer(self) -> Turn:
        """Returns the next turn of the model."""
        self.step += 1
        turn = self.turns.pop(0)
        if isinstance(turn, str):
            self.guard.text_turn(turn)
            self._record(type="message", role="assistant", text=turn)
        return turn

    def told(self, text: str) -> None:
        """Reports a message of the user."""
        self.guard.user_message(text)
        self._record(type="message", role="user", text=text)

    async def call(self, tool: str, args: Args) -> str:
        """Runs a tool as the model asked, watched from inside the run. It raises as the tool does."""
        record = self._record(type="call", tool=tool, args=args, step=self.step)
        before = self.guard.before(tool, args, step=self.step)
        self._found(before.finding)
        try:
            if tool == "ask_helper":
                assert self.ask is not None
                result = await self.ask(args["question"])
            else:
                result = self.world.do(tool, args)
        except FileMissing as error:
            self._ended(record, before, self.reads(error), failed=True)
            raise
        self._ended(record, before, self.reads(result), failed=False)
        return result

    def _ended(self, record: dict[str, Any], before: Any, result: Any, *, failed: bool) -> None:
        record |= {"result": result, "is_error": failed}
        self._found(self.guard.after(before.ticket, result, error=failed).finding)

    def _found(self, finding: Any) -> None:
        if finding is None:
            return
        found = {
            "worker": self.name,
            "rule": finding.rule,
            "action": finding.action,
            "tool": finding.tool,
            "at": finding.at,
            "calls": finding.calls,
        }
        key = (found["rule"], found["action"])
        if key not in {(known["rule"], known["action"]) for known in self.findings}:
            self.findings.append(found)

    def _record(self, **fields: Any) -> dict[str, Any]:
        record = {**fields, "worker": self.name}
        self.records.append(record)
        return record


def tools(call: Callable[[str, Args], Awaitable[Any]]) -> list[Callable[..., Awaitable[Any]]]:
    """The tools as functions, from whose signatures the SDKs make their descriptions."""

    async def read_file(path: str) -> Any:
        """Reads a file."""
        return await call("read_file", {"path": path})

    async def search(query: str) -> Any:
        """Searches the files."""
        return await call("search", {"query": query})

    async def query(sql: str) -> Any:
        """Asks the database."""
        return await call("query", {"sql": sql})

    async def status(job: int) -> Any:
        """Looks at a job."""
        return await call("status", {"job": job})

    async def ask_helper(question: str) -> Any:
        """Asks another agent."""
        return await call("ask_helper", {"question": question})

    return [read_file, search, query, status, ask_helper]
