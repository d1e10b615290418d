"""Several constructors at once: each with its domain, one report for all."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from verifier.audit.check import Settings, tool_versions
from verifier.diagnostics.report import Report, Subject
from verifier.gate.configured import Configuration, configuration
from verifier.gate.declared import Declaration, DeclarationError, declaration_of
from verifier.gate.gating import GateError, gate
from verifier.gate.loading import FunctionError, Loaded, load, place_of
from verifier.gate.not_gated import not_gated
from verifier.gate.not_intended import without_reference
from verifier.gate.predicate import TextError
from verifier.symbolic.domain import DomainError, Sizes

Arguments = Literal["domain", "hostile"]
FAILURES = (FunctionError, DeclarationError, TextError, DomainError, GateError)
"""Why a constructor could not be gated; the text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the command line asks of all constructors.

    Attributes:
        over: their domain, instead of the declared one.
        reference: the place of their reference, instead of the declared one.
        arguments: those of the domain, or bad ones as well.
    """

    over: Sizes | None = None
    reference: str | None = None
    arguments: Arguments = "domain"


@dataclass(slots=True)
class Run:
    """What came of it.

    Attributes:
        referred: of each constructor that was gated, whether it was compared with a reference.
        details: what more there is to say than findings, one line each.
        tests: for each refuted constructor a test that fails, by the constructor's place.
        certificates: of each proof for all sizes, likewise.
    """

    subjects: list[Subject] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    referred: list[bool] = field(default_factory=list)
    details: list[str] = field(default_factory=list)
    tests: dict[str, str] = field(default_factory=dict)
    certificates: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def report(self) -> Report:
        """Every constructor, those included that could not be gated."""
        open_ends = without_reference(self.referred.count(False), len(self.referred))
        unchecked = (*self.unchecked, *open_ends)
        return Report(tool=tool_versions(), subjects=tuple(self.subjects), unchecked=unchecked)


def gate_places(places: Sequence[str], asked: Asked, settings: Settings) -> Run:
    """Gate the constructors at some places, in their order. One that cannot be does not hide the others.

    Raises:
        GateError: bad arguments are asked for, and this system cannot try them.
    """
    if asked.arguments == "hostile":
        _require_forks()
    run = Run()
    for where in dict.fromkeys(places):
        try:
            _gate_place(run, where, asked, settings)
        except FAILURES as error:
            run.subjects.append(not_gated(where, error))
    return run


def _require_forks() -> None:
    """Refuse bad arguments where they cannot be tried: they need child processes that hold the constructor.

    Raises:
        GateError: this system has no fork, or none that is safe.
    """
    if sys.platform == "darwin" or "fork" not in multiprocessing.get_all_start_methods():
        raise GateError(
            f"bad arguments are tried in forked processes under limits of memory and time, which "
            f"{sys.platform} does not offer; run --arguments hostile on Linux"
        )


def configured_places(folder: Path) -> list[str]:
    """The constructors of the nearest pyproject.toml.

    Raises:
        DeclarationError: it cannot be read, or a table is none.
        FunctionError: a key names no function.
    """
    return configuration(folder).places


def _gate_place(run: Run, where: str, asked: Asked, settings: Settings) -> None:
    """Gate one constructor.

    Raises:
        FunctionError, DeclarationError, TextError, DomainError, GateError: it cannot be.
    """
    loaded = load(where)
    declaration = _declaration(loaded, asked)
    gated = gate(loaded, declaration, settings)
    run.subjects.append(gated.subject)
    run.unchecked += gated.unchecked
    run.referred.append(declaration.reference is not None)
    run.details += gated.refusals
    if gated.test is not None:
        run.tests[where] = gated.test
    run.certificates[where] = gated.certificates
    if asked.arguments == "hostile":
        from verifier.gate.hostile_report import good_arguments, hostile_subject, overview, tried  # heavy

        arguments = good_arguments(loaded, declaration.over, gated.example)
        runs = tried(loaded, arguments, settings)
        run.subjects.append(hostile_subject(loaded, runs))
        run.details += [*overview(loaded, arguments, runs), *[f"    {one.line}" for one in runs]]


def _declaration(loaded: Loaded, asked: Asked) -> Declaration:
    place = place_of(loaded.where)
    known = Configuration()
    if asked.over is None:
        known = configuration(Path.cwd() if place.file is None else place.file.parent)
    return declaration_of(
        loaded,
        asked=asked.over,
        configured=known.declaration(loaded),
        reference=None if asked.reference is None else load(asked.reference),
    )
