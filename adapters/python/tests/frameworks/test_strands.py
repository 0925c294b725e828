"""Strands Agents."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import Any

from scenarios import Played, SeesUnknownTools, TakesMessages, Turn
from scenarios import read_file as work
from strands import Agent, tool
from strands.models.model import Model

from unstuck.strands import UnstuckHooks

_ids = itertools.count()


class Scripted(Model):
    def __init__(self, script: list[Turn], played: Played, called: str) -> None:
        self.script, self.played, self.called = script, played, called

    def update_config(self, **_: Any) -> None:
        pass

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> Any:
        self.played.requests.append("\n".join(text(block) for m in messages for block in m["content"]))
        turn = self.script[len(self.played.requests) - 1]
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
            yield {"contentBlockStop": {}}
        else:
            for args in turn:
                call = {"name": self.called, "toolUseId": f"c{next(_ids)}"}
                yield {"contentBlockStart": {"start": {"toolUse": call}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(args)}}}}
                yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(turn, str) else "tool_use"}}


def text(block: Any) -> str:
    if "toolUse" in block:
        return f"call: {block['toolUse']['input']}"
    if "toolResult" in block:
        return "\n".join(part["text"] for part in block["toolResult"]["content"])
    return str(block["text"])


class TestStrands(TakesMessages, SeesUnknownTools):
    def play(
        self, *scripts: list[Turn], guarded: bool = True, called: str = "read_file", times: int = 1
    ) -> list[Played]:
        # An agent of this framework has one run at a time, so the runs share the hooks only.
        hooks = [UnstuckHooks()] if guarded else []
        played = [Played() for _ in scripts]

        async def run(script: list[Turn], one: Played) -> None:
            @tool
            async def read_file(path: str) -> str:
                """Reads a file."""
                one.ran.append(path)
                await asyncio.sleep(0)
                return work(path)

            agent = Agent(
                model=Scripted(script, one, called), tools=[read_file], hooks=hooks, callback_handler=None
            )
            for i in range(times):
                result = await agent.invoke_async(f"go {i}")
                one.end = result.message["content"][0].get("text", "")

        async def run_all() -> None:
            await asyncio.gather(*map(run, scripts, played))

        asyncio.run(run_all())
        return played
