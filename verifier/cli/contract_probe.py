"""``shardproof contract probe``: what real optimizers do with a state dict that is not as it should be."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import click

from verifier.audit.check import tool_versions
from verifier.audit.probing import loading_subject
from verifier.cli.failures import oracle_failures
from verifier.cli.output import Output, report_options, write_text
from verifier.cli.paths import NamedPath
from verifier.cli.progress import part_progress
from verifier.diagnostics.report import Report

ALL = "torch.optim"


@click.command("probe")
@click.argument("names", nargs=-1, required=True, metavar="OPTIMIZER...")
@click.option(
    "--table", type=NamedPath(dir_okay=False), metavar="FILE", help="Also write the table as Markdown."
)
@report_options
@click.pass_context
def command(context: click.Context, /, names: tuple[str, ...], table: Path | None, output: Output) -> None:
    """Give each OPTIMIZER some 65 corrupted state dicts, each in a process of its own (extra: oracle).

    OPTIMIZER is a name such as torch.optim.AdamW or "torch.optim.Adam (fused)"; torch.optim stands for all.

    \b
    shardproof contract probe torch.optim.AdamW
    shardproof contract probe torch.optim --table reports/optimizers-torch-2.13.md
    """
    if find_spec("torch") is None:
        raise click.ClickException("contract probe needs torch: pip install 'shardproof[oracle]'")
    from verifier.oracle.probes.loading import outcomes
    from verifier.oracle.probes.subjects import kind_named, kinds
    from verifier.oracle.probes.table import markdown

    try:
        chosen = [kind for name in names for kind in (kinds() if name == ALL else [kind_named(name)])]
    except LookupError as error:
        raise click.ClickException(str(error.args[0])) from error
    found: dict[str, dict[str, str]] = {}
    with oracle_failures(), part_progress() as done:
        done(0, len(chosen))
        for kind in chosen:
            found[kind.name] = outcomes(kind)
            done(1, 0)
    if table is not None:
        place = table.name if table.is_absolute() else table.as_posix()
        write_text(table, markdown(found, f"shardproof contract probe {' '.join(names)} --table {place}"))
    subjects = tuple([loading_subject(name, said) for name, said in found.items()])
    report = Report(tool=tool_versions(), subjects=subjects)
    output.deliver(report)
    context.exit(report.exit_code)
