from __future__ import annotations

import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.counting import calls_at_most
from tests.formats.documents import HERE, LIMITS, SAMPLES, archive, refusal_of
from tests.formats.pickles.test_tree import REFUSALS, mutated, mutations
from verifier.formats import read
from verifier.formats.pickles.torch_zip import TensorHeader, read_torch_zip, shape_of, tensor_header
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError

SAMPLE = SAMPLES / "deepspeed/autotp/step1/mp_rank_00_model_states.pt"


def code_of(path: Path, data: bytes, limits: Limits = LIMITS) -> str:
    path.write_bytes(data)
    with pytest.raises(FormatError) as caught:
        read_torch_zip(path, HERE, limits)
    assert caught.value.message.isprintable()
    return caught.value.code


PICKLE = ("a/data.pkl", pickle.dumps({"x": 1}, 2))


def test_the_pickle_of_an_archive_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(archive([PICKLE, ("a/data/0", b"\0" * 100)]))
    assert read_torch_zip(path, HERE, LIMITS) == {"x": 1}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_torch_does_not_write_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    good = archive([PICKLE])
    assert code_of(path, archive([PICKLE], zipfile.ZIP_DEFLATED)) == "SM007"
    assert code_of(path, archive([PICKLE, ("b/data.pkl", PICKLE[1])])) == "SM001"
    assert code_of(path, archive([PICKLE, PICKLE])) == "SM003"
    assert code_of(path, archive([("a/other", b"")])) == "SM001"
    assert code_of(path, archive([("data.pkl", PICKLE[1])])) == "SM001"
    assert code_of(path, good[:-30]) == "SM001"
    assert code_of(path, good.replace(b"x", b"y", 1)) == "SM001"  # the checksum no longer fits
    assert code_of(path, good, Limits(pickle_bytes=5)) == "SM006"
    assert code_of(path, good, Limits(archive_directory_bytes=40)) == "SM006"


def test_every_truncation_of_an_archive_is_refused(tmp_path: Path) -> None:
    data = archive([PICKLE, ("a/data/0", b"\1" * 20)])
    for size in range(0, len(data), 3):
        assert code_of(tmp_path / "a.pt", data[:size]) in {"SM001", "SM006"}


@settings(max_examples=150, deadline=None)
@given(mutations, st.booleans())
def test_a_mutated_archive_is_read_or_refused_and_soon(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str, int]], at_end: bool
) -> None:
    data = SAMPLE.read_bytes()
    # The directory stands at the end: half of the mutants change only that.
    head = len(data) - 900 if at_end else 0
    path = tmp_path_factory.getbasetemp() / "mutant.pt"
    path.write_bytes(data[:head] + mutated(data[head:], changes))
    with calls_at_most(500_000):  # the sound one takes 25,000
        refusal = refusal_of(lambda: read(path))
    if refusal is not None:
        assert refusal.code in REFUSALS | {"SM002"}
        assert refusal.message.isprintable()


@settings(max_examples=150, deadline=None)
@given(mutations)
def test_a_mutated_pickle_in_a_sound_archive_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, str, int]]
) -> None:
    with zipfile.ZipFile(SAMPLE) as reader:
        members = [(name, reader.read(name)) for name in reader.namelist()]
    path = tmp_path_factory.getbasetemp() / "mutant.pt"
    path.write_bytes(
        archive(
            [(name, mutated(raw, changes) if name.endswith(PICKLE[0][1:]) else raw) for name, raw in members]
        )
    )
    whole = refusal_of(lambda: read(path))
    if whole is not None:
        assert whole.code in REFUSALS | {"SM002"}
        return
    document = read(path)
    for refusal in document.refusals:
        assert f"{refusal.name}{refusal.origin}{refusal.message}".isprintable()


def test_headers_agree_with_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    base = torch.arange(24.0).reshape(4, 6)
    saved = OrderedDict(
        whole=base,
        column=base[:, 2:4],
        turned=base.t(),
        half=torch.zeros(3, 0, dtype=torch.bfloat16),
        flags=torch.ones(2, dtype=torch.bool),
        wide=torch.zeros(2, 2, dtype=torch.uint16),
        scalar=torch.tensor(3),
        learned=torch.nn.Parameter(base),
    )
    path = tmp_path / "t.pt"
    torch.save({"tensors": saved, "size": base.shape, "dtype": torch.float16}, path)
    value = read_torch_zip(path, HERE, LIMITS)
    assert isinstance(value, dict)
    assert shape_of(value["size"]) == (4, 6)
    for name, tensor in saved.items():
        header = tensor_header(value["tensors"][name])
        assert isinstance(header, TensorHeader)
        assert header.dtype == str(tensor.dtype).removeprefix("torch.")
        assert (header.shape, header.strides) == (tuple(tensor.shape), tensor.stride())
        assert header.offset == tensor.storage_offset()
    shared = [tensor_header(value["tensors"][name]) for name in ("whole", "column", "turned", "learned")]
    assert len({header.storage for header in shared if header is not None}) == 1


def test_every_type_of_elements_that_torch_saves_is_known(tmp_path: Path) -> None:
    """Those of one byte, and those of more, are views of bytes; of the rest torch makes no file."""
    torch = pytest.importorskip("torch")
    path = tmp_path / "t.pt"
    known = 0
    for dtype in {one for one in vars(torch).values() if isinstance(one, torch.dtype)}:
        try:
            tensor = torch.zeros(16, dtype=torch.uint8).view(dtype)
            torch.save([tensor, dtype], path)
        except (KeyError, RuntimeError):
            continue
        value = read_torch_zip(path, HERE, LIMITS)
        assert isinstance(value, list)
        header = tensor_header(value[0])
        assert header is not None
        assert (f"torch.{header.dtype}", header.shape) == (str(dtype), tuple(tensor.shape))
        known += 1
    assert known >= 24


def stored(value: object, change: Callable[[str, bytes], bytes | None], path: Path) -> FormatError | None:
    """What is said of a file of torch.save whose members were changed, or taken out where that is None."""
    torch = pytest.importorskip("torch")
    torch.save(value, path)
    with zipfile.ZipFile(path) as opened:
        changed = [(name, change(name, opened.read(name))) for name in opened.namelist()]
    path.write_bytes(archive([(name, raw) for name, raw in changed if raw is not None]))
    refusal = refusal_of(lambda: read_torch_zip(path, HERE, LIMITS))
    try:
        torch.load(path)
    except RuntimeError:
        assert refusal is not None or not value.numel()  # type: ignore[attr-defined]
    else:
        assert refusal is None
    return refusal


STORAGES: dict[str, tuple[Callable[[str, bytes], bytes | None], str]] = {
    "gone": (
        lambda name, raw: None if "/data/" in name else raw,
        'the storage "0" is not in the archive',
    ),
    "cut": (
        lambda name, raw: raw[:8] if "/data/" in name else raw,
        'the storage "0" has 8 bytes, the pickle says 24',
    ),
    "longer": (
        lambda name, raw: raw + b"\0" if "/data/" in name else raw,
        'the storage "0" has 25 bytes, the pickle says 24',
    ),
    "another tensor's": (
        # The storage is as long as it says, and the tensor is longer.
        lambda name, raw: (
            raw[:16]
            if "/data/" in name
            else raw.replace(b"K\x06tq", b"K\x04tq", 1)
            if name.endswith(".pkl")
            else raw
        ),
        'a tensor of shape [2, 3] lies in elements 0 to 5 of its storage "0", which has 16 bytes',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STORAGES)
def test_storages_that_are_not_whole_are_refused(name: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    change, message = STORAGES[name]
    refusal = stored(torch.ones(2, 3), change, tmp_path / "a.pt")
    assert refusal is not None
    assert (refusal.code, refusal.message) == ("SM001", message)


def test_tensors_of_all_forms_lie_in_their_storages(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    base = torch.arange(24.0).reshape(4, 6)
    forms = [
        *(base[1:, 2:4], base.t(), base[3], base[:, ::5], base[:1].expand(7, 6), base[4:], torch.tensor(3)),
        *(torch.nn.Parameter(base), base.to(torch.float8_e4m3fn)[1:], base.to(torch.complex64)[2:].conj()),
        *(torch.empty(0, 3), torch.empty(3, device="meta"), base.clone().untyped_storage()),
    ]
    for form in [*forms, forms]:
        torch.save(form, tmp_path / "a.pt")
        read_torch_zip(tmp_path / "a.pt", HERE, LIMITS)
    empty = stored(torch.empty(0), STORAGES["gone"][0], tmp_path / "a.pt")
    assert empty is None


def test_storages_that_are_shared_are_looked_at_once(tmp_path: Path) -> None:
    """A value that refers to one list of tensors again and again costs no more than the list."""
    torch = pytest.importorskip("torch")
    shared = [torch.ones(2) for _ in range(30)]
    for _ in range(9):
        shared = [shared, shared]
    torch.save(shared, tmp_path / "a.pt")
    with calls_at_most(20_000):
        read_torch_zip(tmp_path / "a.pt", HERE, LIMITS)
