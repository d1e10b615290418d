from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.formats.documents import refusal_of
from tests.formats.safetensors.library import complaint
from tests.formats.safetensors.samples import BYTES, a_file, entries, framed
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError
from verifier.formats.safetensors.header import BITS, Header, read_header
from verifier.model.origin import Origin

TWO = {"a": ("F32", (2, 3)), "b": ("BF16", (5,))}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.safetensors"


def header_of(file: Path, data: bytes, limits: Limits | None = None) -> Header:
    file.write_bytes(data)
    return read_header(file, Origin("x.safetensors"), limits or Limits())


def code_of(file: Path, data: bytes, limits: Limits | None = None) -> str:
    refusal = refusal_of(lambda: header_of(file, data, limits))
    assert isinstance(refusal, FormatError)
    assert refusal.origin.file == "x.safetensors"
    assert (refusal.line, refusal.column) == (None, None)
    return refusal.code


@given(
    st.dictionaries(
        st.text("abc.", min_size=1, max_size=6),
        st.tuples(st.sampled_from(sorted(BYTES)), st.lists(st.integers(0, 4), max_size=3)),
        max_size=4,
    )
)
@settings(max_examples=60)
def test_what_is_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, tensors: dict[str, tuple[str, list[int]]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "written.safetensors"
    data = a_file(tensors, {"format": "pt"})
    header = header_of(file, data)
    assert {each.name: (each.dtype, list(each.shape)) for each in header.tensors} == {
        name: (dtype, list(shape)) for name, (dtype, shape) in tensors.items()
    }
    assert header.metadata == {"format": "pt"}
    assert header.data_start + header.data_bytes == len(data)
    assert not header.refusals
    assert not header.unplaced


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "SM001"),
        (b"\x00" * 7, "SM001"),
        (a_file(TWO)[:40], "SM001"),  # ends inside its header
        (b"\xff" * 8 + b"{}", "SM001"),  # announces 2**64 - 1 bytes
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "SM001"),
        (framed(b"{not JSON}", b""), "SM001"),
        (framed(b"\xff\xfe{}", b""), "SM001"),
        (framed([1], b""), "SM002"),
        (framed(b'{"a": 1, "a": 2}', b""), "SM003"),
        (framed(b'{"a": {"dtype": "U8", "dtype": "U8"}}', b""), "SM003"),
        (framed(b'{"a": 1e999}', b""), "SM005"),
        (framed({"__metadata__": {"a": 1}}, b""), "SM002"),
        (framed({"__metadata__": []}, b""), "SM002"),
    ],
)
def test_a_file_that_has_no_one_meaning_is_refused(file: Path, data: bytes, code: str) -> None:
    assert code_of(file, data) == code


def test_limits_are_kept_before_anything_is_read(file: Path) -> None:
    assert code_of(file, a_file(TWO), Limits(json_bytes=20)) == "SM006"
    assert code_of(file, a_file(TWO), Limits(nodes=3)) == "SM006"
    assert code_of(file, framed(b"[" * 500, b"")) == "SM006"


def test_a_git_lfs_pointer_is_told(file: Path) -> None:
    with pytest.raises(FormatError, match="Git LFS pointer"):
        header_of(file, b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("dtype", "Q4_K", "SM002"),
        ("dtype", ["F32"], "SM002"),
        ("shape", [2, -3], "SM104"),
        ("shape", [2, 3.0], "SM005"),
        ("shape", [True, 3], "SM005"),
        ("shape", "23", "SM002"),
        ("shape", [2**63], "SM109"),
        ("shape", [2**40, 2**40], "CK113"),
        ("shape", [2**130], "SM006"),
        ("shape", [1] * 65, "SM006"),
        ("data_offsets", [24, 0], "CK113"),
        ("data_offsets", [-1, 24], "CK113"),
        ("data_offsets", [0, 2**63], "SM109"),
        ("data_offsets", [0], "SM002"),
        ("data_offsets", None, "SM002"),
    ],
)
def test_a_wrong_entry_is_refused_and_the_others_are_read(
    file: Path, field: str, value: object, code: str
) -> None:
    header = entries(TWO)
    header["a"][field] = value
    read = header_of(file, framed(header, b"\x00" * 34))
    assert [(refusal.name, refusal.code) for refusal in read.refusals] == [("a", code)]
    assert [tensor.name for tensor in read.tensors] == ["b"]
    assert read.unplaced == (("a",) if field == "data_offsets" else ())
    assert sorted(read.names) == ["a", "b"]


def test_a_name_that_is_no_text_refuses_its_tensor_only(file: Path) -> None:
    header = header_of(file, a_file({"a\n\ud800": ("U8", (1,)), "c": ("U8", (1,))}))
    assert [refusal.name for refusal in header.refusals] == ['"a\\n\\ud800"']
    assert [tensor.name for tensor in header.tensors] == ["c"]


def test_every_type_of_the_library_is_known() -> None:
    for dtype, bits in BITS.items():
        entry = {"a": {"dtype": dtype, "shape": [8], "data_offsets": [0, bits]}}
        assert complaint(framed(entry, bytes(bits))) is None
    unknown = complaint(framed({"a": {"dtype": "?", "shape": [1], "data_offsets": [0, 1]}}, b"0"))
    assert unknown is not None
    assert set(unknown.split("`")[3::2]) == set(BITS)
