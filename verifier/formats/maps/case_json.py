"""Case files: one map, what its reader expects, and the right answer."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import get_args

from verifier.formats.maps.affine import decode_map
from verifier.formats.reading.document import CaseExpect, CaseVerdict, Document, Refusal, Subject
from verifier.formats.reading.fields import (
    Interned,
    address_list,
    fields_of,
    integer,
    items_of,
    malformed,
    name_text,
    number,
    rank_keys,
    truth,
)
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.model.expectation import MOST_INDEX_BITS, Expectation
from verifier.model.origin import Origin

CASE_FIELDS = ("name", "map", "expect")
CASE_TEXTS = ("what", "source")
EXPECTATION_FIELDS = (
    "reference",
    "holes",
    "gaps",
    "cover",
    "lookup",
    "partial",
    "expect_scale",
    "int_bits",
    "write_unit",
)
VERDICTS: tuple[CaseVerdict, ...] = get_args(CaseVerdict)


def read_case(value: object, origin: Origin, limits: Limits) -> Document:
    """The document of a case file. A map that cannot be read becomes a refusal: that may be the right answer.

    Raises:
        FormatError: the case around the map is malformed.
    """
    fields = fields_of(value, origin, required=CASE_FIELDS, optional=(*CASE_TEXTS, "expectation"))
    name = name_text(fields["name"], origin.child("name"), limits)
    for key in CASE_TEXTS:
        if key in fields:
            name_text(fields[key], origin.child(key), limits)
    expect = decode_expect(fields["expect"], origin.child("expect"))
    interned: Interned = {}
    place = origin.child("map")
    try:
        subject = Subject(
            name=name,
            origin=place,
            shard_map=decode_map(fields["map"], name=name, origin=place, limits=limits, interned=interned),
            expectation=decode_expectation(
                fields.get("expectation", {}), name, origin.child("expectation"), limits, interned
            ),
        )
    except FormatError as error:
        return Document(file=origin.file, kind="case", refusals=(Refusal.of(name, error),), expect=expect)
    return Document(file=origin.file, kind="case", subjects=(subject,), expect=expect)


def decode_expect(value: object, origin: Origin) -> CaseExpect:
    """The right answer that a case file states.

    Raises:
        FormatError: SM002.
    """
    fields = fields_of(value, origin, required=("verdict", "codes"), optional=("structural_verdict",))
    codes: list[str] = []
    for position, code in enumerate(items_of(fields["codes"], origin.child("codes"))):
        if not isinstance(code, str):
            raise malformed(
                f"expected a code, found {shown(code)}",
                origin.child("codes", position),
                'write one such as "SM201"',
            )
        codes.append(code)
    structural = None
    if "structural_verdict" in fields:
        structural = _verdict(fields["structural_verdict"], origin.child("structural_verdict"))
    return CaseExpect(
        verdict=_verdict(fields["verdict"], origin.child("verdict")),
        codes=tuple(codes),
        structural_verdict=structural,
    )


def _verdict(value: object, origin: Origin) -> CaseVerdict:
    for verdict in VERDICTS:
        if value == verdict:
            return verdict
    raise malformed(f"{shown(value)} is no verdict", origin, f"write one of {', '.join(VERDICTS)}")


def decode_expectation(
    value: object, name: str, origin: Origin, limits: Limits, interned: Interned
) -> Expectation:
    """What the reader of the map demands or waives; ``value`` is an object with any of EXPECTATION_FIELDS.

    Raises:
        FormatError: SM002, SM003, SM005 or SM006; for the reference map also what ``decode_map`` raises.
    """
    fields = fields_of(value, origin, required=(), optional=EXPECTATION_FIELDS)
    reference = None
    if "reference" in fields:
        reference = decode_map(
            fields["reference"],
            name=name,
            origin=origin.child("reference"),
            limits=limits,
            interned=interned,
        )
    holes_origin = origin.child("holes")
    lookup = truth(fields.get("lookup", False), origin.child("lookup"))
    if lookup and ("write_unit" in fields or fields.get("partial", False)):
        raise malformed(
            "a lookup table has no holders, so neither partial sums nor storage units",
            origin,
            "leave out lookup, or partial and write_unit",
        )
    return Expectation(
        reference=reference,
        holes={
            rank: address_list(addresses, holes_origin.child(key), what="shard address")
            for rank, key, addresses in rank_keys(fields.get("holes", {}), holes_origin)
        },
        gaps=address_list(fields.get("gaps", []), origin.child("gaps"), what="parameter address"),
        cover=truth(fields.get("cover", True), origin.child("cover")),
        lookup=lookup,
        partial=truth(fields.get("partial", False), origin.child("partial")),
        scale=_exact(fields, origin),
        index_bits=_index_bits(fields.get("int_bits", 64), origin.child("int_bits")),
        write_unit=(
            _at_least(1, fields["write_unit"], origin.child("write_unit")) if "write_unit" in fields else None
        ),
    )


def _exact(fields: Mapping[str, object], origin: Origin) -> Fraction | None:
    if "expect_scale" not in fields:
        return None
    scale = number(fields["expect_scale"], origin.child("expect_scale"))
    if not isinstance(scale, Fraction):
        raise malformed(f"{shown(scale)} is no scale", origin.child("expect_scale"), "write a finite number")
    return scale


def _index_bits(value: object, origin: Origin) -> int:
    bits = _at_least(2, value, origin)
    if bits > MOST_INDEX_BITS:
        raise malformed(
            f"{shown(bits)} is above {MOST_INDEX_BITS}", origin, f"write {MOST_INDEX_BITS} or less"
        )
    return bits


def _at_least(least: int, value: object, origin: Origin) -> int:
    found = integer(value, origin)
    if found < least:
        raise malformed(f"{shown(found)} is below {least}", origin, f"write {least} or more")
    return found
