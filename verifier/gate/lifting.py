"""Real code against the layout it should implement: the map is lifted from it, proved, and compared.

What is gated is the function itself, at one size: a partition function ``(tensor, rank, world) -> shard``, or
a function ``(rank, world) -> Loading`` that says how a weight loader is called.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from verifier.audit.check import Settings, check_subject, findings_of, tool_versions
from verifier.audit.references import NO_REFERENCE
from verifier.diagnostics.finding import Finding, Place
from verifier.diagnostics.report import Report, Subject, is_tool_bug
from verifier.diagnostics.wording import counted
from verifier.gate.gating import GateError, running
from verifier.gate.lift_reference import reference_map
from verifier.gate.loading import FunctionError, Loaded, load, place_of
from verifier.gate.not_gated import not_gated
from verifier.gate.source_place import source_place
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault
from verifier.oracle.errors import OracleError, require_torch

if TYPE_CHECKING:
    from verifier.oracle.lift_calls import Loading
    from verifier.oracle.lifted import Lifted

KIND = "lifted map"
_SHOWN = 4
"""Ranks that are shown not to hold what their reference does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifting:
    """How a function is lifted.

    Attributes:
        ranks: how many.
        shape: of the tensor that a partition function is given; None for a loader.
        shards: the shard ids of a loader in the order in which they make up the parameter; None for the
            order of its parts.
        device: where the tensor is made; a loader brings its own.
        reference: what the function has to do, the place of a constructor or a file; None for nothing.
    """

    ranks: int
    shape: tuple[int, ...] | None
    shards: tuple[str, ...] | None = None
    device: str = "cpu"
    reference: str | None = None


def gate_lift(
    where: str, lifting: Lifting, settings: Settings, *, done: Callable[[int, int], None] | None = None
) -> Report:
    """The map that a function implements, proved or refuted, and compared with its reference.

    ``done`` is called with how many more parts of the work are done, and how many more are known of.

    Raises:
        OracleUnavailableError: torch is not installed.
    """
    torch = require_torch()
    try:
        loaded = load(where)
        lifted = _lifted(loaded, lifting, done or (lambda done, more: None))
        subject, unchecked = _gated(loaded, lifted, lifting, settings), _unchecked(lifted, lifting)
    except (FunctionError, GateError, OracleError) as error:
        subject, unchecked = not_gated(where, error, kind=KIND), ()
    tool = {**tool_versions(), "torch": torch.__version__}
    return Report(tool=tool, subjects=(subject,), unchecked=unchecked)


def _unchecked(lifted: Lifted, lifting: Lifting) -> tuple[str, ...]:
    """What one run at one size says nothing of."""
    intended = () if lifting.reference is not None else (NO_REFERENCE,)
    dtypes = f"other dtypes than {' and '.join(lifted.dtypes)}"
    return (*intended, dtypes, "other shapes", "other numbers of ranks")


def _gated(loaded: Loaded, lifted: Lifted, lifting: Lifting, settings: Settings) -> Subject:
    """The subject.

    Raises:
        GateError: there is no such reference.
    """
    reference = None
    if lifting.reference is not None:
        shape = lifted.shard_map.logical_shape
        reference = reference_map(lifting.reference, shape=shape, ranks=lifting.ranks)
    expectation = replace(lifted.expectation(), reference=reference)
    # The pieces are ours: nobody can repair them, or wrote them in another form than the canonical one.
    settings = replace(settings, repair=False, strict=False)
    subject = check_subject(lifted.shard_map, expectation, settings, settings.answering())
    findings = [one for one in subject.findings if one.severity != "warning"]
    differences = () if reference is None else _differences(lifted, reference)
    if differences and subject.verdict == "proved":
        findings += findings_of(lifted.shard_map, expectation, [_contradiction(differences[0])])
    place = source_place(loaded)
    return replace(
        subject,
        name=loaded.where,
        kind=KIND,
        place=place,
        findings=tuple([_placed(one, place) for one in findings]),
        notes=(f"lifted with {lifted.probe}", *lifted.notes, *differences),
    )


def _placed(finding: Finding, place: Place | None) -> Finding:
    """The finding where the function is defined; what could be edited in a document is no help here."""
    return replace(finding, place=place, helps=finding.helps if is_tool_bug(finding) else ())


def _lifted(loaded: Loaded, lifting: Lifting, done: Callable[[int, int], None]) -> Lifted:
    """What the function does.

    Raises:
        GateError: the function ends the process.
        OracleError: no map can be taken from the function, or the device does not exist.
    """
    from verifier.oracle.lift import lift, lift_loader  # torch takes a second to import

    name = place_of(loaded.where).name
    with running(loaded):
        if lifting.shape is None:
            loading = loaded.call if lifting.shards is None else _ordered(loaded.call, lifting.shards)
            return lift_loader(loading, lifting.ranks, name=name, done=done)
        return lift(loaded.call, lifting.shape, lifting.ranks, device=lifting.device, name=name, done=done)


def _ordered(call: Callable[..., Any], shards: Sequence[str]) -> Callable[[int, int], Loading]:
    """The loading with its parts in another order; shard ids on a command line are texts."""
    from verifier.oracle.lift_calls import made_loading
    from verifier.oracle.lift_errors import BadTargetError

    def loading(rank: int, world: int) -> Loading:
        one = made_loading(call, rank, world)
        by_text = {str(shard_id): shard_id for shard_id in one.parts}
        if sorted(by_text) != sorted(shards):
            parts = ", ".join(by_text) or "none"
            raise BadTargetError(rank, f"the parts are {parts}; the order asked for is {', '.join(shards)}")
        return replace(one, parts={by_text[text]: one.parts[by_text[text]] for text in shards})

    return loading


def _differences(lifted: Lifted, reference: ShardMap) -> tuple[str, ...]:
    from verifier.oracle.lifted import compare_lifted  # numpy is not needed before

    found = [f"not its reference: {one}" for one in compare_lifted(lifted, reference)]
    more = [f"not its reference: {counted(len(found) - _SHOWN, 'more rank')}"] if len(found) > _SHOWN else []
    return (*found[:_SHOWN], *more)


def _contradiction(difference: str) -> Fault:
    """The proof says that the functions are the same, the cells say where they are not: a bug of ours."""
    values = {"obligation": "the comparison cell by cell", "reason": difference}
    return Fault(code="TB101", side="map", values=values)
