"""LiteLLM: the loop of the README, with a `Router` whose models are scripted."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # prices come from the package, not from the network

import litellm
from litellm import Choices, CustomLLM, Message, ModelResponse, Router
from scenarios import DONE, NOTE, REFUSAL, STOP, Played, Turn, failing, read_file

README = Path(__file__).parents[2] / "README.md"
EXAMPLE = re.search(r"^### LiteLLM\n.*?^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)
assert EXAMPLE is not None
_ids = itertools.count()


class Scripted(CustomLLM):
    """Answers with the next turn of the script that has the name of the model."""

    def __init__(self, **scripts: Iterable[Turn]) -> None:
        super().__init__()
        self.scripts = {name: iter(script) for name, script in scripts.items()}
        self.requests: dict[str, list[list[dict[str, Any]]]] = {name: [] for name in scripts}

    def completion(self, model: str, messages: list[Any], *_: Any, **__: Any) -> ModelResponse:
        self.requests[model].append([dict(message) for message in messages])
        turn = next(self.scripts[model])
        if isinstance(turn, str):
            return ModelResponse(choices=[Choices(message=Message(content=turn))])
        calls = [{"name": "read_file", "arguments": json.dumps(args)} for args in turn]
        calls = [{"id": f"c{next(_ids)}", "type": "function", "function": call} for call in calls]
        return ModelResponse(choices=[Choices(message=Message(content=None, tool_calls=calls))])


def play(monkeypatch: pytest.MonkeyPatch, scripted: Scripted) -> Played:
    monkeypatch.setattr(litellm, "custom_provider_map", [{"provider": "ours", "custom_handler": scripted}])
    names = [{"model_name": name, "litellm_params": {"model": f"ours/{name}"}} for name in scripted.scripts]
    played = Played()

    def run_tool(tool: str, args: str) -> tuple[str, bool]:
        assert tool == "read_file"
        path = json.loads(args)["path"]
        played.ran.append(path)
        try:
            return read_file(path), False
        except Exception as error:
            return str(error), True

    example: dict[str, Any] = {}
    exec(compile(EXAMPLE[1], "README.md", "exec"), example)
    messages = [{"role": "user", "content": "Read the files."}]
    played.end = example["run"](Router(model_list=names, num_retries=0), messages, [], run_tool)
    played.requests = [json.dumps(request, default=str) for request in scripted.requests["usual"]]
    return played


def test_the_strong_model_takes_one_turn_before_a_refusal_at_most_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    loops: list[Turn] = [[{"path": f"missing {n}"}] for n in "abc" for _ in range(5)]
    scripted = Scripted(usual=[*loops, DONE], stronger=[[{"path": f"strong {n}"}] for n in (1, 2)])
    played = play(monkeypatch, scripted)
    # Each takes the turn after the fifth equal failure, and then the usual model goes on.
    assert [played.ran.index(f"strong {n}") for n in (1, 2)] == [5, 11]
    assert len(played.requests) == len(loops) + 1
    asked = [request[-1] for request in scripted.requests["stronger"]]
    assert [question["role"] for question in asked] == ["user", "user"]
    assert asked[0]["content"].startswith("[unstuck] The model that works here is stuck")
    assert "the same `read_file` call 5 times in a row" in asked[0]["content"]
    # The question is no part of the history.
    assert not any("stuck, and you take" in request for request in played.requests)
    assert played.end == DONE


def test_a_loop_that_goes_on_is_refused_and_ends_as_always(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = Scripted(usual=failing(12), stronger=failing(1))
    played = play(monkeypatch, scripted)
    assert played.ran == ["missing.txt"] * 5
    assert len(played.requests) == 7
    assert len(scripted.requests["stronger"]) == 1
    assert NOTE not in played.requests[2] and NOTE in played.requests[3]
    assert REFUSAL in played.requests[5]
    assert played.end.startswith(STOP)


def test_calls_of_one_answer_are_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = Scripted(usual=[[{"path": "missing.txt"}] * 6, DONE], stronger=[])
    played = play(monkeypatch, scripted)
    assert played.ran == ["missing.txt"] * 6
    assert "[unstuck]" not in played.requests[-1]
