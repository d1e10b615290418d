"""Auditing paths: every document read, every part of it judged, one report for all.

One unreadable file does not hide the findings of the others, and how the work is shared changes nothing in
the report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from verifier.audit.cache import Cache, CacheError, opened
from verifier.audit.check import Settings, tool_versions
from verifier.audit.entries import Entry, batches, check_entry, entries_of, file_set, refused
from verifier.audit.executors import IN_PROCESS, Workers, in_order
from verifier.audit.proofs import Proofs
from verifier.audit.references import Maps, left_open, with_references
from verifier.audit.together import Together
from verifier.diagnostics.finding import Place
from verifier.diagnostics.report import Report, Subject
from verifier.formats import Document, FormatError, Found, NoMapError, Refusal, Request, found_at, read

HEAVIEST = 20_000
"""Pieces of one task: about a second of work."""
LONGEST = 64
"""Parts of a document in one task."""


@dataclass(frozen=True, slots=True)
class Audited:
    """What one path came to.

    ``document`` is None when nothing in it could be read.
    """

    subjects: tuple[Subject, ...]
    unchecked: tuple[str, ...]
    document: Document | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """How paths are audited.

    Attributes:
        settings: how each map is checked.
        request: what is asked of readers.
        workers: who does the work.
        references: the map that each parameter should be, by name; None for no comparison.
        cache: file with what earlier audits proved, None for none.
        keep_outcomes: False to leave certificates with the workers that made them.
        done: called with how many more parts are judged, and how many more are known of.
    """

    settings: Settings = field(default_factory=Settings)
    request: Request = field(default_factory=Request)
    workers: Workers = IN_PROCESS
    references: Maps | None = None
    cache: Path | None = None
    keep_outcomes: bool = False
    done: Callable[[int, int], None] = lambda judged, more: None


def audit_paths(paths: Iterable[Path], audit: Audit) -> Report:
    """One report on all paths, in the given order; a folder of checkpoints stands for each of them.

    Raises:
        CacheError: the cache cannot be used; nothing was audited then.
    """
    subjects: list[Subject] = []
    unchecked: dict[str, None] = {}
    with ExitStack() as stack:
        cache = None if audit.cache is None else stack.enter_context(opened(audit.cache))
        together = Together(audit.request.shapes, audit.references)
        for path in paths:
            for audited in _named(path, audit, cache):
                subjects += audited.subjects
                unchecked.update(dict.fromkeys(audited.unchecked))
                if audited.document is not None:
                    together.add(audited.document)
        subjects += _absent(together, audit)
    return Report(tool=tool_versions(), subjects=tuple(subjects), unchecked=tuple(unchecked))


def audit_path(path: Path, settings: Settings, request: Request | None = None) -> Audited:
    """One file or checkpoint folder, judged in this process, with certificates."""
    audit = Audit(settings=settings, request=request or Request(), keep_outcomes=True)
    audited = _audited(Found(path), audit, None)
    if audited.document is None:
        return audited
    together = Together(audit.request.shapes, None)
    together.add(audited.document)
    return replace(audited, subjects=(*audited.subjects, *_absent(together, audit)))


def _named(path: Path, audit: Audit, cache: Cache | None) -> Iterator[Audited]:
    """Whatever is at a path that somebody named."""
    search = found_at(path, audit.request)
    nothing = True
    for found in search.found:
        try:
            yield _audited(found, audit, cache)
            nothing = False
        except NoMapError:
            search.without_map.append(found.path)
    if nothing:
        yield _audited(Found(path), audit, cache)
    else:
        yield Audited((), tuple(search.unchecked()), None)


def _absent(together: Together, audit: Audit) -> list[Subject]:
    """What is in none of the plain documents that should have it."""
    document = together.document()
    subject = None if document is None else file_set(document, audit.settings)
    return [] if subject is None else [subject]


def _audited(found: Found, audit: Audit, cache: Cache | None) -> Audited:
    """One document.

    Raises:
        NoMapError: a file that nobody named is no document of maps.
    """
    path = found.path
    try:
        document = read(path, request=found.asked(audit.request))
    except FormatError as error:
        if isinstance(error, NoMapError) and not found.named:
            raise
        refusal = Refusal.of(path.name, error)
        return Audited((refused(refusal, line=error.line, column=error.column),), (), None)
    if audit.references is not None:
        document = with_references(document, audit.references)
    subjects = list(_judged(entries_of(document), audit, cache))
    together = file_set(document, audit.settings)
    if together is not None:
        subjects.append(together)
    if not subjects:
        return Audited((_unchecked(path),), (*document.unchecked, f"{path} (no map found)"), document)
    is_proved = any(subject.verdict == "proved" for subject in subjects)
    unchecked = left_open(document, audit.references) if is_proved else document.unchecked
    return Audited(tuple(subjects), unchecked, document)


def _judged(entries: Sequence[Entry], audit: Audit, cache: Cache | None) -> Iterator[Subject]:
    audit.done(0, len(entries))
    task = partial(
        _check_batch, settings=audit.settings, cache=audit.cache, keep_outcomes=audit.keep_outcomes
    )
    shared = batches(entries, heaviest=HEAVIEST, longest=LONGEST)
    for subjects, fresh in in_order(audit.workers, task, shared):
        if cache is not None:
            cache.keep(fresh)
        audit.done(len(subjects), 0)
        yield from subjects


_PROOFS: dict[tuple[Settings, Path | None], Proofs] = {}
"""What this process proved, by settings and cache: the batches of one audit share it."""


def _check_batch(
    batch: tuple[Entry, ...], *, settings: Settings, cache: Path | None, keep_outcomes: bool
) -> tuple[tuple[Subject, ...], dict[str, str]]:
    """The subjects of a batch, and what was proved anew. Runs in a worker."""
    proofs = Proofs() if settings.oracle is not None else _PROOFS.setdefault((settings, cache), Proofs())
    proofs.outcomes = keep_outcomes
    proofs.fresh = {}
    answering = settings.answering()
    with ExitStack() as stack:
        proofs.stored = _stored(cache, stack)
        subjects = [check_entry(entry, settings, answering, proofs) for entry in batch]
        proofs.stored = None
    if not keep_outcomes:
        subjects = [
            subject if subject.outcome is None else replace(subject, outcome=None) for subject in subjects
        ]
    return tuple(subjects), proofs.fresh


def _stored(cache: Path | None, stack: ExitStack) -> Callable[[str], str | None] | None:
    """Finds what the cache has; a worker that cannot see the file finds nothing and still proves anew."""
    if cache is None:
        return None
    try:
        return stack.enter_context(opened(cache)).find
    except CacheError:
        return lambda key: None


def _unchecked(path: Path) -> Subject:
    """A document without a map: it must not pass because of what other documents hold."""
    return Subject(name=str(path), kind="document", verdict="unchecked", place=Place(str(path)))
