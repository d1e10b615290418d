"""The command on the explain page of a probe's code finds that code; some are tried as public bugs."""

from __future__ import annotations

import re
import shlex

import pytest
import torch

from tests.cli.command import shardproof
from tests.oracle.probes.test_public_page import ROWS
from verifier.diagnostics import contract_codes
from verifier.diagnostics.codes import code_of
from verifier.diagnostics.pages import page_of

_COMMAND = re.compile(r"^```sh\nshardproof (.*?)\n```$", re.MULTILINE)
WITHOUT = {"OC607", "OC611", "OC617", "OC620"}
"""Codes that no optimizer of torch gets under the contract that is known of it."""
PAGES = {code: str(page_of(code_of(code))) for code, _, _ in contract_codes.PROBES}
COMMANDS = {code: found[1] for code, page in PAGES.items() if (found := _COMMAND.search(page)) is not None}


def test_every_page_has_a_command_where_torch_has_the_fault() -> None:
    assert COMMANDS.keys() == PAGES.keys() - WITHOUT


@pytest.mark.skipif(
    not torch.__version__.startswith("2.13."),
    reason=f"these defects were seen in torch 2.13, this is {torch.__version__}",
)
@pytest.mark.parametrize("code", [code for code in COMMANDS if (COMMANDS[code], code) not in ROWS])
def test_the_command_of_a_page_finds_its_code(code: str) -> None:
    ran = shardproof(*shlex.split(COMMANDS[code]), "--format", "concise")
    assert ran.code == 1
    assert f"error[{code}]" in ran.out
