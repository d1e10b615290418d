"""Checkpoints that say nothing of how tensors are cut: vLLM's sharded state, TensorRT-LLM's rank files, and
Megatron's legacy folders. Their loaders take the file of their own rank and trust it.

No map comes of them. What can be said: every rank has its files, ranks of one pipeline stage have tensors of
the same names and types, and their shapes differ in one dimension at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from verifier.diagnostics.wording import counted
from verifier.formats.reading.cells import Cells, first_absent
from verifier.formats.reading.document import Document
from verifier.formats.reading.fields import integer
from verifier.formats.reading.folder_files import path_inside
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.json_file import read_json
from verifier.formats.reading.json_text import over_limit
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.formats.safetensors.header import Header, StoredTensor, read_header
from verifier.formats.safetensors.implicit_sight import (
    ENGINE_RANK,
    LEGACY_FILES,
    LEGACY_FOLDER,
    SHARDED_STATE,
)
from verifier.formats.safetensors.stored_bytes import gather_file, has_right_size, size_faults
from verifier.model.origin import Origin

KIND = "rank-files"
CONFIG = "config.json"
NO_MAP = (
    "which part of a tensor a rank holds, and so whether its parts make up the whole: no file says it",
    "whether the files of ranks were exchanged: no file says which rank wrote it",
    "the values of tensors: no tensor data is read",
)

RankTensors = dict[str, tuple[Header, StoredTensor]]


def read_implicit(path: Path, origin: Origin, request: Request) -> Document:
    """The document of a folder of such files.

    Raises:
        FormatError: SM001 when there are none, SM006 for too many.
        OSError: the folder cannot be listed.
    """
    gathered = Gathered(unchecked=list(NO_MAP))
    names = Sight(path).names
    parts = {name: match for name in names if (match := SHARDED_STATE.fullmatch(name))}
    ranks = {name: match for name in names if (match := ENGINE_RANK.fullmatch(name))}
    legacy = {name: match for name in names if (match := LEGACY_FOLDER.fullmatch(name))}
    if max(len(parts), len(ranks), len(legacy)) > request.limits.files:
        raise over_limit(f"{len(names)} files", request.limits.files, "files", origin)
    reader = _Reader(path, origin, request, gathered)
    if parts:
        reader.sharded_state({(int(m["rank"]), int(m["part"])): name for name, m in parts.items()})
    elif ranks:
        reader.engine({int(m["rank"]): name for name, m in ranks.items()})
    elif legacy:
        reader.legacy(
            {tuple(int(number) for number in m.groups() if number): name for name, m in legacy.items()}
        )
    else:
        raise FormatError(
            "SM001", "no file here is named after a rank", origin, help="such as rank0.safetensors"
        )
    return gathered.document(origin.file, KIND)


class _Reader:
    __slots__ = ("gathered", "origin", "path", "prefix", "request")

    def __init__(self, path: Path, origin: Origin, request: Request, gathered: Gathered) -> None:
        self.path = path
        self.origin = origin
        self.prefix = origin.file.rstrip("/")
        self.request = request
        self.gathered = gathered

    def sharded_state(self, files: Mapping[tuple[int, int], str]) -> None:
        """vLLM: each rank saves all of its tensors, in parts that are numbered from 0."""
        ranks = {rank for rank, _ in files}
        self._none_missing(
            ranks, 1 + max(ranks), "model-rank-{}-part-0.safetensors", "higher ranks have files"
        )
        tensors: dict[int, RankTensors | None] = {}
        for rank in sorted(ranks):
            parts = {part for other, part in files if other == rank}
            self._none_missing(
                parts,
                1 + max(parts),
                f"model-rank-{rank}-part-{{}}.safetensors",
                "parts of higher numbers are there",
            )
            tensors[rank] = self._tensors([files[rank, part] for part in sorted(parts)])
        self._agree(tensors)

    def engine(self, files: Mapping[int, str]) -> None:
        """TensorRT-LLM: one file a rank; ``config.json`` says how many there are, and of how many stages."""
        world, stages = self._mapping()
        if world is None:
            self.gathered.unchecked.append(
                f"whether files of the highest ranks are missing: no {CONFIG} says it"
            )
            world = 1 + max(files)
        self._none_missing(set(files), world, "rank{}.safetensors", f"the job has {counted(world, 'rank')}")
        per_stage = max(1, world // max(1, stages))
        by_stage: dict[int, dict[int, RankTensors | None]] = {}
        for rank in sorted(files):
            by_stage.setdefault(rank // per_stage, {})[rank] = self._tensors([files[rank]])
        for tensors in by_stage.values():
            self._agree(tensors)

    def legacy(self, folders: Mapping[tuple[int, ...], str]) -> None:
        """Megatron: one folder a rank, named after its place along each way of parallelism."""
        by_length: dict[int, list[tuple[int, ...]]] = {}
        for place in folders:
            by_length.setdefault(len(place), []).append(place)
        for places in by_length.values():
            cells = Cells(tuple(1 + max(numbers) for numbers in zip(*places, strict=True)))
            absent = cells.count - len(places)
            if absent:
                first = cells.indices(first_absent(cells.position(place) or 0 for place in places))
                self._missing(
                    f"the folder of the rank at {list(first)}", f"{cells.words()} are named", absent
                )
        for name in folders.values():
            if not any((self.path / name / file).is_file() for file in LEGACY_FILES):
                self._missing(f"the file {LEGACY_FILES[0]} of {name}", "other ranks have theirs", 1)
        self.gathered.holds("folders of ranks", len(folders))
        self.gathered.unchecked.append(
            "names and shapes of tensors: the files hold objects of the program that wrote them"
        )

    def _mapping(self) -> tuple[int | None, int]:
        """(ranks, pipeline stages) that ``config.json`` states."""
        place = Origin(f"{self.prefix}/{CONFIG}")
        try:
            value = read_json(self.path, CONFIG, place, self.request.limits)
            mapping = value.get("mapping") if isinstance(value, dict) else None
            if not isinstance(mapping, dict) or "world_size" not in mapping:
                return None, 1
            at = place.child("mapping")
            world = integer(mapping["world_size"], at, "world_size")
            stages = integer(mapping.get("pp_size", 1), at, "pp_size")
            if 0 < world <= self.request.limits.files and stages > 0:
                return world, stages
            raise FormatError(
                "SM002",
                f"{shown(world)} ranks in {shown(stages)} stages",
                at,
                help="write the sizes that were meant",
            )
        except FileNotFoundError:
            return None, 1
        except (FormatError, OSError) as error:
            self.gathered.refuse(CONFIG, error, place)
            return None, 1

    def _none_missing(self, there: set[int], total: int, pattern: str, stated: str) -> None:
        over = sorted(number for number in there if number >= total)
        absent = total - len(there) + len(over)
        if absent:
            self._missing(f"the file {pattern.format(first_absent(there))}", stated, absent)
        if over:
            what = f"the file {pattern.format(over[0])}"
            self.gathered.faults.append(set_fault("CK112", what, "is there", stated=stated, number=len(over)))
        self.gathered.holds("files of ranks", len(there) - len(over))

    def _missing(self, what: str, stated: str, number: int) -> None:
        self.gathered.faults.append(
            set_fault("CK101", what, "is not there", stated=stated, file=self.origin.file, number=number)
        )

    def _tensors(self, names: Iterable[str]) -> RankTensors | None:
        """The tensors in the files of one rank; None when one of them cannot be read."""
        tensors: RankTensors = {}
        whole = True
        for name in names:
            place = Origin(f"{self.prefix}/{name}")
            try:
                header = read_header(path_inside(self.path, name, place), place, self.request.limits)
            except (FormatError, OSError) as error:
                self.gathered.refuse(name, error, place)
                whole = False
                continue
            gather_file(header, self.gathered)
            whole = whole and not header.refusals
            self.gathered.faults += size_faults([(header, tensor) for tensor in header.tensors])
            self.gathered.holds("byte counts", sum(map(has_right_size, header.tensors)))
            twice = [tensor.name for tensor in header.tensors if tensor.name in tensors]
            self.gathered.about_names(
                "CK106", twice, what="the tensor", found="is in two files of one rank",
                stated="it should be in one", file=place.file,
            )  # fmt: skip
            tensors |= {tensor.name: (header, tensor) for tensor in header.tensors}
        return tensors if whole else None

    def _agree(self, by_rank: Mapping[int, RankTensors | None]) -> None:
        """Ranks of one stage have the same tensors; CK114 where they do not."""
        read = {rank: tensors for rank, tensors in by_rank.items() if tensors is not None}
        if len(read) < 2:
            self.gathered.unchecked.append(
                "whether ranks have the same tensors: there is no second file to compare"
            )
            return
        (first, base), *others = read.items()
        held = 0
        found: dict[str, list[tuple[str, str, str]]] = {}
        for rank, theirs in others:
            for name in sorted(base.keys() | theirs.keys()):
                what, here, there = _difference(base.get(name), theirs.get(name))
                if here == there:
                    held += 1
                else:
                    found.setdefault(what, []).append(
                        (name, f"{here} on rank {first}", f"{there} on rank {rank}")
                    )
        self.gathered.holds("tensors that ranks have alike", held)
        for differing in found.values():
            name, here, there = differing[0]
            what = f"the tensor {shown(name)}"
            self.gathered.faults.append(
                set_fault("CK114", what, here, stated=there, file=self.prefix, number=len(differing))
            )


def _difference(
    base: tuple[Header, StoredTensor] | None, other: tuple[Header, StoredTensor] | None
) -> tuple[str, str, str]:
    """(what is compared, what it is on one rank, what on the other); equal where ranks may be so."""
    if base is None or other is None:
        return (
            "presence",
            "is not there" if base is None else "is",
            "is not there" if other is None else "it is",
        )
    one, two = base[1], other[1]
    if one.dtype != two.dtype:
        return "type", f"has type {one.dtype}", two.dtype
    differing = sum(a != b for a, b in zip(one.shape, two.shape, strict=False))
    if len(one.shape) != len(two.shape) or differing > 1:
        return "shape", f"has shape {list(one.shape)}", str(list(two.shape))
    return "", "", ""
