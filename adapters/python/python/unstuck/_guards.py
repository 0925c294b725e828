"""Guards as a program uses them: around a call, around a function, and for many sessions."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from os import PathLike
from threading import Lock
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, cast, overload

from . import _unstuck
from ._escalation import OnEscalate
from ._unstuck import Decision, Ticket

P = ParamSpec("P")
R = TypeVar("R")
G = TypeVar("G", bound="Guard")


class Stuck(Exception):
    """The agent is stuck: a call must not run, or the run ends.

    Its text is what the model should read, and ``decision`` is the guard's decision.
    """

    decision: Decision

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.message or f"the guard answered {decision.action}")
        self.decision = decision


class Call:
    """A call of a tool, as long as the block of ``with guard.call(…) as call`` runs.

    Set ``result`` in the block, and ``error`` to ``True`` if the call failed without an exception.
    ``decision`` is the decision on the call and, after the block, the one on its result.
    """

    __slots__ = ("_ask", "_guard", "_ticket", "decision", "error", "result")

    result: Any
    error: bool
    decision: Decision

    def __init__(self, guard: _unstuck.Guard, ask: Callable[[], Decision]) -> None:
        self._guard, self._ask = guard, ask
        self._ticket: Ticket | None = None
        self.result, self.error = None, False

    def __enter__(self) -> Call:
        self.decision = self._ask()
        if self.decision.blocked:
            raise Stuck(self.decision)
        self._ticket = self.decision.ticket
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.decision = self._guard.after(self._ticket, self.result, error=self.error)
            if self.decision.ends_run:
                raise Stuck(self.decision)
        elif isinstance(error, Exception):
            self.decision = self._guard.after(self._ticket, error, error=True)
            if self.decision.message is not None and sys.version_info >= (3, 11):
                error.add_note(self.decision.message)
        else:
            # Somebody broke the call off, for example by `asyncio.CancelledError`.
            self.decision = self._guard.cancelled(self._ticket)


class Guard(_unstuck.Guard):
    """Watches the calls of one agent, and decides what to do about them.

    All methods may be called from any thread.

    ``on_escalate`` is asked before a loop is refused for the first time, about ``escalate`` loops at most, which are
    two by default. It may be async: in a running event loop, its answer counts from when it comes. Without a
    function, ``escalate`` is 0, and a decision on such a loop has a ``question`` if it is more.
    """

    __slots__ = ()

    @classmethod
    def restore(
        cls: type[G],
        state: bytes,
        preset: str = "balanced",
        *,
        config: str | PathLike[str] | Mapping[str, Any] | None = None,
        tools: Mapping[str, Any] | None = None,
        budget: Mapping[str, Any] | None = None,
        observe: bool = False,
        escalate: int | None = None,
        on_escalate: OnEscalate | None = None,
        session: str | None = None,
        worker: str | None = None,
    ) -> G:
        """Returns a guard with the state that ``save`` wrote under the same policy.

        Raises ``ValueError`` if ``state`` is something else. Any bytes may be given.
        """
        guard = cls(
            preset,
            config=config,
            tools=tools,
            budget=budget,
            observe=observe,
            escalate=escalate,
            on_escalate=on_escalate,
            session=session,
            worker=worker,
        )
        guard.__setstate__(state)
        return guard

    def call(
        self, tool: str, args: Any, *, id: str | None = None, step: int | None = None
    ) -> Call:
        """Watches one call in a ``with`` block. Raises ``Stuck`` if it must not run, or the run ends.

        An exception in the block is recorded as the result of a failed call, and goes on. From Python
        3.11 on, the guard's note is among its ``__notes__``.
        """
        return Call(self, functools.partial(self.before, tool, args, id=id, step=step))

    @overload
    def watch(self, function: Callable[P, R]) -> Callable[P, R]: ...

    @overload
    def watch(self, *, tool: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...

    def watch(
        self, function: Callable[..., Any] | None = None, *, tool: str | None = None
    ) -> Callable[..., Any]:
        """Watches all calls of a function, which may be async. Raises ``Stuck`` as ``call`` does.

        A result that is a ``str`` gets the note for the model appended. ``tool`` is the name of the
        tool, instead of the function's.
        """
        if function is None:
            return cast(Callable[..., Any], functools.partial(self.watch, tool=tool))
        signature = inspect.signature(function)
        name = str(tool or getattr(function, "__name__", type(function).__name__))

        def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
            return self.call(name, signature.bind(*args, **kwargs).arguments)

        def annotated(call: Call) -> Any:
            is_text = isinstance(call.result, str)
            return call.decision.annotate(call.result) if is_text else call.result

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def later(*args: Any, **kwargs: Any) -> Any:
                with begin(args, kwargs) as call:
                    call.result = await function(*args, **kwargs)
                return annotated(call)

            return later

        @functools.wraps(function)
        def now(*args: Any, **kwargs: Any) -> Any:
            with begin(args, kwargs) as call:
                call.result = function(*args, **kwargs)
            return annotated(call)

        return now


class Guards:
    """One guard for each session. The session that was idle longest is forgotten first.

    The options are those of ``Guard``. ``get`` may be called from any thread.
    """

    def __init__(
        self,
        preset: str = "balanced",
        *,
        capacity: int = 1024,
        config: str | PathLike[str] | Mapping[str, Any] | None = None,
        tools: Mapping[str, Any] | None = None,
        budget: Mapping[str, Any] | None = None,
        observe: bool = False,
        escalate: int | None = None,
        on_escalate: OnEscalate | None = None,
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity: expected at least 1, not {capacity}")
        self._new = functools.partial(
            Guard,
            preset,
            config=config,
            tools=tools,
            budget=budget,
            observe=observe,
            escalate=escalate,
            on_escalate=on_escalate,
        )
        # A wrong setup is an error here, and not at the first call.
        self._new()
        self._capacity = capacity
        self._guards: OrderedDict[str, Guard] = OrderedDict()
        self._lock = Lock()

    def get(self, session_id: str) -> Guard:
        """Returns the guard of a session, and makes one if the session is new."""
        with self._lock:
            guard = self._guards.get(session_id)
            if guard is None:
                guard = self._guards[session_id] = self._new(session=session_id)
                if len(self._guards) > self._capacity:
                    self._guards.popitem(last=False)
            self._guards.move_to_end(session_id)
            return guard

    def __len__(self) -> int:
        return len(self._guards)
