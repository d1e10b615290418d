"""Which verdicts a replay can contradict."""

from dataclasses import replace

import pytest

from tests.oracle.right_maps import piece, shard_map
from verifier.oracle.agreement import VISIBLE, contradiction
from verifier.oracle.outcome import Drift, Replay, skipped
from verifier.oracle.replay import replay

EXACT = Replay(outcome="exact", device="cpu", torch_version="2", dtype="float32", total=8)
FLAWS = [
    (replace(EXACT, outcome="raises", error="rank 0, piece 1: no"), "refuses it: rank 0, piece 1: no"),
    (replace(EXACT, outcome="differs", changed=3, first=(1, 1, 4)), "loses 3 of 8 elements"),
    (replace(EXACT, outcome="unwritten", unwritten=2, first=(1, 1, None)), "loses 2 of 8 elements"),
    (replace(EXACT, outcome="unwritten", holes=5), "leaves 5 shard cells unwritten"),
    (replace(EXACT, outcome="replicas-differ", drift=Drift(6, 0, 1)), "unequal replicas of element 6"),
    (replace(EXACT, rewritten=1), "writes 1 shard cells more than once"),
    (replace(EXACT, repeated=2), "finds 2 elements more than once"),
]


@pytest.mark.parametrize(("flawed", "said"), FLAWS)
def test_every_flaw_contradicts_a_proof(flawed: Replay, said: str) -> None:
    assert said in (contradiction(flawed, proved=True) or "")


def test_an_exact_or_skipped_replay_contradicts_no_proof() -> None:
    assert contradiction(EXACT, proved=True) is None
    idle = skipped("too large", device="cpu", total=8)
    assert contradiction(idle, proved=True) is None
    assert contradiction(idle, proved=False, codes=tuple(VISIBLE)) is None


@pytest.mark.parametrize("code", sorted(VISIBLE))
def test_a_visible_code_must_show(code: str) -> None:
    assert f"refuted for {code}" in (contradiction(EXACT, proved=False, codes=[code]) or "")
    refused = replace(EXACT, outcome="raises", error="no")
    assert contradiction(refused, proved=False, codes=[code]) is None


@pytest.mark.parametrize("code", ["SM106", "SM107", "SM108", "SM109", "SM303", "SM401", "SM501", "SM506"])
def test_other_codes_need_not_show(code: str) -> None:
    assert contradiction(EXACT, proved=False, codes=[code]) is None


def whole(locations, *, numel: int = 4, dest: int = 0):
    return piece((4,), (0, (1,)), (dest, (1,)), locations)


WRONG = {
    "SM101": shard_map((4,), {0: ((4,), [whole([0], dest=1)])}),
    "SM102": shard_map((3,), {0: ((4,), [whole([0])])}),
    "SM105": shard_map((4,), {0: ((4,), [piece((4,), (3, (-1,)), (0, (1,)), [0])])}),
    "SM201": shard_map((4,), {0: ((4,), [whole([0]), piece((1,), (0, (1,)), (0, (1,)), [0])])}),
    "SM202": shard_map((4,), {0: ((3,), [piece((2, 2), (0, (1, 1)), (0, (1, 1)), [0])])}),
    "SM203": shard_map((4,), {0: ((5,), [whole([0])])}),
    "SM301": shard_map((5,), {0: ((4,), [whole([0])])}),
    "SM302": shard_map((4,), {0: ((8,), [whole([0]), whole([0], dest=4)])}),
}


def test_every_visible_code_has_an_example() -> None:
    assert WRONG.keys() == VISIBLE.keys()


@pytest.mark.parametrize("code", sorted(WRONG))
def test_each_visible_fault_shows_when_torch_runs_it(code: str) -> None:
    """Among them maps whose values all come back: SM201, SM203 and SM302."""
    found = replay(WRONG[code])
    assert VISIBLE[code](found)
    assert contradiction(found, proved=False, codes=[code]) is None
    assert contradiction(found, proved=True) is not None
    if code in ("SM201", "SM203", "SM302"):
        assert (found.changed, found.unwritten) == (0, 0)
