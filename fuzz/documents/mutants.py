"""One defect of a JSON document at a time, with the codes by which a reader may refuse it.

The documents carry maps in any form that is read: one map, many maps, case files. A reader may happen not to
mind: then the document says what it said before, or it is another map, which can be judged.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzz.cases import Case
from fuzz.documents.forms import case_document, map_document
from fuzz.documents.json_tree import Members, Node, Raw, Slot, slots, text_of, tree_of

ByteChange = Callable[[random.Random, bytes], bytes | None]
TreeChange = Callable[[random.Random, Slot], bool]
"""Changes the tree in place; False where there is nothing to change."""
Values = Callable[[random.Random, Slot], Node]

HUGE = (2**63, -(2**63), 2**64, 2**127, 2**200, -(2**200))
ODD_TEXTS = ('"\\ud800"', '"\\u0000"', '"a\\nb"', '"\\u202e"', '""', '"' + "x" * 5000 + '"')
SPELLINGS = ("0{}", "+{}", " {}", "{} ", "00{}", "{}\t")
"""Ways to write a number that ``int`` reads as the plain one."""
NO_RANKS = ("01", "+1", "-1", "1.0", "1e0", "0x1", "", "rank 0", "\u0661", "9" * 19, "9" * 20, "1" * 5000)
NO_NUMBERS = tuple(Raw(word) for word in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999"))
VERSIONS: tuple[Node, ...] = (0, 2, -1, True, "1", None, [1], 10**30, Raw("1.0"))


@dataclass(frozen=True, slots=True)
class DocumentMutant:
    """A labelled defect of a document.

    Attributes:
        change: makes it, of bytes that are JSON; None where the document has nothing to change.
        codes: what a reader may refuse it with.
        sure: whether it must refuse it.
    """

    name: str
    change: ByteChange
    codes: frozenset[str]
    sure: bool = False

    def __call__(self, rng: random.Random, data: bytes) -> bytes | None:
        """The document with the defect; None where it cannot have it, or stays what it was."""
        made = self.change(rng, data)
        return None if made == data else made


def forms_of(case: Case) -> tuple[object, ...]:
    """The maps of a case as a document in every form that is read; its scales are finite."""
    plain = map_document(case.shard_map)
    params = {"version": 1, "params": {"^layers\\.0\\.w$": plain, "b": map_document(case.clean)}}
    info = {"affine_map": params, "vocabulary_parameter_patterns": []}
    return plain, case_document(case), params, {"universal_checkpoint_info": info}


def document_text(value: object) -> bytes:
    """A JSON value as the text that mutants start from.

    Raises:
        ValueError: it holds a number that JSON has not.
    """
    return json.dumps(value, allow_nan=False).encode("ascii")


def _on_tree(change: TreeChange) -> ByteChange:
    def changed(rng: random.Random, data: bytes) -> bytes | None:
        root = tree_of(data)
        return text_of(root.value).encode("ascii") if change(rng, root) else None

    return changed


def _put(values: Values, fits: Callable[[Slot], bool]) -> ByteChange:
    """Another value in a place of some kind."""

    def change(rng: random.Random, root: Slot) -> bool:
        found = [slot for slot in slots(root) if fits(slot)]
        if not found:
            return False
        slot = rng.choice(found)
        slot.put(values(rng, slot))
        return True

    return _on_tree(change)


def _one_of(values: Sequence[Node]) -> Values:
    return lambda rng, slot: rng.choice(values)


def _any(slot: Slot) -> bool:
    return True


def _is_integer(slot: Slot) -> bool:
    return type(slot.value) is int


def _is_number(slot: Slot) -> bool:
    return type(slot.value) in (int, float)


def _is_text(slot: Slot) -> bool:
    return isinstance(slot.value, str)


def _no_text(slot: Slot) -> bool:
    return not isinstance(slot.value, str)


def _no_truth(slot: Slot) -> bool:
    return not isinstance(slot.value, bool)


def _in_list(slot: Slot) -> bool:
    return isinstance(slot.holder, list) and slot.path != ()


def _is_member(slot: Slot) -> bool:
    return isinstance(slot.holder, Members)


def _by_rank(slot: Slot) -> bool:
    """An entry of an object that is keyed by ranks."""
    return _is_member(slot) and len(slot.path) > 1 and slot.path[-2] in ("ranks", "holes")


def _nested(rng: random.Random, slot: Slot) -> Node:
    depth = rng.choice((40, 101, 5_000))
    opened, closed = rng.choice((("[", "]"), ('{"a":', "}")))
    return Raw(opened * depth + "0" + closed * depth)


def _huge(rng: random.Random, slot: Slot) -> Node:
    return rng.choice((*HUGE, Raw("9" * 129), Raw("9" * 5000)))


def _negative(rng: random.Random, slot: Slot) -> Node:
    return -1 - slot.value if type(slot.value) is int else None


def _objects(root: Slot) -> list[Members]:
    return [slot.value for slot in slots(root) if isinstance(slot.value, Members) and slot.value.pairs]


def _repeat_key(rng: random.Random, root: Slot) -> bool:
    """A key once more, perhaps spelled with escapes, with its value or another one."""
    found = _objects(root)
    if not found:
        return False
    pairs = rng.choice(found).pairs
    key, value = rng.choice(pairs)
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in str(key))
    again = rng.choice((key, Raw(f'"{escaped}"')))
    pairs.insert(rng.randrange(len(pairs) + 1), (again, rng.choice((value, 0))))
    return True


def _colliding_ranks(rng: random.Random, root: Slot) -> bool:
    """A rank once more, under another spelling of its number."""
    objects = [slot.value for slot in slots(root) if slot.path[-1:] in (("ranks",), ("holes",))]
    found = [members for members in objects if isinstance(members, Members) and members.pairs]
    if not found:
        return False
    pairs = rng.choice(found).pairs
    key, value = rng.choice(pairs)
    pairs.append((rng.choice(SPELLINGS).format(key), value))
    return True


def _rename(keys: Sequence[str | Raw], fits: Callable[[Slot], bool]) -> TreeChange:
    def change(rng: random.Random, root: Slot) -> bool:
        found = [slot for slot in slots(root) if fits(slot)]
        if found:
            rng.choice(found).rename(rng.choice(keys))
        return bool(found)

    return change


def _remove(fits: Callable[[Slot], bool]) -> TreeChange:
    def change(rng: random.Random, root: Slot) -> bool:
        found = [slot for slot in slots(root) if fits(slot)]
        if found:
            rng.choice(found).remove()
        return bool(found)

    return change


def _repeat_item(rng: random.Random, root: Slot) -> bool:
    found = [slot.value for slot in slots(root) if isinstance(slot.value, list) and slot.value]
    if not found:
        return False
    items = rng.choice(found)
    at = rng.randrange(len(items))
    items.insert(at, items[at])
    return True


def _unknown_field(rng: random.Random, root: Slot) -> bool:
    found = _objects(root)
    if not found:
        return False
    pairs = rng.choice(found).pairs
    pairs.insert(rng.randrange(len(pairs) + 1), ("note", rng.choice((0, "x", [], None))))
    return True


def _version(rng: random.Random, root: Slot) -> bool:
    """A version that nobody knows, of a map or of many."""
    found = [members for members in _objects(root) if {"logical_shape", "params"} & {*members.keys}]
    if not found:
        return False
    members = rng.choice(found)
    others = [pair for pair in members.pairs if pair[0] != "version"]
    members.pairs[:] = [("version", rng.choice(VERSIONS)), *others]
    return True


def _truncated(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _bad_syntax(rng: random.Random, data: bytes) -> bytes:
    """A mistake that no position in the text makes good."""
    return rng.choice(
        (
            data[:-1] + b"," + data[-1:],
            data + b"}",
            data + data,
            b"// a map\n" + data,
            data.replace(b'"', b"'"),
        )
    )


def _bad_bytes(rng: random.Random, data: bytes) -> bytes:
    """Bytes that are no UTF-8 without a mark."""
    at = rng.randrange(len(data) + 1)
    bad = rng.choice((b"\xff", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"))
    text = data.decode("ascii")
    marked = (text.encode("utf-8-sig"), text.encode("utf-16"), text.encode("utf-16-le"))
    return rng.choice((data[:at] + bad + data[at:], *marked))


def _changed_byte(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _mutant(name: str, change: ByteChange, codes: str, *, sure: bool = False) -> DocumentMutant:
    return DocumentMutant(name, change, frozenset(codes.split()), sure)


FORM = "SM001 SM002 SM004"
"""What stands there is no number, list, object or version."""
ANY = "SM001 SM002 SM003 SM004 SM005 SM006 SM103 SM104 SM108"

DOCUMENT_MUTANTS: dict[str, DocumentMutant] = {
    mutant.name: mutant
    for mutant in (
        _mutant("bool-value", _put(_one_of((True, False)), _no_truth), f"{FORM} SM005"),
        _mutant("float-value", _put(lambda rng, slot: Raw(f"{slot.value}.0"), _is_integer), "SM004 SM005"),
        _mutant("text-value", _put(lambda rng, slot: text_of(slot.value), _no_text), f"{FORM} SM005"),
        _mutant("null-value", _put(_one_of((None,)), _any), FORM),
        _mutant("list-value", _put(lambda rng, slot: [slot.value], _any), FORM),
        _mutant("empty-value", _put(lambda rng, slot: rng.choice(([], Members([]))), _any), f"{FORM} SM103"),
        _mutant("negative-number", _put(_negative, _is_integer), "SM002 SM004 SM104 SM108"),
        _mutant("huge-number", _put(_huge, _is_number), "SM002 SM004 SM006 SM104 SM108"),
        _mutant("no-number", _put(_one_of(NO_NUMBERS), _is_number), "SM005", sure=True),
        _mutant("odd-text", _put(_one_of([*map(Raw, ODD_TEXTS)]), _is_text), "SM002 SM006"),
        _mutant("deep-nesting", _put(_nested, _any), f"{FORM} SM006"),
        # Of an answer that a case states twice the second is looked at first.
        _mutant("duplicate-key", _on_tree(_repeat_key), "SM002 SM003", sure=True),
        _mutant("colliding-ranks", _on_tree(_colliding_ranks), "SM003", sure=True),
        _mutant("odd-rank-key", _on_tree(_rename(NO_RANKS, _by_rank)), "SM002 SM003 SM006"),
        _mutant("odd-key", _on_tree(_rename([*map(Raw, ODD_TEXTS)], _is_member)), f"{FORM} SM006"),
        _mutant("unknown-field", _on_tree(_unknown_field), "SM002"),
        _mutant("missing-field", _on_tree(_remove(_is_member)), FORM),
        _mutant("missing-item", _on_tree(_remove(_in_list)), "SM002 SM103"),
        _mutant("repeated-item", _on_tree(_repeat_item), "SM002 SM103"),
        _mutant("version", _on_tree(_version), "SM004", sure=True),
        _mutant("truncated", _truncated, "SM001", sure=True),
        _mutant("bad-syntax", _bad_syntax, "SM001", sure=True),
        _mutant("bad-bytes", _bad_bytes, "SM001", sure=True),
        _mutant("changed-byte", _changed_byte, ANY),
    )
}
"""Every defect of a document by name."""
