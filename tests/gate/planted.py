"""Copies of the package of reference layouts, each with one bug planted in its source.

A copy is a package of its own: the same text, but for its own name and one stretch. So what is gated is the
real constructor with the slip of a hand, through all modules that it uses; the cuts of axes lie in a lower
package and are copied along.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from verifier import layouts
from verifier.geometry import axis_parts

SOURCES = (*Path(layouts.__file__).parent.glob("*.py"), Path(axis_parts.__file__))


@dataclass(frozen=True)
class Planted:
    """A bug.

    ``over`` and ``where`` are a domain as on the command line, on which the constructor without it is right.
    """

    name: str
    file: str
    old: str
    new: str
    constructor: str
    over: str
    where: str | None = None

    def build(self, folder: Path, package: str) -> str:
        """Write the copy; the place of its constructor."""
        home = folder / package
        home.mkdir()
        for source in SOURCES:
            text = source.read_text(encoding="utf-8")
            if source.name == self.file:
                assert text.count(self.old) == 1, (self.name, text.count(self.old))
                text = text.replace(self.old, self.new)
            text = text.replace("verifier.geometry.axis_parts", f"{package}.axis_parts")
            (home / source.name).write_text(text.replace("verifier.layouts", package), encoding="utf-8")
        return f"{package}:{self.constructor}"


ROWS = "shape=(size, size), ranks=4, axis=0, rule="
COLUMNS = "shape=(size, size), widths=sizes(3), axis=1"
FUSED = "shape=(size, size), widths=(sizes(2), sizes(2)), axis=0"
FUSED_SUM = "shape[0] == sum(widths[0]) + sum(widths[1])"
QKV = "heads=size, kv_heads={}, head_dim=size, hidden=size, ranks={}, order='{}'"
GATES_AND_UPS = "(*gates[first : first + in_shard], *ups[first : first + in_shard])"
UPS_AND_GATES = "(*ups[first : first + in_shard], *gates[first : first + in_shard])"
GATE_UP = "intermediate=size, hidden=size, ranks=2"
EXPERTS = (
    "number=3, expert_shape=(size, size), placement=([0, 2], [1]), tensor_axis=1, tensor_widths=sizes(2)"
)

PLANTED = [
    Planted(
        "floor for ceil",
        "axis_parts.py",
        "(size + parts - 1) // parts",
        "size // parts",
        "split",
        ROWS + "'chunk'",
    ),
    Planted(
        "ceil one too far",
        "axis_parts.py",
        "(size + parts - 1) //",
        "(size + parts) //",
        "split",
        ROWS + "'chunk'",
    ),
    Planted(
        "no clamp at the end",
        "axis_parts.py",
        "min(part * width, size)",
        "part * width",
        "split",
        ROWS + "'chunk'",
    ),
    Planted("whole remainder first", "rules.py", "min(part, more)", "more", "split", ROWS + "'floor_first'"),
    Planted(
        "remainder last",
        "rules.py",
        "part * width + min(part, more)",
        "part * width",
        "split",
        ROWS + "'floor_first'",
    ),
    Planted(
        "missing remainder",
        "rules.py",
        "size - (parts - 1) * width)",
        "width)",
        "split",
        ROWS + "'floor_last'",
    ),
    Planted(
        "wrong last rank",
        "rules.py",
        "[width] * (parts - 1), size",
        "[width + 1] * (parts - 1), size",
        "split",
        ROWS + "'floor_last'",
    ),
    Planted(
        "stride of the full shard on a short one",
        "blocks.py",
        "strides = row_major(shard_shape)",
        "strides = full",
        "contiguous",
        COLUMNS,
        "shape[1] == sum(widths)",
    ),
    Planted(
        "source in strides of the shard",
        "blocks.py",
        "zip(box, full, strict=True))\n",
        "zip(box, strides, strict=True))\n",
        "fsdp_over_tp",
        "shape=(size, size), fsdp=2, tp=2, tp_axis=1",
    ),
    Planted(
        "dest of the parameter",
        "blocks.py",
        "run.dest * stride",
        "run.start * stride",
        "contiguous",
        COLUMNS,
        "shape[1] == sum(widths)",
    ),
    Planted(
        "holders along the first axis only",
        "blocks.py",
        "everyone[0].intersection(*everyone[1:])",
        "everyone[0]",
        "contiguous",
        COLUMNS,
        "shape[1] == sum(widths)",
    ),
    Planted(
        "ranks reversed",
        "contiguous.py",
        "{rank: (rank,) for rank in range(len(widths))}",
        "{rank: (len(widths) - 1 - rank,) for rank in range(len(widths))}",
        "contiguous",
        COLUMNS,
        "shape[1] == sum(widths)",
    ),
    Planted(
        "wrong axis",
        "contiguous.py",
        'axis {axis} of shape")\n    return pack(along(shape, at,',
        'axis {axis} of shape")\n    return pack(along(shape, 0,',
        "contiguous",
        COLUMNS,
        "shape[1] == sum(widths)",
    ),
    Planted(
        "off by one",
        "blocks.py",
        "initial=0)) for axis in axes",
        "initial=1)) for axis in axes",
        "contiguous",
        COLUMNS,
        "shape[1] == sum(widths)",
    ),
    Planted(
        "second part on top of the first",
        "blocks.py",
        "dest = dest + width",
        "dest = width",
        "fused",
        FUSED.replace("(sizes(2), sizes(2))", "(sizes(2), sizes(2), sizes(2))"),
        FUSED_SUM + " + sum(widths[2])",
    ),
    Planted(
        "first part on every rank",
        "fused.py",
        "0 if len(parts) == 1 else rank",
        "0 if len(parts) == 1 or place == 0 else rank",
        "fused",
        FUSED,
        FUSED_SUM,
    ),
    Planted(
        "parts in reverse",
        "fused.py",
        "0 if len(parts) == 1 else rank",
        "0 if len(parts) == 1 else ranks - 1 - rank",
        "fused",
        FUSED,
        FUSED_SUM,
    ),
    Planted(
        "merged across holders",
        "blocks.py",
        "block == previous + 1 and holders[block] == holders[previous]",
        "block == previous + 1",
        "qkv",
        QKV.format(1, 2, "grouped"),
        "heads % 2 == 0",
    ),
    Planted(
        "width of the last block only",
        "blocks.py",
        "width=runs[-1].width + width",
        "width=width",
        "experts",
        "number=3, expert_shape=(size, size), placement=([0, 1], [2])",
    ),
    Planted(
        "keys and values exchanged",
        "heads.py",
        "(rank, key, key + len(keys))",
        "(rank, key + len(keys), key)",
        "qkv",
        QKV.format(2, 2, "concatenated"),
        "heads % 2 == 0",
    ),
    Planted(
        "queries and keys exchanged",
        "heads.py",
        "(rank, key, key + len(keys))",
        "(key, rank, key + len(keys))",
        "qkv",
        QKV.format(2, 2, "concatenated"),
        "heads % 2 == 0",
    ),
    Planted(
        "head order",
        "heads.py",
        "return rank // self.replicas",
        "return rank % len(self.each)",
        "attention_heads",
        "heads=2, head_dim=size, hidden=size, ranks=4",
    ),
    Planted(
        "keys of another group",
        "heads.py",
        "len(queries) + groups.of_rank(rank)",
        "len(queries) + rank % len(keys)",
        "qkv",
        QKV.format(2, 4, "concatenated"),
        "heads % 4 == 0",
    ),
    Planted(
        "even queries of uneven groups",
        "heads.py",
        "heads // kv_heads * head_dim * held for",
        "heads // ranks * head_dim for",
        "qkv",
        QKV.format(3, 2, "concatenated"),
        "heads % 6 == 0",
    ),
    Planted(
        "no values",
        "heads.py",
        "tuple(q + k + k for q, k in each)",
        "tuple(q + k for q, k in each)",
        "qkv",
        QKV.format(2, 2, "grouped"),
        "heads % 2 == 0",
    ),
    Planted(
        "up before gate",
        "fused.py",
        GATES_AND_UPS,
        UPS_AND_GATES,
        "gate_up",
        GATE_UP,
        "intermediate % 2 == 0",
    ),
    Planted(
        "plain cut",
        "fused.py",
        GATES_AND_UPS,
        "tuple(range(2 * first, 2 * (first + in_shard)))",
        "gate_up",
        GATE_UP,
        "intermediate % 2 == 0",
    ),
    Planted(
        "tensor and expert ranks exchanged",
        "gather.py",
        "(rank % degree,)",
        "(rank // degree,)",
        "experts",
        EXPERTS,
        "expert_shape[1] == sum(tensor_widths)",
    ),
    Planted(
        "blocks sorted",
        "gather.py",
        "    return tuple(found)",
        "    return tuple(sorted(found))",
        "block_gather",
        "shape=(size, size), ids_by_rank=fixed({0: [2, 0], 1: [1]}), block=size(least=1)",
        "shape[0] == 3 * block",
    ),
    Planted(
        "rank forgotten in the buffer",
        "flat.py",
        "dest = start + bounds[rank] - rank * shard",
        "dest = start + bounds[rank]",
        "flat",
        "numels=sizes(2), ranks=2",
    ),
    Planted(
        "buffer cut short",
        "flat.py",
        "(buffer.end + unit - 1) // unit",
        "buffer.end // unit",
        "flat",
        "numels=sizes(2), ranks=2",
    ),
    Planted(
        "parameters without their padding",
        "flat.py",
        "dest + part\n",
        "dest + numel\n",
        "flat_each",
        "numels=sizes(2), ranks=2",
    ),
    Planted(
        "padding from the beginning",
        "vocabulary.py",
        "StridedView(width * strides[0], (rest",
        "StridedView(0, (rest",
        "vocabulary",
        "rows=size, hidden=size, ranks=2",
    ),
    Planted(
        "rows not padded",
        "vocabulary.py",
        "(rows + unit - 1) // unit * (unit // ranks)",
        "rows // ranks",
        "vocabulary",
        "rows=size, hidden=size, ranks=2",
    ),
    Planted(
        "meshes exchanged",
        "nested.py",
        "tp_axis, fsdp_axis, (1, 0))",
        "tp_axis, fsdp_axis, (0, 1))",
        "fsdp_over_tp",
        "shape=(size, size), fsdp=2, tp=2",
    ),
]

HARMLESS = [
    Planted(
        "ceil by negation",
        "axis_parts.py",
        "(size + parts - 1) // parts",
        "-(-size // parts)",
        "split",
        ROWS + "'chunk'",
    ),
    Planted(
        "empty pieces past the end",
        "vocabulary.py",
        "starts[rank] * strides[0], held",
        "rank * in_shard * strides[0], held",
        "vocabulary",
        "rows=size, hidden=size, ranks=3",
    ),
    Planted(
        "a comparison more",
        "axis_parts.py",
        "min(part * width, size)",
        "size if part * width >= size else part * width",
        "split",
        ROWS + "'chunk'",
    ),
    Planted(
        "one by one",
        "blocks.py",
        "block == previous + 1 and holders",
        "False and holders",
        "experts",
        "number=3, expert_shape=(size, size), placement=([0, 1], [2])",
    ),
]
"""Edits that change nothing."""
