"""The target ``contract_documents``: contracts and cuts get the verdict they were made for.

A right one is valid, one with a defect breaks one of its rules, an edited one is answered without a crash,
and state under a right cut is induced as the definition says.
"""

from __future__ import annotations

import json
from typing import Any

from fuzz.contracts.differential import disagreement
from fuzz.contracts.drawing import cut_document, draw_contract, draw_cut, draw_geometry
from fuzz.contracts.mutants import CONTRACT_MUTANTS, CUT_MUTANTS, ContractMutant
from fuzz.targets.bytes_random import BytesRandom
from fuzz.targets.edits import edited_bytes
from fuzz.targets.fault import demand
from fuzz.targets.map_documents import stored
from verifier.audit.check import Settings
from verifier.audit.contracts import check_contracts
from verifier.contracts.cases import check_document
from verifier.render.concise import render_concise
from verifier.render.json_hub import render_json
from verifier.render.json_reading import read_report
from verifier.render.text import render_text


def one_input(data: bytes) -> None:
    """One contract or cut, right, with a defect, or edited; or one cut with one geometry.

    Raises:
        Fault: the answer is not the right one. Whatever else comes out of the verifier is a fault, too.
    """
    rng = BytesRandom(data)
    match rng.getrandbits(2):
        case 0:
            cut = draw_cut(rng)
            found = disagreement(cut, draw_geometry(rng, len(cut.shape)))
            demand(found is None, "{}", found)
        case 1:
            document = draw_contract(rng)
            _judge(document, _chosen(rng, CONTRACT_MUTANTS), rng)
        case 2:
            cut_json = cut_document(draw_cut(rng))
            _judge(cut_json, _chosen(rng, CUT_MUTANTS), rng, inside="map")
        case _:
            edits = rng.getrandbits(3)
            whole = {"contract": draw_contract(rng), "map": cut_document(draw_cut(rng))}
            _draw(edited_bytes(rng, json.dumps(whole).encode(), edits))


def _chosen(rng: BytesRandom, mutants: dict[str, ContractMutant]) -> ContractMutant | None:
    """A defect, or none for one of two."""
    return mutants[rng.choice([*mutants])] if rng.getrandbits(1) else None


def _judge(
    document: dict[str, Any], mutant: ContractMutant | None, rng: BytesRandom, inside: str = ""
) -> None:
    made = document if mutant is None else mutant(rng, document)
    if made is None:
        return
    checked = check_document({inside: made} if inside else made, "drawn")
    broken = {found.rule for found in checked.broken}
    if mutant is None:
        demand(not broken, "right, but {}: {}", checked.broken, made)
    else:
        demand(broken & mutant.rules, "{} breaks {} only: {}", mutant.name, broken, made)


def _draw(data: bytes) -> None:
    """Whatever the bytes are there is one report on them, in every form."""
    with stored(data, ".json") as path:
        report = check_contracts([path], Settings())
    demand(report.subjects, "no word on a document")
    text, concise, hub = render_text(report), render_concise(report), render_json(report)
    demand(
        all(line.isprintable() for line in (text + concise + hub).split("\n")),
        "a message that is not printable",
    )
    demand(render_text(read_report(hub)) == text, "the text of the stored report is another")
