"""Google's Agent Development Kit, with its own instrumentation."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from opentelemetry.sdk.trace import TracerProvider
from scenarios import HELPER, MAIN, Args, FileMissing, tools
from scenarios import Agent as Player


def instrument(provider: TracerProvider, content: bool) -> None:
    """The SDK uses the global provider."""


def reads(outcome: str | Exception) -> str | dict[str, str]:
    # The SDK takes a result with `error` for a failure, and puts a text into an object.
    return outcome if isinstance(outcome, str) else {"error": str(outcome)}


class Scripted(BaseLlm):
    player: Any

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        turn = self.player.answer()
        if isinstance(turn, str):
            answer = [types.Part(text=turn)]
        else:
            answer = [
                types.Part(function_call=types.FunctionCall(name=tool, args=args)) for tool, args in turn
            ]
        yield LlmResponse(content=types.Content(role="model", parts=answer))


def build(player: Player) -> LlmAgent:
    async def call(tool: str, args: Args) -> str | dict[str, str]:
        try:
            return reads(await player.call(tool, args))
        except FileMissing as error:
            return reads(error)

    return LlmAgent(
        name=player.name, model=Scripted(model="scripted", player=player), tools=tools(call)
    )


async def talk(players: dict[str, Player], prompts: list[str]) -> None:
    runner = InMemoryRunner(agent=build(players[MAIN]), app_name="files")
    if HELPER in players:
        helper = InMemoryRunner(agent=build(players[HELPER]), app_name="files")

        async def ask(question: str) -> str:
            players[HELPER].told(question)
            return await run(helper, players[HELPER].conversation, question)

        players[MAIN].ask = ask
    for prompt in prompts:
        players[MAIN].told(prompt)
        await run(runner, players[MAIN].conversation, prompt)


async def run(runner: InMemoryRunner, session: str, prompt: str) -> str:
    service, end = runner.session_service, ""
    if await service.get_session(app_name="files", user_id="me", session_id=session) is None:
        await service.create_session(app_name="files", user_id="me", session_id=session)
    message = types.UserContent(prompt)
    async for event in runner.run_async(user_id="me", session_id=session, new_message=message):
        if event.is_final_response() and event.content and event.content.parts:
            end = event.content.parts[0].text or ""
    return end
