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
from scenarios import DONE, MISSING, NOTE, STOP, FileMissing, Played, Scenarios, Turn, failing
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
    def play(
        self, *scripts: list[Turn], guarded: bool = True, raises: Any = ToolFailed, **options: Any
    ) -> list[Played]:
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

        watch = [Unstuck(**options)] if guarded else []
        agent = Agent(FunctionModel(model), deps_type=Files, capabilities=watch, retries=1)

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

    def test_the_strong_model_takes_one_turn_before_a_refusal_at_most_twice(self) -> None:
        asked = []

        def strong(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
            asked.append(text(messages))
            return ModelResponse(parts=[ToolCallPart("read_file", {"path": f"strong {len(asked)}"})])

        loops: list[Turn] = [[{"path": f"missing {n}"}] for n in "abc" for _ in range(5)]
        (played,) = self.play([*loops, DONE], escalate_to=FunctionModel(strong))
        # Each takes the turn after the fifth equal failure, and then the usual model goes on.
        assert [path for path in played.ran if path.startswith("strong")] == ["strong 1", "strong 2"]
        assert [played.ran.index(f"strong {n}") for n in (1, 2)] == [5, 11]
        assert len(played.requests) == len(loops) + 1
        question = asked[0].splitlines()[-1]
        assert question.startswith("user-prompt: [unstuck] The model that works here is stuck")
        assert "the same `read_file` call 5 times in a row" in question
        # The question is no part of the history.
        assert not any("stuck, and you take" in request for request in played.requests)
        assert played.end == DONE

    def test_a_loop_that_goes_on_is_refused_and_ends_as_always(self) -> None:
        def strong(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
            return ModelResponse(parts=[ToolCallPart("read_file", MISSING)])

        (played,) = self.play(failing(12), escalate_to=FunctionModel(strong))
        assert played.ran == ["missing.txt"] * 5
        assert len(played.requests) == 7
        assert played.end.startswith(STOP)
