"""What the files of several ranks say of each other: who wrote them, who is missing, what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verifier.formats.pickles.torch_zip import TensorHeader
from verifier.formats.reading.document import Refusal
from verifier.formats.reading.gathered import missing_file
from verifier.formats.reading.refusal import shown
from verifier.formats.torch_files.rank_files import RankFile, rank_in
from verifier.formats.torch_files.sight import RANK_FILE
from verifier.obligations.faults import Count, Fault, Value


def copied_files(files: Sequence[RankFile]) -> Iterator[Fault]:
    """A file says which rank wrote it: that of its name, and none twice."""
    by_writer: dict[int, RankFile] = {}
    strange: list[Fault] = []
    for file in sorted(files, key=lambda file: file.rank != file.writer):
        if file.writer is None:
            continue
        first = by_writer.setdefault(file.writer, file)
        if first is not file:
            strange.append(
                disagree(
                    "the file",
                    f"was written by rank {file.writer}",
                    stated=f"and so was {first.name}",
                    file=file.name,
                )
            )
        elif file.rank is not None and file.rank != file.writer:
            strange.append(
                disagree(
                    "the file",
                    f"was written by rank {file.writer}",
                    stated=f"its name says rank {file.rank}",
                    file=file.name,
                )
            )
    if strange:
        yield first_counted(strange)


def missing_ranks(files: Sequence[RankFile], refusals: Sequence[Refusal]) -> Iterator[Fault]:
    """CK101 for ranks of the mesh without a file. Refused files are there."""
    world = {
        rank: None for file in files for tensor in file.tensors.cut.values() for rank in tensor.mesh.world
    }
    named = {file.rank for file in files} | {rank_in(refusal.name) for refusal in refusals}
    missing = [rank for rank in sorted(world) if rank not in named]
    match = RANK_FILE.fullmatch(files[0].name) if missing else None
    if match is not None:
        file = f"{match.string[: match.start('rank')]}{missing[0]}{match.string[match.end('rank') :]}"
        yield missing_file(
            file,
            len(missing),
            descriptor="the number of ranks in the device mesh",
            stated=len(world),
            rank=missing[0],
        )


def stages(files: Sequence[RankFile]) -> list[list[RankFile]]:
    """The files that have to agree: of ranks that share a mesh, directly or through others, or all names.

    Stages of a pipeline share neither. Copies of a mesh, such as that of the tensor-parallel ranks of each
    data-parallel one, share all names. Files of no mesh are together.
    """
    leader: dict[int, int] = {}

    def leader_of(rank: int) -> int:
        while leader[rank] != rank:
            leader[rank] = rank = leader[leader[rank]]
        return rank

    for ranks in {tensor.mesh.ranks for file in files for tensor in file.tensors.cut.values()}:
        for rank in ranks:
            leader.setdefault(rank, rank)
            leader[leader_of(rank)] = leader_of(ranks[0])
    sharing: dict[int | None, list[RankFile]] = {}
    for file in files:
        writer = file.writer if file.writer in leader else None
        sharing.setdefault(None if writer is None else leader_of(writer), []).append(file)
    alike: dict[frozenset[str], list[RankFile]] = {}
    for part in sharing.values():
        alike.setdefault(frozenset().union(*[file.names for file in part]), []).extend(part)
    return list(alike.values())


def other_names(files: Sequence[RankFile]) -> list[Fault]:
    """Every rank of a stage saved tensors of the same names."""
    base = files[0]
    found: list[Fault] = []
    ours = base.names
    for file in files[1:]:
        theirs = file.names
        found.extend(
            disagree(shown(name), "is not there", stated=f"{base.name} has it", file=file.name)
            for name in sorted(ours - theirs)
        )
        found.extend(
            disagree(shown(name), "is there", stated=f"{base.name} has none", file=file.name)
            for name in sorted(theirs - ours)
        )
        for name in sorted(ours & theirs):
            if (name in base.tensors.cut) != (name in file.tensors.cut):
                kinds = ("a DTensor", "a plain tensor")
                here, there = kinds if name in file.tensors.cut else kinds[::-1]
                found.append(
                    disagree(
                        shown(name), f"is {here}", stated=f"in {base.name} it is {there}", file=file.name
                    )
                )
    return found


def plain_tensors(files: Sequence[RankFile]) -> tuple[list[Fault], int]:
    """Plain tensors beside DTensors are replicated by convention: of one shape and dtype in a stage."""
    first: dict[str, tuple[RankFile, TensorHeader]] = {}
    found: dict[str, Fault] = {}
    for file in files:
        for name, header in file.tensors.plain.items():
            base, stated = first.setdefault(name, (file, header))
            what = f"the plain tensor {shown(name)}"
            if header.shape != stated.shape:
                here, there = f"has shape {header.shape}", f"in {base.name} it has {stated.shape}"
            elif header.dtype != stated.dtype:
                here, there = f"is {header.dtype}", f"in {base.name} it is {stated.dtype}"
            else:
                continue
            found.setdefault(name, disagree(what, here, stated=there, file=file.name))
    return list(found.values()), len(first) - len(found)


def disagree(what: str, found: str, *, count: int = 1, **more: Value) -> Fault:
    """CK114: the file of one rank contradicts that of another; ``count`` is how many files do."""
    counted = Count(count, exact=True) if count > 1 else None
    return Fault(code="CK114", side="map", count=counted, values={"what": what, "found": found, **more})


def counted_once(faults: Sequence[Fault]) -> list[Fault]:
    """The first of several faults of one kind, with their number; none of none."""
    return [first_counted(faults)] if faults else []


def first_counted(faults: Sequence[Fault]) -> Fault:
    """The first of several faults of one kind, with their number."""
    first = faults[0]
    count = Count(len(faults), exact=True) if len(faults) > 1 else None
    return Fault(code=first.code, side="map", count=count, values=first.values)
