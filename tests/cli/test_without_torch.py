"""An install without extras: every command helps and completes, and says what to install for the rest."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from verifier.cli.contract import _COMMANDS as CONTRACT
from verifier.cli.main import _COMMANDS

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = """
import sys
from importlib.machinery import PathFinder

real = PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda cls, name, *given: None if name.partition(".")[0] == "torch" else real(name, *given)
)
from verifier.cli.main import main

sys.argv[0] = "shardproof"
main()
"""
"""The command, where torch is not to be found."""

INSTALL = "pip install 'shardproof[oracle]'"


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def without_torch(*arguments: str, **environment: str) -> Ended:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    assert "Traceback" not in ran.stderr
    return Ended(ran.returncode, ran.stdout, ran.stderr)


HELPED = [(), *[(name,) for name in _COMMANDS], *[("contract", name) for name in CONTRACT]]


@pytest.mark.parametrize("command", HELPED, ids=" ".join)
def test_every_command_helps(command: tuple[str, ...]) -> None:
    ended = without_torch(*command, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("Usage: shardproof")


def test_the_shell_completes_commands_of_contracts() -> None:
    asked = {"_SHARDPROOF_COMPLETE": "bash_complete", "COMP_WORDS": "shardproof contract ", "COMP_CWORD": "2"}
    ended = without_torch(**asked)
    assert (ended.err, ended.code) == ("", 0)
    assert {f"plain,{name}" for name in CONTRACT} == set(ended.out.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("contract", "probe", "torch.optim.Adam"),
        ("contract", "probe", "tests.oracle.probes.planted:Right"),
        ("contract", "simulate", "corpora/contracts/protocols", "--gloo"),
        ("audit", "corpora/maps", "--oracle"),
    ],
    ids=" ".join,
)
def test_what_needs_torch_says_what_to_install(arguments: tuple[str, ...]) -> None:
    ended = without_torch(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert INSTALL in " ".join(ended.err.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("torch.optim.AdamV",), "no optimizer is called 'AdamV'"),
        (("torch.optim.Adam", "--contract", "no_such_contract.json"), "SM001 no_such_contract.json"),
        (("torch.optim.Adam", "--contract", "README.md"), "README.md"),
        (("no_such_file.py:MyAdam",), "there is no file no_such_file.py"),
        (("no_such_file.py:",), "names no function"),
        (("torch.optim", "--contract", "README.md"), "probe it by itself"),
        (("torch.optim.Adam", "--only", "everything"), "everything"),
    ],
)
def test_what_is_wrong_without_torch_is_said_without_it(arguments: tuple[str, ...], said: str) -> None:
    """Whoever has torch is not made to wait for its import then."""
    ended = without_torch("contract", "probe", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert said in " ".join(ended.err.split())
    assert INSTALL not in ended.err
