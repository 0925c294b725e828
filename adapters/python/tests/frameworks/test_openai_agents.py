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
from scenarios import NOTE, REFUSAL, Played, Scenarios, Turn, failing
from scenarios import read_file as work

from unstuck.openai_agents import Unstuck

set_tracing_disabled(True)
_ids = itertools.count()


class Scripted(Model):
    """Answers each run with the script that its first message names."""

    def __init__(self, scripts: dict[str, list[Turn]], played: dict[str, Played], tool: str) -> None:
        self.scripts, self.played, self.tool = scripts, played, tool

    async def get_response(self, *_: Any, input: Any, **__: Any) -> ModelResponse:
        name = input if isinstance(input, str) else input[0]["content"]
        played = self.played[name]
        items = [{"content": input}] if isinstance(input, str) else input
        played.requests.append(
            "\n".join(str(i.get("output") or i.get("arguments") or i.get("content")) for i in items)
        )
        turn = self.scripts[name][len(played.requests) - 1]
        if isinstance(turn, str):
            output = [assistant_message(turn)]
        else:
            output = [function_call(self.tool, args, call_id=f"c{next(_ids)}") for args in turn]
        return ModelResponse(output=output, usage=Usage(requests=1), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


class TestOpenAIAgents(Scenarios):
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

    def test_an_unknown_tool_is_a_failing_call(self) -> None:
        (played,) = self.play(failing(6), called="write_file")
        assert NOTE.replace("read_file", "write_file") in played.requests[3]
        assert REFUSAL.replace("read_file", "write_file") in played.requests[6]

    def test_a_formatter_of_the_host_stays(self) -> None:
        config = RunConfig(tool_error_formatter=lambda error: "ours")
        assert Unstuck().run_config(config) is config
