"""Bad arguments: which there are, how each ends, and what is said of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz.walk import walk
from tests.downstream.deepspeed_affine import affine
from tests.gate.judged import gated
from verifier import Expectation, ShardMap, Sizes, fixed, size, sizes
from verifier.audit.check import Settings
from verifier.diagnostics.report import Report
from verifier.gate.attempts import attempt_all, attempted
from verifier.gate.gating import GateError
from verifier.gate.hostile import BadCall, bad_calls, example
from verifier.gate.hostile_report import Tried, good_arguments, hostile_subject, judged, overview, tried
from verifier.gate.loading import load
from verifier.symbolic.domain import DomainError

CONSTRUCTORS = """
import re
from verifier import ShardMap

def entry(rows):
    piece = {"shape": [rows], "source": [0, [1]], "dest": [0, [1]], "locations": [0]}
    return {"logical_shape": [rows], "ranks": {0: {"shard_shape": [rows], "pieces": [piece]}}}

class LayoutError(Exception):
    pass

def one(case):
    if case == "value": raise ValueError("case is wrong")
    if case == "type": raise TypeError("case is wrong")
    if case == "index": raise IndexError("case is wrong")
    if case == "own": raise LayoutError("case is wrong")
    if case == "wordless": raise ValueError
    if case == "wordless own": raise LayoutError
    if case == "key": raise KeyError("case is wrong")
    if case == "operation": return [][1]
    if case == "library": re.compile("(")
    if case == "model": ShardMap(name="w", logical_shape=(-1,), ranks={})
    if case == "exit": raise SystemExit(0)
    if case == "ended": raise KeyboardInterrupt
    if case == "python loop":
        while True: pass
    if case == "swallowing loop":
        try:
            while True: pass
        except Exception: return entry(1)
    if case == "loop in C": return sum(range(2**63))
    if case == "memory": return [0] * 2**40
    if case == "growing": return set(range(2**63))
    if case == "crash": import ctypes; ctypes.string_at(0)
    if case == "no map": return 5
    if case == "fraction": return entry(2.5)
    if case == "negative": return entry(-1)
    if case == "too large": return entry(2**130)
    if case == "wrong":
        made = entry(3); made["logical_shape"] = [4]; return made
    if case == "huge": return entry(2**63)
    if case == "huge and wrong":
        made = entry(2**63); made["logical_shape"] = [2**63 + 1]; return made
    print("right"); return entry(3)
"""

ENDS = {
    "value": "refused",
    "type": "refused",
    "index": "refused",
    "own": "refused",
    "wordless": "raised",
    "wordless own": "raised",
    "key": "raised",
    "operation": "raised",
    "library": "raised",
    "model": "raised",
    "ended": "raised",
    "exit": "raised",
    "python loop": "endless",
    "swallowing loop": "endless",
    "loop in C": "endless",
    "memory": "endless",
    "growing": "endless",
    "crash": "endless",
    "no map": "wrong",
    "fraction": "wrong",
    "negative": "wrong",
    "too large": "right",
    "wrong": "wrong",
    "huge": "right",
    "huge and wrong": "wrong",
    "right": "right",
}


def runs_of(where: str, over: Sizes) -> list[Tried]:
    loaded = load(where)
    return tried(loaded, good_arguments(loaded, over, None), Settings())


def test_how_calls_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ends.py").write_text(CONSTRUCTORS)
    monkeypatch.chdir(tmp_path)
    loaded = load("ends.py:one")
    calls = [BadCall("case", "text", case, {"case": case}) for case in ENDS]
    for limit, value in (("PROCESSOR_SECONDS", 1), ("STEPS", 50_000), ("MEMORY", 1 << 27)):
        monkeypatch.setattr(f"verifier.gate.attempts.{limit}", value)
    outcomes = attempt_all(loaded, calls)
    answering = Settings().answering()
    words = {
        call.value: Tried(call, outcome, judged("one", outcome, Settings(), answering)).word
        for call, outcome in zip(calls, outcomes, strict=True)
    }
    assert words == ENDS
    assert capfd.readouterr().out == ""


def test_an_example_has_different_sizes_and_more_than_one_rank() -> None:
    over = Sizes(
        shape=(size(), size()),
        widths=sizes("ranks"),
        ranks=[1, 2, 3],
        where=lambda shape, widths: shape[0] == sum(widths),
    )
    found = example(over)
    assert found["ranks"] == 2
    assert found["shape"][0] == sum(found["widths"])
    assert min(found["widths"]) >= 2
    assert example(Sizes(ranks=[1]))["ranks"] == 1
    with pytest.raises(DomainError):
        example(Sizes(rows=size(), where=lambda rows: rows < 0))


def test_one_argument_at_a_time_is_replaced() -> None:
    good = {
        "rows": 6,
        "widths": [2, 4],
        "ids": {0: [2, 0], 1: [1]},
        "order": "grouped",
        "whole": True,
        "x": 0.5,
    }
    kinds: dict[str, set[str]] = {}
    for call in bad_calls(good):
        root = call.argument.partition("[")[0]
        assert call.arguments.keys() == good.keys()
        assert repr(call.arguments[root]) != repr(good[root])
        assert {name: value for name, value in call.arguments.items() if name != root} == {
            name: value for name, value in good.items() if name != root
        }
        kinds.setdefault(call.argument, set()).add(call.kind)
    number = {"zero", "negative", "one more", "out of range", "bool", "float", "text", "None", "huge"}
    assert kinds["rows"] == kinds["widths[0]"] == kinds["widths[1]"] == number
    assert kinds["widths"] == {
        "empty", "truncated", "duplicate", "too long", "compensating", "no list", "text", "None",
    }  # fmt: skip
    assert {"fractional keys", "negative key", "truncated", "duplicate"} <= kinds["ids"]
    assert "duplicate" in kinds["ids[0]"]
    assert kinds["ids[0][1]"] == number - {"zero"}
    assert {"infinite", "NaN", "zero"} <= kinds["x"]
    assert {"text", "number"} <= kinds["whole"]
    assert "another text" in kinds["order"]
    assert good == {
        "rows": 6,
        "widths": [2, 4],
        "ids": {0: [2, 0], 1: [1]},
        "order": "grouped",
        "whole": True,
        "x": 0.5,
    }


def _sum_is(axis: int) -> Callable[..., bool]:
    return lambda shape, widths: shape[axis] == sum(widths)


@pytest.mark.parametrize(
    ("name", "over"),
    [
        ("contiguous", Sizes(shape=(size(), size()), widths=sizes(3), axis=1, where=_sum_is(1))),
        ("qkv", Sizes(heads=8, kv_heads=2, head_dim=size(), hidden=size(), ranks=[4], order="grouped")),
        ("vocabulary", Sizes(rows=size(), hidden=size(), ranks=[4], multiple=8)),
        (
            "block_gather",
            Sizes(
                shape=(size(), size()),
                ids_by_rank=fixed({0: [2, 0], 1: [1]}),
                block=size(least=1),
                where=lambda shape, block: shape[0] == 3 * block,
            ),
        ),
    ],
)
def test_our_own_layouts_refuse_by_name(name: str, over: Sizes) -> None:
    where = f"verifier.layouts:{name}"
    runs = runs_of(where, over)
    assert {one.word for one in runs} <= {"refused", "right"}
    assert sum(one.word == "refused" for one in runs) >= 20
    assert not hostile_subject(load(where), runs).findings


def test_deepspeed_takes_widths_that_sum_short_and_fractions_of_rows() -> None:
    sys.modules.setdefault("released_affine", affine())
    where = "released_affine:contiguous_split_map"
    over = Sizes(
        shape=(size(), size()),
        per_rank_sizes=sizes(2),
        partition_dim=0,
        where=lambda shape, per_rank_sizes: shape[0] == sum(per_rank_sizes),
    )
    loaded = load(where)
    runs = runs_of(where, over)
    ends = {(one.call.argument, one.call.kind): one.word for one in runs}
    assert ends["per_rank_sizes", "truncated"] == "wrong"
    assert ends["per_rank_sizes[0]", "negative"] == "wrong"
    assert ends["per_rank_sizes[0]", "None"] == "raised"
    wrong = [one for one in runs if one.word == "wrong"]
    assert len(wrong) >= 20
    small = [made for one in wrong if (made := one.outcome.returned) is not None and is_small(made.shard_map)]
    assert len(small) >= 10
    assert not any(walk(made.shard_map, Expectation()).ok for made in small)
    subject = hostile_subject(loaded, runs)
    assert Report(tool={}, subjects=(subject,)).exit_code == 1
    errors = [one for one in subject.findings if one.code == "SM603"]
    assert len(errors) == len(wrong) == subject.obligations.refuted
    assert len({one.fingerprint for one in subject.findings}) == len(subject.findings)
    first = errors[0]
    assert first.witness["made"]["logical_shape"]
    assert any(note.startswith("rank 0, shard") for note in first.notes)
    lines = overview(loaded, example(over), runs)
    assert lines[0].startswith(f"{where}: {len(runs)} bad calls made from shape=(")
    assert f"  returned a wrong map silently: {len(wrong)}" in lines


def is_small(made: ShardMap) -> bool:
    return sum([made.numel, *[shard.numel for shard in made.ranks.values()]]) < 10_000


def test_warnings_change_no_verdict(scratch: Path) -> None:
    runs = runs_of("verifier.layouts:replicated", Sizes(shape=(size(), size()), ranks=2, scale=0.5))
    words = Counter(one.word for one in runs)
    assert set(words) == {"refused", "right"}
    (scratch / "small.py").write_text(
        "from forms import entry\n\ndef small(rows):\n    if rows < 0: raise ValueError('rows is negative')\n"
        "    return entry(int(rows))\n"
    )
    subject = hostile_subject(load("small.py:small"), runs_of("small.py:small", Sizes(rows=size())))
    assert subject.verdict == "proved"
    assert {one.code for one in subject.findings} == {"SM604"}
    assert Report(tool={}, subjects=(subject,)).exit_code == 0


def test_maps_of_bad_arguments_that_are_not_decided_stand_at_the_definition(scratch: Path) -> None:
    where = "forms.py:hostile"
    runs = runs_of(where, Sizes(widths=sizes(2)))
    right = [one for one in runs if one.word == "right"]
    assert right
    unsure = [
        replace(one, judged=replace(one.judged, verdict="undecided")) if one in right and one.judged else one
        for one in runs
    ]
    subject = hostile_subject(load(where), unsure)
    (finding,) = [one for one in subject.findings if one.verdict == "undecided"]
    assert finding.code == "SM901"
    assert len(finding.notes) == subject.obligations.undecided > 0
    assert finding.place is not None
    assert (finding.place.file, finding.place.line) == ("forms.py", 108)
    assert subject.place == finding.place


def test_bad_arguments_start_from_good_ones(scratch: Path) -> None:
    for name, over in (
        ("as_dict", Sizes(rows=size(), where=lambda rows: rows < 0)),
        ("never", Sizes(rows=size())),
    ):
        with pytest.raises(GateError, match="bad arguments start from good ones"):
            runs_of(f"forms.py:{name}", over)


def test_good_arguments_are_those_of_a_way_that_was_proved(scratch: Path) -> None:
    (scratch / "odd.py").write_text(
        "from forms import entry\n\ndef odd(rows):\n    if rows % 2 == 0: raise ValueError('even')\n"
        "    return entry(rows)\n"
    )
    found = gated("odd.py:odd", Sizes(rows=size()))
    assert found.example is not None
    assert found.example["rows"] % 2 == 1


def test_the_same_call_here_and_in_a_child(scratch: Path) -> None:
    loaded = load("forms.py:at_most_ten")
    calls = list(bad_calls({"rows": 4}))
    assert attempt_all(loaded, calls) == [attempted(loaded, call) for call in calls]
