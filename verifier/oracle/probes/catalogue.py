"""The probes by name, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from verifier.oracle.errors import DeviceUnavailableError, OracleUnavailableError
from verifier.oracle.probes import (
    aliasing,
    declared,
    determinism,
    dtensors,
    empty_shard,
    late_gradient,
    loading,
    names,
    reading,
    replacement,
    round_trip,
    scaling,
    shards,
    skipped_step,
    views,
)
from verifier.oracle.probes.isolated import CaseError, words
from verifier.oracle.probes.observed import Circumstances, Probing
from verifier.oracle.probes.probed import Probed

Probe = Callable[[Probed, Circumstances], Probing]


def _kept(name: str, probe: Probe) -> Probe:
    """The probe, which is left open where it raises: what others have found is not lost with it."""

    def run(probed: Probed, about: Circumstances) -> Probing:
        try:
            return probe(probed, about)
        except (OracleUnavailableError, DeviceUnavailableError):  # nothing at all can be probed here
            raise
        except CaseError as error:
            return Probing(probe=name, open=(error.reason,))
        except Exception as error:  # of the optimizer, of torch or of the probe
            return Probing(probe=name, open=(words(error),))

    return run


PROBES: Mapping[str, Probe] = {
    module.NAME: _kept(module.NAME, module.probe)
    for module in (
        loading,
        declared,
        reading,
        round_trip,
        aliasing,
        determinism,
        replacement,
        names,
        views,
        skipped_step,
        empty_shard,
        late_gradient,
        shards,
        dtensors,
        scaling,
    )
}
