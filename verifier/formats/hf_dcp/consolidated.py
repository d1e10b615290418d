"""Consolidated files held against the shards that they were put together from: names and types.

Shapes are compared where the parts of a tensor are, values where they are asked for (``values``).
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from verifier.formats.hf_dcp.tensors import Tensor
from verifier.formats.hf_dcp.values import Consolidated
from verifier.formats.reading.folder_files import file_inside
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError, shown
from verifier.formats.reading.sight import Sight
from verifier.formats.safetensors.files import is_index_name, is_variant
from verifier.formats.safetensors.folder import SafetensorsFolder, place_in
from verifier.formats.safetensors.index import Index, read_index
from verifier.formats.safetensors.indexed_files import siblings_of
from verifier.obligations.faults import Fault


def consolidated_tensors(folder: SafetensorsFolder) -> dict[str, Consolidated]:
    """The tensors in consolidated files, by name. A variant of the model counts where it is all there is."""
    return {
        tensor.name: Consolidated(folder.path / name, header, tensor)
        for name, header in sorted(folder.headers.items(), key=lambda item: not is_variant(item[0]))
        for tensor in header.tensors
    }


def check_names(
    folder: SafetensorsFolder, sharded: Collection[str], limits: Limits, gathered: Gathered
) -> None:
    """Add the tensors of the shards that the consolidated files lack, or have outside of every index."""
    indices = _indices(folder, limits)
    indexed = {name for index in indices for name in index.files}
    # Of files that are numbered with those that an index lists, the index is told to miss the tensors.
    listed = {file for index in indices for file in index.files.values()}
    listed.update(file for index in indices for file in siblings_of(index, folder.files))
    homes = {name: file for file, header in folder.headers.items() for name in header.names}
    if folder.headers and not folder.unreadable:
        gathered.about_names(
            "CK111",
            # What an index lists and no file holds is told with the index.
            [name for name in sharded if name not in homes and name not in indexed],
            what="the tensor",
            found="is in no consolidated file",
            stated="there are shards of it",
            file=folder.prefix,
        )
    if indices:
        gathered.about_names(
            "CK105",
            [name for name in sharded if name in homes and name not in indexed and homes[name] not in listed],
            what="the tensor",
            found="is in a consolidated file that no index names",
            stated="there are shards of it",
            file=folder.prefix,
        )


def type_faults(tensor: Tensor, whole: Consolidated) -> list[Fault]:
    """CK114 for a consolidated tensor of another type than its parts, if those have one."""
    types = {part.tensor.dtype for part in tensor.parts}
    if types == {whole.tensor.dtype} or len(types) > 1:
        return []
    return [
        set_fault(
            "CK114",
            f"the type of {shown(tensor.name)}",
            f"is {whole.tensor.dtype}",
            stated=f"in its parts it is {tensor.parts[0].tensor.dtype}",
            file=whole.header.origin.file,
            reason="whoever reads the consolidated files gets other values than whoever reads the shards",
        )
    ]


def _indices(folder: SafetensorsFolder, limits: Limits) -> list[Index]:
    """The indices of consolidated files. One that cannot be read was told where the files were."""
    found: list[Index] = []
    for name in filter(is_index_name, Sight(folder.path).names):
        inside = file_inside(folder.path, name)
        if inside is not None:
            with suppress(FormatError, OSError):
                found.append(read_index(inside, place_in(folder.prefix, name), limits))
    return found
