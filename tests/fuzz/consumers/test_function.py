"""Functions of the user: a careless one and a careful one of each kind, and places where there is none."""

import pickle
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from fuzz.build import piece, shard_map
from fuzz.campaign import run_case
from fuzz.cases import Case, Selection, case_at
from fuzz.consumers.function import SOUND_BY_THEMSELVES, FunctionTarget, plain
from fuzz.consumers.function_loading import FunctionError, load
from fuzz.consumers.strict import parameter
from fuzz.layouts import LAYOUTS
from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Tally
from fuzz.walk import walk
from verifier.formats.affine import decode_map
from verifier.formats.fields import Interned
from verifier.formats.limits import Limits
from verifier.geometry.strided import StridedView
from verifier.model.expectation import Expectation
from verifier.model.origin import Origin
from verifier.model.piece import Piece
from verifier.model.shard_map import ShardMap

SOURCE = '''
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
    return np.float64(1.0)

def three(a, b, c):
    pass

def by_name(entry, *, shards):
    pass

NUMBER = 4
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
    assert [example.key for example in right] == ["convert none"]
    assert "elements differ" in right[0].words
    assert not found.seen(DISAGREEMENT)


def test_a_naive_converter_is_right_about_right_maps_and_found_out_by_defects(source: Path) -> None:
    found = tally_of(f"{source}:copied")
    assert not found.seen(DISAGREEMENT)
    assert not found.seen(REFUSED_RIGHT)
    keys = {example.key for example in found.findings(SILENT)}
    assert {"convert drop-piece", "convert shift-source"} <= keys
    assert "convert none" not in keys
    assert found.counts["uninitialised", "convert"]
    assert {"refused by name", "raised something else"} <= found.row("outcome", "convert").keys()
    assert found.row("prover", "asked about a wrong map").keys() == {"refuted"}


def test_a_validator_that_counts_is_found_out_by_what_keeps_the_count(source: Path) -> None:
    found = tally_of(f"{source}:counts")
    examples = {example.key: example for example in found.findings(SILENT)}
    assert {"validate shift-source", "validate shift-dest"} <= examples.keys()
    assert examples["validate shift-dest"].words.startswith("validate: accepted, though not sound: ")
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
    ],
)
def test_classes(source: Path, name: str, right: str, wrong: str) -> None:
    whole = piece([4], (0, [1]), (0, [1]), [0])
    clean = shard_map([4], {0: ([4], [whole])})
    target = FunctionTarget(f"{source}:{name}")
    operation = "convert" if name == "returns_text" else "validate"
    for mutant, given, expected in ((None, clean, right), ("drop-piece", without_pieces(clean), wrong)):
        tally = target.run(Case(1, 0, "row", mutant, clean, given, Expectation()))
        assert tally.row("outcome", operation) == {expected: 1}


def without_pieces(clean: ShardMap) -> ShardMap:
    return shard_map(clean.logical_shape, {rank: (s.shard_shape, ()) for rank, s in clean.ranks.items()})


def test_a_scalar_of_numpy_is_a_parameter(source: Path) -> None:
    one = shard_map([], {0: ([], [piece([], (0, []), (0, []), [0])])})
    case = Case(1, 0, "scalar", None, one, one, Expectation())
    tally = FunctionTarget(f"{source}:scalar_of_numpy").run(case)
    assert parameter(one).item() == 1.0
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


def test_a_file_may_import_its_neighbours_and_leaves_the_path_alone(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_tool.py").write_text("def check(entry): raise ValueError('no')\n")
    (tmp_path / "tool.py").write_text("from neighbour_of_tool import check\n")
    before = list(sys.path)
    assert load(f"{tmp_path}/tool.py:check").parameters == 1
    assert sys.path == before


def test_a_module_is_looked_for_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tool_of_this_directory.py").write_text("def check(entry, strict=True): pass\n")
    monkeypatch.chdir(tmp_path)
    assert load("tool_of_this_directory:check").parameters == 1
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("check", "write module:function or path/to/file.py:function"),
        (":check", "write module:function"),
        ("no_such_module_of_ours:check", "cannot be imported .*No module named"),
        ("{folder}/absent.py:check", "there is no file"),
        ("{folder}/broken.py:check", "cannot be imported .SyntaxError"),
        ("{folder}/missing.py:check", "cannot be imported .ModuleNotFoundError"),
        ("{source}:chek", "has no 'chek'; its functions are accepts, by_name, copied"),
        ("{source}:NUMBER", "is a int, no function; it must take a map"),
        ("{source}:three", r"takes \(a, b, c\); it must take a map, or a map and the shards"),
        ("{source}:by_name", r"takes \(entry, shards\); it must"),
        ("builtins:dict", "does not say what it takes"),
    ],
)
def test_places_where_there_is_no_such_function(source: Path, tmp_path: Path, place: str, words: str) -> None:
    (tmp_path / "broken.py").write_text("def check(:\n")
    (tmp_path / "missing.py").write_text("import no_such_module_of_ours\n")
    with pytest.raises(FunctionError, match=words):
        FunctionTarget(place.format(folder=tmp_path, source=source))
