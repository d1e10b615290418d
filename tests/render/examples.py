"""Maps and faults written by hand, as an engine would report them."""

import json

from verifier.certificates.encode import map_to_json
from verifier.diagnostics.finding import Finding
from verifier.diagnostics.narrate import narrate
from verifier.diagnostics.report import Obligations, Report, Subject
from verifier.diagnostics.snippets import Locate, Span
from verifier.formats.reading.places import locate, span_of
from verifier.geometry.strided import StridedView, row_major
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import RankShard, ShardMap
from verifier.obligations.faults import Count, Fault, Visit

TOOL = {"name": "shardproof", "version": "0.0.0"}

QKV_TEXT = """{
  "logical_shape": [4, 8],
  "ranks": {
    "0": {
      "shard_shape": [4, 4],
      "pieces": [
        { "shape": [4, 2], "source": [0, [8, 1]], "dest": [0, [4, 1]], "locations": [0] },
        { "shape": [4, 2], "source": [4, [8, 1]], "dest": [1, [4, 1]], "locations": [0] }
      ]
    },
    "1": {
      "shard_shape": [4, 4],
      "pieces": [
        { "shape": [4, 2], "source": [2, [8, 1]], "dest": [0, [4, 1]], "locations": [1] },
        { "shape": [4, 2], "source": [6, [8, 1]], "dest": [2, [4, 1]], "locations": [1] }
      ]
    }
  }
}
"""


def block(
    shape: tuple[int, ...],
    source: tuple[int, tuple[int, ...]],
    dest: tuple[int, tuple[int, ...]],
    *locations: int,
) -> Piece:
    return Piece(StridedView(source[0], shape, source[1]), StridedView(dest[0], shape, dest[1]), locations)


def _columns(source: int, dest: int, rank: int) -> Piece:
    return block((4, 2), (source, (8, 1)), (dest, (4, 1)), rank)


def qkv_map(origin: Origin | None = None) -> ShardMap:
    """Fused columns on two ranks; the second piece of rank 0 begins at 1 instead of 2."""
    return ShardMap(
        name="layers.0.attn.qkv.weight",
        logical_shape=(4, 8),
        ranks={
            0: RankShard((4, 4), (_columns(0, 0, 0), _columns(4, 1, 0))),
            1: RankShard((4, 4), (_columns(2, 0, 1), _columns(6, 2, 1))),
        },
        origin=origin,
    )


QKV_FAULT = Fault(
    code="SM201",
    side="shard",
    rank=0,
    pieces=((0, 0), (0, 1)),
    address=1,
    visits=(Visit(0, 0, (0, 1)), Visit(0, 1, (0, 0))),
    count=Count(4, exact=True),
    others=(1, 5, 9, 13),
    values={"size": 16},
    consequences=(
        Fault(
            code="SM203",
            side="shard",
            rank=0,
            address=3,
            count=Count(4, exact=True),
            others=(3, 7, 11, 15),
        ),
    ),
)


def locator(text: str) -> Locate:
    """Finds values in the text of a document, as a format reader does."""

    def find(origin: Origin) -> Span | None:
        located = locate(text, origin.pointer)
        return None if located is None else span_of(text, located)

    return find


def qkv_finding(file: str = "maps/qkv_tp2.json", text: str | None = QKV_TEXT) -> Finding:
    """The finding of QKV_FAULT; without text as in a pickle."""
    return narrate(qkv_map(Origin(file)), QKV_FAULT, locate=None if text is None else locator(text))


def pretty(shard_map: ShardMap) -> str:
    return json.dumps(map_to_json(shard_map), indent=2)


def minified(shard_map: ShardMap) -> str:
    return json.dumps(map_to_json(shard_map), separators=(",", ":"))


def report_of(*findings: Finding) -> Report:
    """A run over one map with these findings."""
    refuted = sum(finding.verdict == "refuted" and finding.severity == "error" for finding in findings)
    undecided = sum(finding.verdict == "undecided" for finding in findings)
    verdict = "refuted" if refuted else "undecided" if undecided else "proved"
    return Report(
        tool=TOOL,
        subjects=(
            Subject(
                name="w",
                kind="map",
                verdict=verdict,
                obligations=Obligations(8, refuted, undecided),
                answered_by={"cancel": 8},
                contents={"ranks": 2, "pieces": 4},
                findings=findings,
            ),
        ),
    )


def long_shard() -> ShardMap:
    """A flat parameter in 40 pieces of 3 elements; piece 20 begins one too early."""
    pieces = [block((3,), (3 * k, (1,)), (3 * k - (k == 20), (1,)), 0) for k in range(40)]
    return ShardMap(name="flat", logical_shape=(120,), ranks={0: RankShard((120,), tuple(pieces))})


LONG_FAULT = Fault(
    code="SM201",
    side="shard",
    rank=0,
    pieces=((0, 19), (0, 20)),
    address=59,
    visits=(Visit(0, 19, (2,)), Visit(0, 20, (0,))),
    count=Count(1, exact=True),
    others=(59,),
)


def experts() -> ShardMap:
    """Experts (6, 40, 50) on three ranks, two each; rank 1 forgot the last row of expert 3."""
    strides = row_major((6, 40, 50))
    whole = [block((2, 40, 50), (4000 * r, strides), (0, strides), r) for r in (0, 2)]
    short = (
        block((1, 40, 50), (4000, strides), (0, strides), 1),
        block((1, 39, 50), (6000, strides), (2000, strides), 1),
    )
    return ShardMap(
        name="moe.experts.w1",
        logical_shape=(6, 40, 50),
        ranks={
            0: RankShard((2, 40, 50), (whole[0],)),
            1: RankShard((2, 40, 50), short),
            2: RankShard((2, 40, 50), (whole[1],)),
        },
        origin=Origin("maps/moe.json", "/params/moe.experts.w1"),
    )


EXPERT_HOLE = Fault(
    code="SM203",
    side="shard",
    rank=1,
    address=3950,
    count=Count(50, exact=True),
    others=(3950, 3951, 3952, 3953, 3954, 3955),
    values={"size": 4000},
    consequences=(
        Fault(
            code="SM301",
            side="parameter",
            address=7950,
            count=Count(50, exact=False),
            others=(7950, 7951),
        ),
    ),
)
EXPERT_GAP = Fault(
    code="SM301",
    side="parameter",
    address=7950,
    count=Count(50, exact=False),
    others=(7950, 7951),
)


def replicated() -> ShardMap:
    """A bias on two ranks that know of each other."""
    piece = block((3,), (0, (1,)), (0, (1,)), 0, 1)
    return ShardMap(name="bias", logical_shape=(3,), ranks={r: RankShard((3,), (piece,)) for r in (0, 1)})


def replicas() -> ShardMap:
    """A bias on two ranks; each knows only of itself."""
    return ShardMap(
        name="bias",
        logical_shape=(3,),
        ranks={r: RankShard((3,), (block((3,), (0, (1,)), (0, (1,)), r),)) for r in (0, 1)},
    )


REPLICA_FAULT = Fault(
    code="SM403",
    side="parameter",
    rank=1,
    pieces=((0, 0), (1, 0)),
    address=0,
    visits=(Visit(0, 0, (0,)), Visit(1, 0, (0,))),
    count=Count(3, exact=True),
    others=(0, 1, 2),
    values={"declared": (0,), "holders": (0, 1)},
)
OVER_BUDGET = Fault(
    code="SM902",
    side="map",
    rank=0,
    values={"obligation": "shard/0", "reason": "hulls (they meet), residues (gcd 1), search (200000 nodes)"},
    undecided=True,
)
LINT = Fault(code="SM701", side="piece", rank=0, pieces=((0, 0),))
PAST_THE_END = Fault(
    code="SM101",
    side="shard",
    rank=0,
    pieces=((0, 1),),
    address=17,
    visits=(Visit(0, 1, (3, 1)),),
    values={"reached": 17, "size": 16, "lowest": 4, "highest": 17},
)


def chunks() -> ShardMap:
    """Five stored blocks: 1 and 2 both have row 3, and nobody the last two columns of rows 5 and 6."""
    strides = row_major((7, 6))
    boxes = {0: (0, 0, 2, 6), 1: (2, 0, 2, 6), 2: (3, 0, 2, 6), 3: (5, 0, 2, 3), 4: (5, 3, 2, 1)}
    return ShardMap(
        name="w",
        logical_shape=(7, 6),
        ranks={
            k: RankShard((n, m), (block((n, m), (6 * i + j, strides), (0, row_major((n, m))), k),))
            for k, (i, j, n, m) in boxes.items()
        },
        origin=Origin("ckpt/.metadata"),
        holder="chunk",
    )


CHUNK_HOLE = Fault(
    code="SM301",
    side="parameter",
    address=34,
    count=Count(4, exact=True),
    others=(34, 35, 40, 41),
)
CHUNK_OVERLAP = Fault(
    code="SM403",
    side="parameter",
    rank=2,
    pieces=((1, 0), (2, 0)),
    address=18,
    visits=(Visit(1, 0, (1, 0)), Visit(2, 0, (0, 0))),
    count=Count(6, exact=True),
    others=(18, 19, 20, 21, 22, 23),
    values={"declared": (1,), "holders": (1, 2)},
)
CHUNK_OUTSIDE = Fault(
    code="CK108",
    side="map",
    rank=4,
    pieces=((4, 0),),
    count=Count(3, exact=True),
    values={
        "what": "chunk 4 at [5, 3] of size [2, 4]",
        "found": "reaches 3 to 7 in dimension 1",
        "stated": "the tensor ends at 6",
    },
)
STALE_INDEX = Fault(
    code="CK103",
    side="map",
    values={"what": 'the tensor "lm_head.weight"', "found": "is in none of 3 files", "file": "index.json"},
)


def file_set() -> ShardMap:
    """What stands for a whole checkpoint."""
    return ShardMap(name="ckpt", logical_shape=(), ranks={}, origin=Origin("ckpt"))


def past_the_end() -> ShardMap:
    """As ``qkv_map``, but the second piece of rank 0 begins at 4."""
    shard_map = qkv_map()
    first = shard_map.ranks[0].pieces[0]
    return ShardMap(
        name=shard_map.name,
        logical_shape=shard_map.logical_shape,
        ranks={0: RankShard((4, 4), (first, _columns(4, 4, 0))), 1: shard_map.ranks[1]},
    )
