"""State that carries the names of its parameters is loaded by name, not by position. N45."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from verifier.oracle.probes.differences import entries_differ, entry_of
from verifier.oracle.probes.isolated import words
from verifier.oracle.probes.live import Live, live_of, parameters_of
from verifier.oracle.probes.observed import Case, Circumstances, NothingToTryError, Probing, observe
from verifier.oracle.probes.probed import Probed

NAME, CODE = "names", "OC619"
SHAPES = ((4, 3), (4, 3))


def probe(probed: Probed, about: Circumstances) -> Probing:
    """Load into an optimizer that has the same two named parameters in the other order."""
    return observe(NAME, CODE, [Case("two parameters in the other order", lambda: _mistaken(probed, about))])


def _mistaken(probed: Probed, about: Circumstances) -> list[str]:
    try:
        source, target = _named(probed, about, "ab"), _named(probed, about, "ba")
        for seed in (1, 2):
            source.step(seed)
    except Exception as error:
        _require_plain(probed, about)
        raise NothingToTryError(f"it takes no named parameters ({words(error)})") from error
    state = source.optimizer.state_dict()
    if not _carries_names(state):
        raise NothingToTryError("its state dict carries no names, so nothing can be loaded by name")
    try:
        target.optimizer.load_state_dict(state)
    except Exception:  # a refusal is right
        return []
    own = [entry_of(source, parameter) for parameter in source.parameters]
    if not any(own):
        return []
    got = entry_of(target, target.parameters[0])
    if not list(entries_differ(own[:1], [got])) and list(entries_differ(own[1:], [got])):
        return ["the state of 'a' is given to 'b', which comes first here"]
    return []


def _named(probed: Probed, about: Circumstances, order: str) -> Live:
    parameters = parameters_of(SHAPES, about.seed, device=about.device)
    groups = [{"params": list(zip(order, parameters, strict=True))}]
    return live_of(probed, parameters, groups)


def _require_plain(probed: Probed, about: Circumstances) -> None:
    """Make sure that it can be made and stepped without names, so that it was the names it refused."""
    plain = live_of(probed, parameters_of(SHAPES, about.seed, device=about.device))
    for seed in (1, 2):
        plain.step(seed)


def _carries_names(value: object) -> bool:
    """Whether the names of both parameters are anywhere in it, as a key or as a value."""
    return {"a", "b"} <= set(_texts(value))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(key)
            yield from _texts(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts(item)
