"""Signs that the checker of proofs for all sizes leaves open, put to the solvers that are installed.

The scripts are the checker's own, closed and of linear integer arithmetic. Only ``unsat`` confirms one:
``sat`` may be a model in which a product is no product, and a solver may give up. Theory: T25.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import z3

from verifier.symbolic.solver import RLIMIT

CVC5_RLIMIT = 1_000_000
"""cvc5 steps for one script; those of the reference layouts take a few thousand each."""

Solver = Callable[[str], bool]
"""True when the answer to a script is ``unsat``."""


@dataclass(frozen=True, slots=True)
class Discharged:
    """What came of some scripts.

    Attributes:
        confirmed: how many each solver confirmed, by its name and version.
        left: what needs the scripts that no solver confirmed.
    """

    confirmed: Mapping[str, int]
    left: tuple[str, ...]


def discharge(scripts: Mapping[str, str], *, by: Mapping[str, Solver] | None = None) -> Discharged:
    """Put every script, which comes with what needs it, to every solver; by default those installed."""
    asked = dict(installed_solvers() if by is None else by) if scripts else {}
    answers = {name: [solver(script) for script in scripts] for name, solver in asked.items()}
    left = [where for k, where in enumerate(scripts.values()) if not any(one[k] for one in answers.values())]
    return Discharged({name: sum(found) for name, found in answers.items()}, tuple(left))


def installed_solvers() -> Iterable[tuple[str, Solver]]:
    """z3, and cvc5 where it can be imported."""
    yield f"z3 {z3.get_version_string()}", _z3
    try:
        cvc5 = importlib.import_module("cvc5")
    except ImportError:
        return
    yield f"cvc5 {cvc5.__version__}", _cvc5


def _z3(script: str) -> bool:
    solver = z3.SolverFor("QF_LIA", ctx=z3.Context())
    solver.set("rlimit", RLIMIT)
    try:
        solver.from_string(script)
        return bool(solver.check() == z3.unsat)
    except z3.Z3Exception:  # too deep or too large for it
        return False


def _cvc5(script: str) -> bool:
    cvc5 = importlib.import_module("cvc5")
    solver = cvc5.Solver()
    solver.setOption("rlimit-per", str(CVC5_RLIMIT))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
    answer = ""
    try:
        while not (command := parser.nextCommand()).isNull():
            answer += command.invoke(solver, parser.getSymbolManager())
    except RuntimeError:  # how cvc5 says that it cannot
        return False
    return answer.strip() == "unsat"
