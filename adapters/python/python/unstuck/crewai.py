"""Hooks for CrewAI. They are global there: they watch the agents of all crews of the process.

Each run of an agent has a guard of its own. CrewAI's own rule ends a run at the fifth equal call with an
equal result. The notes make the results differ, so the model hears why first.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from crewai.hooks import (
    register_after_tool_call_hook,
    register_before_tool_call_hook,
    unregister_after_tool_call_hook,
    unregister_before_tool_call_hook,
)
from crewai.hooks.dispatch import HookAborted
from crewai.hooks.tool_hooks import ToolCallHookContext

from . import Decision
from ._adapter import Identities, Sessions

__all__ = ["install"]

_OPEN_MAX = 1024
"""The largest number of calls that wait for a result. A call that was broken off never gets one."""

_AGENTS_MAX = 1024
"""The largest number of agents with a run of their own. The agents that were idle longest are forgotten."""

_FAILED = "Error executing tool: "
"""How CrewAI begins the result of a call that raised."""


def install(preset: str = "balanced", **options: Any) -> Callable[[], None]:
    """Adds the hooks, and returns a function that removes them. Takes the options of ``unstuck.Guards``.

    They add notes to the results of repeated calls and refuse calls that keep failing. A stuck run ends with
    CrewAI's ``HookAborted`` out of ``kickoff``, whose ``reason`` is the message.

    >>> uninstall = install()  # doctest: +SKIP
    >>> crew.kickoff()  # doctest: +SKIP
    """
    hooks = _Hooks(preset, options)
    register_before_tool_call_hook(hooks.before)
    register_after_tool_call_hook(hooks.after)

    def uninstall() -> None:
        unregister_before_tool_call_hook(hooks.before)
        unregister_after_tool_call_hook(hooks.after)

    return uninstall


class _Run:
    """What tells the runs of one agent apart: the first message, and that iterations only grow."""

    def __init__(self) -> None:
        self.number = 0
        self._first: object = None
        self._iterations = -1

    def sees(self, messages: list[Any], iterations: int) -> None:
        first = messages[0] if messages else None
        # A compacted history has another first message too, but its iterations go on.
        if first is not self._first and iterations <= self._iterations:
            self.number += 1
        self._first, self._iterations = first, iterations


class _Hooks:
    def __init__(self, preset: str, options: dict[str, Any]) -> None:
        self._sessions = Sessions(preset, **options)
        self._identities = Identities()
        self._runs: dict[str, _Run] = {}
        self._lock = Lock()
        # The context has no id of the call. Both hooks get the same dictionary of arguments.
        self._open: dict[int, tuple[dict[str, Any], str, Decision]] = {}

    def before(self, context: ToolCallHookContext) -> bool | None:
        try:
            executor = getattr(context.agent, "agent_executor", None)
            session = self._session(context, executor)
            args = context.tool_input
            decision = self._sessions.before(session, context.tool_name, args, step=_turn(executor))
        except Exception as defect:
            self._sessions.failed(defect)
            return None
        if decision is None:
            return None
        with self._lock:
            if len(self._open) >= _OPEN_MAX:
                self._open.pop(next(iter(self._open)))
            self._open[id(args)] = (args, session, decision)
        return False if decision.blocked else None

    def after(self, context: ToolCallHookContext) -> str | None:
        with self._lock:
            _, session, before = self._open.pop(id(context.tool_input), (None, "", None))
        if before is None:
            return None
        if before.blocked:
            decision: Decision | None = before
            text = before.message
        else:
            result = context.tool_result or ""
            decision = self._sessions.after(
                session, before.ticket, result, error=result.startswith(_FAILED)
            )
            text = None if decision is None or decision.message is None else decision.annotate(result)
        if decision is not None and decision.ends_run:
            raise HookAborted(decision.message or "The run ends here.", source="unstuck")
        return text

    def _session(self, context: ToolCallHookContext, executor: Any) -> str:
        owner = executor or context.agent or context.crew
        session = self._identities.of(owner) if owner is not None else "crewai"
        state = getattr(executor, "state", None)
        if state is None:
            return session
        with self._lock:
            run = self._runs.pop(session) if session in self._runs else _Run()
            self._runs[session] = run
            if len(self._runs) > _AGENTS_MAX:
                self._runs.pop(next(iter(self._runs)))
            run.sees(state.messages, state.iterations)
            return f"{session}/{run.number}"


def _turn(executor: Any) -> str | None:
    """Returns the ids of the calls of the model's last answer, if it has calls of the native kind."""
    state = getattr(executor, "state", None)
    for message in reversed(state.messages if state is not None else []):
        if message.get("role") == "assistant":
            calls = message.get("tool_calls") or []
            return ",".join(str(call["id"]) for call in calls) or None
    return None
