"""A slice of the small exhaustive, and that a family is really all of what it says."""

import itertools
from itertools import chain, islice

import pytest

from fuzz.universe import exhaustive
from fuzz.universe.exhaustive import ask_all, judge_all, judge_maps, keys
from fuzz.universe.maps import FAMILIES, Family, inside, one_rank, two_ranks
from fuzz.universe.questions import LISTINGS, Listing
from fuzz.walk import addresses
from verifier.model.piece import ONE


@pytest.mark.parametrize(
    "family", [one_rank(1, 1), two_ranks(2, 1, 1, (ONE,), inner=False)], ids=lambda f: f.name
)
def test_small_families_completely(family: Family) -> None:
    maps = wrong = right = 0
    for first in keys(family):
        found = judge_all(first, family=family)
        assert found.disagreements == []
        maps += found.counts["maps"]
        right += found.counts["right"]
        wrong += found.counts["wrong"]
    assert maps == right + wrong
    assert maps == family.size or family.mirror
    assert right >= 1
    assert wrong >= 100


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_slice_of_every_family(family: Family) -> None:
    """A few maps of every tenth task."""
    some = (islice(family.maps(key), 0, 400, 40) for key in keys(family)[::10])
    found = judge_maps(chain.from_iterable(some))
    assert found.disagreements == []
    assert found.counts["maps"] >= 1


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: listing.name)
def test_a_slice_of_every_listing(listing: Listing) -> None:
    """The last task, which is a small one."""
    found = ask_all(listing.parts - 1, listing=listing)
    assert found.disagreements == []
    assert found.counts["questions"] >= 1


@pytest.mark.parametrize(
    "family", [found for found in FAMILIES if found.mirror], ids=lambda family: family.name
)
def test_mirrors_are_mirrors(family: Family) -> None:
    assert [family.mirror[k] for k in family.mirror] == list(range(len(family.entries)))


def test_one_of_two_mirrored_maps_is_listed() -> None:
    family = two_ranks(2, 1, 1, (ONE,), inner=False)
    listed = {
        tuple(sorted(family.entries.index((rank, piece)) for rank, _, piece in shard_map.pieces()))
        for first in keys(family)
        for shard_map in family.maps(first)
    }
    chosen = [
        multiset
        for count in range(family.most + 1)
        for multiset in itertools.combinations_with_replacement(range(len(family.entries)), count)
    ]
    assert len(chosen) == family.size
    for multiset in chosen:
        other = tuple(sorted(family.mirror[k] for k in multiset))
        assert (multiset in listed) + (other in listed) == (2 if multiset == other else 1)


def test_views_inside_are_all_of_them() -> None:
    found = inside(4)
    assert len(set(found)) == len(found)
    assert all(0 <= address < 4 for view in found for address in addresses(view))
    everything = [
        (offset, shape, strides)
        for axes in (1, 2)
        for shape in itertools.product(range(1, 5), repeat=axes)
        for strides in itertools.product(range(1, 4), repeat=axes)
        for offset in range(4)
        if (min(shape) > 1 or (shape == (1,) and strides == (1,)))
        and offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) < 4
    ]
    assert sorted((v.offset, v.shape, v.strides) for v in found) == sorted(everything)


def test_the_report_states_its_bounds() -> None:
    found = [
        (LISTINGS[-1], ask_all(0, listing=LISTINGS[-1])),
        (FAMILIES[0], judge_all(-1, family=FAMILIES[0])),
    ]
    text = exhaustive.report(found, "command")
    assert FAMILIES[0].bounds in text
    assert LISTINGS[-1].bounds in text
