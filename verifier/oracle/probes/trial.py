"""Whether there is an optimizer at all, before everything is tried with it."""

from __future__ import annotations

from verifier.oracle.probes.declared import SHAPES as EACH
from verifier.oracle.probes.isolated import Died, Json, isolated, words
from verifier.oracle.probes.live import SHAPES, live
from verifier.oracle.probes.probed import NotProbedError, Probed


def refusal(probed: Probed, device: str) -> str | None:
    """Why no optimizer can be made, of any parameters; None where one can, or making it ends the process.

    Raises:
        NotProbedError: what is made is no optimizer.
    """
    ended = isolated(lambda: _tried(probed, device))
    match ended:
        case Died():  # for the probes to tell
            return None
        case _ if isinstance(ended.value, list):
            raise NotProbedError(str(ended.value[0]))
        case _:
            return None if ended.value is None else str(ended.value)


def _tried(probed: Probed, device: str) -> Json:
    """None, why nothing can be made, or, in a list, why what is made is no optimizer."""
    first: str | None = None
    for shapes in (SHAPES, *[(shape,) for shape in EACH]):
        try:
            live(probed, 0, shapes=shapes, steps=0, device=device)
        except NotProbedError as error:
            return [str(error)]
        except Exception as error:  # of the optimizer: it may take other parameters
            first = first or words(error)
        else:
            return None
    return first
