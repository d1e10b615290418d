"""The table of ``storage_data``, and which row belongs to which chunk."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from pathlib import PurePosixPath

from verifier.formats.dcp.contents import NOWHERE, Several, Storage, chunk_label
from verifier.formats.dcp.names import INDEX, STORAGE_INFO
from verifier.formats.dcp.records import (
    SAVE_AGAIN,
    all_numbers,
    are_integers,
    field_of,
    integers_of,
    numbers_of,
    state_of,
    states_of,
    texts_of,
)
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.fields import malformed
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.geometry.strided import INT64_MAX
from verifier.model.box_map import COLUMN
from verifier.model.origin import Origin

Offset = tuple[int, ...] | None
"""Where a chunk begins in its tensor; None for bytes that are no tensor."""

PLAIN_FIELDS = 3
"""Fields of an entry for bytes that no extension transformed: path, offset and length."""

BLOCK = 4096
"""Rows that are looked at together: few enough to stay in the caches of a processor."""

_Places = tuple[Sequence[str | None], Sequence[int], Sequence[int], Sequence[Sequence[str]] | None]
"""Columns of paths, first bytes, lengths and transforms; None where no row is transformed."""


class StorageRows:
    """The rows, found by name and offset as torch finds them, and handed out to their chunks.

    Attributes:
        storage: the table.
        repeated: keys given twice, among those handed out.
        refusals: rows that could not be read.

    Raises:
        FormatError: SM002 when a key is no index of a chunk.
    """

    __slots__ = ("_offsets", "_rows", "refusals", "repeated", "storage")

    def __init__(self, entries: Mapping[object, object], origin: Origin, limits: Limits) -> None:
        place = origin.child("storage_data")
        table = _Table()
        self.repeated: Several | None = None
        self.refusals: list[Refusal] = []
        self._offsets: list[Offset] = []
        self._rows: dict[str, list[int]] = {}
        items = iter(entries.items())
        while block := list(islice(items, BLOCK)):
            names, offsets = _keys([index for index, _ in block], place)
            for row, name in enumerate(names, len(self._offsets)):
                self._rows.setdefault(name, []).append(row)
            self._offsets += offsets
            infos = [info for _, info in block]
            table.extend(_places(infos, limits) or self._readable(names, infos, place, limits))
        self.storage = table.storage()

    def take(self, name: str, offsets: Sequence[Offset]) -> array[int]:
        """The row of each chunk of ``name``, NOWHERE for a chunk without one."""
        rows = self._rows.pop(name, [])
        numbers = dict(zip([self._offsets[row] for row in rows], rows, strict=True))
        if len(numbers) < len(rows):
            self._repeats(name, rows)
        found = array(COLUMN, [numbers.get(offset, NOWHERE) for offset in offsets])
        taken = {*found} - {NOWHERE}
        if len(taken) < len(numbers):
            self._rows[name] = [row for row in numbers.values() if row not in taken]
        return found

    def drop(self, name: str) -> None:
        """Forget the rows of a tensor that could not be read."""
        self._rows.pop(name, None)

    def orphans(self) -> Several | None:
        """The rows that nobody took."""
        for name, rows in self._rows.items():
            return Several(sum(map(len, self._rows.values())), chunk_label(name, self._offsets[rows[0]]))
        return None

    def _repeats(self, name: str, rows: Sequence[int]) -> None:
        times = Counter(self._offsets[row] for row in rows)
        first = next(offset for offset, number in times.items() if number > 1)
        several = self.repeated or Several(0, chunk_label(name, first))
        self.repeated = Several(several.count + len(rows) - len(times), several.first)

    def _readable(
        self, names: Sequence[str], infos: Sequence[object], place: Origin, limits: Limits
    ) -> _Places:
        """The places that can be read, with a row of nothing for each that cannot."""
        rows: list[tuple[str | None, int, int, Sequence[str]]] = []
        for name, info in zip(names, infos, strict=True):
            try:
                rows.append(_place(info, below(place, name), limits))
            except FormatError as error:
                self.refusals.append(Refusal.of(shown(name), error))
                rows.append((None, 0, 0, ()))
        paths, starts, lengths, transforms = zip(*rows, strict=True)
        return paths, starts, lengths, transforms


class _Table:
    """The table as it grows."""

    def __init__(self) -> None:
        self.columns = Storage()
        self.paths: dict[str, int] = {}
        self.numbers: dict[str | None, int] = {None: NOWHERE}
        self.transforms: dict[str, None] = {}

    def extend(self, places: _Places) -> None:
        """Add rows."""
        paths, starts, lengths, transforms = places
        for path in dict.fromkeys(paths):
            if path is not None and path not in self.numbers:
                # "./x" and "x" are one file; ".." stays, so that what leads out of the folder is still seen.
                plain = PurePosixPath(path).as_posix() if "/" in path else path
                self.numbers[path] = self.paths.setdefault(plain, len(self.paths))
        self.columns.path.extend(map(self.numbers.__getitem__, paths))
        self.columns.start.extend(starts)
        self.columns.length.extend(lengths)
        self.columns.coded += bytes(len(paths)) if transforms is None else bytes(map(bool, transforms))
        self.transforms.update(dict.fromkeys(chain.from_iterable(transforms or ())))

    def storage(self) -> Storage:
        """The whole table."""
        self.columns.paths = tuple(self.paths)
        self.columns.transforms = tuple(self.transforms)
        return self.columns


def _keys(indices: Sequence[object], place: Origin) -> tuple[list[str], list[Offset]]:
    """Names and offsets of the keys.

    Raises:
        FormatError: SM002 when a key is no index of a chunk.
    """
    states = states_of(indices, INDEX)
    names = None if states is None else texts_of(states, "fqn")
    if states is None or names is None:
        raise malformed("a key is no index of a chunk", place, SAVE_AGAIN)
    # Bytes that are no tensor have no offset.
    values = field_of(states, "offset") or [state.get("offset") for state in states]
    offsets = _offsets(values)
    if offsets is None:
        raise malformed("the offset of a key is no list", place, SAVE_AGAIN)
    if not are_integers(chain.from_iterable(filter(None, offsets))):
        raise malformed("the offset of a key is no list of integers", place, SAVE_AGAIN)
    return names, offsets


def _offsets(values: Sequence[object]) -> list[Offset] | None:
    """The values as offsets, None where there is none; None when one of them is something else."""
    if None not in values:
        found = all_numbers(values)
        return None if found is None else [*found]
    offsets = [numbers_of(value) for value in values]
    return offsets if offsets.count(None) == values.count(None) else None


def _places(infos: Sequence[object], limits: Limits) -> _Places | None:
    """The places of many rows at once; None unless all are as they should be, without transforms."""
    states = states_of(infos, STORAGE_INFO)
    if states is None or max(map(len, states)) > PLAIN_FIELDS:
        return None
    paths = texts_of(states, "relative_path")
    starts, lengths = (integers_of(states, key) for key in ("offset", "length"))
    if paths is None or starts is None or lengths is None:
        return None
    if max(map(len, {*paths})) > limits.text_chars or min(min(starts), min(lengths)) < 0:
        return None
    return None if max(max(starts), max(lengths)) > INT64_MAX else (paths, starts, lengths, None)


def _place(info: object, place: Origin, limits: Limits) -> tuple[str, int, int, Sequence[str]]:
    """Path, first byte, number of bytes and transforms of a row."""
    state = state_of(info, STORAGE_INFO)
    if state is None:
        raise malformed("this does not say where bytes are stored", place, SAVE_AGAIN)
    path, start, length = state.get("relative_path"), state.get("offset"), state.get("length")
    transforms = state.get("transform_descriptors") or ()
    if not isinstance(path, str) or type(start) is not int or type(length) is not int:
        raise malformed("path, offset and length are not a text and two integers", place, SAVE_AGAIN)
    if not (0 <= start <= INT64_MAX and 0 <= length <= INT64_MAX):
        raise malformed(f"offset {shown(start)} and length {shown(length)}", place, SAVE_AGAIN)
    if len(path) > limits.text_chars:
        raise malformed(f"a path of {len(path)} characters", place, SAVE_AGAIN)
    if not isinstance(transforms, list | tuple) or not all(isinstance(name, str) for name in transforms):
        raise malformed("the transforms are no list of names", place, SAVE_AGAIN)
    return path, start, length, transforms
