"""What a probe saw, as data: faults with their codes, and what could not be tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from verifier.contracts.document import Contract
from verifier.oracle.probes.isolated import Died, Json, isolated, words

CRASHED = "OC602"
SHOWN = 3
"""Cases that are named where many show the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What is known beside the optimizer.

    Attributes:
        contract: what it declares, None where that is not known.
        device: where its parameters are.
        seed: of whatever is drawn at random.
    """

    contract: Contract | None = None
    device: str = "cpu"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """What one probe saw of one optimizer.

    Attributes:
        code: of its faults.
        claim: the fault in one line, with its numbers.
    """

    code: str
    claim: str
    witness: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probing:
    """The result of one probe.

    Attributes:
        probe: its name.
        held: cases in which nothing was wrong.
        faults: what was wrong, one for each cause.
        open: cases that could not be tried, with the reason.
        notes: what a reader should know; nothing is wrong with it.
    """

    probe: str
    held: int = 0
    faults: tuple[Observed, ...] = ()
    open: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class NothingToTryError(Exception):
    """Raised by a case that has nothing to try with this optimizer; the text says why."""


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to try: its name, and what finds the claims that are true of it, best the worst first."""

    name: str
    claims: Callable[[], Sequence[str]]


def observe(probe: str, code: str, cases: Sequence[Case], *, notes: Sequence[str] = ()) -> Probing:
    """Try each case in a process of its own.

    An exception leaves the case open: a probe catches those that mean something. A case that has nothing to
    try is only noted.
    """
    held, left, noted = 0, list[str](), list[str]()
    found: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        ended = isolated(lambda case=case: _claims(case))  # type: ignore[misc]
        if isinstance(ended, Died):
            found.setdefault((CRASHED, f"the process ends ({ended.how})"), []).append(case.name)
            continue
        match ended.value:
            case {"claims": [first, *more]}:
                told = "; ".join(map(str, [first, *more]))
                found.setdefault((code, told), []).append(case.name)
            case {"raised": str(raised)}:
                left.append(f"{case.name}: {raised}")
            case {"nothing": str(why)}:
                noted.append(why)
            case _:
                held += 1
    faults = tuple(_fault(probe, *cause, names) for cause, names in found.items())
    all_notes = tuple(dict.fromkeys([*notes, *noted]))
    return Probing(probe=probe, held=held, faults=faults, open=tuple(left), notes=all_notes)


def _fault(probe: str, code: str, told: str, cases: Sequence[str]) -> Observed:
    """One fault for all cases in which the same was seen."""
    more = len(cases) - SHOWN
    where = ", ".join(cases[:SHOWN]) + (f" and {more} more" if more > 0 else "")
    return Observed(code, f"{where}: {told}", {"probe": probe, "cases": list(cases)})


def nothing(probe: str, why: str) -> Probing:
    """A probe that has nothing to try here."""
    return Probing(probe=probe, notes=(why,))


def _claims(case: Case) -> Json:
    try:
        return {"claims": [str(claim) for claim in case.claims()]}
    except NothingToTryError as error:
        return {"nothing": str(error)}
    except Exception as error:  # of the optimizer or of torch: the case is open, with this reason
        return {"raised": words(error)}
