"""DTensors in a file of torch.save: mesh, placements and the header of the local tensor, as inert records.

The names and fields are those of torch 2.4 to 2.13; any other form is refused, not guessed at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from verifier.formats.pickles.records import Call, Grammar, Name
from verifier.formats.pickles.torch_zip import FROM_TYPE, TORCH, TensorHeader, shape_of, tensor_header
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.torch_files.device_mesh import (
    LAYOUTS,
    MESH,
    MESH_FIELDS,
    MOST_RANKS,
    Integers,
    Mesh,
    count,
    device_mesh,
    odd,
)
from verifier.formats.torch_files.record_paths import records_in, tensor_name
from verifier.model.origin import Origin
from verifier.model.placements import Placement, Replicate, Shard, StridedShard

_TENSOR = "torch.distributed.tensor"
_PLACEMENTS = (f"{_TENSOR}.placement_types", "torch.distributed._tensor.placement_types")
_SPECS = (f"{_TENSOR}._dtensor_spec", "torch.distributed._tensor._dtensor_spec")
_CLASSES = (
    Name(_TENSOR, "DTensor"),
    Name(f"{_TENSOR}._api", "DTensor"),
    Name("torch.distributed._tensor.api", "DTensor"),
)
WRAPPER = Name("torch._utils", "_rebuild_wrapper_subclass")
_SPEC_NAMES = frozenset(Name(module, "DTensorSpec") for module in _SPECS)
_TUPLES = frozenset(Name(module, name) for module in _SPECS for name in ("TensorMeta", "ShardOrderEntry"))
_PLACEMENT_NAMES = frozenset(
    Name(module, name)
    for module in _PLACEMENTS
    for name in ("Shard", "_StridedShard", "Replicate", "Partial", "_Partial", "_MaskPartial", "MaskPartial")
)
_RECORDS = frozenset({MESH, *LAYOUTS, *_SPEC_NAMES, *_PLACEMENT_NAMES})

DTENSOR = TORCH | Grammar(
    names=frozenset({*_CLASSES, Name("torch", "Tensor"), Name("torch.nn.parameter", "Parameter")}),
    calls=frozenset({FROM_TYPE, WRAPPER, Name("torch.serialization", "_get_layout"), *_RECORDS, *_TUPLES}),
    stateful=_RECORDS,
    kept={MESH: MESH_FIELDS},
)
"""What files of torch.save with DTensors hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DTensor:
    """One DTensor as one rank holds it.

    Attributes:
        shape: of the whole tensor.
        mesh: the ranks that hold it.
        placements: one for each dimension of the mesh; None for a partial one, which holds summands.
        order: the mesh dimensions that cut each tensor dimension, the first cut first; None: from the left.
        local: header of the local tensor.
        dtype: of the whole tensor, None where that is not stated.
    """

    shape: tuple[int, ...]
    mesh: Mesh
    placements: tuple[Placement | None, ...]
    order: tuple[tuple[int, tuple[int, ...]], ...] | None
    local: TensorHeader
    dtype: str | None


@dataclass(frozen=True, slots=True)
class RankTensors:
    """The tensors of one file by name: those that are cut, and plain ones.

    ``refused`` are those that are no DTensors as torch writes them.
    """

    cut: Mapping[str, DTensor]
    plain: Mapping[str, TensorHeader]
    refused: Mapping[str, FormatError]


def rank_tensors(value: object, origin: Origin, integers: Integers) -> RankTensors:
    """All tensors in nested mappings and lists; a name is the path to a tensor, joined by dots.

    ``integers`` reads the ranks of meshes that carry them as a tensor.
    """
    cut: dict[str, DTensor] = {}
    plain: dict[str, TensorHeader] = {}
    refused: dict[str, FormatError] = {}
    for name, place, record in records_in(value, origin):
        state, header = _wrapped(record), tensor_header(record)
        if state is None and header is None:
            continue
        try:
            if name in cut or name in plain:
                raise _twice(name, place)
            if state is not None:
                cut[tensor_name(name, place)] = _dtensor(state, place, integers)
            elif header is not None:
                plain[tensor_name(name, place)] = header
        except FormatError as error:
            refused[shown(name)] = error
    return RankTensors(cut, plain, refused)


def holds_dtensors(value: object) -> bool:
    """Whether there is a DTensor in nested mappings and lists."""
    return any(_wrapped(record) is not None for _, _, record in records_in(value, Origin("")))


def _twice(name: str, place: Origin) -> FormatError:
    return FormatError(
        "SM003",
        f"two tensors are called {shown(name)}, by the paths to them",
        place,
        help="rename one of them; a dot in a key reads as a step of the path",
    )


def _wrapped(record: Call) -> Mapping[object, object] | None:
    """The state of a DTensor; None for any other record."""
    if record.function != FROM_TYPE or len(record.args) != 4 or record.args[1] not in _CLASSES:
        return None
    state = record.args[3]
    fields = state[1] if isinstance(state, tuple) and len(state) == 2 else state
    return fields if isinstance(fields, dict) else {}


def _dtensor(fields: Mapping[object, object], place: Origin, integers: Integers) -> DTensor:
    spec = fields.get("_spec")
    local = tensor_header(fields.get("_local_tensor"))
    if not isinstance(spec, Call) or spec.function not in _SPEC_NAMES or not isinstance(spec.state, dict):
        raise odd("no specification of a DTensor", place)
    if local is None:
        raise odd("no local tensor", place)
    meta = spec.state.get("tensor_meta")
    stated = meta.args if isinstance(meta, Call) else ()
    shape = shape_of(stated[0]) if stated else None
    if shape is None:
        raise odd("no shape of the whole tensor", place)
    placements = spec.state.get("placements")
    if not isinstance(placements, list | tuple):
        raise odd("no placements", place)
    return DTensor(
        shape=shape,
        mesh=device_mesh(spec.state.get("mesh"), place, integers),
        placements=tuple([_placement(one, place) for one in placements]),
        order=_order(spec.state.get("shard_order"), place),
        local=local,
        dtype=next((part.name for part in stated[1:] if isinstance(part, Name)), None),
    )


def _placement(record: object, place: Origin) -> Placement | None:
    if not isinstance(record, Call) or record.function not in _PLACEMENT_NAMES:
        raise odd(f"the placement {shown(record)}", place)
    kind = record.function.name
    fields = record.state if isinstance(record.state, dict) else {}
    if kind == "Replicate":
        return Replicate()
    if "Partial" in kind:
        return None
    dim = count(fields.get("dim"), "the dimension of a placement", place, least=-MOST_RANKS)
    if kind == "Shard":
        return Shard(dim)
    return StridedShard(dim, count(fields.get("split_factor"), "a split factor", place, least=1))


def _order(order: object, place: Origin) -> tuple[tuple[int, tuple[int, ...]], ...] | None:
    if order is None:
        return None
    if not isinstance(order, list | tuple):
        raise odd(f"the shard order {shown(order)}", place)
    found = []
    for entry in order:
        pair = entry.args if isinstance(entry, Call) and entry.function in _TUPLES else entry
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[1], list | tuple):
            raise odd("an entry of the shard order that is no pair", place)
        axis = count(pair[0], "a dimension in the shard order", place)
        dims = tuple(count(dim, "a mesh dimension in the shard order", place) for dim in pair[1])
        found.append((axis, dims))
    return tuple(found)
