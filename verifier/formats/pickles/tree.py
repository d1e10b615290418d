"""An inert pickle reader: it builds plain objects, and never imports, calls or sets an attribute.

Python's own unpickler is a machine whose program is the file. This one knows the opcodes that data needs,
turns references into records (``records``), and refuses the rest: SM007 for a program that wants to
act, SM001 for one that is broken or uses an opcode no sample needs, SM006 for one that costs too much.
"""

from __future__ import annotations

from verifier.formats.pickles.machine import Machine, refused
from verifier.formats.pickles.opcodes import ACTING_OPCODES, OPERATIONS, STOP
from verifier.formats.pickles.records import Grammar
from verifier.formats.pickles.shape import check_shape
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError
from verifier.model.origin import Origin


def read_pickle(data: bytes, grammar: Grammar, origin: Origin, limits: Limits) -> object:
    """The value of a pickle, as plain objects, ``Name``, ``Call`` and persistent records.

    Shared parts stay shared; the value has no cycles, and its size with every part counted as often as it is
    reachable is within ``limits.nodes``.

    Raises:
        FormatError: SM001, SM003, SM006 or SM007; nothing else, whatever the bytes.
    """
    if len(data) > limits.pickle_bytes:
        raise refused(
            "SM006", f"{len(data)} bytes of pickle, over the limit of {limits.pickle_bytes}", origin
        )
    machine = Machine(data, grammar, origin, limits)
    _run(machine)
    if machine.at != len(data):
        raise machine.refused("SM001", f"{len(data) - machine.at} bytes after the end of the pickle")
    if len(machine.stack) != 1 or machine.marks:
        raise machine.refused("SM001", f"the pickle ends with {len(machine.stack)} values on its stack")
    value = machine.stack[0]
    check_shape(value, origin, limits)
    return value


def _run(machine: Machine) -> None:
    """Run up to the STOP opcode."""
    data, size = machine.data, len(machine.data)
    for _ in range(machine.limits.pickle_ops):
        if machine.at >= size:
            raise machine.refused("SM001", "the pickle ends before its last opcode")
        opcode = data[machine.at]
        machine.at += 1
        if opcode == STOP:
            return
        operation = OPERATIONS.get(opcode)
        if operation is None:
            raise _unknown(machine, opcode)
        operation(machine)
    raise machine.refused("SM006", f"more than {machine.limits.pickle_ops} opcodes")


def _unknown(machine: Machine, opcode: int) -> FormatError:
    wanted = ACTING_OPCODES.get(opcode)
    if wanted is not None:
        return machine.refused("SM007", f"the pickle uses {wanted}, which no map needs")
    return machine.refused("SM001", f"opcode 0x{opcode:02x} is not one that data needs")
