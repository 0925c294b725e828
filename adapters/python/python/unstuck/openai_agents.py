"""Tool guardrails for the OpenAI Agents SDK.

Guardrails see the calls of function tools. The SDK shows them no hosted tool, no handoff and no tool of an
MCP server. Each agent of a run has a guard of its own, and so have the unknown tools of a run.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import replace
from typing import Any

from agents import FunctionTool, RunConfig, RunContextWrapper, Tool, ToolGuardrailFunctionOutput
from agents.items import ModelResponse, TResponseInputItem, TResponseStreamEvent
from agents.models.interface import Model
from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest
from agents.run_config import ToolErrorFormatterArgs
from agents.tool_guardrails import (
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
)

from . import Decision
from ._adapter import Identities, Sessions

__all__ = ["Unstuck"]

_RAISED_MAX = 1024
"""The largest number of failed calls whose output is awaited. Another guardrail may withhold an output."""

_QUESTIONS_MAX = 1024
"""The largest number of questions that await a turn. A run may end before it."""

_Input = str | list[TResponseInputItem]
"""What a model is sent."""


class Unstuck:
    """Watches the function tools of agents. Takes the options of ``unstuck.Guards``.

    A stuck run ends with the SDK's ``ToolInputGuardrailTripwireTriggered`` or
    ``ToolOutputGuardrailTripwireTriggered``; the ``output.output_info`` of that exception is the decision.
    ``escalate_to`` takes one turn of a ``model`` before a loop is refused, with the finding as its question, at most
    twice for each agent of a run.

    >>> watch = Unstuck()
    >>> agent = Agent("files", tools=watch.tools([read_file]))  # doctest: +SKIP
    >>> await Runner.run(agent, "…", run_config=watch.run_config())  # doctest: +SKIP
    """

    def __init__(
        self, preset: str = "balanced", *, escalate_to: Model | None = None, **options: Any
    ) -> None:
        if escalate_to is not None:
            options.setdefault("escalate", 2)
        self._sessions = Sessions(preset, **options)
        self._escalate_to = escalate_to
        self._questions: dict[str, str] = {}
        self._identities = Identities()
        self._raised: set[tuple[str, str]] = set()
        self._before = ToolInputGuardrail[Any](self._input, name="unstuck")
        self._after = ToolOutputGuardrail[Any](self._output, name="unstuck")

    def tools(self, tools: Iterable[Tool]) -> list[Tool]:
        """Returns copies of the function tools with the guardrails added, and other tools as they are."""
        return [self._watched(tool) if isinstance(tool, FunctionTool) else tool for tool in tools]

    def model(self, model: Model) -> Model:
        """Returns ``model`` with some of its turns taken by ``escalate_to``, if there is one.

        >>> agent = Agent("files", model=watch.model(model))  # doctest: +SKIP
        """
        return model if self._escalate_to is None else _Escalating(model, self._escalate_to, self._question)

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
        self._ask(call.tool_call_id, decision)
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
        self._ask(call.tool_call_id, decision)
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
        self._ask(error.call_id, before)
        if before is not None and before.blocked:
            return before.message
        text = error.default_message
        after = self._sessions.after(session, error.call_id, text, error=True)
        self._ask(error.call_id, after)
        return text if after is None else after.annotate(text)

    def _ask(self, call_id: str, decision: Decision | None) -> None:
        """Keeps the question of a decision for the turn that reads the output of the call."""
        if decision is None or decision.question is None or self._escalate_to is None:
            return
        if len(self._questions) >= _QUESTIONS_MAX:
            self._questions.clear()
        self._questions[call_id] = decision.question

    def _question(self, input: _Input) -> str | None:
        """Returns the latest question about a call in the input, and forgets it."""
        try:
            ids = [] if isinstance(input, str) else [str(item.get("call_id")) for item in input]
            due = [self._questions.pop(id) for id in ids if id in self._questions]
            return due[-1] if due else None
        except Exception as defect:
            self._sessions.failed(defect)
            return None


class _Escalating(Model):
    """A model, and the stronger one that takes each of its turns that has a question."""

    def __init__(self, usual: Model, stronger: Model, question: Callable[[_Input], str | None]) -> None:
        self._usual, self._stronger, self._question = usual, stronger, question

    async def get_response(
        self, system_instructions: str | None, input: _Input, *rest: Any, **options: Any
    ) -> ModelResponse:
        model, asked = self._turn(input)
        return await model.get_response(system_instructions, asked, *rest, **options)

    def stream_response(
        self, system_instructions: str | None, input: _Input, *rest: Any, **options: Any
    ) -> AsyncIterator[TResponseStreamEvent]:
        model, asked = self._turn(input)
        return model.stream_response(system_instructions, asked, *rest, **options)

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        return self._usual.get_retry_advice(request)

    async def close(self) -> None:
        await self._usual.close()
        await self._stronger.close()

    def _turn(self, input: _Input) -> tuple[Model, _Input]:
        """Returns the model that takes the turn, and what it is sent."""
        question = self._question(input)
        if question is None or isinstance(input, str):
            return self._usual, input
        return self._stronger, [*input, {"role": "user", "content": question}]
