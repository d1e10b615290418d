"""The DTensors of a model against the maps of their meshes and placements, before anything is trained.

Each parameter is one subject:

a) the map of mesh, placements and shard order is proved;
b) the local tensor of each rank has the shape that the map says (SM204);
c) each shard is one box, and the one that a distributed checkpoint records for it; else it is not
   checkpointable as is (SM507);
d) its ranks agree on the layout (SM507);
e) a bias is cut at the rows of its weight, where the same dimensions of the mesh cut both (SM507).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from verifier.audit.answering import Answering
from verifier.audit.check import Settings, check_subject, findings_of, tool_versions
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.diagnostics.wording import counted
from verifier.geometry.strided import coordinates
from verifier.layouts import BadLayout, Placement, Replicate, Shard, StridedShard, dtensor
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Fault
from verifier.oracle.live_parameter import Box, Inspection, Layout, LiveParameter, LivePlacement, LiveShard
from verifier.verdicts import Undecided

WRITER = "a distributed checkpoint (DCP)"
LOCAL = "the local tensor"
_NAMED = 8
"""Plain tensors of one kind that are named."""


def gate_model(
    build: Callable[[], object],
    world: int,
    settings: Settings,
    *,
    ranks: Sequence[int] | None = None,
) -> Report:
    """Build a model as each rank of a job would and check every DTensor of it.

    Raises:
        LiveError: it cannot be built or inspected (``verifier.oracle.live_errors``).
        OracleUnavailableError: torch is not installed.
        ValueError: no engine has the name in the settings.
    """
    from verifier.oracle.errors import require_torch

    require_torch()
    from verifier.oracle.live import inspect_model  # torch takes a second to import

    inspection = inspect_model(build, world, ranks=ranks)
    return model_report(inspection, settings)


def model_report(inspection: Inspection, settings: Settings) -> Report:
    """The report on a model that was inspected."""
    answering = settings.answering()
    return Report(
        tool={**tool_versions(), "torch": inspection.torch_version},
        subjects=tuple(subjects_of(inspection, settings, answering)),
        unchecked=tuple(_unchecked(inspection)),
    )


def _unchecked(inspection: Inspection) -> Iterator[str]:
    """What is left open. A parameter that a plan forgot is a plain tensor, so these have their names."""
    for kind, names in (("parameter", inspection.plain), ("buffer", inspection.plain_buffers)):
        if names:
            have = "which has" if len(names) == 1 else "which have"
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            what = f"{counted(len(names), f'plain {kind}')}, {have} no layout"
            yield f"{what}: {', '.join(names[:_NAMED])}{more}"
    left = inspection.world - len(inspection.ranks)
    if left:
        yield f"{counted(left, 'rank')} that {'was' if left == 1 else 'were'} not built"
    yield "other numbers of ranks"


def subjects_of(inspection: Inspection, settings: Settings, answering: Answering) -> Iterator[Subject]:
    """Each DTensor as a subject, in the order of the model."""
    maps: dict[str, tuple[LiveParameter, ShardMap]] = {}
    disagreeing: set[str] = set()
    made = [_map_or_reason(parameter) for parameter in inspection.parameters]
    for parameter, one in zip(inspection.parameters, made, strict=True):
        if isinstance(one, ShardMap):
            maps.setdefault(parameter.name, (parameter, one))
    for parameter, shard_map in zip(inspection.parameters, made, strict=True):
        if not isinstance(shard_map, ShardMap):
            yield _without_map(parameter, shard_map)
            continue
        faults = [*_local(parameter, shard_map), *_written(parameter, shard_map)]
        if parameter.name not in disagreeing:  # the ranks of the other layout would say the same again
            disagreement = list(_disagreement(parameter, inspection))
            disagreeing.update(parameter.name for _ in disagreement)
            faults += disagreement
        weight = maps.get(_weight_of(parameter.name))
        if weight is not None:
            faults += _bias(parameter, shard_map, *weight)
        yield check_subject(shard_map, Expectation(), settings, answering, found=faults)


def map_of(parameter: LiveParameter) -> ShardMap:
    """The map of mesh, placements and shard order, with the ranks of the job.

    Raises:
        BadLayout: a placement holds no elements, such as a partial sum, or is none we know.
    """
    layout = parameter.layout
    placements = [_placement(place, one) for place, one in enumerate(layout.placements)]
    order = None if layout.default_order else layout.shard_order
    on_mesh = dtensor(layout.global_shape, layout.mesh_shape, placements, order)
    ranks: dict[int, RankShard] = {}
    for position, shard in on_mesh.ranks.items():
        pieces = tuple([_everywhere(piece, parameter.meshes) for piece in shard.pieces])
        for mesh in parameter.meshes:
            ranks[mesh[position]] = RankShard(shard.shard_shape, pieces)
    return ShardMap(name=parameter.name, logical_shape=on_mesh.logical_shape, ranks=ranks)


def _map_or_reason(parameter: LiveParameter) -> ShardMap | str:
    try:
        return map_of(parameter)
    except BadLayout as error:
        return str(error)


def _placement(place: int, placement: LivePlacement) -> Placement:
    match placement.kind, placement.dim:
        case "replicate", _:
            return Replicate()
        case "shard", int(dim):
            return Shard(dim)
        case "strided", int(dim):
            return StridedShard(dim, placement.split_factor)
        case "partial", _:
            raise BadLayout(f"placements[{place}]", f"is {placement.text}: a summand, no copy of elements")
    raise BadLayout(f"placements[{place}]", f"is {placement.text}, which is no cut that is known")


def _everywhere(piece: Piece, meshes: Sequence[tuple[int, ...]]) -> Piece:
    """The piece with the ranks of all meshes that hold it."""
    locations = sorted({mesh[position] for mesh in meshes for position in piece.locations})
    return Piece(piece.source, piece.dest, tuple(locations), piece.scale)


def _local(parameter: LiveParameter, shard_map: ShardMap) -> Iterator[Fault]:
    """The first rank whose local tensor has another shape than its shard (SM204)."""
    wrong = [rank for rank, one in parameter.shards.items() if one.held != shard_map.ranks[rank].shard_shape]
    if wrong:
        rank = wrong[0]
        more = f", one of {len(wrong)} such ranks" if len(wrong) > 1 else ""
        values = {
            "descriptor": LOCAL,
            "stated": f"{parameter.shards[rank].held}{more}",
            "found": f"{shard_map.ranks[rank].shard_shape} for {_words(parameter.layout)}",
        }
        yield Fault(code="SM204", side="map", rank=rank, values=values)


def _written(parameter: LiveParameter, shard_map: ShardMap) -> Iterator[Fault]:
    """The first rank whose shard is another box than the one a checkpoint records (SM507)."""
    shape = shard_map.logical_shape
    for rank, shard in parameter.shards.items():
        held = [Box(coordinates(p.source.offset, shape), p.shape) for p in shard_map.ranks[rank].pieces]
        if shard.written is not None and held == [box for box in shard.written if 0 not in box.sizes]:
            continue
        values = {
            "descriptor": WRITER,
            "stated": f"{_stated(shard)} for rank {rank}",
            "found": f"{_boxes(held)} for {_words(parameter.layout)}; not checkpointable as is",
        }
        yield Fault(code="SM507", side="map", rank=rank, values=values)
        return


def _disagreement(parameter: LiveParameter, inspection: Inspection) -> Iterator[Fault]:
    """The first rank of its meshes that has the parameter with another layout, or not at all (SM507)."""
    for rank in sorted(rank for mesh in parameter.meshes for rank in mesh):
        if rank in parameter.shards or rank not in inspection.ranks:
            continue
        others = [one for one in inspection.parameters if one.name == parameter.name and rank in one.shards]
        values = {
            "descriptor": f"rank {rank}",
            "stated": _words(others[0].layout) if others else "no such distributed tensor",
            "found": _words(parameter.layout),
        }
        yield Fault(code="SM507", side="map", values=values)
        return


def _weight_of(name: str) -> str:
    """The name of the weight beside a bias, ``in_proj_weight`` beside ``in_proj_bias``; else no name."""
    return f"{name.removesuffix('bias')}weight" if name.endswith("bias") else ""


def _bias(
    bias: LiveParameter, bias_map: ShardMap, weight: LiveParameter, weight_map: ShardMap
) -> Iterator[Fault]:
    """The first rank that holds other elements of the bias than rows of the weight (SM507).

    Only where both are cut by the same dimensions of one mesh: FSDP may cut a weight along another dimension
    than its bias, since it gathers both before they are used.
    """
    if bias.layout.global_shape != weight.layout.global_shape[:1] or bias.meshes != weight.meshes:
        return
    cutting = [
        {place for place, one in enumerate(p.layout.placements) if one.dim == 0} for p in (bias, weight)
    ]
    if cutting[0] != cutting[1]:
        return
    for rank, shard in bias_map.ranks.items():
        rows = _rows(shard, bias_map.logical_shape)
        expected = _rows(weight_map.ranks[rank], weight_map.logical_shape)
        if rows != expected and shard.numel and weight_map.ranks[rank].numel:
            values = {
                "descriptor": f"its weight, {weight.name},",
                "stated": f"rows {_spans(expected)} on rank {rank}",
                "found": f"rows {_spans(rows)} for {_words(bias.layout)}",
            }
            yield Fault(code="SM507", side="map", rank=rank, values=values)
            return


def _rows(shard: RankShard, logical_shape: Sequence[int]) -> list[tuple[int, int]]:
    """The rows of a shard in its order, as half-open spans."""
    starts: dict[int, tuple[int, int]] = {}
    for piece in shard.pieces:
        row = coordinates(piece.source.offset, logical_shape)[0]
        starts[coordinates(piece.dest.offset, shard.shard_shape)[0]] = (row, row + piece.shape[0])
    spans: list[tuple[int, int]] = []
    for _, (low, high) in sorted(starts.items()):
        if spans and spans[-1][1] == low:
            spans[-1] = (spans[-1][0], high)
        else:
            spans.append((low, high))
    return spans


def _without_map(parameter: LiveParameter, reason: str) -> Subject:
    """A parameter of which no map can be made is undecided, never passed over."""
    nothing = ShardMap(name=parameter.name, logical_shape=parameter.layout.global_shape, ranks={})
    values = {"obligation": "the layout", "reason": reason}
    fault = Fault(code="SM901", side="map", values=values, undecided=True)
    return Subject(
        name=parameter.name,
        kind="map",
        verdict="undecided",
        outcome=Undecided(reason, (fault,)),
        obligations=Obligations(undecided=1),
        contents={"ranks": len(parameter.shards)},
        findings=findings_of(nothing, Expectation(), [fault]),
    )


def _words(layout: Layout) -> str:
    """``[_StridedShard(dim=0, sf=2), S(0)] on a mesh of dp=3, tp=2``."""
    names = layout.mesh_dim_names or tuple("" for _ in layout.mesh_shape)
    mesh = ", ".join(
        f"{name}={n}" if name else str(n) for name, n in zip(names, layout.mesh_shape, strict=True)
    )
    placements = ", ".join(one.text for one in layout.placements)
    order = ""
    if layout.shard_order is not None and not layout.default_order:
        cuts = "; ".join(f"{dim} by {', '.join(map(str, dims))}" for dim, dims in layout.shard_order)
        order = f", cut in the order {cuts}"
    return f"[{placements}] on a mesh of {mesh}{order}"


def _stated(shard: LiveShard) -> str:
    return _boxes(shard.written) if shard.written is not None else f"nothing ({shard.refusal})"


def _boxes(boxes: Sequence[Box]) -> str:
    if not boxes:
        return "nothing"
    first = f"{boxes[0].sizes} at {boxes[0].offset}"
    return first if len(boxes) == 1 else f"{len(boxes)} boxes, the first {first},"


def _spans(spans: Sequence[tuple[int, int]]) -> str:
    return ", ".join(f"{low} to {high - 1}" for low, high in spans if high > low) or "none"
