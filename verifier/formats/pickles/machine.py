"""The stack machine of a pickle, with checked access to program, stack and memo.

It builds plain objects and inert records (``records``). What the opcodes do with it is in
``opcodes``.
"""

from __future__ import annotations

from verifier.formats.pickles.records import COUNTER, DEFAULTDICT, GETATTR, Call, Grammar, Name
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.model.origin import Origin

DAMAGED_HELP = "the file is damaged or no pickle; copy it again from where it was written"
HOSTILE_HELP = "do not load this file with torch.load or pickle; find out who wrote it"
COSTLY_HELP = "no map needs as much; if you trust the file, save the map as JSON"

WORD = 64
"""Integer keys fit a word: wider ones can be chosen to share one hash, and make a dict quadratic."""

MARK = object()
"""On the stack, where a group of values begins."""


def refused(code: str, message: str, origin: Origin) -> FormatError:
    """The refusal of a pickle."""
    advice = {"SM007": HOSTILE_HELP, "SM006": COSTLY_HELP}.get(code, DAMAGED_HELP)
    return FormatError(code, message, origin, help=advice)


class Machine:
    """The stack machine of one pickle. ``at`` is the next byte; every read is checked against the end."""

    __slots__ = ("at", "data", "grammar", "limits", "marks", "memo", "origin", "stack")

    def __init__(self, data: bytes, grammar: Grammar, origin: Origin, limits: Limits) -> None:
        self.data = data
        self.grammar = grammar
        self.origin = origin
        self.limits = limits
        self.at = 0
        self.stack: list[object] = []
        self.marks = 0
        self.memo: dict[int, object] = {}

    def refused(self, code: str, message: str) -> FormatError:
        """The refusal of the pickle at this byte."""
        return refused(code, f"{message} (byte {self.at} of the pickle)", self.origin)

    # Reading the program.

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        end = self.at + count
        if count < 0 or end > len(self.data):
            raise self.refused("SM001", f"{count} bytes announced, {len(self.data) - self.at} left")
        chunk = self.data[self.at : end]
        self.at = end
        return chunk

    def byte(self) -> int:
        """The next byte."""
        if self.at >= len(self.data):
            raise self.refused("SM001", "a byte announced, none left")
        self.at += 1
        return self.data[self.at - 1]

    def unsigned(self, width: int) -> int:
        """The next ``width`` bytes as a little-endian count."""
        return int.from_bytes(self.take(width), "little")

    def line(self) -> bytes:
        """The bytes up to the next line feed, which is consumed."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise self.refused("SM001", "a text line without an end")
        return self.take(end + 1 - self.at)[:-1]

    def text(self, raw: bytes, encoding: str = "utf-8") -> str:
        """Bytes as text."""
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            raise self.refused("SM001", f"a text that is not {encoding}") from None

    def decimal(self, raw: bytes) -> int:
        """An integer in decimal digits."""
        digits = self.text(raw, "ascii")
        if len(digits) > self.limits.integer_digits:
            raise self.refused("SM006", f"a number of {len(digits)} digits")
        if not digits.lstrip("-").isdecimal() or digits.count("-") > digits.startswith("-"):
            raise self.refused("SM001", f"{shown(digits)} is no integer")
        return int(digits)

    # Using the stack.

    def pop(self) -> object:
        """The uppermost value, taken off."""
        if not self.stack or self.stack[-1] is MARK:
            raise self.refused("SM001", "the stack is empty where a value is needed")
        return self.stack.pop()

    def top(self) -> object:
        """The uppermost value, left in place."""
        value = self.pop()
        self.stack.append(value)
        return value

    def since_mark(self) -> list[object]:
        """The values above the uppermost mark, taken off together with it."""
        if not self.marks:
            raise self.refused("SM001", "no mark where one is needed")
        at = len(self.stack) - 1
        while self.stack[at] is not MARK:
            at -= 1
        items = self.stack[at + 1 :]
        del self.stack[at:]
        self.marks -= 1
        return items

    def remember(self, slot: int) -> None:
        """Put the uppermost value into a memo slot."""
        if slot > self.limits.memo:
            raise self.refused("SM006", f"memo slot {slot}, over the limit of {self.limits.memo}")
        self.memo[slot] = self.top()

    def recall(self, slot: int) -> None:
        """Push the value of a memo slot."""
        if slot not in self.memo:
            raise self.refused("SM001", f"memo slot {slot} was never filled")
        self.stack.append(self.memo[slot])

    # Building values.

    def set_items(self, target: object, items: list[object]) -> None:
        """Put alternating keys and values into a mapping; no key twice."""
        if not isinstance(target, dict):
            raise self.refused("SM007", f"items are set on {describe(target)}, which is no mapping")
        if len(items) % 2:
            raise self.refused("SM001", "a key without a value")
        for position in range(0, len(items), 2):
            key = items[position]
            self.check_key(key)
            if key in target:
                raise self.refused("SM003", f"the key {describe(key)} appears twice in one mapping")
            target[key] = items[position + 1]

    def check_key(self, key: object) -> None:
        """Refuse keys that a dict cannot hold, or that can make it slow."""
        match key:
            case None | bool() | float() | str() | bytes() | Name():
                return
            case int() if key.bit_length() < WORD:
                return
            case Call() if key.function in self.grammar.keys:
                return
            case tuple() if len(key) <= self.limits.axes and all(
                isinstance(part, bool | int | float | str | bytes | None) for part in key
            ):
                return
        raise self.refused("SM001", f"{describe(key)} is used as a key")

    def append(self, target: object, items: list[object]) -> None:
        """Append to a list."""
        if not isinstance(target, list):
            raise self.refused("SM007", f"items are appended to {describe(target)}, which is no list")
        target.extend(items)

    def refer(self, module: str, name: str) -> None:
        """Push a global of the grammar as a ``Name``."""
        reference = Name(module, name)
        if not self.grammar.knows(reference):
            raise self.refused(
                "SM007", f"the pickle asks for {shown(f'{module}.{name}')}, which no map needs"
            )
        self.stack.append(reference)

    def call(self, function: object, args: object) -> None:
        """Push the record of a call that the grammar has."""
        if not isinstance(args, tuple):
            raise self.refused("SM001", f"{describe(args)} is no argument list")
        if isinstance(function, Name) and function in self.grammar.mappings:
            self.stack.append(self._mapping(function, args))
        elif isinstance(function, Name) and function in self.grammar.calls:
            self.stack.append(Call(function, args))
        elif isinstance(function, Name) and function in GETATTR:
            self.stack.append(self._nested(args))
        else:
            raise self.refused("SM007", f"the pickle calls {describe(function)}, which no map needs")

    def _mapping(self, function: Name, args: tuple[object, ...]) -> object:
        """A plain dict for a mapping. That of a Counter is its argument, which is not copied: that costs."""
        match args:
            case ():
                return {}
            case (Name() | None,) if function == DEFAULTDICT:
                return {}
            case (dict() as counts,) if function == COUNTER:
                return counts
        raise self.refused("SM001", f"{function} is called with arguments")

    def _nested(self, args: tuple[object, ...]) -> Name:
        """A class inside another one, which the grammar has."""
        match args:
            case (Name() as outer, str(inner)):
                found = Name(outer.module, f"{outer.name}.{inner}")
                if found in self.grammar.nested:
                    return found
        raise self.refused("SM007", "the pickle asks for an attribute that no map needs")

    def build(self, target: object, state: object) -> None:
        """Keep the state of a call, or what is asked for of it; state given to a mapping is dropped."""
        if isinstance(target, dict):
            return
        if isinstance(target, Call) and target.function in self.grammar.stateful and target.state is None:
            kept = self.grammar.kept.get(target.function)
            if kept is not None and isinstance(state, dict):
                state = {key: value for key, value in state.items() if key in kept}
            target.state = state
            return
        raise self.refused("SM007", f"the pickle sets state on {describe(target)}, which no map needs")

    def persistent(self, identity: object) -> None:
        """Push the record of an object outside of the pickle."""
        if self.grammar.persistent is None:
            raise self.refused("SM007", "the pickle refers to objects outside of it")
        try:
            self.stack.append(self.grammar.persistent(identity))
        except ValueError as error:
            raise self.refused("SM001", str(error)) from None


def describe(value: object) -> str:
    """A value of a pickle in a message: one line, safe to print."""
    match value:
        case Name():
            return shown(str(value))
        case Call():
            return f"the result of {shown(str(value.function))}"
        case _:
            return shown(value)
