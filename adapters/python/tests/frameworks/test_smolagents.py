"""smolagents."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scenarios import Played, Scenarios, SeesUnknownTools, TakesMessages, Turn, failing
from scenarios import read_file as work
from smolagents import CodeAgent, LogLevel, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from smolagents.utils import AgentError

from unstuck.smolagents import UnstuckToolCallingAgent, watch_code

_ids = itertools.count()


class Scripted(Model):
    def __init__(self, script: list[Turn], played: Played, called: str, is_code: bool) -> None:
        super().__init__()
        self.script, self.played, self.called, self.is_code = script, played, called, is_code

    def generate(self, messages: Any, *_: Any, **__: Any) -> ChatMessage:
        told = [part["text"] for m in messages if m.role != MessageRole.SYSTEM for part in m.content]
        # The framework shows the model the ids of its calls.
        self.played.requests.append("\n".join(text for text in told if "Calling tools:" not in text))
        turn = self.script[len(self.played.requests) - 1]
        if self.is_code:
            code = f"final_answer({turn!r})" if isinstance(turn, str) else f"read_file(**{turn[0]})"
            return ChatMessage(role=MessageRole.ASSISTANT, content=f"<code>\n{code}\n</code>")
        if isinstance(turn, str):
            turn, called = [{"answer": turn}], "final_answer"
        else:
            called = self.called
        calls = [
            ChatMessageToolCall(
                id=f"c{next(_ids)}",
                type="function",
                function=ChatMessageToolCallFunction(name=called, arguments=args),
            )
            for args in turn
        ]
        return ChatMessage(role=MessageRole.ASSISTANT, content="", tool_calls=calls)


class Base(Scenarios):
    is_code = False

    def agent(self, model: Model, tools: list[Any], guarded: bool) -> Any:
        cls = UnstuckToolCallingAgent if guarded else ToolCallingAgent
        return cls(tools=tools, model=model, verbosity_level=LogLevel.OFF, max_steps=50)

    def play(
        self, *scripts: list[Turn], guarded: bool = True, called: str = "read_file", times: int = 1
    ) -> list[Played]:
        played = [Played() for _ in scripts]

        # An agent of this framework has one run at a time, so each run has an agent of its own.
        def run(script: list[Turn], one: Played) -> None:
            @tool
            def read_file(path: str) -> str:
                """Reads a file.

                Args:
                    path: The path.
                """
                one.ran.append(path)
                return work(path)

            agent = self.agent(Scripted(script, one, called, self.is_code), [read_file], guarded)
            for i in range(times):
                try:
                    one.end = agent.run(f"go {i}", reset=i == 0)
                except AgentError as error:
                    assert error.message == "Agent interrupted."
                    one.end = getattr(agent, "stop_reason", None) or error.message

        with ThreadPoolExecutor(len(scripts)) as pool:
            list(pool.map(run, scripts, played))
        return played


class TestToolCallingAgent(Base, TakesMessages, SeesUnknownTools):
    pass


class TestCodeAgent(Base):
    is_code = True
    tool = "python"

    def agent(self, model: Model, tools: list[Any], guarded: bool) -> Any:
        return CodeAgent(
            tools=tools,
            model=model,
            step_callbacks=[watch_code()] if guarded else [],
            verbosity_level=LogLevel.OFF,
            max_steps=50,
        )

    def test_a_repeated_failing_call_is_refused(self) -> None:
        # A step cannot be refused. The run ends after the step that should have been.
        played = self.play_one(failing(6))
        assert played.ran == ["missing.txt"] * 6
        assert played.end == "Agent interrupted."

    def test_the_run_ends(self) -> None:
        assert len(self.play_one(failing(12)).requests) == 6

    # A step has one piece of code.
    test_parallel_calls_are_one_step = None
    test_three_steps_of_parallel_calls_are_three = None


del Base  # It is no test of its own.
