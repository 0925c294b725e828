"""Strands Agents, with its own instrumentation."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from scenarios import HELPER, MAIN, tools
from scenarios import Agent as Player
from strands import Agent, tool
from strands.models.model import Model

_ids = itertools.count()


def instrument(provider: TracerProvider, content: bool) -> None:
    """The SDK uses the global provider."""


def reads(outcome: str | Exception) -> str:
    if isinstance(outcome, str):
        return outcome
    return f"Error: {type(outcome).__name__} - {outcome}"


class Scripted(Model):
    def __init__(self, player: Player) -> None:
        self.player = player

    def update_config(self, **_: Any) -> None:
        pass

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "scripted"}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        turn = self.player.answer()
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(turn, str):
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": turn}}}
            yield {"contentBlockStop": {}}
        else:
            for name, args in turn:
                call = {"name": name, "toolUseId": f"c{next(_ids)}"}
                yield {"contentBlockStart": {"start": {"toolUse": call}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(args)}}}}
                yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(turn, str) else "tool_use"}}


def build(player: Player) -> Agent:
    return Agent(
        model=Scripted(player),
        name=player.name,
        tools=[tool(function) for function in tools(player.call)],
        callback_handler=None,
        trace_attributes={"session.id": player.conversation},
    )


async def talk(players: dict[str, Player], prompts: list[str]) -> None:
    agent = build(players[MAIN])
    if HELPER in players:
        helper = build(players[HELPER])

        async def ask(question: str) -> str:
            players[HELPER].told(question)
            return str((await helper.invoke_async(question)).message["content"][0]["text"])

        players[MAIN].ask = ask
    for prompt in prompts:
        players[MAIN].told(prompt)
        await agent.invoke_async(prompt)
