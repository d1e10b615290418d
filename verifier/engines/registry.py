"""The engines by name. Each is imported only when asked for: z3 and numpy cost start-up time."""

from __future__ import annotations

from collections.abc import Callable

from verifier.engine import Engine


def _auto() -> Engine:
    from verifier.engines.portfolio import Portfolio

    return Portfolio()


def _cancel() -> Engine:
    from verifier.engines.cancel import CancelEngine

    return CancelEngine()


def _bulk() -> Engine:
    from verifier.engines.bulk.engine import BulkEngine

    return BulkEngine()


def _boxes() -> Engine:
    from verifier.engines.boxes import BoxesEngine

    return BoxesEngine()


def _search() -> Engine:
    from verifier.engines.search import SearchEngine

    return SearchEngine()


def _isl() -> Engine:
    from verifier.engines.isl import IslEngine

    return IslEngine()


def _enumerate() -> Engine:
    from verifier.engines.enumerate import EnumerateEngine

    return EnumerateEngine()


def _smt() -> Engine:
    from verifier.engines.smt import SmtEngine

    return SmtEngine()


def _fingerprint() -> Engine:
    from verifier.engines.fingerprint import FingerprintEngine

    return FingerprintEngine()


ENGINES: dict[str, Callable[[], Engine]] = {
    "auto": _auto,
    "cancel": _cancel,
    "bulk": _bulk,
    "boxes": _boxes,
    "search": _search,
    "isl": _isl,
    "enumerate": _enumerate,
    "smt": _smt,
    "fingerprint": _fingerprint,
}
"""What ``--engine`` takes. "auto" is the portfolio of the others; isl is in it through search."""


def engine_named(name: str) -> Engine:
    """The engine of that name.

    Raises:
        ValueError: there is none.
    """
    try:
        factory = ENGINES[name]
    except KeyError:
        raise ValueError(f"no engine {name!r}; there are {', '.join(ENGINES)}") from None
    return factory()
