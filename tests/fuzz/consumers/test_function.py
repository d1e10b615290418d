"""Functions of the user: a careless one and a careful one of each kind, and places where there is none."""

import pickle
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from fuzz.build import piece, shard_map
from fuzz.campaign import run_case
from fuzz.cases import Case, Selection, case_at
from fuzz.consumers.function import SOUND_BY_THEMSELVES, WAIVING, FunctionTarget
from fuzz.consumers.function_loading import load
from fuzz.consumers.plain import plain
from fuzz.layouts import LAYOUTS
from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Tally
from fuzz.walk import walk
from verifier.audit.executors import workers
from verifier.formats.maps.affine import decode_map
from verifier.formats.reading.fields import Interned
from verifier.formats.reading.limits import Limits
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap

ENDLESS = ("stays", "stays_away")
SOURCE = '''
import random
import time

import numpy as np
import torch

class LayoutError(Exception):
    pass

class Oddity(LayoutError):
    pass

def copied(entry, shards, start=0):
    full = np.full(entry["logical_shape"], np.nan)
    flat = full.reshape(-1)
    for rank, shard in entry["ranks"].items():
        held = shards[rank].reshape(-1)
        for piece in shard["pieces"]:
            for index in np.ndindex(*piece["shape"]):
                source, dest = (
                    offset + sum(i * s for i, s in zip(index, strides))
                    for offset, strides in (piece["source"], piece["dest"])
                )
                if min(source, dest) < 0:
                    raise LayoutError("negative address")
                flat[source] = held[dest + start] / piece.get("scale", 1.0)
    return full

def off_by_one(entry, shards):
    """Forgets where the piece begins in its shard."""
    for shard in entry["ranks"].values():
        for piece in shard["pieces"]:
            piece["dest"] = [max(0, piece["dest"][0] - 1), piece["dest"][1]]
    return copied(entry, shards)

def counts(entry):
    numel = 1
    for extent in entry["logical_shape"]:
        numel *= extent
    held = sum(torch.Size(piece["shape"]).numel() for shard in entry["ranks"].values()
               for piece in shard["pieces"] if piece["locations"][:1] == [min(piece["locations"], default=0)])
    return held >= numel

def accepts(entry):
    print('to the user')
    return None

def says_no(entry):
    return np.all(np.array([False]))

def raises_its_own(entry):
    raise Oddity("mine")

def raises_another(entry):
    raise KeyError("lost")

def leaves(entry):
    raise SystemExit(3)

def returns_text(entry, shards):
    return "full"

def scalar_of_numpy(entry, shards):
    return np.float64(shards[0].item())

def meta(entry, shards):
    return torch.empty(entry["logical_shape"], dtype=torch.float64, device="meta")

def sparse(entry, shards):
    return torch.zeros(entry["logical_shape"]).to_sparse()

class Report:
    def __bool__(self):
        return False

def reports(entry):
    return Report()

def interrupts(entry):
    raise KeyboardInterrupt

class Base(BaseException):
    pass

def of_the_base(entry):
    raise Base("mine")

def stays(entry):
    while True:
        pass

def stays_away(entry):
    time.sleep(600)

def draws(entry):
    return random.random() < 0.5

def forgets_the_last_piece(entry, shards):
    flat = np.empty(torch.Size(entry["logical_shape"]).numel())
    for rank, shard in entry["ranks"].items():
        held = shards[rank].numpy().reshape(-1)
        for piece in shard["pieces"][:-1] or shard["pieces"]:
            indices = np.indices(piece["shape"]).reshape(len(piece["shape"]), -1).T
            source, dest = (offset + indices @ strides if strides else np.array([offset])
                            for offset, strides in (piece["source"], piece["dest"]))
            if min(source.min(initial=0), dest.min(initial=0)) < 0:
                raise ValueError("negative address")
            flat[source] = held[dest] / (piece.get("scale", 1.0) or np.nan)
    return flat.reshape(entry["logical_shape"])
'''


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tools") / "tool.py"
    path.write_text(SOURCE, encoding="ascii")
    return path


def decoded(entry: dict[str, object]) -> ShardMap:
    return decode_map(entry, name="w", origin=Origin("w"), limits=Limits(), interned=Interned())


def careful(entry: dict[str, object]) -> None:
    """Refuses what a walk refuses: right by definition of the target's truth, in spite of the plain form."""
    if not walk(decoded(entry), Expectation()).ok:
        raise ValueError("not sound")


def careful_converter(entry: dict[str, object], shards: dict[int, torch.Tensor]) -> torch.Tensor:
    """Refuses what is not sound, else copies element by element."""
    careful(entry)
    found = decoded(entry)
    flat = [torch.nan] * found.numel
    for rank, _, one in found.pieces():
        held = shards[rank].reshape(-1).tolist()
        for source, dest in zip(visits(one.source), visits(one.dest), strict=True):
            flat[source] = held[dest] / float(one.scale)
    return torch.tensor(flat, dtype=torch.float64).reshape(found.logical_shape)


def visits(view: StridedView) -> list[int]:
    return [view.address(index) for index in np.ndindex(*view.shape)]


HERE = f"{__name__}:"


@cache
def tally_of(where: str, cases: int = 300) -> Tally:
    target = FunctionTarget(where)
    found = Tally()
    for index in range(cases):
        found.merge(run_case(target, 5, index))
    return found


@pytest.mark.parametrize("name", ["careful", "careful_converter"])
def test_a_right_function_has_no_finding(name: str) -> None:
    found = tally_of(HERE + name)
    assert not found.examples
    operation = "validate" if name == "careful" else "convert"
    assert min(found.row("outcome", operation).values()) > 50
    assert found.row("outcome", operation).keys() == {"refused by name", "still exact"}


def test_a_planted_fault_is_found_on_right_maps_too(source: Path) -> None:
    found = tally_of(f"{source}:off_by_one")
    right = [example for example in found.findings(SILENT) if example.mutant is None]
    assert [example.key for example in right] == ["convert: a right map"]
    assert "elements differ" in right[0].words
    assert not found.seen(DISAGREEMENT)


def test_a_naive_converter_is_right_about_right_maps_and_found_out_by_defects(source: Path) -> None:
    found = tally_of(f"{source}:copied")
    assert not found.seen(DISAGREEMENT)
    assert not found.seen(REFUSED_RIGHT)
    keys = {example.key for example in found.findings(SILENT)}
    assert {"convert drop-piece: not sound (hole, uncovered)"} <= keys
    assert any(key.startswith("convert shift-source: not sound (") for key in keys)
    assert not any("a right map" in key for key in keys)
    assert found.counts["uninitialised", "convert"]
    assert {"refused by name", "raised something else"} <= found.row("outcome", "convert").keys()
    assert found.row("prover", "with reference").keys() == {"refuted"}


def test_a_validator_that_counts_is_found_out_by_what_keeps_the_count(source: Path) -> None:
    found = tally_of(f"{source}:counts")
    examples = {example.key: example for example in found.findings(SILENT)}
    words = "not sound (hole, write-bounds)"
    assert examples[f"validate shift-dest: {words}"].words == f"validate: accepted though the map is {words}"
    assert any(key.startswith("validate shift-source: not sound (") for key in examples)
    assert not found.seen(DISAGREEMENT)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("accepts", "still exact", "silently wrong"),
        ("says_no", "refused though right", "refused by name"),
        ("raises_its_own", "refused though right", "refused by name"),
        ("raises_another", "refused though right", "raised something else"),
        ("leaves", "refused though right", "raised something else"),
        ("returns_text", "refused though right", "raised something else"),
        ("meta", "refused though right", "raised something else"),
        ("sparse", "refused though right", "raised something else"),
        ("interrupts", "refused though right", "raised something else"),
        ("of_the_base", "refused though right", "refused by name"),
        ("reports", "still exact", "silently wrong"),
        ("stays", "refused though right", "raised something else"),
        ("stays_away", "refused though right", "raised something else"),
    ],
)
def test_classes(source: Path, name: str, right: str, wrong: str) -> None:
    whole = piece([4], (0, [1]), (0, [1]), [0])
    clean = shard_map([4], {0: ([4], [whole])})
    target = FunctionTarget(f"{source}:{name}", seconds=0.2 if name in ENDLESS else 600)
    operation = "convert" if name in ("returns_text", "meta", "sparse") else "validate"
    for mutant, given, expected in ((None, clean, right), ("drop-piece", without_pieces(clean), wrong)):
        tally = target.run(Case(1, 0, "row", mutant, clean, given, Expectation()))
        assert tally.row("outcome", operation) == {expected: 1}


@pytest.mark.parametrize("name", ["accepts", "reports"])
def test_what_a_validator_returned_is_named_where_it_is_no_answer(source: Path, name: str) -> None:
    clean = shard_map([4], {0: ([4], [piece([4], (0, [1]), (0, [1]), [0])])})
    case = Case(1, 0, "row", "drop-piece", clean, without_pieces(clean), Expectation())
    (found,) = FunctionTarget(f"{source}:{name}").run(case).findings(SILENT)
    since = ", since it returned a Report," if name == "reports" else ""
    assert found.words == f"validate: accepted{since} though the map is not sound (hole, uncovered)"
    assert found.key == "validate drop-piece: not sound (hole, uncovered)"


def without_pieces(clean: ShardMap) -> ShardMap:
    return shard_map(clean.logical_shape, {rank: (s.shard_shape, ()) for rank, s in clean.ranks.items()})


def test_a_scalar_of_numpy_is_a_parameter(source: Path) -> None:
    one = shard_map([], {0: ([], [piece([], (0, []), (0, []), [0])])})
    case = Case(1, 0, "scalar", None, one, one, Expectation())
    tally = FunctionTarget(f"{source}:scalar_of_numpy").run(case)
    assert tally.row("outcome", "convert") == {"still exact": 1}


def test_a_sound_map_of_another_function_gets_its_own_shards() -> None:
    halves = [piece([2], (start, [1]), (0, [1]), [rank]) for rank, start in enumerate((0, 2))]
    clean, swapped = (
        shard_map([4], {rank: ([2], [one]) for rank, one in enumerate(pieces)})
        for pieces in (
            halves,
            [Piece(b.source, a.dest, a.locations) for a, b in zip(halves, halves[::-1], strict=True)],
        )
    )
    tally = FunctionTarget(HERE + "careful_converter").run(
        Case(1, 0, "row", "swap-sources", clean, swapped, Expectation())
    )
    assert tally.row("outcome", "convert") == {"still exact": 1}


def test_scales_that_round_are_not_converted() -> None:
    for index in range(0, 2100, len(LAYOUTS)):
        case = case_at(Selection(layouts=("scaled",), right=1.0, size=20), 1, index)
        scales = {float(p.scale) for _, _, p in case.clean.pieces()}
        tally = FunctionTarget(HERE + "careful_converter").run(case)
        exact = scales <= {1.0, 2.0, 2.0**300}
        assert tally.counts["inexpressible", "convert", "a scale that rounds"] == (not exact)


def test_the_default_cases_are_sound_without_an_expectation() -> None:
    for index in range(200):
        case = case_at(SOUND_BY_THEMSELVES, 2, index)
        assert walk(case.clean, Expectation()).ok


def test_the_plain_form_can_be_read_back() -> None:
    for index in range(60):
        case = case_at(Selection(size=24, right=0.2), 2, index)
        entry = plain(case.shard_map)
        assert list(entry["ranks"]) == list(case.shard_map.ranks)
        read = decoded(entry)
        assert read.logical_shape == case.shard_map.logical_shape
        assert [(r, a, p.source, p.dest, p.locations) for r, a, p in read.pieces()] == [
            (r, a, p.source, p.dest, p.locations) for r, a, p in case.shard_map.pieces()
        ]


def test_a_target_travels_by_its_place_and_repeats_itself(source: Path) -> None:
    where = f"{source}:copied"
    target = FunctionTarget(where)
    travelled = pickle.loads(pickle.dumps(target))
    load.cache_clear()
    assert travelled == target
    assert (travelled.name, travelled.version) == (where, target.version)
    again = Tally()
    for index in range(300):
        again.merge(run_case(travelled, 5, index))
    assert again == tally_of(where)


def outcomes(where: str, indices: Iterable[int]) -> list[dict[str, int]]:
    target = FunctionTarget(where)
    return [run_case(target, 1, index).row("outcome", "convert") for index in indices]


def test_memory_of_numpy_that_nobody_wrote_is_never_the_right_answer(source: Path) -> None:
    """Small arrays get the memory of the last ones, with what a right converter left there."""
    left = f"{source}:forgets_the_last_piece"
    after_a_right_one = []
    for index in range(120):
        tally_of_one(HERE + "careful_converter", index)
        after_a_right_one += outcomes(left, [index])
    assert after_a_right_one == outcomes(left, range(120))
    target = FunctionTarget(left)
    for index in range(120):
        case = case_at(target.selection, 1, index)
        several = any(len([p for p in s.pieces if not p.is_empty]) > 1 for s in case.clean.ranks.values())
        if several and case.mutant is None and case.layout == "fused":
            found = target.run(case)
            assert found.row("outcome", "convert") == {"silently wrong": 1}
            assert found.counts["uninitialised", "convert"] == 1


def tally_of_one(where: str, index: int) -> Tally:
    return run_case(FunctionTarget(where), 1, index)


def test_a_case_repeats_what_the_function_draws(source: Path) -> None:
    where = f"{source}:draws"
    first = [tally_of_one(where, index) for index in range(30)]
    assert [tally_of_one(where, index) for index in reversed(range(30))] == first[::-1]
    assert len({str(tally.row("outcome", "validate")) for tally in first}) > 1


@pytest.mark.parametrize("layout", WAIVING)
@pytest.mark.parametrize("name", ["careful", "careful_converter"])
def test_what_is_right_only_under_an_expectation_is_not_asked(layout: str, name: str) -> None:
    target = FunctionTarget(HERE + name, Selection(layouts=(layout,), size=24))
    found = Tally()
    for index in range(40):
        found.merge(run_case(target, 3, index))
    operation = "validate" if name == "careful" else "convert"
    assert not found.examples
    assert found.counts["inexpressible", operation, "right only under an expectation"] > 20


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_function_prints_goes_to_stderr(
    source: Path, jobs: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with workers(jobs) as found:
        found.executor.submit(tally_of_one, f"{source}:accepts", 0).result()
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "to the user\n")


def test_results_are_of_a_source_and_of_versions(tmp_path: Path) -> None:
    path = tmp_path / "tool.py"
    path.write_text("def check(entry): return True\n")
    target = FunctionTarget(f"{path}:check")
    assert target.version.endswith(f", torch {torch.__version__}, numpy {np.__version__}")
    assert target.version.startswith(load(target.where).digest)
