"""Connected components of address hulls.

Two views whose hulls ``[lowest, highest]`` do not meet share no address, so a statement about visits to
addresses can be decided component by component, each with its own strides. A flat buffer that concatenates
widths 4096 and 11008 needs this: together its strides would be unrelated.

Theory: T12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from verifier.geometry.strided import NormalView


def components(views: Sequence[NormalView]) -> Iterator[tuple[int, int, list[int]]]:
    """Components in ascending order as (lowest address, highest address, positions of the views).

    Cost: one sort.
    """
    if not views:
        return
    highest = [view.highest for view in views]
    order = sorted(range(len(views)), key=lambda k: views[k].offset)
    low, high = views[order[0]].offset, highest[order[0]]
    members: list[int] = []
    for k in order:
        if views[k].offset > high:
            yield low, high, members
            low, high, members = views[k].offset, highest[k], []
        members.append(k)
        high = max(high, highest[k])
    yield low, high, members
