"""One DeepSpeed model-states file: its affine map, and what else it says about the same parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from verifier.formats.deepspeed.statements import FROZEN_SHAPES, MODULE, Shape, Statements, statements_of
from verifier.formats.pickles.torch_zip import read_torch_zip, shape_of, tensor_header
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.fields import malformed
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.geometry.strided import INT64_MAX, MOST_AXES
from verifier.model.origin import Origin

INFO = "universal_checkpoint_info"
AFFINE_MAP = "affine_map"
DIMENSIONS = "checkpoint_parallel_dimensions"
PARAM_SHAPES = "param_shapes"
SHAPE_LISTS = (PARAM_SHAPES, FROZEN_SHAPES)
FILE_NAME = re.compile(r"mp_rank_(\d{2,19})_model_states\.pt", re.ASCII)

PARTITION_NAME = re.compile(r"zero_pp_rank_(\d{1,7})_mp_rank_(\d{2,7})_model_states\.pt", re.ASCII)

MOST_NAME = 4096
"""Characters of the name of a parameter."""

MOST_DEGREE = 2**20
"""No job has more ranks; beyond it the ranks of a checkpoint are not counted."""

Plain = Mapping[object, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStates:
    """What one file holds, besides tensor data.

    Attributes:
        origin: the file.
        rank: its tensor-parallel rank by the file's name, None when the name has none.
        partition: its (data-parallel, model-parallel) rank by its name in stage 3, None in the others.
        info: ``universal_checkpoint_info``, empty when absent.
        shapes: by parameter, the shapes that this file states for its shard, as (descriptor, shape).
        not_shapes: (descriptor, parameter) of each stated shape that is none, such as (4, -4).
        groups: shapes by parameter of each parameter group of the optimizer, in the order of its flat buffer;
            None when they are not stated, or one is no shape.
        frozen: names of the parameters that are not trained.
        refusals: the values beside the maps that were refused.
        tp_degree: how many tensor-parallel ranks wrote the checkpoint, None when not stated.
        pp_degree: the same for pipeline stages.
        says: what else it says of its parameters.
        experts: the descriptions of AutoEP layers as read, None when the file has none.
    """

    origin: Origin
    rank: int | None
    info: Plain
    shapes: Mapping[str, tuple[tuple[str, Shape], ...]]
    not_shapes: tuple[tuple[str, str], ...] = ()
    groups: tuple[Mapping[str, Shape], ...] | None = None
    frozen: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    tp_degree: int | None = None
    pp_degree: int | None = None
    partition: tuple[int, int] | None = None
    says: Statements = field(default_factory=Statements)
    experts: object = None
    info_origin: Origin = field(default_factory=lambda: Origin(""))

    @property
    def affine_map(self) -> object:
        """The affine map as read, None when the file has none."""
        return self.info.get(AFFINE_MAP)

    def has_tensor(self, name: str) -> bool:
        """Whether the header of this parameter's tensor was read."""
        return any(descriptor == MODULE for descriptor, _ in self.shapes.get(name, ()))


def rank_in_name(file_name: str) -> int | None:
    """The rank in ``mp_rank_NN_model_states.pt``, None for other names."""
    match = FILE_NAME.fullmatch(file_name)
    if match is None or f"{int(match[1]):02d}" != match[1]:
        return None
    return int(match[1])


def partition_ranks(file_name: str) -> tuple[int, int] | None:
    """(data-parallel, model-parallel) rank in the name of model states of ZeRO stage 3, None for others."""
    match = PARTITION_NAME.fullmatch(file_name)
    return None if match is None else (int(match[1]), int(match[2]))


def read_model_states(path: Path, origin: Origin, limits: Limits) -> ModelStates:
    """Read one file, without its tensors.

    Raises:
        FormatError: SM001, SM002, SM003, SM006 or SM007.
        OSError: the file cannot be read at all.
    """
    return model_states(read_torch_zip(path, origin, limits), path.name, origin)


def is_model_states(value: object) -> bool:
    """Whether a value is what a model-states file holds."""
    return isinstance(value, dict) and (INFO in value or MODULE in value)


def model_states(value: object, file_name: str, origin: Origin) -> ModelStates:
    """The model states that a file's value amounts to.

    Raises:
        FormatError: SM001 when it is not the value of a model-states file.
    """
    if not isinstance(value, dict) or not is_model_states(value):
        raise FormatError(
            "SM001",
            "no model states and no affine map are in this file",
            origin,
            help="name the mp_rank_NN_model_states.pt files, or their directory",
        )
    info = value.get(INFO)
    refusals: list[Refusal] = []
    shapes, not_shapes = _stated_shapes(value)
    return ModelStates(
        origin=origin,
        rank=rank_in_name(file_name),
        partition=partition_ranks(file_name),
        info=info if isinstance(info, dict) else {},
        info_origin=origin.child(INFO),
        shapes=shapes,
        not_shapes=not_shapes,
        groups=_groups(value.get(PARAM_SHAPES)),
        frozen=_names(value.get(FROZEN_SHAPES)),
        tp_degree=_degree(value, "tp_degree", origin, refusals),
        pp_degree=_degree(value, "pp_degree", origin, refusals),
        refusals=tuple(refusals),
        says=statements_of(value),
        experts=value.get("ds_autoep_layers"),
    )


def _degree(value: Plain, key: str, origin: Origin, refusals: list[Refusal]) -> int | None:
    """A count of processes, None when not stated; one that is none is refused without hiding the maps."""
    dimensions = value.get(DIMENSIONS)
    degree = dimensions.get(key) if isinstance(dimensions, dict) else None
    if degree is None or (type(degree) is int and 0 < degree <= MOST_DEGREE):
        return degree
    error = malformed(
        f"{key} is {shown(degree)}, no number of ranks",
        origin.child(DIMENSIONS, key),
        f"write the integer that was meant, 1 to {MOST_DEGREE}",
    )
    refusals.append(Refusal.of(key, error))
    return None


def _stated_shapes(
    value: Plain,
) -> tuple[dict[str, tuple[tuple[str, Shape], ...]], tuple[tuple[str, str], ...]]:
    stated: dict[str, list[tuple[str, Shape]]] = {}
    not_shapes: list[tuple[str, str]] = []
    for descriptor, name, shape in _shape_entries(value):
        if isinstance(name, str) and shape is not None and _is_readable(shape):
            stated.setdefault(name, []).append((descriptor, shape))
        else:
            not_shapes.append((descriptor, shown(name)))
    return {name: tuple(shapes) for name, shapes in stated.items()}, tuple(not_shapes)


def _groups(value: object) -> tuple[Mapping[str, Shape], ...] | None:
    """Parameter groups with the shapes of their parameters, as a list of objects or one object."""
    groups: list[Mapping[str, Shape]] = []
    for group in value if isinstance(value, list | tuple) else [value]:
        if not isinstance(group, dict):
            return None
        shapes = {name: shape_of(size) for name, size in group.items() if isinstance(name, str)}
        known = {
            name: shape
            for name, shape in shapes.items()
            if shape is not None and _is_countable(shape) and len(name) <= MOST_NAME and name.isprintable()
        }
        if len(known) < len(group):
            return None
        groups.append(known)
    return tuple(groups)


def _names(value: object) -> tuple[str, ...]:
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, dict) else ()


def _is_countable(shape: Shape) -> bool:
    return _is_readable(shape) and math.prod(shape) <= INT64_MAX


def _is_readable(shape: Shape) -> bool:
    return len(shape) <= MOST_AXES and max(shape, default=0) <= INT64_MAX


def _shape_entries(value: Plain) -> Iterator[tuple[str, object, Shape | None]]:
    """(descriptor, name, shape) of all stated shapes; None for a value that is no shape."""
    for descriptor in SHAPE_LISTS:
        groups = value.get(descriptor)
        for group in groups if isinstance(groups, list | tuple) else [groups]:
            if isinstance(group, dict):
                for name, size in group.items():
                    yield descriptor, name, shape_of(size)
    module = value.get(MODULE)
    if isinstance(module, dict):
        for name, tensor in module.items():
            header = tensor_header(tensor)
            # A module also holds other state than tensors.
            if header is not None:
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
