"""Protocols with roles and without, in worlds of one other rank, two, three and four."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

from fuzz.contracts.part import Part, timed
from fuzz.protocols.differential import MOST_STATES_OF_OTHERS, others_compared, rules_by_others
from fuzz.protocols.drawing import draw_protocol, draw_reacting
from fuzz.report.section import Row, Section
from verifier.cli.progress import Done
from verifier.contracts.protocols.language import Protocol

FAMILIES: dict[str, tuple[int, Callable[[random.Random], Protocol]]] = {
    "no roles": (2, draw_protocol),
    "roles, a group of some ranks": (2, lambda rng: draw_protocol(rng, roles=True)),
    "the same, names shared": (1, lambda rng: draw_protocol(rng, alike=True, roles=True)),
    "reactions by role or choice": (5, draw_reacting),
}
"""How many of ten programs, and how they are drawn."""
COLUMNS = ("alike", "S4 with three", "differ", "open", "more than with one")
ABOUT = """\
*Others* are the ranks without a role that are in no group of some ranks; the rest is what a program names.
The search takes two of them by itself, which by T30 show whether any number of them goes wrong. *alike*: with
two it finds the rules that it finds with three and with four. *S4 with three*: there S4 comes with three,
where S3 is there with two, as T30 allows. *differ*: anything else, which must not be. *more than with one*:
how often one other shows less than two: so often too small a world would have been noticed. *open*: more than
{states:,} states."""


def worlds(count: int, seed: int, done: Done) -> Part:
    """So many programs, each in four worlds."""
    part = Part("numbers of ranks", done)
    rows: list[Row] = []
    with timed(part, sum(count * share // 10 for share, _ in FAMILIES.values())) as next_item:
        for family, (share, draw) in FAMILIES.items():
            outcomes: Counter[str] = Counter()
            for index in range(count * share // 10):
                name = f"{seed}:worlds:{family}:{index}"
                protocol = draw(random.Random(name))
                outcomes.update(_outcomes(protocol, name, part))
                next_item()
            rows.append((family, count * share // 10, *[outcomes[word] for word in COLUMNS]))
    words = ABOUT.format(states=MOST_STATES_OF_OTHERS)
    part.sections.append(Section("Numbers of ranks", ("family", "programs", *COLUMNS), tuple(rows), words))
    return part


def _outcomes(protocol: Protocol, name: str, part: Part) -> list[str]:
    """The columns in which a program counts."""
    found = rules_by_others(protocol)
    came = others_compared(found)
    if came.outcome == "not compared":
        return ["open"]
    if came.outcome == "differ":
        part.surprises.append(f"{name}: {came.words}: {protocol}")
        return ["differ"]
    one, two, three, _ = found
    more = ["more than with one"] if one != two else []
    return ["alike" if two == three else "S4 with three", *more]
