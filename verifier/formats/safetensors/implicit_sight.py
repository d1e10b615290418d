"""Checkpoints whose files are told apart by rank only: by which names they are known."""

from __future__ import annotations

import re

from verifier.formats.reading.sight import Sight

SHARDED_STATE = re.compile(
    r"model-rank-(?P<rank>0|[1-9]\d{0,6})-part-(?P<part>0|[1-9]\d{0,6})\.safetensors", re.ASCII
)
"""vLLM's sharded state: each rank saves its tensors, in parts."""
ENGINE_RANK = re.compile(r"rank(?P<rank>0|[1-9]\d{0,6})\.safetensors", re.ASCII)
"""TensorRT-LLM: one file a rank beside ``config.json``."""
LEGACY_FOLDER = re.compile(
    r"mp_rank_(?P<tensor>\d{2,7})(?:_(?P<stage>\d{3,7}))?(?:_(?P<expert>\d{3,7}))?", re.ASCII
)
"""Megatron before distributed checkpoints: one folder a rank, with one file of torch.save."""
LEGACY_FILES = ("model_optim_rng.pt", "model_rng.pt")


def is_implicit(sight: Sight) -> bool:
    """Whether a folder is one of these checkpoints."""
    if any(SHARDED_STATE.fullmatch(name) for name in sight.names):
        return True
    if sight.has("config.json") and any(ENGINE_RANK.fullmatch(name) for name in sight.names):
        return True
    legacy = [name for name in sight.names if LEGACY_FOLDER.fullmatch(name)]
    return any(file in sight.inside(name) for name in legacy[:4] for file in LEGACY_FILES)
