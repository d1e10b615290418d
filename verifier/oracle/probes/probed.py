"""What is probed: an optimizer as a recipe, so that each case makes a new one.

``shardproof contract probe MODULE:FUNCTION`` takes one of two things.

* A function, or a class, of parameter groups: ``FUNCTION(groups)`` makes an optimizer. ``groups`` is what
  every torch optimizer takes: a list of dicts with ``params``. The class itself is one where all its options
  have defaults.
* A function of nothing that returns a ``Probed``, for an optimizer that asks something of its parameters.

An optimizer is whatever has ``param_groups``, ``state`` (a mapping from parameters to dicts), ``step()``,
``state_dict()`` and ``load_state_dict(...)`` with the meaning they have in torch.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from verifier.oracle.errors import OracleError

Groups = list[dict[str, Any]]
Build = Callable[[Groups], Any]
MEMBERS = ("param_groups", "state", "step", "state_dict", "load_state_dict")


class NotProbedError(OracleError):
    """What was found makes no optimizer; the text says what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """An optimizer to be probed.

    Attributes:
        name: what reports call it.
        build: from parameter groups to a new optimizer that shares nothing with another.
        dims: the numbers of dimensions its parameters may have; None for any.
        sparse: whether gradients have to be sparse.
        closure: whether a step needs a closure, which is then run as often as it likes.
        single_group: whether it takes no more than one group.
        contract: name of the contract that is known of it, empty where there is none.
        same_bits: whether an element gets the same bits wherever it lies in memory. Vectorised kernels treat
            the last elements of a buffer apart, and are then compared within one ulp.
    """

    name: str
    build: Build
    dims: tuple[int, ...] | None = None
    sparse: bool = False
    closure: bool = False
    single_group: bool = False
    contract: str = ""
    same_bits: bool = True

    def made(self, groups: Groups) -> Any:
        """A new optimizer over these groups.

        Raises:
            NotProbedError: what was made lacks something an optimizer has.
        """
        found = self.build(groups)
        missing = [member for member in MEMBERS if not hasattr(found, member)]
        if missing:
            kind = type(found).__name__
            raise NotProbedError(
                f"{self.name} makes no optimizer but {kind}: it has no {', '.join(missing)}; return what has "
                "them with the meaning they have in torch"
            )
        return found


def probed_of(found: Callable[..., Any], name: str) -> Probed:
    """What a function stands for, see above.

    Raises:
        NotProbedError: it takes nothing and returns no ``Probed``, or raises.
    """
    if takes_groups(found):
        return Probed(name=name, build=found)
    try:
        made = found()
    except Exception as error:  # of whoever wrote it
        raise NotProbedError(f"{name} raises a {type(error).__name__}: {error}") from error
    if not isinstance(made, Probed):
        raise NotProbedError(
            f"{name} takes no parameter groups, so it has to return a Probed, not a {type(made).__name__}"
        )
    return made


def takes_groups(found: Callable[..., Any]) -> bool:
    """Whether a callable has to be given something."""
    try:
        parameters: Sequence[inspect.Parameter] = list(inspect.signature(found).parameters.values())
    except (TypeError, ValueError):  # a callable without a signature
        return True
    return any(
        parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        for parameter in parameters
    )
