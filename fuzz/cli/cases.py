"""``shardproof cases``: cases for the corpus."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from fuzz.shrinking.answer import shrink_answered
from fuzz.shrinking.case_files import CaseError, CaseFile, Kept, default_name, keep, right_answer
from fuzz.shrinking.example import Example
from verifier.audit.check import Settings, check_subject
from verifier.cli.maps import maps_of
from verifier.cli.paths import NamedPath, shown
from verifier.diagnostics.wording import counted, escaped
from verifier.formats import CaseExpect, Subject, read
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap

JUDGING = Settings(repair=False)


@click.group("cases")
def command() -> None:
    """Cases of the corpus: maps with a known right answer.

    \b
    shardproof cases add broken.json --to corpora/maps
    """


@dataclass(frozen=True, slots=True)
class _Words:
    """What people say of a case; None where it is made up from the map."""

    name: str | None
    what: str | None
    source: str | None


@command.command("add")
@click.argument("maps", nargs=-1, required=True, type=NamedPath(exists=True), metavar="MAP...")
@click.option("--to", "folder", type=NamedPath(file_okay=False), required=True, metavar="DIR",
              help="Folder of the case, such as corpora/maps; made if it is not there.")  # fmt: skip
@click.option("--name", help="Name of the case and its file; made of code and fingerprint if left out.")
@click.option("--what", help="What is wrong, in one sentence; the finding's own if left out.")
@click.option("--source", help="Where it comes from, such as a public thread; the file if left out.")
@click.option("--shrink/--no-shrink", "shrinking", default=True, show_default=True,
              help="Make a map that is not proved as small as it gets, verdict and codes kept; "
                   "--no-shrink keeps it as it is.")  # fmt: skip
@click.option("--reference", type=NamedPath(exists=True), metavar="FILE",
              help="Document with the one map that MAP has to be the same function as.")  # fmt: skip
def add(
    maps: tuple[Path, ...],
    folder: Path,
    name: str | None,
    what: str | None,
    source: str | None,
    shrinking: bool,
    reference: Path | None,
) -> None:
    """Add every map in MAPs to a corpus, with the answer that a walk of every address gives.

    MAP is anything that shardproof audit reads. A case that is there already is not written again; another
    case is never overwritten. Exit code 0 when every map has its case, 2 when something cannot be read or
    written.

    \b
    shardproof cases add broken.json --to corpora/maps --source owner/project#123
    shardproof cases add step1/mp_rank_00_model_states.pt --to corpora/maps
    shardproof cases add after.json --reference before.json --to corpora/maps --name rows-swapped
    """
    required = None if reference is None else _only_map(reference)
    subjects = [(path, subject) for path in maps for subject in _subjects(path)]
    if name is not None and len(subjects) > 1:
        raise click.ClickException(f"--name is for one map, and there are {len(subjects)}; leave it out")
    words = _Words(name, what, source)
    for path, subject in subjects:
        expectation = subject.expectation
        if required is not None:
            expectation = replace(expectation, reference=required)
        example = Example(subject.shard_map, expectation)
        least = shrink_answered(example) if shrinking else example
        _report(_kept(_case(least, words, path), folder), example, least)


def _subjects(path: Path) -> tuple[Subject, ...]:
    """The maps of a document; parameters that are stored as blocks are maps with a holder for each block."""
    maps_of(path)  # refuses what cannot be read, in words
    document = read(path)
    blocks = [
        Subject(
            name=one.boxes.name,
            origin=one.boxes.origin or Origin(document.file),
            shard_map=one.boxes.to_shard_map(),
            expectation=Expectation(),
        )
        for one in document.boxes
        if one.is_parameter
    ]
    if not (document.subjects or blocks):
        raise click.ClickException(f"{shown(path)} holds no map of a parameter, so there is no case to add")
    return (*document.subjects, *blocks)


def _only_map(path: Path) -> ShardMap:
    found = maps_of(path)
    if len(found) != 1:
        raise click.ClickException(f"{shown(path)} holds {len(found)} maps; --reference takes one")
    return found[0]


def _case(example: Example, words: _Words, path: Path) -> CaseFile:
    shard_map, expectation = example.shard_map, example.expectation
    try:
        expect = right_answer(shard_map, expectation)
    except ValueError as error:
        raise click.ClickException(f"{shown(path)}: no walk can confirm an answer: {error}") from error
    return CaseFile(
        name=words.name or default_name(shard_map, expectation, expect),
        what=words.what or _headline(shard_map, expectation),
        source=words.source or shown(path),
        shard_map=shard_map,
        expectation=expectation,
        expect=expect,
    )


def _headline(shard_map: ShardMap, expectation: Expectation) -> str:
    subject = check_subject(shard_map, expectation, JUDGING, JUDGING.answering())
    return subject.findings[0].headline if subject.findings else "Right."


def _kept(case: CaseFile, folder: Path) -> tuple[CaseExpect, Kept]:
    try:
        return case.expect, keep(case, folder)
    except CaseError as error:
        raise click.ClickException(escaped(str(error))) from error
    except OSError as error:
        raise click.FileError(shown(folder), hint=error.strerror or str(error)) from error


def _report(found: tuple[CaseExpect, Kept], example: Example, least: Example) -> None:
    expect, kept = found
    answer = f"{expect.verdict} ({', '.join(expect.codes)})" if expect.codes else expect.verdict
    before, after = (sum(1 for _ in one.shard_map.pieces()) for one in (example, least))
    smaller = "" if least is example else f"; {counted(before, 'piece')} became {after}"
    if kept.new:
        click.echo(f"wrote {shown(kept.path)}: {answer}{smaller}")
    else:
        click.echo(f"already there as {shown(kept.path)}: {answer}{smaller}")
    click.echo(f"replay it with: shardproof replay {shown(kept.path)}")
