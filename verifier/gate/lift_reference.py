"""What lifted code is compared with: a constructor's map of the same shape and ranks, or one in a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path

from verifier.formats import FormatError, read
from verifier.gate.gating import GateError, running
from verifier.gate.loading import FunctionError, load
from verifier.gate.returned import returned_map
from verifier.model.shard_map import ShardMap


def reference_map(text: str, *, shape: tuple[int, ...], ranks: int) -> ShardMap:
    """The map at a place, ``module:function`` or ``file.py:function``, or in a file.

    A function is called with ``shape`` and ``ranks``, by these names, as far as it takes them.

    Raises:
        GateError: there is none.
    """
    if Path(text).exists() or ":" not in text:
        return _in_file(Path(text))
    try:
        loaded = load(text)
    except FunctionError as error:
        raise GateError(f"the reference: {error}") from error
    arguments = _arguments(text, loaded.call, {"shape": shape, "ranks": ranks})
    with running(loaded):
        try:
            return returned_map(loaded.call(**arguments), name=text).shard_map
        except Exception as error:  # it is code of the user's
            raise GateError(f"the reference {text} makes no map: {type(error).__name__}: {error}") from error


def _in_file(path: Path) -> ShardMap:
    """The one map of a document.

    Raises:
        GateError: it cannot be read, or holds another number of maps.
    """
    try:
        document = read(path)
    except FormatError as error:
        raise GateError(f"the reference {path} cannot be read: {error}; {error.help}") from error
    if document.refusals:
        refusal = document.refusals[0]
        raise GateError(f"the reference {path} cannot be read: {refusal.message}; {refusal.help}")
    if len(document.maps) != 1:
        raise GateError(f"the reference {path} holds {len(document.maps)} maps; give a file with one")
    return document.maps[0]


def _arguments(text: str, call: Callable[..., object], known: Mapping[str, object]) -> dict[str, object]:
    """Those of the known arguments that a function takes.

    Raises:
        GateError: it needs others.
    """
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):  # nothing is known of how it is called
        return dict(known)
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return dict(known)
    needed = [
        one.name
        for one in parameters
        if one.default is one.empty and one.kind is not one.VAR_POSITIONAL and one.name not in known
    ]
    if needed:
        raise GateError(
            f"the reference {text} also takes {', '.join(needed)}; wrap it in a function of shape and ranks"
        )
    return {one.name: known[one.name] for one in parameters if one.name in known}
