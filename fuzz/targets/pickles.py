"""The target ``pickles``: a pickle from bytes is refused by name or read as inert values; nothing is run."""

from __future__ import annotations

import encodings.cp437  # noqa: F401 - names in zip archives are decoded with it, and an import is noticed
import pickle
from collections import OrderedDict
from collections.abc import Iterator
from io import BytesIO

import verifier.formats.pickled  # noqa: F401 - as above: imported when the first pickle is read
from fuzz.targets.bytes_random import BytesRandom
from fuzz.targets.fault import Fault, demand
from fuzz.targets.map_documents import stored
from fuzz.targets.pickle_streams import archive_of, stream_from
from fuzz.targets.watch import nothing_done
from verifier.diagnostics.codes import code_of
from verifier.formats import FormatError, Limits, formats, read
from verifier.formats.pickles.records import PLAIN, Call, Grammar, Name
from verifier.formats.pickles.torch_zip import TORCH, Storage
from verifier.formats.pickles.tree import read_pickle
from verifier.model.origin import Origin

for one in formats():  # looks for added formats once, and loads their readers: an opened file is noticed
    one.load()
LIMITS = Limits(nodes=5_000, depth=40, pickle_ops=5_000, memo=5_000, pickle_bytes=1 << 16)
"""Low, so that small inputs reach them."""
REFUSALS = frozenset({"SM001", "SM003", "SM006", "SM007"})
"""What ``read_pickle`` promises to refuse with, and nothing else."""
SCALARS = frozenset({type(None), bool, int, float, str, bytes, Name, Storage})


def one_input(data: bytes) -> None:
    """Read one stream by itself, and as a file.

    Raises:
        Fault: something was run or opened, or a value came out that is not inert or larger than its bytes
            allow. Whatever else comes out of the reader is a fault, too.
    """
    rng = BytesRandom(data)
    grammar, zipped, edits = rng.choice((PLAIN, TORCH)), rng.random() < 0.5, rng.getrandbits(2)
    stream = stream_from(rng)
    _read_alone(stream, grammar)
    file = archive_of(rng, stream, edits) if zipped else stream
    with stored(file, ".pt") as path, nothing_done(path):
        try:
            document = read(path, limits=LIMITS)
        except FormatError as refusal:
            _check_refusal(refusal)
            return
    for refused in document.refusals:
        code_of(refused.code)


def _read_alone(stream: bytes, grammar: Grammar) -> None:
    with nothing_done():
        try:
            value = read_pickle(stream, grammar, Origin("f"), LIMITS)
        except FormatError as refusal:
            _check_refusal(refusal)
            demand(refusal.code in REFUSALS, "a pickle refused with {}", refusal)
            return
    parts = list(_parts(value))
    demand(len(parts) <= len(stream), "{} values of {} bytes", len(parts), len(stream))
    if grammar is PLAIN and not any(isinstance(part, Name) for part in parts):
        theirs = _by_python(stream)
        demand(theirs in (None, repr(value)), "read as {!r}, but Python reads {}", value, theirs)


def _check_refusal(refusal: FormatError) -> None:
    code_of(refusal.code)
    words = refusal.message, refusal.help
    demand(all(text and text.isprintable() and text.isascii() for text in words), "refused with {!a}", words)


def _parts(value: object) -> Iterator[object]:
    """Each object that a value is made of once, itself included. All must be of inert types."""
    seen: set[int] = set()
    left = [value]
    while left:
        part = left.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if type(part) is list or type(part) is tuple:
            left += part
        elif type(part) is dict:
            left += [*part, *part.values()]
        elif type(part) is Call:
            left += [part.function, part.args, part.state]
        elif type(part) not in SCALARS:
            raise Fault(f"a {type(part).__name__} was read")


class _Unpickler(pickle.Unpickler):
    """Python's own, for streams that ours found to hold only plain values; it may refer to one class."""

    def find_class(self, module: str, name: str) -> type[dict[object, object]]:
        demand((module, name) == ("collections", "OrderedDict"), "refers to {}.{}", module, name)
        return _Plain


class _Plain(OrderedDict[object, object]):
    """An OrderedDict that is shown as a dict."""

    def __repr__(self) -> str:
        return repr(dict(self))


def _by_python(stream: bytes) -> str | None:
    """What Python reads, as text; None where it refuses: it knows damage that is none for us."""
    try:
        return repr(_Unpickler(BytesIO(stream)).load())
    except (
        pickle.UnpicklingError,
        ArithmeticError,
        AttributeError,
        EOFError,
        LookupError,
        TypeError,
        ValueError,
    ):
        return None
