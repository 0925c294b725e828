"""Guards as a program of Python uses them: around a call, around a function, and for many sessions."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from threading import Lock

from . import _unstuck


class Stuck(Exception):
    """The agent is stuck: a call must not run, or the run ends. ``decision`` says why."""

    def __init__(self, decision):
        super().__init__(decision.message or f"the guard answered {decision.action}")
        self.decision = decision


class Call:
    """One call of a tool, between ``with guard.call(…) as call`` and the end of its block.

    Set ``result`` in the block, or ``error`` to True as well if the call failed. ``decision`` is the
    decision on the call, and after the block that on its result.
    """

    __slots__ = ("_args", "_guard", "_id", "_step", "_tool", "decision", "error", "result")

    def __init__(self, guard, tool, args, id, step):
        self._guard, self._tool, self._args, self._id, self._step = guard, tool, args, id, step
        self.result, self.error, self.decision = None, False, None

    def __enter__(self):
        decision = self._guard.before(self._tool, self._args, id=self._id, step=self._step)
        self.decision = decision
        if decision.blocked:
            raise Stuck(decision)
        return self

    def __exit__(self, kind, error, traceback):
        ticket = self.decision.ticket
        if error is None:
            self.decision = self._guard.after(ticket, self.result, error=self.error)
            if self.decision.ends_run:
                raise Stuck(self.decision)
        elif isinstance(error, Exception):
            self.decision = self._guard.after(ticket, error, error=True)
        else:
            # The call was broken off from outside, for example by `asyncio.CancelledError`.
            self._guard.cancelled(ticket)


class Guard(_unstuck.Guard):
    __slots__ = ()

    def call(self, tool, args, *, id=None, step=None):
        return Call(self, tool, args, id, step)

    def watch(self, function=None, *, tool=None):
        if function is None:
            return functools.partial(self.watch, tool=tool)
        tool = tool or function.__name__
        signature = inspect.signature(function)

        def args_of(args, kwargs):
            bound = signature.bind(*args, **kwargs)
            return bound.arguments

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def watched(*args, **kwargs):
                with self.call(tool, args_of(args, kwargs)) as call:
                    call.result = await function(*args, **kwargs)
                return call.result

        else:

            @functools.wraps(function)
            def watched(*args, **kwargs):
                with self.call(tool, args_of(args, kwargs)) as call:
                    call.result = function(*args, **kwargs)
                return call.result

        return watched


class Guards:
    """One guard for each session. The sessions that were idle longest are forgotten."""

    def __init__(self, preset="balanced", *, capacity=1024, **options):
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, not {capacity}")
        self._new = functools.partial(Guard, preset, **options)
        self._new()  # A wrong setup is an error here.
        self._capacity, self._guards, self._lock = capacity, OrderedDict(), Lock()

    def get(self, session_id):
        with self._lock:
            guard = self._guards.pop(session_id, None)
            if guard is None:
                guard = self._new(session=session_id)
                if len(self._guards) >= self._capacity:
                    self._guards.popitem(last=False)
            self._guards[session_id] = guard
            return guard
