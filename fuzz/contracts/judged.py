"""Contracts and cuts at random, held against definitions and against what is known of them."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

from fuzz.contracts import differential
from fuzz.contracts.drawing import cut_document, draw_contract, draw_cut, draw_geometry
from fuzz.contracts.malformed import malformed
from fuzz.contracts.mutants import CONTRACT_MUTANTS, CUT_MUTANTS
from fuzz.contracts.part import Part, by_count, timed
from fuzz.report.section import Row, Section
from verifier.cli.progress import Done
from verifier.contracts.cases import check_document
from verifier.contracts.induced.fields import by_closed_form

ABOUT_MAPS = """\
Cuts of small parameters, uneven and with empty shards, by flat intervals or along one dimension, each with a
geometry of a state field. *closed form*: what the induced map is, by arithmetic on the numbers of the cut.
*definition*: the support of each element of the field is listed, and held against the members that hold it.
Three things are compared: whether the field is cut, can be put together by groups, or neither; whether its
map is proved; and who holds which element."""
ABOUT_DEFECTS = """\
One labelled defect in a contract or a cut that is right. *caught*: one of the rules of the defect is broken,
or remarked upon. The rules are all that came."""
ABOUT_MALFORMED = """\
Documents that a reader of the reference vocabulary takes and should not, each right but for one place. A
remark is no error; right without the place is each of them."""


def induced_maps(pairs: int, seed: int, done: Done) -> Part:
    """Closed forms against their definition."""
    part = Part("induced maps", done)
    counted: Counter[tuple[str, str]] = Counter()
    with timed(part, pairs) as next_item:
        for index in range(pairs):
            name = f"{seed}:map:{index}"
            rng = random.Random(name)
            cut = draw_cut(rng)
            geometry = draw_geometry(rng, len(cut.shape))
            words = differential.disagreement(cut, geometry)
            kind = f"{geometry.kind} of rows" if geometry.domain == "row" else geometry.kind
            outcome = by_closed_form(cut, geometry, "f").kind if words is None else "different"
            counted[f"{kind}, {cut.layout}", outcome] += 1
            if words is not None:
                part.surprises.append(f"{name}: {words}")
            next_item()
    outcomes = sorted({outcome for _, outcome in counted} - {"different"})
    rows: list[Row] = [
        (kind, *[counted[kind, outcome] for outcome in (*outcomes, "different")])
        for kind in sorted({kind for kind, _ in counted})
    ]
    part.sections.append(
        Section(
            "Induced maps: closed form against definition",
            ("geometry, layout", *outcomes, "different"),
            tuple(rows),
            ABOUT_MAPS,
        )
    )
    return part


def defects(cases: int, seed: int, done: Done) -> Part:
    """Every labelled defect of contracts and cuts."""
    part = Part("defects of documents", done)
    rows: list[Row] = []
    mutants = (*CONTRACT_MUTANTS.values(), *CUT_MUTANTS.values())
    with timed(part, len(mutants) * cases) as next_item:
        for mutant in mutants:
            rules: Counter[str] = Counter()
            made = caught = 0
            for index in range(cases):
                next_item()
                name = f"{seed}:{mutant.name}:{index}"
                rng = random.Random(name)
                is_cut = mutant.name in CUT_MUTANTS
                broken = mutant(rng, cut_document(draw_cut(rng)) if is_cut else draw_contract(rng))
                if broken is None:
                    continue
                made += 1
                found = _rules(broken, is_cut)
                caught += bool(found & mutant.rules)
                rules.update(found)
                if not found & mutant.rules:
                    part.surprises.append(f"{name}: breaks {sorted(found)} only")
            rows.append((mutant.name, made, caught, by_count(rules)))
    part.sections.append(
        Section(
            "Defects of contracts and cuts", ("defect", "made", "caught", "rules"), tuple(rows), ABOUT_DEFECTS
        )
    )
    return part


def _rules(document: dict[str, Any], is_cut: bool) -> set[str]:
    checked = check_document({"map": document} if is_cut else document, "drawn")
    return {found.rule for found in checked.broken}


def malformed_documents(done: Done) -> Part:
    """Every document that others accept."""
    part = Part("malformed documents", done)
    items = list(malformed())
    rows: list[Row] = []
    with timed(part, len(items)) as next_item:
        for item in items:
            checked, right = check_document(item.document, "x"), check_document(item.right, "x")
            found = checked.remarks if item.remark else checked.rules
            rows.append((item.what, item.rule, "remark" if item.remark else "error", " ".join(sorted(found))))
            if item.rule not in found:
                part.surprises.append(f"{item.what}: {item.rule} is not broken, but {checked.broken}")
            if right.broken:
                part.surprises.append(f"{item.what}: right, but {right.broken}")
            next_item()
    part.sections.append(
        Section(
            "Malformed documents", ("what is wrong", "rule", "is", "all rules"), tuple(rows), ABOUT_MALFORMED
        )
    )
    return part
