"""Universal checkpoints: full tensors have the shape of their parameter, and so have their moments."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.formats.audited import said
from tests.formats.documents import SAMPLES

SAMPLE = SAMPLES / "deepspeed" / "universal_from_autotp" / "step1"
WEIGHT = "zero/layers.0.self_attn.q_proj.weight"

Damage = Callable[[Path], object]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy to damage."""
    copy = shutil.copytree(SAMPLE, tmp_path / "step1")
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o755)
    return copy


def saved(name: str, *shape: int) -> Damage:
    return lambda folder: torch.save({"param": torch.zeros(shape)}, folder / name)


def without(folder: Path, *kinds: str) -> None:
    for kind in kinds:
        (folder / WEIGHT / f"{kind}.pt").unlink()


DAMAGES: dict[str, tuple[Damage, str, str]] = {
    "a parameter of another shape": (
        lambda f: [saved(f"{WEIGHT}/{kind}.pt", 4, 16)(f) for kind in ("fp32", "exp_avg", "exp_avg_sq")],
        "SM507",
        f"{WEIGHT}/fp32.pt states [4, 16], the map [8, 8]",
    ),
    "a moment of another shape": (
        saved(f"{WEIGHT}/exp_avg_sq.pt", 64),
        "CK116",
        f'{WEIGHT}/exp_avg_sq.pt: "exp_avg_sq" of "layers.0.self_attn.q_proj.weight" has shape (64,), the '
        "parameter has (8, 8)",
    ),
    "a parameter is missing": (
        lambda f: shutil.rmtree(f / WEIGHT),
        "CK101",
        f"{WEIGHT}/fp32.pt is missing: the number of parameters is 9",
    ),
    "a tensor is missing": (
        lambda f: (f / WEIGHT / "fp32.pt").unlink(),
        "CK101",
        f"{WEIGHT}/fp32.pt is missing: the number of parameters is 9",
    ),
    "a moment is missing": (
        lambda f: (f / WEIGHT / "exp_avg.pt").unlink(),
        "CK101",
        f"{WEIGHT}/exp_avg.pt is missing: the number of parameters is 9",
    ),
    "all but the parameter is missing": (
        lambda f: without(f, "exp_avg", "exp_avg_sq", "step"),
        "CK101",
        f"{WEIGHT}/exp_avg.pt is missing: the number of parameters is 9 (3 are missing in all)",
    ),
    "a step is missing": (
        lambda f: (f / WEIGHT / "step.pt").unlink(),
        "CK101",
        f"{WEIGHT}/step.pt is missing: the number of parameters is 9",
    ),
    "the state of the optimizer is missing": (
        lambda f: (f / "zero" / "optimizer_state.pt").unlink(),
        "CK101",
        "zero/optimizer_state.pt is missing: the number of parameters is 9",
    ),
}


def test_what_the_converter_wrote_is_proved(folder: Path) -> None:
    report = said(folder)
    assert (report.verdict, report.codes) == ("proved", ())
    assert report.checks == {"full tensors": 27}


@pytest.mark.parametrize("name", DAMAGES)
def test_one_damage_is_one_finding_in_words(name: str, folder: Path) -> None:
    damage, code, sentence = DAMAGES[name]
    damage(folder)
    report = said(folder)
    assert (report.verdict, report.codes, report.sentences) == ("refuted", (code,), (sentence,))


def test_experts_may_have_no_moments(folder: Path) -> None:
    path = folder / WEIGHT / "fp32.pt"
    torch.save(torch.load(path) | {"is_expert_param": True}, path)
    without(folder, "exp_avg", "exp_avg_sq", "step")
    assert said(folder).verdict == "proved"


def test_parameters_alone_need_no_state_of_an_optimizer(folder: Path) -> None:
    for path in (folder / "zero").rglob("*.pt"):
        if path.name != "fp32.pt":
            path.unlink()
    assert said(folder).verdict == "proved"


@pytest.mark.parametrize("name", ["fp32.pt", "step.pt"])
def test_a_file_that_is_cut_hides_no_other(name: str, folder: Path) -> None:
    path = folder / WEIGHT / name
    path.write_bytes(path.read_bytes()[:200])
    report = said(folder)
    assert (report.verdict, report.codes) == ("unreadable", ("SM001",))
    assert len(report.proved) == 9


def test_a_link_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path) -> None:
    shutil.move(folder / "zero", tmp_path / "elsewhere")
    (folder / "zero").symlink_to(tmp_path / "elsewhere")
    assert said(folder).checks == {}
