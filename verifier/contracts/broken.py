"""A rule that a contract breaks, as data."""

from __future__ import annotations

from dataclasses import dataclass

from verifier.diagnostics.rule_codes import REMARKED


@dataclass(frozen=True, slots=True, order=True)
class Broken:
    """One broken rule.

    Attributes:
        pointer: JSON pointer of the value at fault, in the document.
        rule: its id, e.g. "R39" or "N5".
        message: what is wrong there, in one line with the value.
        remark: whether this is only remarked upon, although others that break the rule are wrong.
    """

    pointer: str
    rule: str
    message: str
    remark: bool = False

    @property
    def is_error(self) -> bool:
        """Whether a contract with this is invalid."""
        return not self.remark and self.rule not in REMARKED
