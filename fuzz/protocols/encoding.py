"""A protocol as the JSON value that it is read from."""

from __future__ import annotations

from typing import Any

from verifier.contracts.protocols.language import (
    Agree,
    Collective,
    Commit,
    IfLocal,
    IfRole,
    IfUniform,
    Local,
    Protocol,
    RaiseIfAgreed,
    RaiseIfError,
    Repeat,
    Step,
    Try,
    Vote,
)


def protocol_document(protocol: Protocol) -> dict[str, Any]:
    """The document of a protocol; what it says by default is written out."""
    return {
        "name": protocol.name,
        "groups": {name: members and list(members) for name, members in protocol.groups.items()},
        "roles": {str(rank): role for rank, role in protocol.roles.items()},
        "program": _steps(protocol.steps),
    }


def _steps(steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    return [_step(step) for step in steps]


def _step(step: Step) -> dict[str, Any]:
    match step:
        case Local(name):
            return {"local": name}
        case Try(body):
            return {"try": _steps(body)}
        case Vote(group, label):
            return {"vote": group, "label": label}
        case Agree(group, label):
            return {"agree": group, "label": label}
        case Collective(group, kind, label, dtype, shape, op):
            words = {"collective": group, "kind": kind, "label": label, "dtype": dtype, "op": op}
            return {**words, "shape": list(shape)}
        case Commit(name):
            return {"commit": name}
        case RaiseIfAgreed():
            return {"raise_if_agreed": True}
        case RaiseIfError():
            return {"raise_if_error": True}
        case Repeat(times, body):
            return {"repeat": _steps(body), "times": times}
        case IfUniform(word, then, otherwise):
            return {"if_uniform": word, "then": _steps(then), "else": _steps(otherwise)}
        case IfLocal(word, then, otherwise):
            return {"if_local": word, "then": _steps(then), "else": _steps(otherwise)}
        case IfRole(word, then, otherwise):
            return {"if_role": word, "then": _steps(then), "else": _steps(otherwise)}
