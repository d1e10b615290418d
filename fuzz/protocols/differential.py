"""The checkers of protocols against each other and against every run. Theory: T28, T30.

What is demanded, at the same number of ranks but for the second:

- *Search = runs.* The rules that the search finds are those that some run breaks, every decision tried out.
- *Two others = three = four.* The same rules in the world that the search takes by itself and in larger ones;
  but for S4, which three others may show and two not, where S3 is broken.
- *Search = z3.* No rule is violated iff the formula says so. Where a program has no loop, also rule by rule:
  a mismatch is S1 or S2, different outcomes are S3, a change before an error is S4. A loop may pair a
  collective with itself a round later, which steps side by side cannot show; then only the verdict is
  compared. The formula knows a collective by its place and the search by what has to match: where two places
  have equal collectives the formula may find a mismatch that is none, and only its "nothing" is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fuzz.protocols.blocks import blocks
from fuzz.protocols.walking import rules_by_walks
from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.language import Agree, Collective, Protocol, Repeat, Vote
from verifier.symbolic.protocols import check_formula

MOST_STATES = 20_000
MOST_STATES_OF_OTHERS = 4_000
"""In each of four worlds."""
MOST_WALKS = 20_000


@dataclass(frozen=True, slots=True)
class Compared:
    """What came of a comparison: ``words`` say what differs, or why nothing was compared."""

    outcome: Literal["agree", "differ", "not compared"]
    words: str = ""


AGREE = Compared("agree")
TOO_LONG = Compared("not compared", "there is too much to look at")


def rules_by_search(
    protocol: Protocol, ranks: int, *, most_states: int | None = None
) -> frozenset[str] | None:
    """The rules that the search finds violated; None where it gives up."""
    found = simulate(protocol, ranks, most_states=MOST_STATES if most_states is None else most_states)
    return frozenset(found.rules) if found.complete else None


def search_against_walks(protocol: Protocol, ranks: int, *, most: int = MOST_WALKS) -> Compared:
    """The search against every run."""
    found, defined = rules_by_search(protocol, ranks), rules_by_walks(protocol, ranks, most=most)
    if found is None or defined is None:
        return TOO_LONG
    return compared(found == defined, f"the search finds {_words(found)}, runs {_words(defined)}", protocol)


def rules_by_others(protocol: Protocol) -> tuple[frozenset[str] | None, ...]:
    """The rules that are found with one other, two, three and four beside the ranks that are named."""
    least = protocol.least_ranks
    return tuple(
        [
            rules_by_search(protocol, ranks, most_states=MOST_STATES_OF_OTHERS)
            for ranks in range(least - 1, least + 3)
        ]
    )


def others_compared(found: Sequence[frozenset[str] | None]) -> Compared:
    """Whether two others show what three and four do, and one other no more than that."""
    one, two, three, four = found
    if one is None or two is None or three is None or four is None:
        return TOO_LONG
    hidden = {"S4"} if "S3" in two else set()
    same = one <= two <= three == four and three - two <= hidden
    words = f"one other shows {_words(one)}, two {_words(two)}, three {_words(three)}, four {_words(four)}"
    return AGREE if same else Compared("differ", words)


def least_against_more(protocol: Protocol) -> Compared:
    """The search in the world that it takes by itself against one rank less, one more and two more."""
    if not protocol.is_open:
        return Compared("not compared", "there are no others")
    came = others_compared(rules_by_others(protocol))
    return replace(came, words=f"{came.words}: {protocol}") if came.outcome == "differ" else came


def search_against_formula(protocol: Protocol, ranks: int) -> Compared:
    """The search against z3."""
    found, answer = rules_by_search(protocol, ranks), check_formula(protocol, ranks)
    if found is None or answer.safe is None:
        return TOO_LONG
    if not places_differ(protocol):
        return compared(not (answer.safe and found), f"z3 finds nothing, search {_words(found)}", protocol)
    if has_loop(protocol):
        same = answer.safe is not bool(found)
    else:
        parts = (answer.mismatch, answer.outcomes_differ, answer.mutated_and_raised)
        same = parts == (bool(found & {"S1", "S2"}), "S3" in found, "S4" in found)
    return compared(same, f"the search finds {_words(found)}, z3 {answer}", protocol)


def places_differ(protocol: Protocol) -> bool:
    """Whether no two places of the program have equal collectives."""
    found = [
        s for _, block in blocks(protocol.steps) for s in block if isinstance(s, Vote | Agree | Collective)
    ]
    return len(set(found)) == len(found)


def has_loop(protocol: Protocol) -> bool:
    """Whether something is repeated."""
    return any(isinstance(step, Repeat) for _, block in blocks(protocol.steps) for step in block)


def static_differences(protocol: Protocol, ranks: int = 2, *, most_walks: int = MOST_WALKS) -> list[str]:
    """Everything that the checkers say differently, without gloo."""
    found = (
        search_against_walks(protocol, ranks, most=most_walks),
        search_against_formula(protocol, ranks),
        least_against_more(protocol),
    )
    return [one.words for one in found if one.outcome == "differ"]


def compared(same: bool, words: str, protocol: Protocol) -> Compared:
    """Agreement, or a difference with the program that shows it."""
    return AGREE if same else Compared("differ", f"{words}: {protocol}")


def _words(rules: frozenset[str]) -> str:
    return ", ".join(sorted(rules)) or "nothing"
