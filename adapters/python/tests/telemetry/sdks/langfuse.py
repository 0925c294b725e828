"""An agent loop of one's own, with the SDK of Langfuse."""

from __future__ import annotations

import asyncio
from typing import Any

from langfuse import Langfuse, get_client, observe, propagate_attributes
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from scenarios import HELPER, MAIN, Args, FileMissing, Turn
from scenarios import Agent as Player


class Nowhere(SpanExporter):
    """Takes the place of the exporter to Langfuse's server."""

    def export(self, spans: Any) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def instrument(provider: TracerProvider, content: bool) -> None:
    def hidden(*, data: Any, **_: Any) -> Any:
        return None

    Langfuse(
        public_key="pk-lf-none",
        secret_key="sk-lf-none",
        base_url="http://127.0.0.1:9",
        tracer_provider=provider,
        span_exporter=Nowhere(),
        mask=None if content else hidden,
    )


def reads(outcome: str | Exception) -> str:
    return str(outcome)


async def called(player: Player, tool: str, args: Args) -> str:
    @observe(name=tool, as_type="tool")
    async def run(**args: Any) -> str:
        return await player.call(tool, args)

    try:
        return await run(**args)
    except FileMissing as error:
        return str(error)


def asked(player: Player, messages: list[dict[str, Any]]) -> Turn:
    options: Any = {"as_type": "generation", "name": "model", "input": list(messages)}
    with get_client().start_as_current_observation(**options) as generation:
        turn = player.answer()
        generation.update(output={"role": "assistant", "content": str(turn)})
    return turn


async def answered(player: Player, messages: list[dict[str, Any]], prompt: str) -> str:
    @observe(name=player.name, as_type="agent")
    async def agent(prompt: str) -> str:
        messages.append({"role": "user", "content": prompt})
        while True:
            turn = asked(player, messages)
            messages.append({"role": "assistant", "content": str(turn)})
            if isinstance(turn, str):
                return turn
            results = await asyncio.gather(*(called(player, tool, args) for tool, args in turn))
            messages.extend({"role": "tool", "content": result} for result in results)

    return await agent(prompt)


async def talk(players: dict[str, Player], prompts: list[str]) -> None:
    if HELPER in players:

        async def ask(question: str) -> str:
            players[HELPER].told(question)
            return await answered(players[HELPER], [], question)

        players[MAIN].ask = ask
    with propagate_attributes(session_id=players[MAIN].conversation):
        messages: list[dict[str, Any]] = []
        for prompt in prompts:
            players[MAIN].told(prompt)
            await answered(players[MAIN], messages, prompt)
    get_client().flush()
