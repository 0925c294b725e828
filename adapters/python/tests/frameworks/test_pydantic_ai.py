"""Pydantic AI."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent, ModelRetry, RunContext, ToolFailed, UnexpectedModelBehavior
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from scenarios import NOTE, FileMissing, Played, Scenarios, Turn, failing
from scenarios import read_file as work

from unstuck.pydantic_ai import Unstuck


def text(messages: list[ModelMessage]) -> str:
    lines = []
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, ToolReturnPart):
            lines.append(f"{part.outcome}: {part.model_response_str()}")
        elif isinstance(part, ToolCallPart):
            lines.append(f"call: {part.args}")
        else:
            lines.append(f"{part.part_kind}: {getattr(part, 'content', '')}")
    return "\n".join(lines)


@dataclass
class Files:
    played: Played
    script: list[Turn]


class TestPydanticAI(Scenarios):
    def play(self, *scripts: list[Turn], guarded: bool = True, raises: Any = ToolFailed) -> list[Played]:
        runs = {f"run {i}": Files(Played(), script) for i, script in enumerate(scripts)}

        def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
            first = messages[0].parts[0]
            assert isinstance(first, UserPromptPart)
            run = runs[str(first.content)]
            run.played.requests.append(text(messages))
            turn = run.script[len(run.played.requests) - 1]
            if isinstance(turn, str):
                return ModelResponse(parts=[TextPart(turn)])
            return ModelResponse(parts=[ToolCallPart("read_file", args) for args in turn])

        agent = Agent(
            FunctionModel(model), deps_type=Files, capabilities=[Unstuck()] if guarded else [], retries=1
        )

        @agent.tool
        async def read_file(ctx: RunContext[Files], path: str) -> Any:
            ctx.deps.played.ran.append(path)
            await asyncio.sleep(0)
            try:
                return work(path)
            except FileMissing as error:
                if raises is None:
                    return {"error": str(error)}
                raise raises(str(error)) from error

        async def run(name: str) -> None:
            runs[name].played.end = (await agent.run(name, deps=runs[name])).output

        async def run_all() -> None:
            await asyncio.gather(*(run(name) for name in runs))

        asyncio.run(run_all())
        return [run.played for run in runs.values()]

    def test_a_note_stands_beside_a_value_that_is_no_text(self) -> None:
        (played,) = self.play(failing(3), raises=None)
        assert '{"error":"no such file: missing.txt"}' in played.requests[-1]
        assert f"user-prompt: {NOTE[:60]}" in played.requests[-1]

    def test_the_retries_of_the_framework_stay(self) -> None:
        try:
            self.play(failing(3), raises=ModelRetry)
        except UnexpectedModelBehavior as error:
            assert "exceeded max retries" in str(error)
        else:
            raise AssertionError("the framework allows one retry")
