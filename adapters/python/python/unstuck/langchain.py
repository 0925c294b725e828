"""Middleware for LangChain agents, LangGraph's ``ToolNode`` and deepagents.

The guard of a thread is found by its thread id and checkpoint namespace. A run without a thread id, and a
middleware that is ``stateless``, rebuilds the guard from the messages of the state at each call, so nothing
is kept between calls and any process may serve any turn.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import ModelRequest, ModelResponse, ToolCallRequest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Command

from . import Answer, Decision, Escalation, Guard
from ._adapter import Sessions, step_number, text_of
from ._escalation import OnEscalate, escalation

__all__ = ["UnstuckMiddleware", "stop_message", "without_calls"]

_KEY = "unstuck"
"""The key of a tool message's ``response_metadata`` under which the middleware keeps what it did."""

_Result = ToolMessage | Command[Any]


class UnstuckMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Adds notes to the results of repeated calls, refuses calls that keep failing, and ends stuck runs.

    Takes the options of ``unstuck.Guards``. Put it before (outside) other middleware, except that of
    retries: a retry of the same call on purpose is one call if the retrying middleware is inside.

    ``escalate_to`` takes one turn before a loop is refused, with the finding as its question, at most twice in a
    thread. ``on_escalate`` is asked first, and may be async. ``collapse`` leaves turns that only repeat out of the
    requests to the model; the state keeps them.

    >>> from langchain.agents import create_agent
    >>> agent = create_agent(model, tools, middleware=[UnstuckMiddleware()])  # doctest: +SKIP
    """

    def __init__(
        self,
        preset: str = "balanced",
        *,
        stateless: bool = False,
        escalate_to: BaseChatModel | None = None,
        on_escalate: OnEscalate | None = None,
        collapse: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        if escalate_to is not None or on_escalate is not None:
            options.setdefault("escalate", 2)
        self._sessions = Sessions(preset, **options)
        options.pop("capacity", None)
        self._preset, self._options, self._stateless = preset, options, stateless
        self._escalate_to, self._on_escalate, self._collapse = escalate_to, on_escalate, collapse

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        session = self._session(runtime)
        messages = _messages(state)
        if session is not None and messages and isinstance(messages[-1], HumanMessage):
            self._sessions.user_message(session, str(messages[-1].text))

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        self.before_agent(state, runtime)

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        text = stop_message(_messages(state))
        if text is None:
            return None
        return {"jump_to": "end", "messages": [AIMessage(text)]}

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        return self.before_model(state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self._prepared(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(self._prepared(request))

    def _prepared(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """Returns the request without turns that only repeat, and for the other model if it takes this turn."""
        try:
            messages = list(request.messages)
            question = _question(messages) if self._escalate_to is not None else None
            if self._collapse:
                messages = without_calls(messages, self._repeated(request))
            if question is not None and self._escalate_to is not None:
                messages.append(HumanMessage(question))
                return request.override(model=self._escalate_to, messages=messages)
            return request.override(messages=messages) if self._collapse else request
        except Exception as defect:
            self._sessions.failed(defect)
            return request

    def _repeated(self, request: ModelRequest[Any]) -> list[str]:
        session = self._session(request.runtime)
        messages = request.messages
        ids = [call["id"] or "" for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
        if session is not None:
            return self._sessions.guard(session).repeated(ids)
        guard = Guard(self._preset, **self._options)
        _replay(guard, messages, [id for id, count in Counter(ids).items() if count == 1])
        return guard.repeated(ids)

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], _Result]
    ) -> _Result:
        call = self._announce(request)
        call.heard(self._answer(call.escalation))
        refusal = call.refusal
        if refusal is not None:
            return refusal
        try:
            result = handler(request)
        except BaseException as error:
            call.raised(error)
            raise
        call.ended(result)
        call.heard(self._answer(call.escalation))
        return call.answered(result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[_Result]]
    ) -> _Result:
        call = self._announce(request)
        call.heard(await self._awaited(call.escalation))
        refusal = call.refusal
        if refusal is not None:
            return refusal
        try:
            result = await handler(request)
        except BaseException as error:
            call.raised(error)
            raise
        call.ended(result)
        call.heard(await self._awaited(call.escalation))
        return call.answered(result)

    def _answer(self, asked: Escalation | None) -> Answer | None:
        # The threads of tools run no event loop.
        is_asked = asked is not None and self._on_escalate is not None
        return asyncio.run(self._awaited(asked)) if is_asked else None

    async def _awaited(self, asked: Escalation | None) -> Answer | None:
        """Returns what the function of the host says, if it is asked."""
        if asked is None or self._on_escalate is None:
            return None
        try:
            answer = self._on_escalate(asked)
            return await answer if inspect.isawaitable(answer) else answer
        except Exception as defect:
            self._sessions.failed(defect)
            return None

    def _announce(self, request: ToolCallRequest) -> _Call:
        return _Call(request, self._sessions, self._guard(request))

    def _guard(self, request: ToolCallRequest) -> Guard | None:
        """Returns the guard of the call's thread, or one rebuilt from the messages before the call."""
        try:
            session = self._session(request.runtime)
            if session is not None:
                return self._sessions.guard(session)
            guard = Guard(self._preset, **self._options)
            _replay(guard, _messages(request.state))
            return guard
        except Exception as defect:
            self._sessions.failed(defect)
            return None

    def _session(self, runtime: Any) -> str | None:
        """Returns the id of the thread and of the graph inside it, or None if there is no thread."""
        info = getattr(runtime, "execution_info", None)
        if self._stateless or info is None or info.thread_id is None:
            return None
        # The last part names the task: `tools:<id>`, or `tools:<id>|tools:<id>` in a graph inside a tool.
        graph, _, _ = info.checkpoint_ns.rpartition("|")
        return f"{info.thread_id}|{graph}"


def stop_message(messages: Sequence[AnyMessage]) -> str | None:
    """Returns why the run has to end, or None. A graph with a ``ToolNode`` of its own asks this after it.

    >>> def route(state):
    ...     return END if stop_message(state["messages"]) else "model"
    """
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            return None
        if message.response_metadata.get(_KEY, {}).get("stop"):
            return str(message.response_metadata[_KEY]["stop"])
    return None


def without_calls(messages: Sequence[AnyMessage], ids: Collection[str]) -> list[AnyMessage]:
    """Returns the messages without the turns whose calls all have one of these ids, and without their results.

    >>> messages = without_calls(messages, guard.repeated(ids))  # doctest: +SKIP
    """
    gone: set[str | None] = set()
    left: list[AnyMessage] = []
    for message in messages:
        calls = {call["id"] for call in message.tool_calls} if isinstance(message, AIMessage) else set()
        if calls and calls <= set(ids):
            gone |= calls
        elif not (isinstance(message, ToolMessage) and message.tool_call_id in gone):
            left.append(message)
    return left


def _question(messages: Sequence[AnyMessage]) -> str | None:
    """Returns what the other model is asked about the latest results, if it is."""
    for message in reversed(messages):
        if not isinstance(message, ToolMessage):
            return None
        if message.response_metadata.get(_KEY, {}).get("question"):
            return str(message.response_metadata[_KEY]["question"])
    return None


class _Call:
    """One call between its announcement and its result."""

    def __init__(self, request: ToolCallRequest, sessions: Sessions, guard: Guard | None) -> None:
        self._tool_call, self._sessions, self._guard = request.tool_call, sessions, guard
        self._ticket = None
        self._decision: Decision | None = None
        self._text: object = ""
        self._answer: Answer | None = None
        if guard is None:
            return
        try:
            call = request.tool_call
            step = _step(_turn(_messages(request.state)))
            decision = guard.before(call["name"], call["args"], id=call["id"] or None, step=step)
            self._ticket, self._decision = decision.ticket, decision
        except Exception as defect:
            sessions.failed(defect)

    @property
    def escalation(self) -> Escalation | None:
        """What somebody is asked about the latest decision, if they are."""
        return None if self._decision is None else escalation(self._decision, self._text)

    def heard(self, answer: Answer | None) -> None:
        """Takes in what somebody says about the latest decision."""
        if answer is None or self._guard is None or self._decision is None:
            return
        try:
            self._decision = self._guard.answered(self._decision, answer)
            self._answer = answer
        except Exception as defect:
            self._sessions.failed(defect)

    @property
    def refusal(self) -> ToolMessage | None:
        """The answer to a call that must not run."""
        if self._decision is None or not self._decision.blocked:
            return None
        return ToolMessage(
            self._decision.message or "",
            tool_call_id=self._tool_call["id"] or "",
            name=self._tool_call["name"],
            status="error",
            response_metadata={_KEY: {"refused": True, **self._kept(self._decision)}},
        )

    def ended(self, result: _Result) -> None:
        """Reports the result."""
        self._decision = None
        if self._guard is None:
            return
        try:
            message = self._message(result)
            if message is None:
                self._guard.cancelled(self._ticket)
                return
            self._text = text_of(message.content)
            self._decision = self._guard.after(self._ticket, self._text, error=message.status == "error")
        except Exception as defect:
            self._sessions.failed(defect)

    def answered(self, result: _Result) -> _Result:
        """Returns the result with a note if there is one."""
        try:
            message, decision = self._message(result), self._decision
            if message is None or decision is None:
                return result
            if decision.message is None and not decision.ends_run and self._answer is None:
                return result
            noted = self._noted(message, decision)
            if isinstance(result, ToolMessage):
                return noted
            update: Any = result.update
            messages = [noted if other is message else other for other in update["messages"]]
            return replace(result, update={**update, "messages": messages})
        except Exception as defect:
            self._sessions.failed(defect)
            return result

    def raised(self, error: BaseException) -> None:
        """Reports an exception. An interrupt of the graph or of the task is no failure of the tool."""
        if self._guard is None:
            return
        try:
            if isinstance(error, Exception) and not isinstance(error, GraphBubbleUp):
                self._guard.after(self._ticket, error, error=True)
            else:
                self._guard.cancelled(self._ticket)
        except Exception as defect:
            self._sessions.failed(defect)

    def _message(self, result: _Result) -> ToolMessage | None:
        """Returns the answer to this call. A ``Command`` has it among the messages of its update."""
        if isinstance(result, ToolMessage):
            return result
        update = getattr(result, "update", None)
        for message in update.get("messages", []) if isinstance(update, Mapping) else []:
            if isinstance(message, ToolMessage) and message.tool_call_id == self._tool_call["id"]:
                return message
        return None

    def _noted(self, message: ToolMessage, decision: Decision) -> ToolMessage:
        content: Any = message.content
        if isinstance(message.content, str):
            content = decision.annotate(message.content)
        elif decision.message is not None:
            content = [*message.content, {"type": "text", "text": decision.message}]
        kept = {"content": message.content, **self._kept(decision)}
        return message.model_copy(
            update={"content": content, "response_metadata": {**message.response_metadata, _KEY: kept}}
        )

    def _kept(self, decision: Decision) -> dict[str, Any]:
        """Returns what a message keeps of a decision."""
        kept = {"stop": _stop(decision), "question": decision.question, "answer": self._answer}
        return {key: value for key, value in kept.items() if value is not None}


def _stop(decision: Decision) -> str | None:
    return (decision.message or "The run ends here.") if decision.ends_run else None


def _replay(guard: Guard, messages: Sequence[AnyMessage], ids: Collection[str] = ()) -> None:
    """Reports the history to a new guard, up to the calls that are not answered yet. Names the calls with these ids."""
    answers = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    for message in messages:
        if isinstance(message, HumanMessage):
            guard.user_message(str(message.text))
        if not isinstance(message, AIMessage):
            continue
        calls = [call for call in message.tool_calls if call["id"] in answers]
        step = _step(message)
        named = [call["id"] if call["id"] in ids else None for call in calls]
        begun = [
            guard.before(call["name"], call["args"], id=id, step=step)
            for call, id in zip(calls, named, strict=True)
        ]
        for call, before in zip(calls, begun, strict=True):
            answer = answers[call["id"] or ""]
            kept = answer.response_metadata.get(_KEY, {})
            if kept.get("refused"):
                after = guard.refused(before.ticket)
            else:
                content = kept.get("content", answer.content)
                after = guard.after(before.ticket, text_of(content), error=answer.status == "error")
            for decision in before, after:
                if decision.question is not None:
                    guard.answered(decision, kept.get("answer"))


def _turn(messages: Sequence[AnyMessage]) -> AIMessage | None:
    return next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)


def _step(turn: AIMessage | None) -> int | None:
    return None if turn is None or turn.id is None else step_number(turn.id)


def _messages(state: Any) -> Sequence[AnyMessage]:
    if isinstance(state, Mapping):
        found = state.get("messages", [])
    else:
        found = state if isinstance(state, list) else getattr(state, "messages", [])
    return found if isinstance(found, list) else []
