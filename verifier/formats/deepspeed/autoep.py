"""AutoEP expert layers of DeepSpeed: ``ds_autoep_layers``, their affine maps and placement descriptors.

Each layer states twice which rank has which experts: as affine maps of its three stacked weights, and as a
list of expert numbers for each rank. The second is the witness for the first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from verifier.formats.deepspeed.model_states import ModelStates, first_difference
from verifier.formats.maps.affine import check_version, decode_map
from verifier.formats.reading.disagreements import disagreement
from verifier.formats.reading.document import Refusal, Subject
from verifier.formats.reading.fields import (
    Interned,
    integer,
    integers,
    items_of,
    malformed,
    name_text,
    too_large,
)
from verifier.formats.reading.gathered import missing_file
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.geometry.strided import StridedView, row_major
from verifier.model.expectation import Expectation
from verifier.model.numbers import NUMBER_LIMIT
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Fault

LAYERS = "ds_autoep_layers"
PLACEMENT = "expert_placement"
MAPS = "affine_maps"
PER_EXPERT = "per_expert_files"
SOUNDNESS = Expectation()
MOST_EXPERTS = 2**20

Placement = Mapping[int, tuple[int, ...]]
"""The experts of each rank, in the order in which it packs them."""


@dataclass(slots=True)
class ExpertPart:
    """What the expert layers add to the document of a checkpoint."""

    subjects: list[Subject] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def expert_part(files: Sequence[ModelStates], names: Iterable[str] | None, limits: Limits) -> ExpertPart:
    """The expert layers that model-states files describe.

    Args:
        files: of one checkpoint; the first with expert layers is read, the others are held against it.
        names: of all state files in its folder, None when only one file was named.
        limits: for the maps.
    """
    made = ExpertPart()
    base = next((states for states in files if states.experts), None)
    if base is None:
        return made
    place = base.origin.child(LAYERS)
    interned: Interned = {}
    faults: list[Fault] = []
    try:
        layers = items_of(base.experts, place)
    except FormatError as error:
        made.refusals.append(Refusal.of(LAYERS, error))
        return made
    for number, layer in enumerate(layers):
        try:
            _layer(layer, place.child(number), limits, interned, made)
        except FormatError as error:
            made.refusals.append(Refusal.of(f"{LAYERS} {number}", error))
    faults.extend(_same_layer_twice(layers))
    faults.extend(_copies(files, base, layers))
    if names is not None:
        faults.extend(_missing_files(layers, frozenset(names)))
    made.faults.extend(faults)
    made.unchecked.append("the tensors in the files of single experts: only that the files are there")
    return made


def _layer(layer: object, place: Origin, limits: Limits, interned: Interned, made: ExpertPart) -> None:
    if not isinstance(layer, dict):
        raise malformed(f"an expert layer is {shown(layer)}", place, "write an object")
    placement = _placement(layer, place)
    maps = layer.get(MAPS)
    if not isinstance(maps, dict) or not isinstance(maps.get("params"), dict):
        raise malformed(f"{MAPS} is {shown(maps)}", place.child(MAPS), "write version and params")
    check_version(maps.get("version"), place.child(MAPS, "version"))
    for key, entry in maps["params"].items():
        here = below(place.child(MAPS, "params"), key)
        try:
            name = name_text(key, here, limits)
            shard_map = decode_map(entry, name=name, origin=here, limits=limits, interned=interned)
            witness = _lowered(name, shard_map.logical_shape, placement, here)
        except FormatError as error:
            made.refusals.append(Refusal.of(shown(key), error))
            continue
        made.subjects.append(
            Subject(
                name=name,
                origin=here,
                shard_map=shard_map,
                expectation=SOUNDNESS,
                faults=tuple(_expert_count(shard_map, layer)),
                witnesses=((PLACEMENT, witness),),
            )
        )


def _expert_count(shard_map: ShardMap, layer: Mapping[str, object]) -> Iterator[Fault]:
    experts = layer.get("num_experts")
    if type(experts) is int and shard_map.logical_shape[:1] != (experts,):
        yield disagreement("num_experts", stated=experts, found=shard_map.logical_shape)


def _placement(layer: Mapping[str, object], place: Origin) -> Placement:
    """The experts of each rank by the descriptor; in equal runs where there is none, as before it existed.

    Raises:
        FormatError: it is malformed.
    """
    described = layer.get(PLACEMENT)
    if described is None:
        local = _small(layer.get("num_local_experts"), place, "num_local_experts")
        ranks = _small(layer.get("ep_size"), place, "ep_size")
        return {rank: tuple(range(rank * local, (rank + 1) * local)) for rank in range(ranks)}
    here = place.child(PLACEMENT)
    if not isinstance(described, dict):
        raise malformed(f"{PLACEMENT} is {shown(described)}", here, "write an object")
    check_version(described.get("version"), here.child("version"))
    found: dict[int, tuple[int, ...]] = {}
    for number, entry in enumerate(items_of(described.get("ranks"), here.child("ranks"))):
        at = here.child("ranks", number)
        if not isinstance(entry, dict):
            raise malformed(f"a rank is {shown(entry)}", at, "write rank and experts")
        rank = integer(entry.get("rank"), at, "rank")
        if not 0 <= rank < MOST_EXPERTS or rank in found:
            raise malformed(f"rank {shown(rank)} is none, or there twice", at, "list each rank once")
        experts = integers(entry.get("experts"), at, "experts")
        if any(not 0 <= expert < MOST_EXPERTS for expert in experts):
            raise malformed("an expert that is no number of one", at.child("experts"), "count from 0")
        found[rank] = experts
    return found


def _small(value: object, place: Origin, key: str) -> int:
    number = integer(value, place, key)
    if not 1 <= number <= MOST_EXPERTS:
        raise malformed(f"{key} is {shown(number)}", place.child(key), "write the number that was meant")
    return number


def _lowered(name: str, shape: Sequence[int], placement: Placement, origin: Origin) -> ShardMap:
    """The map of a stacked weight: each rank packs its experts in the order of its list."""
    holders: dict[int, set[int]] = {}
    for rank, experts in placement.items():
        for expert in experts:
            holders.setdefault(expert, set()).add(rank)
    locations = {expert: tuple(sorted(ranks)) for expert, ranks in holders.items()}
    rest = tuple(shape[1:])
    numel = math.prod(rest)
    strides = row_major((1, *rest))
    if numel * MOST_EXPERTS >= NUMBER_LIMIT:
        raise too_large(origin)
    ranks = {}
    for rank, experts in placement.items():
        pieces = [
            Piece(
                StridedView(first * numel, (length, *rest), strides),
                StridedView(position * numel, (length, *rest), strides),
                locations[first],
            )
            for position, first, length in _runs(experts, locations)
        ]
        ranks[rank] = RankShard((len(experts), *rest), tuple(pieces))
    return ShardMap(name=name, logical_shape=tuple(shape), ranks=ranks, origin=origin)


def _runs(experts: Sequence[int], locations: Mapping[int, tuple[int, ...]]) -> Iterator[tuple[int, int, int]]:
    """(position in the shard, first expert, how many) of experts that follow each other on the same ranks."""
    start = 0
    for position in range(1, len(experts) + 1):
        before = experts[position - 1]
        if (
            position < len(experts)
            and experts[position] == before + 1
            and locations[before + 1] == locations[before]
        ):
            continue
        yield start, experts[start], position - start
        start = position


def _same_layer_twice(layers: Sequence[object]) -> Iterator[Fault]:
    """Layers are told apart by their number, in the names of files, and by the prefix of their parameters."""
    for key in ("moe_layer_id", "expert_key_prefix"):
        seen: set[object] = set()
        for layer in layers:
            value = layer.get(key) if isinstance(layer, dict) else None
            if not isinstance(value, int | str):
                continue
            if value in seen:
                yield disagreement(f"{key} of a second layer", stated=shown(value), found=shown(value))
            seen.add(value)


def _copies(files: Sequence[ModelStates], base: ModelStates, layers: Sequence[object]) -> Iterator[Fault]:
    """Other files, and the copy beside the affine map, describe the layers alike but for who wrote them."""
    copies = [(f"{LAYERS} of {states.origin.file}", states.experts) for states in files if states is not base]
    if LAYERS in base.info:
        copies.append((f"{LAYERS} beside the affine map", base.info[LAYERS]))
    for descriptor, theirs in copies:
        difference = first_difference(_shared(layers), _shared(theirs))
        if difference is not None:
            path, ours, other = difference
            pointer = base.origin.child(LAYERS, *path).pointer
            yield disagreement(descriptor, stated=other, found=ours, pointer=pointer)


def _shared(layers: object) -> object:
    """What all ranks state alike."""
    if not isinstance(layers, list | tuple):
        return layers
    return [
        {
            key: layer[key]
            for key in (PLACEMENT, MAPS, "num_experts", "ep_size", "moe_layer_id")
            if key in layer
        }
        if isinstance(layer, dict)
        else layer
        for layer in layers
    ]


def _missing_files(layers: Sequence[object], names: frozenset[str]) -> Iterator[Fault]:
    """CK101: in stages below 3 each expert has a file of its own."""
    there = {tuple(name.split("_mp_rank_")[:1]) for name in names}
    missing: list[str] = []
    for layer in layers:
        if not isinstance(layer, dict) or layer.get("checkpoint_format", PER_EXPERT) != PER_EXPERT:
            continue
        number, experts = layer.get("moe_layer_id"), layer.get("num_experts")
        if type(number) is int and type(experts) is int and 0 < experts <= MOST_EXPERTS:
            missing.extend(
                stem
                for expert in range(experts)
                if ((stem := f"layer_{number}_expert_{expert}"),) not in there
            )
    if missing:
        yield missing_file(
            f"{missing[0]}_mp_rank_00_model_states.pt",
            len(missing),
            descriptor="the number of layers with experts",
            stated=len(layers),
        )
