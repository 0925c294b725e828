"""Tool guardrails for the OpenAI Agents SDK.

Guardrails see the calls of function tools. The SDK shows them no hosted tool, no handoff and no tool of an
MCP server. Each agent of a run has a guard of its own, and so have the unknown tools of a run.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from agents import FunctionTool, RunConfig, RunContextWrapper, Tool, ToolGuardrailFunctionOutput
from agents.run_config import ToolErrorFormatterArgs
from agents.tool_guardrails import (
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
)

from ._adapter import Identities, Sessions

__all__ = ["Unstuck"]

_RAISED_MAX = 1024
"""The largest number of failed calls whose output is awaited. Another guardrail may withhold an output."""


class Unstuck:
    """Watches the function tools of agents. Takes the options of ``unstuck.Guards``.

    A stuck run ends with the SDK's ``ToolInputGuardrailTripwireTriggered`` or
    ``ToolOutputGuardrailTripwireTriggered``; the ``output.output_info`` of that exception is the decision.

    >>> watch = Unstuck()
    >>> agent = Agent("files", tools=watch.tools([read_file]))  # doctest: +SKIP
    >>> await Runner.run(agent, "…", run_config=watch.run_config())  # doctest: +SKIP
    """

    def __init__(self, preset: str = "balanced", **options: Any) -> None:
        self._sessions = Sessions(preset, **options)
        self._identities = Identities()
        self._raised: set[tuple[str, str]] = set()
        self._before = ToolInputGuardrail[Any](self._input, name="unstuck")
        self._after = ToolOutputGuardrail[Any](self._output, name="unstuck")

    def tools(self, tools: Iterable[Tool]) -> list[Tool]:
        """Returns copies of the function tools with the guardrails added, and other tools as they are."""
        return [self._watched(tool) if isinstance(tool, FunctionTool) else tool for tool in tools]

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """Returns ``config`` with two changes, without which calls that fail cannot be told apart.

        The model reads the message of an exception, instead of a fixed text. A call of an unknown tool
        becomes an error that the model reads and the guard counts, instead of the end of the run. A
        ``tool_error_formatter`` that is already set stays, and then neither is changed.
        """
        config = config or RunConfig()
        if config.tool_error_formatter is not None:
            return config
        return replace(
            config,
            tool_error_formatter=self._format,
            tool_not_found_behavior="return_error_to_model",
        )

    def _watched(self, tool: FunctionTool) -> FunctionTool:
        watched = copy.copy(tool)
        watched.tool_input_guardrails = [*(tool.tool_input_guardrails or []), self._before]
        watched.tool_output_guardrails = [*(tool.tool_output_guardrails or []), self._after]
        return watched

    def _run(self, context: RunContextWrapper[Any]) -> str:
        # One run has one `Usage`. The contexts of its calls are made anew, and users may share theirs.
        return self._identities.of(context.usage)

    def _session(self, data: ToolInputGuardrailData) -> str:
        # An agent that is a tool of another one has the `Usage` of that one's run.
        return f"{self._run(data.context)}|{self._identities.of(data.agent)}"

    def _input(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        decision = self._sessions.before(
            self._session(data),
            call.tool_name,
            call.tool_arguments,
            id=call.tool_call_id,
            step=call.usage.requests,
        )
        if decision is None or not decision.blocked:
            return ToolGuardrailFunctionOutput.allow()
        if decision.ends_run:
            return ToolGuardrailFunctionOutput.raise_exception(decision)
        return ToolGuardrailFunctionOutput.reject_content(decision.message or "", decision)

    def _output(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        key = (self._run(call), call.tool_call_id)
        has_raised = key in self._raised
        self._raised.discard(key)
        # The SDK sends the model `str` of any other value.
        text = data.output if isinstance(data.output, str) else str(data.output)
        decision = self._sessions.after(
            self._session(data), call.tool_call_id, text, error=has_raised
        )
        if decision is None:
            return ToolGuardrailFunctionOutput.allow()
        if decision.ends_run:
            return ToolGuardrailFunctionOutput.raise_exception(decision)
        if decision.message is None:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(decision.annotate(text), decision)

    def _format(self, error: ToolErrorFormatterArgs[Any]) -> str | None:
        session = self._run(error.run_context)
        if error.kind == "tool_exception":
            if len(self._raised) >= _RAISED_MAX:
                self._raised.clear()
            self._raised.add((session, error.call_id))
            return f"Error: {type(error.error).__name__}: {error.error}"
        if error.kind != "tool_not_found":
            return None
        before = self._sessions.before(
            session, error.tool_name, {}, id=error.call_id, step=error.run_context.usage.requests
        )
        if before is not None and before.blocked:
            return before.message
        text = error.default_message
        after = self._sessions.after(session, error.call_id, text, error=True)
        return text if after is None else after.annotate(text)
