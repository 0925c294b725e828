"""Google's Agent Development Kit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from scenarios import FileMissing, Played, SeesUnknownTools, TakesMessages, Turn, failing
from scenarios import read_file as work

from unstuck.google_adk import UnstuckPlugin


class Scripted(BaseLlm):
    """Answers each session with the script that its first message names."""

    scripts: dict[str, list[Turn]]
    played: dict[str, Played]
    tool: str

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in request.contents for part in content.parts or []]
        name = next(part.text for part in parts if part.text)
        played = self.played[name]
        played.requests.append("\n".join(map(text, parts)))
        turn = self.scripts[name][len(played.requests) - 1]
        if isinstance(turn, str):
            answer = [types.Part(text=turn)]
        else:
            answer = [
                types.Part(function_call=types.FunctionCall(name=self.tool, args={**args, "run": name}))
                for args in turn
            ]
        yield LlmResponse(content=types.Content(role="model", parts=answer))


def text(part: types.Part) -> str:
    if part.function_call:
        return f"call: {part.function_call.args}"
    return str(part.function_response.response) if part.function_response else str(part.text)


class TestGoogleADK(TakesMessages, SeesUnknownTools):
    def play(
        self,
        *scripts: list[Turn],
        guarded: bool = True,
        called: str = "read_file",
        raises: bool = False,
        times: int = 1,
    ) -> list[Played]:
        played = {f"run {i}": Played() for i in range(len(scripts))}

        async def read_file(path: str, run: str, tool_context: ToolContext) -> dict[str, Any]:
            """Reads a file."""
            played[run].ran.append(path)
            await asyncio.sleep(0)
            try:
                return {"content": work(path)}
            except FileMissing as error:
                if raises:
                    raise
                return {"error": str(error)}

        model = Scripted(
            model="scripted", scripts=dict(zip(played, scripts, strict=True)), played=played, tool=called
        )
        agent = LlmAgent(name="files", model=model, tools=[read_file])
        app = App(name="files", root_agent=agent, plugins=[UnstuckPlugin()] if guarded else [])
        runner = InMemoryRunner(app=app)

        async def run(name: str) -> None:
            session = await runner.session_service.create_session(app_name="files", user_id="me")
            for i in range(times):
                message = types.UserContent(name if i == 0 else f"again, {i}")
                async for event in runner.run_async(
                    user_id="me", session_id=session.id, new_message=message
                ):
                    if event.is_final_response() and event.content:
                        played[name].end = event.content.parts[0].text or ""

        async def run_all() -> None:
            await asyncio.gather(*(run(name) for name in played))

        asyncio.run(run_all())
        return list(played.values())

    def test_a_tool_that_raises_ends_the_run_as_before(self) -> None:
        with pytest.raises(FileMissing):
            self.play(failing(3), raises=True)
