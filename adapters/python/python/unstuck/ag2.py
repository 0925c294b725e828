"""Middleware for AG2. Each conversation, which is a stream there, has a guard of its own."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ag2.annotations import Context
from ag2.events import (
    BaseEvent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextInput,
    ToolCallEvent,
    ToolErrorEvent,
    ToolNotFoundEvent,
    ToolResultEvent,
    ToolResultsEvent,
)
from ag2.middleware import BaseMiddleware, Middleware
from ag2.middleware.base import AgentTurn, LLMCall, ToolExecution, ToolResultType

from . import Decision
from ._adapter import Sessions, text_of

__all__ = ["middleware"]


def middleware(preset: str = "balanced", **options: Any) -> Middleware:
    """Returns middleware for an agent. Takes the options of ``unstuck.Guards``.

    It adds notes to the results of repeated calls, refuses calls that keep failing, and ends stuck runs with
    the reason as the answer of the model.

    >>> agent = Agent("files", config=config, tools=[read_file], middleware=[middleware()])  # doctest: +SKIP
    """
    return Middleware(_Unstuck, sessions=Sessions(preset, **options))


class _Unstuck(BaseMiddleware):
    """The middleware of one turn: from a message of the user to the answer of the model."""

    def __init__(self, event: BaseEvent, context: Context, sessions: Sessions) -> None:
        super().__init__(event, context)
        self._sessions = sessions
        self._session = str(context.stream.id)
        self._requests = 0
        self._stop: str | None = None

    async def on_turn(self, call_next: AgentTurn, event: BaseEvent, context: Context) -> ModelResponse:
        if isinstance(event, ModelRequest):
            text = text_of([getattr(part, "content", part) for part in event.parts])
            if isinstance(text, str):
                self._sessions.user_message(self._session, text)
        return await call_next(event, context)

    async def on_llm_call(
        self, call_next: LLMCall, events: Sequence[BaseEvent], context: Context
    ) -> ModelResponse:
        try:
            self._read_unknown(events)
        except Exception as defect:
            self._sessions.failed(defect)
        self._requests += 1
        if self._stop is not None:
            message = ModelMessage(self._stop)
            await context.send(message)
            return ModelResponse(message)
        return await call_next(events, context)

    async def on_tool_execution(
        self, call_next: ToolExecution, event: ToolCallEvent, context: Context
    ) -> ToolResultType:
        before = self._before(event.name, event.arguments, event.id)
        if before is None:
            return await call_next(event, context)
        if before.blocked:
            return ToolResultEvent.from_call(event, before.message or "")
        try:
            result = await call_next(event, context)
        except BaseException as error:
            if isinstance(error, Exception):
                self._sessions.after(self._session, before.ticket, str(error), error=True)
            else:
                self._sessions.cancelled(self._session, before.ticket)
            raise
        try:
            if not isinstance(result, ToolResultEvent):
                # The client of the agent runs this call, and nobody sees its result here.
                self._sessions.cancelled(self._session, before.ticket)
                return result
            after = self._after(before, result)
            return result if after is None or result.result.final else _noted(result, after)
        except Exception as defect:
            self._sessions.failed(defect)
            return result

    def _read_unknown(self, events: Sequence[BaseEvent]) -> None:
        """Judges calls of unknown tools, which pass no middleware, when the model is to read their errors."""
        latest = events[-1] if events else None
        for result in latest.results if isinstance(latest, ToolResultsEvent) else []:
            if isinstance(result, ToolNotFoundEvent):
                before = self._before(str(result.name), {}, result.parent_id)
                after = None if before is None or before.blocked else self._after(before, result)
                told = before if before is not None and before.blocked else after
                if told is not None and told.message is not None:
                    result.result.parts = [*result.result.parts, TextInput(told.message)]

    def _before(self, tool: str, args: object, id: str) -> Decision | None:
        step = f"{self._session}/{self._requests}"
        return self._remembered(self._sessions.before(self._session, tool, args, id=id, step=step))

    def _after(self, before: Decision, event: ToolResultEvent) -> Decision | None:
        """Reports the result, and returns the decision if it has a note."""
        has_failed = isinstance(event, ToolErrorEvent)
        # The text of an error is a traceback.
        result = (
            f"{type(event.error).__name__}: {event.error}"
            if isinstance(event, ToolErrorEvent)
            else text_of([getattr(part, "content", getattr(part, "data", None)) for part in event.result.parts])
        )
        after = self._remembered(
            self._sessions.after(self._session, before.ticket, result, error=has_failed)
        )
        return None if after is None or after.message is None else after

    def _remembered(self, decision: Decision | None) -> Decision | None:
        if decision is not None and decision.ends_run:
            self._stop = decision.message or "The run ends here."
        return decision


def _noted(event: ToolResultEvent, after: Decision) -> ToolResultEvent:
    noted, noted_result = copy.copy(event), copy.copy(event.result)
    noted_result.parts = [*event.result.parts, TextInput(after.message or "")]
    noted.result = noted_result
    return noted
