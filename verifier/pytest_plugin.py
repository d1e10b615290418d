"""pytest plugin: maps and constructors as assertions, corpus cases as tests.

Loaded by its entry point in every run of pytest that shardproof is installed for, so it does nothing unless
it is asked, and imports nothing of the prover before that.

    from verifier.pytest_plugin import assert_constructor, assert_proved

    def test_map():
        assert_proved(load("maps/qkv.json")[0])

    def test_cut_rows():
        assert_constructor(cut_rows, over=Sizes(rows=size(), ranks=[1, 2, 4]), reference=plain_rows)

Both are fixtures as well. With ``shardproof_corpus = corpora/maps`` in the configuration of pytest every case
file below that directory is a test: it passes where shardproof gives the answer that the case states.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from verifier.audit.replayed import Replayed
    from verifier.diagnostics.report import Report, Subject
    from verifier.gate.loading import Loaded
    from verifier.model.expectation import Expectation
    from verifier.symbolic.domain import Sizes

CORPUS = "shardproof_corpus"
"""Name of the ini option that lists the directories of a corpus."""


def assert_proved(shard_map: object, expectation: Expectation | None = None) -> None:
    """Pass when a map is proved; fail with what ``shardproof audit`` prints when it is not.

    ``shard_map`` is a ``ShardMap`` or anything else that a constructor may return: a map with its padding,
    DeepSpeed's ``ParamAffineMap``, or the plain dict form. A given expectation replaces the one that declared
    padding stands for.
    """
    __tracebackhide__ = True
    complaint = _map_complaint(shard_map, expectation)
    if complaint:
        pytest.fail(complaint, pytrace=False)


def assert_constructor(
    constructor: Callable[..., object],
    over: Sizes | None = None,
    reference: Callable[..., object] | None = None,
) -> None:
    """Pass when a constructor is proved for all sizes; fail with what ``shardproof gate`` prints if not.

    ``over`` is the domain; without it the one that the decorator ``verifier.constructor`` declares. With a
    ``reference`` the constructor must make the same function for all sizes. Sizes for which it raises are not
    part of the proof; where it does not mean to, that is a warning.
    """
    __tracebackhide__ = True
    complaint, remarks = _constructor_answer(constructor, over, reference)
    if complaint:
        pytest.fail(complaint, pytrace=False)
    for remark in remarks:
        warnings.warn(remark, ShardproofWarning, stacklevel=2)


class ShardproofWarning(pytest.PytestWarning):
    """Something that changes no verdict, such as a size on which a proved constructor raises by accident."""


@pytest.fixture(name="assert_proved", scope="session")
def _assert_proved_fixture() -> Callable[..., None]:
    """Fail unless a map is proved: assert_proved(map, expectation=None)."""
    return assert_proved


@pytest.fixture(name="assert_constructor", scope="session")
def _assert_constructor_fixture() -> Callable[..., None]:
    """Fail unless a constructor is proved: assert_constructor(function, over=Sizes(...), reference=None)."""
    return assert_constructor


def _map_complaint(made: object, expectation: Expectation | None) -> str:
    """The terminal message about a map, nothing when it is proved."""
    from verifier.audit.check import Settings, check_subject
    from verifier.audit.entries import locate
    from verifier.model.expectation import Expectation
    from verifier.model.shard_map import ShardMap

    if not isinstance(made, ShardMap):
        from verifier.gate.returned import returned_map

        try:
            returned = returned_map(made, name="map")
        except ValueError as error:
            return f"there is no map to prove: {error}"
        made, expectation = returned.shard_map, expectation or returned.expectation
    settings = Settings()
    subject = check_subject(made, expectation or Expectation(), settings, settings.answering(), locate=locate)
    return _complaint(_report([subject]))


def _constructor_answer(
    constructor: Callable[..., object], over: Sizes | None, reference: Callable[..., object] | None
) -> tuple[str, list[str]]:
    """The terminal message about a constructor, with a test for the sizes at which it fails; else remarks."""
    from verifier.audit.check import Settings
    from verifier.gate.declared import Declaration, declared_by
    from verifier.gate.gating import gate
    from verifier.gate.run import FAILURES

    loaded = _loaded(constructor)
    try:
        declared = Declaration(over, reference) if over is not None else declared_by(constructor)
        if declared is None:
            return f"{loaded.where} has no domain; pass over=Sizes(...) or declare it by a decorator", []
        if reference is not None:
            declared = replace(declared, reference=reference)
        gated = gate(loaded, declared, Settings())
    except FAILURES as error:
        return str(error), []
    complaint = _complaint(_report([_advised(gated.subject)], gated.unchecked))
    remarks = [f"{finding.code}: {finding.concise}" for finding in gated.subject.findings]
    return "\n".join(filter(None, [complaint, gated.test])), remarks


def _advised(subject: Subject) -> Subject:
    """The subject with advice for a test run, which knows no options of the command."""
    from verifier.gate.findings import KEPT_BY_OPTION

    advice = {KEPT_BY_OPTION: "the test below shows it; keep it beside this one"}
    findings = [
        replace(finding, helps=tuple([advice.get(text, text) for text in finding.helps]))
        for finding in subject.findings
    ]
    return replace(subject, findings=tuple(findings))


def _loaded(function: Callable[..., object]) -> Loaded:
    """A function that is there already, in the form in which the gate takes one."""
    from verifier.gate.loading import Loaded

    named: Any = function
    while isinstance(named, partial):
        named = named.func
    if not hasattr(named, "__qualname__"):
        named = type(named)
    module = str(named.__module__)
    return Loaded(
        where=f"{module}:{named.__qualname__}",
        call=function,
        packages=frozenset({module.partition(".")[0]}),
        digest="",
        folder=Path.cwd(),
    )


def _report(subjects: list[Subject], unchecked: tuple[str, ...] = ()) -> Report:
    from verifier.audit.check import tool_versions
    from verifier.diagnostics.report import Report

    return Report(tool=tool_versions(), subjects=tuple(subjects), unchecked=unchecked)


def _complaint(report: Report) -> str:
    from verifier.render.text import render_text

    return render_text(report) if report.exit_code else ""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini option."""
    parser.addini(CORPUS, "directories whose shardproof case files are tests", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Where pytest was started without arguments it looks into the corpus too: it is part of all tests.

    Raises:
        pytest.UsageError: there is no such directory.
    """
    for directory in _corpora(config):
        if not directory.is_dir():
            raise pytest.UsageError(f"{CORPUS}: there is no directory {directory}")
        if config.args_source is not pytest.Config.ArgsSource.ARGS and not _is_below(directory, config):
            config.args.append(str(directory))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CaseFile | None:
    """A case file of the corpus."""
    if file_path.suffix != ".json" or not any(
        file_path.is_relative_to(directory) for directory in _corpora(parent.config)
    ):
        return None
    return CaseFile.from_parent(parent, path=file_path) if _is_case(file_path) else None


class CaseFile(pytest.File):
    """A case file; it holds one case."""

    def collect(self) -> Iterator[CaseItem]:
        """The case."""
        yield CaseItem.from_parent(self, name=self.path.stem)


class CaseItem(pytest.Item):
    """One case of a corpus: it fails where our answer differs from the one that it states."""

    def runtest(self) -> None:
        """Audit the case.

        Raises:
            CaseFailed: the answer differs, or shardproof contradicts itself.
        """
        from verifier.audit.check import Settings
        from verifier.audit.corpus import replay_path

        replayed = replay_path(Path(os.path.relpath(self.path)), Settings(repair=False))
        if replayed.tool_bug or not replayed.agrees:
            raise CaseFailed(replayed)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The terminal message; the trace of a crash as it is."""
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """What failure reports call it."""
        return self.path, None, f"case {self.name}"


class CaseFailed(Exception):  # noqa: N818 - it says how the case went
    """A case whose answer differs from the one that it states."""

    def __init__(self, replayed: Replayed) -> None:
        super().__init__(replayed)
        self.replayed = replayed

    def __str__(self) -> str:
        from verifier.diagnostics.wording import escaped
        from verifier.render.text import render_text

        replayed = self.replayed
        head = f"{escaped(replayed.file)}: expected {replayed.expected}, got {replayed.got}"
        return f"{head}\n\n{render_text(_report(list(replayed.subjects)))}"


def _corpora(config: pytest.Config) -> list[Path]:
    return [Path(directory) for directory in config.getini(CORPUS)]


def _is_below(directory: Path, config: pytest.Config) -> bool:
    """Whether pytest comes to a directory anyway."""
    starts = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    return any(directory.is_relative_to(os.path.normpath(start)) for start in starts)


def _is_case(path: Path) -> bool:
    """Whether a file states an answer. One that is no JSON is a case too: it must not be lost in silence."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(document, dict) and "expect" in document
