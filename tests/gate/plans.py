"""Constructors as people write them: some right, some not."""

CUT_COLUMNS = '''\
from verifier import Piece, RankShard, ShardMap, StridedView


def cut_columns(rows, columns, ranks):
    """Columns in chunks; the last ranks have less."""
    shards, low = {}, 0
    for rank in range(ranks):
        width = min((columns + ranks - 1) // ranks, columns - low)
        held = (rows, width)
        step = width
        piece = Piece(StridedView(low, held, (columns, 1)), StridedView(0, held, (step, 1)), (rank,))
        shards[rank] = RankShard(held, (piece,))
        low += width
    return ShardMap(name="weight", logical_shape=(rows, columns), ranks=shards)
'''

FULL_STRIDE = CUT_COLUMNS.replace("step = width", "step = max(width, columns // ranks)")
"""The stride of a full shard on a short one."""

FORMS = """\
from types import SimpleNamespace

from verifier import Piece, RankShard, ShardMap, StridedView, map_from_affine
from verifier.layouts import vocabulary


def entry(rows):
    piece = {"shape": [rows], "source": [0, [1]], "dest": [0, [1]], "locations": [0]}
    return {"logical_shape": [rows], "ranks": {0: {"shard_shape": [rows], "pieces": [piece]}}}


def as_dict(rows):
    return entry(rows)


def as_map(rows):
    view = StridedView(0, (rows,), (1,))
    shards = {0: RankShard((rows,), (Piece(view, view, (0,)),))}
    return ShardMap(name="weight", logical_shape=(rows,), ranks=shards)


def as_affine(rows):
    piece = SimpleNamespace(
        shape=(rows,), source_offset=0, source_strides=(1,), dest_offset=0, dest_strides=(1,),
        locations={0}, scale=1.0,
    )
    return SimpleNamespace(
        logical_shape=(rows,), shard_shapes={0: (rows,)}, pieces_by_rank={0: [piece]}
    )


def padded(rows):
    return vocabulary(rows, None, 4)


def halves(rows):
    low = rows // 2
    entries = {}
    for rank, (start, width) in enumerate([(0, low), (low, rows - low)]):
        piece = {"shape": [width], "source": [start, [1]], "dest": [0, [1]], "locations": [rank]}
        entries[rank] = {"shard_shape": [width], "pieces": [piece]}
    return {"logical_shape": [rows], "ranks": entries}


def exchanged(rows):
    made = halves(rows)
    made["ranks"] = {0: made["ranks"][1], 1: made["ranks"][0]}
    for rank, shard in made["ranks"].items():
        shard["pieces"][0]["locations"] = [rank]
    return made


def row_by_row(rows):
    pieces = [{"shape": [1], "source": [r, [1]], "dest": [r, [1]], "locations": [0]} for r in range(rows)]
    return {"logical_shape": [rows], "ranks": {0: {"shard_shape": [rows], "pieces": pieces}}}


def never(rows):
    raise ValueError("never")


def at_most_ten(rows):
    if rows > 10:
        raise ValueError(f"rows is {rows}; give 10 or less")
    return entry(rows)


def careless(rows):
    if rows == 3:
        return {}["three"]
    return entry(rows)


def leaves(rows):
    raise SystemExit(0)


def chatty(rows):
    print("building", rows)
    return entry(rows)


state = []


def moody(rows):
    state.append(rows)
    made = entry(rows)
    if len(state) % 2:
        made["ranks"][0]["shard_shape"] = [rows + 1]
    return made


def nothing(rows):
    return None


def shorter(rows):
    return {"logical_shape": [rows], "ranks": {0: {"shard_shape": [rows - 1], "pieces": []}}}


def gaps(rows):
    made = entry(rows)
    made["logical_shape"] = [2 * rows]
    return made


def hostile(widths):
    # looks at each width, and not at the list
    entries, start = {}, 0
    for rank, width in enumerate(list(widths)):
        if not isinstance(width, int) or width < 0:
            raise ValueError(f"widths[{rank}] is no size")
        piece = {"shape": [width], "source": [start, [1]], "dest": [0, [1]], "locations": [rank]}
        entries[rank] = {"shard_shape": [width], "pieces": [piece]}
        start += int(width)
    return {"logical_shape": [1 if len(widths) == 0 else start], "ranks": entries}


def ends(rows):
    raise GeneratorExit("over")


def converted(rows):
    return map_from_affine(entry(rows))
"""
