"""What ``shardproof audit`` makes of a folder: whatever would be audited by itself is, the rest is said."""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command import CORPUS, Ran, shardproof
from tests.cli.unprivileged import unprivileged
from tests.formats.documents import archive, as_bytes, edited, rows_map

FILES = CORPUS / "files"
DCP = FILES / "dcp" / "shard0_w4"
HF = FILES / "safetensors" / "llama_tiny"
TAG = FILES / "deepspeed" / "autotp"
BAD_OPTIMIZER = FILES / "optim" / "missing_moment.pt"
OVERLAP = edited(rows_map(), ("ranks", "1", "pieces", 0, "source"), [0, [2, 1]])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "made"
    made.mkdir()
    return made


def says(ran: Ran, text: str) -> bool:
    """Whether a text was printed, however it was broken into lines."""
    return "".join(text.split()) in "".join(ran.out.split())


def torch_file(path: Path, value: object) -> None:
    path.write_bytes(archive([(f"{path.stem}/data.pkl", pickle.dumps(value, 2))]))


def beside_a_model(folder: Path) -> None:
    """What trainers write beside a model, none of which is a map."""
    for name in ("config.json", "tokenizer.json", "trainer_state.json", "generation_config.json"):
        (folder / name).write_text(json.dumps({"architectures": ["X"], "vocab": {"a": 0}, "shape": [1]}))
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    (folder / "plan.py").write_text("from torch.distributed.checkpoint.metadata import x  # logical_shape\n")
    for name in ("training_args.bin", "rng_state.pth", "scheduler.pt"):
        torch_file(folder / name, {"last_epoch": 3, "state": [1, 2], "argument": Path("x")})
    (folder / "old.pkl").write_bytes(pickle.dumps({"model": {1: 2}, "f": os.getcwd}))
    os.mkfifo(folder / "pipe")


def test_loose_files_beside_a_checkpoint_are_audited(folder: Path) -> None:
    shutil.copytree(DCP, folder / "step1")
    assert shardproof("audit", folder).code == 0
    shutil.copy(BAD_OPTIMIZER, folder / "opt_bad.pt")
    (folder / "map.json").write_text(json.dumps(OVERLAP))
    ran = shardproof("audit", folder)
    assert ran.code == 1
    assert "error[CK116]" in ran.out
    assert says(ran, f"{folder}/map.json")


@pytest.mark.parametrize("inside", [".", "deep/er"])
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_maps_are_found_in_every_container(folder: Path, inside: str, protocol: int) -> None:
    (folder / inside).mkdir(parents=True, exist_ok=True)
    (folder / inside / "a.json").write_bytes(as_bytes(rows_map()))
    (folder / inside / "b.pickle").write_bytes(pickle.dumps(rows_map(), protocol))
    (folder / inside / "c").write_bytes(archive([("x/data.pkl", pickle.dumps(rows_map(), protocol))]))
    ran = shardproof("audit", folder)
    assert (ran.code, "3 maps" in ran.out) == (0, True)
    assert says(ran, "not checked: whether it is the intended layout (no --reference)")


@pytest.mark.parametrize("copy", [HF, DCP, TAG])
def test_loose_files_inside_a_checkpoint_are_audited(folder: Path, copy: Path) -> None:
    shutil.copytree(copy, folder, dirs_exist_ok=True)
    before = shardproof("audit", folder)
    assert before.code == 0
    shutil.copy(BAD_OPTIMIZER, folder / "optimizer.pt")
    ran = shardproof("audit", folder)
    assert (ran.code, "optimizer.pt" in ran.out) == (1, True)


@pytest.mark.parametrize("copy", [HF, DCP, TAG, FILES / "dcp", FILES / "ds_zero2_good"])
def test_what_lies_beside_a_right_checkpoint_accuses_nobody(folder: Path, copy: Path) -> None:
    def without_damage(_: str, names: list[str]) -> list[str]:
        return [name for name in names if name == "damaged"]

    shutil.copytree(copy, folder, dirs_exist_ok=True, ignore=without_damage)
    beside_a_model(folder)
    ran = shardproof("audit", folder)
    assert ran.code == 0, ran.out
    assert says(ran, "files without a map by their first bytes")


def test_a_folder_that_is_two_checkpoints_is_audited_as_both(folder: Path) -> None:
    shutil.copytree(HF, folder, dirs_exist_ok=True)
    shutil.copytree(FILES / "ds_zero2_rank_missing", folder, dirs_exist_ok=True)
    shutil.copytree(DCP, folder / "checkpoint-500" / "optimizer_0")
    ran = shardproof("audit", folder, "--format", "json")
    report = json.loads(ran.out)
    files = {subject["place"]["file"] for subject in report["subjects"] if subject["place"]}
    assert ran.code == 1
    assert any(file.endswith(".safetensors") for file in files)
    assert any("checkpoint-500/optimizer_0" in file for file in files)


def test_every_tag_is_audited(folder: Path) -> None:
    for tag in ("step1", "step2"):
        shutil.copytree(FILES / "deepspeed" / "damaged" / "src_shift", folder / tag)
    both = shardproof("audit", folder)
    assert says(both, "step1/mp_rank_00_model_states.pt")
    assert says(both, "step2/mp_rank_00_model_states.pt")
    (folder / "latest").write_text("step2")
    assert says(shardproof("audit", folder), "step1/mp_rank_00_model_states.pt")


def test_a_document_that_only_speaks_of_maps_is_no_map(folder: Path) -> None:
    (folder / "m.json").write_bytes(as_bytes(rows_map()))
    (folder / "m.cert.json").write_bytes(as_bytes({"schema": "x", "proved": rows_map()}))
    ran = shardproof("audit", folder)
    assert ran.code == 0
    assert says(ran, 'files without a map by their first bytes (1): "m.cert.json"')
    (folder / "m.json").unlink()
    assert shardproof("audit", folder).code == 2


def test_a_damaged_map_is_found_and_named(folder: Path) -> None:
    (folder / "good.json").write_bytes(as_bytes(rows_map()))
    (folder / "cut.json").write_bytes(as_bytes(rows_map())[:-5])
    ran = shardproof("audit", folder)
    assert (ran.code, "cut.json" in ran.out) == (2, True)


def _link_out(folder: Path) -> None:
    (folder.parent / "outside.json").write_bytes(as_bytes(OVERLAP))
    (folder / "link.json").symlink_to(folder.parent / "outside.json")


def _link_to_itself(folder: Path) -> None:
    (folder / "loop").symlink_to(folder)


def _too_deep(folder: Path) -> None:
    (folder / "a/b/c/d").mkdir(parents=True)
    (folder / "a/b/c/d/m.json").write_bytes(as_bytes(OVERLAP))


@pytest.mark.parametrize("hide", [_link_out, _link_to_itself, _too_deep])
def test_what_is_not_entered_is_said(folder: Path, hide: Callable[[Path], None]) -> None:
    (folder / "good.json").write_bytes(as_bytes(rows_map()))
    hide(folder)
    ran = shardproof("audit", folder)
    assert ran.code == 0
    assert says(ran, "what links lead to, and folders more than 3 deep (1)")


def test_more_entries_than_the_limit_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier.formats.search.MOST_ENTRIES", 3)
    for name in "abcde":
        (folder / f"{name}.json").write_bytes(as_bytes(rows_map()))
    ran = shardproof("audit", folder)
    assert (ran.code, "3 maps" in ran.out) == (0, True)
    assert says(ran, "2 entries of")


def test_only_the_beginning_of_a_loose_file_is_read(folder: Path) -> None:
    (folder / "good.json").write_bytes(as_bytes(rows_map()))
    for name, start in (("vocab.json", b'{"a": 1'), ("weights.bin", b"PK\x03\x04"), ("x.pkl", b"\x80\x04")):
        with (folder / name).open("wb") as file:
            file.write(start)
            file.truncate(1 << 36)  # reading it would not end
    assert shardproof("audit", folder).code == 0


def test_an_unreadable_file_hides_no_other(folder: Path) -> None:
    (folder / "closed.pt").write_bytes(b"PK\x03\x04")
    (folder / "closed.pt").chmod(0)
    ran = unprivileged("audit", folder / "closed.pt", BAD_OPTIMIZER)
    assert ran.code == 2
    assert "closed.pt" in ran.out
    assert "Permission denied" in ran.out
    assert "error[CK116]" in ran.out


def test_an_unreadable_folder_is_named_and_hides_nothing_beside_it(folder: Path) -> None:
    shutil.copytree(DCP, folder / "b_good")
    for name in ("a_closed", "c_closed"):
        (folder / name).mkdir()
        (folder / name).chmod(0)
    (folder / "closed.json").write_text("{}")
    (folder / "closed.json").chmod(0)
    try:
        ran = unprivileged("audit", folder, "--format", "json")
    finally:
        for name in ("a_closed", "c_closed"):
            (folder / name).chmod(0o700)
    subjects = json.loads(ran.out)["subjects"]
    closed = [subject["name"] for subject in subjects if subject["verdict"] == "unreadable"]
    assert (ran.code, closed) == (2, ["a_closed", "c_closed", "closed.json"])
    assert any(subject["verdict"] == "proved" for subject in subjects)
