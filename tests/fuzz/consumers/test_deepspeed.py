"""The target ``deepspeed`` on maps whose outcome is known, and its promises on drawn ones."""

import importlib.util
import pickle
import random
from dataclasses import replace

import pytest

if importlib.util.find_spec("deepspeed") is None:
    pytest.skip("DeepSpeed is not installed; the extra 'dev' has it", allow_module_level=True)

from fuzz.cases import Case, Selection, case_at
from fuzz.consumers import judging
from fuzz.consumers.deepspeed import DeepSpeedTarget, their_map
from fuzz.consumers.deepspeed_release import release
from fuzz.in_tree import IN_TREE
from fuzz.mutants import MUTANTS, NUMBERS
from fuzz.outcomes import DISAGREEMENT, REFUSED_RIGHT, SILENT, Tally
from verifier import map_from_affine
from verifier.audit.judge import Judgement
from verifier.certificates.encode import Certificate
from verifier.model.expectation import Expectation
from verifier.model.piece import Piece, exact_scale
from verifier.model.shard_map import RankShard, ShardMap
from verifier.verdicts import Proved

TARGET = DeepSpeedTarget()
OPERATIONS = ("rebuild", "extract", "plan_transfer from", "plan_transfer to")


def ours(theirs: object) -> ShardMap:
    return replace(map_from_affine(theirs.to_dict(), name="w"), origin=None)  # type: ignore[attr-defined]


def changed(shard_map: ShardMap, rank: int, position: int, change: dict[str, int]) -> ShardMap:
    """The map with other offsets (``source``, ``dest``) of one piece."""
    pieces = list(shard_map.ranks[rank].pieces)
    piece = pieces[position]
    views = {side: replace(getattr(piece, side), offset=offset) for side, offset in change.items()}
    pieces[position] = replace(piece, **views)  # type: ignore[arg-type]
    return with_pieces(shard_map, rank, pieces)


def with_pieces(shard_map: ShardMap, rank: int, pieces: list[Piece]) -> ShardMap:
    shard = RankShard(shard_map.ranks[rank].shard_shape, tuple(pieces))
    return replace(shard_map, ranks={**shard_map.ranks, rank: shard})


def tried(clean: ShardMap, shard_map: ShardMap | None = None) -> Tally:
    mutant = None if shard_map is None else "by hand"
    return TARGET.run(Case(0, 0, "ds", mutant, clean, shard_map or clean, Expectation()))


def outcomes(found: Tally) -> dict[str, str]:
    return {operation: next(iter(found.row("outcome", operation))) for operation in found.row("outcome")}


def fused_columns() -> ShardMap:
    return ours(release("affine").sub_param_map((4, 12), [4, 4, 4], [[2, 2]] * 3, 1))


def test_a_collision_of_columns_is_silently_wrong() -> None:
    """One offset on the shard side: both checks accept it, 8 of 48 elements come back wrong."""
    clean = fused_columns()
    found = tried(clean, changed(clean, 0, 1, {"dest": 0}))
    assert outcomes(found) == {
        "from_dict": "still exact",
        "rebuild": "silently wrong",
        "extract": "silently wrong",
        "plan_transfer from": "refused by name",
        "plan_transfer to": "refused by name",
    }
    for check in ("validate", "validate_coverage"):
        assert found.row("accepts", check) == {"not sound, accepted": 1}
    assert found.row("uninitialised") == {"extract": 1}
    words = {f.key: f.words for f in found.findings(SILENT)}
    assert "8 of 48 elements differ" in words["rebuild by hand: other elements, map is not sound"]
    assert "extract by hand: memory nobody wrote, map is not sound" in words
    for question in ("with reference", "structural"):
        assert found.row("prover", question) == {"refuted": 1}


def test_a_second_source_on_the_first_leaves_memory_that_nobody_wrote() -> None:
    clean = ours(release("affine").contiguous_split_map((8,), [4, 4], 0))
    found = tried(clean, changed(clean, 1, 0, {"source": 0}))
    assert outcomes(found)["rebuild"] == "silently wrong"
    assert "rebuild" in found.row("uninitialised")
    assert found.row("accepts", "validate") == {"not sound, accepted": 1}
    assert found.row("accepts", "validate_coverage") == {"not sound, refused": 1}
    (rebuilt,) = [f for f in found.findings(SILENT) if f.key.startswith("rebuild")]
    assert rebuilt.key == "rebuild by hand: memory nobody wrote, map is not sound"


def test_exchanged_pieces_are_another_function_that_only_a_reference_shows() -> None:
    clean = fused_columns()
    found = tried(clean, changed(changed(clean, 0, 0, {"dest": 2}), 0, 1, {"dest": 0}))
    assert {outcomes(found)[operation] for operation in OPERATIONS} == {"silently wrong"}
    assert found.row("map") == {"another function": 1}
    assert found.row("prover", "with reference") == {"refuted": 1}
    assert found.row("prover", "structural") == {"proved": 1}
    assert found.row("accepts", "validate_coverage") == {"another function, accepted": 1}


def test_an_empty_piece_at_the_offset_of_a_replica_makes_a_right_map_refused() -> None:
    found = tried(ours(release("affine").segmented_map((4,), [(0, False), (4, True)], 0, 2, [[0, 0]])))
    assert outcomes(found)["rebuild"] == "refused though right"
    keys = {f.key for f in found.findings(REFUSED_RIGHT)}
    assert "rebuild: an empty piece shares its offset with a replica" in keys
    assert found.row("accepts", "validate_coverage") == {"right, accepted": 1}


def test_equal_replicas_of_nan_are_refused() -> None:
    found = tried(ours(release("affine").replicated_map((2, 3), 2)))
    assert outcomes(found)["rebuild of NaN"] == "refused though right"
    assert [f.key for f in found.findings(REFUSED_RIGHT)] == ["rebuild of NaN: replicas that are NaN"]
    assert {outcomes(found)[operation] for operation in OPERATIONS} == {"still exact"}


def test_a_reader_that_refuses_a_map_is_an_outcome_of_its_own() -> None:
    clean = fused_columns()
    first = clean.ranks[0].pieces[0]
    zero = with_pieces(clean, 0, [replace(first, scale=exact_scale(0.0)), *clean.ranks[0].pieces[1:]])
    found = tried(clean, zero)
    assert outcomes(found) == {"from_dict": "refused by name"}


def test_scales_reach_the_other_side() -> None:
    scaled = ours(release("affine").replicated_map((3,), 2, scale=0.1))
    assert their_map(scaled).pieces_by_rank[1][0].scale == 0.1
    assert outcomes(tried(scaled))["rebuild"] == "still exact"


@pytest.mark.parametrize("name", IN_TREE)
def test_right_maps_are_exact_where_they_are_not_refused(name: str) -> None:
    for seed in range(6):
        clean = IN_TREE[name](random.Random(f"{name}:{seed}"), 100)[0]
        found = tried(clean)
        assert set(outcomes(found).values()) <= {"still exact", "refused though right"}
        kinds = {f.key.partition(": ")[2] for f in found.findings()}
        assert kinds <= {"an empty piece shares its offset with a replica", "replicas that are NaN"}
        assert outcomes(found)["extract"] == "still exact"
        assert not found.seen(DISAGREEMENT)


def test_every_silent_outcome_of_every_mutant_is_refuted_against_the_reference() -> None:
    selection = Selection(layouts=tuple(IN_TREE), mutants=tuple(MUTANTS), size=60, right=0.1, dress=False)
    total = Tally()
    for index in range(240):
        total.merge(TARGET.run(case_at(selection, 11, index)))
    assert set(total.row("prover", "with reference")) == {"refuted"}
    assert set(total.row("prover", "structural")) == {"refuted", "proved"}
    assert total.seen(SILENT) > 50
    assert not total.seen(DISAGREEMENT)


def test_a_prover_that_proved_a_silently_wrong_map_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def proves(shard_map: ShardMap, expectation: Expectation, answering: object) -> Judgement:
        verdict = Proved(Certificate(shard_map, expectation))
        return Judgement(verdict, (), (), proved=0, refuted=0, undecided=0, answered_by={})

    monkeypatch.setattr(judging, "judge", proves)
    clean = fused_columns()
    found = tried(clean, changed(clean, 0, 1, {"dest": 0}))
    assert {f.key for f in found.findings(DISAGREEMENT)} == {
        "proved, but wrong in rebuild",
        "proved, but wrong in extract",
    }


def test_one_case_gives_one_tally_and_targets_travel() -> None:
    target = pickle.loads(pickle.dumps(TARGET))
    assert target == TARGET
    assert target.selection.mutants == NUMBERS
    assert target.version.startswith("deepspeed ")
    for index in range(15):
        case = case_at(TARGET.selection, 2, index)
        assert target.run(case) == TARGET.run(case)


def test_a_share_of_what_offsets_and_strides_break_is_silent() -> None:
    """About a third of rebuilds and half of extracts, and no plan of a transfer."""
    total = Tally()
    for index in range(150):
        total.merge(TARGET.run(case_at(TARGET.selection, 1, index)))
    rates = {op: total.counts["outcome", op, "silently wrong"] / 150 for op in OPERATIONS}
    assert 0.2 < rates["rebuild"] < 0.45
    assert 0.3 < rates["extract"] < 0.6
    assert rates["plan_transfer from"] == rates["plan_transfer to"] == 0
