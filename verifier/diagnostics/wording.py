"""How numbers, tensors and pieces are written. Parentheses hold piece indices and shapes, brackets hold
tensor elements, bare numbers are addresses. Always.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from unicodedata import category, east_asian_width

from verifier.geometry.strided import StridedView
from verifier.model.piece import Scale

_EXACT_BITS = 128
_MOST_MARKS = 2
_UNSEEN = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    r"\U000e0100-\U000e01ef]"
)
"""Printable by the letter of Unicode, and nothing is seen of them."""
_NAME_LENGTH = 60
_LIST_LENGTH = 12
_RATIO_BITS = 80
_RATIO = re.compile(r"(?<![\w./])-?[0-9]{1,4000}/[0-9]{1,4000}(?![\w./])")
_LONG_INTEGER = re.compile(r"(?<![\w./])-?[0-9]{40,4000}(?![\w./])")


def escaped(text: str, encoding: str = "utf-8") -> str:
    """``text`` in characters that show themselves and nothing else; all others as a backslash escape.

    Names in a document are hostile input: control characters move the cursor, bidirectional controls reorder
    what is read, unseen characters make two names look alike. So do accents without end: two are shown on a
    letter, more are escaped. What the encoding lacks is escaped as well.
    """
    if text.isascii() and text.isprintable():
        return text
    shown: list[str] = []
    base, marks = "", 0
    for character in text:
        marked = _stands_on_another(character)
        base, marks = (base, marks + 1) if marked else (character, 0)
        fits = (base.isalnum() and marks <= _MOST_MARKS) if marked else _shows_itself(character)
        shown.append(character if fits and _has(encoding, character) else _escape(character))
    return "".join(shown)


def _shows_itself(character: str) -> bool:
    return character.isprintable() and _UNSEEN.match(character) is None


def _stands_on_another(character: str) -> bool:
    """Whether a character takes no column of its own: accents, and the later parts of a Korean syllable."""
    if character.isascii():
        return False
    joined_to = category(character) in ("Mn", "Me") or "\u1160" <= character <= "\u11ff"
    return joined_to and _UNSEEN.match(character) is None


def _has(encoding: str, character: str) -> bool:
    if character.isascii():
        return True
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def cells(text: str) -> Sequence[str]:
    """What stands in each column of an escaped text: accents with their letter, nothing beside a wide one."""
    if text.isascii():
        return text
    found: list[str] = []
    for character in text:
        if found and _stands_on_another(character):
            found[-2 if len(found) > 1 and not found[-1] else -1] += character
        else:
            found += [character, ""] if east_asian_width(character) in "WF" else [character]
    return found


def _escape(character: str) -> str:
    match character:
        case "\n":
            return "\\n"
        case "\r":
            return "\\r"
        case "\t":
            return "\\t"
    point = ord(character)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def shown_name(name: str) -> str:
    """A name of bounded length: a long one keeps its beginning and its end."""
    if len(name) <= _NAME_LENGTH:
        return name
    half = (_NAME_LENGTH - 3) // 2
    return f"{name[:half]}...{name[-half:]}"


def number(value: int) -> str:
    """An integer in decimal; a power of two to compare with where nobody would read the digits."""
    if value.bit_length() <= _EXACT_BITS:
        return str(value)
    return f"{'-' if value < 0 else ''}2^{value.bit_length() - 1} or more"


def counted(quantity: int, noun: str) -> str:
    """A number with its noun: ``1 piece``, ``2 pieces``."""
    return f"{number(quantity)} {noun if quantity == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of a regular English noun."""
    if noun.endswith("y") and not noun.endswith(("ay", "ey", "oy", "uy")):
        return noun.removesuffix("y") + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def singular(noun: str) -> str:
    """The singular of what ``plural`` makes, of the first word of a phrase such as ``lists of blocks``."""
    head, separator, rest = noun.partition(" of ")
    if head.endswith("ies"):
        return head.removesuffix("ies") + "y" + separator + rest
    for ending in ("ses", "xes", "ches", "shes"):
        if head.endswith(ending):
            return head.removesuffix("es") + separator + rest
    return head.removesuffix("s") + separator + rest


def listing(values: Sequence[int], total: int | None = None) -> str:
    """Numbers with commas, cut short with ``...``; ``total`` is how many there are, if more than listed."""
    shown = [number(value) for value in values[:_LIST_LENGTH]]
    if len(values) > len(shown) or (total is not None and total > len(values)):
        shown.append("...")
    return ", ".join(shown)


def joined(words: Sequence[str]) -> str:
    """Words with commas and a final ``and``."""
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def shape_text(shape: Iterable[int]) -> str:
    """A shape or a piece index, as Python writes a tuple."""
    numbers = [number(n) for n in shape]
    return f"({numbers[0]},)" if len(numbers) == 1 else f"({', '.join(numbers)})"


def element_text(element: Iterable[int]) -> str:
    """A tensor element: ``[0, 1]``."""
    return f"[{', '.join(number(i) for i in element)}]"


def scale_text(scale: Scale) -> str:
    """A scale in few characters: an integer, an exact short decimal, a fraction, else ``about`` a decimal."""
    if not isinstance(scale, Fraction):
        return str(scale)
    if scale.denominator == 1:
        return number(scale.numerator)
    nearest = _nearest(scale)
    if nearest is not None and Fraction(nearest) == scale:
        return repr(nearest)
    if nearest is None or scale.numerator.bit_length() + scale.denominator.bit_length() <= _RATIO_BITS:
        return f"{number(scale.numerator)}/{number(scale.denominator)}"
    return f"about {nearest!r}"


def _nearest(scale: Fraction) -> float | None:
    """The closest float; None where that says nothing about the size of the scale."""
    try:
        nearest = float(scale)
    except OverflowError:
        return None
    return nearest or (None if scale else nearest)


def short_scales(text: str) -> str:
    """``text`` with its fractions and very long integers as ``scale_text`` writes them."""
    text = _RATIO.sub(lambda found: _ratio_text(found[0]), text)
    return _LONG_INTEGER.sub(lambda found: number(int(found[0])), text)


def _ratio_text(text: str) -> str:
    numerator, _, denominator = text.partition("/")
    return text if int(denominator) == 0 else scale_text(Fraction(int(numerator), int(denominator)))


def sum_text(view: StridedView, index: Sequence[int]) -> str:
    """The address of one index, written out: ``0 + 0*4 + 1*1 = 1``. Theory: T1."""
    terms = [
        f"{number(i)}*{number(s) if s >= 0 else f'({number(s)})'}"
        for i, s in zip(index, view.strides, strict=True)
    ]
    return f"{' + '.join([number(view.offset), *terms])} = {number(view.address(index))}"
