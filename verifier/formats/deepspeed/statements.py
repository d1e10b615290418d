"""What a model-states file says of its own parameters, beside the shapes of those that are trained.

``module`` is the state dict of the model, with an empty placeholder for each parameter in stage 3. Four lists
say what the names in it are: ``param_shapes``, ``frozen_param_shapes``, ``shared_params``, ``buffer_names``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from verifier.formats.pickles.torch_zip import TensorHeader, shape_of, tensor_header

MODULE = "module"
FROZEN_SHAPES = "frozen_param_shapes"
FRAGMENTS = "frozen_param_fragments"
SHARED = "shared_params"
BUFFERS = "buffer_names"
DP_RANKS = "dp_world_size"
STEPS = "global_steps"

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statements:
    """The lists are None where the release that wrote the file did not have them.

    Attributes:
        module: headers of the tensors in ``module``.
        frozen: the full shape of each parameter that is not trained, None for what is no shape.
        fragments: the header of the part of each of them that this rank keeps, None for what is no tensor.
        shared: the parameter that each further name of a parameter stands for.
        buffers: the names of tensors that are no parameters.
        dp_ranks: how many data-parallel ranks wrote the checkpoint.
        steps: how many steps were made.
    """

    module: Mapping[str, TensorHeader] = field(default_factory=dict)
    frozen: Mapping[str, Shape | None] | None = None
    fragments: Mapping[str, TensorHeader | None] | None = None
    shared: Mapping[str, str] | None = None
    buffers: frozenset[str] | None = None
    dp_ranks: int | None = None
    steps: int | None = None


def statements_of(value: Mapping[object, object]) -> Statements:
    """What the value of a model-states file states."""
    frozen, fragments, shared = (_named(value, key) for key in (FROZEN_SHAPES, FRAGMENTS, SHARED))
    module = {name: tensor_header(tensor) for name, tensor in (_named(value, MODULE) or {}).items()}
    buffers = value.get(BUFFERS)
    return Statements(
        module={name: header for name, header in module.items() if header is not None},
        frozen=None if frozen is None else {name: shape_of(size) for name, size in frozen.items()},
        fragments=None
        if fragments is None
        else {name: tensor_header(one) for name, one in fragments.items()},
        shared=None
        if shared is None
        else {name: target for name, target in shared.items() if isinstance(target, str)},
        buffers=frozenset(name for name in buffers if isinstance(name, str))
        if isinstance(buffers, list | tuple)
        else None,
        dp_ranks=_count(value.get(DP_RANKS)),
        steps=_count(value.get(STEPS)),
    )


def _named(value: Mapping[object, object], key: str) -> dict[str, object] | None:
    """The entries of an object by name; none where DeepSpeed wrote None, None where there is no such key."""
    entries = value.get(key)
    if isinstance(entries, dict):
        return {name: entry for name, entry in entries.items() if isinstance(name, str)}
    return {} if entries is None and key in value else None


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None
