"""No probe accuses an optimizer that is right, in whatever style it is written; and what a state may hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest
import torch

from tests.oracle.probes.right_ones import RIGHT
from verifier.contracts.document import Dtype
from verifier.oracle.probes.catalogue import PROBES
from verifier.oracle.probes.declared import HOST
from verifier.oracle.probes.observed import Circumstances
from verifier.oracle.probes.probed import probed_of


@pytest.mark.parametrize("cls", RIGHT, ids=lambda cls: cls.__name__)
def test_it_is_accused_of_nothing(cls: Callable[..., Any]) -> None:
    about = Circumstances(contract=RIGHT[cls])
    for name, probe in PROBES.items():
        found = probe(probed_of(cls, cls.__name__), about)
        assert found.faults == (), name
        assert found.open == (), name
        assert found.held or found.notes, name


def test_every_dtype_of_contracts_is_one_of_torch_or_of_python() -> None:
    for word in set(get_args(Dtype)) - {"param"}:
        assert word in HOST or isinstance(getattr(torch, word), torch.dtype)
