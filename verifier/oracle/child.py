"""A replay in a process of its own, so that the caller never loads torch and survives its crashes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

from verifier.oracle.documents import Request, request_text
from verifier.oracle.errors import INSTALL, MalformedRequestError, OracleError, OracleUnavailableError
from verifier.oracle.outcome import Replay, replay_from_document, skipped

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]


def replay_in_child(request: Request, *, timeout_seconds: float = 60.0) -> Replay:
    """What ``replay`` returns, from ``python -m verifier.oracle.replay``.

    A process that dies or takes too long gives a skipped replay with that reason: it proves nothing.

    Raises:
        OracleUnavailableError: torch is not installed.
        OracleError: the process refused the request, for instance because the device does not exist.
    """
    if importlib.util.find_spec("torch") is None:
        raise OracleUnavailableError(f"replaying a map needs torch, which is not installed: {INSTALL}")
    total = request.shard_map.numel
    try:
        finished = subprocess.run(
            [sys.executable, "-P", "-m", "verifier.oracle.replay"],
            input=request_text(request),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=timeout_seconds,
            env=_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return skipped(f"the replay took over {timeout_seconds:g} s", device=request.device, total=total)
    if finished.returncode == 2:
        raise OracleError(finished.stderr.strip() or "the replay process refused the request")
    if finished.returncode != 0:
        return skipped(_death(finished.returncode), device=request.device, total=total)
    try:
        return replay_from_document(json.loads(finished.stdout))
    except ValueError as error:
        raise MalformedRequestError(f"the replay process did not print a replay: {error}") from error


def _environment() -> dict[str, str]:
    """The environment, with our own package findable.

    ``-P`` keeps the working directory off the path, which may be a stranger's checkout with a ``torch.py``.
    """
    paths = [str(_PACKAGE_ROOT)]
    if os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONIOENCODING": "utf-8"}


def _death(code: int) -> str:
    return (
        f"the replay process was ended by signal {-code}"
        if code < 0
        else f"the replay process ended with {code}"
    )
