"""An accepted certificate with one thing changed is accepted iff what it then says is still true."""

import json
import tracemalloc
from dataclasses import replace
from fractions import Fraction

import pytest

from tests.certificates import maps
from tests.certificates.enumeration import is_right
from tests.certificates.test_check import accepts, with_evidence
from verifier.certificates.check import TooLarge, check
from verifier.certificates.encode import Certificate
from verifier.certificates.forms import Pairs, SolverClaim
from verifier.model.expectation import Expectation


def copied(document):
    return json.loads(json.dumps(document))


def numbers(value, path=()):
    """Paths of all integers below a JSON value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if type(item) is int:
            yield (*path, key)
        elif isinstance(item, dict | list):
            yield from numbers(item, (*path, key))


def arrays(value, path=()):
    """Paths of all non-empty arrays below a JSON value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, list) and item:
            yield (*path, key)
        if isinstance(item, dict | list):
            yield from arrays(item, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


@pytest.mark.parametrize("constructor", maps.RIGHT, ids=lambda f: f.__name__)
def test_every_number_of_map_and_expectation(constructor):
    document = Certificate(*constructor()).to_json()
    if constructor is maps.uncovered:  # cancellation alone proves packings only where the hulls are full
        document = with_evidence(document, "pairs")
    refused = 0
    for part in ("map", "expectation"):
        for path in numbers(document[part], (part,)):
            old = at(document, path)
            far = {10**6, 2**62, 2**64} if {"source", "dest"} & set(path) else set()
            for new in ({old - 1, old + 1, 0, -old} | far) - {old}:
                changed = copied(document)
                at(changed, path[:-1])[path[-1]] = new
                right = is_right(changed)
                assert accepts(changed) == right, (path, new)
                refused += not right
    assert refused > 10 or constructor is maps.empty_parameter


def test_sizes_past_int64():
    document = Certificate(*maps.uncovered()).to_json()
    for size, fits in ((2**63 - 1, True), (2**63, False), (2**200, False)):
        document["map"]["logical_shape"] = [size]
        assert accepts(document) == fits


@pytest.mark.parametrize("constructor", maps.RIGHT, ids=lambda f: f.__name__)
def test_dropped_doubled_and_reordered_items(constructor):
    document = Certificate(*constructor()).to_json()
    for part in ("map", "expectation"):
        for path in arrays(document[part], (part,)):
            items = at(document, path)
            for new in ([*items, items[-1]], items[:-1], items[::-1], items[1:]):
                changed = copied(document)
                at(changed, path[:-1])[path[-1]] = new
                if path[-1] in ("source", "dest"):
                    assert accepts(changed) == (new == items)
                elif path[-1] not in ("holes", "gaps"):
                    assert accepts(changed) == is_right(changed), (path, new)


@pytest.mark.parametrize("constructor", maps.RIGHT, ids=lambda f: f.__name__)
def test_every_member_is_needed_or_optional_and_none_may_be_added(constructor):
    document = Certificate(*constructor()).to_json()
    for key in document:
        assert not accepts({name: item for name, item in document.items() if name != key})
    for path in ((), ("map",), ("expectation",), ("map", "ranks")):
        changed = copied(document)
        at(changed, path)["more"] = 1
        assert not accepts(changed)
    for key in document["expectation"]:
        changed = copied(document)
        del changed["expectation"][key]
        assert accepts(changed) == is_right(changed)


@pytest.mark.parametrize("new", [True, 1.0, "1", None, [], {}, 1e400, float("nan")], ids=repr)
def test_no_number_may_be_anything_but_an_integer(new):
    document = Certificate(*maps.padded()).to_json()
    for path in numbers(document):
        changed = copied(document)
        at(changed, path[:-1])[path[-1]] = new
        assert not accepts(changed), path


def test_a_rank_under_another_name():
    document = Certificate(*maps.replicated()).to_json()
    for new in ("3", "00", "-1", "+1", "1.0", " 1", "", "x", "\u0661", "1" * 30):
        changed = copied(document)
        changed["map"]["ranks"][new] = changed["map"]["ranks"].pop("1")
        assert not accepts(changed), new


@pytest.mark.parametrize(
    "scale", ["2/1", "-1/1", "0/1", "1/0", "1/2", "inf", "nan", "1", "1e0/1", " 1/1", 1, None]
)
def test_one_scale_of_two_replicas(scale):
    document = Certificate(*maps.gqa_replicas()).to_json()
    document["map"]["ranks"]["1"]["pieces"][0]["scale"] = scale
    assert not accepts(document)
    document["map"]["ranks"]["1"]["pieces"][0]["scale"] = "1/1"
    assert accepts(document)


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"form": "trust me"},
        {"form": ["listing"]},
        {"form": "pairs"},
        {"form": "pairs", "work": True},
        {"form": "pairs", "work": -1},
        {"form": "pairs", "work": float("nan")},
        {"form": "solver-claim"},
        {"form": "listing", "addresses": 24},
        {"form": "digit-boxes", "radices": [1, 8], "tree": [[0, 4], None, None]},
        "listing",
        None,
    ],
    ids=repr,
)
def test_forms_that_prove_nothing(form):
    document = Certificate(*maps.column_split()).to_json()
    assert accepts(document)
    document["evidence"]["parameter"] = form
    assert not accepts(document)


def test_pairs_do_not_prove_equality():
    document = Certificate(*maps.gqa_replicas()).to_json()
    document["evidence"]["holders/0,1/1/1"] = {"form": "pairs", "work": 1}
    assert not accepts(document)


@pytest.mark.parametrize("kind", ["cancellation", "pairs"])
def test_two_equal_pieces_are_told_apart(kind):
    """The second of two equal pieces is another view, not the same one again."""
    made = [maps.piece((2,), (0, (1,)), (0, (1,)), [0])] * 2
    here = maps.shard_map((4,), {0: ((4,), made)})
    document = with_evidence(Certificate(here, maps.Expectation()).to_json(), kind)
    assert not accepts(document)


def test_a_solver_claim_moves_no_other_obligation():
    document = Certificate(*maps.gqa_replicas(), {"shard/0": SolverClaim("isl", "1")}).to_json()
    assert accepts(document)
    document["map"]["ranks"]["1"]["pieces"][0]["source"][0] += 1
    assert not accepts(document)


JUNK = (None, True, 7.5, "x", [5], {"a": 1}, -1, [], {})


def places(value, path=()):
    """Paths of everything below a JSON value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def everywhere_spoken_of():
    """Certificates that between them have every member, also in parts that carry nothing."""
    empty = maps.piece((0, 2), (9, (1, 1)), (7, (5, 1)), [0], scale=Fraction(3))
    kept = [maps.piece((4,), (0, (1,)), (0, (1,)), [0]), empty]
    here = maps.shard_map((6,), {0: ((5,), kept), 1: ((0,), [])})
    expectation = Expectation(holes={0: (4,), 9: (1,)}, gaps=(4, 5), scale=Fraction(1), write_unit=2)
    yield Certificate(here, expectation, {"shard/0": Pairs(3), "parameter": SolverClaim("isl", "1")})
    table = maps.shard_map((6,), {0: ((4,), kept)})
    yield Certificate(table, Expectation(lookup=True, gaps=(1,), reference=table, index_bits=8))
    halves = [maps.piece((2,), (0, (1,)), (0, (1,)), [0, 1], scale=Fraction(1, 2))]
    summed = maps.shard_map((2,), {0: ((2,), halves), 1: ((2,), halves)})
    yield Certificate(summed, Expectation(partial=True, sum_ulps=7))


@pytest.mark.parametrize("certificate", list(everywhere_spoken_of()), ids=["padded", "table", "partial"])
def test_a_value_of_another_type_is_refused_wherever_it_stands(certificate):
    document = certificate.to_json()
    assert accepts(document)
    tried = 0
    for path in places(document):
        for new in (value for value in JUNK if type(value) is not type(at(document, path))):
            changed = copied(document)
            at(changed, path[:-1])[path[-1]] = new
            assert not accepts(changed), (path, new)
            tried += 1
    assert tried > 150


def odd_strides():
    """One view of 22 unrelated strides."""
    strides = [3**k for k in range(1, 23)]
    view = maps.piece([2] * 22, (0, strides), (0, strides), [0])
    return maps.shard_map((2**36,), {0: ((2**36,), [view])}), Expectation()


def edges_inside_a_large_unit():
    """Every other element of two units of a prime number of elements."""
    numel = 2 * 1000003
    halves = {r: ((numel // 2,), [maps.piece([numel // 2], (r, [2]), (0, [1]), [r])]) for r in range(2)}
    return maps.shard_map((numel,), halves), Expectation(write_unit=1000003)


def padding_inside_many_hulls():
    """As many cells to be looked for as there are views that might have them, times views."""
    views = [maps.piece([20], (k, [3000]), (k, [3000]), [0]) for k in range(3000)]
    here = maps.shard_map((60000,), {0: ((60000,), views)})
    return here, Expectation(holes={0: tuple(range(3000, 33000))})


def test_many_strides_are_too_large():
    with pytest.raises(TooLarge, match="too large to check"):
        check(Certificate(*odd_strides()).to_json())


@pytest.mark.parametrize("large", [edges_inside_a_large_unit, padding_inside_many_hulls])
def test_what_takes_much_work_is_too_large_and_takes_bounded_memory(large):
    document = Certificate(*large()).to_json()
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match="too large to check"):
            check(document)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 100 * 2**20


def test_the_allowance_is_for_the_whole_certificate(monkeypatch):
    """Many obligations, each within it, are too large together; without a limit they are right."""
    packed = [maps.piece((2, 2), (5 * k, (1, 3)), (5 * k, (1, 3)), [0]) for k in range(2)]
    fill = [maps.piece((), (2 + 5 * k, ()), (2 + 5 * k, ()), [0]) for k in range(2)]
    made = dict.fromkeys(range(8), ((10,), packed + fill))
    here = maps.shard_map(
        (10,),
        {
            rank: ((10,), [replace(p, locations=tuple(range(8))) for p in pieces])
            for rank, (_, pieces) in made.items()
        },
    )
    pairs = {f"shard/{rank}": Pairs(0) for rank in range(8)}
    document = Certificate(here, Expectation(), pairs).to_json()
    assert accepts(document)
    alone = Certificate(
        maps.shard_map((10,), {0: ((10,), packed + fill)}), Expectation(), {"shard/0": Pairs(0)}
    )
    monkeypatch.setattr("verifier.certificates.check.MOST_WORK", 12)
    assert accepts(alone.to_json())
    assert not accepts(document)
