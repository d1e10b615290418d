"""The parts of tensors in one shard file of torch's Hugging Face storage: where each begins in its tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from verifier.formats.reading.document import Refusal
from verifier.formats.reading.fields import integers, malformed
from verifier.formats.reading.json_text import parse
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, below, shown
from verifier.formats.safetensors.files import SHARDING_INFO
from verifier.formats.safetensors.header import METADATA, Header, StoredTensor
from verifier.geometry.strided import INT64_MAX
from verifier.model.origin import Origin

OFFSETS = "saved_offsets"
FULL_SHAPE = "global_shape"
VERSION = "DCP_VERSION"


@dataclass(frozen=True, slots=True)
class Part:
    """A block of a tensor.

    Attributes:
        header: the file it is in.
        tensor: it, with its shape.
        offsets: where it begins in the full tensor; None when the file does not say.
        informed: whether the file says so of any of its tensors.
        full_shape: shape of the full tensor; None when the file does not say, as today's writers do not.
    """

    header: Header
    tensor: StoredTensor
    offsets: tuple[int, ...] | None
    full_shape: tuple[int, ...] | None
    informed: bool

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.header.origin.file.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class ShardFile:
    """One file of parts.

    Attributes:
        parts: its parts, in the order of its header.
        refusals: parts whose place could not be read.
        ghosts: names for which it says so and that it does not hold.
    """

    parts: tuple[Part, ...]
    refusals: tuple[Refusal, ...]
    ghosts: tuple[str, ...]


def shard_file(header: Header, limits: Limits) -> ShardFile:
    """The parts of a file whose header was read.

    Raises:
        FormatError: SM001 to SM006 when the places of its parts cannot be read, SM004 for an unknown version.
    """
    _check_version(header)
    place = header.origin.child(METADATA, SHARDING_INFO)
    info = _sharding_info(header.metadata.get(SHARDING_INFO), place, limits)
    parts: list[Part] = []
    refusals: list[Refusal] = []
    for tensor in header.tensors:
        try:
            parts.append(_part(header, tensor, info, place))
        except FormatError as error:
            refusals.append(Refusal.of(tensor.name, error))
    held = set(header.names)
    ghosts = tuple(name for name in info or () if name not in held)
    return ShardFile(tuple(parts), tuple(refusals), ghosts)


def _check_version(header: Header) -> None:
    version = header.metadata.get(VERSION, "1.0")
    if version.split(".")[0] != "1":
        raise FormatError(
            "SM004",
            f"{VERSION} is {shown(version)}; version 1 is understood",
            header.origin.child(METADATA, VERSION),
            help="a newer shardproof may know this version",
        )


def _sharding_info(text: str | None, place: Origin, limits: Limits) -> Mapping[str, object] | None:
    if not text:
        return None
    try:
        parsed = parse(text.encode("utf-8", "surrogatepass"), place, limits)
        if parsed.flaws:
            raise parsed.flaws[0]
    except FormatError as error:
        # Lines and columns of this text are no places in the file.
        raise FormatError(
            error.code, f"in {SHARDING_INFO}: {error.message}", place, help=error.help
        ) from None
    if not isinstance(parsed.value, dict):
        raise malformed(
            f"{SHARDING_INFO} is {shown(parsed.value)}", place, "write an object, one key a tensor"
        )
    return parsed.value


def _part(header: Header, tensor: StoredTensor, info: Mapping[str, object] | None, place: Origin) -> Part:
    if info is None or tensor.name not in info:
        return Part(header, tensor, None, None, info is not None)
    entry, here = info[tensor.name], below(place, tensor.name)
    if not isinstance(entry, dict) or OFFSETS not in entry:
        raise malformed(f"{shown(entry)} has no {OFFSETS}", here, f"write an object with {OFFSETS}")
    offsets = _numbers(entry[OFFSETS], tensor, here.child(OFFSETS))
    full = _numbers(entry[FULL_SHAPE], tensor, here.child(FULL_SHAPE)) if FULL_SHAPE in entry else None
    if full is not None and any(extent < 0 for extent in full):
        raise FormatError(
            "SM104", f"{FULL_SHAPE} is {list(full)}", here, help="write 0 for an empty dimension"
        )
    return Part(header, tensor, offsets, full, True)


def _numbers(value: object, tensor: StoredTensor, place: Origin) -> tuple[int, ...]:
    numbers = integers(value, place)
    if len(numbers) != len(tensor.shape):
        raise malformed(
            f"{len(numbers)} numbers for a part of {len(tensor.shape)} dimensions", place, "write one each"
        )
    if any(abs(number) > INT64_MAX for number in numbers):
        raise FormatError(
            "SM109", "a number that 64 bits do not hold", place, help="write the number that was meant"
        )
    return numbers
