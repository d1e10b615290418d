"""Questions that cannot be asked."""

from __future__ import annotations

import pytest

from verifier.geometry.strided import StridedView
from verifier.obligations.questions import PairView, UnitBoundaries


@pytest.mark.parametrize("unit", [0, -4])
def test_a_storage_unit_has_at_least_one_element(unit: int) -> None:
    with pytest.raises(ValueError, match="unit"):
        UnitBoundaries(8, unit, ())


def test_a_block_of_pairs_has_one_shape() -> None:
    with pytest.raises(ValueError, match="shape"):
        PairView(StridedView(0, (2,), (1,)), StridedView(0, (3,), (1,)))
