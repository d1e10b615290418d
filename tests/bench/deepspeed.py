"""DeepSpeed's own checks of affine maps, from the installed package's file; deepspeed is not imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import version
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.bench.measure import NotExpressible, Run
from verifier.certificates.encode import map_to_json
from verifier.model.shard_map import ShardMap

_PACKAGE = "deepspeed_affine_files"


@cache
def _module(name: str) -> ModuleType:
    """A module of deepspeed/checkpoint, in a package of its own so that its relative imports work.

    Importing deepspeed itself would build its extensions and start its accelerator.
    """
    installed = find_spec("deepspeed")
    if installed is None or not installed.submodule_search_locations:
        raise NotExpressible("deepspeed is not installed")
    folder = Path(installed.submodule_search_locations[0]) / "checkpoint"
    if _PACKAGE not in sys.modules:
        package = module_from_spec(ModuleSpec(_PACKAGE, None, is_package=True))
        package.__path__ = [str(folder)]
        sys.modules[_PACKAGE] = package
    full_name = f"{_PACKAGE}.{name}"
    spec = spec_from_file_location(full_name, folder / f"{name}.py")
    if spec is None or spec.loader is None:
        raise NotExpressible(f"deepspeed has no checkpoint/{name}.py")
    module = module_from_spec(spec)
    sys.modules[full_name] = module
    spec.loader.exec_module(module)
    return module


def preload() -> dict[str, str]:
    """Load both files before anything is timed; the version."""
    _module("affine")
    _module("affine_transfer")
    return {"deepspeed": version("deepspeed")}


def _affine(shard_map: ShardMap) -> Any:
    return _module("affine").ParamAffineMap.from_dict(map_to_json(shard_map))


def _all(maps: Sequence[ShardMap], method: Callable[[Any], object]) -> Run:
    affine = [_affine(shard_map) for shard_map in maps]

    def run() -> bool:
        try:
            for one in affine:
                method(one)
        except (ValueError, AssertionError):
            return False
        return True

    return run


def validate(maps: Sequence[ShardMap]) -> Run:
    """``ParamAffineMap.validate``: counts, and bounds and overlap of dense destinations."""
    return _all(maps, lambda one: one.validate())


def validate_coverage(maps: Sequence[ShardMap]) -> Run:
    """``ParamAffineMap.validate_coverage``: walks every element."""
    return _all(maps, lambda one: one.validate_coverage())


def plan_transfer(maps: Sequence[ShardMap]) -> Run:
    """``plan_transfer`` from the map to itself: proves both, and plans the copies.

    Raises:
        NotExpressible: a map is outside what the planner takes on.
    """
    transfer = _module("affine_transfer")
    affine = [_affine(shard_map) for shard_map in maps]

    def run() -> bool:
        try:
            for one in affine:
                transfer.plan_transfer(one, one)
        except transfer.InvalidMapError:
            return False
        except transfer.AffineTransferError as error:
            raise NotExpressible(f"refused: {error}") from error
        return True

    return run
