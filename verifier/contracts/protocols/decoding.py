"""Protocols as JSON.

    {"name": "initialize", "groups": {"world": null}, "roles": {"0": "owner"},
     "program": [{"try": [{"local": "check layout"}]}, {"vote": "world"}, {"raise_if_agreed": true},
                 {"collective": "world", "kind": "all_reduce", "label": "header"}, {"commit": "state"}]}

Steps: local, try, vote, agree, collective, commit, raise_if_agreed, raise_if_error, if_uniform, if_local and
if_role (with then and else), repeat (with times).
"""

from __future__ import annotations

from collections.abc import Callable

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

MOST_RANKS = 64
MOST_TIMES = 10_000
MOST_DEPTH = 50
MOST_GROUPS = 64
MOST_TEXT = 250
MOST_AXES = 32
"""Limits of a document: loops repeat its names, and the search compares its shapes."""
RANKS = {str(rank): rank for rank in range(MOST_RANKS)}
EXPECTED = "expect"
"""Member with the rules that are violated, in the cases of a corpus."""


class ProtocolError(Exception):
    """The document is no protocol; the text says where and what would be one."""


def decode_protocol(document: object) -> Protocol:
    """The protocol of a JSON value.

    Raises:
        ProtocolError: it is malformed.
    """
    if not isinstance(document, dict) or not {"name", "program"} <= document.keys():
        raise ProtocolError("a protocol is an object with a name and a program")
    unknown = sorted(document.keys() - {"name", "program", "groups", "roles", "what", "source", EXPECTED})
    if unknown:
        raise ProtocolError(f"{unknown[0]!r} is no member of a protocol")
    name = document["name"]
    if not isinstance(name, str) or not name:
        raise ProtocolError("name is no text")
    groups = _groups(document.get("groups", {"world": None}))
    steps = _steps(document["program"], "/program", groups, 0)
    return Protocol(name=name, steps=steps, groups=groups, roles=_roles(document.get("roles", {})))


def expected_rules(document: object) -> tuple[str, ...] | None:
    """The rules that a case says are violated, None when it does not say.

    Raises:
        ProtocolError: what it says is no list of S rules.
    """
    if not isinstance(document, dict) or EXPECTED not in document:
        return None
    rules = document[EXPECTED]
    if not isinstance(rules, list) or not all(rule in ("S1", "S2", "S3", "S4") for rule in rules):
        raise ProtocolError(f"{EXPECTED} is no list of rules such as S1")
    return tuple(sorted(rules))


def is_protocol(document: object) -> bool:
    """Whether a JSON value is a protocol."""
    return isinstance(document, dict) and {"name", "program"} <= document.keys()


def _groups(value: object) -> dict[str, tuple[int, ...] | None]:
    if not isinstance(value, dict) or not value:
        raise ProtocolError("groups is no object with a group in it")
    if len(value) > MOST_GROUPS:
        raise ProtocolError(f"there are more than {MOST_GROUPS} groups")
    groups: dict[str, tuple[int, ...] | None] = {}
    for name, members in value.items():
        if members is None:
            groups[name] = None
            continue
        if not isinstance(members, list) or not members or not all(_is_rank(m) for m in members):
            raise ProtocolError(f"the members of {name!r} are no list of ranks; null stands for all")
        if sorted(set(members)) != members:
            raise ProtocolError(f"the members of {name!r} are not ascending")
        groups[name] = tuple(members)
    return groups


def _is_rank(value: object) -> bool:
    return type(value) is int and 0 <= value < MOST_RANKS


def _roles(value: object) -> dict[int, str]:
    if not isinstance(value, dict):
        raise ProtocolError("roles is no object from rank to role")
    roles: dict[int, str] = {}
    for key, role in value.items():
        if key not in RANKS or not isinstance(role, str):
            raise ProtocolError(f"{key!r} in roles is no rank, or its role no text")
        roles[RANKS[key]] = role
    return roles


def _steps(value: object, at: str, groups: dict[str, tuple[int, ...] | None], depth: int) -> tuple[Step, ...]:
    if depth > MOST_DEPTH:
        raise ProtocolError(f"{at}: nested more than {MOST_DEPTH} deep")
    if not isinstance(value, list):
        raise ProtocolError(f"{at}: expected a list of steps")
    return tuple(_step(step, f"{at}/{k}", groups, depth) for k, step in enumerate(value))


def _step(value: object, at: str, groups: dict[str, tuple[int, ...] | None], depth: int) -> Step:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ProtocolError(f"{at}: expected a step")
    words = [word for word in _READERS if word in value]
    if len(words) != 1:
        raise ProtocolError(f"{at}: expected one of {', '.join(_READERS)}")
    (word,) = words
    known, read = _READERS[word]
    unknown = sorted(value.keys() - {word, *known})
    if unknown:
        raise ProtocolError(f"{at}: {unknown[0]!r} is no member of {word}")
    if word in ("vote", "agree", "collective") and not _names(value[word], groups):
        raise ProtocolError(f"{at}: there is no group {value[word]!r}")

    def inner(key: str) -> tuple[Step, ...]:
        return _steps(value.get(key, []), f"{at}/{key}", groups, depth + 1)

    return read(_Fields(value, word, at), inner)


def _names(value: object, groups: dict[str, tuple[int, ...] | None]) -> bool:
    return isinstance(value, str) and value in groups


class _Fields:
    """The members of one step."""

    def __init__(self, value: dict[str, object], word: str, at: str) -> None:
        self._value, self._word, self._at = value, word, at

    @property
    def main(self) -> str:
        """The text that goes with the word."""
        return self.text(self._word)

    def text(self, key: str, default: str | None = None) -> str:
        """A member that is a text."""
        value = self._value.get(key, default)
        if not isinstance(value, str) or (not value and default is None):
            raise ProtocolError(f"{self._at}: {key} is no text")
        if len(value) > MOST_TEXT:
            raise ProtocolError(f"{self._at}: {key} is longer than {MOST_TEXT} characters")
        return value

    def times(self) -> int:
        """How often a body is done."""
        value = self._value.get("times")
        if type(value) is not int or not 0 <= value <= MOST_TIMES:
            raise ProtocolError(f"{self._at}: times is no integer from 0 to {MOST_TIMES}")
        return value

    def shape(self) -> tuple[int, ...]:
        """The shape of what is communicated."""
        value = self._value.get("shape", [1])
        if not isinstance(value, list) or not all(type(n) is int and n >= 0 for n in value):
            raise ProtocolError(f"{self._at}: shape is no list of extents")
        if len(value) > MOST_AXES:
            raise ProtocolError(f"{self._at}: shape has more than {MOST_AXES} axes")
        return tuple(value)

    def true(self) -> None:
        """The word stands alone: its value is true."""
        if self._value[self._word] is not True:
            raise ProtocolError(f"{self._at}: write {self._word}: true")


_Inner = Callable[[str], tuple[Step, ...]]


def _raise_if_agreed(fields: _Fields, inner: _Inner) -> Step:
    fields.true()
    return RaiseIfAgreed()


def _raise_if_error(fields: _Fields, inner: _Inner) -> Step:
    fields.true()
    return RaiseIfError()


def _collective(fields: _Fields, inner: _Inner) -> Step:
    return Collective(
        group=fields.main,
        kind=fields.text("kind"),
        label=fields.text("label", ""),
        dtype=fields.text("dtype", "float32"),
        shape=fields.shape(),
        op=fields.text("op", "sum"),
    )


_READERS: dict[str, tuple[tuple[str, ...], Callable[[_Fields, _Inner], Step]]] = {
    "local": ((), lambda fields, inner: Local(fields.main)),
    "try": ((), lambda fields, inner: Try(inner("try"))),
    "vote": (("label",), lambda fields, inner: Vote(fields.main, fields.text("label", "vote"))),
    "agree": (("label",), lambda fields, inner: Agree(fields.main, fields.text("label"))),
    "collective": (("kind", "label", "dtype", "shape", "op"), _collective),
    "commit": ((), lambda fields, inner: Commit(fields.main)),
    "raise_if_agreed": ((), _raise_if_agreed),
    "raise_if_error": ((), _raise_if_error),
    "if_uniform": (
        ("then", "else"),
        lambda fields, inner: IfUniform(fields.main, inner("then"), inner("else")),
    ),
    "if_local": (("then", "else"), lambda fields, inner: IfLocal(fields.main, inner("then"), inner("else"))),
    "if_role": (("then", "else"), lambda fields, inner: IfRole(fields.main, inner("then"), inner("else"))),
    "repeat": (("times",), lambda fields, inner: Repeat(fields.times(), inner("repeat"))),
}
