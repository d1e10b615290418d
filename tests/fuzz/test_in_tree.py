"""The layouts by DeepSpeed's constructors are right, of every kind they promise, and cost nothing unused."""

import importlib.util
import random
import subprocess
import sys

import pytest

from fuzz.cases import Selection, case_at, layout_named
from fuzz.consumers.deepspeed_release import PACKAGE, NotInstalledError, release_version
from fuzz.in_tree import IN_TREE, PLAIN
from fuzz.layouts import LAYOUTS
from fuzz.walk import walk

deepspeed = pytest.mark.skipif(
    importlib.util.find_spec("deepspeed") is None, reason="DeepSpeed is not installed; the extra 'dev' has it"
)


@deepspeed
@pytest.mark.parametrize("size", [48, 240])
@pytest.mark.parametrize("name", IN_TREE)
def test_layouts_are_right_by_walk_and_stay_small(name: str, size: int) -> None:
    degrees, shapes = set(), set()
    for seed in range(25):
        shard_map, expectation = IN_TREE[name](random.Random(f"{name}:{seed}"), size)
        assert walk(shard_map, expectation).ok, shard_map
        assert shard_map.numel <= 1.5 * size
        degrees.add(len(shard_map.ranks))
        shapes.add(shard_map.logical_shape)
    assert degrees == {2, 3, 4}
    assert len(shapes) >= 5


@deepspeed
@pytest.mark.parametrize("name", ["ds-replicated", "ds-segmented", "ds-experts", "ds-qkv-bigcode"])
def test_some_layouts_have_replicas(name: str) -> None:
    maps = [IN_TREE[name](random.Random(seed), 240)[0] for seed in range(10)]
    assert any(len(piece.locations) > 1 for one in maps for _, _, piece in one.pieces())


@deepspeed
@pytest.mark.parametrize("name", ["ds-columns", "ds-block-gather", "ds-qkv-codegen", "ds-shared-qk"])
def test_some_layouts_are_no_plain_ranges(name: str) -> None:
    """Some shard is no run of consecutive elements."""
    maps = [IN_TREE[name](random.Random(seed), 240)[0] for seed in range(10)]
    assert any(
        len(shard.pieces) > 1 or any(p.source.strides != p.dest.strides for p in shard.pieces if p.numel > 1)
        for one in maps
        for shard in one.ranks.values()
    )


@deepspeed
def test_a_case_is_a_function_of_its_seed_and_index() -> None:
    selection = Selection(layouts=tuple(IN_TREE), dress=False)
    for index in range(30):
        assert case_at(selection, 5, index) == case_at(selection, 5, index)


def test_names_are_apart_from_ours_and_found_beside_them() -> None:
    assert all(name.startswith("ds-") for name in IN_TREE)
    assert not IN_TREE.keys() & LAYOUTS.keys()
    assert set(PLAIN) <= IN_TREE.keys()
    assert len(PLAIN) == 4
    assert layout_named("ds-rows") is IN_TREE["ds-rows"]


def test_importing_the_layouts_loads_neither_torch_nor_deepspeed() -> None:
    code = "import sys, fuzz.in_tree; sys.exit(bool({'torch', 'deepspeed'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@deepspeed
def test_the_package_itself_is_not_loaded_and_its_names_stay_free() -> None:
    """In a process of its own: other tests may have imported the package."""
    script = """
import subprocess
import sys
from fuzz.consumers.deepspeed_release import release, release_version
assert release("autoep_affine").ParamAffineMap is release("affine").ParamAffineMap
assert not [name for name in sys.modules if name.partition(".")[0] == "deepspeed"]
assert release_version()[0].isdigit()
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)


def test_without_deepspeed_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] == PACKAGE:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NotInstalledError, match="pip install 'deepspeed"):
        IN_TREE["ds-rows"](random.Random(1), 60)
    with pytest.raises(NotInstalledError, match="pip install 'deepspeed"):
        release_version()
