"""A plugin for Google's Agent Development Kit. Each session has a guard of its own."""

from __future__ import annotations

from typing import Any

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.base_llm import BaseLlm
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

    Takes the options of ``unstuck.Guards``. A run ends with the reason as the answer of the model. ``escalate_to`` takes
    one turn before a loop is refused, with the finding as its question, at most twice in a session.

    >>> app = App(name="files", root_agent=agent, plugins=[UnstuckPlugin()])  # doctest: +SKIP
    """

    def __init__(
        self, preset: str = "balanced", *, escalate_to: BaseLlm | None = None, **options: Any
    ) -> None:
        super().__init__(name="unstuck")
        if escalate_to is not None:
            options.setdefault("escalate", 2)
        self._sessions = Sessions(preset, **options)
        self._escalate_to = escalate_to
        self._stops: dict[str, str] = {}
        self._questions: dict[tuple[str, str | None], str] = {}

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
        if stop is not None:
            return LlmResponse(content=types.ModelContent(stop))
        question = self._questions.pop(_run(callback_context), None)
        if question is None or self._escalate_to is None:
            return None
        asked = {
            "model": self._escalate_to.model,
            "contents": [*llm_request.contents, types.UserContent(question)],
        }
        async for response in self._escalate_to.generate_content_async(llm_request.model_copy(update=asked)):
            return response
        return None

    @fails_open
    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self._stops.pop(invocation_context.invocation_id, None)
        for run in [run for run in self._questions if run[0] == invocation_context.invocation_id]:
            del self._questions[run]

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
        if decision.question is not None:
            self._questions[_run(tool_context)] = decision.question


def _run(context: CallbackContext) -> tuple[str, str | None]:
    """Returns the run, and the branch for agents that run beside each other."""
    return context.invocation_id, context.branch


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
