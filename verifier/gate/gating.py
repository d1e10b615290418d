"""One constructor over its domain, as a subject of a report."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from verifier.audit.answering import Answering
from verifier.audit.check import Settings, check_subject
from verifier.audit.judge import judge
from verifier.diagnostics.finding import Finding
from verifier.diagnostics.report import Obligations, Subject
from verifier.gate.confirming import certificate_texts, unconfirmed
from verifier.gate.declared import WAIVERS, Declaration
from verifier.gate.findings import partly_proved, raises, refuted, undecided
from verifier.gate.hostile import example_on
from verifier.gate.literals import call_text
from verifier.gate.loading import Loaded, looking_into
from verifier.gate.raised import is_interruption
from verifier.gate.refusals import not_by_name, refusal_line
from verifier.gate.returned import Returned, returned_map
from verifier.gate.source_place import source_place
from verifier.gate.written_test import written_test
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.symbolic.constructor import ContradictoryDomainError, prove_constructor
from verifier.symbolic.domain import DomainError, Sizes
from verifier.symbolic.paths import ProvedPath, Refusal
from verifier.symbolic.results import ProvedForAll, ProvedOnPart, RefutedAt, Result, Undecided
from verifier.symbolic.search import Limits
from verifier.verdicts import Verdict


class GateError(Exception):
    """A constructor could not be gated at all; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Gated:
    """What came of one constructor.

    Attributes:
        subject: for the report.
        unchecked: choices of the domain that hold no sizes, one clause each.
        refusals: the ways on which the constructor raises, one line each.
        test: a test that fails until the constructor is right; None where nothing was refuted.
        example: arguments of which the constructor makes a right map; None where none are known.
        certificates: of a proof for all sizes, one for each choice of which a map is made, as text.
    """

    subject: Subject
    unchecked: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    test: str | None = None
    example: Mapping[str, object] | None = None
    certificates: tuple[str, ...] = ()


def gate(
    loaded: Loaded, declaration: Declaration, settings: Settings, *, limits: Limits | None = None
) -> Gated:
    """Prove a constructor for all sizes of its domain, or show the smallest ones at which it fails.

    Raises:
        GateError: the domain holds no sizes, does not fit the constructor, or the constructor ends the
            process.
    """
    result = proved(loaded, declaration, settings.answering(), limits=limits)
    refusals = tuple([refusal_line(loaded, one) for one in result.refusals])
    with running(loaded):
        accidents = not_by_name(loaded, result.refusals)
    if isinstance(result, RefutedAt):
        subject, test = _refutation(loaded, declaration, settings, result)
        return Gated(subject, (), refusals, test)
    paths = () if isinstance(result, Undecided) else result.paths
    empty = result.empty if isinstance(result, ProvedForAll) else ()
    findings = [raises(loaded, one) for one in accidents]
    if isinstance(result, ProvedOnPart):
        findings.insert(0, partly_proved(loaded, result))
    if isinstance(result, Undecided):
        findings.insert(0, undecided(loaded, result))
    certificates: tuple[str, ...] = ()
    if isinstance(result, ProvedForAll):
        certificates = certificate_texts(loaded, result.certificate)
        findings += unconfirmed(loaded, certificates) if settings.self_check else ()
    return Gated(
        _subject(loaded, declaration, paths, result.refusals, tuple(findings)),
        tuple([f"{loaded.where} at {call_text(one)} (the precondition admits no sizes)" for one in empty]),
        refusals,
        example=example_on(paths, declaration.over),
        certificates=certificates,
    )


def proved(
    loaded: Loaded, declaration: Declaration, answering: Answering, *, limits: Limits | None = None
) -> Result:
    """What is proved of a constructor.

    Raises:
        GateError: as for ``gate``.
    """
    waived = {one: getattr(declaration.expectation, one) for one in WAIVERS}

    def asked(shard_map: ShardMap, expectation: Expectation) -> Verdict:
        return judge(shard_map, replace(expectation, **waived), answering).verdict

    reference = declaration.reference_call
    _require_fitting(loaded.where, loaded.call, declaration.over)
    if reference is not None:
        _require_fitting("the reference", reference, declaration.over)
    with running(loaded):
        try:
            return prove_constructor(
                loaded.call, declaration.over, judge=asked, reference=reference, limits=limits
            )
        except ContradictoryDomainError:
            raise GateError(
                f"{loaded.where}: the precondition admits no sizes at all, so a proof would say nothing; "
                f"repair where"
            ) from None
        except DomainError as error:
            raise GateError(f"{loaded.where}: {error}; repair the domain") from error


@contextlib.contextmanager
def running(loaded: Loaded) -> Iterator[None]:
    """Code of the user's runs: what it prints goes to standard error, and it may not end the process.

    Raises:
        GateError: it calls ``sys.exit``, or raises something else that is no ``Exception``.
    """
    with looking_into(loaded.folder), contextlib.redirect_stdout(sys.stderr):
        try:
            yield
        except Exception:
            raise
        except SystemExit as error:
            raise GateError(f"{loaded.where} calls sys.exit({error.code!r}); raise an exception") from error
        except BaseException as error:
            if is_interruption(error):
                raise
            raise GateError(
                f"{loaded.where} raises {type(error).__name__}, which is no Exception: {error}"
            ) from error


def _require_fitting(name: str, function: Callable[..., object], over: Sizes) -> None:
    """Refuse a domain that is no call of a function.

    Raises:
        GateError: as said.
    """
    try:
        signature = inspect.signature(function)
        signature.bind(**over.arguments)
    except TypeError as error:
        names = ", ".join(over.arguments)
        taken = ", ".join(map(_parameter, signature.parameters.values())) or "nothing"
        raise GateError(
            f"{name} takes {taken}, but its domain names {names} ({error}); name the arguments alike"
        ) from None
    except ValueError:  # nothing is known of how it is called
        return


def _parameter(one: inspect.Parameter) -> str:
    """Its name, without types and values."""
    stars = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
    return f"{stars}{one.name}"


def _refutation(
    loaded: Loaded, declaration: Declaration, settings: Settings, result: RefutedAt
) -> tuple[Subject, str | None]:
    """The constructor run once more where it fails, and its map checked by the concrete prover."""
    test = written_test(loaded, declaration, result.sizes, result.complaint)
    again = _made(loaded, declaration, result.sizes)
    nested = None
    if again is not None:
        settings = replace(settings, repair=False)
        nested = check_subject(again.shard_map, again.expectation, settings, settings.answering())
    same = again is None or (result.made is not None and again.shard_map.ranks == result.made.ranks)
    finding = refuted(loaded, declaration, result, nested, test, repeats=same)
    wrong = finding.verdict == "refuted"
    subject = Subject(
        name=loaded.where,
        kind="constructor",
        place=finding.place,
        verdict="refuted" if wrong else "undecided",
        obligations=Obligations(refuted=int(wrong), undecided=int(not wrong)),
        contents={"choices": sum(1 for _ in declaration.over.choices())},
        findings=(finding,),
    )
    return subject, test if wrong else None


def _made(loaded: Loaded, declaration: Declaration, sizes: Mapping[str, object]) -> Returned | None:
    """The map of these sizes; None where there is none."""
    reference = declaration.reference_call
    with running(loaded):
        try:
            there = None if reference is None else reference(**sizes)
            made = returned_map(loaded.call(**sizes), name=loaded.where.rpartition(":")[2], reference=there)
        except Exception:  # whatever it raises, there is no map to show
            return None
    waived = {one: getattr(declaration.expectation, one) for one in WAIVERS}
    return replace(made, expectation=replace(made.expectation, **waived))


def _subject(
    loaded: Loaded,
    declaration: Declaration,
    paths: Sequence[ProvedPath],
    refusals: Sequence[Refusal],
    findings: tuple[Finding, ...],
) -> Subject:
    """A constructor that was not refuted: the ways that were proved, and what is open."""
    is_open = any(one.verdict == "undecided" for one in findings)
    methods = Counter(one.method for path in paths for one in path.settled)
    contents = {"choices": sum(1 for _ in declaration.over.choices()), "ways": len(paths)}
    if refusals:
        contents["refusals"] = len(refusals)
    return Subject(
        name=loaded.where,
        kind="constructor",
        place=source_place(loaded),
        verdict="undecided" if is_open else "proved",
        obligations=Obligations(proved=methods.total(), undecided=int(is_open)),
        answered_by=dict(sorted(methods.items())),
        contents=contents,
        findings=findings,
    )
