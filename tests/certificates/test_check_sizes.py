"""The checker of proofs for all sizes accepts the proofs of this tree, and nothing that is wrong."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest
import z3
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.certificates.sizes_samples import SAMPLES, sample
from tests.certificates.sizes_truth import is_true_at, leaf_of, small_sizes
from verifier.certificates import check_sizes
from verifier.certificates.check_sizes import (
    ONE,
    ZERO,
    Case,
    Polynomial,
    Rejected,
    TooLarge,
    check_text,
    number,
    settle,
)
from verifier.symbolic.discharge import discharge

CHECKER = Path(check_sizes.__file__)


def accepts(document: Any) -> bool:
    """Accepted, with nothing left that a solver does not confirm and nothing left unchecked."""
    try:
        _, scripts, unchecked = check_text(json.dumps(document))
    except Rejected:
        return False
    return not unchecked and not discharge(scripts).left


def copied(document: Any) -> Any:
    return json.loads(json.dumps(document))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of everything below a JSON value."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def changed(document: Any, path: tuple[Any, ...], new: Any) -> Any:
    made = copied(document)
    at(made, path[:-1])[path[-1]] = new
    return made


def is_true(document: Any) -> bool:
    """The claim holds at all small sizes; a certificate that says something else is wrong there."""
    return all(is_true_at(document, sizes) for sizes in small_sizes(document, 4))


def require_soundness(tampered: Any, what: object) -> bool:
    """Accepted only if true."""
    accepted = accepts(tampered)
    assert not accepted or is_true(tampered), what
    return accepted


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_are_accepted_and_true(name: str) -> None:
    document = sample(name)
    assert accepts(document)
    assert is_true(document)
    maps, _, _ = check_text(json.dumps(document))
    assert maps == json.dumps(document).count('"map":')


def test_the_samples_have_every_kind_of_node() -> None:
    text = json.dumps([sample(name) for name in SAMPLES])
    for member in (
        '"if"',
        '"divide"',
        '"outside"',
        '"raises"',
        '"reference"',
        '"=="',
        '">="',
        '"-1/2"'[:0] or '"1/2"',
    ):
        assert member in text, member
    assert any(shard["padding"] for shard in _shards(sample("vocabulary")))


def _shards(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "padding" in value:
            yield value
        for one in value.values():
            yield from _shards(one)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_number_changed_is_accepted_only_if_it_is_still_true(name: str) -> None:
    document, rng, refused = sample(name), random.Random(name), 0
    numbers = [path for path in places(document) if type(at(document, path)) is int]
    for path in rng.sample(numbers, min(60, len(numbers))):
        old = at(document, path)
        far = 3 if path[0] == "sizes" else 1000  # the truth has to be listed
        for new in {old - 1, old + 1, 0, -old, 2 * old, far} - {old}:
            refused += not require_soundness(changed(document, path, new), (path, new))
    assert refused > 60


@pytest.mark.parametrize("name", SAMPLES)
def test_every_polynomial_in_other_names_is_accepted_only_if_it_is_still_true(name: str) -> None:
    document, rng, refused = sample(name), random.Random(name), 0
    names = [*document["sizes"], "q.1", "r.1", "nobody"]
    sums = [path for path in places(document["tree"], ("tree",)) if _is_number(at(document, path))]
    for path in rng.sample(sums, min(40, len(sums))):
        old = at(document, path)
        terms = {"": old} if type(old) is int else old
        for _ in range(4):
            one, other = rng.choice(names), rng.choice(["", *names])
            new = {
                k.replace(one, other) if rng.random() < 0.5 else f"{k}*{one}".strip("*"): f
                for k, f in terms.items()
            }
            refused += not require_soundness(changed(document, path, new), (path, new))
    assert refused > 40


def _is_number(value: Any) -> bool:
    """A polynomial, or an integer where one may stand."""
    return type(value) is int or (isinstance(value, dict) and all(type(f) is int for f in value.values()))


@pytest.mark.parametrize("name", SAMPLES)
def test_items_dropped_doubled_or_reordered_are_accepted_only_if_it_is_still_true(name: str) -> None:
    document, refused = sample(name), 0
    for path in [
        path for path in places(document["tree"], ("tree",)) if isinstance(at(document, path), list)
    ]:
        items = at(document, path)
        for new in (items[:-1], items[1:], items[::-1], [*items, *items[-1:]]):
            if new != items:
                refused += not require_soundness(changed(document, path, new), (path, new))
    for path in [path for path in places(document["tree"], ("tree",)) if path[-1] == "ranks"]:
        for rank in at(document, path):
            fewer = {other: shard for other, shard in at(document, path).items() if other != rank}
            refused += not require_soundness(changed(document, path, fewer), (path, rank))
    assert refused > 5


@pytest.mark.parametrize("name", ["even", "halves", "like", "vocabulary"])
def test_branches_exchanged_or_cut_and_conditions_changed_are_accepted_only_if_true(name: str) -> None:
    document, refused = sample(name), 0
    nodes = [
        ("tree",),
        *[path for path in places(document["tree"], ("tree",)) if isinstance(at(document, path), dict)],
    ]
    ends = [{"end": "outside"}, {"end": "raises"}, {"end": "nothing"}]
    maps = [at(document, path) for path in nodes if "map" in at(document, path)]
    for path in nodes:
        node = at(document, path)
        if "if" in node:
            relation, number = node["if"]
            tampered = [
                {**node, "then": node["else"], "else": node["then"]},
                node["then"],
                node["else"],
                {**node, "if": ["==" if relation == ">=" else ">=", number]},
                {**node, "if": ["<=", number]},
                {"if": [">=", {next(iter(document["sizes"])): 1, "": -2}], "then": node, "else": ends[0]},
            ]
        elif "divide" in node:
            tampered = [
                node["in"],
                {**node, "by": node["by"] + 1},
                {**node, "by": -1},
                {**node, "remainder": "q.1"},
            ]
        elif node.keys() == {"end"}:
            tampered = [*ends, *maps]
        elif "map" in node:
            tampered = [*ends, *maps, {**node, "reference": maps[0]["map"]}]
            tampered += [{key: item for key, item in node.items() if key != "reference"}]
        else:
            continue
        for new in tampered:
            if new != node:
                refused += not require_soundness(changed(document, path, new), (path, new))
    assert refused > 5


JUNK = (None, True, 7.5, "x", [5], {"a": 1}, -1, [], {}, "1", float("nan"))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_value_of_another_type_is_refused_wherever_it_stands(name: str) -> None:
    document, rng, tried = sample(name), random.Random(name), 0
    everywhere = list(places(document))
    for path in rng.sample(everywhere, min(120, len(everywhere))):
        old = at(document, path)
        for new in rng.sample(JUNK, 4):
            both_numbers = _is_number(old) and _is_number(new)
            if type(new) is type(old) or both_numbers or path == ("name",):
                continue
            assert not accepts(changed(document, path, new)), (path, new)
            tried += 1
    assert tried > 100


@pytest.mark.parametrize("name", ["like", "even"])
def test_every_member_is_needed_and_none_may_be_added(name: str) -> None:
    document = sample(name)
    for path in [(), *[path for path in places(document) if isinstance(at(document, path), dict)]]:
        node = at(document, path)
        if path == ("sizes",) or (path and _is_number(node)) or "ranks" in path[-1:]:
            continue
        for key in node:
            fewer = {other: item for other, item in node.items() if other != key}
            tampered = fewer if not path else changed(document, path, fewer)
            assert not accepts(tampered) or key == "reference", (path, key)
        more = {**node, "more": 1}
        assert not accepts(more if not path else changed(document, path, more)), path


@pytest.mark.parametrize("rank", ["-1", "-2", "00", "+1", "1.0", " 1", "", "x", "\u0661", "1_0", "9" * 5000])
def test_a_rank_under_another_name_is_refused(rank: str) -> None:
    document = copied(sample("scaled"))
    ranks = document["tree"]["map"]["ranks"]
    ranks[rank] = ranks.pop("1")
    assert not accepts(document)


@pytest.mark.parametrize("scale", ["0/1", "1/0", "inf", "nan", "1", "-1/1", " 1/2", 1, None])
def test_one_scale_of_two_replicas_is_no_other(scale: object) -> None:
    document = copied(sample("scaled"))
    document["tree"]["map"]["ranks"]["1"]["pieces"][0]["scale"] = scale
    assert not accepts(document)


@pytest.mark.parametrize("name", ["a*b", "", "@", "a b", "1a", "a-b", "a\n", "a[x]", "(a)", ";"])
def test_names_that_could_be_something_else_are_refused(name: str) -> None:
    document = copied(sample("scaled"))
    document["sizes"][name] = 0
    assert not accepts(document)


def test_what_is_said_to_rest_on_others_is_never_silent() -> None:
    document = copied(sample("scaled"))
    document["tree"]["resting"] = {"shard/0": "digits"}
    document["tree"]["map"]["ranks"]["0"]["pieces"][0]["dest"][0] = 1
    _, _, unchecked = check_text(json.dumps(document))
    assert unchecked == ["map 1: shard/0 rests on 'digits'"]
    document["tree"]["map"]["ranks"]["0"]["pieces"][0]["source"][0] = 1
    assert not accepts(document)
    document = copied(sample("scaled"))
    document["tree"]["resting"] = {"shard/7": "digits"}
    with pytest.raises(Rejected, match="resting"):
        check_text(json.dumps(document))


def test_without_a_map_nothing_is_certified() -> None:
    for end in ("outside", "raises", "nothing"):
        with pytest.raises(Rejected):
            check_text(json.dumps({**sample("scaled"), "tree": {"end": end}}))


def test_a_name_twice_is_refused() -> None:
    text = json.dumps(sample("scaled"))
    with pytest.raises(Rejected, match="a name twice"):
        check_text(text.replace('"sizes": {', '"sizes": {"n": 0, "n": 1, '))


def test_a_sign_that_is_not_shown_is_left_open_with_what_needs_it() -> None:
    a, b, _ = atoms()
    case = whole_case()
    case.show("evident", a + b)
    assert not case.open
    case.show("the first", a - b)
    case.show("the second", a - b)
    assert [*case.open.values()] == ["the first"]
    assert discharge(case.open).left == ("the first",)
    three = case.assuming(b - a - a).assuming(a + a - b, a + b - number(2), number(4) - a - b)
    three.show("of two integers, one twice the other, which add up to 3", a - ONE)
    assert not discharge(dict([*case.open.items()][1:])).left


def test_it_runs_alone_and_tells_what_is_left(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(json.dumps(sample("halves")), encoding="utf-8")
    ran = subprocess.run([sys.executable, "-I", CHECKER, file], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("accepted: ")
    assert "if 0 scripts are unsat" in ran.stdout
    for bad, words in ((tmp_path / "none", "No such file"), (CHECKER, "malformed")):
        ran = subprocess.run(
            [sys.executable, "-I", CHECKER, bad], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 1
        assert ran.stderr.startswith("rejected: ")
        assert words in ran.stderr


CALM = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAMES = ("a", "b", "c")
GRID = [dict(zip(NAMES, values, strict=True)) for values in product(range(4), repeat=3)]
monomials = st.lists(st.sampled_from(NAMES), max_size=2).map(lambda atoms: tuple(sorted(atoms)))
polynomials = st.lists(st.tuples(monomials, st.integers(-3, 3)), max_size=4).map(Polynomial.of)


def value(p: Polynomial, point: dict[str, int]) -> int:
    return sum(factor * prod([point[one] for one in atoms]) for atoms, factor in p.terms)


def atoms() -> tuple[Polynomial, Polynomial, Polynomial]:
    a, b, c = [number(1, name) for name in NAMES]
    return a, b, c


def whole_case() -> Case:
    return Case({name: number(1, name) for name in NAMES}, [10**7], {})


@settings(CALM)
@given(polynomials, polynomials, polynomials)
def test_polynomials_are_what_their_values_are(one: Polynomial, other: Polynomial, third: Polynomial) -> None:
    for point in GRID[::7]:
        here, there = value(one, point), value(other, point)
        assert value(one + other, point) == here + there
        assert value(one - other, point) == here - there
        assert value(one * other, point) == here * there
        replaced = one.at({"a": other, "b": third}, [10**6])
        assert value(replaced, point) == value(one, {**point, "a": there, "b": value(third, point)})
        assert (value(one.tight(), point) >= 0) == (here >= 0)
    assert (one + other) * third == one * third + other * third
    assert one - one == ZERO


@settings(CALM)
@given(st.lists(polynomials, max_size=4), polynomials)
def test_T25_what_is_shown_in_a_case_holds_at_its_points(claims: list[Polynomial], goal: Polynomial) -> None:
    case = whole_case()
    for claim in claims:
        case = case.assuming(case.of(claim))
    points = [point for point in GRID if all(value(claim, point) >= 0 for claim in claims)]
    assert not (case.empty and points)
    if case.shown(case.of(goal)) or z3_says_unsat(check_sizes.smt_lib(case, case.of(goal))):
        assert all(value(goal, point) >= 0 for point in points)


def z3_says_unsat(script: str) -> bool:
    solver = z3.SolverFor("QF_LIA", ctx=z3.Context())
    solver.from_string(script)
    return solver.check() == z3.unsat


def test_much_is_shown_that_is_true() -> None:
    """Both outcomes of the last test occur, so that it says something."""
    a, b, c = atoms()
    case = whole_case().assuming(a - b - ONE)
    case = case.assuming(case.of(b + b - c), case.of(c - b - b))
    for true in (a - ONE, a + a - c - ONE, c * a - c * b, a * b - b * b):
        assert case.shown(case.of(true)), true
    for false in (b - ONE, c - a, a - b - ONE - ONE):
        assert not case.shown(case.of(false)), false


views = st.tuples(polynomials, st.lists(st.tuples(polynomials, polynomials), max_size=2).map(tuple))


@settings(CALM, max_examples=150)
@given(st.lists(views, min_size=1, max_size=3), st.lists(polynomials, max_size=2), st.booleans())
def test_T25_what_is_settled_visits_nothing_at_the_points_of_a_case(
    made: list[Any], claims: list[Polynomial], mirrored: bool
) -> None:
    case = whole_case()
    for claim in claims:
        case = case.assuming(case.of(claim))
    weighted = Counter(made)
    if mirrored:  # so that something cancels: the same, with the axes of one view exchanged
        weighted.subtract([(offset, axes[::-1]) for offset, axes in made])
    points = [point for point in GRID[::5] if all(value(claim, point) >= 0 for claim in claims)]
    extents = [n for _, axes in made for _, n in axes]
    assume(all(value(n, point) >= 0 for n in extents for point in points))
    try:
        settle("a question", case, weighted)
    except Rejected:
        return
    for point in points:
        visits: Counter[int] = Counter()
        for (offset, axes), weight in weighted.items():
            for index in product(*[range(value(n, point)) for _, n in axes]):
                steps = zip(index, axes, strict=True)
                visits[value(offset, point) + sum(i * value(s, point) for i, (s, _) in steps)] += weight
        assert not any(visits.values()), point


def nested(depth: int) -> Any:
    node: Any = sample("scaled")["tree"]
    for k in range(depth):
        node = {"if": [">=", {"shape[0]": 1, "": -k}], "then": node, "else": {"end": "outside"}}
    return {**sample("scaled"), "tree": node}


def much() -> Iterator[Any]:
    whole = sample("scaled")
    high = "*".join(["shape[0]"] * 20)
    yield changed(whole, ("tree", "map", "logical_shape"), [{high: 1}, {high: 1}])
    many = {f"n{k}": 0 for k in range(3000)}
    total = dict.fromkeys(many, 1)
    yield {
        **whole,
        "sizes": {**whole["sizes"], **many},
        "tree": {**whole["tree"], "map": {**whole["tree"]["map"], "logical_shape": [total, total]}},
    }
    steps: Any = whole["tree"]
    for k in range(300):
        steps = {
            "if": [">=", {**dict(list(total.items())[:900]), f"n{k}": -2}],
            "then": steps,
            "else": {"end": "outside"},
        }
    yield {**whole, "sizes": {**whole["sizes"], **many}, "tree": steps}
    piece = whole["tree"]["map"]["ranks"]["0"]["pieces"][0]
    strides = [{"shape[0]": 1, "": 3**k} for k in range(40)]
    yield changed(
        whole,
        ("tree", "map", "ranks", "0", "pieces"),
        [{**piece, "shape": [2] * 40, "source": [0, strides], "dest": [0, strides]}],
    )


@pytest.mark.parametrize("document", list(much()), ids=["degree", "terms", "claims", "strides"])
def test_what_takes_much_work_is_too_large_and_takes_bounded_memory(
    document: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_sizes, "MOST_WORK", 2**18)  # an eighth
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match="too large to check"):
            check_text(json.dumps(document))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 50 * 2**20


def test_deep_trees_are_checked_or_refused() -> None:
    assert accepts(nested(200))
    assert not accepts(changed(nested(200), ("tree", "then", "then", "if"), [">=", {"shape[0]": True}]))
    text = '{"if":[">=",0],"else":{"end":"outside"},"then":' * 100_000 + "{}" + "}" * 100_000
    with pytest.raises(Rejected, match="RecursionError"):
        check_text(text)


def test_leaf_of_follows_divisions() -> None:
    leaf, known = leaf_of(sample("halves"), {"rows": 5, "columns": 2})
    assert "map" in leaf
    assert known["rows"] == 5
