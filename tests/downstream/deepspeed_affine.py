"""The constructors of the installed DeepSpeed release, without importing the package itself.

``affine.py`` needs only torch; importing ``deepspeed`` would build and probe far more than a test should.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from verifier import ShardMap, map_from_affine


@cache
def affine() -> ModuleType:
    """``deepspeed.checkpoint.affine``, loaded from its file."""
    return _loaded("affine")


@cache
def autoep() -> ModuleType:
    """``deepspeed.checkpoint.autoep_affine``; its two sibling imports are loaded the same way."""
    for name in ("affine", "constants"):
        sys.modules.setdefault(f"deepspeed.checkpoint.{name}", _loaded(name))
    return _loaded("autoep_affine")


def _loaded(name: str) -> ModuleType:
    package = importlib.util.find_spec("deepspeed")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("deepspeed is not installed; it is part of the extra 'dev'")
    path = Path(package.submodule_search_locations[0]) / "checkpoint" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"released_{name}", path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shard_map(theirs: object, name: str = "parameter") -> ShardMap:
    """A ``ParamAffineMap`` as our map, through the form it writes to disk."""
    return map_from_affine(theirs.to_dict(), name=name)  # type: ignore[attr-defined]
