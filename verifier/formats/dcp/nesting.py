"""``planner_data``: the place of each stored name in the nested state, as torch's own planners write it.

They flatten a state by joining the parts of a path with dots, and keep the path: ``model.q`` is at
``("model", "q")``. Loading by name does not look at it; whoever builds the nested state again does.
Planners of other people may keep anything there, or nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

from verifier.formats.dcp.contents import Contents, Nesting, Several
from verifier.formats.reading.gathered import Gathered, set_fault
from verifier.formats.reading.refusal import shown
from verifier.geometry.strided import INT64_MAX

CROSSED, UNMATCHED = "CK118", "CK205"
_WORDS = (
    ("shared", CROSSED, "the names", "have one path in planner_data", None),
    (
        "exchanged",
        CROSSED,
        "the names",
        "are crossed in planner_data",
        "where the first has the path of the second",
    ),
    ("moved", UNMATCHED, "the path in planner_data of", "is not made of its parts", "others are"),
    (
        "unstored",
        UNMATCHED,
        "the name",
        "has a path in planner_data and nothing else",
        "state_dict_metadata lacks it",
    ),
    ("unplaced", UNMATCHED, "the name", "has no path in planner_data", "state_dict_metadata lists it"),
)
_Path = tuple[str | int, ...]


def nesting_of(value: object, names: Collection[object]) -> Nesting:
    """What ``planner_data`` contradicts; ``names`` are those that ``state_dict_metadata`` lists."""
    if not isinstance(value, dict) or not value or not _are_paths(value):
        return Nesting()
    joined = ((name, ".".join(map(str, path))) for name, path in value.items())
    odd = {name: other for name, other in joined if name != other}
    shared = _shared(value, odd)
    exchanged = {name: odd[name] for name in odd if name not in shared and odd[name] in names}
    moved = [name for name in odd if name not in shared and name not in exchanged]
    return Nesting(
        shared=_several(shared.items()),
        exchanged=_several(exchanged.items()),
        # Where no name is made of its path, names are made in another way.
        moved=_several((name,) for name in moved if len(odd) < len(value)),
        unstored=_several((name,) for name in value if name not in names),
        unplaced=_several((name,) for name in names if name not in value),
    )


def check_nesting(parts: Sequence[Contents], file: str, gathered: Gathered) -> None:
    """Add what the metadata files say wrongly of the nested state; ``file`` is what people call them."""
    for place, code, what, found, stated in _WORDS:
        given = [each for part in parts if (each := getattr(part.nesting, place)) is not None]
        if given:
            number = sum(each.count for each in given)
            fault = set_fault(
                code, f"{what} {given[0].first}", found, stated=stated, file=file, number=number
            )
            (gathered.faults if code == CROSSED else gathered.remarks).append(fault)


def _are_paths(value: Mapping[object, object]) -> bool:
    """Whether each name has a path of names and positions."""
    if not {*map(type, value)} <= {str} or not {*map(type, value.values())} <= {tuple}:
        return False
    parts: list[object] = [*chain.from_iterable(value.values())]  # type: ignore[arg-type]
    if not {*map(type, parts)} <= {str, int}:
        return False
    # A number of a million digits is no position, and takes a minute to write.
    return all(0 <= part <= INT64_MAX for part in parts if type(part) is int)


def _shared(paths: Mapping[str, _Path], odd: Collection[str]) -> dict[str, str]:
    """By name that has the path of another one, that one. Two such names are not both made of their path."""
    homes = {path: name for name, path in paths.items() if name not in odd} if odd else {}
    shared = {}
    for name in odd:
        other = homes.setdefault(paths[name], name)
        if other != name:
            shared[name] = other
    return shared


def _several(groups: Iterable[tuple[object, ...]]) -> Several | None:
    """How many groups of names there are, and the first."""
    found = [*groups]
    return Several(len(found), " and ".join(map(shown, found[0]))) if found else None
