"""Universal checkpoints of DeepSpeed: a folder ``zero/<parameter>`` with one file for each full tensor.

Nothing is cut any more, so only shapes are left to check: that of the parameter, where an affine map states
it, and that of its moments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from verifier.formats.deepspeed.zero_shards import ZERO
from verifier.formats.pickles.torch_zip import TensorHeader, read_torch_zip, tensor_header
from verifier.formats.reading.disagreements import disagreement
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.gathered import missing_file
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.torch_files.moments import MOMENTS, unfit
from verifier.model.origin import Origin
from verifier.obligations.faults import Fault

FOLDER = "zero"
WEIGHT = "fp32"
SUFFIX = ".pt"
TENSOR = "param"
STEP = "step"
ALWAYS = ("exp_avg", "exp_avg_sq", STEP)
"""What converters write for every parameter, if for any; only experts may have less."""

EXPERT = "is_expert_param"
GLOBAL = "optimizer_state.pt"
"""What is not about one parameter: DeepSpeed loads nothing without it."""


@dataclass(slots=True)
class _Parameter:
    """What is in the folder of one parameter: headers of tensors by kind, and the kinds of all files."""

    tensors: dict[str, TensorHeader] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    is_expert: bool = False


@dataclass(slots=True)
class UniversalPart:
    """What the folder of full tensors adds to the document of a checkpoint."""

    refusals: list[Refusal] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    checks: dict[str, int] = field(default_factory=dict)
    unchecked: list[str] = field(default_factory=list)


def universal_part(
    folder: Path, prefix: str, shapes: Mapping[str, tuple[int, ...]], limits: Limits
) -> UniversalPart:
    """The full tensors of a checkpoint; nothing when it has none.

    Args:
        folder: of the checkpoint.
        prefix: the folder as people typed it.
        shapes: the full shape of each parameter that has an affine map.
        limits: for the files, and how many there may be.
    """
    made = UniversalPart()
    inside = folder / FOLDER
    if not inside.is_dir() or inside.is_symlink():
        return made
    names = sorted(entry.name for entry in inside.iterdir() if entry.is_dir() and not entry.is_symlink())
    if len(names) > limits.files:
        made.unchecked.append(f"{len(names) - limits.files} parameters of {FOLDER}: over the limit of files")
        names = names[: limits.files]
    read = {
        name: _parameter(inside / name, f"{prefix}/{FOLDER}/{name}", limits, made.refusals) for name in names
    }
    found = {name: one.tensors for name, one in read.items()}
    if not any(WEIGHT in tensors for tensors in found.values()) and not made.refusals:
        return made
    made.faults.extend((*_absent(found, shapes, made), *_incomplete(read), *_other_shapes(found, shapes)))
    made.faults.extend(_moments(found))
    if any(MOMENTS & one.files for one in read.values()) and not (inside / GLOBAL).is_file():
        made.faults.append(_missing([GLOBAL], len(read)))
    if not made.faults and not made.refusals:
        made.checks["full tensors"] = sum(map(len, found.values()))
    return made


def _parameter(folder: Path, place: str, limits: Limits, refusals: list[Refusal]) -> _Parameter:
    made = _Parameter()
    for kind in sorted(MOMENTS | {WEIGHT, STEP}):
        path = folder / f"{kind}{SUFFIX}"
        if not path.is_file():
            continue
        made.files.add(kind)
        name = f"{folder.name}/{path.name}"
        origin = Origin(f"{place}/{path.name}")
        try:
            value = read_torch_zip(path, origin, limits, ZERO)
        except FormatError as error:
            refusals.append(Refusal.of(name, error))
            continue
        except OSError as error:
            message = f"cannot be opened: {error.strerror}"
            help_text = "check the path and its permissions"
            refusals.append(Refusal(name=name, origin=origin, code="SM001", message=message, help=help_text))
            continue
        made.is_expert |= isinstance(value, dict) and EXPERT in value
        header = tensor_header(value.get(TENSOR) if isinstance(value, dict) else value)
        if header is not None and kind != STEP:
            made.tensors[kind] = header
    return made


def _absent(
    found: Mapping[str, Mapping[str, TensorHeader]],
    shapes: Mapping[str, tuple[int, ...]],
    made: UniversalPart,
) -> Iterator[Fault]:
    """CK101 for parameters without their tensor. Refused files are there."""
    refused = {refusal.name for refusal in made.refusals}
    absent = [
        name
        for name in dict.fromkeys((*found, *shapes))
        if WEIGHT not in found.get(name, {}) and f"{name}/{WEIGHT}{SUFFIX}" not in refused
    ]
    if absent:
        yield _missing([f"{name}/{WEIGHT}{SUFFIX}" for name in absent], len({*found, *shapes}))


def _incomplete(read: Mapping[str, _Parameter]) -> Iterator[Fault]:
    """CK101 for parameters that have only some of the files of the others."""
    fullest = max((one.files for one in read.values()), key=len)
    missing = [
        f"{name}/{kind}{SUFFIX}"
        for name, one in read.items()
        if WEIGHT in one.files < fullest and not one.is_expert
        for kind in ALWAYS
        if kind in fullest - one.files
    ]
    if missing:
        yield _missing(missing, len(read))


def _missing(files: Sequence[str], parameters: int) -> Fault:
    first = f"{FOLDER}/{files[0]}"
    return missing_file(first, len(files), descriptor="the number of parameters", stated=parameters)


def _other_shapes(
    found: Mapping[str, Mapping[str, TensorHeader]], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[Fault]:
    for name, tensors in found.items():
        weight = tensors.get(WEIGHT)
        if weight is not None and name in shapes and weight.shape != shapes[name]:
            path = f"{FOLDER}/{name}/{WEIGHT}{SUFFIX}"
            yield disagreement(path, stated=weight.shape, found=shapes[name])


def _moments(found: Mapping[str, Mapping[str, TensorHeader]]) -> Iterator[Fault]:
    wrong = [
        (name, kind, header, tensors[WEIGHT])
        for name, tensors in found.items()
        if WEIGHT in tensors
        for kind, header in tensors.items()
        if header.shape != tensors[WEIGHT].shape
    ]
    if wrong:
        name, kind, header, weight = wrong[0]
        yield unfit(
            f"{shown(kind)} of {shown(name)}",
            f"has shape {header.shape}",
            stated=f"the parameter has {weight.shape}",
            file=f"{FOLDER}/{name}/{kind}{SUFFIX}",
            count=len(wrong),
        )
