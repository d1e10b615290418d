"""What is declared is what is there: keys, shapes, dtypes, devices, before and after the first step. R57."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import torch

from verifier.contracts.document import Contract, Dtype, StateField, Variant
from verifier.contracts.induced.field_shapes import field_shape
from verifier.oracle.probes.differences import entry_of
from verifier.oracle.probes.live import Live, Shape, gradients, live_of, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, Probing, nothing, observe
from verifier.oracle.probes.probed import Probed
from verifier.oracle.probes.snapshots import common

NAME, KEYS, FORM = "declared", "OC606", "OC607"
SHAPES: tuple[Shape, ...] = ((6, 4), (7,), (), (2, 3, 4), (64, 80))
STEPS = 8
"""Some fields are made in the second step, or later."""

_PYTHON: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "text": (str,),
    "list": (list, tuple),
}
HOST: Mapping[str, tuple[type, ...]] = {
    word: _PYTHON[word.removeprefix("host_")] for word in get_args(Dtype) if word.startswith("host_")
}
"""Every dtype of contracts that is a value of Python's, with its types."""


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Compare the state of one parameter with the contract, for several shapes and every precision."""
    contract = about.contract
    if contract is None:
        return nothing(NAME, "no contract is known, so nothing is declared")
    dims = contract.ranks if contract.ranks is not None else probed.dims
    tried = [
        (shape, name)
        for shape in SHAPES
        if dims is None or len(shape) in dims
        for name in contract.precisions or ("float32",)
    ]
    cases = {
        code: [
            Case(f"{name} {list(shape)}", lambda s=shape, n=name, f=find: f(probed, about, contract, s, n))  # type: ignore[misc]
            for shape, name in tried
        ]
        for code, find in ((KEYS, _undeclared), (FORM, _unlike))
    }
    keys, form = (observe(NAME, code, found) for code, found in cases.items())
    return Probing(
        probe=NAME,
        held=keys.held + form.held,
        faults=keys.faults + form.faults,
        open=tuple(dict.fromkeys(keys.open + form.open)),
    )


def _undeclared(
    probed: Probed, about: Circumstances, contract: Contract, shape: Shape, dtype: str
) -> list[str]:
    """Keys that no variant has, or that every variant lacks."""
    found = _fresh(probed, about, shape, dtype)
    claims = list(_unknown(found, contract, shape, "before the first step", initialized=False))
    found.step_with(gradients(found.parameters, 1))
    # A field may be made in a later step, where the contract has a variant of no state at all.
    unknown = list(_unknown(found, contract, shape, "after the first step", initialized=True))
    if unknown and not _keys(found) and _declares_nothing(contract, shape):
        unknown = []
    _step_on(found)
    claims += unknown or _unknown(found, contract, shape, f"after {STEPS} steps", initialized=True)
    return claims + list(_common(found, contract))


def _fresh(probed: Probed, about: Circumstances, shape: Shape, dtype: str) -> Live:
    parameters = parameters_of((shape,), about.seed, dtype=getattr(torch, dtype), device=about.device)
    return live_of(probed, parameters)


def _step_on(found: Live) -> None:
    for seed in range(2, STEPS + 1):
        found.step_with(gradients(found.parameters, seed))


def _keys(found: Live) -> set[Any]:
    return set(entry_of(found, found.parameters[0]))


def _unknown(found: Live, contract: Contract, shape: Shape, when: str, *, initialized: bool) -> Iterator[str]:
    keys = _keys(found)
    # State that is there from the beginning, as Adagrad's, is initialised state.
    variants = _variants(contract, shape, initialized or bool(keys))
    if not any(_fits(keys, variant, contract) for variant in variants):
        has = ", ".join(sorted(map(str, keys))) or "no state"
        known = " or ".join("{" + ", ".join(v.fields) + "}" for v in variants) or "nothing"
        yield f"{when} there is {has}; declared is {known}"


def _declares_nothing(contract: Contract, shape: Shape) -> bool:
    """Whether a parameter without any state is declared."""
    return any(not variant.fields for variant in _variants(contract, shape, False))


def _common(found: Live, contract: Contract) -> Iterator[str]:
    """What the state holds beside that of parameters, by its own key or by those within it."""
    declared = [field for field in contract.fields if field.scope == "common"]
    for key, value in common(found.optimizer.state).items():
        within = list(value) if isinstance(value, Mapping) else []
        for one in (key, *within):
            if any(_matches(field, one) for field in declared):
                break
        else:
            yield f"the state has {key} of no parameter; no common field of that name is declared"


def _variants(contract: Contract, shape: Shape, initialized: bool) -> list[Variant]:
    """Those for a whole parameter of this shape."""
    numel = math.prod(shape)
    return [
        variant
        for variant in contract.variants
        if "replicated" in variant.layouts
        and variant.initialized == initialized
        and not variant.migration_only
        and (variant.ranks is None or len(shape) in variant.ranks)
        and len(shape) not in variant.exclude_ranks
        and _holds(variant, numel)
    ]


def _holds(variant: Variant, numel: int) -> bool:
    predicate = variant.predicate
    if predicate is None:
        return True
    low, high = predicate.min_numel, predicate.below_numel
    return (low is None or numel >= low) and (high is None or numel < high)


def _fits(keys: set[Any], variant: Variant, contract: Contract) -> bool:
    """Whether keys are the fields of a variant; optional ones may be absent."""
    fields = {field.name: field for field in contract.fields}
    for name in variant.fields:
        field = fields[name]
        if field.optional or name in variant.inactive:
            continue
        if not any(_matches(field, key) for key in keys):
            return False
    return all(any(_matches(fields[name], key) for name in variant.fields) for key in keys)


def _matches(field: StateField, key: object) -> bool:
    if field.key_match == "prefix":
        return isinstance(key, str) and key.startswith(field.name)
    return key == field.name


def _unlike(probed: Probed, about: Circumstances, contract: Contract, shape: Shape, dtype: str) -> list[str]:
    """Fields of another shape, dtype or device than they are declared with."""
    found = _fresh(probed, about, shape, dtype)
    found.step_with(gradients(found.parameters, 1))
    (parameter,) = found.parameters
    first = list(_misshapen(contract, entry_of(found, parameter), parameter))
    _step_on(found)
    return first or list(_misshapen(contract, entry_of(found, parameter), parameter))


def _misshapen(contract: Contract, entry: Mapping[Any, Any], parameter: torch.Tensor) -> Iterator[str]:
    for key, value in entry.items():
        field = next((field for field in contract.fields if _matches(field, key)), None)
        if field is None or field.geometry.kind == "opaque":
            continue
        if field.dtype in HOST:
            if type(value) not in HOST[field.dtype]:
                yield f"{key} is a {type(value).__name__}, declared is {field.dtype}"
        elif not isinstance(value, torch.Tensor):
            yield f"{key} is a {type(value).__name__}, declared is a tensor of {field.dtype}"
        else:
            yield from _tensor(field, value, parameter)


def _tensor(field: StateField, value: torch.Tensor, parameter: torch.Tensor) -> Iterator[str]:
    dtype = str(parameter.dtype if field.dtype == "param" else field.dtype).removeprefix("torch.")
    is_dtype = str(value.dtype).removeprefix("torch.")
    if is_dtype != dtype:
        yield f"{field.name} is {is_dtype}, declared is {dtype}"
    try:
        shape = field_shape(field.geometry, tuple(parameter.shape))
    except ValueError:  # only a run knows it
        return
    fits = tuple(value.shape) == shape
    if field.geometry.kind == "parameter":  # it may be kept in another form
        fits = value.numel() == parameter.numel()
    if not fits:
        yield f"{field.name} is {list(value.shape)}, {field.geometry.kind} state is {list(shape)}"
    if value.dim() and value.device != parameter.device:
        yield f"{field.name} is on {value.device}, the parameter on {parameter.device}"
