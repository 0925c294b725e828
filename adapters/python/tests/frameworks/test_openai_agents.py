"""The OpenAI Agents SDK."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from agents import (
    Agent,
    RunConfig,
    RunContextWrapper,
    Runner,
    ToolInputGuardrailTripwireTriggered,
    function_tool,
    set_tracing_disabled,
)
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call
from agents.usage import Usage
from scenarios import DONE, MISSING, STOP, Played, SeesUnknownTools, Turn, failing
from scenarios import read_file as work

from unstuck.openai_agents import Unstuck

set_tracing_disabled(True)
_ids = itertools.count()


class Scripted(Model):
    """Answers each run with the script that its first message names."""

    def __init__(
        self,
        scripts: dict[str, list[Turn]],
        played: dict[str, Played],
        tool: str,
        others: dict[int, str] | None = None,
    ) -> None:
        """``others`` are the tools of some turns, counted from 0."""
        self.scripts, self.played, self.tool, self.others = scripts, played, tool, others or {}

    async def get_response(
        self, system_instructions: str | None, input: Any, *_: Any, **__: Any
    ) -> ModelResponse:
        name = input if isinstance(input, str) else input[0]["content"]
        played = self.played[name]
        items = [{"content": input}] if isinstance(input, str) else input
        played.requests.append(
            "\n".join(str(i.get("output") or i.get("arguments") or i.get("content")) for i in items)
        )
        number = len(played.requests) - 1
        turn, tool = self.scripts[name][number], self.others.get(number, self.tool)
        if isinstance(turn, str):
            output = [assistant_message(turn)]
        else:
            output = [function_call(tool, args, call_id=f"c{next(_ids)}") for args in turn]
        return ModelResponse(output=output, usage=Usage(requests=1), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


class TestOpenAIAgents(SeesUnknownTools):
    def play(
        self, *scripts: list[Turn], guarded: bool = True, called: str = "read_file", **options: Any
    ) -> list[Played]:
        played = {f"run {i}": Played() for i in range(len(scripts))}

        @function_tool
        async def read_file(context: RunContextWrapper[str], path: str) -> str:
            """Reads a file."""
            played[context.context].ran.append(path)
            await asyncio.sleep(0)
            return work(path)

        watch = Unstuck(**options)
        tools = watch.tools([read_file]) if guarded else [read_file]
        # The run that nobody watches has the same texts of exceptions.
        config = watch.run_config()
        model = watch.model(Scripted(dict(zip(played, scripts, strict=True)), played, called))
        agent = Agent[str](name="files", model=model, tools=tools)

        async def run(name: str) -> None:
            try:
                result = await Runner.run(agent, name, context=name, run_config=config, max_turns=50)
                played[name].end = result.final_output
            except ToolInputGuardrailTripwireTriggered as stop:
                played[name].end = stop.output.output_info.message

        async def run_all() -> None:
            await asyncio.gather(*(run(name) for name in played))

        asyncio.run(run_all())
        return list(played.values())

    def test_an_agent_that_is_a_tool_has_a_guard_of_its_own(self) -> None:
        names = ("outer", "inner")
        # Each reads the missing file twice. Three times by one agent would be noted.
        scripts: list[list[Turn]] = [
            [*failing(2)[:-1], [{"input": "inner"}], "done"],
            failing(2),
        ]
        played = {name: Played() for name in names}

        @function_tool
        def read_file(path: str) -> str:
            """Reads a file."""
            return work(path)

        watch = Unstuck()
        tools, config = watch.tools([read_file]), watch.run_config()
        inner = Agent(
            name="inner", model=Scripted({"inner": scripts[1]}, played, "read_file"), tools=tools
        )
        outer = Agent(
            name="outer",
            model=Scripted({"outer": scripts[0]}, played, "read_file", {2: "ask"}),
            tools=[*tools, inner.as_tool("ask", "Asks.")],
        )
        asyncio.run(Runner.run(outer, "outer", run_config=config))
        requests = [request for name in names for request in played[name].requests]
        assert len(requests) == 4 + 3
        assert not any("[unstuck]" in request for request in requests)

    def test_a_formatter_of_the_host_stays(self) -> None:
        config = RunConfig(tool_error_formatter=lambda error: "ours")
        assert Unstuck().run_config(config) is config

    def test_the_strong_model_takes_one_turn_before_a_refusal_at_most_twice(self) -> None:
        strong = ScriptedModel(reads(f"strong {n}") for n in (1, 2))
        loops: list[Turn] = [[{"path": f"missing {n}"}] for n in "abc" for _ in range(5)]
        (played,) = self.play([*loops, DONE], escalate_to=strong)
        # Each takes the turn after the fifth equal failure, and then the usual model goes on.
        assert [played.ran.index(f"strong {n}") for n in (1, 2)] == [5, 11]
        assert len(strong.calls) == 2
        assert len(played.requests) == len(loops) + 1
        asked_about_a_loop(strong.calls[0])
        # The question is no part of the history.
        assert not any("stuck, and you take" in request for request in played.requests)
        assert played.end == DONE

    def test_a_loop_that_goes_on_is_refused_and_ends_as_always(self) -> None:
        strong = ScriptedModel([reads("missing.txt")])
        (played,) = self.play(failing(12), escalate_to=strong)
        assert played.ran == ["missing.txt"] * 5
        assert len(played.requests) == 7
        assert len(strong.calls) == 1
        assert played.end.startswith(STOP)

    def test_the_strong_model_takes_a_turn_about_an_unknown_tool(self) -> None:
        strong = ScriptedModel([reads("a.txt")])
        (played,) = self.play(failing(5), called="write_file", escalate_to=strong)
        assert played.ran == ["a.txt"]
        asked_about_a_loop(strong.calls[0], "write_file")

    def test_the_strong_model_takes_a_turn_of_a_stream(self) -> None:
        usual = ScriptedModel([*(reads(**MISSING) for _ in range(5)), [assistant_message(DONE)]])
        strong = ScriptedModel([reads("a.txt")])
        ran = []

        @function_tool
        def read_file(path: str) -> str:
            """Reads a file."""
            ran.append(path)
            return work(path)

        watch = Unstuck(escalate_to=strong)
        agent = Agent(name="files", model=watch.model(usual), tools=watch.tools([read_file]))

        async def run() -> None:
            result = Runner.run_streamed(agent, "run", run_config=watch.run_config())
            async for _ in result.stream_events():
                pass
            assert result.final_output == DONE

        asyncio.run(run())
        assert ran == ["missing.txt"] * 5 + ["a.txt"]
        (call,) = strong.calls
        assert call.streamed
        asked_about_a_loop(call)

    def test_a_model_stays_as_it_is_without_a_stronger_one(self) -> None:
        model = ScriptedModel()
        assert Unstuck(escalate=2).model(model) is model


def reads(path: str) -> ModelStep:
    """A turn that reads one file."""
    return ModelStep(output=[function_call("read_file", {"path": path}, call_id=f"c{next(_ids)}")])


def asked_about_a_loop(call: ModelCall, tool: str = "read_file") -> None:
    """Checks that the call ends with the question about five equal failures."""
    question = call.input[-1]
    assert question["role"] == "user"
    assert question["content"].startswith("[unstuck] The model that works here is stuck")
    assert f"the same `{tool}` call 5 times in a row" in question["content"]
