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
from scenarios import DONE, STOP, FileMissing, Played, SeesUnknownTools, TakesMessages, Turn, failing
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
        **options: Any,
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
        app = App(name="files", root_agent=agent, plugins=[UnstuckPlugin(**options)] if guarded else [])
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

    def test_the_strong_model_takes_one_turn_before_a_refusal_at_most_twice(self) -> None:
        loops: list[Turn] = [[{"path": f"missing {n}"}] for n in "abc" for _ in range(5)]
        strong = Strong(model="strong", asked=[])
        (played,) = self.play([*loops, DONE], escalate_to=strong)
        # Each takes the turn after the fifth equal failure, and then the usual model goes on.
        assert [played.ran.index(f"strong {n}") for n in (1, 2)] == [5, 11]
        assert len(strong.asked) == 2
        assert len(played.requests) == len(loops) + 1
        assert strong.asked[0].startswith("[unstuck] The model that works here is stuck")
        assert "the same `read_file` call 5 times in a row" in strong.asked[0]
        # The question is no part of the history.
        assert not any("stuck, and you take" in request for request in played.requests)
        assert played.end == DONE

    def test_a_loop_that_goes_on_is_refused_and_ends_as_always(self) -> None:
        strong = Strong(model="strong", asked=[], path="missing.txt")
        (played,) = self.play(failing(12), escalate_to=strong)
        assert played.ran == ["missing.txt"] * 5
        assert len(played.requests) == 7
        assert played.end.startswith(STOP)


class Strong(BaseLlm):
    """Reads one file in each of its turns, and keeps what it was asked."""

    asked: list[Any]
    path: str = ""

    async def generate_content_async(
        self, request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = [part for content in request.contents for part in content.parts or []]
        self.asked.append(parts[-1].text)
        args = {"path": self.path or f"strong {len(self.asked)}", "run": "run 0"}
        call = types.Part(function_call=types.FunctionCall(name="read_file", args=args))
        yield LlmResponse(content=types.Content(role="model", parts=[call]))
