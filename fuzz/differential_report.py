"""The report of a differential campaign, as markdown."""

from __future__ import annotations

from fuzz.campaign import Campaign
from fuzz.tables import share, table

INTRODUCTION = """\
Each map is walked address by address (`fuzz/walk.py`) and judged. Its questions are put to every engine, and
the answers are held against a count of all visits (`fuzz/recount.py`). The certificate of a proved map is
checked as it is, with the evidence of another engine, and with one number changed so that the map is wrong.
On samples spread over all kinds z3, isl and torch are asked too. A case is made again by its name,
`seed:index`."""


def report(campaign: Campaign, command: str, maps_a_second: float) -> str:
    """The report. Only its last line depends on the machine."""
    count = campaign.counts[("disagreement",)]
    parts = [
        "# Differential campaign",
        f"Command: `{command}`",
        INTRODUCTION,
        f"**{count} disagreements.**",
        _disagreements(campaign),
        "## Maps",
        _answers(campaign),
        "## Kinds of layout",
        _both(campaign, "kind"),
        "## Mutants",
        "`none` is a map that is right by construction. A mutant may be right: what it is says the walk.",
        _both(campaign, "mutant"),
        "## Questions",
        _questions(campaign),
        "## Engines",
        "Shares of the questions that each was asked. z3 and isl were asked about a sample.",
        _engines(campaign),
        "## Certificates",
        _certificates(campaign),
        "## torch",
        _oracle(campaign),
        f"---\n(machine-dependent) {maps_a_second:.0f} maps a second",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _disagreements(campaign: Campaign) -> str:
    return "\n".join(
        f"- `{d.case}` ({d.kind}, {d.mutant or 'no mutant'}): {d.words}" for d in campaign.disagreements
    )


def _answers(campaign: Campaign) -> str:
    maps, verdicts = campaign.row("map"), campaign.row("verdict")
    total = sum(maps.values())
    rows = [(f"walk: {word}", n, share(n, total)) for word, n in maps.items()]
    rows += [(f"judge: {word}", n, share(n, total)) for word, n in verdicts.items()]
    return table(("answer", "maps", "share"), [("all", total, "100.0 %"), *rows])


def _both(campaign: Campaign, label: str) -> str:
    rows = []
    for name in campaign.row(label):
        found = campaign.row(label, name)
        rows.append((name, found.get("right", 0), found.get("wrong", 0)))
    return table((label, "right", "wrong"), rows)


def _questions(campaign: Campaign) -> str:
    words = ("holds", "fails", "without meaning")
    rows: list[list[str | int]] = []
    for name in campaign.row("question"):
        found = campaign.row("question", name)
        rows.append([name, *(found.get(word, 0) for word in words)])
    return table(("question", *words), rows)


def _engines(campaign: Campaign) -> str:
    rows = []
    for name in campaign.row("engine"):
        found = campaign.row("engine", name)
        asked = sum(found.values())
        decided = asked - found.get("unknown", 0)
        rows.append((name, asked, found.get("holds", 0), found.get("fails", 0), share(decided, asked)))
    return table(("engine", "asked", "holds", "fails", "decided"), rows)


def _certificates(campaign: Campaign) -> str:
    rows = []
    for name in campaign.row("certificate"):
        found = campaign.row("certificate", name)
        rows.append((name, found.get("checked", 0), found.get("tampered", 0)))
    return table(("evidence of", "checked", "tampered"), rows)


def _oracle(campaign: Campaign) -> str:
    outcomes: dict[str, int] = {}
    for kind in campaign.row("oracle"):
        for outcome, count in campaign.row("oracle", kind).items():
            outcomes[outcome] = outcomes.get(outcome, 0) + count
    return table(("outcome of the replay", "maps"), sorted(outcomes.items()))
