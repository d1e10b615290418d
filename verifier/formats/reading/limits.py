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
        value_bytes: tensor data of one file, where values are asked for.
        replica_runs: stretches of memory in which replicas of one parameter are compared.
        entries: files of one checkpoint whose parts are a file each, such as the chunks of zarr arrays.
        unstored_chunks: numbers of the places of chunks for which nothing is stored, in one checkpoint.
        device_parts: parts of arrays on devices, over all arrays of one checkpoint.
        frame_reads: reads inside compressed chunks of one checkpoint, one for each block of a chunk.
        store_memory: memory of the process that lists a key-value store, its library and threads included.
        store_seconds: time after which that process is ended.
        metadata_bytes: size of a ``.metadata`` file, about 143 bytes a chunk: 256 MiB are 1.8 million chunks.
        metadata_inert_bytes: size up to which it is read in this process, by the inert machine, which takes
            half a second for a MiB; a larger one is read by Python's unpickler in a child process.
        metadata_memory: memory of that process for each byte of the file; a million chunks need 11.
        metadata_seconds: time after which that process is ended. A kill switch: a million chunks take 10.
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
    value_bytes: int = 64 * MIB
    replica_runs: int = 1_000_000
    entries: int = 2_000_000
    unstored_chunks: int = 100_000
    device_parts: int = 4_000_000
    frame_reads: int = 2_000_000
    store_memory: int = 4096 * MIB
    store_seconds: int = 120
    metadata_bytes: int = 256 * MIB
    metadata_inert_bytes: int = MIB // 2
    metadata_memory: int = 16
    metadata_seconds: int = 300
