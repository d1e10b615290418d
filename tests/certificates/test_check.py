import ast
import json
import random
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from math import prod
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.certificates import maps
from tests.certificates.enumeration import is_right, pieces, units_are_whole
from verifier.certificates import check as checker
from verifier.certificates.check import Rejected, check, check_text
from verifier.certificates.encode import Certificate
from verifier.certificates.forms import Cancellation, Pairs, SolverClaim
from verifier.model.expectation import Expectation

SOURCE = Path(checker.__file__)


def accepts(document):
    try:
        check(document)
    except Rejected:
        return False
    return True


def line(shape=(4,), source=(0, (1,)), dest=(0, (1,)), locations=(0,), scale=Fraction(1)):
    return maps.piece(shape, source, dest, locations, scale)


def change_one_number(rng, document):
    """Move one integer of the map or the expectation; returns a new document."""
    document = json.loads(json.dumps(document))
    places = []

    def find(value):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if type(item) is int:
                places.append((value, key))
            elif isinstance(item, dict | list):
                find(item)

    find({"map": document["map"], "expectation": document["expectation"]})
    value, key = rng.choice(places)
    value[key] += rng.choice([-2, -1, 1, 1, 2, -value[key]])
    return document


def with_evidence(document, kind):
    """The document with one form of evidence for every shard and the parameter."""
    document = json.loads(json.dumps(document))
    names = [f"shard/{rank}" for rank in document["map"]["ranks"]]
    names += ["parameter"] * (not document["expectation"].get("lookup"))
    if kind == "pairs":
        document["evidence"] |= {name: {"form": kind, "work": 1000} for name in names}
    return document


@pytest.mark.parametrize("constructor", maps.RIGHT, ids=lambda f: f.__name__)
def test_right_maps_are_accepted(constructor):
    certificate = Certificate(*constructor())
    assert is_right(certificate.to_json())
    assert check(certificate.to_json()) == ()
    assert check_text(certificate.to_text()) == ()


@pytest.mark.parametrize("constructor", maps.RIGHT, ids=lambda f: f.__name__)
def test_right_maps_are_accepted_by_pairs(constructor):
    assert check(with_evidence(Certificate(*constructor()).to_json(), "pairs")) == ()


@pytest.mark.parametrize("kind", ["cancellation", "pairs"])
def test_T10_random_maps_are_accepted_iff_enumeration_finds_nothing_wrong(kind):
    rng = random.Random(f"maps {kind}")
    seen = Counter()
    for _ in range(1000):
        here = maps.random_map(rng)
        document = Certificate(here, maps.random_expectation(rng, here)).to_json()
        for _ in range(rng.choice([0, 1, 1, 2])):
            document = change_one_number(rng, document)
        right = is_right(document)
        accepted = accepts(with_evidence(document, kind))
        if kind == "cancellation" and document["expectation"].get("cover") is False:
            assert right or not accepted  # a packing may be right without filling its hulls
        else:
            assert accepted == right, document
        seen[accepted] += 1
    assert min(seen[True], seen[False]) > 250


def test_T3_random_shards_of_any_strides():
    """One shard, one rank, two or three views of arbitrary strides that may well tile it."""
    rng = random.Random("shards")
    seen = Counter()
    for _ in range(800):
        parts = []
        for _ in range(rng.randint(1, 3)):
            shape = [rng.randint(1, 3) for _ in range(rng.randint(1, 2))]
            strides = [rng.randint(0, 4) for _ in shape]
            parts.append((shape, rng.randint(0, 3), strides))
        size = sum(prod(shape) for shape, _, _ in parts)
        made = [maps.piece(shape, (low, steps), (low, steps), [0]) for shape, low, steps in parts]
        document = Certificate(maps.shard_map((size,), {0: ((size,), made)}), Expectation()).to_json()
        right = is_right(document)
        for kind in ("cancellation", "pairs"):
            assert accepts(with_evidence(document, kind)) == right, (kind, document)
        seen[right] += 1
    assert seen[True] > 20
    assert seen[False] > 300


def test_T9_write_units_against_enumeration():
    rng = random.Random("units")
    seen = Counter()
    for _ in range(700):
        numel, unit = rng.randint(1, 14), rng.randint(1, 5)
        writer = [rng.randrange(2) for _ in range(-(-numel // unit))]
        owner = [writer[e // unit] for e in range(numel)]
        if rng.random() < 0.5:
            owner[rng.randrange(numel)] = rng.randrange(2)
        ranks = {}
        for rank in (0, 1):
            elements = [e for e in range(numel) if owner[e] == rank]
            made, filled = [], 0
            while elements:
                step = rng.choice([1, 1, 2, 3, unit])
                run = [elements[0]]
                while run[-1] + step in elements:
                    run.append(run[-1] + step)
                elements = [e for e in elements if e not in run]
                made.append(maps.piece((len(run),), (run[0], (step,)), (filled, (1,)), [rank]))
                filled += len(run)
            ranks[rank] = ((filled,), made)
        document = Certificate(maps.shard_map((numel,), ranks), Expectation(write_unit=unit)).to_json()
        right = is_right(document)
        assert right == units_are_whole(document["map"], unit)
        assert accepts(document) == right, document
        seen[right] += 1
    assert min(seen[True], seen[False]) > 90


def test_T5_reference_cut_differently_against_enumeration():
    rng = random.Random("references")
    seen = Counter()
    for _ in range(300):
        here = maps.random_map(rng)
        cells = {
            rank: ((shard.numel,), [
                maps.piece((1,), (s, (1,)), (d, (1,)), p["locations"])
                for p in pieces(Certificate(here, Expectation()).to_json()["map"])
                if p["rank"] == rank
                for s, d in zip(p["source"], p["dest"], strict=True)
            ])
            for rank, shard in here.ranks.items()
        }  # fmt: skip
        document = Certificate(
            here, Expectation(reference=maps.shard_map(here.logical_shape, cells))
        ).to_json()
        if rng.random() < 0.6:
            document = change_one_number(rng, document)
        right = is_right(document)
        assert accepts(document) == right, document
        seen[right] += 1
    assert min(seen[True], seen[False]) > 80


@pytest.mark.parametrize("form", [Pairs(10**9), Cancellation()], ids=lambda form: form.form)
@pytest.mark.parametrize("strides", [(1, 0), (1, 1), (1, 2)])
def test_T8_volumes_do_not_make_up_for_a_view_that_meets_itself(strides, form):
    """Three addresses of a row, visited twice or shifted: six visits of a shard of six, with holes."""
    made = [maps.piece((3, 2), (0, (2, 1)), (0, strides), [0])]
    here = maps.shard_map((6,), {0: ((6,), made)})
    with pytest.raises(Rejected, match="shard/0: "):
        check(Certificate(here, Expectation(), {"shard/0": form}).to_json())


def test_solver_claims_are_named():
    here, expectation = maps.gqa_replicas()
    claim = SolverClaim("isl", "0.27")
    names = ["holders/0,1/1/1", "parameter", "shard/0"]
    rests_on = check(Certificate(here, expectation, dict.fromkeys(names, claim)).to_json())
    assert sorted(rests_on) == [f"{name} rests on 'isl' '0.27'" for name in names]


def claim_all(here, expectation):
    names = ["shard/0", "parameter"]
    return Certificate(here, expectation, dict.fromkeys(names, SolverClaim("z3", "4"))).to_json()


def test_solver_claims_cannot_hide_volumes():
    short = maps.shard_map((4,), {0: ((4,), [line((3,))])})
    with pytest.raises(Rejected, match="shard/0: 3 visits of 4 addresses"):
        check(claim_all(short, Expectation()))
    double = maps.shard_map((4,), {0: ((8,), [line(), line(dest=(4, (1,)))])})
    with pytest.raises(Rejected, match="parameter: 8 visits of 4 addresses"):
        check(claim_all(double, Expectation(cover=False)))


@pytest.mark.parametrize(
    "name", ["pieces", "shard/7", "parameter/0", "holders/0/1/0", "reference/0", "unit/0"]
)
def test_evidence_for_no_obligation_is_rejected(name):
    certificate = Certificate(*maps.column_split(), {name: Pairs(1)})
    with pytest.raises(Rejected, match="unknown"):
        check(certificate.to_json())


@pytest.mark.parametrize(
    ("made", "expectation", "message"),
    [
        (line(dest=(1, (1,))), Expectation(), r"reaches 1\.\.4"),
        (line(source=(3, (-1,))), Expectation(), r"by \[-1\]"),
        (line(locations=[0, 9]), Expectation(), r"locations \(0, 9\)"),
        (line(locations=[]), Expectation(), r"locations \(\)"),
        (line(scale=float("inf")), Expectation(), "scale 'inf'"),
        (line(scale=Fraction(0)), Expectation(), "scale '0/1'"),
        (line(), Expectation(scale=Fraction(2)), "has scale 1"),
        (line(), Expectation(index_bits=2), "reaches address 3"),
        (line((4, 1), (0, (1, 2**63)), (0, (1, 0))), Expectation(), r"by \[1, 9223372036854775808\]"),
        (line((3,)), Expectation(), "shard/0: 3 visits of 4"),
        (line((2, 2), (0, (2, 1)), (0, (1, 1))), Expectation(), r"shard/0: .* address 1 are off by \+1"),
        (line((2, 2), (0, (1, 1)), (0, (2, 1))), Expectation(), r"parameter: .* address 1 are off by \+1"),
        (line(scale=Fraction(1, 2)), Expectation(partial=True), r"scales of \(0,\)"),
    ],
)
def test_rejections_name_the_obligation_and_the_number(made, expectation, message):
    here = maps.shard_map((4,), {0: ((4,), [made])})
    with pytest.raises(Rejected, match=message):
        check(Certificate(here, expectation).to_json())


@pytest.mark.parametrize("demand", [{"write_unit": 1}, {"partial": True}])
def test_a_lookup_table_is_not_asked_about_its_holders(demand):
    document = Certificate(maps.shard_map((4,), {0: ((4,), [line()])}), Expectation(lookup=True)).to_json()
    document["expectation"] |= demand
    with pytest.raises(Rejected, match="lookup table"):
        check(document)


def test_T16_two_scales_of_one_rank_do_not_add_up():
    made = [line((2,), (k, (1,)), (k, (1,)), scale=Fraction(1 + k, 4)) for k in (0, 2)]
    here = maps.shard_map((4,), {0: ((4,), made)})
    with pytest.raises(Rejected, match=r"scales of \(0,\)"):
        check(Certificate(here, Expectation(partial=True)).to_json())


def test_T5_a_reference_with_the_scales_of_two_pieces_exchanged():
    def scaled(*scales):
        made = [line((2,), (2 * k, (1,)), (2 * k, (1,)), scale=Fraction(s)) for k, s in enumerate(scales)]
        return maps.shard_map((4,), {0: ((4,), made)})

    assert check(Certificate(scaled(2, 1), Expectation(reference=scaled(2, 1))).to_json()) == ()
    with pytest.raises(Rejected, match="reference/0: "):
        check(Certificate(scaled(2, 1), Expectation(reference=scaled(1, 2))).to_json())


def test_large_maps_need_no_listing():
    """A 1 TB parameter in 64 column pieces, and a flat buffer of unrelated widths."""
    width = 2**20
    ranks = {
        r: ((2**20, width // 64), [
            maps.piece((2**20, width // 64), (width // 64 * r, (width, 1)), (0, (width // 64, 1)), [r])
        ])
        for r in range(64)
    }  # fmt: skip
    here = maps.shard_map((2**20, width), ranks)
    assert check(Certificate(here, Expectation(write_unit=128)).to_json()) == ()
    assert check(Certificate(here, Expectation(reference=here)).to_json()) == ()
    made, start = [], 0
    for k in range(200):
        columns = 4096 + 37 * k
        for half in range(2):
            low, strides = start + half * columns, (2 * columns, 1)
            made.append(maps.piece((3, columns), (low, strides), (low, strides), [0]))
        start += 6 * columns
    assert check(Certificate(maps.shard_map((start,), {0: ((start,), made)}), Expectation()).to_json()) == ()


def test_too_much_work_is_rejected():
    odd = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83]
    made = [maps.piece([2] * 22, (0, odd), (0, odd), [0])]
    here = maps.shard_map((2**22,), {0: ((2**22,), made)})
    with pytest.raises(Rejected, match="too large to check"):
        check(Certificate(here, Expectation()).to_json())
    with pytest.raises(Rejected, match=r"too large to check|twice"):
        check(Certificate(here, Expectation(), {"shard/0": Pairs(0)}).to_json())


TEXT = Certificate(*maps.padded()).to_text()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        "NaN",
        TEXT.replace('"name":"w"', '"name":"w","name":"w"'),
        TEXT.replace("[3,3]", "[3,3.0]", 1),
        TEXT.replace("[3,3]", "[3,true]", 1),
        TEXT.replace("[3,3]", "[3,NaN]", 1),
        TEXT.replace("[3,3]", "[3,3e0]", 1),
        TEXT.replace("[3,3]", "[3," + "1" * 5000 + "]", 1),
        TEXT.replace("[3,3]", "[3," + "1" * 500 + "]", 1),
        TEXT.replace("[3,3]", '[3,"3"]', 1),
        TEXT.replace('"1":', '"01":'),
        TEXT.replace('"holes"', '"hole"'),
        TEXT.replace('"evidence":{}', '"evidence":[]'),
        TEXT.replace("certificate/1", "certificate/2"),
        TEXT.replace('"evidence":{},', ""),
    ],
    ids=range(16),
)
def test_malformed_texts_are_rejected(text):
    assert text != TEXT
    with pytest.raises(Rejected):
        check_text(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(JSON)
def test_garbage_is_rejected(document):
    with pytest.raises(Rejected):
        check(document)
    with pytest.raises(Rejected):
        check_text(json.dumps(document))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_garbage_inside_a_certificate_raises_nothing_else(data):
    forms = {"shard/0": Pairs(0), "parameter": Pairs(3), "unit/1": SolverClaim("isl", "1")}
    here, expectation = maps.write_units()
    document = Certificate(here, expectation, forms).to_json()
    value, key = {"root": document}, "root"
    while isinstance(value[key], dict | list) and value[key] and data.draw(st.integers(0, 5)):
        value = value[key]
        key = data.draw(st.sampled_from(sorted(value) if isinstance(value, dict) else range(len(value))))
    value[key] = data.draw(JSON)
    try:
        check(document)
    except Rejected:
        return
    assert is_right(document)


def test_it_runs_alone(tmp_path):
    """As a script in an isolated interpreter without site packages, from another folder."""

    def run(*arguments):
        command = [sys.executable, "-I", "-S", str(SOURCE), *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)

    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    here, expectation = maps.padded()
    good.write_text(Certificate(here, expectation, {"shard/0": SolverClaim("isl", "0.27")}).to_text())
    bad.write_text(Certificate(here, Expectation()).to_text())
    assert (run(good).returncode, run(good).stdout) == (
        0,
        "accepted\nshard/0 rests on 'isl' '0.27'\n",
    )
    assert (run(bad).returncode, run(bad).stderr) == (1, "rejected: shard/1: 3 visits of 6 addresses\n")
    assert run(tmp_path / "none.json").returncode != 0
    assert run().returncode != 0


def test_it_imports_only_the_standard_library():
    imported = set()
    for node in ast.walk(ast.parse(SOURCE.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module.split(".")[0])
    assert imported <= sys.stdlib_module_names


def many_dimensions(dimensions: int, extent: int) -> dict[str, object]:
    shape = [extent] * dimensions
    piece = {"shape": [0], "source": [0, [1]], "dest": [0, [1]], "locations": [0]}
    ranks = {"0": {"shard_shape": shape, "pieces": [piece] * 2000}}
    return {
        "schema": "shardproof.certificate/1",
        "name": "w",
        "map": {"logical_shape": shape, "ranks": ranks},
        "expectation": {},
        "evidence": {},
    }


@pytest.mark.parametrize(("dimensions", "extent"), [(2000, 1), (20_000, 2**127)])
def test_sizes_are_multiplied_for_64_dimensions_at_most(dimensions: int, extent: int) -> None:
    with pytest.raises(Rejected, match="pieces: too large"):
        check(many_dimensions(dimensions, extent))
