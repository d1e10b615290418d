"""The device that probes run on. The parent process never uses it, for that would not survive a fork."""

from __future__ import annotations

from verifier.oracle.buffers import usable_device
from verifier.oracle.errors import DeviceUnavailableError
from verifier.oracle.probes.isolated import Died, Json, isolated


def require_device(device: str) -> None:
    """Make sure that the device is there.

    Raises:
        DeviceUnavailableError: it is not, or using it ends the process.
    """
    if device == "cpu":
        return
    ended = isolated(lambda: _refusal(device))
    if isinstance(ended, Died):
        raise DeviceUnavailableError(f"using device {device!r} ends the process ({ended.how})")
    if ended.value is not None:
        raise DeviceUnavailableError(str(ended.value))


def _refusal(device: str) -> Json:
    try:
        usable_device(device)
    except DeviceUnavailableError as error:
        return str(error)
    return None
