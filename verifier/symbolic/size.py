"""A symbolic integer: what constructors compute with when they run for all sizes at once.

Sums, differences and products stay polynomials. A comparison is answered by whoever runs the constructor
(``Decider``), which may run it once for each answer. Division and remainder by a plain positive number bring
in a quotient and a remainder with linear constraints. Whatever would need the number itself is outside the
fragment: ``range``, indexing, floats, bits, hashing.

Theory: T19.
"""

from __future__ import annotations

from typing import NoReturn, Protocol

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

    No dataclass: ``dataclasses.asdict`` would take it apart. It has no name that an int has not, but for
    those of this class alone.
    """

    __slots__ = ("__decider", "__polynomial")

    def __init__(self, polynomial: Polynomial, decider: Decider) -> None:
        self.__polynomial = polynomial
        self.__decider = decider

    def __add__(self, other: object) -> Size:
        return self.__made(self.__polynomial + self.__operand(other, "+"))

    def __radd__(self, other: object) -> Size:
        return self.__made(self.__operand(other, "+") + self.__polynomial)

    def __sub__(self, other: object) -> Size:
        return self.__made(self.__polynomial - self.__operand(other, "-"))

    def __rsub__(self, other: object) -> Size:
        return self.__made(self.__operand(other, "-") - self.__polynomial)

    def __mul__(self, other: object) -> Size:
        return self.__made(self.__times(self.__polynomial, self.__operand(other, "*")))

    def __rmul__(self, other: object) -> Size:
        return self.__made(self.__times(self.__operand(other, "*"), self.__polynomial))

    def __neg__(self) -> Size:
        return self.__made(-self.__polynomial)

    def __pos__(self) -> Size:
        return self

    def __abs__(self) -> Size:
        return self if self >= 0 else -self

    def __round__(self, digits: object = None) -> Size:
        return self if digits is None else self.__decider.leave("a size rounded to tens")

    __trunc__ = __floor__ = __ceil__ = __pos__

    def __pow__(self, power: object, modulus: object = None) -> Size:
        if modulus is not None:
            self.__decider.leave("a power of a size with a modulus")
        if type(power) is not int or not 0 <= power <= MOST_POWER:
            self.__decider.leave(f"the power {power!r} of a size")
        raised = constant(1)
        for _ in range(power):
            raised = self.__times(raised, self.__polynomial)
        return self.__made(raised)

    def __divmod__(self, other: object) -> tuple[Size, Size]:
        return self.__divided(self.__polynomial, self.__operand(other, "divmod"))

    def __rdivmod__(self, other: object) -> tuple[Size, Size]:
        return self.__divided(self.__operand(other, "divmod"), self.__polynomial)

    def __floordiv__(self, other: object) -> Size:
        return self.__divmod__(other)[0]

    def __rfloordiv__(self, other: object) -> Size:
        return self.__rdivmod__(other)[0]

    def __mod__(self, other: object) -> Size:
        return self.__divmod__(other)[1]

    def __rmod__(self, other: object) -> Size:
        return self.__rdivmod__(other)[1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Size | int | float | complex):
            return NotImplemented
        return self.__decider.decide(is_zero(self.__polynomial - self.__operand(other, "==")))

    def __ne__(self, other: object) -> bool:
        if not isinstance(other, Size | int | float | complex):
            return NotImplemented
        return not self.__decider.decide(is_zero(self.__polynomial - self.__operand(other, "!=")))

    def __lt__(self, other: object) -> bool:
        return self.__decider.decide(not_negative(self.__operand(other, "<") - self.__polynomial - 1))

    def __le__(self, other: object) -> bool:
        return self.__decider.decide(not_negative(self.__operand(other, "<=") - self.__polynomial))

    def __gt__(self, other: object) -> bool:
        return self.__decider.decide(not_negative(self.__polynomial - self.__operand(other, ">") - 1))

    def __ge__(self, other: object) -> bool:
        return self.__decider.decide(not_negative(self.__polynomial - self.__operand(other, ">=")))

    def __bool__(self) -> bool:
        return not self.__decider.decide(is_zero(self.__polynomial))

    # numpy would compute with it as an object, where it computes with a number in 32 bits, say.
    __array_ufunc__ = None

    # Code that asks a size for its class must not be told another answer than a number gives.
    __class__ = property(lambda self: int)

    def __getattr__(self, name: str) -> NoReturn:
        """Whatever else an int has: asking for it, as ``hasattr`` does, tells a size from a number."""
        if hasattr(int, name):
            self.__decider.leave(f"{name} of a size")
        raise AttributeError(f"a size has no {name}")

    # Copies of arguments are common; one of the decider would answer what nobody asked.
    def __copy__(self) -> Size:
        return self

    def __deepcopy__(self, memo: object) -> Size:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self.__decider.leave("a size to be pickled")

    def __lshift__(self, places: object) -> Size:
        return self * self.__power_of_two(places)

    def __rshift__(self, places: object) -> Size:
        return self // self.__power_of_two(places)

    def __bits(self, other: object = None) -> NoReturn:
        self.__decider.leave("the bits of a size")

    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __rlshift__ = __rrshift__ = __invert__ = (
        __bits
    )

    def __repr__(self) -> str:
        self.__decider.tell()
        return str(self.__polynomial)

    def __format__(self, spec: str) -> str:
        if spec.endswith("c"):
            self.__decider.leave("a size as a character")
        format(0, spec)  # raises where no int has this format
        return str(self)

    def __hash__(self) -> int:
        self.__decider.leave("a size as a key: sizes that are equal have not the same hash")

    def __index__(self) -> int:
        self.__decider.leave("a size as an index, a count or the end of a range")

    def __int__(self) -> int:
        self.__decider.leave("a size as a plain int")

    def __float__(self) -> float:
        self.__decider.leave("a size as a float")

    def __complex__(self) -> complex:
        self.__decider.leave("a size as a complex number")

    def __truediv__(self, other: object) -> Size:
        self.__decider.leave("the exact quotient of a size")

    def __rtruediv__(self, other: object) -> Size:
        self.__decider.leave("an exact quotient by a size")

    def __rpow__(self, other: object) -> Size:
        self.__decider.leave("a size as a power")

    def __power_of_two(self, places: object) -> int:
        if type(places) is not int or not 0 <= places <= MOST_PLACES:
            self.__bits()
        return 1 << places

    def __times(self, one: Polynomial, other: Polynomial) -> Polynomial:
        if len(one.terms) * len(other.terms) > MOST_TERMS or one.degree + other.degree > MOST_DEGREE:
            self.__decider.leave("products of sizes with more terms than a layout has")
        return one * other

    def __made(self, polynomial: Polynomial) -> Size:
        self.__decider.require_open()
        if any(abs(factor) >= LIMIT for _, factor in polynomial.terms):
            self.__decider.leave("numbers beyond 2**120")
        return Size(polynomial, self.__decider)

    def __divided(self, dividend: Polynomial, divisor: Polynomial) -> tuple[Size, Size]:
        quotient, remainder = self.__decider.divide(dividend, divisor)
        return self.__made(quotient), self.__made(remainder)

    def __operand(self, other: object, operator: str) -> Polynomial:
        if type(other) is Size:
            other.__decider.require_open()
            return other.__polynomial
        if not isinstance(other, int) or not _is_plain(type(other)):
            self.__decider.leave(f"a size {operator} {kind_of(other)}")
        if abs(other) >= LIMIT:
            self.__decider.leave("numbers beyond 2**120")
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
        decider: Decider = object.__getattribute__(value, "_Size__decider")
        decider.require_open()
        polynomial: Polynomial = object.__getattribute__(value, "_Size__polynomial")
        return polynomial
    return constant(value) if type(value) is int else None
