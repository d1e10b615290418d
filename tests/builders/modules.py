"""Modules that stand in for others for a while."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType

import pytest


@contextmanager
def stand_in(modules: Mapping[str, ModuleType | None]) -> Iterator[None]:
    """Replace these modules, and nothing else: a patch of the whole dictionary would also forget what is
    imported meanwhile, so that a later import makes every class of it a second time.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, module in modules.items():
            patch.setitem(sys.modules, name, module)
        yield
