"""The code of a rule of optimizer contracts: R5 is OC105, N5 OC205, M5 OC305, S1 OC401, D1 OC501, N8 OC708.

What is only remarked upon has a family of its own, OC7xx: some rules always, others in part.
"""

from __future__ import annotations

import re

FAMILIES = {"R": 1, "N": 2, "M": 3, "S": 4, "D": 5}
REMARKED = ("N3", "N8", "N30")
"""Rules that are never an error."""
REMARKED_FAMILY = 7
_RULE = re.compile(r"([RNMSD])([0-9]{1,2})")


def code_of_rule(rule: str, *, remark: bool = False) -> str:
    """The code of a rule, of its remark where it is both.

    Raises:
        ValueError: this is no rule.
    """
    match = _RULE.fullmatch(rule)
    if match is None:
        raise ValueError(f"{rule!r} is no rule")
    family = REMARKED_FAMILY if remark or rule in REMARKED else FAMILIES[match[1]]
    return f"OC{family}{int(match[2]):02d}"


def rule_of_code(code: str) -> str:
    """The rule of a code, e.g. R5 of OC105."""
    letters = {str(number): letter for letter, number in FAMILIES.items()} | {str(REMARKED_FAMILY): "N"}
    letter = letters[code[2]]
    return f"{letter}{int(code[3:])}"
