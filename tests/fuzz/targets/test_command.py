"""The command line: what it says when a fault is found, and when it cannot run."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from fuzz.targets import __main__ as command
from fuzz.targets import geometry, session
from fuzz.targets.catalogue import NAMES, SEEDS
from fuzz.targets.fault import Fault
from fuzz.targets.session import Outcome, Session, fuzz

SPOKEN = "#1\tINITED cov: 10 ft: 12 corp: 1/1b\n#9\tNEW cov: 30 ft: 45 corp: 7/90b\nstat::peak_rss_mb:  50\n"


def test_help_names_the_targets(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert all(name in said for name in (*NAMES, "--smoke", "--replay", "70"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "invalid choice: 'nonsense'"),
        ([], "name one target"),
        (["geometry", "--smoke", "60"], "name one target"),
        (["--smoke", "60", "--replay", "x"], "--replay needs the target"),
        (["--smoke", "60", "--corpus", "x"], "--corpus needs the target"),
    ],
)
def test_wrong_usage_is_explained(
    capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_a_planted_fault_is_found_by_replay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def planted(data: bytes) -> None:
        if data.startswith(b"bad"):
            raise Fault("two answers")

    monkeypatch.setattr(geometry, "one_input", planted)
    good, bad = tmp_path / "good", tmp_path / "bad one"
    good.write_bytes(b"")
    bad.write_bytes(b"bad input")
    assert command.main(["geometry", "--replay", str(good)]) == 0
    assert command.main(["geometry", "--replay", str(good), str(bad)]) == 70
    said = capsys.readouterr().out
    assert "Fault: two answers" in said
    assert f"input {bad} (9 bytes); again with: python -m fuzz.targets geometry --replay '{bad}'" in said
    assert said.endswith("geometry: 2 inputs, 1 faults\n")


def test_an_input_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["geometry", "--replay", "nowhere"]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_atheris_is_asked_for_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    assert command.main(["--smoke", "4"]) == 2
    said = capsys.readouterr().err
    assert "pip install 'shardproof[fuzz]'" in said
    assert "Traceback" not in said
    seed = next((SEEDS / "geometry").iterdir())
    assert command.main(["geometry", "--replay", str(seed)]) == 0


def test_a_crash_is_kept_and_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def crashing(target: str, *arguments: str) -> tuple[int, str]:
        (odd,) = [a.partition("=")[2] for a in arguments if a.startswith("-artifact_prefix=")]
        Path(odd, "crash-1").write_bytes(b"xyz")
        Path(odd, "slow-unit-1").write_bytes(b"")
        return 77, SPOKEN

    monkeypatch.setattr(session, "find_spec", lambda name: object())
    monkeypatch.setattr(session, "_child", crashing)
    outcome = fuzz(Session(target="pickles", seconds=1, artifacts=tmp_path / "a"))
    kept = tmp_path / "a" / "pickles" / "crash-1"
    assert outcome.faults == (kept,)
    assert kept.read_bytes() == b"xyz"
    last = list(outcome.words("pickles"))[-1]
    assert f"input {kept} (3 bytes); again with: python -m fuzz.targets pickles --replay {kept}" in last
    assert "edges 10 -> 30, features 12 -> 45, corpus 1 -> 7, 50 MiB" in outcome.summary


def test_an_end_without_an_input_is_no_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "find_spec", lambda name: object())
    monkeypatch.setattr(session, "_child", lambda *arguments: (1, "ImportError: x\n"))
    assert command.main(["pickles", "--time", "1"]) == 2
    assert "ImportError: x\nthe fuzzer ended with status 1" in capsys.readouterr().err


def test_smoke_divides_the_time_and_the_worst_status_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def fuzzed(session: Session) -> Outcome:
        asked.append((session.target, session.seconds))
        return Outcome("", (Path(__file__),) if session.target == "pickles" else (), "")

    monkeypatch.setattr(command, "fuzz", fuzzed)
    assert command.main(["--smoke", "60"]) == 70
    assert asked == [(name, 60 // len(NAMES)) for name in NAMES]


def test_what_is_new_is_kept_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def quiet(target: str, *arguments: str) -> tuple[int, str]:
        asked.append(arguments)
        return 0, SPOKEN

    monkeypatch.setattr(session, "find_spec", lambda name: object())
    monkeypatch.setattr(session, "_child", quiet)
    corpus = tmp_path / "corpus"
    fuzz(Session(target="pickles", seconds=1, corpus=corpus))
    assert not corpus.exists()
    fuzz(Session(target="pickles", seconds=1, corpus=corpus, keep=True))
    assert asked[-1][0] == "-merge=1"
    assert asked[-1][-2] == str(corpus)
    assert len(asked) == 3


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris is not installed")
def test_a_second_of_fuzzing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["pickles", "--time", "1", "--artifacts", str(tmp_path / "a")]) == 0
    assert not (tmp_path / "a").exists()
    said = capsys.readouterr().out
    assert "pickles: " in said
    assert "edges 0 -> 0" not in said
