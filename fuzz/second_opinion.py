"""Tilings and packings decided by isl as statements about sets, for comparison. Needs ``islpy``.

Unlike the ``isl`` engine this asks isl for whole images, their injectivity and their union, and computes
nothing itself.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from verifier.geometry.strided import StridedView
from verifier.obligations.questions import Packing, Question, Tiling


def is_installed() -> bool:
    """Whether ``islpy`` can be imported."""
    return find_spec("islpy") is not None


def isl_says(question: Question) -> bool | None:
    """Whether a tiling or packing holds; None for other questions."""
    if not isinstance(question, Tiling | Packing):
        return None
    import islpy

    target = islpy.Set(f"{{ [a] : 0 <= a < {question.size} }}")
    union = islpy.Set("{ [a] : 1 = 0 }")
    for view in question.views:
        if view.is_empty:
            continue
        indices = islpy.Map(_text(view))
        image = indices.range()
        if not indices.is_injective() or not image.intersect(union).is_empty():
            return False
        union = union.union(image)
    return _bool(union.is_subset(target)) and (
        isinstance(question, Packing) or _bool(target.is_subset(union))
    )


def _bool(value: Any) -> bool:
    return bool(value)


def _text(view: StridedView) -> str:
    """A view in isl's notation: from index tuples to addresses."""
    names = [f"i{k}" for k in range(len(view.shape))]
    terms = [str(view.offset)] + [f"{s} {n}" for s, n in zip(view.strides, names, strict=True)]
    bounds = [f"0 <= {n} < {extent}" for n, extent in zip(names, view.shape, strict=True)]
    address = f"a = {' + '.join(terms)}"
    return f"{{ [{', '.join(names)}] -> [a] : {' and '.join([address, *bounds])} }}"
