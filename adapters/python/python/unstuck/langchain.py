"""Middleware for LangChain agents, LangGraph's ``ToolNode`` and deepagents.

The guard of a thread is found by its thread id and checkpoint namespace. A run without a thread id, and a
middleware that is ``stateless``, rebuilds the guard from the messages of the state at each call, so nothing
is kept between calls and any process may serve any turn.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, hook_config
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime
from langgraph.types import Command

from . import Decision, Guard
from ._adapter import Sessions, step_number, text_of

__all__ = ["UnstuckMiddleware", "stop_message"]

_KEY = "unstuck"
"""The key of a tool message's ``response_metadata`` under which the middleware keeps what it did."""

_Result = ToolMessage | Command[Any]


class UnstuckMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Adds notes to the results of repeated calls, refuses calls that keep failing, and ends stuck runs.

    Takes the options of ``unstuck.Guards``. Put it before (outside) other middleware, except that of
    retries: a retry of the same call on purpose is one call if the retrying middleware is inside.

    >>> from langchain.agents import create_agent
    >>> agent = create_agent(model, tools, middleware=[UnstuckMiddleware()])  # doctest: +SKIP
    """

    def __init__(self, preset: str = "balanced", *, stateless: bool = False, **options: Any) -> None:
        super().__init__()
        self._sessions = Sessions(preset, **options)
        options.pop("capacity", None)
        self._preset, self._options, self._stateless = preset, options, stateless

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

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], _Result]
    ) -> _Result:
        call = self._announce(request)
        if call.refusal is not None:
            return call.refusal
        try:
            result = handler(request)
        except BaseException as error:
            call.raised(error)
            raise
        return call.answered(result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[_Result]]
    ) -> _Result:
        call = self._announce(request)
        if call.refusal is not None:
            return call.refusal
        try:
            result = await handler(request)
        except BaseException as error:
            call.raised(error)
            raise
        return call.answered(result)

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


class _Call:
    """One call between its announcement and its result."""

    def __init__(self, request: ToolCallRequest, sessions: Sessions, guard: Guard | None) -> None:
        self._tool_call, self._sessions, self._guard = request.tool_call, sessions, guard
        self._ticket = None
        self.refusal: ToolMessage | None = None
        if guard is None:
            return
        try:
            call = request.tool_call
            step = _step(_turn(_messages(request.state)))
            decision = guard.before(call["name"], call["args"], id=call["id"] or None, step=step)
            self._ticket = decision.ticket
            if decision.blocked:
                self.refusal = ToolMessage(
                    decision.message or "",
                    tool_call_id=call["id"] or "",
                    name=call["name"],
                    status="error",
                    response_metadata={_KEY: {"refused": True, "stop": _stop(decision)}},
                )
        except Exception as defect:
            sessions.failed(defect)

    def answered(self, result: _Result) -> _Result:
        """Reports the result, and returns it with a note if there is one."""
        if self._guard is None:
            return result
        try:
            message = self._message(result)
            if message is None:
                self._guard.cancelled(self._ticket)
                return result
            decision = self._guard.after(
                self._ticket, text_of(message.content), error=message.status == "error"
            )
            if decision.message is None and not decision.ends_run:
                return result
            noted = _noted(message, decision)
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


def _noted(message: ToolMessage, decision: Decision) -> ToolMessage:
    note = decision.message or ""
    content: Any
    if isinstance(message.content, str):
        content = decision.annotate(message.content)
    else:
        content = [*message.content, {"type": "text", "text": note}]
    kept = {"content": message.content, "stop": _stop(decision)}
    return message.model_copy(
        update={"content": content, "response_metadata": {**message.response_metadata, _KEY: kept}}
    )


def _stop(decision: Decision) -> str | None:
    return (decision.message or "The run ends here.") if decision.ends_run else None


def _replay(guard: Guard, messages: Sequence[AnyMessage]) -> None:
    """Reports the history to a new guard, up to the calls that are not answered yet."""
    answers = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    for message in messages:
        if isinstance(message, HumanMessage):
            guard.user_message(str(message.text))
        if not isinstance(message, AIMessage):
            continue
        calls = [call for call in message.tool_calls if call["id"] in answers]
        step = _step(message)
        tickets = [guard.before(call["name"], call["args"], step=step).ticket for call in calls]
        for call, ticket in zip(calls, tickets, strict=True):
            answer = answers[call["id"] or ""]
            kept = answer.response_metadata.get(_KEY, {})
            if kept.get("refused"):
                guard.refused(ticket)
            else:
                content = kept.get("content", answer.content)
                guard.after(ticket, text_of(content), error=answer.status == "error")


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
