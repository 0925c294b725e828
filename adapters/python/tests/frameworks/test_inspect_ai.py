"""Inspect."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.approval import ApprovalPolicy
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, ToolCall, ToolError, tool
from scenarios import MISSING, FileMissing, Played, Scenarios, Turn, failing
from scenarios import read_file as work

from unstuck.inspect_ai import unstuck

_ids = itertools.count()


def text(message: Any) -> str:
    if isinstance(message, ChatMessageTool):
        return message.error.message if message.error else message.text
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        return str([call.arguments for call in message.tool_calls])
    return str(message.text)


class TestInspectAI(Scenarios):
    @pytest.fixture(autouse=True)
    def _home(self, tmp_path: Path) -> None:
        self.home = tmp_path

    def play(self, *scripts: list[Turn], guarded: bool = True) -> list[Played]:
        names = [f"run {i}" for i in range(len(scripts))]
        played = {name: Played() for name in names}
        turns = dict(zip(names, scripts, strict=True))

        def model(messages: Any, *_: Any) -> ModelOutput:
            name = messages[0].text
            played[name].requests.append("\n".join(map(text, messages)))
            turn = turns[name][len(played[name].requests) - 1]
            if isinstance(turn, str):
                output = ModelOutput.from_content("mockllm", turn)
            else:
                calls = [
                    ToolCall(id=f"c{next(_ids)}", function="read_file", arguments={**args, "run": name})
                    for args in turn
                ]
                output = ModelOutput.from_message(
                    ChatMessageAssistant(content="", tool_calls=calls), "tool_calls"
                )
            # Without it, a tokenizer is downloaded.
            output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
            return output

        @tool
        def read_file() -> Tool:
            async def execute(path: str, run: str) -> str:
                """Reads a file.

                Args:
                    path: The path.
                    run: The name of the run.
                """
                played[run].ran.append(path)
                try:
                    return work(path)
                except FileMissing as error:
                    raise ToolError(str(error)) from error

            return execute

        task = Task(dataset=[Sample(input=n) for n in names], solver=[use_tools(read_file()), generate()])
        (log,) = eval(
            task,
            model=get_model("mockllm/model", custom_outputs=model, memoize=False),
            approval=[ApprovalPolicy(unstuck(), "*")] if guarded else None,
            log_dir=str(self.home),
            display="none",
        )
        for name, sample in zip(names, log.samples or [], strict=True):
            assert not sample.error
            played[name].end = sample.output.completion
            self.sample = sample
        return list(played.values())

    def test_the_model_reads_the_note(self) -> None:
        # An approver cannot change a result.
        played = self.play_one(failing(4))
        assert "unstuck" not in "".join(played.requests)

    test_three_steps_of_parallel_calls_are_three = None  # It would need a note.

    def test_the_run_ends(self) -> None:
        played = self.play_one(failing(12))
        assert len(played.requests) == 8
        assert played.ran == ["missing.txt"] * 5
        approvals = [event for event in self.sample.events if event.event == "approval"]
        assert approvals[-1].decision == "terminate"
        assert self.sample.limit is not None

    def test_concurrent_runs_do_not_mix(self) -> None:
        played = self.play(failing(3), failing(3), failing(6))
        assert ["unstuck" in run.requests[-1] for run in played] == [False, False, True]

    def test_parallel_calls_are_one_step(self) -> None:
        # As steps of their own, they would be enough for a refusal.
        played = self.play_one([[MISSING] * 7, *failing(1)])
        assert played.ran == ["missing.txt"] * 8
        assert "unstuck" not in played.requests[-1]
