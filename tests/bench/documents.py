"""Documents of the size of real models, as JSON in the affine form: shapes only, no tensors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LLAMA_LAYERS, LLAMA_RANKS = 126, 8
EXPERT_LAYERS, EXPERTS, EXPERT_RANKS = 58, 256, 32


def llama_405b(path: Path) -> int:
    """Llama-3-405B at TP 8; the number of parameters."""
    hidden, inner, vocabulary, heads = 16384, 53248, 128256, 1024
    maps = {"model.embed_tokens.weight": _rows(vocabulary, hidden), "model.norm.weight": _whole(hidden)}
    maps["lm_head.weight"] = _rows(vocabulary, hidden)
    for layer in range(LLAMA_LAYERS):
        prefix = f"model.layers.{layer}."
        for name in ("q", "k", "v"):
            rows = hidden if name == "q" else heads
            maps[f"{prefix}self_attn.{name}_proj.weight"] = _rows(rows, hidden)
        maps[f"{prefix}self_attn.o_proj.weight"] = _columns(hidden, hidden)
        maps[f"{prefix}mlp.gate_proj.weight"] = maps[f"{prefix}mlp.up_proj.weight"] = _rows(inner, hidden)
        maps[f"{prefix}mlp.down_proj.weight"] = _columns(hidden, inner)
        for name in ("input_layernorm", "post_attention_layernorm"):
            maps[f"{prefix}{name}.weight"] = _whole(hidden)
    return _written(path, maps)


def deepseek_experts(path: Path) -> int:
    """DeepSeek-V3's routed experts at EP 32, each weight of each expert a parameter of its own."""
    hidden, inner = 7168, 2048
    shapes = {"gate_proj": (inner, hidden), "up_proj": (inner, hidden), "down_proj": (hidden, inner)}
    maps = {
        f"model.layers.{layer}.mlp.experts.{expert}.{name}.weight": _owned(
            shape, expert // (EXPERTS // EXPERT_RANKS)
        )
        for layer in range(3, 3 + EXPERT_LAYERS)
        for name, shape in shapes.items()
        for expert in range(EXPERTS)
    }
    return _written(path, maps)


def _written(path: Path, maps: dict[str, Any]) -> int:
    params = {"^" + name.replace(".", "\\.") + "$": found for name, found in maps.items()}
    path.write_text(json.dumps({"version": 1, "params": params}), encoding="ascii")
    return len(params)


def _map(shape: list[int], ranks: dict[int, tuple[list[int], int, list[int], list[int]]]) -> dict[str, Any]:
    strides = [shape[1], 1] if len(shape) == 2 else [1]
    return {
        "logical_shape": shape,
        "ranks": {
            str(rank): {
                "shard_shape": held,
                "pieces": [
                    {"shape": held, "source": [start, strides], "dest": [0, dest], "locations": locations}
                ],
            }
            for rank, (held, start, dest, locations) in ranks.items()
        },
    }


def _rows(rows: int, columns: int) -> dict[str, Any]:
    each = rows // LLAMA_RANKS
    return _map(
        [rows, columns],
        {r: ([each, columns], r * each * columns, [columns, 1], [r]) for r in range(LLAMA_RANKS)},
    )


def _columns(rows: int, columns: int) -> dict[str, Any]:
    each = columns // LLAMA_RANKS
    return _map([rows, columns], {r: ([rows, each], r * each, [each, 1], [r]) for r in range(LLAMA_RANKS)})


def _whole(size: int) -> dict[str, Any]:
    everyone = list(range(LLAMA_RANKS))
    return _map([size], {r: ([size], 0, [1], everyone) for r in everyone})


def _owned(shape: tuple[int, int], rank: int) -> dict[str, Any]:
    return _map([*shape], {rank: ([*shape], 0, [shape[1], 1], [rank])})
