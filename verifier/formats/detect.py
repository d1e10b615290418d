"""Reads a path in whatever known form it has, told apart by content, not by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from verifier.formats.reading import marks
from verifier.formats.reading.document import Document
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.links import links_out
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.formats.reading.stated_shapes import with_stated_shapes
from verifier.formats.registry import Format, formats
from verifier.model.origin import Origin

ASKED = Request()


def read(
    path: Path, *, display: str | None = None, limits: Limits | None = None, request: Request = ASKED
) -> Document:
    """Read the maps of a file or checkpoint directory.

    Args:
        path: what to read.
        display: the path as people should see it; ``path`` itself when None.
        limits: how much it may cost; those of ``request`` when None.
        request: what else is asked of the reader.

    Raises:
        FormatError: nothing at all can be read. A document with one bad map among good ones is no error.
    """
    origin = Origin(display if display is not None else str(path))
    asked = request if limits is None else replace(request, limits=limits)
    try:
        sight = _seen(path, origin)
        found = _format_of(sight, asked)
        if found is None:
            raise _unknown(sight, origin)
        _must_fit(sight, found, origin)
        document = found.load()(path, origin, asked)
        if sight.is_folder:
            links = links_out(path, found.claims(sight), origin.file)
            document = replace(document, remarks=(*document.remarks, *links))
    except OSError as error:
        raise _unopened(origin, error) from None
    # One file may hold one of several formats, and its reader tells which.
    form = next((form for form in formats() if form.name == document.kind), found)
    return _with_what_is_asked(document, form, asked)


def _seen(path: Path, origin: Origin) -> Sight:
    sight = Sight(path)
    if sight.is_folder:
        return sight
    if not path.is_file():
        raise FormatError(
            "SM001", "no such file, or not a regular one", origin, help="check the spelling of the path"
        )
    if not sight.head:
        raise FormatError("SM001", "the file is empty", origin, help="write it again from its source")
    return sight


def _format_of(sight: Sight, request: Request) -> Format | None:
    known = formats()
    if request.input_format is not None:
        return next(form for form in known if form.name == request.input_format)
    return next((form for form in known if form.recognises(sight)), None)


def _must_fit(sight: Sight, form: Format, origin: Origin) -> None:
    """Raises FormatError for a file that is plainly something else than the format that was asked for."""
    outside = marks.container(sight)
    if outside is None or not form.containers or outside in form.containers:
        return
    raise FormatError(
        "SM001",
        f"this is {outside}, and {form.about} was asked for",
        origin,
        help="leave out --input-format: formats are told by content",
    )


def _with_what_is_asked(document: Document, form: Format, request: Request) -> Document:
    """The document with what its reader does not do of what is asked: done here, or said to be undone."""
    if request.values and not form.values:
        note = f"--values: says nothing for this format ({form.about})"
        document = replace(document, unchecked=(*document.unchecked, note))
    if request.shapes is not None and not form.shapes:
        document = with_stated_shapes(document, request.shapes)
    return document


def _unknown(sight: Sight, origin: Origin) -> FormatError:
    if sight.is_folder:
        return FormatError(
            "SM001",
            "no map is in this directory",
            origin,
            help=f"known are: {', '.join(form.about for form in formats())}",
        )
    return FormatError(
        "SM001",
        f"this is no map: it begins with {shown(sight.head[:8].decode('latin-1'))}",
        origin,
        help=f"known are: {', '.join(form.about for form in formats())}",
    )


def _unopened(origin: Origin, error: OSError) -> FormatError:
    return FormatError(
        "SM001", f"cannot be read: {error.strerror}", origin, help="check the path and its permissions"
    )
