"""The table of diagnostic codes. A number is never reused; a name reads well after the word "allow".

Every code has one explain page, ``explain/CODE.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from verifier.diagnostics import contract_codes
from verifier.diagnostics.rule_codes import code_of_rule

Severity = Literal["error", "warning"]
"""A warning never changes a verdict or an exit code."""

Family = Literal[
    "document",
    "piece",
    "shard side",
    "parameter side",
    "replicas",
    "expectations",
    "constructors",
    "constructor refusals",
    "functions not gated",
    "canonical form",
    "undecided",
    "checkpoint set",
    "checkpoint remarks",
    "contract rule",
    "contract claim",
    "induced map",
    "collective symmetry",
    "device",
    "optimizer probe",
    "contract remark",
    "housekeeping",
    "tool bug",
]


@dataclass(frozen=True, slots=True)
class Code:
    """One diagnostic.

    Attributes:
        code: the stable identifier, e.g. "SM201".
        name: the kebab name, e.g. "overlapping-write".
        summary: what is wrong, in one line without numbers.
        theory: the statements of docs/theory.md the diagnostic rests on; empty where no mathematics is used.
    """

    code: str
    name: str
    severity: Severity
    family: Family
    summary: str
    theory: tuple[str, ...]


class UnknownCodeError(LookupError):
    """A word that is neither a code nor the name of one."""

    def __init__(self, word: str) -> None:
        super().__init__(f"no diagnostic is called {word!r}")


def _family(family: Family, severity: Severity, *rows: tuple[str, str, str, str]) -> tuple[Code, ...]:
    return tuple(
        Code(code, name, severity, family, summary, tuple(theory.split()))
        for code, name, summary, theory in rows
    )


def _of_rules(
    rows: tuple[tuple[str, str, str], ...], theory: str = "", *, remark: bool = False
) -> list[tuple[str, str, str, str]]:
    return [(code_of_rule(rule, remark=remark), name, summary, theory) for rule, name, summary in rows]


_DOCUMENT = _family(
    "document",
    "error",
    ("SM001", "unreadable", "the file is not in a form that can be read", "T10"),
    ("SM002", "malformed-field", "a field is missing, unknown or of the wrong type", "T10"),
    ("SM003", "duplicate-key", "one object has the same key twice", "T10"),
    ("SM004", "unknown-version", "the document has no version that is understood", "T10"),
    ("SM005", "inexact-number", "an integer is written as something that is not an integer", "T10"),
    ("SM006", "over-limit", "the document is larger or deeper than a reader accepts", "T10"),
    ("SM007", "hostile-content", "the document would do more than describe data", "T10"),
)

_PIECE = _family(
    "piece",
    "error",
    ("SM101", "write-out-of-bounds", "a piece writes outside the shard of its rank", "T2"),
    ("SM102", "read-out-of-bounds", "a piece reads outside the parameter", "T2"),
    ("SM103", "axis-mismatch", "shape and strides of a piece differ in their number of axes", "T1"),
    ("SM104", "negative-extent", "a dimension is negative", "T1"),
    ("SM105", "negative-stride", "a view runs backwards, which torch cannot express", "T1"),
    ("SM106", "non-invertible-scale", "a scale is zero, infinite or not a number", "T16"),
    ("SM107", "no-holder", "a piece names no rank that holds it", "T11"),
    ("SM108", "unknown-rank", "locations name a rank the map does not have", "T11"),
    ("SM109", "index-overflow", "an address or count does not fit the index type", "T2"),
)

_SHARD_SIDE = _family(
    "shard side",
    "error",
    ("SM201", "overlapping-write", "two pieces of a rank write the same shard address", "T3 T8 T14"),
    ("SM202", "self-overlapping-write", "one piece writes a shard address twice", "T3 T14"),
    ("SM203", "unwritten-address", "a shard address is written by no piece", "T3 T8 T15"),
    ("SM204", "shard-size-mismatch", "a shard has another size than the map says", "T8"),
)

_PARAMETER_SIDE = _family(
    "parameter side",
    "error",
    ("SM301", "uncovered-element", "an element of the parameter is held by no rank", "T3 T11 T15"),
    ("SM302", "repeated-element", "a rank holds an element of the parameter twice", "T3 T11"),
    ("SM303", "conflicting-scale", "holders of an element scale it differently", "T11 T16"),
)

_REPLICAS = _family(
    "replicas",
    "error",
    ("SM401", "undeclared-replica", "a rank holds an element without being listed as a holder", "T11"),
    ("SM402", "missing-replica", "a listed holder does not hold the element", "T11"),
    ("SM403", "mixed-holders", "the pieces that hold an element list different holders", "T11"),
    ("SM404", "replica-drift", "replicas that should be equal have different bits", "T11"),
)

_EXPECTATIONS = _family(
    "expectations",
    "error",
    ("SM501", "not-the-reference", "the map is not the same function as its reference", "T5"),
    ("SM502", "different-parameters", "two maps describe different parameters", "T10"),
    ("SM503", "unfilled-region", "a transfer leaves target addresses unwritten", "T3"),
    ("SM504", "misrouted-element", "a transfer writes an element to a place that holds another", "T5"),
    ("SM505", "scale-rule", "the scales of an element break the stated rule", "T16"),
    ("SM506", "shared-storage-unit", "two ranks write into one storage unit", "T9"),
    ("SM507", "descriptor-disagrees", "a second description of the same layout says something else", "T5"),
    ("SM508", "digest-differs", "layout and data have different digests", "T13"),
)

_CONSTRUCTORS = _family(
    "constructors",
    "error",
    ("SM601", "fails-at-size", "a constructor builds a wrong map at some size", "T5 T10 T19 T20"),
    ("SM602", "proved-on-part-of-domain", "a constructor is proved on part of its domain", "T19 T20 T21"),
    ("SM603", "accepts-bad-arguments", "a constructor builds a wrong map of bad arguments", "T10"),
)

_CONSTRUCTOR_REFUSALS = _family(
    "constructor refusals",
    "warning",
    ("SM604", "unnamed-refusal", "bad arguments raise an error that does not name them", ""),
    ("SM605", "raises-on-valid-size", "a constructor raises on a size of its domain", "T19"),
)

_NOT_GATED = _family(
    "functions not gated",
    "error",
    ("SM606", "not-gated", "a function cannot be loaded, or cannot be run as the gate was asked to", ""),
)

_CANONICAL_FORM = _family(
    "canonical form",
    "warning",
    ("SM701", "not-row-major", "strides are not those of a row-major tensor of the declared shape", "T1"),
    ("SM702", "piece-not-a-box", "a piece is not an axis-aligned box", "T6"),
    ("SM703", "pieces-out-of-order", "pieces are not listed by rising shard address", "T2"),
    ("SM704", "scaled-piece", "a piece has a scale other than 1", "T16"),
)

_CHECKPOINT_SET = _family(
    "checkpoint set",
    "error",
    ("CK101", "missing-file", "a file that the checkpoint names is not there", "T10"),
    ("CK102", "truncated-file", "a file is shorter than the bytes it should hold", "T2"),
    ("CK103", "stale-index", "the index names something the files do not hold", "T10"),
    ("CK104", "overlapping-storage", "two tensors use the same bytes", "T8"),
    ("CK105", "unlisted-tensor", "a file holds a tensor the index does not name", "T10"),
    ("CK106", "duplicate-tensor", "a tensor is stored twice", "T8"),
    ("CK107", "unreachable-bytes", "bytes of a file belong to no tensor", "T8"),
    ("CK108", "box-outside-tensor", "a block leaves its tensor along a dimension", "T2"),
    ("CK109", "path-leaves-folder", "the checkpoint names a file outside its folder", ""),
    ("CK110", "payload-disagrees", "stored bytes say another shape or type than the metadata", "T8"),
    ("CK111", "missing-block", "a block that the metadata lists is not stored", "T10"),
    ("CK112", "orphan-block", "something is stored that no tensor lists", "T10"),
    ("CK113", "wrong-byte-count", "stored bytes are not as many as shape and type need", "T8"),
    ("CK114", "rank-files-disagree", "files of different ranks contradict each other", "T10"),
    ("CK115", "unfit-sharding", "a sharding does not fit its mesh or its tensor", "T10"),
    ("CK116", "unfit-optimizer-state", "optimizer state does not fit its parameter", "T10"),
    ("CK117", "undeclared-padding", "padding of a flat buffer is not where the format puts it", "T8"),
    ("CK118", "crossed-names", "two stored names have one place in the nested state, or each other's", "T10"),
)

_CHECKPOINT_REMARKS = _family(
    "checkpoint remarks",
    "warning",
    ("CK201", "inferred-shape", "the full shape is not stored and was taken from the blocks", ""),
    ("CK202", "ignored-file", "a file in the folder is no part of the checkpoint", ""),
    ("CK203", "absent-data", "no data file is there; the metadata was checked by itself", ""),
    ("CK204", "unclaimed-bytes", "bytes of a data file belong to nothing that the metadata lists", ""),
    ("CK205", "unmatched-names", "the names of the nested state are not those that are stored", ""),
    ("CK206", "linked-file", "a link in the checkpoint leads out of its folder", ""),
)

_UNDECIDED = _family(
    "undecided",
    "error",
    ("SM901", "outside-fragment", "no engine has a method for this question", "T14"),
    ("SM902", "over-budget", "a question was not decided within the budget", "T14"),
    ("SM903", "solver-gave-up", "a solver answered that it does not know", "T17"),
)

_CONTRACT_RULES = _family("contract rule", "error", *_of_rules(contract_codes.RULES))
_CONTRACT_CLAIMS = _family("contract claim", "error", *_of_rules(contract_codes.CLAIMS))
_INDUCED_MAPS = _family("induced map", "error", *_of_rules(contract_codes.INDUCED, "T26"))
_SYMMETRY = _family("collective symmetry", "error", *_of_rules(contract_codes.SYMMETRY, "T28"))
_DEVICES = _family("device", "error", *_of_rules(contract_codes.DEVICES))
_PROBES = _family(
    "optimizer probe", "error", *[(code, name, summary, "") for code, name, summary in contract_codes.PROBES]
)
_CONTRACT_REMARKS = _family("contract remark", "warning", *_of_rules(contract_codes.REMARKS, remark=True))

_HOUSEKEEPING = _family(
    "housekeeping",
    "warning",
    ("HK101", "unused-suppression", "a suppression matches nothing", ""),
    ("HK102", "expired-suppression", "a suppression is past its end date", ""),
    ("HK103", "stale-baseline-entry", "a baseline lists a finding that is gone", ""),
)

_TOOL_BUG = _family(
    "tool bug",
    "error",
    ("TB101", "oracle-disagrees", "real execution contradicts the verdict", "T10"),
    ("TB102", "certificate-rejected", "the checker rejects the evidence of an engine", "T3 T8"),
    ("TB103", "crash", "the tool failed in a way it should not", ""),
)

CODES: tuple[Code, ...] = (
    *_DOCUMENT,
    *_PIECE,
    *_SHARD_SIDE,
    *_PARAMETER_SIDE,
    *_REPLICAS,
    *_EXPECTATIONS,
    *_CONSTRUCTORS,
    *_CONSTRUCTOR_REFUSALS,
    *_NOT_GATED,
    *_CANONICAL_FORM,
    *_UNDECIDED,
    *_CHECKPOINT_SET,
    *_CHECKPOINT_REMARKS,
    *_CONTRACT_RULES,
    *_CONTRACT_CLAIMS,
    *_INDUCED_MAPS,
    *_SYMMETRY,
    *_DEVICES,
    *_PROBES,
    *_CONTRACT_REMARKS,
    *_HOUSEKEEPING,
    *_TOOL_BUG,
)
"""Every code, in the order people meet them: by family, then by number."""

_BY_WORD = {word: code for code in CODES for word in (code.code, code.name)}


def find_code(word: str) -> Code | None:
    """The code called ``word``: an identifier in either case, or a name. None when there is none."""
    return _BY_WORD.get(word.strip().upper()) or _BY_WORD.get(word.strip().lower())


def code_of(word: str) -> Code:
    """Like ``find_code``, for words that must exist.

    Raises:
        UnknownCodeError: no code has this identifier or name.
    """
    found = find_code(word)
    if found is None:
        raise UnknownCodeError(word)
    return found
