"""Files with a few bytes changed, and a command that runs a reader over thousands of them.

``python -m tests.formats.mutating FORMAT SAMPLE --count 5000 --seed 1`` damages the files of a sample in
turn, reads and judges it in a child process with bounded memory and time, and prints how often which answer
came.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from verifier.audit.check import Settings
from verifier.audit.documents import audit_path
from verifier.formats import Document, Request, read

MOST_CHANGES = 4
MOST_SPAN = 64
"""Longest slice that is removed, copied or inserted, bytes."""

_EDGES = [number + off for number in (0, 2**7, 2**8, 2**15, 2**16, 2**31, 2**32) for off in (-1, 0, 1)]
INTERESTING = (*_EDGES, 2**63 - 1, -(2**63), 10**8, 10**9)
DIGITS = (b"-1", b"0", b"1e9", b"99999999999999999999", b"9223372036854775807", b"true", b"null", b"NaN")

Change = Callable[[random.Random, bytearray], None]


def mutants(data: bytes, *, seed: int, count: int) -> Iterator[bytes]:
    """``count`` copies of ``data``, each with one to MOST_CHANGES changes; the same ones for the same seed.

    One copy may equal the original by chance, as when a byte is set to what it was.
    """
    rng = random.Random(seed)
    for _ in range(count):
        mutant = bytearray(data)
        for _ in range(rng.randint(1, MOST_CHANGES)):
            rng.choice(_CHANGES)(rng, mutant)
        yield bytes(mutant)


def _place(rng: random.Random, data: bytearray) -> int:
    """An offset in ``data``; half of them in its first or last KiB, where headers and directories are."""
    if not data:
        return 0
    near = min(len(data), 1024)
    kind = rng.random()
    if kind < 0.25:
        return rng.randrange(near)
    if kind < 0.5:
        return len(data) - 1 - rng.randrange(near)
    return rng.randrange(len(data))


def _span(rng: random.Random, data: bytearray) -> tuple[int, int]:
    start = _place(rng, data)
    return start, min(len(data), start + rng.randint(1, MOST_SPAN))


def _flip_bit(rng: random.Random, data: bytearray) -> None:
    if data:
        data[_place(rng, data)] ^= 1 << rng.randrange(8)


def _set_byte(rng: random.Random, data: bytearray) -> None:
    if data:
        data[_place(rng, data)] = rng.randrange(256)


def _insert(rng: random.Random, data: bytearray) -> None:
    at = _place(rng, data)
    data[at:at] = rng.randbytes(rng.randint(1, MOST_SPAN))


def _delete(rng: random.Random, data: bytearray) -> None:
    start, end = _span(rng, data)
    del data[start:end]


def _truncate(rng: random.Random, data: bytearray) -> None:
    del data[_place(rng, data) :]


def _copy_slice(rng: random.Random, data: bytearray) -> None:
    """A slice once more, right behind itself or at another place."""
    start, end = _span(rng, data)
    at = end if rng.random() < 0.5 else _place(rng, data)
    data[at:at] = data[start:end]


def _interesting(rng: random.Random, data: bytearray) -> None:
    """A number at the edge of some width over as many bytes as it needs, either byte order."""
    at = _place(rng, data)
    number = rng.choice(INTERESTING)
    width = next(width for width in (1, 2, 4, 8) if -(1 << (8 * width - 1)) <= number < 1 << (8 * width))
    order = "little" if rng.random() < 0.5 else "big"
    data[at : at + width] = (number % (1 << (8 * width))).to_bytes(width, order)  # type: ignore[arg-type]


def _number_in_text(rng: random.Random, data: bytearray) -> None:
    """Another number in place of a run of decimal digits, as headers written as text have them."""
    digits = b"0123456789"
    start = next((at for at in range(_place(rng, data), len(data)) if data[at] in digits), len(data))
    end = start
    while end < len(data) and data[end] in digits:
        end += 1
    data[start:end] = rng.choice((*DIGITS, str(rng.randrange(256)).encode()))


_CHANGES: tuple[Change, ...] = (
    _flip_bit,
    _set_byte,
    _insert,
    _delete,
    _truncate,
    _copy_slice,
    _interesting,
    _number_in_text,
)

OUTCOMES = ("refused", "refuted", "undecided", "equal", "proved")
"""Nothing could be read; something in it is wrong; nothing is, and the maps are the old ones or others."""
BAD = ("crash", "killed")
SECONDS = 20
MEMORY = 4 << 30


def outcome(path: Path, form: str, original: object) -> str:
    """What reading and judging a path as format ``form`` comes to; ``original`` is what it was before."""
    request = Request(payload=True, values=True, input_format=form)
    audited = audit_path(path, Settings(repair=False), request)
    verdicts = {subject.verdict for subject in audited.subjects}
    if verdicts <= {"unreadable", "unchecked"}:
        return "refused"
    if verdicts & {"refuted", "unreadable"}:
        return "refuted"
    if "undecided" in verdicts:
        return "undecided"
    return "equal" if identity(audited.document) == original else "proved"


def identity(document: object) -> object:
    """What two documents with the same maps have in common."""
    if not isinstance(document, Document):
        return None
    boxes = [
        (each.boxes.name, each.boxes.logical_shape, each.boxes.offsets, each.boxes.sizes)
        for each in document.boxes
    ]
    maps = [(each.name, each.shard_map.logical_shape, each.shard_map.ranks) for each in document.subjects]
    return boxes, maps


def judged(form: str, sample: Path, seed: int, numbers: range) -> Iterator[tuple[int, str]]:
    """(number, outcome) of some mutants of a sample, each with one of its files damaged.

    Mutant ``k`` damages file ``k mod n`` of the ``n`` files, so that any of them can be made again alone.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / sample.name
        shutil.copytree(sample, copy) if sample.is_dir() else shutil.copy(sample, copy)
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755)
        files = sorted(path for path in copy.rglob("*") if path.is_file()) if copy.is_dir() else [copy]
        original = identity(read(copy, request=Request(payload=True, values=True, input_format=form)))
        for number in numbers:
            path = files[number % len(files)]
            data = path.read_bytes()
            path.write_bytes(next(mutants(data, seed=seed * 1_000_003 + number, count=1)))
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                found = outcome(copy, form, original)
            except Exception:
                traceback.print_exc()
                found = "crash"
            faulthandler.cancel_dump_traceback_later()
            path.write_bytes(data)
            yield number, found


def campaign(form: str, sample: Path, *, seed: int, count: int) -> tuple[Counter[str], list[int]]:
    """(how often each outcome came, numbers of the mutants with a bad one), in child processes."""
    counts: Counter[str] = Counter()
    bad: list[int] = []
    first = 0
    while first < count:
        command = [sys.executable, "-m", "tests.formats.mutating", form, str(sample)]
        command += ["--seed", str(seed), "--count", str(count), "--child", str(first)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for line in child.stdout:
            number, found = line.split()
            counts[found] += 1
            first = int(number) + 1
            if found in BAD:
                bad.append(int(number))
        if child.wait() != 0:  # it hung, asked for too much memory, or died
            counts["killed"] += 1
            bad.append(first)
            first += 1
    return counts, bad


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("form", metavar="FORMAT")
    parser.add_argument("sample", type=Path)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=int, metavar="FIRST", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for number, found in judged(given.form, given.sample, given.seed, range(given.child, given.count)):
            print(number, found, flush=True)
        return 0
    counts, bad = campaign(given.form, given.sample, seed=given.seed, count=given.count)
    for name in (*OUTCOMES, *BAD):
        print(f"{name:10} {counts[name]}")
    if bad:
        print(f"bad: {', '.join(map(str, bad[:20]))} (seed {given.seed})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
