"""The OpenHands SDK."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

# Without it, the import asks the network for prices.
os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "OPENHANDS_SUPPRESS_BANNER": "1"}

import pytest
from openhands.sdk import Action, Agent, Conversation, Observation, Tool, ToolDefinition, register_tool
from openhands.sdk.conversation.state import ConversationExecutionStatus
from openhands.sdk.event import MessageEvent
from openhands.sdk.llm import Message, MessageToolCall, TextContent
from openhands.sdk.testing import TestLLM
from openhands.sdk.tool import ToolExecutor
from pydantic import PrivateAttr
from scenarios import NOTE, FileMissing, Played, Scenarios, Turn, failing
from scenarios import read_file as work

from unstuck.openhands import watch

_ids = itertools.count()
_played: dict[Any, Played] = {}


class ReadFileAction(Action):
    path: str


class ReadFileObservation(Observation):
    pass


class ReadFileExecutor(ToolExecutor[ReadFileAction, ReadFileObservation]):
    def __call__(self, action: ReadFileAction, conversation: Any = None) -> ReadFileObservation:
        _played[conversation.state.id].ran.append(action.path)
        try:
            return ReadFileObservation.from_text(work(action.path))
        except FileMissing as error:
            return ReadFileObservation.from_text(str(error), is_error=True)


class ReadFileTool(ToolDefinition[ReadFileAction, ReadFileObservation]):
    @classmethod
    def create(cls, conv_state: Any = None, **_: Any) -> Sequence[ReadFileTool]:
        return [
            cls(
                description="Reads a file.",
                action_type=ReadFileAction,
                observation_type=ReadFileObservation,
                executor=ReadFileExecutor(),
            )
        ]


register_tool("read_file", ReadFileTool)


class Scripted(TestLLM):
    """Keeps the requests."""

    _played: Played = PrivateAttr(default_factory=Played)

    def completion(self, messages: list[Message], *args: Any, **options: Any) -> Any:
        lines = [part.text for m in messages for part in m.content if isinstance(part, TextContent)]
        self._played.requests.append("\n".join(line for line in lines if "<" not in line))
        return super().completion(messages, *args, **options)


def answer(turn: Turn, called: str) -> Message:
    if isinstance(turn, str):
        return Message(role="assistant", content=[TextContent(text=turn)])
    calls = [
        MessageToolCall(id=f"c{next(_ids)}", name=called, arguments=json.dumps(args), origin="completion")
        for args in turn
    ]
    return Message(role="assistant", content=[], tool_calls=calls)


class TestOpenHands(Scenarios):
    @pytest.fixture(autouse=True)
    def _home(self, tmp_path: Path) -> None:
        self.home = tmp_path

    def play(
        self, *scripts: list[Turn], guarded: bool = True, called: str = "read_file", times: int = 1
    ) -> list[Played]:
        def run(script: list[Turn]) -> Played:
            llm = Scripted.from_messages([answer(turn, called) for turn in script])
            assert isinstance(llm, Scripted)
            agent = Agent(llm=llm, tools=[Tool(name="read_file")], include_default_tools=[])
            conversation = Conversation(
                agent=agent, workspace=str(self.home), visualizer=None, stuck_detection=False
            )
            played = _played[conversation.state.id] = llm._played
            detector = watch(conversation) if guarded else None
            for i in range(times):
                conversation.send_message(f"go {i}")
                conversation.run()
            if detector and conversation.state.execution_status == ConversationExecutionStatus.STUCK:
                played.end = detector.reason or ""
            else:
                said = [e for e in conversation.state.events if isinstance(e, MessageEvent)][-1]
                played.end = said.llm_message.content[0].text
            conversation.close()
            return played

        with ThreadPoolExecutor(len(scripts)) as pool:
            return list(pool.map(run, scripts))

    def test_a_repeated_failing_call_is_refused(self) -> None:
        # Nothing can be refused here. The run ends at the call that should have been.
        played = self.play_one(failing(6))
        assert played.ran == ["missing.txt"] * 6
        assert len(played.requests) == 6
        assert played.end == "`read_file` 6 times in a row, failing alike"

    def test_the_run_ends(self) -> None:
        assert len(self.play_one(failing(12)).requests) == 6

    def test_a_new_message_of_the_user_lifts_it(self) -> None:
        (played,) = self.play([*failing(6)[:-1], *failing(1)], times=2)
        assert played.end == "done"

    def test_an_unknown_tool_is_a_failing_call(self) -> None:
        (played,) = self.play(failing(3), called="write_file")
        assert NOTE.replace("read_file", "write_file") in played.requests[3]

    def test_a_conversation_on_a_server_is_an_error(self) -> None:
        with pytest.raises(TypeError, match="expected a LocalConversation, not object"):
            watch(object())
