"""Scale powers: how state and hyperparameters change with the unit of the parameter. Rule N34.

Multiply a parameter by s and its gradient is divided by s. A symbol has power p when it must be multiplied by
s**p for the step to stay the same step. Each equation of a contract says that a sum of powers is 0; together
they are a linear system over the declared powers and the unknown ones. Theory: T27.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from verifier.contracts.broken import Broken
from verifier.contracts.document import Contract, ScaleEquation
from verifier.contracts.reading import step

GIVEN: Mapping[str, int] = {"param": 1, "grad": -1}
"""Powers by definition."""

FLOATING = ("param", "float32", "float64", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")


@dataclass(frozen=True, slots=True)
class Powers:
    """A solution.

    Attributes:
        solved: the power of every symbol that the equations determine, the declared ones included.
        free: symbols that no equation determines.
    """

    solved: Mapping[str, Fraction]
    free: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """There is no solution: these equations contradict each other, or the declared powers.

    Attributes:
        equations: names, as few as contradict each other.
        declared: symbols of theirs with a declared power.
    """

    equations: tuple[str, ...]
    declared: tuple[str, ...]


def declared_powers(contract: Contract) -> dict[str, int]:
    """The powers that are declared, of fields and hyperparameters, and those by definition."""
    powers = {name: power for name, power in contract.hyperparameters.items() if power is not None}
    powers |= {f.name: f.scale_power for f in contract.fields if f.scale_power is not None}
    return powers | dict(GIVEN)


def solve(equations: Sequence[ScaleEquation], known: Mapping[str, int]) -> Powers | Conflict:
    """The powers that satisfy the equations, or as few of them as have no solution."""
    solution = _eliminated(equations, known)
    if solution is not None:
        return solution
    needed = list(equations)
    for equation in equations:
        fewer = [kept for kept in needed if kept is not equation]
        if _eliminated(fewer, known) is None:
            needed = fewer
    symbols = {symbol for equation in needed for symbol in equation.terms if symbol in known}
    return Conflict(tuple(equation.name for equation in needed), tuple(sorted(symbols - GIVEN.keys())))


def _eliminated(equations: Sequence[ScaleEquation], known: Mapping[str, int]) -> Powers | None:
    """Gaussian elimination over the rationals; None when there is no solution."""
    pivots: dict[str, tuple[dict[str, Fraction], Fraction]] = {}
    symbols: dict[str, None] = {}
    for equation in equations:
        row: dict[str, Fraction] = {}
        constant = Fraction(0)
        for symbol, coefficient in equation.terms.items():
            if symbol in known:
                constant -= coefficient * known[symbol]
            elif coefficient:
                symbols[symbol] = None
                row[symbol] = row.get(symbol, Fraction(0)) + coefficient
        row, constant = _reduced(row, constant, pivots)
        if not row:
            if constant:
                return None
            continue
        pivot, factor = next(iter(row.items()))
        rest = {s: c / factor for s, c in row.items() if s != pivot}
        pivots = {p: _reduced(r, k, {pivot: (rest, constant / factor)}) for p, (r, k) in pivots.items()}
        pivots[pivot] = rest, constant / factor
    solved = {symbol: Fraction(power) for symbol, power in known.items()}
    solved |= {pivot: constant for pivot, (rest, constant) in pivots.items() if not rest}
    return Powers(solved, tuple(symbol for symbol in symbols if symbol not in solved))


def _reduced(
    row: Mapping[str, Fraction],
    constant: Fraction,
    pivots: Mapping[str, tuple[Mapping[str, Fraction], Fraction]],
) -> tuple[dict[str, Fraction], Fraction]:
    """The row with every pivot replaced by what it equals."""
    result: dict[str, Fraction] = {}
    for symbol, coefficient in row.items():
        if symbol not in pivots:
            result[symbol] = result.get(symbol, Fraction(0)) + coefficient
            continue
        rest, value = pivots[symbol]
        constant -= coefficient * value
        for other, share in rest.items():
            result[other] = result.get(other, Fraction(0)) - coefficient * share
    return {symbol: coefficient for symbol, coefficient in result.items() if coefficient}, constant


def scale_powers_fit(contract: Contract) -> Iterator[Broken]:
    """N34: the declared powers satisfy the equations, which determine every float field and hyperparameter.

    A contract without equations makes no claim about scale.
    """
    if not contract.scale_equations:
        return
    known = declared_powers(contract)
    names = {f.name for f in contract.fields} | contract.hyperparameters.keys() | GIVEN.keys()
    for position, equation in enumerate(contract.scale_equations):
        at = f"/scale_equations/{position}/terms"
        for symbol in equation.terms:
            if symbol not in names:
                yield Broken(at, "N34", f"{symbol!r} is no field or hyperparameter")
        if not any(equation.terms.values()):
            yield Broken(at, "N34", f"{equation.name!r} is about nothing")
    solution = solve(contract.scale_equations, known)
    if isinstance(solution, Conflict):
        powers = ", ".join(f"{name} {known[name]:+d}" for name in solution.declared)
        yield Broken(
            "/scale_equations",
            "N34",
            f"{' and '.join(map(repr, solution.equations))} cannot hold with {powers or 'any powers'}",
        )
        return
    yield from _powers_are_determined(contract, solution)


def _powers_are_determined(contract: Contract, solution: Powers) -> Iterator[Broken]:
    """Powers are integers that equations ask for; a declared 0 is that of a number, and needs none."""
    said = {s for equation in contract.scale_equations for s, factor in equation.terms.items() if factor}
    for at, name, declared, is_float in _symbols(contract):
        power = solution.solved.get(name)
        if power is not None and power.denominator != 1:
            yield Broken(at, "N34", f"{name!r} would have the power {power}, which is no integer")
        elif (power is None and (is_float or name in said)) or (declared and name not in said):
            yield Broken(at, "N34", f"no equation says how {name!r} scales")


def powers_have_equations(contract: Contract) -> Iterator[Broken]:
    """N34: where powers are declared, equations say why; without them this is remarked upon."""
    if contract.scale_equations:
        return
    for at, name, declared, _ in _symbols(contract):
        if declared:
            words = f"{name!r} has the power {declared}, and no equation says why"
            yield Broken(at, "N34", words, remark=True)


def _symbols(contract: Contract) -> Iterator[tuple[str, str, int | None, bool]]:
    """Fields and hyperparameters: place of the power, name, power, and whether it has to have one."""
    for position, field in enumerate(contract.fields):
        is_float = field.dtype in FLOATING and field.scope in ("common", "parameter")
        yield f"/fields/{position}/scale_power", field.name, field.scale_power, is_float
    for name, power in contract.hyperparameters.items():
        yield f"/hyperparameters/{step(name)}", name, power, True


RULES = (scale_powers_fit, powers_have_equations)
