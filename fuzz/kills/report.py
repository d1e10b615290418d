"""The kill matrix as markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from fuzz.documents.mutants import DOCUMENT_MUTANTS
from fuzz.mutants import MUTANTS
from fuzz.outcomes import Tally
from fuzz.tables import table

INTRODUCTION = """\
Each mutant was made of right maps of all layouts, dressed or plain. Each engine alone judged what came of it,
under the expectation of the layout with the map before the defect as reference; z3 on a sample. A walk of
every address says which maps are wrong, and which say the same as before in other numbers.

*killed*: wrong and refuted. *open*: not decided, which is no pass; boxes and search have no method for the
comparison with a reference, and a fingerprint proves nothing. *survived*: wrong and proved. *recognised*: the
same and proved. *without reference*: only soundness is asked. A perfect tiling that is the wrong function is
sound: that is no error but the reason to have a reference."""
KINDS = ("wrong", "same")
WITHOUT_REFERENCE = "without reference"
"""The portfolio, asked only whether the map is sound."""
DOCUMENTS = """\
JSON documents of every form that is read, with one defect. *equal*: read as before, the defect stands where
nobody looks. *judged*: read as another map, which was judged. A defect that is sure must be refused."""


def report(tally: Tally, surprises: Sequence[str], engines: Sequence[str], command: str) -> str:
    """All tables; the command at the end makes them again."""
    documents = sum(tally.row("document").values())
    wrong, same = (sum(tally.row("map", mutant).get(word, 0) for mutant in MUTANTS) for word in KINDS)
    parts = [
        "# Mutants and who notices them",
        f"**{wrong + same:,} mutated maps, {wrong:,} of them wrong and {same:,} the same function; "
        f"{documents:,} broken documents; {len(surprises)} surprises.**",
        *(f"- {words}" for words in surprises),
        INTRODUCTION,
        "## Engines",
        table(
            ("engine", "killed", "open", "survived", "recognised", "open", "refuted"), _totals(tally, engines)
        ),
        "## Wrong maps",
        "Killed of the wrong ones; *n?* are open. Codes are of the first finding, the most frequent first.",
        table(("mutant", "sure", "wrong", *engines, "codes"), _killed(tally, engines)),
        "## Maps that stay the same function",
        "Recognised of the same ones; *n?* are open.",
        table(("mutant", "same", *engines), _recognised(tally, engines)),
        "## Documents",
        DOCUMENTS,
        table(("defect", "sure", "refused", "equal", "judged", "codes"), _documents(tally)),
        f"Command: `{command}`",
    ]
    return "\n\n".join(parts) + "\n"


def _totals(tally: Tally, engines: Sequence[str]) -> Iterator[list[str | int]]:
    for engine in engines:
        words: Counter[tuple[str, str]] = Counter()
        for kind in KINDS:
            for mutant in MUTANTS:
                for word, count in tally.row("engine", engine, kind, mutant).items():
                    words[kind, word] += count
        wrong: list[str | int] = [words["wrong", word] for word in ("refuted", "undecided", "proved")]
        if engine == WITHOUT_REFERENCE:
            wrong[-1] = f"{words['wrong', 'proved']:,} sound"
        same = [words["same", word] for word in ("proved", "undecided", "refuted")]
        yield [engine, *wrong, *same]


def _killed(tally: Tally, engines: Sequence[str]) -> Iterator[list[str | int]]:
    for mutant in MUTANTS.values():
        wrong = tally.row("map", mutant.name).get("wrong", 0)
        if wrong:
            cells = [_cell(tally, engine, "wrong", mutant.name, "refuted") for engine in engines]
            sure = "yes" if mutant.sure else ""
            yield [mutant.name, sure, wrong, *cells, _by_count(tally.row("code", mutant.name))]


def _recognised(tally: Tally, engines: Sequence[str]) -> Iterator[list[str | int]]:
    for mutant in MUTANTS:
        same = tally.row("map", mutant).get("same", 0)
        if same:
            yield [mutant, same, *(_cell(tally, engine, "same", mutant, "proved") for engine in engines)]


def _cell(tally: Tally, engine: str, kind: str, mutant: str, wanted: str) -> str:
    """How many have the wanted verdict, and how many are open."""
    row = tally.row("engine", engine, kind, mutant)
    undecided = row.get("undecided", 0)
    return f"{row.get(wanted, 0)}" + (f" {undecided}?" if undecided else "")


def _documents(tally: Tally) -> Iterator[list[str | int]]:
    for mutant in DOCUMENT_MUTANTS.values():
        row = tally.row("document", mutant.name)
        counts = [row.get(outcome, 0) for outcome in ("refused", "equal", "judged")]
        sure = "yes" if mutant.sure else ""
        yield [mutant.name, sure, *counts, _by_count(tally.row("refusal", mutant.name))]


def _by_count(row: dict[str, int]) -> str:
    return " ".join(sorted(row, key=lambda code: (-row[code], code)))
