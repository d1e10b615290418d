"""Every obligation of a map under an expectation, in the order in which people want to hear of them.

Theory: T10 says why these suffice.
"""

from __future__ import annotations

from collections.abc import Iterator

from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.obligations.expectations import reference_obligations, unit_obligations
from verifier.obligations.obligation import Obligation
from verifier.obligations.parameter_side import parameter_obligations
from verifier.obligations.shard_side import shard_obligations


def obligations(shard_map: ShardMap, expectation: Expectation) -> Iterator[Obligation]:
    """The obligations that are questions to an engine; the direct rules are in ``piece_rules``."""
    yield from basic_obligations(shard_map, expectation)
    yield from unit_obligations(shard_map, expectation)


def basic_obligations(shard_map: ShardMap, expectation: Expectation) -> Iterator[Obligation]:
    """All but the storage units, whose theorem (T9) is about elements that are held in bounds and once."""
    yield from shard_obligations(shard_map, expectation)
    if not expectation.lookup:
        yield from parameter_obligations(shard_map, expectation)
    yield from reference_obligations(shard_map, expectation)
