"""The formats that can be read, in the order in which a path is tried against them.

A format is a name, a cheap way to tell it, and a reader that is imported only when needed. Packages add their
own by an entry point in the group ``shardproof.formats`` that names a ``Format``; those are tried first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import cast

from verifier.formats.dcp.sight import is_dcp, is_megatron
from verifier.formats.hf_dcp.names import is_hf_dcp
from verifier.formats.orbax.sight import is_orbax
from verifier.formats.reading.document import Document
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.formats.safetensors.files import is_map_with_tensors, is_safetensors
from verifier.formats.safetensors.implicit_sight import is_implicit
from verifier.formats.torch_files.sight import is_fsdp1, is_optimizer_file, is_rank_files
from verifier.model.origin import Origin

ENTRY_POINTS = "shardproof.formats"

Read = Callable[[Path, Origin, Request], Document]
"""A reader. It raises FormatError when nothing at all can be read, OSError when the path cannot be opened."""

ZIP_MAGIC = b"PK\x03\x04"
PICKLE_PROTOCOL = b"\x80"
PICKLE_STOP = b"."
JSON_STARTS = b'{["-0123456789tfn'
BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        name: the word ``--input-format`` takes.
        about: what it is, for people, one line.
        recognises: whether a path has this format, by its content; must be cheap.
        reader: where its reader is, "module:function".
    """

    name: str
    about: str
    recognises: Callable[[Sight], bool]
    reader: str

    def load(self) -> Read:
        """The reader.

        Raises:
            ImportError: it cannot be imported.
        """
        module, _, function = self.reader.partition(":")
        return cast(Read, getattr(import_module(module), function))


def _is_json(sight: Sight) -> bool:
    return sight.head.startswith(BYTE_ORDER_MARKS) or sight.head.lstrip()[:1] in [
        bytes([start]) for start in JSON_STARTS
    ]


def _is_pickle(sight: Sight) -> bool:
    # Old protocols have no mark of their own; every pickle ends with its STOP opcode.
    return sight.head.startswith(PICKLE_PROTOCOL) or sight.last_byte == PICKLE_STOP


def _is_deepspeed_folder(sight: Sight) -> bool:
    if not sight.is_folder:
        return False
    return sight.has_suffix("_states.pt") or sight.has("latest") or _tag_folder(sight)


def _tag_folder(sight: Sight) -> bool:
    return any(Sight(sight.path / name).has_suffix("_states.pt") for name in sight.names)


BUILT_IN: tuple[Format, ...] = (
    Format(
        "megatron", "Megatron-core checkpoint", is_megatron,
        "verifier.formats.megatron.reader:read_megatron",
    ),
    Format("dcp", "torch distributed checkpoint", is_dcp, "verifier.formats.dcp.reader:read_dcp"),
    Format("orbax", "Orbax checkpoint of JAX arrays", is_orbax, "verifier.formats.orbax.reader:read_orbax"),
    Format(
        "deepspeed", "DeepSpeed checkpoint folder", _is_deepspeed_folder,
        "verifier.formats.deepspeed.checkpoint_dir:read_folder",
    ),
    Format(
        "map+safetensors", "shard map beside the tensors of its ranks", is_map_with_tensors,
        "verifier.formats.safetensors.stored_replicas:read_map_with_tensors",
    ),
    Format(
        "rank-files", "files of ranks that do not say how tensors are cut", is_implicit,
        "verifier.formats.safetensors.implicit_ranks:read_implicit",
    ),
    Format(
        "hf-dcp", "torch distributed checkpoint in Hugging Face storage", is_hf_dcp,
        "verifier.formats.hf_dcp.reader:read_hf_dcp",
    ),
    Format(
        "safetensors", "safetensors files, with or without an index", is_safetensors,
        "verifier.formats.safetensors.reader:read_safetensors",
    ),
    Format(
        "fsdp1", "ShardedTensors of FSDP1, one file for each rank", is_fsdp1,
        "verifier.formats.torch_files.fsdp1:read_fsdp1",
    ),
    Format(
        "torch-dtensor", "DTensors in files of torch.save, one for each rank", is_rank_files,
        "verifier.formats.torch_files.dtensor:read_rank_files",
    ),
    Format(
        "optimizer-state", "state dict of a torch optimizer", is_optimizer_file,
        "verifier.formats.torch_files.optimizer_state:read_optimizer_file",
    ),
    Format(
        "torch-save", "a file of torch.save", lambda sight: sight.head.startswith(ZIP_MAGIC),
        "verifier.formats.pickled:read_archive_file",
    ),
    Format(
        "json", "JSON document of maps, or a case", _is_json,
        "verifier.formats.maps.map_json:read_json_file",
    ),
    Format("pickle", "pickle of plain objects", _is_pickle, "verifier.formats.pickled:read_pickle_file"),
)  # fmt: skip


@cache
def formats() -> tuple[Format, ...]:
    """Every format, in the order they are tried.

    Raises:
        TypeError: an entry point names something else than a Format.
        ImportError: an entry point cannot be loaded.
    """
    return (*_added(), *BUILT_IN)


def _added() -> tuple[Format, ...]:
    from importlib.metadata import entry_points

    added: list[Format] = []
    for found in sorted(entry_points(group=ENTRY_POINTS)):
        loaded = found.load()
        if not isinstance(loaded, Format):
            raise TypeError(f"entry point {found.name} of {ENTRY_POINTS} names a {type(loaded).__name__}")
        added.append(loaded)
    return tuple(added)
