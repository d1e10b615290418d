"""z3 under one resource limit for a whole question. The only module that calls the solver."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import z3

_STOPPED = ("canceled", "timeout")
"""z3's words for either limit."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why something was not settled, with the code of the Unknown that may come of it."""

    code: str
    reason: str


class LimitedSolver:
    """A solver whose checks share one ``rlimit``.

    It has a context of its own, so that answers do not depend on what was asked before. ``seconds`` is a
    safety net for all checks together: z3 does not count the digits of the numbers it handles. Where it ended
    a check, the speed of the machine was involved, and the doubt says so.
    """

    def __init__(self, rlimit: int, seconds: float) -> None:
        self.context = z3.Context()
        self._solver = z3.Solver(ctx=self.context)
        self._rlimit = rlimit
        self._seconds = self._seconds_left = seconds
        self._spent = 0

    @contextmanager
    def assuming(self, constraints: Sequence[z3.BoolRef]) -> Iterator[None]:
        """Assert ``constraints`` within the block."""
        self._solver.push()
        try:
            self._solver.add(*constraints)
            yield
        finally:
            self._solver.pop()

    def value(self, unknown: z3.ArithRef, constraints: Sequence[z3.BoolRef]) -> int | Doubt | None:
        """A value of ``unknown`` in some model of ``constraints`` and all that is assumed.

        None when there is no model.
        """
        left = self._rlimit - self._spent
        if left <= 0:
            return Doubt("SM903", f"rlimit {self._rlimit} is spent")
        with self.assuming(constraints):
            if self._seconds_left <= 0:
                return self._stopped_by_clock()
            self._solver.set("rlimit", left)
            self._solver.set("timeout", max(1, int(1000 * self._seconds_left)))
            started = time.monotonic()
            try:
                status = self._solver.check()
            except z3.Z3Exception as error:  # out of memory, say
                return Doubt("SM903", f"z3: {error}")
            finally:
                self._seconds_left -= time.monotonic() - started
            # The statistic counts from the birth of the context, so it is the total of all checks.
            self._spent = self._solver.statistics().get_key_value("rlimit count")
            if status == z3.unsat:
                return None
            if status == z3.unknown:
                reason = self._solver.reason_unknown()
                if reason in _STOPPED and self._spent < self._rlimit:
                    self._seconds_left = 0  # less than a millisecond is
                    return self._stopped_by_clock()
                return Doubt("SM903", f"z3: {reason} at {self._spent} of rlimit {self._rlimit}")
            found: int = self._solver.model().eval(unknown, model_completion=True).as_long()
            return found

    def _stopped_by_clock(self) -> Doubt:
        reason = f"the clock stopped z3 after {self._seconds:g} s, before its rlimit {self._rlimit} was spent"
        return Doubt("SM903", f"{reason}: a faster machine may get further")
