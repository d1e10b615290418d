"""DeepSpeed checkpoints: the affine map in every model-states file, held against the rest of the files.

What a map alone cannot show is checked here: files that carry different maps, files that are missing, shapes
that the files state otherwise. The category lists become witnesses (``categories``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from verifier.formats.deepspeed.autoep import expert_part
from verifier.formats.deepspeed.categories import Categories
from verifier.formats.deepspeed.missing_files import expected_files, missing_files
from verifier.formats.deepspeed.model_states import AFFINE_MAP, ModelStates, first_difference
from verifier.formats.maps.affine import VERSION, Decoded, decode_again
from verifier.formats.maps.map_json import params_of
from verifier.formats.reading.disagreements import disagreement
from verifier.formats.reading.document import Document, Refusal, Subject
from verifier.formats.reading.fields import Interned, name_text
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.names import PatternList, parameter_name
from verifier.formats.reading.refusal import NAMES_SHOWN, FormatError, below, shown, some
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.shard_map import ShardMap
from verifier.obligations.faults import Fault

SOUNDNESS = Expectation()


def document_of(
    files: Sequence[ModelStates],
    *,
    file: str,
    whole_set: bool,
    only_ranked: bool = True,
    refusals: Sequence[Refusal] = (),
    unchecked: Sequence[str] = (),
    names: Sequence[str] | None = None,
    limits: Limits,
) -> Document:
    """The document of model-states files that belong together.

    Args:
        files: the files that could be read, in rank order.
        file: the path as people typed it.
        whole_set: True when ``files`` should be all files of the checkpoint.
        only_ranked: True when every model-states file beside them is named after its rank, too.
        refusals: the files that could not be read.
        unchecked: what was already found not to be covered.
        names: of all state files beside them, None when that is not known.
        limits: limits for the maps.
    """
    notes = [*unchecked, *_notes(files, whole_set)]
    refused = [*refusals, *(refusal for states in files for refusal in states.refusals)]
    base = next((states for states in files if states.affine_map is not None), None)
    reader = None if base is None else _SetReader(files, base, limits)
    if reader is None and files:
        notes.append(f"{_counted(len(files), 'model-states file')} without an affine map")
    elif reader is not None:
        reader.read()
    experts = expert_part(files, names, limits)
    subjects = (*(() if reader is None else reader.subjects), *experts.subjects)
    faults: list[Fault] = []
    if whole_set and (files or refused):
        map_ranks = {
            rank
            for subject in (() if reader is None else reader.subjects)
            for rank in subject.shard_map.ranks
        }
        expected = expected_files(files, map_ranks, only_ranked=only_ranked)
        if expected is None:
            notes.append("whether all files are there: nothing says which ranks wrote one file each")
        else:
            faults.extend(missing_files(expected, files, refusals))
    return Document(
        file=file,
        kind="deepspeed",
        subjects=subjects,
        refusals=(*refused, *(() if reader is None else reader.refusals), *experts.refusals),
        faults=(*faults, *(() if reader is None else reader.faults), *experts.faults),
        unchecked=(*notes, *(() if reader is None else reader.unchecked), *experts.unchecked),
    )


def _notes(files: Sequence[ModelStates], whole_set: bool) -> list[str]:
    notes = ["the values of tensors, so whether replicas are equal: no tensor data is read"]
    if not whole_set:
        notes.append("the files of other ranks: one file was named, not its directory")
    notes.extend(
        f"the shape that {descriptor} of {states.origin.file} states for {name}: it is no shape"
        for states in files
        for descriptor, name in states.not_shapes[:NAMES_SHOWN]
    )
    return notes


class _SetReader:
    """Reads the maps of ``base`` and compares each with what the files say. One bad map hides no other."""

    __slots__ = (
        "base",
        "decoded",
        "faults",
        "files",
        "interned",
        "limits",
        "not_exact",
        "place",
        "refusals",
        "subjects",
        "unchecked",
        "without_witness",
    )

    def __init__(self, files: Sequence[ModelStates], base: ModelStates, limits: Limits) -> None:
        self.files = files
        self.base = base
        self.limits = limits
        self.place = base.info_origin.child(AFFINE_MAP)
        self.interned: Interned = {}
        self.decoded: Decoded = {}
        self.subjects: list[Subject] = []
        self.refusals: list[Refusal] = []
        self.faults: list[Fault] = []
        self.unchecked: list[str] = []
        self.without_witness: list[str] = []
        self.not_exact: set[str] = set()

    def read(self) -> None:
        try:
            params = params_of(self.base.affine_map, self.place)
        except FormatError as error:
            self.refusals.append(Refusal.of(AFFINE_MAP, error))
            return
        categories = self._categories()
        others = self._other_params(params)
        patterns = PatternList(key for key in params if isinstance(key, str))
        for key, entry in params.items():
            self._one(key, entry, patterns, others, categories)
        self._without_a_map(patterns)
        self._note_names("parameters that the category lists do not describe fully", self.without_witness)
        self._note_names("parameters whose tensor is not in every file of their ranks", self._not_stored())
        self.unchecked.extend(
            f"whether {shown(pattern)} matches a second parameter: the pattern is not run"
            for pattern in patterns.wild[:NAMES_SHOWN]
        )

    def _categories(self) -> Categories | None:
        try:
            categories = Categories(self.base.info, self.base.info_origin)
        except FormatError as error:
            self.refusals.append(Refusal.of("category lists", error))
            return None
        if categories.not_run:
            self.unchecked.append(
                f"the category lists: the pattern {shown(categories.not_run[0])} is not run"
            )
        return categories

    def _other_params(self, params: Mapping[str, object]) -> list[tuple[str, Mapping[str, object]]]:
        """(file, maps) of each other file. What differs beside single maps is a fault of the whole set."""
        others: list[tuple[str, Mapping[str, object]]] = []
        for states in self.files:
            if states is self.base:
                continue
            theirs = states.affine_map
            their_params = theirs.get("params") if isinstance(theirs, dict) else None
            if not isinstance(theirs, dict) or not isinstance(their_params, dict):
                self._differ(states, "affine_map", stated="no maps", found=_counted(len(params), "map"))
                continue
            others.append((states.origin.file, their_params))
            if first_difference(theirs.get("version"), VERSION) is not None:
                self._differ(states, "version", stated=shown(theirs.get("version")), found=VERSION)
            missing = next(
                (k for k in (*params, *their_params) if (k in params) != (k in their_params)), None
            )
            if missing is not None:
                self._differ(
                    states,
                    f"the map of {shown(missing)}",
                    stated=_presence(missing in their_params),
                    found=_presence(missing in params),
                )
        return others

    def _differ(self, states: ModelStates, what: str, *, stated: int | str, found: int | str) -> None:
        self.faults.append(disagreement(f"{what} in {states.origin.file}", stated=stated, found=found))

    def _one(
        self,
        key: str,
        entry: object,
        patterns: PatternList,
        others: Sequence[tuple[str, Mapping[str, object]]],
        categories: Categories | None,
    ) -> None:
        place = below(self.place.child("params"), key)
        name = shown(key)
        try:
            name, exact = parameter_name(name_text(key, place, self.limits))
            shard_map = decode_again(
                entry,
                name=name,
                origin=place,
                limits=self.limits,
                interned=self.interned,
                decoded=self.decoded,
            )
        except FormatError as error:
            self.refusals.append(Refusal.of(name, error))
            return
        if not exact:
            self.not_exact.add(name)
            self.unchecked.append(f"which parameters the pattern {shown(name)} matches: it is used as a name")
        faults = [
            *_different_maps(key, entry, others, place),
            *_second_pattern(key, name, patterns),
            *self._ranks(shard_map),
            *self._shapes(shard_map),
        ]
        witness = None
        if categories is not None and exact:
            witness = categories.witness(name, self._shard_shapes(shard_map), None)
            if witness is None and categories.are_stated and not categories.not_run:
                self.without_witness.append(name)
        self.subjects.append(
            Subject(
                name=name,
                origin=place,
                shard_map=shard_map,
                expectation=SOUNDNESS,
                faults=tuple(faults),
                witnesses=() if witness is None else (witness,),
            )
        )

    def _ranks(self, shard_map: ShardMap) -> list[Fault]:
        """The ranks of a map are 0 to tp_degree - 1: restoring looks a rank's number up in the map."""
        degree = self.base.tp_degree
        ranks = shard_map.ranks
        if degree is None or (len(ranks) == degree and all(rank < degree for rank in ranks)):
            return []
        return [disagreement("tp_degree", stated=degree, found=tuple(shard_map.ranks))]

    def _shapes(self, shard_map: ShardMap) -> list[Fault]:
        faults: list[Fault] = []
        for states in self.files:
            shard = None if states.rank is None else shard_map.ranks.get(states.rank)
            if shard is None or states.rank is None:
                continue
            by_shape: dict[tuple[int, ...], list[str]] = {}
            for descriptor, shape in states.shapes.get(shard_map.name, ()):
                by_shape.setdefault(shape, []).append(descriptor)
            for shape, descriptors in by_shape.items():
                if shape != shard.shard_shape:
                    faults.append(
                        _other_shape(states, states.rank, " and ".join(descriptors), shape, shard.shard_shape)
                    )
        return faults

    def _shard_shapes(self, shard_map: ShardMap) -> dict[int, tuple[int, ...]]:
        """Each rank's shard shape, by the files where they state it, else by the map."""
        shapes = {rank: shard.shard_shape for rank, shard in shard_map.ranks.items()}
        for states in self.files:
            stated = states.shapes.get(shard_map.name)
            if states.rank is not None and stated:
                shapes[states.rank] = stated[0][1]
        return shapes

    def _without_a_map(self, patterns: PatternList) -> None:
        stored = {name: None for states in self.files for name in states.shapes}
        bare = [name for name in stored if not patterns.matching(name)]
        self._note_names("tensors without a map", bare)

    def _not_stored(self) -> list[str]:
        """Maps of exact names that have a shard in a file without the header of its tensor."""
        return [
            subject.name
            for subject in self.subjects
            if subject.name not in self.not_exact
            and any(
                states.rank in subject.shard_map.ranks and not states.has_tensor(subject.name)
                for states in self.files
            )
        ]

    def _note_names(self, what: str, names: Sequence[str]) -> None:
        if names:
            self.unchecked.append(f"{what} ({len(names)}): {some(names)}")


def _different_maps(
    key: str, entry: object, others: Sequence[tuple[str, Mapping[str, object]]], place: Origin
) -> list[Fault]:
    faults: list[Fault] = []
    for file, theirs in others:
        difference = first_difference(entry, theirs[key]) if key in theirs else None
        if difference is not None:
            path, ours, other = difference
            faults.append(
                disagreement(
                    f"affine_map of {file}", stated=other, found=ours, pointer=place.child(*path).pointer
                )
            )
    return faults


def _second_pattern(key: str, name: str, patterns: PatternList) -> list[Fault]:
    """DeepSpeed refuses to convert a parameter that two patterns match."""
    return [
        disagreement("a second pattern that matches this name", stated=shown(other), found=shown(key))
        for other in patterns.matching(name)
        if other != key
    ]


def _other_shape(
    states: ModelStates, rank: int, descriptor: str, stated: tuple[int, ...], found: tuple[int, ...]
) -> Fault:
    """SM507 for the same number of elements in another shape, SM204 for another number."""
    values: dict[str, str | tuple[int, ...]] = {
        "descriptor": f"{descriptor} of {states.origin.file}",
        "stated": stated,
        "found": found,
    }
    same_numel = math.prod(stated) == math.prod(found)
    return Fault(code="SM507" if same_numel else "SM204", side="map", rank=rank, values=values)


def _presence(there: bool) -> str:
    return "present" if there else "absent"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
