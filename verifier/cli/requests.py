"""Options that say what is asked of readers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from verifier.cli.paths import NamedPath
from verifier.diagnostics.wording import escaped
from verifier.formats import FormatError, Request, formats

F = TypeVar("F", bound=Callable[..., Any])


def _format(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    known = {form.name: form for form in formats()} if value is not None else {}
    if value is not None and value not in known:
        raise click.BadParameter(f"{value!r} is no format; known are {', '.join(known)}")
    return value


def input_format_option(function: F) -> F:
    """``--input-format``, of every command that reads maps."""
    return click.option(
        "--input-format", metavar="NAME", callback=_format,
        help="Read every document as this format instead of telling it by content.",
    )(function)  # fmt: skip


def request_options(function: F) -> F:
    """``--input-format``, ``--payload``, ``--values``, ``--expect-shapes``."""
    options = (
        input_format_option,
        click.option(
            "--payload", is_flag=True,
            help="Also read the headers of stored tensors and hold them against the metadata.",
        ),
        click.option(
            "--values", is_flag=True,
            help="Also compare the bits of stored replicas: of DTensors in files of ranks, of map.json "
            "beside rankN.safetensors, of consolidated Hugging Face storage; and look at the moments of "
            "optimizer states. This is the one option that reads tensor data; for which formats it does "
            "nothing is said under 'not checked'.",
        ),
        click.option(
            "--expect-shapes", type=NamedPath(exists=True), metavar="PATH",
            help="The full shape that each parameter must have: JSON {name: [dims]}, a model's config.json, "
            "or another checkpoint. Formats that do not store full shapes take them from here.",
        ),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


def make_request(options: dict[str, Any]) -> Request:
    """The request that the options stand for; takes them out of ``options``.

    Raises:
        click.ClickException: the expected shapes cannot be read.
    """
    path: Path | None = options.pop("expect_shapes")
    shapes = None
    if path is not None:
        from verifier.formats.shapes.expected_shapes import read_expected_shapes  # few audits need it

        try:
            shapes = read_expected_shapes(path)
        except FormatError as error:
            raise click.ClickException(f"--expect-shapes: {escaped(str(error))}") from error
    return Request(
        payload=options.pop("payload"),
        values=options.pop("values"),
        input_format=options.pop("input_format"),
        shapes=shapes,
    )
