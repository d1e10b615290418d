"""JSON documents from bytes: the maps of cases in every form that is read, and edits of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from fuzz.cases import Case
from fuzz.documents.forms import case_document, map_document
from fuzz.targets.bytes_random import BytesRandom, case_from
from fuzz.targets.edits import edited, edited_bytes


@dataclass(frozen=True, slots=True)
class Document:
    """JSON text, perhaps; ``case`` is what it says, None when it was edited or never said anything."""

    data: bytes
    case: Case | None = None


def document_from(rng: BytesRandom) -> Document:
    """By the first byte raw bytes, or a case in some form with as many edits as the bytes say."""
    if rng.getrandbits(2) == 3:
        return Document(rng.rest())
    form, on_value, on_text = rng.getrandbits(2), rng.getrandbits(2), rng.getrandbits(2)
    case = case_from(rng)
    value = edited(rng, _in_form(form, case), on_value)
    text = json.dumps(value, indent=rng.choice((None, None, 1)), ensure_ascii=rng.random() < 0.5)
    data = edited_bytes(rng, text.encode("utf-8", "surrogatepass"), on_text)
    return Document(data, None if on_value or on_text else case)


def _in_form(form: int, case: Case) -> Any:
    plain = map_document(case.shard_map)
    if form == 0:
        return plain
    if form == 1:
        return case_document(case)
    params = {"version": 1, "params": {"^layers\\.0\\.w$": plain, "b": map_document(case.clean)}}
    info = {"affine_map": params, "vocabulary_parameter_patterns": []}
    return params if form == 2 else {"universal_checkpoint_info": info}
