"""CrewAI."""

from __future__ import annotations

import itertools
import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

os.environ |= {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TESTING": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
}

from crewai import Agent, BaseLLM, Crew, Task
from crewai.hooks.dispatch import HookAborted
from crewai.tools import tool
from scenarios import NOTE, Played, Scenarios, Turn, failing
from scenarios import read_file as work

from unstuck.crewai import install

_ids = itertools.count()


class Scripted(BaseLLM):
    script: list[Turn]
    played: Played
    called: str

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        self.played.requests.append("\n".join(map(text, messages)))
        turn = self.script[len(self.played.requests) - 1]
        if isinstance(turn, str):
            return turn
        return [
            {
                "id": f"c{next(_ids)}",
                "type": "function",
                "function": {"name": self.called, "arguments": json.dumps(args)},
            }
            for args in turn
        ]

    def supports_function_calling(self) -> bool:
        return True


def text(message: Any) -> str:
    calls = [call["function"]["arguments"] for call in message.get("tool_calls") or []]
    return f"{message['role']}: {message['content']} {calls}"


class TestCrewAI(Scenarios):
    # At the fifth, its own rule raises out of `kickoff`.
    failures_max = 4
    test_three_steps_of_parallel_calls_are_three = None

    def play(
        self, *scripts: list[Turn], guarded: bool = True, called: str = "read_file", times: int = 1
    ) -> list[Played]:
        # An agent of this framework has one run at a time, so the runs share the hooks only.
        played = [Played() for _ in scripts]

        def run(script: list[Turn], one: Played) -> None:
            @tool
            def read_file(path: str) -> str:
                """Reads a file."""
                one.ran.append(path)
                return work(path)

            read_file.cache_function = lambda *_: False
            llm = Scripted(model="scripted", script=script, played=one, called=called)
            agent = Agent(
                role="files", goal="read", backstory="-", llm=llm, tools=[read_file], max_iter=50
            )
            task = Task(description="read", expected_output="text", agent=agent)
            crew = Crew(agents=[agent], tasks=[task], verbose=False)
            try:
                for _ in range(times):
                    one.end = crew.kickoff().raw
            except HookAborted as stop:
                one.end = stop.reason

        uninstall = install() if guarded else lambda: None
        try:
            with ThreadPoolExecutor(len(scripts)) as pool:
                list(pool.map(run, scripts, played))
        finally:
            uninstall()
        return played

    def test_a_new_run_begins_anew(self) -> None:
        (played,) = self.play([*failing(2), *failing(2), *failing(3)], times=3)
        assert NOTE not in played.requests[5]
        assert NOTE in played.requests[-1]

    def test_an_unknown_tool_is_a_failing_call(self) -> None:
        (played,) = self.play(failing(3), called="write_file")
        assert NOTE.replace("read_file", "write_file")[:60] in played.requests[3]
