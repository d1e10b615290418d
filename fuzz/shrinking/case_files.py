"""Case files of the corpus: one map with the right answer, as small and as legible as the others."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from fuzz.documents.forms import map_document
from fuzz.walk import CODES, walk
from verifier.audit.check import Settings
from verifier.audit.corpus import case_files
from verifier.audit.judge import judge
from verifier.certificates.encode import Certificate
from verifier.formats import CaseExpect, FormatError, read
from verifier.model.expectation import Expectation
from verifier.model.piece import Scale
from verifier.model.shard_map import ShardMap
from verifier.verdicts import Refuted

WIDTH = 110
"""Longest line, where what stands on it can be broken."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class CaseError(Exception):
    """A case that cannot be written, with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """A case of the corpus.

    Attributes:
        name: of the case, and with ``.json`` of its file.
        what: what is wrong or right, in one sentence.
        source: the public thread, or where else it comes from.
        expect: the right answer.
    """

    name: str
    what: str
    source: str
    shard_map: ShardMap
    expectation: Expectation
    expect: CaseExpect


@dataclass(frozen=True, slots=True)
class Kept:
    """The file that has a case; ``new`` where it was written just now."""

    path: Path
    new: bool


def right_answer(shard_map: ShardMap, expectation: Expectation) -> CaseExpect:
    """The answer that a walk of every address gives.

    The code is that of our primary finding where it is about something that the walk finds too, else every
    code of the conditions that the walk finds violated.

    Raises:
        ValueError: the map is too large to be walked.
    """
    walked = walk(shard_map, expectation)
    if walked.ok:
        return CaseExpect(verdict="proved", codes=())
    codes = {code for family in walked.families for code in CODES[family]}
    verdict = judge(shard_map, expectation, Settings().answering()).verdict
    if isinstance(verdict, Refuted) and verdict.witness.code in codes:
        codes = {verdict.witness.code}
    return CaseExpect(verdict="refuted", codes=tuple(sorted(codes)))


def default_name(shard_map: ShardMap, expectation: Expectation, expect: CaseExpect) -> str:
    """A name made of the answer and the fingerprint."""
    word = expect.codes[0].lower() if expect.codes else expect.verdict
    return f"{word}-{fingerprint(shard_map, expectation)[:8]}"


def fingerprint(shard_map: ShardMap, expectation: Expectation) -> str:
    """The identity of a case: names, files and the order of pieces do not matter."""
    stated = Certificate(shard_map, expectation).to_json()
    for affine in (stated["map"], stated["expectation"].get("reference", {"ranks": {}})):
        for shard in affine["ranks"].values():
            shard["pieces"].sort(key=lambda piece: json.dumps(piece, sort_keys=True))
    text = json.dumps([stated["map"], stated["expectation"]], sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def keep(case: CaseFile, folder: Path) -> Kept:
    """Write a case to a folder, unless a case with the same fingerprint is there.

    Raises:
        CaseError: the name is no file name or taken by another case, or the file would say something else.
        OSError: the folder or file cannot be read or written.
    """
    identity = fingerprint(case.shard_map, case.expectation)
    for path, known in _fingerprints(folder):
        if known == identity:
            return Kept(path, new=False)
    if NAME.fullmatch(case.name) is None:
        raise CaseError(f"{case.name!r} is no name for a file; use letters, digits, '.', '_' and '-'")
    path = folder / f"{case.name}.json"
    if path.exists():
        raise CaseError(f"{path} is another case; choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(case), encoding="ascii")
    problem = _misread(case, path)
    if problem is not None:
        path.unlink()
        raise CaseError(f"a case file cannot say this: {problem}")
    return Kept(path, new=True)


def _fingerprints(folder: Path) -> Iterator[tuple[Path, str]]:
    for path in case_files(folder) if folder.is_dir() else ():
        try:
            subjects = read(path).subjects
        except FormatError:  # being unreadable may be the right answer of a case
            continue
        for subject in subjects:
            yield path, fingerprint(subject.shard_map, subject.expectation)


def _misread(case: CaseFile, path: Path) -> str | None:
    """What a reader sees otherwise in a file than the case has it; None where all is the same."""
    try:
        document = read(path)
    except FormatError as error:
        return str(error)
    if document.refusals:
        return document.refusals[0].message
    (subject,) = document.subjects
    given, found = ((m.logical_shape, m.ranks) for m in (case.shard_map, subject.shard_map))
    if given != found:
        return "a scale is not exactly a double"
    if fingerprint(subject.shard_map, subject.expectation) != fingerprint(case.shard_map, case.expectation):
        return "its expectation has a member that case files have not"
    return None if document.expect == case.expect else "the answer is read as another one"


def text_of(case: CaseFile) -> str:
    """The text of a case file.

    Raises:
        CaseError: a scale is no finite number.
    """
    document: dict[str, Any] = {"name": case.name, "what": case.what, "source": case.source}
    document["map"] = map_document(case.shard_map, _number)
    expectation = _expectation_json(case.expectation)
    if expectation:
        document["expectation"] = expectation
    document["expect"] = {"verdict": case.expect.verdict, "codes": list(case.expect.codes)}
    members = [
        f"  {json.dumps(name)}: {_laid_out(value, 2, len(name) + 5)}" for name, value in document.items()
    ]
    return "{\n" + ",\n".join(members) + "\n}\n"


def _laid_out(value: Any, indent: int, taken: int) -> str:
    """JSON on one line where it fits behind what has taken its part of it, else each member on its own."""
    flat = json.dumps(value)
    if not value or not isinstance(value, dict | list) or indent + taken + len(flat) <= WIDTH:
        return flat
    heads = [f"{json.dumps(key)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    items = list(value.values()) if isinstance(value, dict) else value
    pad = "\n" + " " * (indent + 2)
    inner = [pad + h + _laid_out(v, indent + 2, len(h) + 1) for h, v in zip(heads, items, strict=True)]
    left, right = "{}" if isinstance(value, dict) else "[]"
    return left + ",".join(inner) + "\n" + " " * indent + right


def _expectation_json(expectation: Expectation) -> dict[str, Any]:
    plain = replace(expectation, reference=None)
    document = Certificate(ShardMap(name="", logical_shape=(), ranks={}), plain).to_json()["expectation"]
    if expectation.scale is not None:
        document["expect_scale"] = _number(expectation.scale)
        del document["scale"]
    if "index_bits" in document:
        document["int_bits"] = document.pop("index_bits")
    if expectation.reference is None:
        return dict(document)
    return {"reference": map_document(expectation.reference, _number), **document}


def _number(scale: Scale) -> int | float:
    """The number whose exact rational is the scale, as far as there is one: a reader sees what is written."""
    if not isinstance(scale, Fraction):
        raise CaseError(f"a case file cannot state the scale {scale}")
    try:
        double = float(scale)
    except OverflowError:
        return scale.numerator
    return scale.numerator if scale.denominator == 1 and double != scale else double
