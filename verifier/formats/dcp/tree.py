"""From the unpickled tree of a metadata file, of inert records or of stubs, to columns.

The walk is the same for both. A tensor that is not as it should be is refused by itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain

from verifier.formats.dcp.contents import Contents, StoredObject, StoredTensor
from verifier.formats.dcp.names import (
    BYTES,
    CHUNK,
    METADATA,
    OLD_PROPERTIES,
    PROPERTIES,
    TENSOR,
)
from verifier.formats.dcp.nesting import nesting_of
from verifier.formats.dcp.records import (
    SAVE_AGAIN,
    State,
    all_numbers,
    are_integers,
    field_of,
    given_state,
    kind_of,
    reference_of,
    state_of,
    states_of,
)
from verifier.formats.dcp.storage_rows import StorageRows
from verifier.formats.pickles.dtypes import DTYPES
from verifier.formats.pickles.torch_zip import shape_of
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.fields import malformed, name_text
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.geometry.strided import INT64_MAX
from verifier.model.box_map import COLUMN
from verifier.model.origin import Origin

DESCRIBED = "state_dict_metadata"
REFORMED = "nd_reformulated_orig_global_shape"


def contents_of(value: object, origin: Origin, limits: Limits) -> Contents:
    """The contents of a metadata file.

    Args:
        value: what ``read_pickle`` or ``load_stubs`` made of it.
        origin: the file.
        limits: how long names may be, and how many axes a tensor may have.

    Raises:
        FormatError: SM002 when it is no such metadata, SM004 for a version that is not known.
    """
    top = state_of(value, METADATA)
    if top is None:
        raise malformed("this is no metadata of torch.distributed.checkpoint", origin, SAVE_AGAIN)
    _check_version(top.get("version"), origin)
    described, storage = (_mapping(top, key, origin) for key in (DESCRIBED, "storage_data"))
    rows = StorageRows(storage, origin, limits)
    walk = _Walk(rows, origin, limits)
    for name, entry in described.items():
        walk.describe(name, entry)
    reformed, tells = _reformed(top.get("mcore_data"))
    return Contents(
        tensors=tuple(walk.tensors),
        objects=tuple(walk.objects),
        storage=rows.storage,
        orphans=rows.orphans(),
        repeated=rows.repeated,
        nesting=nesting_of(top.get("planner_data"), described),
        reformed=reformed,
        tells_reformed=tells,
        refusals=(*walk.refusals, *rows.refusals),
    )


def _mapping(top: State, key: str, origin: Origin) -> State:
    value = top.get(key)
    if not isinstance(value, dict):
        raise malformed(f"{key} is no mapping", origin.child(key), SAVE_AGAIN)
    return value


def _check_version(version: object, origin: Origin) -> None:
    # Files from before torch 2.3 have none.
    if version is not None and not (isinstance(version, str) and version.split(".")[0] == "1"):
        raise FormatError(
            "SM004",
            f"version {shown(version)}; known are files without one and those of version 1",
            origin.child("version"),
            help="audit it with a release of shardproof that knows the version",
        )


class _Walk:
    """Goes through ``state_dict_metadata``."""

    __slots__ = ("limits", "objects", "origin", "refusals", "rows", "tensors")

    def __init__(self, rows: StorageRows, origin: Origin, limits: Limits) -> None:
        self.rows = rows
        self.origin = origin.child(DESCRIBED)
        self.limits = limits
        self.tensors: list[StoredTensor] = []
        self.objects: list[StoredObject] = []
        self.refusals: list[Refusal] = []

    def describe(self, name: object, entry: object) -> None:
        """One entry: a tensor, or pickled bytes."""
        place = below(self.origin, name)
        try:
            text = name_text(name, place, self.limits)
            if kind_of(entry) == BYTES:
                self.objects.append(StoredObject(name=text, entry=self.rows.take(text, [None])[0]))
            else:
                self.tensors.append(self._tensor(text, entry, place))
        except FormatError as error:
            if isinstance(name, str):
                self.rows.drop(name)
            self.refusals.append(Refusal.of(shown(name), error))

    def _tensor(self, name: str, entry: object, place: Origin) -> StoredTensor:
        state = state_of(entry, TENSOR)
        if state is None:
            raise malformed("this describes neither a tensor nor bytes", place, SAVE_AGAIN)
        shape, chunks = shape_of(state.get("size")), state.get("chunks")
        if shape is None:
            raise malformed("the size is no shape", place.child("size"), SAVE_AGAIN)
        if len(shape) > self.limits.axes:
            raise malformed(f"a tensor of {len(shape)} axes", place.child("size"), "torch stops at 64 axes")
        if max(shape, default=0) > INT64_MAX:
            raise FormatError(
                "SM109", "a dimension does not fit 64 bits", place.child("size"), help=SAVE_AGAIN
            )
        if not isinstance(chunks, list):
            raise malformed("the chunks are no list", place.child("chunks"), SAVE_AGAIN)
        offsets, sizes = _boxes(chunks, len(shape), place.child("chunks"))
        return StoredTensor(
            name=name,
            dtype=_dtype(state.get("properties"), place),
            shape=shape,
            count=len(chunks),
            offsets=_column(offsets, place.child("chunks")),
            sizes=_extents(sizes, place.child("chunks")),
            entries=self.rows.take(name, offsets),
        )


def _dtype(properties: object, place: Origin) -> str:
    state = given_state(properties) if kind_of(properties) in (PROPERTIES, OLD_PROPERTIES) else None
    name = reference_of(state[0]) if isinstance(state, tuple) and state else None
    if name is None or name not in DTYPES:
        raise malformed("the properties name no type of elements", place.child("properties"), SAVE_AGAIN)
    return name.name


def _boxes(
    chunks: Sequence[object], axes: int, place: Origin
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Offsets and sizes of the chunks, as many numbers each as there are axes."""
    states = states_of(chunks, CHUNK) if chunks else []
    boxes = []
    for key in ("offsets", "sizes"):
        values = None if states is None else field_of(states, key)
        numbers = None if values is None else all_numbers(values)
        if numbers is None:
            raise malformed(f"a chunk has no {key}", place, SAVE_AGAIN)
        if not {*map(len, numbers)} <= {axes}:
            wrong = next(position for position, group in enumerate(numbers) if len(group) != axes)
            raise FormatError(
                "SM103",
                f"chunk {wrong} has {len(numbers[wrong])} {key} for a tensor of {axes} axes",
                place.child(wrong),
                help=SAVE_AGAIN,
            )
        boxes.append(numbers)
    return boxes[0], boxes[1]


def _column(groups: Sequence[tuple[int, ...]], place: Origin) -> array[int]:
    numbers = list(chain.from_iterable(groups))
    if not are_integers(numbers):
        raise FormatError("SM005", "an offset or size of a chunk is no plain integer", place, help=SAVE_AGAIN)
    try:
        return array(COLUMN, numbers)
    except OverflowError:
        raise FormatError(
            "SM109", "an offset or size of a chunk does not fit 64 bits", place, help=SAVE_AGAIN
        ) from None


def _extents(groups: Sequence[tuple[int, ...]], place: Origin) -> array[int]:
    sizes = _column(groups, place)
    if min(sizes, default=0) < 0:
        raise FormatError("SM104", f"a chunk has the size {min(sizes)}", place, help=SAVE_AGAIN)
    return sizes


def _reformed(value: object) -> tuple[dict[str, tuple[int, ...]], frozenset[str] | None]:
    """What Megatron-core keeps of tensors it flattened, and the names it says something about."""
    if not isinstance(value, dict):
        return {}, None
    shapes: dict[str, tuple[int, ...]] = {}
    for name, notes in value.items():
        shape = shape_of(notes.get(REFORMED)) if isinstance(notes, dict) else None
        if isinstance(name, str) and shape is not None:
            shapes[name] = shape
    return shapes, frozenset(name for name in value if isinstance(name, str))
