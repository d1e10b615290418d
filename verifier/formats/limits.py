"""How much a file may ask of its reader before it is refused (SM006)."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Most work and memory one document may cost. Every limit is checked before the cost arises.

    Attributes:
        json_bytes: size of a JSON file.
        pickle_bytes: size of a pickle, alone or as ``data.pkl`` of a torch archive.
        nodes: values in a document; shared parts of a pickle count as often as they are reachable.
        depth: levels of nesting.
        text_chars: characters of a name or key.
        integer_digits: decimal digits of one number.
        axes: axes of one view; torch itself stops at 64.
        pickle_ops: opcodes of one pickle.
        memo: highest memo slot of a pickle.
        archive_directory_bytes: size of a zip archive's central directory.
        files: model files of one checkpoint directory.
    """

    json_bytes: int = 64 * MIB
    pickle_bytes: int = 64 * MIB
    nodes: int = 12_000_000
    depth: int = 100
    text_chars: int = 4096
    integer_digits: int = 128
    axes: int = 64
    pickle_ops: int = 12_000_000
    memo: int = 12_000_000
    archive_directory_bytes: int = 8 * MIB
    files: int = 4096
