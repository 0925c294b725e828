"""A tool-calling agent for smolagents, and a callback for its agents that write code.

A ``CodeAgent`` runs a step before anyone can judge it. So the callback adds notes and ends stuck runs, and
refuses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smolagents import ActionStep, ToolCallingAgent  # type: ignore[import-untyped]
from smolagents.utils import AgentError  # type: ignore[import-untyped]

from . import Decision
from ._adapter import Identities, Sessions

__all__ = ["UnstuckToolCallingAgent", "watch_code"]


class UnstuckToolCallingAgent(ToolCallingAgent):  # type: ignore[misc]
    """A ``ToolCallingAgent`` that adds notes to results, refuses calls that keep failing, and ends stuck runs.

    A stuck run ends as an interrupted one: ``run`` raises ``AgentError``. ``stop_reason`` says why.

    >>> agent = UnstuckToolCallingAgent(tools=[read_file], model=model)  # doctest: +SKIP
    """

    stop_reason: str | None = None
    """Why the latest run was ended, or None."""

    def __init__(
        self, *args: Any, preset: str = "balanced", guard_options: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        self._sessions = Sessions(preset, **(guard_options or {}))
        self._run = 0
        super().__init__(*args, **kwargs)

    def run(self, task: str, *args: Any, reset: bool = True, **kwargs: Any) -> Any:
        self.stop_reason = None
        if reset:
            self._run += 1
        self._sessions.user_message(str(self._run), task)
        return super().run(task, *args, reset=reset, **kwargs)

    def execute_tool_call(self, tool_name: str, arguments: dict[str, str] | str) -> Any:
        session = str(self._run)
        before = self._sessions.before(session, tool_name, arguments, step=self.step_number)
        if before is None:
            return super().execute_tool_call(tool_name, arguments)
        if before.blocked:
            # Text and no exception, because an exception would drop the results of the step's other calls.
            self._end(before)
            return before.message
        try:
            result = super().execute_tool_call(tool_name, arguments)
        except AgentError as error:
            after = self._sessions.after(session, before.ticket, error.message, error=True)
            if after is None or after.message is None:
                raise
            self._end(after)
            raise type(error)(after.annotate(error.message), self.logger) from error
        except Exception as error:
            self._sessions.after(session, before.ticket, str(error), error=True)
            raise
        except BaseException:
            self._sessions.cancelled(session, before.ticket)
            raise
        # The framework sends the model `str` of any other value, and a final answer is not for the model.
        after = self._sessions.after(session, before.ticket, result if isinstance(result, str) else str(result))
        if after is None or after.message is None or tool_name == "final_answer":
            return result
        self._end(after)
        return after.annotate(str(result))

    def _end(self, decision: Decision) -> None:
        if decision.ends_run:
            self.stop_reason = decision.message
            self.interrupt()


def watch_code(preset: str = "balanced", **options: Any) -> Callable[[ActionStep, Any], None]:
    """Returns a step callback for a ``CodeAgent``. Takes the options of ``unstuck.Guards``.

    A step counts as a call of ``python`` with its code.

    >>> agent = CodeAgent(tools=[], model=model, step_callbacks=[watch_code()])  # doctest: +SKIP
    """
    sessions, identities = Sessions(preset, **options), Identities()

    def watched(step: ActionStep, agent: Any) -> None:
        if not step.code_action:
            return
        session = identities.of(agent)
        if step.step_number == 1:
            sessions.user_message(session, str(getattr(agent, "task", "")))
        before = sessions.before(session, "python", step.code_action)
        if before is None:
            return
        text = step.error.message if step.error else step.observations or ""
        after = sessions.after(session, before.ticket, text, error=step.error is not None)
        decision = before if before.blocked or after is None else after
        if decision.ends_run or before.blocked:
            agent.interrupt()
        elif decision.message is not None:
            step.observations = decision.annotate(step.observations or "")

    return watched
