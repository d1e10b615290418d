"""The target ``protocol_documents``: protocols are read as written, and judged alike by search, runs and z3.

A disciplined one violates nothing and a changed one what its change says; an edited document is refused by
name or read, and whatever is read is written and read again as the same, and searched within its budget.
"""

from __future__ import annotations

import json

from fuzz.protocols.differential import static_differences
from fuzz.protocols.drawing import draw_disciplined, draw_protocol
from fuzz.protocols.encoding import protocol_document
from fuzz.protocols.mutants import PROTOCOL_MUTANTS
from fuzz.targets.bytes_random import BytesRandom
from fuzz.targets.edits import edited, edited_bytes
from fuzz.targets.fault import demand
from fuzz.targets.map_documents import stored
from verifier.audit.simulations import SimulationSettings, simulated
from verifier.contracts.protocols.checker import simulate
from verifier.contracts.protocols.code import TooLongError
from verifier.contracts.protocols.decoding import ProtocolError, decode_protocol
from verifier.contracts.protocols.language import Protocol
from verifier.diagnostics.report import Report
from verifier.render.concise import render_concise
from verifier.render.json_hub import render_json
from verifier.render.json_reading import read_report
from verifier.render.text import render_text

MOST_STATES = 2_000
MOST_WALKS = 200
FEW_STATES = 500
"""A report is made of protocols that are searched in so many."""


def one_input(data: bytes) -> None:
    """One protocol, of any kind, disciplined or changed; or a document that was edited.

    Raises:
        Fault: the answer is not the right one. Whatever else comes out of the verifier is a fault, too.
    """
    rng = BytesRandom(data)
    match rng.getrandbits(2):
        case 0:
            protocol = draw_protocol(rng, alike=bool(rng.getrandbits(1)), roles=bool(rng.getrandbits(1)))
            _read_again(protocol)
            found = static_differences(protocol, protocol.least_ranks, most_walks=MOST_WALKS)
            demand(not found, "{}", found)
        case 1:
            _changed(rng)
        case 2:
            on_value = rng.getrandbits(3)
            value = protocol_document(draw_protocol(rng, alike=True, roles=True))
            _read(json.dumps(edited(rng, value, on_value)).encode())
        case _:
            on_text = rng.getrandbits(3)
            text = json.dumps(protocol_document(draw_protocol(rng, alike=True, roles=True)))
            _read(edited_bytes(rng, text.encode(), on_text))


def _changed(rng: BytesRandom) -> None:
    mutant = PROTOCOL_MUTANTS[rng.choice([*PROTOCOL_MUTANTS])] if rng.getrandbits(1) else None
    protocol = draw_disciplined(rng)
    if mutant is None:
        rules = simulate(protocol).rules
        demand(not rules, "disciplined, but {}: {}", rules, protocol)
        return
    changed = mutant(rng, protocol)
    if changed is not None:
        rules = simulate(changed).rules
        demand(mutant.explains(frozenset(rules)), "{} violates {}: {}", mutant.name, rules, changed)


def _read(data: bytes) -> None:
    """Whatever the bytes are they are refused or read, searched within the budget and reported on."""
    try:
        value = json.loads(data)
        protocol = decode_protocol(value)
    except ValueError:
        _report(data)  # no JSON
        return
    except ProtocolError as error:
        demand(str(error), "refused without a word")
        _report(data)
        return
    _read_again(protocol)
    try:
        found = simulate(protocol, most_states=MOST_STATES)
    except TooLongError:
        _report(data)
        return
    demand(found.states <= MOST_STATES, "{} states are visited", found.states)
    if found.complete and found.states <= FEW_STATES:
        _report(data)


def _read_again(protocol: Protocol) -> None:
    again = decode_protocol(json.loads(json.dumps(protocol_document(protocol))))
    demand(again == protocol, "read again it is {}, not {}", again, protocol)


def _report(data: bytes) -> None:
    with stored(data, ".json") as path:
        found = simulated(path, SimulationSettings())
    unchecked = () if found.unchecked is None else (found.unchecked,)
    report = Report(tool={}, subjects=(found.subject,), unchecked=unchecked)
    text, concise, hub = render_text(report), render_concise(report), render_json(report)
    demand(
        all(line.isprintable() for line in (text + concise + hub).split("\n")),
        "a message that is not printable",
    )
    demand(render_text(read_report(hub)) == text, "the text of the stored report is another")
