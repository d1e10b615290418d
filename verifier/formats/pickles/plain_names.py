"""Names of numpy and of Python itself that training states hold beside tensors, as inert records.

Schedulers keep learning rates as numpy's numbers, trainers the states of random generators and counters.
Nothing of it is called or looked up; of numpy's numbers the bytes are in the pickle and can be told.
"""

from __future__ import annotations

import struct

from verifier.formats.pickles.records import COUNTER, DEFAULTDICT, Call, Grammar, Name

# numpy 2 has renamed its core.
_CORES = ("numpy.core", "numpy._core")
_SCALARS = frozenset(Name(f"{core}.multiarray", "scalar") for core in _CORES)
_DTYPE = Name("numpy", "dtype")
ENCODE = Name("_codecs", "encode")
"""How protocol 2 writes bytes: as a text and its encoding."""

_GENERATORS = {
    "numpy.random._pickle": (
        *("__generator_ctor", "__bit_generator_ctor", "__randomstate_ctor"),
        *("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"),
    ),
    "numpy.random.bit_generator": ("__pyx_unpickle_SeedSequence", "SeedSequence"),
    "numpy.random._mt19937": ("MT19937",),
    "numpy.random._pcg64": ("PCG64", "PCG64DXSM"),
    "numpy.random._philox": ("Philox",),
    "numpy.random._sfc64": ("SFC64",),
}
_STATEFUL = frozenset(
    {
        _DTYPE,
        *(Name(f"{core}.multiarray", "_reconstruct") for core in _CORES),
        *(Name(module, name) for module, names in _GENERATORS.items() for name in names),
    }
)
_FACTORIES = ("dict", "list", "tuple", "int", "float", "bool", "str")

PLAIN_NAMES = Grammar(
    names=frozenset(
        {
            Name("numpy", "ndarray"),
            *(Name(module, kind) for module in ("builtins", "__builtin__") for kind in _FACTORIES),
        }
    ),
    calls=frozenset(
        {ENCODE, *_STATEFUL, *_SCALARS, *(Name(f"{core}.numeric", "_frombuffer") for core in _CORES)}
    ),
    stateful=_STATEFUL,
    mappings=frozenset({Name("collections", "OrderedDict"), DEFAULTDICT, COUNTER}),
)
"""What training states hold beside tensors and plain objects."""

_FORMS = {
    **{f"f{width}": form for width, form in ((2, "e"), (4, "f"), (8, "d"))},
    **{f"i{width}": form for width, form in ((1, "b"), (2, "h"), (4, "i"), (8, "q"))},
    **{f"u{width}": form for width, form in ((1, "B"), (2, "H"), (4, "I"), (8, "Q"))},
}

WIDEST = 8
"""Bytes of the widest number. A longer text is not looked at: many records can share one."""


def plain_number(value: object) -> object:
    """The number of a record of numpy; any other value as it is."""
    match value:
        case Call(
            function=function, args=(Call(function=Name() as kind, args=(str(code), *_)) as dtype, raw)
        ):
            data = _bytes(raw)
            form = _FORMS.get(code)
            if function not in _SCALARS or kind != _DTYPE or form is None or data is None:
                return value
            order = dtype.state[1] if isinstance(dtype.state, tuple) and len(dtype.state) > 1 else "<"
            layout = struct.Struct((">" if order == ">" else "<") + form)
            if len(data) == layout.size:
                number: int | float = layout.unpack(data)[0]
                return number
    return value


def _bytes(raw: object) -> bytes | None:
    """The bytes of one number, in whatever protocol they were written."""
    match raw:
        case bytes():
            return raw
        case Call(function=function, args=(str(text), "latin1")) if (
            function == ENCODE and len(text) <= WIDEST
        ):
            return bytes(map(ord, text)) if all(ord(letter) < 256 for letter in text) else None
    return None
