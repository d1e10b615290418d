"""ZeRO optimizer shards: one place damaged is one finding, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.audited import replay_entry, said
from tests.formats.deepspeed.zero_shards import (
    GROUPS,
    State,
    adam,
    checkpoint,
    checkpoint_of_stage_3,
    fragment_address,
    model_states,
    shard,
    shard_name,
    write,
)
from tests.formats.documents import SAMPLES
from tests.formats.mutating import identity, outcome
from tests.formats.torch_files.archives import pickle_mutants
from verifier.audit.check import Settings
from verifier.audit.manifest import read_manifest
from verifier.formats import read
from verifier.formats.deepspeed.zero_layout import Fragment, flat_buffers, part, part_fragments
from verifier.layouts import flat, flat_each

ENTRIES = [
    entry for entry in read_manifest(SAMPLES / "manifest.json") if entry.path.name.startswith("ds_zero2")
]
MODEL = "mp_rank_00_model_states.pt"
FIRST, SECOND = shard_name(0), shard_name(1)

Files = dict[str, State]
Damage = Callable[[Files], object]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.path.name)
def test_recorded_checkpoints_have_their_verdict(entry: Any) -> None:
    assert replay_entry(entry, Settings()).agrees


def test_every_recorded_checkpoint_is_replayed() -> None:
    assert len(ENTRIES) == 6


@pytest.mark.parametrize("make", [checkpoint, checkpoint_of_stage_3])
@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 9])
def test_a_checkpoint_is_proved_on_any_number_of_ranks(
    make: Callable[[int], Files], ranks: int, tmp_path: Path
) -> None:
    report = said(write(tmp_path / "ckpt", make(ranks)))
    assert (report.verdict, report.codes) == ("proved", ())
    assert report.proved[:3] == ("a", "b", "c")
    assert report.checks == {
        "optimizer shard files": ranks,
        "flat partitions": 2 * ranks,
        "moments": 4 * ranks,
    }


def at(files: Files, name: str = SECOND) -> State:
    state: State = files[name]["optimizer_state_dict"]
    return state


def moments(files: Files, name: str = SECOND, group: int = 0) -> State:
    state: State = at(files, name)["base_optimizer_state"]["state"][group]
    return state


def flat_to(length: int, name: str = SECOND) -> Damage:
    return lambda files: at(files, name)["single_partition_of_fp32_groups"].__setitem__(
        0, torch.zeros(length)
    )


def slices(name: str, **new: tuple[int, int]) -> Damage:
    """Slices of the first group in a file, as (numel, start)."""
    addresses = {parameter: fragment_address(*numbers) for parameter, numbers in new.items()}
    return lambda files: at(files, name)["param_slice_mappings"][0].update(addresses)


def both(*damages: Damage) -> Damage:
    return lambda files: [damage(files) for damage in damages]


def exchanged(files: Files) -> None:
    first, second = at(files, FIRST), at(files, SECOND)
    key = "single_partition_of_fp32_groups"
    first[key], second[key] = second[key], first[key]


DAMAGES: dict[str, tuple[Damage, str, str]] = {
    "a rank is missing": (
        lambda f: f.pop(SECOND),
        "CK101",
        f"{SECOND} is missing: partition_count is 2",
    ),
    "a larger save left a file behind": (
        lambda f: f.update({shard_name(2): shard(1)}),
        "CK114",
        f"{shard_name(2)}: the file is of data-parallel rank 2, partition_count in {FIRST} is 2",
    ),
    "a file of a save with more ranks": (
        lambda f: at(f).update(partition_count=[4, 4]),
        "CK114",
        f"{SECOND}: partition_count is [4, 4], {FIRST} says [2, 2]",
    ),
    "a file of another stage": (
        lambda f: at(f).update(zero_stage=1),
        "CK114",
        f"{SECOND}: zero_stage is 1, {FIRST} says 2",
    ),
    "a partition of another type": (
        lambda f: at(f)["single_partition_of_fp32_groups"].__setitem__(1, torch.zeros(2).half()),
        "CK114",
        f"{SECOND}: the type of flat tensors is float32, float16, {FIRST} says float32, float32",
    ),
    "slices are stated in one file": (
        lambda f: at(f).pop("param_slice_mappings"),
        "CK114",
        f"{SECOND}: param_slice_mappings is absent, {FIRST} says there",
    ),
    "a group is missing in one file": (
        lambda f: (at(f)["single_partition_of_fp32_groups"].pop(), at(f)["partition_count"].pop()),
        "CK114",
        f"{SECOND}: partition_count is [2], {FIRST} says [2, 2]",
    ),
    "a group is missing in the model states": (
        lambda f: f[MODEL]["param_shapes"].pop(),
        "CK114",
        f"{MODEL}: param_shapes has 1 parameter groups, {FIRST} has 2",
    ),
    "a partition is short": (
        flat_to(9),
        "CK117",
        f"{SECOND}: the partition of rank 1 in group 0 has 9 elements, 22 elements with their paddings on 2 "
        "ranks make it 10 or 12",
    ),
    "a partition has part of its padding": (
        flat_to(11),
        "CK117",
        f"{SECOND}: the partition of rank 1 in group 0 has 11 elements, 22 elements with their paddings on 2 "
        "ranks make it 10 or 12",
    ),
    "a partition in the middle is short": (
        flat_to(10, FIRST),
        "CK117",
        f"{FIRST}: the partition of rank 0 in group 0 has 10 elements, 22 elements with their paddings on 2 "
        "ranks make it 12",
    ),
    "partitions were exchanged": (
        exchanged,
        "CK117",
        f"{FIRST}: the partition of rank 0 in group 0 has 10 elements, 22 elements with their paddings on 2 "
        "ranks make it 12",
    ),
    "padding between parameters is not declared": (
        both(flat_to(12, FIRST), flat_to(11)),
        "CK117",
        f"{SECOND}: the partition of rank 1 in group 0 has 11 elements, 22 elements with their paddings on 2 "
        "ranks make it 10 or 12",
    ),
    "the padding is stated otherwise": (
        lambda f: at(f).update(group_paddings=[1, 0]),
        "CK117",
        f"{SECOND}: group_paddings of group 0 is 1, the buffer has 2 elements of padding on rank 1",
    ),
    "paddings of too few parameters": (
        lambda f: [at(f, name).update(param_alignment_paddings=[[0], [0]]) for name in (FIRST, SECOND)],
        "CK117",
        f"{FIRST}: param_alignment_paddings of group 0 has 1 numbers, param_shapes has 2 parameters",
    ),
    "paddings of parameters differ": (
        lambda f: at(f).update(param_alignment_paddings=[[1, 0], [0]]),
        "CK114",
        f"{SECOND}: param_alignment_paddings of group 0 differs, {FIRST} states another",
    ),
    "a slice is short": (
        slices(SECOND, a=(2, 0)),
        "SM301",
        "no rank holds parameter element [4, 2]",
    ),
    "a slice is lost": (
        lambda f: at(f)["param_slice_mappings"][0].pop("a"),
        "SM301",
        "no rank holds parameter element [4, 0]",
    ),
    "a slice is long": (
        slices(SECOND, b=(8, 3)),
        "SM102",
        "piece 0 of rank 1 reads parameter address 7, the parameter has addresses 0 to 6",
    ),
    "a slice is elsewhere in its partition": (
        slices(SECOND, b=(7, 2)),
        "SM507",
        "the order of param_shapes, for start and length on rank 1, states [3, 7], the map [2, 7]",
    ),
    "one slice is short and the next one long": (
        both(slices(FIRST, a=(11, 0)), slices(SECOND, a=(4, 0))),
        "SM507",
        "the order of param_shapes, for start and length on rank 0, states [0, 12], the map [0, 11]",
    ),
    "a slice of a parameter nobody knows": (
        slices(SECOND, z=(1, 0)),
        "CK114",
        f'{SECOND}: "z" is in param_slice_mappings of group 0, param_shapes has no such parameter in this '
        "group",
    ),
    "a parameter is larger than it was": (
        lambda f: f.update({MODEL: model_states([{"a": (5, 4), "b": (7,)}, GROUPS[1]])}),
        "CK117",
        f"{FIRST}: the partition of rank 0 in group 0 has 12 elements, 27 elements with their paddings on 2 "
        "ranks make it 14 (the first of 2 places)",
    ),
    "a moment is missing": (
        lambda f: moments(f).pop("exp_avg_sq"),
        "CK116",
        f'the state of group 0 in {SECOND} has no "exp_avg_sq", that of group 0 in {FIRST} in the same group '
        "has",
    ),
    "a moment is short": (
        lambda f: moments(f).update(exp_avg_sq=torch.zeros(11)),
        "CK116",
        f'"exp_avg_sq" of group 0 in {SECOND} has shape (11,), its "exp_avg" has (12,)',
    ),
    "all moments of a rank are short": (
        lambda f: at(f)["base_optimizer_state"]["state"].update({0: adam(11)}),
        "CK116",
        f'{SECOND}: "exp_avg" of group 0 has shape (11,), its flat partition has 10 or 12 elements '
        "(the first of 2 places)",
    ),
    "moments of another shape": (
        lambda f: moments(f).update({name: torch.zeros(3, 4) for name in ("exp_avg", "exp_avg_sq")}),
        "CK116",
        f'{SECOND}: "exp_avg" of group 0 has shape (3, 4), its flat partition has 10 or 12 elements '
        "(the first of 2 places)",
    ),
    "a rank has no state": (
        lambda f: at(f)["base_optimizer_state"]["state"].pop(0),
        "CK116",
        f"{SECOND}: group 0 has no optimizer state, it has some in {FIRST}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_one_damage_is_one_finding_in_words(name: str, tmp_path: Path) -> None:
    damage, code, sentence = DAMAGES[name]
    files = checkpoint()
    damage(files)
    report = said(write(tmp_path / "ckpt", files))
    assert (report.verdict, report.codes, report.sentences) == ("refuted", (code,), (sentence,))


OTHER = "zero_pp_rank_1_mp_rank_00_model_states.pt"
DAMAGES_3: dict[str, tuple[Damage, str, str]] = {
    "a rank is missing": (lambda f: f.pop(SECOND), "CK101", f"{SECOND} is missing: partition_count is 2"),
    "a partition is short": (
        lambda f: at(f)["fp32_flat_groups"].__setitem__(0, torch.zeros(11)),
        "CK117",
        f"{SECOND}: the partition of rank 1 has 13 elements, the parts of 3 parameters on 2 ranks make it 14",
    ),
    "a partition is long": (
        lambda f: at(f)["fp32_flat_groups"].append(torch.zeros(4)),
        "CK114",
        f"{SECOND}: the number of flat tensors is 3, {FIRST} says 2",
    ),
    "a moment is short": (
        lambda f: at(f)["optimizer_state_dict"]["state"].update({1: adam(1)}),
        "CK116",
        f'{SECOND}: "exp_avg" of group 1 has shape (1,), its flat partition has 2 elements '
        "(the first of 2 places)",
    ),
    "model states are missing": (
        lambda f: f.pop(OTHER),
        "CK101",
        f"{OTHER} is missing: the number of optimizer shards beside it is 2",
    ),
    "model states list other parameters": (
        lambda f: f.update({OTHER: model_states([{"a": (5, 3), "x": (7,)}, GROUPS[1]])}),
        "CK114",
        f"{OTHER}: param_shapes lists other parameters, zero_pp_rank_0_mp_rank_00_model_states.pt lists 3",
    ),
    "model states in another order": (
        lambda f: f.update({OTHER: model_states([{"b": (7,), "a": (5, 3)}, GROUPS[1]])}),
        "CK114",
        f"{OTHER}: param_shapes lists other parameters, zero_pp_rank_0_mp_rank_00_model_states.pt lists 3",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES_3)
def test_one_damage_in_stage_3_is_one_finding_in_words(name: str, tmp_path: Path) -> None:
    damage, code, sentence = DAMAGES_3[name]
    files = checkpoint_of_stage_3()
    damage(files)
    report = said(write(tmp_path / "ckpt", files))
    assert (report.verdict, report.codes, report.sentences) == ("refuted", (code,), (sentence,))


REFUSED: dict[str, Damage] = {
    "a stage that does not exist": lambda f: at(f).update(zero_stage=4),
    "a stage in words": lambda f: at(f).update(zero_stage="2"),
    "no count": lambda f: at(f).pop("partition_count"),
    "no ranks": lambda f: at(f).update(partition_count=[0, 2]),
    "no partitions": lambda f: at(f).pop("single_partition_of_fp32_groups"),
    "a partition that is no tensor": lambda f: at(f).update(single_partition_of_fp32_groups=[1, 2]),
    "a partition of two dimensions": flat_to(10),
    "a negative slice": slices(SECOND, a=(-3, 0)),
    "a slice that is a number": lambda f: at(f)["param_slice_mappings"][0].update(a=3),
    "no state": lambda f: f[SECOND].pop("optimizer_state_dict"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_is_no_shard_leaves_its_parameters_unchecked(name: str, tmp_path: Path) -> None:
    files = checkpoint()
    REFUSED[name](files)
    if name == "a partition of two dimensions":
        at(files)["single_partition_of_fp32_groups"][0] = torch.zeros(5, 2)
    report = said(write(tmp_path / "ckpt", files))
    assert report.verdict == "unreadable"
    assert report.codes[0] in ("SM001", "SM002", "SM005")
    assert (
        "where parameters are in the optimizer shards of model-parallel rank 0: not all files are there, "
        "readable and agree" in report.unchecked
    )


def test_a_file_that_is_cut_or_cannot_be_opened_hides_no_other(tmp_path: Path) -> None:
    folder = write(tmp_path / "ckpt", checkpoint())
    (folder / SECOND).write_bytes((folder / SECOND).read_bytes()[:500])
    assert said(folder).codes == ("SM001",)
    (folder / SECOND).unlink()
    (folder / SECOND).mkdir()
    report = said(folder)
    assert report.codes == ("SM001",)
    assert "cannot be opened" in report.sentences[0]


def test_without_model_states_only_files_and_moments_are_checked(tmp_path: Path) -> None:
    files = checkpoint()
    del files[MODEL]
    report = said(write(tmp_path / "ckpt", files))
    assert report.sentences == (f"{MODEL} is missing: the number of optimizer shards beside it is 2",)
    assert (
        "where parameters are in the optimizer shards of model-parallel rank 0: no param_shapes can be read "
        "for them" in report.unchecked
    )


def test_one_file_alone_is_held_against_itself(tmp_path: Path) -> None:
    files = checkpoint()
    folder = write(tmp_path / "ckpt", files)
    report = said(folder / SECOND)
    assert (report.verdict, report.checks) == ("proved", {"moments": 4})
    moments(files).update(adam(11))
    report = said(write(tmp_path / "bad", files) / SECOND)
    assert report.codes == ("CK116",)


def test_groups_that_are_not_on_every_rank_are_not_checked(tmp_path: Path) -> None:
    """Experts are cut over fewer ranks; which ones is not stated."""
    files = checkpoint()
    for name in (FIRST, SECOND):
        at(files, name).update(partition_count=[2, 1])
    report = said(write(tmp_path / "ckpt", files))
    assert report.proved[:2] == ("a", "b")
    assert "group 1 of the optimizer: its partitions are not one on each rank" in report.unchecked


def test_tensor_parallel_ranks_without_an_affine_map_are_proved_apart(tmp_path: Path) -> None:
    files = checkpoint()
    files |= {name.replace("mp_rank_00", "mp_rank_01"): value for name, value in checkpoint().items()}
    report = said(write(tmp_path / "ckpt", files))
    assert report.verdict == "proved"
    assert report.proved[0] == "a (mp rank 0)"
    assert "how 2 model-parallel ranks make up each parameter: no affine map says it" in report.unchecked


SIZES = st.lists(st.integers(0, 30), min_size=1, max_size=5)
RANKS = st.integers(1, 7)


@given(numels=SIZES, ranks=RANKS)
def test_flat_buffers_are_the_reference_layout(numels: list[int], ranks: int) -> None:
    buffer, *_ = flat_buffers(numels, [0] * len(numels), ranks)
    reference = flat(numels, ranks, shard_multiple=2)
    assert {shard.shard_shape for shard in reference.shard_map.ranks.values()} == {(buffer.partition,)}
    for rank in range(ranks):
        padded = sum(view.numel for view in reference.padding.get(rank, ()))
        assert buffer.padding(rank) == padded
    fragments = [dict(buffer.fragments(position)) for position in range(len(numels))]
    assert addresses(numels, fragments) == pairs(reference.shard_map.pieces())


@given(numels=SIZES, ranks=RANKS)
def test_parts_are_the_reference_layout(numels: list[int], ranks: int) -> None:
    before, fragments = 0, []
    for numel in numels:
        fragments.append(dict(part_fragments(numel, before, ranks)))
        before += part(numel, ranks)
    reference = flat_each(numels, ranks).shard_map
    assert {shard.shard_shape for shard in reference.ranks.values()} == {(before,)}
    assert addresses(numels, fragments) == pairs(reference.pieces())


def addresses(numels: list[int], fragments: list[dict[int, Fragment]]) -> set[tuple[int, int, int]]:
    """(rank, address in the flat parameter, address in the partition) of every element."""
    found = set()
    start = 0
    for numel, places in zip(numels, fragments, strict=True):
        for rank, (first, dest, length) in places.items():
            found |= {(rank, start + first + k, dest + k) for k in range(length)}
        start += numel
    return found


def pairs(pieces: Iterator[tuple[int, int, Any]]) -> set[tuple[int, int, int]]:
    return {
        (rank, piece.source.offset + k, piece.dest.offset + k)
        for rank, _, piece in pieces
        for k in range(piece.numel)
    }


@given(numel=st.integers(1, 400), ranks=st.integers(1, 40))
def test_old_releases_cut_the_padding_off_by_a_slice(numel: int, ranks: int) -> None:
    buffer, *_ = flat_buffers([numel], [0], ranks)
    partition = list(range(buffer.partition))
    whole = buffer.partition * ranks - numel
    assert len(partition[: len(partition) - whole]) in buffer.lengths(ranks - 1)
    assert sum(buffer.partition - buffer.padding(rank) for rank in range(ranks)) == numel


@pytest.mark.parametrize("name", [SECOND, MODEL])
def test_mutants_are_refused_or_judged(name: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "ckpt", checkpoint())
    original = identity(read(folder))
    path = folder / name
    seen = set()
    for mutant in pickle_mutants(path.read_bytes(), seed=4, count=150):
        path.write_bytes(mutant)
        seen.add(outcome(folder, "deepspeed", original))
    assert "equal" in seen
    assert seen & {"refused", "refuted"}
