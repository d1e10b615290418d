"""The classes and functions that the pickles of torch.distributed.checkpoint refer to, by name only.

Seen in files of torch 2.x and Megatron-core. Names are compared whole, and no other is accepted.
"""

from __future__ import annotations

from verifier.formats.pickles.dtypes import DTYPES
from verifier.formats.pickles.records import Grammar, Name
from verifier.formats.pickles.torch_zip import SIZE

_METADATA = "torch.distributed.checkpoint.metadata"
_SHARDED_TENSOR = "torch.distributed._shard.sharded_tensor.metadata"
_PLANNER = "torch.distributed.checkpoint.planner"
_FILESYSTEM = "torch.distributed.checkpoint.filesystem"

METADATA = Name(_METADATA, "Metadata")
TENSOR = Name(_METADATA, "TensorStorageMetadata")
BYTES = Name(_METADATA, "BytesStorageMetadata")
CHUNK = Name(_METADATA, "ChunkStorageMetadata")
INDEX = Name(_METADATA, "MetadataIndex")
STORAGE_INFO = Name(_FILESYSTEM, "_StorageInfo")
PROPERTIES = Name(_METADATA, "TensorProperties")
OLD_PROPERTIES = Name(_SHARDED_TENSOR, "TensorProperties")

RECORDS = frozenset(
    {
        *(METADATA, TENSOR, BYTES, CHUNK, INDEX, STORAGE_INFO, PROPERTIES, OLD_PROPERTIES),
        Name(_METADATA, "StorageMeta"),
        *(Name(_PLANNER, kind) for kind in ("SavePlan", "WriteItem", "TensorWriteData")),
        Name("megatron.core.dist_checkpointing.strategies.torch", "MCoreSavePlan"),
    }
)
"""Classes whose instances are made without arguments and then given state."""

CALLED = frozenset(
    {
        SIZE,
        Name(_METADATA, "_MEM_FORMAT_ENCODING"),
        Name(_SHARDED_TENSOR, "MEM_FORMAT_ENCODING"),
        Name(_PLANNER, "WriteItemType"),
        Name("torch.serialization", "_get_layout"),
        *(
            Name(module, kind)
            for module in ("pathlib", "pathlib._local")
            for kind in ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")
        ),
    }
)
"""What is called with arguments. Of these only sizes are looked at."""

ORDERED_DICT = Name("collections", "OrderedDict")

DCP = Grammar(
    names=DTYPES,
    calls=RECORDS | CALLED,
    stateful=RECORDS,
    mappings=frozenset({ORDERED_DICT}),
    keys=frozenset({INDEX}),
)
"""What a ``.metadata`` file may hold besides plain objects."""
