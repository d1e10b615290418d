"""A symbolic integer: what constructors compute with when they run for all sizes at once.

Sums, differences and products stay polynomials. A comparison is answered by whoever runs the constructor
(``Decider``), which may run it once for each answer. Division and remainder by a plain positive number bring
in a quotient and a remainder with linear constraints. Whatever would need the number itself is outside the
fragment: ``range``, indexing, floats, bits, hashing.

Theory: T19.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from operator import floordiv, mod
from typing import Any, NoReturn, Protocol

from verifier.symbolic.claims import Claim, is_zero, not_negative
from verifier.symbolic.polynomial import Polynomial, constant

MOST_POWER = 16
"""A size may be raised to; whoever needs more computes no layout."""
MOST_PLACES = 64
"""By which a size may be shifted."""
MOST_TERMS = 20_000
"""Terms of two factors, multiplied."""
MOST_DEGREE = 64
"""Of a product."""
LIMIT = 2**120
"""What is not below it in a polynomial is not put into certificates, and is no size."""
_TWICE = ("add", "sub", "mul", "floordiv", "mod", "divmod", "pow")
"""Operators that the right operand may have, too."""
_ONCE = ("eq", "ne", "lt", "le", "gt", "ge", "bool", "neg", "pos", "abs", "index", "int")
_ARITHMETIC = tuple([f"__{name}__" for name in (*_TWICE, *["r" + name for name in _TWICE], *_ONCE)])


class OutsideFragmentError(Exception):
    """A constructor did with a symbolic size what only a number can do."""


class Decider(Protocol):
    """Runs the constructor and answers what it asks of sizes."""

    def decide(self, claim: Claim) -> bool:
        """Whether the claim holds on this run."""

    def divide(self, dividend: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient, rounded down, and remainder.

        Raises:
            ZeroDivisionError: the divisor is 0 on this run.
            OutsideFragmentError: there is no method for this divisor.
        """

    def require_open(self) -> None:
        """Leave where this run is over."""

    def tell(self) -> None:
        """Note that a size was turned into text: it may decide what is built. Error messages may hold it."""

    def leave(self, reason: str) -> NoReturn:
        """Note that the run is worthless, also if the constructor swallows the error.

        Raises:
            OutsideFragmentError: always.
        """


class Size:
    """One integer for each point of the domain.

    No dataclass: ``dataclasses.asdict`` would take it apart. It has no attribute that an int has not: what it
    keeps is reached by ``_polynomial`` and ``_decider`` below.
    """

    __slots__ = ("decider", "polynomial")

    def __init__(self, polynomial: Polynomial, decider: Decider) -> None:
        _POLYNOMIAL.__set__(self, polynomial)
        _DECIDER.__set__(self, decider)

    def __add__(self, other: object) -> Size:
        return _made(self, _polynomial(self) + _operand(self, other, "+"))

    def __radd__(self, other: object) -> Size:
        return _made(self, _operand(self, other, "+") + _polynomial(self))

    def __sub__(self, other: object) -> Size:
        return _made(self, _polynomial(self) - _operand(self, other, "-"))

    def __rsub__(self, other: object) -> Size:
        return _made(self, _operand(self, other, "-") - _polynomial(self))

    def __mul__(self, other: object) -> Size:
        return _made(self, _times(self, _polynomial(self), _operand(self, other, "*")))

    def __rmul__(self, other: object) -> Size:
        return _made(self, _times(self, _operand(self, other, "*"), _polynomial(self)))

    def __neg__(self) -> Size:
        return _made(self, -_polynomial(self))

    def __pos__(self) -> Size:
        return self

    def __abs__(self) -> Size:
        return self if self >= 0 else -self

    def __round__(self, digits: object = None) -> Size:
        return self if digits is None else _decider(self).leave("a size rounded to tens")

    __trunc__ = __floor__ = __ceil__ = __pos__

    def __pow__(self, power: object, modulus: object = None) -> Size:
        if modulus is not None:
            _decider(self).leave("a power of a size with a modulus")
        if type(power) is not int or not 0 <= power <= MOST_POWER:
            _decider(self).leave(f"the power {power!r} of a size")
        raised = constant(1)
        for _ in range(power):
            raised = _times(self, raised, _polynomial(self))
        return _made(self, raised)

    def __divmod__(self, other: object) -> tuple[Size, Size]:
        return _divided(self, _polynomial(self), _operand(self, other, "divmod"), divmod)

    def __rdivmod__(self, other: object) -> tuple[Size, Size]:
        return _divided(self, _operand(self, other, "divmod"), _polynomial(self), divmod)

    def __floordiv__(self, other: object) -> Size:
        return _divided(self, _polynomial(self), _operand(self, other, "//"), floordiv)[0]

    def __rfloordiv__(self, other: object) -> Size:
        return _divided(self, _operand(self, other, "//"), _polynomial(self), floordiv)[0]

    def __mod__(self, other: object) -> Size:
        return _divided(self, _polynomial(self), _operand(self, other, "%"), mod)[1]

    def __rmod__(self, other: object) -> Size:
        return _divided(self, _operand(self, other, "%"), _polynomial(self), mod)[1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Size | int | float | complex):
            return NotImplemented
        return _decider(self).decide(is_zero(_polynomial(self) - _operand(self, other, "==")))

    def __ne__(self, other: object) -> bool:
        if not isinstance(other, Size | int | float | complex):
            return NotImplemented
        return not _decider(self).decide(is_zero(_polynomial(self) - _operand(self, other, "!=")))

    def __lt__(self, other: object) -> bool:
        return _decider(self).decide(not_negative(_operand(self, other, "<") - _polynomial(self) - 1))

    def __le__(self, other: object) -> bool:
        return _decider(self).decide(not_negative(_operand(self, other, "<=") - _polynomial(self)))

    def __gt__(self, other: object) -> bool:
        return _decider(self).decide(not_negative(_polynomial(self) - _operand(self, other, ">") - 1))

    def __ge__(self, other: object) -> bool:
        return _decider(self).decide(not_negative(_polynomial(self) - _operand(self, other, ">=")))

    def __bool__(self) -> bool:
        return not _decider(self).decide(is_zero(_polynomial(self)))

    # numpy would compute with it as an object, where it computes with a number in 32 bits, say.
    __array_ufunc__ = None

    def __getattribute__(self, name: str) -> Any:
        """The class; what else an int has is about a number, and the rest no int has."""
        if name == "__class__":
            return int
        if hasattr(int, name):
            _decider(self).leave(f"{name} of a size")
        raise AttributeError(f"'int' object has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        _decider(self).leave("an attribute of a size to be set")

    def __delattr__(self, name: str) -> NoReturn:
        _decider(self).leave("an attribute of a size to be deleted")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        _decider(self).leave("a size to be pickled")

    def __lshift__(self, places: object) -> Size:
        return self * _power_of_two(self, places)

    def __rshift__(self, places: object) -> Size:
        return self // _power_of_two(self, places)

    def __and__(self, other: object = None) -> NoReturn:
        _decider(self).leave("the bits of a size")

    __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __rlshift__ = __rrshift__ = __invert__ = __and__

    def __repr__(self) -> str:
        _decider(self).tell()
        return str(_polynomial(self))

    def __format__(self, spec: str) -> str:
        if spec.endswith("c"):
            _decider(self).leave("a size as a character")
        format(0, spec)  # raises where no int has this format
        return str(self)

    def __hash__(self) -> int:
        _decider(self).leave("a size as a key: sizes that are equal have not the same hash")

    def __index__(self) -> int:
        _decider(self).leave("a size as an index, a count or the end of a range")

    def __int__(self) -> int:
        _decider(self).leave("a size as a plain int")

    def __float__(self) -> float:
        _decider(self).leave("a size as a float")

    def __complex__(self) -> complex:
        _decider(self).leave("a size as a complex number")

    def __truediv__(self, other: object) -> Size:
        _decider(self).leave("the exact quotient of a size")

    def __rtruediv__(self, other: object) -> Size:
        _decider(self).leave("an exact quotient by a size")

    def __rpow__(self, other: object) -> Size:
        _decider(self).leave("a size as a power")


# What a size keeps, by no name that an attribute has: none tells a size from a number.
_POLYNOMIAL: Any = vars(Size)["polynomial"]
_DECIDER: Any = vars(Size)["decider"]
del Size.polynomial, Size.decider  # type: ignore[attr-defined]

# A copy of a size is that size; a text says so to ``copy``.
copyreg.pickle(Size, lambda size: "size")


def _polynomial(size: Size) -> Polynomial:
    found: Polynomial = _POLYNOMIAL.__get__(size)
    return found


def _decider(size: Size) -> Decider:
    found: Decider = _DECIDER.__get__(size)
    return found


def _power_of_two(size: Size, places: object) -> int:
    if type(places) is not int or not 0 <= places <= MOST_PLACES:
        _decider(size).leave("the bits of a size")
    return 1 << places


def _times(size: Size, one: Polynomial, other: Polynomial) -> Polynomial:
    if len(one.terms) * len(other.terms) > MOST_TERMS or one.degree + other.degree > MOST_DEGREE:
        _decider(size).leave("products of sizes with more terms than a layout has")
    return one * other


def _made(size: Size, polynomial: Polynomial) -> Size:
    _decider(size).require_open()
    if any(abs(factor) >= LIMIT for _, factor in polynomial.terms):
        _decider(size).leave("numbers beyond 2**120")
    return Size(polynomial, _decider(size))


def _divided(
    size: Size, dividend: Polynomial, divisor: Polynomial, by: Callable[[int, int], object]
) -> tuple[Size, Size]:
    try:
        quotient, remainder = _decider(size).divide(dividend, divisor)
    except ZeroDivisionError:
        by(1, 0)  # raises in the words of this operator
        raise
    return _made(size, quotient), _made(size, remainder)


def _operand(size: Size, other: object, operator: str) -> Polynomial:
    if type(other) is Size:
        _decider(other).require_open()
        return _polynomial(other)
    if not isinstance(other, int) or not _is_plain(type(other)):
        _decider(size).leave(f"a size {operator} {kind_of(other)}")
    if abs(other) >= LIMIT:
        _decider(size).leave("numbers beyond 2**120")
    return constant(other)


def _is_plain(kind: type) -> bool:
    """Whether numbers of this type compute as plain ones do: those of an enumeration, say."""
    return kind in (int, bool) or all(getattr(kind, name) is getattr(int, name) for name in _ARITHMETIC)


def kind_of(value: object) -> str:
    """What it is, with an article."""
    name = "size" if isinstance(value, Size) else type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' else 'a'} {name}"


def polynomial_of(value: object) -> Polynomial | None:
    """The polynomial of a size or a plain integer, None for anything else.

    Raises:
        OutsideFragmentError: it is a size of a run that is over.
    """
    if type(value) is Size:
        _decider(value).require_open()
        return _polynomial(value)
    return constant(value) if type(value) is int else None
