"""The probes by name, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
from verifier.oracle.probes.observed import Circumstances, Probing
from verifier.oracle.probes.probed import Probed

Probe = Callable[[Probed, Circumstances], Probing]

PROBES: Mapping[str, Probe] = {
    module.NAME: module.probe
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
