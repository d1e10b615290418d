"""Reads a path in whatever known form it has, told apart by content, not by name."""

from __future__ import annotations

from pathlib import Path

from verifier.formats.document import Document
from verifier.formats.limits import Limits
from verifier.formats.map_json import read_json
from verifier.formats.refusal import FormatError
from verifier.model.origin import Origin

HEAD_BYTES = 4096
ZIP_MAGIC = b"PK\x03\x04"
PICKLE_PROTOCOL = b"\x80"
PICKLE_STOP = b"."
JSON_STARTS = b'{["-0123456789tfn'
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
DEFAULTS = Limits()
HELP = "a map is a JSON document, a DeepSpeed model-states file, or a directory of such files"


def read(path: Path, *, display: str | None = None, limits: Limits = DEFAULTS) -> Document:
    """Read the maps of a file or checkpoint directory.

    Args:
        path: what to read.
        display: the path as people should see it; ``path`` itself when None.
        limits: how much it may cost.

    Raises:
        FormatError: nothing at all can be read. A document with one bad map among good ones is no error.
    """
    origin = Origin(display if display is not None else str(path))
    try:
        if path.is_dir():
            from verifier.formats.checkpoint_dir import read_directory  # costs start-up time, as below

            return read_directory(path, origin, limits)
        if not path.is_file():
            raise FormatError(
                "SM001", "no such file, or not a regular one", origin, help="check the spelling of the path"
            )
        return _read_file(path, origin, limits)
    except OSError as error:
        raise FormatError(
            "SM001", f"cannot be read: {error.strerror}", origin, help="check the path and its permissions"
        ) from None


def _read_file(path: Path, origin: Origin, limits: Limits) -> Document:
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        if size:
            file.seek(-1, 2)
        last = file.read(1)
    if not head:
        raise FormatError("SM001", "the file is empty", origin, help="write it again from its source")
    if head.startswith(ZIP_MAGIC):
        from verifier.formats.pickled import read_archive

        return read_archive(path, origin, limits)
    if head.startswith(BYTE_ORDER_MARKS) or head.lstrip()[:1] in JSON_STARTS:
        return read_json(_bounded(path, size, limits.json_bytes, "JSON", origin), path.stem, origin, limits)
    # Old protocols have no mark of their own; every pickle ends with its STOP opcode.
    if head.startswith(PICKLE_PROTOCOL) or last == PICKLE_STOP:
        data = _bounded(path, size, limits.pickle_bytes, "pickle", origin)
        from verifier.formats.pickled import read_bare_pickle

        return read_bare_pickle(data, path.stem, origin, limits)
    raise FormatError(
        "SM001", "this is no map: neither JSON, nor a pickle, nor a zip archive", origin, help=HELP
    )


def _bounded(path: Path, size: int, limit: int, what: str, origin: Origin) -> bytes:
    """The bytes of a file, unless its size already says no."""
    if size > limit:
        raise FormatError(
            "SM006",
            f"{size} bytes of {what}, over the limit of {limit}",
            origin,
            help="split the document, or pass larger Limits if you trust its source",
        )
    with path.open("rb") as file:
        # A file that grows meanwhile is cut here and refused by its parser.
        return file.read(limit + 1)
