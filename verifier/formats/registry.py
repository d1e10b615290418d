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
from verifier.formats.deepspeed.sight import deepspeed_claims, is_deepspeed_folder
from verifier.formats.hf_dcp.names import is_hf_dcp
from verifier.formats.orbax.sight import is_orbax
from verifier.formats.reading import marks
from verifier.formats.reading.claims import Claims, everything, matching, named
from verifier.formats.reading.document import Document
from verifier.formats.reading.request import Request
from verifier.formats.reading.sight import Sight
from verifier.formats.safetensors.files import is_map_with_tensors, is_safetensors
from verifier.formats.safetensors.implicit_sight import is_implicit
from verifier.formats.torch_files.sight import RANK_FILE, is_fsdp1, is_optimizer_file, is_rank_files
from verifier.model.origin import Origin

ENTRY_POINTS = "shardproof.formats"

Read = Callable[[Path, Origin, Request], Document]
"""A reader. It raises FormatError when nothing at all can be read, OSError when the path cannot be opened."""

Recognises = Callable[[Sight], bool]


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        name: the word ``--input-format`` takes.
        about: what it is, for people, one line.
        recognises: whether a path has this format, by its content; must be cheap.
        reader: where its reader is, "module:function".
        claims: the entries of a folder of this format that its reader takes care of.
        found: whether a file that nobody named has this format; None for ``recognises``. Stricter where that
            is true of whatever has the container of the format.
        containers: what a file of this format is on the outside, in the words of ``marks.container``; empty
            for formats of folders, and where nobody said.
        shapes: whether its reader itself holds parameters against stated shapes, and says what is not there.
        values: whether its reader compares values where that is asked.
    """

    name: str
    about: str
    recognises: Recognises
    reader: str
    claims: Claims = everything
    found: Recognises | None = None
    containers: tuple[str, ...] = ()
    shapes: bool = False
    values: bool = False

    def finds(self, sight: Sight) -> bool:
        """Whether a file is of this format that was only found in a folder."""
        return (self.found or self.recognises)(sight)

    def load(self) -> Read:
        """The reader.

        Raises:
            ImportError: it cannot be imported.
        """
        module, _, function = self.reader.partition(":")
        return cast(Read, getattr(import_module(module), function))


_SAFETENSORS = named("*.safetensors", "*.safetensors.index*.json")
_DCP = (".metadata", "__*.metadata", "*.distcp")
_RANK_FILES = matching(RANK_FILE)

BUILT_IN: tuple[Format, ...] = (
    Format(
        "megatron", "Megatron-core checkpoint", is_megatron,
        "verifier.formats.megatron.reader:read_megatron",
        claims=named(*_DCP, "metadata.json", "common.pt", folders=True), shapes=True,
    ),
    Format(
        "dcp", "torch distributed checkpoint", is_dcp, "verifier.formats.dcp.reader:read_dcp",
        claims=named(*_DCP),
        found=lambda sight: marks.container(sight) == marks.PICKLE and is_dcp(sight),
        containers=(marks.PICKLE,), shapes=True,
    ),
    Format(
        "orbax", "Orbax checkpoint of JAX arrays", is_orbax, "verifier.formats.orbax.reader:read_orbax",
        claims=named("_*", "array_metadatas", "manifest.ocdbt", "commit_success.txt", folders=True),
        shapes=True,
    ),
    Format(
        "deepspeed", "DeepSpeed checkpoint folder", is_deepspeed_folder,
        "verifier.formats.deepspeed.checkpoint_dir:read_folder", claims=deepspeed_claims,
    ),
    Format(
        "map+safetensors", "shard map beside the tensors of its ranks", is_map_with_tensors,
        "verifier.formats.safetensors.stored_replicas:read_map_with_tensors",
        claims=named("map.json", "rank[0-9]*.safetensors"), values=True,
    ),
    Format(
        "rank-files", "files of ranks that do not say how tensors are cut", is_implicit,
        "verifier.formats.safetensors.implicit_ranks:read_implicit",
        claims=named("model-rank-*.safetensors", "rank[0-9]*.safetensors", "config.json", "mp_rank_*"),
    ),
    Format(
        "hf-dcp", "torch distributed checkpoint in Hugging Face storage", is_hf_dcp,
        "verifier.formats.hf_dcp.reader:read_hf_dcp",
        claims=lambda sight: [*_SAFETENSORS(sight), *named("sharded")(sight)],
        shapes=True, values=True,
    ),
    Format(
        "safetensors", "safetensors files, with or without an index", is_safetensors,
        "verifier.formats.safetensors.reader:read_safetensors", claims=_SAFETENSORS,
        containers=(marks.SAFETENSORS, marks.JSON), shapes=True,
    ),
    Format(
        "fsdp1", "ShardedTensors of FSDP1, one file for each rank", is_fsdp1,
        "verifier.formats.torch_files.fsdp1:read_fsdp1", claims=_RANK_FILES, containers=(marks.ZIP,),
    ),
    Format(
        "torch-dtensor", "DTensors in files of torch.save, one for each rank", is_rank_files,
        "verifier.formats.torch_files.dtensor:read_rank_files", claims=_RANK_FILES, containers=(marks.ZIP,),
        shapes=True, values=True,
    ),
    Format(
        "optimizer-state", "state dict of a torch optimizer", is_optimizer_file,
        "verifier.formats.torch_files.optimizer_state:read_optimizer_file", containers=(marks.ZIP,),
        shapes=True, values=True,
    ),
    Format(
        "torch-save", "a file of torch.save", marks.is_zip,
        "verifier.formats.pickled:read_archive_file", found=marks.zip_with_maps, containers=(marks.ZIP,),
    ),
    Format(
        "json", "JSON document of maps, or a case", marks.is_json,
        "verifier.formats.maps.map_json:read_json_file", found=marks.json_with_maps,
        containers=(marks.JSON,),
    ),
    Format(
        "pickle", "pickle of plain objects", marks.is_pickle,
        "verifier.formats.pickled:read_pickle_file", found=marks.pickle_with_maps,
        containers=(marks.PICKLE,),
    ),
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
