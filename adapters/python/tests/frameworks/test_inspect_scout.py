"""Inspect Scout, over logs that Inspect writes here. It reads recorded runs, so nothing acts on a run."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, ToolCall, ToolError, tool
from inspect_scout import scan, scan_results_df, transcripts_from
from scenarios import HEALTHY, MISSING, FileMissing, Turn, failing
from scenarios import read_file as work

import unstuck
from unstuck.inspect_scout import unstuck as stuck

_ids = itertools.count()


@tool
def read_file() -> Tool:
    async def execute(path: str) -> str:
        """Reads a file.

        Args:
            path: The path.
        """
        try:
            return work(path)
        except FileMissing as error:
            raise ToolError(str(error)) from error

    return execute


def record(home: Path, scripts: list[list[Turn]]) -> None:
    """Writes the log of an evaluation with one sample for each script."""

    def model(messages: Any, *_: Any) -> ModelOutput:
        turns = sum(isinstance(message, ChatMessageAssistant) for message in messages)
        turn = scripts[int(messages[0].text)][turns]
        if isinstance(turn, str):
            output = ModelOutput.from_content("mockllm", turn)
        else:
            calls = [ToolCall(id=f"c{next(_ids)}", function="read_file", arguments=args) for args in turn]
            output = ModelOutput.from_message(ChatMessageAssistant(content="", tool_calls=calls), "tool_calls")
        # Without it, a tokenizer is downloaded.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    samples = [Sample(id=str(i), input=str(i)) for i in range(len(scripts))]
    task = Task(dataset=samples, solver=[use_tools(read_file()), generate()])
    eval(
        task,
        model=get_model("mockllm/model", custom_outputs=model, memoize=False),
        log_dir=str(home / "logs"),
        display="none",
    )


def scanned(home: Path) -> dict[str, Any]:
    """Returns the row of each sample."""
    status = scan(
        [stuck()],
        transcripts=transcripts_from(str(home / "logs")),
        scans=str(home / "scans"),
        max_processes=1,
        display="none",
    )
    results = scan_results_df(status.location)
    return {row["transcript_task_id"]: row for _, row in results.scanners["unstuck"].iterrows()}


def test_each_transcript_is_judged_by_itself(tmp_path: Path) -> None:
    record(tmp_path, [failing(2), failing(2), failing(3), HEALTHY, [[MISSING] * 4, "done"], failing(9)])
    rows = scanned(tmp_path)
    assert [int(rows[str(i)]["value"]) for i in range(6)] == [0, 0, 1, 0, 0, 1]
    assert rows["2"]["answer"] == "nudge"
    assert "`read_file` 3 times in a row, failing alike" in rows["2"]["explanation"]
    assert rows["2"]["explanation"].endswith("[M2] [M4] [M6]")
    assert rows["5"]["answer"] == "stop"


def test_a_defect_is_an_error_of_the_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    record(tmp_path, [failing(3)])
    monkeypatch.setattr(unstuck.Guard, "before", broken)
    status = scan(
        [stuck()],
        transcripts=transcripts_from(str(tmp_path / "logs")),
        scans=str(tmp_path / "scans"),
        max_processes=1,
        display="none",
    )
    assert [error.error for error in status.errors] == ["a defect"]
