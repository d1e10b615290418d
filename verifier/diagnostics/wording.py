"""How numbers, tensors and pieces are written. Parentheses hold piece indices and shapes, brackets hold
tensor elements, bare numbers are addresses. Always.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction

from verifier.geometry.strided import StridedView
from verifier.model.piece import Scale

_EXACT_BITS = 128
_NAME_LENGTH = 60
_LIST_LENGTH = 12
_RATIO_BITS = 80
_RATIO = re.compile(r"(?<![\w./])-?[0-9]{1,4000}/[0-9]{1,4000}(?![\w./])")
_LONG_INTEGER = re.compile(r"(?<![\w./])-?[0-9]{40,4000}(?![\w./])")


def escaped(text: str) -> str:
    """``text`` in printable ASCII, everything else as a backslash escape.

    Names in a document are hostile input: control characters move the cursor, bidirectional marks reorder
    what is read, wide characters break the carets.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if " " <= c <= "~" else _escape(c) for c in text)


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
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def singular(noun: str) -> str:
    """The singular of what ``plural`` makes, of the first word of a phrase such as ``lists of blocks``."""
    head, separator, rest = noun.partition(" of ")
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
