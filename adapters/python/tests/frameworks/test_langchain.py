"""LangChain, LangGraph's ToolNode and deepagents."""

from __future__ import annotations

import asyncio
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Command
from scenarios import DONE, MISSING, NOTE, STOP, FileMissing, Played, Scenarios, Turn, failing, read_file

from unstuck import Escalation, PolicyError
from unstuck.langchain import UnstuckMiddleware, stop_message, without_calls

_ids = itertools.count()


class Scripted(BaseChatModel):
    """Answers with the script that is named in the first message of the user."""

    scripts: dict[str, list[Turn]]
    played: dict[str, Played]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        name = next(str(m.content) for m in messages if isinstance(m, HumanMessage))
        played = self.played[name]
        played.requests.append("\n".join(f"{m.type}: {m.content}" for m in messages))
        turn = self.scripts[name][len(played.requests) - 1]
        if isinstance(turn, str):
            answer = AIMessage(turn)
        else:
            calls = [
                ToolCall(name="read_file", args={**args, "run": name}, id=f"c{next(_ids)}", type="tool_call")
                for args in turn
            ]
            answer = AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=answer)])


class Base(Scenarios):
    """Plays with ``create_agent``, and one thread for each run."""

    options: dict[str, Any] = {}
    has_threads = True

    def agent(self, model: Any, tools: list[BaseTool], guarded: bool) -> Any:
        return create_agent(
            model,
            tools,
            middleware=[UnstuckMiddleware(**self.options)] if guarded else [],
            checkpointer=InMemorySaver() if self.has_threads else None,
        )

    def invoke(self, agent: Any, name: str) -> str:
        config = {"configurable": {"thread_id": name}, "recursion_limit": 100} if self.has_threads else {}
        return str(agent.invoke({"messages": [HumanMessage(name)]}, config)["messages"][-1].content)

    def play(self, *scripts: list[Turn], guarded: bool = True) -> list[Played]:
        names = [f"run {i}" for i in range(len(scripts))]
        played = {name: Played() for name in names}

        def read(path: str, run: str) -> str:
            played[run].ran.append(path)
            try:
                return read_file(path)
            except FileMissing as error:
                raise ToolException(str(error)) from error

        file_tool = tool("read_file", description="Reads a file.")(read)
        file_tool.handle_tool_error = True
        model = Scripted(scripts=dict(zip(names, scripts, strict=True)), played=played)
        agent = self.agent(model, [file_tool], guarded)
        with ThreadPoolExecutor(len(names)) as pool:
            for name, end in zip(names, pool.map(lambda n: self.invoke(agent, n), names), strict=True):
                played[name].end = end
        return list(played.values())


class TestThreads(Base):
    def test_a_new_message_of_the_user_lifts_the_refusal(self) -> None:
        script: list[Turn] = [*failing(6), *failing(1)]
        played = {"go": Played()}

        @tool
        def read_file(path: str, run: str) -> str:
            """Reads a file."""
            played[run].ran.append(path)
            return "Error: no such file"

        model = Scripted(scripts={"go": script}, played=played)
        agent = self.agent(model, [read_file], guarded=True)
        config = {"configurable": {"thread_id": "1"}}
        agent.invoke({"messages": [HumanMessage("go")]}, config)
        assert len(played["go"].ran) == 5
        agent.invoke({"messages": [HumanMessage("the file is there now")]}, config)
        assert len(played["go"].ran) == 6

    def test_an_unknown_tool_is_a_failing_call(self) -> None:
        played = {"go": Played()}
        model = Scripted(scripts={"go": failing(3)}, played=played)

        @tool
        def other() -> str:
            """Another tool."""
            return ""

        agent = self.agent(model, [other], guarded=True)
        self.invoke(agent, "go")
        assert NOTE in played["go"].requests[-1]

    @pytest.mark.parametrize("is_command", [True, False])
    def test_a_note_stands_beside_other_results(self, is_command: bool) -> None:
        played = {"go": Played()}
        model = Scripted(scripts={"go": failing(3)}, played=played)

        @tool
        def read_file(path: str, run: str, runtime: ToolRuntime) -> Any:
            """Reads a file."""
            if not is_command:
                return [{"type": "text", "text": "no such file"}]
            answer = ToolMessage("no such file", tool_call_id=runtime.tool_call_id, status="error")
            return Command(update={"messages": [answer]})

        self.invoke(self.agent(model, [read_file], guarded=True), "go")
        assert NOTE[:60] in played["go"].requests[-1]
        assert "no such file" in played["go"].requests[-1]

    def test_a_tool_that_raises_is_reported_and_raises(self) -> None:
        class Ours(Exception):
            pass

        @tool
        def read_file(path: str, run: str) -> str:
            """Reads a file."""
            raise Ours(path)

        model = Scripted(scripts={"go": failing(3)}, played={"go": Played()})
        agent = self.agent(model, [read_file], guarded=True)
        with pytest.raises(Ours):
            self.invoke(agent, "go")


class TestThreadsAsync(Base):
    def invoke(self, agent: Any, name: str) -> str:
        config = {"configurable": {"thread_id": name}}
        result = asyncio.run(agent.ainvoke({"messages": [HumanMessage(name)]}, config))
        return str(result["messages"][-1].content)


class TestWithoutThreads(Base):
    has_threads = False


class TestStateless(Base):
    options = {"stateless": True}


class TestDeepAgents(Base):
    def agent(self, model: Any, tools: list[BaseTool], guarded: bool) -> Any:
        return create_deep_agent(
            model,
            tools,
            middleware=[UnstuckMiddleware()] if guarded else [],
            checkpointer=InMemorySaver(),
        )

    def invoke(self, agent: Any, name: str) -> str:
        config = {"configurable": {"thread_id": name}, "recursion_limit": 500}
        return str(agent.invoke({"messages": [HumanMessage(name)]}, config)["messages"][-1].content)


class Lines(BaseChatModel):
    """Answers with these messages in turn, whoever asks, and keeps what it read last."""

    lines: list[AIMessage]
    read: list[str]

    @property
    def _llm_type(self) -> str:
        return "lines"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.read.append(str(messages[-1].content))
        return ChatResult(generations=[ChatGeneration(message=self.lines.pop(0))])


def calls(name: str, *args: dict[str, str]) -> AIMessage:
    made = [ToolCall(name=name, args=one, id=f"c{next(_ids)}", type="tool_call") for one in args]
    return AIMessage("", tool_calls=made)


def test_subagents_have_guards_of_their_own() -> None:
    @tool
    def look(path: str) -> str:
        """Looks."""
        return "Error: no such file"

    task = {"description": "-", "subagent_type": "looker"}
    tasks = [calls("task", task) for _ in range(2)]
    main = Lines(lines=[*tasks, AIMessage(DONE)], read=[])
    looks = [calls("look", {"path": "x"}) for _ in range(6)]
    sub = Lines(lines=[*looks[:2], AIMessage("a"), *looks[2:], AIMessage("b")], read=[])
    subagent = {
        "name": "looker",
        "description": "Looks.",
        "system_prompt": "-",
        "tools": [look],
        "model": sub,
        "middleware": [UnstuckMiddleware()],
    }
    agent: Any = create_deep_agent(
        main, [], middleware=[UnstuckMiddleware()], subagents=[subagent], checkpointer=InMemorySaver()
    )
    agent.invoke({"messages": [HumanMessage("go")]}, {"configurable": {"thread_id": "1"}})
    # Two equal looks of the first subagent and four of the second: only the latter has three.
    noted = ["unstuck" in text for text in sub.read]
    assert noted == [False] * 6 + [True] + [False]


class TestToolNode(Base):
    """A graph of one's own ends where its router asks ``stop_message``."""

    def agent(self, model: Any, tools: list[BaseTool], guarded: bool) -> Any:
        watch = UnstuckMiddleware()
        wraps: dict[str, Any] = (
            {"wrap_tool_call": watch.wrap_tool_call, "awrap_tool_call": watch.awrap_tool_call} if guarded else {}
        )

        def ask(state: MessagesState) -> dict[str, Any]:
            stop = stop_message(state["messages"])
            return {"messages": [AIMessage(stop) if stop else model.invoke(state["messages"])]}

        def route(state: MessagesState) -> str:
            last = state["messages"][-1]
            return "tools" if isinstance(last, AIMessage) and last.tool_calls else END

        graph = StateGraph(MessagesState)
        graph.add_node("model", ask)
        graph.add_node("tools", ToolNode(tools, **wraps))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", route)
        graph.add_edge("tools", "model")
        return graph.compile(checkpointer=InMemorySaver())


del Base  # It is no test of its own.


def test_a_wrong_option_is_an_error_at_once() -> None:
    with pytest.raises(PolicyError):
        UnstuckMiddleware("no such preset")


Modes = pytest.mark.parametrize("is_stateless", [False, True], ids=["thread", "stateless"])
Ways = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


class Named(Scripted):
    """Notes in ``turns`` who took each turn, and what was asked last."""

    name: str
    turns: Any  # A list would be copied.

    def _generate(self, messages: list[BaseMessage], *rest: Any, **more: Any) -> ChatResult:
        self.turns.append((self.name, str(messages[-1].content)))
        return super()._generate(messages, *rest, **more)


def play_guarded(script: list[Turn], is_async: bool = False, **options: Any) -> tuple[Played, list[tuple[str, str]]]:
    """Plays a script with two models. With ``escalates``, the other one is there to be asked."""
    turns: list[tuple[str, str]] = []
    played = {"go": Played()}
    usual, strong = (Named(name=name, scripts={"go": script}, played=played, turns=turns) for name in ("usual", "strong"))
    if options.pop("escalates", False):
        options["escalate_to"] = strong

    def read(path: str, run: str) -> str:
        played["go"].ran.append(path)
        try:
            return read_file(path)
        except FileMissing as error:
            raise ToolException(str(error)) from error

    file_tool = tool("read_file", description="Reads a file.")(read)
    file_tool.handle_tool_error = True
    watch = UnstuckMiddleware(**options)
    agent: Any = create_agent(usual, [file_tool], middleware=[watch], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": 100}
    given = {"messages": [HumanMessage("go")]}
    state = asyncio.run(agent.ainvoke(given, config)) if is_async else agent.invoke(given, config)
    played["go"].end = str(state["messages"][-1].content)
    assert not any("stuck, and you take" in str(m.content) for m in state["messages"]), "the question is kept"
    return played["go"], turns


@Modes
@Ways
def test_the_strong_model_takes_one_turn_at_most_twice(is_stateless: bool, is_async: bool) -> None:
    loops: list[Turn] = [[{"path": f"missing {n}"}] for n in "abc" for _ in range(6)]
    _, turns = play_guarded([*loops, DONE], is_async, escalates=True, stateless=is_stateless)
    # After the fifth equal failure of a loop, the sixth turn is the other model's.
    assert [at for at, (who, _) in enumerate(turns) if who == "strong"] == [5, 11]
    question = turns[5][1]
    assert question.startswith("[unstuck] The model that works here is stuck, and you take its next turn.")
    assert "the same `read_file` call 5 times in a row" in question


@Modes
def test_if_the_loop_goes_on_it_is_refused_and_ends_as_always(is_stateless: bool) -> None:
    played, _ = play_guarded(failing(12), escalates=True, stateless=is_stateless)
    assert len(played.requests) == 8
    assert played.ran == ["missing.txt"] * 5
    assert played.end.startswith(STOP)


@Modes
@Ways
@pytest.mark.parametrize(("answer", "ran", "requests"), [("go on", 9, 10), ("stop", 5, 5), (None, 5, 8)])
def test_a_second_opinion_holds(
    answer: Any, ran: int, requests: int, is_stateless: bool, is_async: bool
) -> None:
    seen = []

    async def asked_later(escalation: Escalation) -> Any:
        await asyncio.sleep(0)
        seen.append(escalation.excerpt)
        return answer

    def asked(escalation: Escalation) -> Any:
        seen.append(escalation.excerpt)
        return answer

    function = asked_later if is_async else asked
    played, turns = play_guarded(failing(9), is_async, on_escalate=function, stateless=is_stateless)
    assert seen == ["no such file: missing.txt"]
    assert (len(played.ran), len(played.requests)) == (ran, requests)
    assert {who for who, _ in turns} == {"usual"}
    assert (played.end == DONE) == (answer == "go on")


@Modes
def test_turns_that_only_repeat_are_left_out_of_the_requests(is_stateless: bool) -> None:
    other: list[Turn] = [[{"path": "a.txt"}, MISSING]]
    script: list[Turn] = [*([MISSING] for _ in range(4)), *other, DONE]
    played, _ = play_guarded(script, collapse=True, stateless=is_stateless)
    found = [request.count("no such file") for request in played.requests]
    # The first and the latest stay. A turn that has more than a repeated call stays whole.
    assert found == [0, 1, 2, 2, 2, 2]
    assert played.requests[-1].count("content of a.txt") == 1
    # Each request has pairs of calls and results.
    assert all(request.count("ai:") == request.count("tool:") for request in played.requests[:-1])
    plain, _ = play_guarded(script, stateless=is_stateless)
    assert [request.count("no such file") for request in plain.requests] == [0, 1, 2, 3, 4, 5]


def test_turns_are_removed_with_all_their_results() -> None:
    two, mixed = calls("look", {"path": "a"}, {"path": "b"}), calls("look", {"path": "a"}, {"path": "c"})
    answers = [ToolMessage(".", tool_call_id=call["id"] or "") for turn in (two, mixed) for call in turn.tool_calls]
    messages = [HumanMessage("go"), two, *answers[:2], mixed, *answers[2:]]
    ids = [call["id"] or "" for call in [*two.tool_calls, *mixed.tool_calls[:1]]]
    assert without_calls(messages, ids) == [messages[0], *messages[4:]]
    assert without_calls(messages, []) == messages
