"""``shardproof fuzz``: a campaign of maps and defects against a target."""

from __future__ import annotations

import re
import shlex
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from fuzz.campaign import DiedError, Extent, Progress, run_campaign
from fuzz.cases import Selection
from fuzz.cli.progress import campaign_progress
from fuzz.outcomes import DISAGREEMENT
from fuzz.registry import NAMES, NoTargetError, asked_about, layouts_of, mutants_of, target_named
from fuzz.report.campaign import CampaignReport
from fuzz.store import StoreError, opened
from fuzz.target import Target
from verifier.audit.executors import NoClusterError, workers
from verifier.cli.output import write_text
from verifier.diagnostics.report import EXIT_NOTHING_CHECKED, EXIT_PROVED, EXIT_REFUTED, EXIT_TOOL_BUG

STORE = "shardproof-fuzz.sqlite"
UNITS = {"s": 1, "m": 60, "h": 3600}


def _duration(_context: click.Context, _parameter: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no duration such as 90s, 10m or 1h")
    return float(found[1]) * UNITS[found[2] or "s"]


def _listing(context: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    """Prints the names that the other options take."""
    if not wanted or context.resilient_parsing:
        return
    for title, names in (
        ("targets", (*NAMES, "MODULE:FUNCTION", "path/to/file.py:FUNCTION")),
        ("layouts (all)", layouts_of("all")),
        ("layouts (ds-all), built by the DeepSpeed that is installed", layouts_of("ds-all")),
        ("mutants (numbers)", mutants_of("numbers")),
        ("mutants (others)", mutants_of("others")),
    ):
        click.echo(f"{title}:\n  " + "\n  ".join(names))
    context.exit(EXIT_PROVED)


@click.command("fuzz")
@click.option(
    "--target",
    "name",
    required=True,
    metavar="TARGET",
    help=f"{', '.join(NAMES)}, or a function of yours: MODULE:FUNCTION or path/to/file.py:FUNCTION.",
)
@click.option(
    "--layouts", metavar="NAMES", help="Comma-separated; all, ds-all, ds-plain. Default: the target's."
)
@click.option(
    "--mutants", metavar="NAMES", help="Comma-separated; all, numbers, others. Default: the target's."
)
@click.option("--size", type=click.IntRange(1, 5000), help="Most elements of a parameter.")
@click.option("--right", type=click.FloatRange(0, 1), help="Share of the cases without a defect.")
@click.option("--cases", type=click.IntRange(min=1), help="Cases of each seed.")
@click.option("--time", "seconds", metavar="T", callback=_duration, help="Begin nothing after 90s, 10m, 1h.")
@click.option(
    "--seed", "seeds", type=int, multiple=True, default=(1,), show_default=True, help="May be repeated."
)
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes."
)
@click.option("--scheduler", metavar="ADDRESS", help="Run on a dask.distributed cluster (extra: cluster).")
@click.option("--case", "only", metavar="SEED:INDEX", help="One case, everything asked of it, with its maps.")
@click.option(
    "--store",
    type=click.Path(dir_okay=False, path_type=Path),
    default=STORE,
    show_default=True,
    help="SQLite file with what is done: a stopped campaign resumes there.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a report as markdown, and as JSON beside it.",
)
@click.option(
    "--write-cases",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Shrink what was found and write each distinct finding as a corpus case.",
)
@click.option(
    "--list", is_flag=True, is_eager=True, expose_value=False, callback=_listing, help="Names, and exit."
)
@click.pass_context
def command(
    context: click.Context,
    /,
    name: str,
    layouts: str | None,
    mutants: str | None,
    size: int | None,
    right: float | None,
    cases: int | None,
    seconds: float | None,
    seeds: tuple[int, ...],
    jobs: int,
    scheduler: str | None,
    only: str | None,
    store: Path,
    report: Path | None,
    folder: Path | None,
) -> None:
    """Corrupt maps one defect at a time and see what TARGET makes of them.

    Every case is a function of its name SEED:INDEX and of the selection, so that results do not depend on -j,
    on a cluster or on interruptions. Exit code 0 when nothing was found, 1 when the target takes wrong maps
    silently or refuses right ones, 70 when shardproof contradicts itself, 2 when it could not run.

    A function of yours gets the map in its plain form, which DeepSpeed's to_dict writes too, and the shards
    as float64 tensors by rank; with one parameter it gets the map alone and should raise on wrong ones.

    \b
    def rebuild(entry: dict, shards: dict[int, torch.Tensor]) -> torch.Tensor:
        whole = torch.zeros(entry["logical_shape"], dtype=torch.float64).flatten()
        for rank, shard in entry["ranks"].items():
            for piece in shard["pieces"]:
                (to, by), (at, of) = piece["source"], piece["dest"]
                values = shards[rank].flatten().as_strided(piece["shape"], of, at)
                whole.as_strided(piece["shape"], by, to).copy_(values)
        return whole.view(entry["logical_shape"])

    \b
    shardproof fuzz --target prover --cases 2000 -j 2
    shardproof fuzz --target deepspeed --layouts ds-plain --mutants numbers --cases 2000 --report found.md
    shardproof fuzz --target converter.py:rebuild --time 5m
    shardproof fuzz --target deepspeed --case 1:17
    """
    try:
        target = _target(name, layouts, mutants, size, right)
        if only is not None:
            context.exit(_show_case(target, only))
        if cases is None and seconds is None:
            raise click.UsageError("say how long: --cases N or --time T")
        if report is not None:
            _require_writable(report)
        extent = Extent(tuple(dict.fromkeys(seeds)), cases, seconds)
        progress, rate = _run(target, extent, store, jobs, scheduler)
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"{error}; pip install 'shardproof[fuzz]' brings what targets need"
        ) from error
    except (NoTargetError, NoClusterError, StoreError, ImportError) as error:
        raise click.ClickException(str(error)) from error
    except DiedError as error:
        raise click.ClickException(
            f"{error}; run each with --case to see which. What was finished is in {store}"
        ) from error
    found = CampaignReport(
        f"{target.name} ({target.version})", _command(context), progress.cases, progress.tally
    )
    _deliver(found, report, rate)
    if folder is not None:
        _write_cases(found, target, folder)
    context.exit(_exit_code(found))


def _target(
    name: str, layouts: str | None, mutants: str | None, size: int | None, right: float | None
) -> Target:
    target = target_named(name)
    usual = target.selection
    return asked_about(
        target,
        Selection(
            layouts=usual.layouts if layouts is None else layouts_of(layouts),
            mutants=usual.mutants if mutants is None else mutants_of(mutants),
            size=usual.size if size is None else size,
            right=usual.right if right is None else right,
            dress=usual.dress,
        ),
    )


def _require_writable(path: Path) -> None:
    """Refuse a report that could not be written in the end; its folder is made."""
    if path.suffix == ".json":
        raise click.UsageError("--report names the markdown; the JSON is written beside it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise click.UsageError(f"--report: {error.strerror}: {path}") from error


def _run(
    target: Target, extent: Extent, path: Path, jobs: int, scheduler: str | None
) -> tuple[Progress, float | None]:
    """The campaign, and the cases a second of this run; None where everything was done before."""
    started = time.monotonic()
    total = None if extent.cases is None else extent.cases * len(extent.seeds)
    with (
        opened(path, target) as kept,
        workers(jobs, scheduler, apart=target.name not in NAMES) as found,
        campaign_progress(total) as shown,
        _stopped_by_sigterm(),
    ):
        try:
            progress = run_campaign(target, extent, kept, found, shown=shown)
        except KeyboardInterrupt:
            click.echo(f"stopped; what was finished is in {path}: the same command goes on there", err=True)
            raise
    ran = progress.cases - progress.before
    return progress, ran / (time.monotonic() - started) if ran else None


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """A request to end is taken as an interruption, so that workers end too."""
    usual = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


def _command(context: click.Context) -> str:
    """The command line without what changes no result."""
    words, values = ["shardproof", "fuzz"], context.params
    for parameter, option in (
        ("name", "--target"), ("layouts", "--layouts"), ("mutants", "--mutants"), ("size", "--size"),
        ("right", "--right"), ("cases", "--cases"),
    ):  # fmt: skip
        if values[parameter] is not None:
            words += [option, str(values[parameter])]
    for seed in values["seeds"]:
        words += ["--seed", str(seed)]
    return shlex.join(words)


def _deliver(found: CampaignReport, path: Path | None, rate: float | None) -> None:
    from fuzz.report.json import render_json
    from fuzz.report.markdown import render_markdown
    from fuzz.report.text import render_text

    click.echo(render_text(found), nl=False)
    if path is not None:
        write_text(path, render_markdown(found, rate))
        write_text(path.with_suffix(".json"), render_json(found))
        click.echo(f"report: {path}, {path.with_suffix('.json')}", err=True)


def _write_cases(found: CampaignReport, target: Target, folder: Path) -> None:
    from fuzz.cli.written import write_findings

    for line in write_findings(found.findings(), target, folder):
        click.echo(line)


def _exit_code(found: CampaignReport) -> int:
    if found.tally.seen(DISAGREEMENT):
        return EXIT_TOOL_BUG
    if not found.cases:
        return EXIT_NOTHING_CHECKED
    return EXIT_REFUTED if found.findings() else EXIT_PROVED


def _show_case(target: Target, name: str) -> int:
    from fuzz.cli.single import show_case

    matched = re.fullmatch(r"(-?[0-9]{1,18}):([0-9]{1,18})", name)
    if matched is None:
        raise click.BadParameter(f"{name!r} is no case such as 1:17", param_hint="--case")
    return show_case(target, int(matched[1]), int(matched[2]))
