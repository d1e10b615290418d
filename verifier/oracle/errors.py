"""Why the oracle could not run, or where torch refused to."""

from __future__ import annotations

from types import ModuleType

INSTALL = "pip install 'shardproof[oracle]'"


class OracleError(Exception):
    """The oracle could not do what it was asked to."""


class OracleUnavailableError(OracleError):
    """Torch is not installed."""


class DeviceUnavailableError(OracleError):
    """The device does not exist here, holds no memory, or cannot store the dtype."""


class MalformedRequestError(OracleError, ValueError):
    """A document handed to the replay process is not a replay request."""


class RefusedError(OracleError):
    """Torch refused to execute one piece, or a rank had no memory to execute it on.

    Attributes:
        rank: the rank whose piece it was.
        piece: the position in that rank's list, None when the whole rank is refused.
        text: the first line of what torch said.
    """

    def __init__(self, rank: int, piece: int | None, text: str) -> None:
        self.rank = rank
        self.piece = piece
        self.text = text.strip().split("\n", maxsplit=1)[0]
        place = f"rank {rank}" if piece is None else f"rank {rank}, piece {piece}"
        super().__init__(f"{place}: {self.text}")


def require_torch() -> ModuleType:
    """Torch, imported.

    Raises:
        OracleUnavailableError: it is not installed; the message says what to install.
    """
    try:
        import torch
    except ImportError as missing:
        raise OracleUnavailableError(
            f"replaying a map needs torch, which cannot be imported: {INSTALL}"
        ) from missing
    return torch
