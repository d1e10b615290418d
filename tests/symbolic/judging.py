"""What the tests share: the concrete prover, short ways to say domains, the releases' constructors."""

from __future__ import annotations

import random
from collections.abc import Mapping

from fuzz.walk import walk
from verifier.audit.answering import Answering
from verifier.audit.judge import judge as judge_map
from verifier.budget import Budget
from verifier.engines.registry import engine_named
from verifier.model.expectation import Expectation
from verifier.model.shard_map import ShardMap
from verifier.symbolic.constructor import prove_constructor
from verifier.symbolic.domain import AnySize, Sizes, size
from verifier.symbolic.facts import Facts
from verifier.symbolic.paths import ProvedPath
from verifier.symbolic.results import ProvedForAll, Result
from verifier.symbolic.solver import LinearSolver
from verifier.verdicts import Verdict

ANSWERING = Answering(engine_named("auto"), Budget())


def judge(shard_map: ShardMap, expectation: Expectation) -> Verdict:
    """The concrete prover."""
    return judge_map(shard_map, expectation, ANSWERING).verdict


def proved(constructor, over: Sizes, **options) -> ProvedForAll:
    """The proof of a constructor; anything else fails the test."""
    result = prove_constructor(constructor, over, judge=judge, **options)
    assert isinstance(result, ProvedForAll), result
    return result


def outcome(constructor, over: Sizes, **options) -> Result:
    return prove_constructor(constructor, over, judge=judge, **options)


def shape(axes: int) -> tuple[AnySize, ...]:
    return tuple([size() for _ in range(axes)])


def start(*names: str, least: int = 0) -> Facts:
    """Sizes of which nothing but their least value is known."""
    facts = Facts({}, LinearSolver(), point={})
    for place, name in enumerate(names):
        facts = facts.with_atom(name, least, least + (2, 3, 5, 7, 11)[place % 5])
    return facts


def random_points(
    path: ProvedPath, number: int, rng: random.Random, most: int = 6
) -> list[Mapping[str, int]]:
    """Points of a way, drawn from the atoms that are left; fewer where they are hard to hit."""
    found: list[Mapping[str, int]] = []
    facts = path.facts
    for _ in range(20 * number):
        values = {
            name: rng.randint(
                facts.least.get(name, -most), min(facts.most.get(name, most), most) + rng.randrange(2)
            )
            for name in facts.atoms_left()
        }
        point = facts.completed(values)
        if point is not None:
            found.append(point)
        if len(found) == number:
            break
    return found


def walks(path: ProvedPath, number: int, rng: random.Random) -> int:
    """Walk the map of a proved way at random points; how many were small enough to be walked."""
    walked = 0
    for point in random_points(path, number, rng):
        shard_map = path.made.at(point)
        reference = None if path.reference is None else path.reference.at(point)
        sizes = [shard_map.numel, *[shard.numel for shard in shard_map.ranks.values()]]
        if sum(sizes) > 20_000:
            continue
        found = walk(shard_map, Expectation(holes=path.made.holes(point), reference=reference))
        assert found.ok, (dict(point), found.families)
        walked += 1
    return walked
