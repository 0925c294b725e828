"""Hooks for Strands Agents. Each agent has a guard of its own, even if agents share the hooks."""

from __future__ import annotations

from typing import Any

from strands.hooks import (
    AfterToolCallEvent,
    AfterToolsEvent,
    BeforeInvocationEvent,
    BeforeToolCallEvent,
    HookProvider,
    HookRegistry,
)
from strands.types.tools import ToolResult

from . import Decision
from ._adapter import Identities, Sessions, fails_open, text_of

__all__ = ["UnstuckHooks"]


class UnstuckHooks(HookProvider):
    """Adds notes to the results of repeated calls, refuses calls that keep failing, and ends stuck runs.

    Takes the options of ``unstuck.Guards``. A run ends with the reason as the answer of the model.

    >>> agent = Agent(tools=[read_file], hooks=[UnstuckHooks()])  # doctest: +SKIP
    """

    def __init__(self, preset: str = "balanced", **options: Any) -> None:
        self._sessions = Sessions(preset, **options)
        self._identities = Identities()
        self._stops: dict[str, str] = {}

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        registry.add_callback(BeforeInvocationEvent, self._began)
        registry.add_callback(BeforeToolCallEvent, self._before)
        registry.add_callback(AfterToolCallEvent, self._after)
        registry.add_callback(AfterToolsEvent, self._turn_ended)

    @fails_open
    async def _began(self, event: BeforeInvocationEvent) -> None:
        for message in event.messages or []:
            text = text_of(message["content"])
            if message["role"] == "user" and isinstance(text, str):
                self._sessions.user_message(self._identities.of(event.agent), text)

    @fails_open
    async def _before(self, event: BeforeToolCallEvent) -> None:
        session, call = self._identities.of(event.agent), event.tool_use
        decision = self._sessions.before(
            session,
            call["name"],
            call["input"],
            id=call["toolUseId"],
            step=event.invocation_state.get("event_loop_cycle_id"),
        )
        if decision is not None and decision.blocked:
            event.cancel_tool = decision.message or True
            self._remember(session, decision)

    @fails_open
    async def _after(self, event: AfterToolCallEvent) -> None:
        session, result = self._identities.of(event.agent), event.result
        # This is called for a refused call, too. The guard knows that the call has ended.
        decision = self._sessions.after(
            session,
            event.tool_use["toolUseId"],
            text_of(result["content"]),
            error=result["status"] == "error",
        )
        if decision is None:
            return
        self._remember(session, decision)
        if decision.message is not None:
            noted: ToolResult = {**result, "content": [*result["content"], {"text": decision.message}]}
            event.result = noted

    @fails_open
    async def _turn_ended(self, event: AfterToolsEvent) -> None:
        stop = self._stops.pop(self._identities.of(event.agent), None)
        if stop is not None:
            event.end_turn = stop

    def _remember(self, session: str, decision: Decision) -> None:
        if decision.ends_run:
            self._stops[session] = decision.message or "The run ends here."
