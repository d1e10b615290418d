"""The types of elements that torch has, by the names that its pickles refer to."""

from __future__ import annotations

from verifier.formats.pickles.records import Name

ITEM_BYTES = {
    **dict.fromkeys(("bool", "uint8", "int8", "qint8", "quint8", "bits8"), 1),
    **dict.fromkeys(
        ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"), 1
    ),
    **dict.fromkeys(("float16", "bfloat16", "uint16", "int16", "bits16"), 2),
    **dict.fromkeys(("float32", "int32", "uint32", "qint32", "complex32"), 4),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    "complex128": 16,
}
"""Bytes of one element. Types that pack several elements into a byte are not listed."""

_PACKED = (
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)),
    *("float4_e2m1fn_x2", "bits1x8", "bits2x4", "bits4x2", "quint2x4", "quint4x2"),
)

DTYPES = frozenset(Name("torch", dtype) for dtype in (*ITEM_BYTES, *_PACKED))

STORAGE_DTYPES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "QInt8Storage": "qint8",
    "QUInt8Storage": "quint8",
    "QInt32Storage": "qint32",
    "QUInt4x2Storage": "quint4x2",
    "QUInt2x4Storage": "quint2x4",
}
"""The types of elements of the storages that have a name of their own."""
