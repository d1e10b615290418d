"""Contracts that come with the package: every optimizer of ``torch.optim`` (2.13), and two examples.

A scale power of null says that none is claimed. Adadelta adds one eps to quantities with powers -2 and +2 and
has none; RAdam needs lr +2 in its first steps and +1 later; LBFGS compares a norm with 1.
"""

from __future__ import annotations

import json
from importlib.resources import files

from verifier.contracts.decoding import decode_contract
from verifier.contracts.document import Contract
from verifier.contracts.reading import Notes, Value

_FOLDER = files("verifier.contracts.known")
_ENDING = ".json"


def known_names() -> tuple[str, ...]:
    """The implementations with a contract, sorted, e.g. "torch.optim.AdamW"."""
    names = [entry.name for entry in _FOLDER.iterdir() if entry.name.endswith(_ENDING)]
    return tuple(sorted(name.removesuffix(_ENDING) for name in names))


def known_document(name: str) -> object | None:
    """The JSON value of a contract, None where the implementation has none here."""
    if name not in known_names():
        return None
    document: object = json.loads(_FOLDER.joinpath(name + _ENDING).read_text(encoding="utf-8"))
    return document


def known_contract(name: str) -> Contract | None:
    """The contract of an implementation, None where it has none here."""
    document = known_document(name)
    return None if document is None else decode_contract(Value(document, "", Notes()))
