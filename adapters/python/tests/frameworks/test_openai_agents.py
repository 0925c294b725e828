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
from agents.testing import assistant_message, function_call
from agents.usage import Usage
from scenarios import Played, SeesUnknownTools, Turn, failing
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

    async def get_response(self, *_: Any, input: Any, **__: Any) -> ModelResponse:
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
    def play(self, *scripts: list[Turn], guarded: bool = True, called: str = "read_file") -> list[Played]:
        played = {f"run {i}": Played() for i in range(len(scripts))}

        @function_tool
        async def read_file(context: RunContextWrapper[str], path: str) -> str:
            """Reads a file."""
            played[context.context].ran.append(path)
            await asyncio.sleep(0)
            return work(path)

        watch = Unstuck()
        tools = watch.tools([read_file]) if guarded else [read_file]
        # The run that nobody watches has the same texts of exceptions.
        config = watch.run_config()
        model = Scripted(dict(zip(played, scripts, strict=True)), played, called)
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
