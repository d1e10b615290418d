"""``shardproof contract probe``: whether optimizers do what they declare, and what damage does to them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verifier.audit.check import tool_versions
from verifier.audit.probing import probed_subject
from verifier.cli.given_contract import given_contract
from verifier.cli.output import Output, report_options
from verifier.cli.paths import NamedPath
from verifier.cli.progress import part_progress
from verifier.contracts.document import Contract
from verifier.contracts.known import known_contract
from verifier.diagnostics.report import Report
from verifier.diagnostics.wording import escaped
from verifier.gate.loading import FORM, FunctionError, load, place_of
from verifier.oracle.errors import OracleError, require_torch
from verifier.oracle.probes.optimizer_names import ALL, require_known
from verifier.oracle.probes.probed import Probed, probed_of

if TYPE_CHECKING:
    from verifier.oracle.probes.observed import Circumstances, Probing

PROBES = (
    "corruptions",
    "declared",
    "reading",
    "round-trip",
    "aliasing",
    "determinism",
    "replacement",
    "names",
    "views",
    "skipped-step",
    "empty-shard",
    "late-gradient",
    "shards",
    "dtensors",
    "scale",
)
"""Their names, known without torch."""


@click.command("probe")
@click.argument("places", nargs=-1, required=True, metavar="OPTIMIZER...")
@click.option(
    "--contract",
    "contract_file",
    type=NamedPath(),
    metavar="FILE",
    help="What the optimizer declares; those of torch.optim are known.",
)
@click.option("--device", default="cpu", show_default=True, help="Where the parameters are, e.g. cuda:0.")
@click.option(
    "--only", type=click.Choice(PROBES), multiple=True, help="Only this probe; may be given several times."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of numbers, cuts and damage."
)
@report_options
@click.pass_context
def command(
    context: click.Context,
    /,
    places: tuple[str, ...],
    contract_file: Path | None,
    device: str,
    only: tuple[str, ...],
    seed: int,
    output: Output,
) -> None:
    """Probe real optimizers, each case in a process of its own (extra: oracle).

    OPTIMIZER is torch.optim.NAME, "torch.optim.Adam (fused)", torch.optim for all of them, or MODULE:FUNCTION
    or path/to/file.py:FUNCTION: a function or class of parameter groups, or a function of nothing that
    returns a verifier.oracle.probes.probed.Probed. It is imported and run.

    \b
    shardproof contract probe torch.optim.AdamW
    shardproof contract probe pkg.optim:MyAdam --contract my_adam.json --only declared --only corruptions
    """
    if contract_file is not None and (len(places) > 1 or places[0] == ALL):
        raise click.UsageError("--contract is about one optimizer; probe it by itself")
    declared = None if contract_file is None else given_contract(contract_file)
    for place in places:
        _require_sensible(place)
    if find_spec("torch") is None:
        raise click.ClickException("contract probe needs torch: pip install 'shardproof[oracle]'")
    try:
        report = _report(places, declared, device, only or PROBES, seed)
    except OracleError as error:
        raise click.ClickException(escaped(" ".join(str(error).split()))) from error
    output.deliver(report)
    context.exit(report.exit_code)


def _require_sensible(place: str) -> None:
    """Make sure that a place can be one, as far as that is known without torch, whose import takes seconds.

    Raises:
        click.ClickException: no optimizer has that name, or nothing can be at the place.
    """
    try:
        if ":" not in place:
            if place != ALL:
                require_known(place)
        elif (file := place_of(place).file) is not None and not file.is_file():
            raise FunctionError(f"there is no file {file}; {FORM}")
    except (LookupError, FunctionError) as error:
        raise click.ClickException(escaped(str(error.args[0]))) from error


def _report(
    places: Sequence[str], declared: Contract | None, device: str, chosen: Sequence[str], seed: int
) -> Report:
    found = [probed for place in places for probed in _probed(place)]
    from verifier.oracle.probes.catalogue import PROBES as RUN  # imports torch
    from verifier.oracle.probes.devices import require_device
    from verifier.oracle.probes.observed import Circumstances

    require_device(device)
    subjects = []
    with part_progress() as done:
        done(0, len(found) * len(chosen))
        for probed in found:
            contract = declared or known_contract(probed.contract)
            about = Circumstances(contract=contract, device=device, seed=seed)
            probings = _never_made(probed, about)
            for name in RUN if not probings else ():
                if name in chosen:
                    probings.append(RUN[name](probed, about))
                    done(1, 0)
            subjects.append(probed_subject(probed.name, probings))
    tool = {**tool_versions(), "torch": require_torch().__version__}
    return Report(tool=tool, subjects=tuple(subjects))


def _never_made(probed: Probed, about: Circumstances) -> list[Probing]:
    """One open probe in place of all, where there is nothing to try them with.

    Raises:
        NotProbedError: what is made is no optimizer.
    """
    from verifier.oracle.probes.observed import Probing
    from verifier.oracle.probes.trial import refusal

    reason = refusal(probed, about.device)
    return [] if reason is None else [Probing(probe="making it", open=(reason,))]


def _probed(place: str) -> Sequence[Probed]:
    """What a place stands for.

    Raises:
        click.ClickException: nothing that can be probed.
    """
    try:
        if ":" in place:
            return (probed_of(load(place).call, place),)
        from verifier.oracle.probes.torch_optimizers import optimizer_named, torch_optimizers

        return torch_optimizers() if place == ALL else (optimizer_named(place),)
    except (LookupError, FunctionError) as error:
        raise click.ClickException(escaped(str(error.args[0]))) from error
