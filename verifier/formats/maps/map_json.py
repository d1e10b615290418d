"""Plain documents that carry affine maps, from JSON text or from a pickle of the same plain objects.

Known forms, told apart by their keys: one map; many maps under ``params``; the same inside ``affine_map`` or
``universal_checkpoint_info``; a case file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from verifier.formats.maps.affine import Decoded, check_version, decode_again, decode_map
from verifier.formats.maps.case_json import decode_expect, read_case
from verifier.formats.reading.document import Document, Refusal, Subject
from verifier.formats.reading.fields import Interned, fields_of, malformed, name_text
from verifier.formats.reading.json_text import parse
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.names import parameter_name
from verifier.formats.reading.refusal import FormatError, NoMapError, below, shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.whole_file import bounded_bytes
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin

SOUNDNESS = Expectation()


def read_json_file(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a JSON file.

    Raises:
        FormatError: nothing in the file can be read.
    """
    data = bounded_bytes(path, request.limits.json_bytes, "JSON", origin)
    return read_json(data, path.stem, origin, request.limits)


def read_json(data: bytes, stem: str, origin: Origin, limits: Limits) -> Document:
    """The document of a JSON text. ``stem`` names a map that has no other name.

    Raises:
        FormatError: nothing in the text can be read.
    """
    parsed = parse(data, origin, limits)
    if not parsed.flaws:
        return read_plain(parsed.value, stem, origin, limits)
    flaw = parsed.flaws[0]
    # A case may say that this very flaw is the right answer.
    if isinstance(parsed.value, dict) and _is_case(parsed.value):
        refusal = Refusal.of(stem, flaw)
        expect = decode_expect(parsed.value["expect"], origin.child("expect"))
        return Document(file=origin.file, kind="case", refusals=(refusal,), expect=expect)
    raise flaw


def read_plain(value: object, stem: str, origin: Origin, limits: Limits) -> Document:
    """The document of a value made of plain objects, lists, texts and numbers.

    Raises:
        FormatError: SM001 when the value has none of the known forms; otherwise as for its form.
    """
    if isinstance(value, dict):
        if _is_case(value):
            return read_case(value, origin, limits)
        if "universal_checkpoint_info" in value:
            return _read_info(
                value["universal_checkpoint_info"], origin.child("universal_checkpoint_info"), limits
            )
        if "affine_map" in value:
            return _read_info(value, origin, limits)
        if "params" in value:
            return read_params(value, origin, limits)
        if "logical_shape" in value or "ranks" in value:
            return _read_map(value, stem, origin, limits)
    raise NoMapError(
        "SM001",
        f"{shown(value)} is no map" if not isinstance(value, dict) else "no map is in this object",
        origin,
        help="a map has logical_shape and ranks; many maps stand under params, keyed by parameter name",
    )


def _is_case(value: dict[str, object]) -> bool:
    return "map" in value and "expect" in value


def _read_info(value: object, origin: Origin, limits: Limits) -> Document:
    if not isinstance(value, dict) or "affine_map" not in value:
        raise malformed(
            "there is no affine_map here", origin, "save with a DeepSpeed that writes affine maps"
        )
    document = read_params(value["affine_map"], origin.child("affine_map"), limits)
    if any(key.endswith("_patterns") for key in value):
        document = replace(
            document,
            unchecked=(*document.unchecked, "the category lists beside the affine map: name the .pt files"),
        )
    return document


def _read_map(value: object, stem: str, origin: Origin, limits: Limits) -> Document:
    try:
        shard_map = decode_map(value, name=stem, origin=origin, limits=limits, interned={})
    except FormatError as error:
        return Document(file=origin.file, kind="map", refusals=(Refusal.of(stem, error),))
    subject = Subject(name=stem, origin=origin, shard_map=shard_map, expectation=SOUNDNESS)
    return Document(file=origin.file, kind="map", subjects=(subject,))


def read_params(value: object, origin: Origin, limits: Limits) -> Document:
    """The maps of ``{"version": 1, "params": {pattern: map}}``; one bad map does not hide the others.

    Raises:
        FormatError: SM002 or SM004 for the object around the maps.
    """
    params = params_of(value, origin)
    subjects: list[Subject] = []
    refusals: list[Refusal] = []
    unchecked: list[str] = []
    interned: Interned = {}
    decoded: Decoded = {}
    for key, entry in params.items():
        place = below(origin.child("params"), key)
        name: str | None = None
        try:
            name, exact = parameter_name(name_text(key, place, limits))
            shard_map = decode_again(
                entry, name=name, origin=place, limits=limits, interned=interned, decoded=decoded
            )
        except FormatError as error:
            refusals.append(Refusal.of(shown(key) if name is None else name, error))
            continue
        if not exact:
            unchecked.append(f"which parameters the pattern {shown(name)} matches: it is used as a name")
        subjects.append(Subject(name=name, origin=place, shard_map=shard_map, expectation=SOUNDNESS))
    return Document(
        file=origin.file,
        kind="affine-json",
        subjects=tuple(subjects),
        refusals=tuple(refusals),
        unchecked=tuple(unchecked),
    )


def params_of(value: object, origin: Origin) -> dict[str, object]:
    """The maps by pattern, after the version was found to be known.

    Raises:
        FormatError: SM002, SM004.
    """
    if isinstance(value, dict) and "version" not in value:
        raise FormatError(
            "SM004",
            "the affine map states no version",
            origin,
            help='add "version": 1 if the maps are of version 1',
        )
    fields = fields_of(value, origin, required=("version", "params"))
    check_version(fields["version"], origin.child("version"))
    params = fields["params"]
    if not isinstance(params, dict):
        raise malformed(
            f"params is {shown(params)}, not an object", origin.child("params"), "key the maps by name"
        )
    return params
