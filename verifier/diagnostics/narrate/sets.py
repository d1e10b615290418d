"""CK1xx and CK2xx: the files of a checkpoint, and what they say of each other.

Every one of these faults has the same values, so that one narration words them all: ``what`` is at fault (a
noun phrase, e.g. ``the bytes of "w" at [0, 0]``), ``found`` (what is there, with its verb, e.g. ``end at byte
96``), ``stated`` (what should be there, e.g. ``the index says 128``; may be absent), ``file`` where it is
known, and ``reason``, why it matters here (may be absent). ``count`` says how many there are.
"""

from __future__ import annotations

from collections.abc import Callable

from verifier.diagnostics.codes import code_of
from verifier.diagnostics.narrate import general
from verifier.diagnostics.narrate.case import Case, Draft
from verifier.diagnostics.wording import counted

_WHY = {
    "CK101": "what it holds was not looked at; whoever loads the checkpoint fails, or goes on without it",
    "CK102": "a reader that maps the file into memory may take zeros for the missing bytes",
    "CK103": "a program that trusts the index fails late, or starts from fresh weights for what it misses",
    "CK104": "one of the two has the other's values: no reader compares, and both load without an error",
    "CK105": "a program that follows the index never loads it, and nobody is told",
    "CK106": "which copy is loaded depends on the program, and nothing says that they are equal",
    "CK107": "the bytes belong to nothing: something was cut short, or left behind by another writer",
    "CK108": "flat addresses would hide it: the same element has an address inside the tensor elsewhere",
    "CK109": "whoever follows the path reads a file that is no part of this checkpoint",
    "CK110": "the loader copies what is stored into what is promised, or fails while it runs",
    "CK111": "some loaders keep what the memory held before, others fill in zeros; neither raises an error",
    "CK112": "nothing reads it: a tensor was renamed, or files of two checkpoints are mixed",
    "CK113": "a reader takes bytes of the next tensor, or leaves out some of its own",
    "CK114": "programs read the files of one rank and trust them for all",
    "CK115": "a restore ignores it or fails after the machines are allocated",
    "CK116": "optimizers load such state without an error and step wrongly, or fail after they have begun",
    "CK117": "whoever cuts the flat buffer again shifts everything behind the padding",
    "CK118": "whoever builds the nested state again exchanges the two, loses one or fails",
    "CK204": "an entry was cut or moved, the metadata lost a tensor, or another writer left them behind",
    "CK205": "a name was lost or changed on one side; the nested state that is built again is another one",
    "CK206": "what it leads to was read, as a loader reads it; a copy of the folder may be without it",
}

_HELPS = {
    "CK101": "copy the missing file into the folder, or audit the folder it belongs to",
    "CK102": "copy the file again and compare sizes with the source",
    "CK103": "write the index again from the files it should describe",
    "CK105": "write the index again from the files it should describe",
    "CK109": "name a file inside the folder; do not load this checkpoint before knowing who wrote it",
    "CK114": "copy the files of all ranks again from one save",
    "CK118": "write the metadata again from the state, or give each name its own path in planner_data",
    "CK206": "if you did not put it there, do not load this checkpoint before knowing who did",
    "CK204": "--payload reads what the entries point at; compare the names with those of the training state",
    "CK201": "state the full shapes: --expect-shapes with the model's config.json or another checkpoint",
}


def file_set(code: str) -> Callable[[Case], Draft]:
    """The narration of one code of this family."""
    entry = code_of(code)

    def narration(case: Case) -> Draft:
        values = case.fault.values
        what, found = case.text("what"), case.text("found")
        stated = f", {case.text('stated')}" if "stated" in values else ""
        where = f"{case.text('file')}: " if "file" in values else ""
        said = f"{where}{what} {found}{stated}{_more(case)}"
        reason = case.text("reason") if "reason" in values else _WHY.get(code, "")
        return Draft(
            headline=entry.summary,
            concise=said,
            labels=case.block_label(what, found) if case.of_blocks else case.culprit_label("source", found),
            claim=said,
            notes=(reason,) if reason else (),
            helps=(_HELPS[code],) if code in _HELPS else (),
        )

    return narration


def missing_file(case: Case) -> Draft:
    """CK101. The file of a rank that a descriptor counts has words of its own."""
    return general.missing_file(case) if "descriptor" in case.fault.values else file_set("CK101")(case)


def _more(case: Case) -> str:
    count = case.fault.count
    if count is None or count.number < 2:
        return ""
    least = "" if count.exact else "at least "
    return f" (the first of {least}{counted(count.number, 'place')})"
