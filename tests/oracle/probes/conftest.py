"""On a busy machine a case is given ten times as long: no optimizer of these tests fails to end."""

from datetime import timedelta

import pytest

from verifier.oracle.probes import dtensors, zero_redundancy
from verifier.oracle.probes.isolated import isolated

WAIT = timedelta(seconds=100)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isolated.__kwdefaults__ is not None
    monkeypatch.setitem(isolated.__kwdefaults__, "seconds", 300.0)
    for module in (dtensors, zero_redundancy):
        monkeypatch.setattr(module, "WAIT", WAIT)
