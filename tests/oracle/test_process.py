"""Requests and replays as documents, and the process that turns one into the other."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.right_maps import SCALES, piece, right_map, shard_map
from verifier.model.expectation import Expectation
from verifier.oracle import child
from verifier.oracle.child import replay_in_child
from verifier.oracle.documents import Request, request_from_text, request_text
from verifier.oracle.errors import MalformedRequestError, OracleError, OracleUnavailableError, require_torch
from verifier.oracle.outcome import Drift, Replay, replay_document, replay_from_document
from verifier.oracle.replay import replay

ROOT = Path(__file__).resolve().parents[2]
COLLIDING = shard_map((4,), {0: ((4,), [piece((2,), (k, (2,)), (k * 1, (1,)), [0]) for k in (0, 1)])})


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(SCALES))
def test_requests_survive_their_document(rng, scale: Fraction) -> None:
    m = right_map(rng)
    request = Request(
        shard_map=m,
        reference=rng.choice([None, m]),
        expectation=Expectation(holes={3: (1, 2**70)}, gaps=(5,), cover=False, lookup=rng.random() < 0.5),
        device="cuda:1",
        dtype="bfloat16",
        element_budget=17,
    )
    assert request_from_text(request_text(request)) == request


@pytest.mark.parametrize(
    "scale", [Fraction(1, 3), Fraction(0.1), Fraction(5e-324), float("inf"), float("-inf")]
)
def test_scales_travel_exactly(scale) -> None:
    m = shard_map((1,), {0: ((1,), [piece((1,), (0, (1,)), (0, (1,)), [0], scale)])})
    (_, _, read) = next(request_from_text(request_text(Request(shard_map=m))).shard_map.pieces())
    assert read.scale == scale
    assert type(read.scale) is type(scale)


def test_a_bare_map_is_a_request() -> None:
    text = '{"logical_shape": [2], "ranks": {"4": {"shard_shape": [2], "pieces": [{"shape": [2], '
    text += '"source": [0, [1]], "dest": [0, [1]], "locations": [4], "scale": 0.5}]}}}'
    request = request_from_text(text)
    assert request.element_budget == 2_000_000
    (rank, _, only) = next(request.shard_map.pieces())
    assert (rank, only.scale) == (4, Fraction(1, 2))


GOOD = json.loads(request_text(Request(shard_map=COLLIDING)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": "other/1"}',
        json.dumps({**GOOD, "map": None}),
        json.dumps({**GOOD, "gaps": [True]}),
        json.dumps({**GOOD, "gaps": 3}),
        json.dumps({**GOOD, "cover": 1}),
        json.dumps({**GOOD, "device": 0}),
        json.dumps({**GOOD, "element_budget": 1.5}),
        json.dumps({k: v for k, v in GOOD.items() if k != "dtype"}),
        '{"logical_shape": [1.0], "ranks": {}}',
        '{"logical_shape": [-1], "ranks": {}}',
        json.dumps(
            {"logical_shape": [], "ranks": {r: {"shard_shape": [], "pieces": []} for r in ("1", "01")}}
        ),
        json.dumps(GOOD).replace('"locations"', '"scale": "1/0", "locations"'),
        json.dumps(GOOD).replace('"locations"', '"scale": "1e9", "locations"'),
        json.dumps(GOOD).replace('"locations"', '"scale": true, "locations"'),
        json.dumps(GOOD).replace('"source": [0, [2]]', '"source": [0]'),
        "[" * 100_000,
    ],
)
def test_malformed_requests_are_refused(text: str) -> None:
    with pytest.raises(MalformedRequestError):
        request_from_text(text)


@pytest.mark.parametrize(
    "result",
    [
        Replay(outcome="exact", device="cpu", torch_version="2", dtype="bool", total=3),
        Replay(
            outcome="differs",
            device="cpu",
            torch_version="2",
            dtype="float64",
            total=3,
            first=(1, 1.5, float("inf")),
            changed=1,
            drift=Drift(1, 2, 3),
        ),
        Replay(
            outcome="unwritten", device="cpu", torch_version="2", dtype="int8", total=3, first=(1, 1, None)
        ),
    ],
)
def test_replays_survive_their_document(result: Replay) -> None:
    text = json.dumps(replay_document(result), allow_nan=False)
    assert replay_from_document(json.loads(text)) == result


def test_nan_survives_its_document() -> None:
    result = Replay(
        outcome="differs",
        device="cpu",
        torch_version="2",
        dtype="float64",
        total=1,
        first=(0, 1.0, float("nan")),
    )
    read = replay_from_document(json.loads(json.dumps(replay_document(result), allow_nan=False)))
    assert repr(read) == repr(result)


@pytest.mark.parametrize("change", [{"outcome": "fine"}, {"first": [1]}, {"drift": [1]}, {"more": 1}])
def test_documents_that_are_no_replay_are_refused(change: dict) -> None:
    document = replay_document(Replay(outcome="exact", device="", torch_version="", dtype="", total=0))
    with pytest.raises(MalformedRequestError):
        replay_from_document({**document, **change})
    with pytest.raises(MalformedRequestError):
        replay_from_document({})


def test_the_process_says_what_the_function_says() -> None:
    assert replay_in_child(Request(shard_map=COLLIDING)) == replay(COLLIDING)
    assert replay(COLLIDING).outcome == "differs"


def test_the_process_refuses_a_device_that_does_not_exist() -> None:
    with pytest.raises(OracleError, match="'potato' is not a device"):
        replay_in_child(Request(shard_map=COLLIDING, device="potato"))


def test_the_working_directory_is_not_imported_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise SystemExit('a stranger was run')")
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger was run')")
    monkeypatch.chdir(tmp_path)
    assert replay_in_child(Request(shard_map=COLLIDING)) == replay(COLLIDING)


def test_a_process_that_takes_too_long_proves_nothing() -> None:
    result = replay_in_child(Request(shard_map=COLLIDING), timeout_seconds=0.01)
    assert (result.outcome, result.reason) == ("skipped", "the replay took over 0.01 s")


@pytest.mark.parametrize(
    ("code", "reason"),
    [(-11, "the replay process was ended by signal 11"), (1, "the replay process ended with 1")],
)
def test_a_process_that_dies_proves_nothing(monkeypatch: pytest.MonkeyPatch, code: int, reason: str) -> None:
    finished = subprocess.CompletedProcess([], code, stdout="", stderr="")
    monkeypatch.setattr(child.subprocess, "run", lambda *_, **__: finished)
    result = replay_in_child(Request(shard_map=COLLIDING))
    assert (result.outcome, result.reason) == ("skipped", reason)


def test_a_process_that_prints_nonsense_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    finished = subprocess.CompletedProcess([], 0, stdout="hello", stderr="")
    monkeypatch.setattr(child.subprocess, "run", lambda *_, **__: finished)
    with pytest.raises(OracleError, match="did not print a replay"):
        replay_in_child(Request(shard_map=COLLIDING))


def test_without_torch_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(OracleUnavailableError, match=r"pip install 'shardproof\[oracle\]'"):
        require_torch()
    with pytest.raises(OracleUnavailableError, match=r"pip install 'shardproof\[oracle\]'"):
        replay(COLLIDING)
    monkeypatch.setattr(child.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(OracleUnavailableError, match=r"pip install 'shardproof\[oracle\]'"):
        replay_in_child(Request(shard_map=COLLIDING))


def test_the_process_without_torch_exits_2_and_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['torch'] = None; from verifier.oracle.replay import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=request_text(Request(shard_map=COLLIDING)),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'shardproof[oracle]'" in done.stderr
    assert done.stdout == ""


def test_asking_for_a_replay_loads_no_torch() -> None:
    script = (
        "import sys; import verifier.oracle.child, verifier.oracle.agreement, verifier.oracle.replay; "
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.strip() == "False"


def test_a_request_keeps_only_what_a_replay_reads() -> None:
    m = replace(COLLIDING, name="x")
    request = Request(shard_map=m, expectation=Expectation(index_bits=32))
    assert request_from_text(request_text(request)).expectation == Expectation()
