"""The files of the installed DeepSpeed that build, check and use maps, without the package around them.

They need only torch. Importing ``deepspeed`` itself would look for accelerators and compilers, and write to
the log.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version as installed_version
from pathlib import Path
from types import ModuleType

PACKAGE = "released_deepspeed_checkpoint"
"""What the folder is imported as, so that nobody mistakes it for the package."""
INSTALL = "pip install 'deepspeed>=0.19.8'"


class NotInstalledError(ImportError):
    """DeepSpeed, or the torch that it needs, is not installed."""


def release(name: str) -> ModuleType:
    """``deepspeed/checkpoint/<name>.py``: ``affine``, ``affine_transfer`` or ``autoep_affine``.

    Raises:
        NotInstalledError: DeepSpeed or torch is missing, or that release has no such file.
    """
    if PACKAGE not in sys.modules:
        package = ModuleType(PACKAGE)
        package.__path__ = [str(_checkpoint_folder())]
        sys.modules[PACKAGE] = package
    try:
        if name == "autoep_affine":
            with _siblings("affine", "constants"):
                return importlib.import_module(f"{PACKAGE}.{name}")
        return importlib.import_module(f"{PACKAGE}.{name}")
    except ImportError as missing:
        raise NotInstalledError(f"deepspeed/checkpoint/{name}.py cannot be loaded: {INSTALL}") from missing


def release_version() -> str:
    """The version of the installed DeepSpeed.

    Raises:
        NotInstalledError: it is not installed.
    """
    _checkpoint_folder()
    return installed_version("deepspeed")


def _checkpoint_folder() -> Path:
    found = importlib.util.find_spec("deepspeed")
    if found is None or not found.submodule_search_locations:
        raise NotInstalledError(f"the layouts ds-* and the target deepspeed need DeepSpeed: {INSTALL}")
    return Path(found.submodule_search_locations[0]) / "checkpoint"


@contextmanager
def _siblings(*names: str) -> Iterator[None]:
    """Imports of ``deepspeed.checkpoint.<name>`` give our copies, unless the package itself is loaded."""
    lent = [
        f"deepspeed.checkpoint.{name}" for name in names if f"deepspeed.checkpoint.{name}" not in sys.modules
    ]
    for name in lent:
        sys.modules[name] = importlib.import_module(f"{PACKAGE}.{name.rpartition('.')[2]}")
    try:
        yield
    finally:
        for name in lent:
            del sys.modules[name]
