"""A plugin for Google's Agent Development Kit. Each session has a guard of its own."""

from __future__ import annotations

from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from . import Decision
from ._adapter import Sessions, fails_open

__all__ = ["UnstuckPlugin"]

_NOTE = "unstuck"
"""The key of a result under which the model finds the note."""


class UnstuckPlugin(BasePlugin):
    """Adds notes to the results of repeated calls, refuses calls that keep failing, and ends stuck runs.

    Takes the options of ``unstuck.Guards``. A run ends with the reason as the answer of the model.

    >>> app = App(name="files", root_agent=agent, plugins=[UnstuckPlugin()])  # doctest: +SKIP
    """

    def __init__(self, preset: str = "balanced", **options: Any) -> None:
        super().__init__(name="unstuck")
        self._sessions = Sessions(preset, **options)
        self._stops: dict[str, str] = {}

    @fails_open
    async def on_user_message_callback(
        self, *, invocation_context: InvocationContext, user_message: types.Content
    ) -> types.Content | None:
        text = "\n".join(part.text for part in user_message.parts or [] if part.text)
        self._sessions.user_message(invocation_context.session.id, text)
        return None

    @fails_open
    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        stop = self._stops.get(callback_context.invocation_id)
        if stop is None:
            return None
        return LlmResponse(content=types.ModelContent(stop))

    @fails_open
    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self._stops.pop(invocation_context.invocation_id, None)

    @fails_open
    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        decision = self._sessions.before(
            _session(tool_context),
            tool.name,
            tool_args,
            id=tool_context.function_call_id,
            step=_turn(tool_context),
        )
        if decision is None or not decision.blocked:
            return None
        self._remember(decision, tool_context)
        return {"error": decision.message}

    @fails_open
    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        # This is called for a refused call, too. The guard knows that the call has ended.
        is_dict = isinstance(result, dict)
        error = is_dict and bool(result.get("error") or result.get("isError"))
        decision = self._after(tool_context, result, error=error)
        if decision is None or decision.message is None:
            return None
        return {**(result if is_dict else {"result": result}), _NOTE: decision.message}

    @fails_open
    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: BaseException
    ) -> dict[str, Any] | None:
        if not isinstance(error, Exception):
            self._sessions.cancelled(_session(tool_context), tool_context.function_call_id)
            return None
        decision = self._after(tool_context, str(error), error=True)
        # A tool of no class of its own stands for one that does not exist, whose error the model reads.
        # Any other exception ends the run, and that is the host's to decide.
        if decision is None or decision.message is None or type(tool) is not BaseTool:
            return None
        return {"error": str(error), _NOTE: decision.message}

    def _after(self, tool_context: ToolContext, result: object, *, error: bool) -> Decision | None:
        decision = self._sessions.after(
            _session(tool_context), tool_context.function_call_id, result, error=error
        )
        if decision is not None:
            self._remember(decision, tool_context)
        return decision

    def _remember(self, decision: Decision, tool_context: ToolContext) -> None:
        if decision.ends_run:
            self._stops[tool_context.invocation_id] = decision.message or "The run ends here."


def _session(tool_context: ToolContext) -> str:
    """Returns the id of the session, and of the branch for agents that run beside each other."""
    session, branch = tool_context.session.id, tool_context.branch
    return f"{session}|{branch}|{tool_context.invocation_id}" if branch else session


def _turn(tool_context: ToolContext) -> str | None:
    """Returns the id of the model's answer that has the call."""
    for event in reversed(tool_context.session.events):
        if any(call.id == tool_context.function_call_id for call in event.get_function_calls()):
            return event.id
    return None
