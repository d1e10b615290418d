"""One DeepSpeed model-states file: its affine map, and what else it says about the same parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from verifier.formats.limits import Limits
from verifier.formats.refusal import FormatError, shown
from verifier.formats.torch_zip import read_torch_zip, shape_of, tensor_header
from verifier.model.origin import Origin

INFO = "universal_checkpoint_info"
AFFINE_MAP = "affine_map"
DIMENSIONS = "checkpoint_parallel_dimensions"
SHAPE_LISTS = ("param_shapes", "frozen_param_shapes")
MODULE = "module"
FILE_NAME = re.compile(r"mp_rank_(\d{2,})_model_states\.pt", re.ASCII)

Plain = Mapping[object, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStates:
    """What one file holds, besides tensor data.

    Attributes:
        origin: the file.
        rank: its tensor-parallel rank by the file's name, None when the name has none.
        info: ``universal_checkpoint_info``, empty when absent.
        shapes: by parameter, the shapes that this file states for its shard, as (descriptor, shape).
        tp_degree: how many tensor-parallel ranks wrote the checkpoint, None when not stated.
        pp_degree: the same for pipeline stages.
        has_experts: True when maps of AutoEP layers are there too.
    """

    origin: Origin
    rank: int | None
    info: Plain
    shapes: Mapping[str, tuple[tuple[str, tuple[int, ...]], ...]]
    tp_degree: int | None = None
    pp_degree: int | None = None
    has_experts: bool = False
    info_origin: Origin = field(default_factory=lambda: Origin(""))

    @property
    def affine_map(self) -> object:
        """The affine map as read, None when the file has none."""
        return self.info.get(AFFINE_MAP)


def rank_in_name(file_name: str) -> int | None:
    """The rank in ``mp_rank_NN_model_states.pt``, None for other names."""
    match = FILE_NAME.fullmatch(file_name)
    if match is None or f"{int(match[1]):02d}" != match[1]:
        return None
    return int(match[1])


def read_model_states(path: Path, origin: Origin, limits: Limits) -> ModelStates:
    """Read one file, without its tensors.

    Raises:
        FormatError: SM001, SM002, SM003, SM006 or SM007.
        OSError: the file cannot be read at all.
    """
    return model_states(read_torch_zip(path, origin, limits), path.name, origin)


def model_states(value: object, file_name: str, origin: Origin) -> ModelStates:
    """The model states that a file's value amounts to.

    Raises:
        FormatError: SM001 when it is not the value of a model-states file.
    """
    if not isinstance(value, dict) or not (INFO in value or MODULE in value):
        raise FormatError(
            "SM001",
            "no model states and no affine map are in this file",
            origin,
            help="name the mp_rank_NN_model_states.pt files, or their directory",
        )
    info = value.get(INFO)
    return ModelStates(
        origin=origin,
        rank=rank_in_name(file_name),
        info=info if isinstance(info, dict) else {},
        info_origin=origin.child(INFO),
        shapes=_stated_shapes(value),
        tp_degree=_degree(value, "tp_degree"),
        pp_degree=_degree(value, "pp_degree"),
        has_experts=bool(value.get("ds_autoep_layers")),
    )


def _degree(value: Plain, key: str) -> int | None:
    dimensions = value.get(DIMENSIONS)
    degree = dimensions.get(key) if isinstance(dimensions, dict) else None
    return degree if type(degree) is int and degree > 0 else None


def _stated_shapes(value: Plain) -> dict[str, tuple[tuple[str, tuple[int, ...]], ...]]:
    stated: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for descriptor, name, shape in _shape_entries(value):
        stated.setdefault(name, []).append((descriptor, shape))
    return {name: tuple(shapes) for name, shapes in stated.items()}


def _shape_entries(value: Plain) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    for descriptor in SHAPE_LISTS:
        groups = value.get(descriptor)
        for group in groups if isinstance(groups, list | tuple) else [groups]:
            if isinstance(group, dict):
                for name, size in group.items():
                    shape = shape_of(size)
                    if isinstance(name, str) and shape is not None:
                        yield descriptor, name, shape
    module = value.get(MODULE)
    if isinstance(module, dict):
        for name, tensor in module.items():
            header = tensor_header(tensor)
            if isinstance(name, str) and header is not None:
                yield MODULE, name, header.shape


def first_difference(left: object, right: object) -> tuple[tuple[str | int, ...], str, str] | None:
    """Where two plain values differ first: (path, left value, right value), None when they are the same.

    The same means the same type too: 1 is not true, and not 1.0; every NaN is the same.
    """
    stack: list[tuple[tuple[str | int, ...], object, object]] = [((), left, right)]
    while stack:
        path, a, b = stack.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                key = next(iter(key for key in (*a, *b) if (key in a) != (key in b)))
                return (*path, _step(key)), _presence(key in a), _presence(key in b)
            stack.extend(((*path, _step(key)), a[key], b[key]) for key in reversed(a))
        elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
            if len(a) != len(b):
                return path, shown(a), shown(b)
            stack.extend(((*path, i), a[i], b[i]) for i in reversed(range(len(a))))
        elif type(a) is not type(b) or (a != b and not (a != a and b != b)):
            return path, shown(a), shown(b)
    return None


def _step(key: object) -> str | int:
    return key if isinstance(key, str | int) else str(key)


def _presence(there: bool) -> str:
    return "present" if there else "absent"
