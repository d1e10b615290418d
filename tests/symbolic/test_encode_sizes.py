"""Every proof is a certificate that the independent checker accepts, and says what the constructor does."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

from tests.certificates.sizes_truth import concrete, is_true_at, leaf_of, small_sizes
from tests.symbolic.deepspeed_domains import CONSTRUCTORS
from tests.symbolic.judging import judge, proved
from tests.symbolic.planted import BUGS, HARMLESS
from tests.symbolic.test_constructor import constructors
from tests.symbolic.test_layouts import DOMAINS
from verifier import Piece, RankShard, ShardMap, StridedView, layouts
from verifier.certificates.check_sizes import check_text
from verifier.certificates.encode import map_to_json
from verifier.symbolic.constructor import prove_constructor
from verifier.symbolic.discharge import discharge
from verifier.symbolic.domain import Sizes, size
from verifier.symbolic.encode_sizes import certificate_json, certificate_text
from verifier.symbolic.results import ProvedForAll


def certificates(found: ProvedForAll) -> list[Any]:
    """The certificates of a proof, all accepted and confirmed."""
    for choice in found.certificate.choices:
        maps, scripts, unchecked = check_text(certificate_text("w", choice))
        assert maps == sum(not isinstance(way.end, str) for way in choice.ways)
        assert not unchecked
        assert not discharge(scripts).left
    return [json.loads(certificate_text("w", choice)) for choice in found.certificate.choices]


@pytest.mark.parametrize("name", DOMAINS)
def test_the_proofs_of_all_reference_layouts_are_accepted(name: str) -> None:
    found = proved(*DOMAINS[name])
    rng, made = random.Random(name), certificates(found)
    assert len(made) == len(list(DOMAINS[name][1].choices()))
    for document in made:
        for _ in range(5):
            assert is_true_at(
                document, {one: least + rng.randrange(4) for one, least in document["sizes"].items()}
            )


@pytest.mark.parametrize("name", DOMAINS)
def test_all_but_strided_shards_are_shown_without_a_solver(name: str) -> None:
    for choice in proved(*DOMAINS[name]).certificate.choices:
        _, scripts, _ = check_text(certificate_text("w", choice))
        assert bool(scripts) == (name == "dtensor")


@pytest.mark.parametrize("name", CONSTRUCTORS)
@pytest.mark.parametrize(("axes", "dim"), [(1, 0), (3, 2)])
def test_the_proofs_of_the_releases_constructors_are_accepted_without_a_solver(
    name: str, axes: int, dim: int
) -> None:
    for degree in (1, 2, 3, 4):
        constructor, over, _ = CONSTRUCTORS[name](axes, dim, degree)
        for choice in proved(constructor, over).certificate.choices:
            assert not check_text(certificate_text("w", choice))[1]


@pytest.mark.parametrize("constructor", BUGS, ids=lambda one: one.__name__)
def test_planted_bugs_that_are_proved_sound_have_true_certificates(
    constructor: Callable[..., ShardMap],
) -> None:
    """Some bugs make another function of a sound map; a proof of those is a proof like any other."""
    names = constructor.__code__.co_varnames[: constructor.__code__.co_argcount - 2]
    seen = 0
    for bug in (None, *BUGS[constructor], *HARMLESS.get(constructor, ())):
        over = Sizes(**{name: size() for name in names}, bug=bug)
        found = prove_constructor(constructor, over, judge=judge)
        if isinstance(found, ProvedForAll):
            (document,) = certificates(found)
            rng = random.Random(bug)
            for _ in range(20):
                assert is_true_at(document, {name: rng.randrange(6) for name in names})
            seen += 1
    assert seen


def test_a_reference_is_in_the_certificate_and_another_one_is_refused() -> None:
    over = Sizes(shape=(size(), size()), ranks=2)

    def again(shape: tuple[int, int], ranks: int) -> ShardMap:
        return layouts.split(shape, ranks, 0, "chunk")

    found = prove_constructor(again, over, judge=judge, reference=again)
    assert isinstance(found, ProvedForAll)
    (document,) = certificates(found)
    assert json.dumps(document).count('"reference"') == len(found.paths)


@pytest.mark.parametrize("name", ["split, chunk", "vocabulary", "qkv", "flat, each"])
def test_at_every_size_the_tree_says_what_the_constructor_makes(name: str) -> None:
    """The certificate is about the code: followed at some sizes, it ends in the map made of them."""
    constructor, over = DOMAINS[name]
    rng, seen = random.Random(name), 0
    for choice in proved(constructor, over).certificate.choices:
        document = certificate_json("w", choice)
        for _ in range(6):
            sizes = {one: least + rng.randrange(9) for one, least in document["sizes"].items()}
            arguments = over.filled(choice.choice, lambda one, _, sizes=sizes: sizes[one])
            leaf, known = leaf_of(document, sizes)
            assert (leaf.get("end") == "outside") == (not over.admits(arguments))
            if "map" not in leaf:
                continue
            made: Any = constructor(**arguments)
            ours = map_to_json(getattr(made, "shard_map", made))
            theirs = concrete(leaf["map"], known)
            for shard in [*ours["ranks"].values(), *theirs["ranks"].values()]:
                shard["pieces"] = [one for one in shard["pieces"] if 0 not in one["shape"]]
                for one in shard["pieces"]:
                    one.setdefault("scale", "1/1")
            assert ours == theirs
            seen += 1
    assert seen > 5


@settings(max_examples=40, deadline=None)
@given(constructors())
def test_the_proofs_of_random_constructors_are_accepted_and_true(
    constructor: Callable[[int, int], ShardMap],
) -> None:
    found = prove_constructor(constructor, Sizes(n=size(), k=size()), judge=judge)
    for document in certificates(found) if isinstance(found, ProvedForAll) else ():
        assert all(is_true_at(document, sizes) for sizes in small_sizes(document, 4))


def test_equations_that_take_a_change_of_variables_are_solved_by_the_checker_too() -> None:
    def thirds(rows: int, columns: int) -> ShardMap:
        return layouts.contiguous((rows,), [columns, rows - columns], 0)

    def same(rows: int, columns: int) -> ShardMap:
        return layouts.contiguous((rows,), [columns, 2 * rows - 2 * columns - columns // 2], 0)

    over = Sizes(rows=size(), columns=size(), where=lambda rows, columns: 2 * rows == 3 * columns)
    found = prove_constructor(thirds, over, judge=judge, reference=same)
    assert isinstance(found, ProvedForAll), found
    (document,) = certificates(found)
    assert '"by": 1' in json.dumps(document)
    assert all(is_true_at(document, sizes) for sizes in small_sizes(document, 7))


def test_what_only_digits_prove_is_named_as_resting_on_our_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where cancellation leaves a tiling open, the checker is not asked to believe that it cancels."""

    def whole(rows: int) -> ShardMap:
        piece = Piece(StridedView(0, (rows,), (1,)), StridedView(0, (rows,), (1,)), (0,))
        return ShardMap(name="w", logical_shape=(rows,), ranks={0: RankShard((rows,), (piece,))})

    monkeypatch.setattr("verifier.symbolic.cancellation.MOST_STRIDES", 0)
    (choice,) = proved(whole, Sizes(rows=size())).certificate.choices
    maps, _, unchecked = check_text(certificate_text("w", choice))
    assert maps == 1
    assert sorted(unchecked) == [
        f"map 1: {name} rests on 'digits (T22)'" for name in ("parameter", "shard/0")
    ]
