"""AG2."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from typing import Any

from ag2 import Agent, Context
from ag2.config import LLMClient
from ag2.events import (
    BaseEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextInput,
    ToolCallEvent,
    ToolCallsEvent,
    ToolErrorEvent,
    ToolResultsEvent,
)
from ag2.testing import TestConfig
from ag2.tools import tool
from scenarios import Played, SeesUnknownTools, TakesMessages, Turn
from scenarios import read_file as work

from unstuck.ag2 import middleware

_ids = itertools.count()


def text(event: BaseEvent) -> str:
    if isinstance(event, ModelRequest):
        return "\n".join(part.content for part in event.parts if isinstance(part, TextInput))
    if isinstance(event, ToolResultsEvent):
        return "\n".join(map(told, event.results))
    if isinstance(event, ModelResponse):
        return str(event.content or [call.arguments for call in event.tool_calls.calls])
    return ""


def told(result: Any) -> str:
    parts = [part.content for part in result.result.parts if isinstance(part, TextInput)]
    # The paths in a traceback are of no interest.
    first = str(result.error) if isinstance(result, ToolErrorEvent) else parts[0]
    return "\n".join([first, *parts[1:]])


class Scripted(TestConfig):
    """Answers each conversation with the script that its first message names."""

    def __init__(self, scripts: dict[str, list[Turn]], played: dict[str, Played], called: str) -> None:
        super().__init__()
        self.scripts, self.played, self.called = scripts, played, called

    def copy(self) -> Scripted:
        return self

    def create(self) -> LLMClient:
        return Client(self)


class Client(LLMClient):
    def __init__(self, config: Scripted) -> None:
        self.config = config

    async def __call__(self, messages: Sequence[BaseEvent], context: Context, **_: Any) -> ModelResponse:
        name = next(text(m) for m in messages if isinstance(m, ModelRequest))
        played = self.config.played[name]
        played.requests.append("\n".join(map(text, messages)))
        turn = self.config.scripts[name][len(played.requests) - 1]
        if isinstance(turn, str):
            message = ModelMessage(turn)
            await context.send(message)
            return ModelResponse(message)
        calls = [
            ToolCallEvent(self.config.called, id=f"c{next(_ids)}", arguments=json.dumps({**args, "run": name}))
            for args in turn
        ]
        return ModelResponse(tool_calls=ToolCallsEvent(calls))


class TestAG2(TakesMessages, SeesUnknownTools):
    def play(
        self, *scripts: list[Turn], guarded: bool = True, called: str = "read_file", times: int = 1
    ) -> list[Played]:
        played = {f"run {i}": Played() for i in range(len(scripts))}

        @tool
        async def read_file(path: str, run: str) -> str:
            """Reads a file."""
            played[run].ran.append(path)
            await asyncio.sleep(0)
            return work(path)

        agent = Agent(
            "files",
            config=Scripted(dict(zip(played, scripts, strict=True)), played, called),
            tools=[read_file],
            middleware=[middleware()] if guarded else [],
        )

        async def run(name: str) -> None:
            reply = await agent.ask(name)
            for i in range(1, times):
                reply = await reply.ask(f"again, {i}")
            played[name].end = str(reply.body)

        async def run_all() -> None:
            await asyncio.gather(*(run(name) for name in played))

        asyncio.run(run_all())
        return list(played.values())
