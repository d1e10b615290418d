"""The tree of an Orbax checkpoint, ``_METADATA``: its leaves by name, and how they were written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from verifier.formats.reading.document import Refusal
from verifier.formats.reading.fields import integers, items_of, malformed, name_text
from verifier.formats.reading.gathered import Gathered
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.model.origin import Origin

ARRAYS = frozenset({"jax.Array", "np.ndarray", "scalar"})
"""Types of leaves that are stored as one zarr array each."""
DEVICE_ARRAY = "jax.Array"
EMPTY = frozenset({"None", "Dict", "List", "Tuple", "NamedTuple"})
"""Types of leaves that hold nothing and are not stored."""
STRING = "string"

TREE = "tree_metadata"
FILL = "store_array_data_equal_to_fill_value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One leaf.

    Attributes:
        name: its keys, joined by dots; the name of its array.
        origin: its place in ``_METADATA``.
        value_type: what it was, e.g. ``jax.Array``.
        is_empty: whether it holds nothing that an array would be stored for.
        write_shape: shape of the blocks in which each process wrote it, None when not stated.
    """

    name: str
    origin: Origin
    value_type: str
    is_empty: bool
    write_shape: tuple[int, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """What ``_METADATA`` states.

    Attributes:
        leaves: by name.
        use_ocdbt: whether the arrays share one key-value store, None when not stated.
        zarr_version: of the arrays, None when not stated.
        writes_fill: whether chunks that hold only the fill value were written too; False in older files.
    """

    leaves: Mapping[str, Leaf]
    use_ocdbt: bool | None
    zarr_version: int | None
    writes_fill: bool


def tree_of(value: object, origin: Origin, limits: Limits, gathered: Gathered) -> Tree:
    """The tree that ``_METADATA`` states. One bad leaf is refused and hides no other.

    Raises:
        FormatError: SM002 when it is no tree.
    """
    entries = value.get(TREE) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(entries, dict):
        raise malformed(f"expected an object with {TREE}", origin, "name the folder of one checkpoint item")
    leaves: dict[str, Leaf] = {}
    repeated: list[str] = []
    for key, entry in entries.items():
        place = below(origin.child(TREE), key)
        try:
            leaf = _leaf(entry, place, limits)
        except FormatError as error:
            gathered.refusals.append(Refusal.of(shown(key), error))
            continue
        if leaf.name in leaves:
            repeated.append(leaf.name)
        leaves.setdefault(leaf.name, leaf)
    gathered.about_names(
        "CK106",
        repeated,
        what="the array",
        found="stands for two leaves",
        stated="their keys are joined by dots to the same name",
        file=origin.file,
    )
    use_zarr3 = _switch(value, "use_zarr3", origin)
    return Tree(
        leaves=leaves,
        zarr_version=None if use_zarr3 is None else 3 if use_zarr3 else 2,
        use_ocdbt=_switch(value, "use_ocdbt", origin),
        writes_fill=bool(_switch(value, FILL, origin)),
    )


def _switch(value: Mapping[str, object], key: str, origin: Origin) -> bool | None:
    found = value.get(key)
    if found is None or isinstance(found, bool):
        return found
    raise malformed(f"{key} is {shown(found)}", origin.child(key), "write true or false")


def _leaf(entry: object, origin: Origin, limits: Limits) -> Leaf:
    keys = entry.get("key_metadata") if isinstance(entry, dict) else None
    metadata = entry.get("value_metadata") if isinstance(entry, dict) else None
    if not isinstance(metadata, dict):
        raise malformed("the leaf has no value_metadata", origin, "write the tree again")
    place = origin.child("key_metadata")
    names = [
        name_text(key.get("key") if isinstance(key, dict) else None, place.child(position), limits)
        for position, key in enumerate(items_of(keys, place))
    ]
    value_type = name_text(metadata.get("value_type"), origin.child("value_metadata", "value_type"), limits)
    write_shape = metadata.get("write_shape")
    at = origin.child("value_metadata")
    return Leaf(
        name=".".join(names),
        origin=origin,
        value_type=value_type,
        is_empty=value_type in EMPTY or metadata.get("skip_deserialize") is True,
        write_shape=None if write_shape is None else integers(write_shape, at, "write_shape"),
    )
