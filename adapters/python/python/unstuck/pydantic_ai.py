"""A capability for Pydantic AI. Each run has a guard of its own."""

from __future__ import annotations

import copy
import uuid
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from pydantic_ai import ModelRetry, RunContext, ToolFailed, ToolReturn
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.capabilities.abstract import (
    RawToolArgs,
    ValidatedToolArgs,
    WrapModelRequestHandler,
    WrapToolExecuteHandler,
)
from pydantic_ai.exceptions import (
    ApprovalRequired,
    CallDeferred,
    SkipToolExecution,
    ToolFailedError,
    ToolRetryError,
)
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.tools import AgentDepsT, ToolDefinition

from . import Decision
from ._adapter import Sessions

__all__ = ["Unstuck"]


class Unstuck(AbstractCapability[AgentDepsT]):
    """Adds notes to the results of repeated calls, refuses calls that keep failing, and ends stuck runs.

    Takes the options of ``unstuck.Guards``. A refused call reads as a failed one, and costs no retry. The
    run ends with the reason as its last text. ``escalate_to`` takes one turn before a loop is refused, with the finding
    as its question, at most twice in a run.

    >>> agent = Agent("openai:gpt-5", capabilities=[Unstuck()])  # doctest: +SKIP
    """

    def __init__(
        self, preset: str = "balanced", *, escalate_to: Model[Any] | None = None, **options: Any
    ) -> None:
        if escalate_to is not None:
            options.setdefault("escalate", 2)
        self._sessions = Sessions(preset, **options)
        self._session = uuid.uuid4().hex
        self._escalate_to = escalate_to
        self._stop: str | None = None
        self._question: str | None = None

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> Unstuck[AgentDepsT]:
        of_run = copy.copy(self)
        of_run._session = ctx.run_id or uuid.uuid4().hex
        of_run._stop = of_run._question = None
        return of_run

    async def wrap_model_request(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        request_context: ModelRequestContext,
        handler: WrapModelRequestHandler,
    ) -> ModelResponse:
        if self._stop is not None:
            return ModelResponse(parts=[TextPart(self._stop)])
        question, self._question = self._question, None
        if question is not None and self._escalate_to is not None:
            *earlier, last = request_context.messages
            if isinstance(last, ModelRequest):
                asked = replace(last, parts=[*last.parts, UserPromptPart(question)])
                request_context = replace(
                    request_context, model=self._escalate_to, messages=[*earlier, asked]
                )
        return await handler(request_context)

    async def on_tool_validate_error(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: RawToolArgs,
        error: ValidationError | ModelRetry,
    ) -> ValidatedToolArgs:
        # The framework limits the retries of such a call by itself, so there is nothing to refuse.
        before = self._before(ctx, call, args)
        if before is not None:
            self._after(before, str(error), error=True)
        raise error

    async def wrap_tool_execute(
        self,
        ctx: RunContext[AgentDepsT],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: ValidatedToolArgs,
        handler: WrapToolExecuteHandler,
    ) -> Any:
        before = self._before(ctx, call, args)
        if before is None:
            return await handler(args)
        if before.blocked:
            raise ToolFailed(before.message or "")
        try:
            result = await handler(args)
        except SkipToolExecution as skipped:
            result = skipped.result
        except (CallDeferred, ApprovalRequired):
            self._sessions.cancelled(self._session, before.ticket)
            raise
        except (ToolRetryError, ToolFailedError) as error:
            part = error.tool_retry if isinstance(error, ToolRetryError) else error.tool_failed
            after = self._after(before, part.content, error=True)
            if after is None or not (isinstance(part, ToolReturnPart) and isinstance(part.content, str)):
                raise
            noted = replace(part, content=after.annotate(part.content))
            raise type(error)(noted) from error
        except (ModelRetry, ToolFailed) as error:
            after = self._after(before, error.message, error=True)
            if after is None:
                raise
            raise type(error)(after.annotate(error.message)) from error
        except Exception as error:
            self._after(before, str(error), error=True)
            raise
        except BaseException:
            self._sessions.cancelled(self._session, before.ticket)
            raise
        value = result.return_value if isinstance(result, ToolReturn) else result
        after = self._after(before, value, error=False)
        return result if after is None else _noted(result, after)

    def _before(self, ctx: RunContext[AgentDepsT], call: ToolCallPart, args: object) -> Decision | None:
        before = self._sessions.before(
            self._session, call.tool_name, args, id=call.tool_call_id, step=ctx.run_step
        )
        if before is not None and before.ends_run:
            self._stop = before.message
        if before is not None and before.question is not None:
            self._question = before.question
        return before

    def _after(self, before: Decision, result: object, *, error: bool) -> Decision | None:
        """Reports the result, and returns the decision if it has a note."""
        after = self._sessions.after(self._session, before.ticket, result, error=error)
        if after is None or after.message is None:
            return None
        if after.ends_run:
            self._stop = after.message
        if after.question is not None:
            self._question = after.question
        return after


def _noted(result: Any, after: Decision) -> Any:
    """Returns the result with the note. Beside a value that is no text, the note stands on its own."""
    if isinstance(result, str):
        return after.annotate(result)
    if not isinstance(result, ToolReturn):
        return ToolReturn(return_value=result, content=after.message)
    if isinstance(result.return_value, str):
        return replace(result, return_value=after.annotate(result.return_value))
    content = [result.content] if isinstance(result.content, str) else list(result.content or [])
    return replace(result, content=[*content, after.message or ""])
