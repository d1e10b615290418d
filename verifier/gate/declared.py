"""What a constructor has to be right for, and where that is written.

Beside the constructor, by a decorator that changes nothing about it::

    from verifier import Sizes, constructor, size, sizes

    @constructor(over=Sizes(rows=size(), widths=sizes(4), where=lambda rows, widths: sum(widths) == rows))
    def cut_rows(rows, widths): ...

in the nearest pyproject.toml (``verifier.gate.configured``), or on the command line. The command line comes
first, then pyproject.toml, then the decorator; domains are not mixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from verifier.gate.loading import Loaded, load
from verifier.model.expectation import Expectation
from verifier.symbolic.domain import Sizes

Called = TypeVar("Called", bound=Callable[..., Any])

ATTRIBUTE = "__shardproof_gate__"
"""Where the decorator leaves its declaration."""
WAIVERS = ("cover", "lookup")
"""What an expectation may waive for all sizes at once."""


class DeclarationError(ValueError):
    """What is declared cannot be asked of a constructor; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What one constructor has to be right for.

    Attributes:
        over: its domain.
        reference: makes the map that its map has to be the same function as; None where soundness is all.
        expectation: what is waived of soundness.
    """

    over: Sizes
    reference: Loaded | Callable[..., object] | None = None
    expectation: Expectation = field(default_factory=Expectation)

    def __post_init__(self) -> None:
        _require_waivers(self.expectation)

    @property
    def reference_call(self) -> Callable[..., object] | None:
        """The reference itself."""
        return self.reference.call if isinstance(self.reference, Loaded) else self.reference


def constructor(
    *,
    over: Sizes,
    reference: str | Callable[..., object] | None = None,
    expectation: Expectation | None = None,
) -> Callable[[Called], Called]:
    """Declare the sizes for which a function has to make a right map; ``shardproof gate`` proves it.

    The function stays as it is. ``reference`` is another constructor with the same arguments, or its place
    as text, ``module:function``. Of an expectation, ``cover=False`` and ``lookup=True`` can be asked for all
    sizes.

    Raises:
        DeclarationError: the expectation asks for what depends on the sizes.
    """
    _require_waivers(expectation or Expectation())

    def declare(function: Called) -> Called:
        setattr(function, ATTRIBUTE, (over, reference, expectation or Expectation()))
        return function

    return declare


def declared_by(function: Callable[..., object]) -> Declaration | None:
    """What the decorator of a function declares, None without one.

    Raises:
        FunctionError: the reference is a place at which there is nothing.
    """
    found = getattr(function, ATTRIBUTE, None)
    if found is None:
        return None
    over, reference, expectation = found
    return Declaration(over, load(reference) if isinstance(reference, str) else reference, expectation)


def declaration_of(
    loaded: Loaded,
    *,
    asked: Sizes | None,
    configured: Declaration | None,
    reference: Loaded | None,
) -> Declaration:
    """The declaration that counts for a constructor.

    ``asked`` and ``reference`` are those of the command line, ``configured`` is that of pyproject.toml.

    Raises:
        DeclarationError: there is no domain anywhere.
        FunctionError: a reference is a place at which there is nothing.
    """
    found = configured or declared_by(loaded.call)
    if asked is not None:
        found = Declaration(asked, None if found is None else found.reference)
    if found is None:
        raise DeclarationError(
            f"{loaded.where} has no domain; say which sizes it has to be right for: --over 'rows=size, "
            f"ranks=1|2|4', the decorator verifier.constructor, or [tool.shardproof.gate] in pyproject.toml"
        )
    return found if reference is None else replace(found, reference=reference)


def _require_waivers(expectation: Expectation) -> None:
    """Refuse what cannot be asked of all sizes at once.

    Raises:
        DeclarationError: as said.
    """
    plain = Expectation()
    for one in fields(Expectation):
        if one.name not in WAIVERS and getattr(expectation, one.name) != getattr(plain, one.name):
            raise DeclarationError(
                f"expectation.{one.name} cannot be asked of all sizes at once; of an expectation only "
                f"{' and '.join(WAIVERS)} can. Padding is what the constructor returns beside its map, and a "
                f"reference goes into reference="
            )
