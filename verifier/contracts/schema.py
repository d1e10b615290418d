"""The JSON Schema of contract documents, made from the records they are read into.

What one value alone can be wrong in is in it; rules between values are not. It is meant for editors: for JSON
Schema 4.0 is an integer, for us it is none. ``docs/contract.schema.json`` is its text.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

from verifier.contracts.document import FLAGS, Contract, ScaleEquation
from verifier.contracts.reading import LARGEST, MOST_CHARACTERS, UNSEEN

Json = dict[str, object]

TEXT: Json = {
    "type": "string",
    "maxLength": MOST_CHARACTERS,
    "pattern": f"^[^ {UNSEEN}]([^{UNSEEN}]*[^ {UNSEEN}])?$",
}
INTEGER: Json = {"type": "integer", "minimum": -LARGEST, "maximum": LARGEST}
LEAST = {
    "size": 1,
    "per": 1,
    "entries": 1,
    "ranks": 0,
    "exclude_ranks": 0,
    "mesh_dims": 1,
    "min_numel": 0,
    "below_numel": 0,
}
"""The smallest value of integers that have one."""
ABSENT: Mapping[type, tuple[str, ...]] = {Contract: ("update",)}
"""Members that may be absent although their record has no default."""
NEVER_NULL = ("size", "axis", "per", "entries", "weighting", "empty_shard", "update")
"""Members that are absent where their record has None; elsewhere null says the same as absence."""


def contract_schema() -> Json:
    """The schema, in draft 2020-12."""
    definitions: dict[str, Json] = {}
    _define(Contract, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Optimizer contract",
        "description": "What an optimizer declares of its state, its training and its checkpoints.",
        "$ref": "#/$defs/Contract",
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def _define(record: type, definitions: dict[str, Json]) -> Json:
    """A reference to the schema of a record, which joins the definitions."""
    if record.__name__ not in definitions:
        definitions[record.__name__] = {}
        definitions[record.__name__] = _record(record, definitions)
    return {"$ref": f"#/$defs/{record.__name__}"}


def _record(record: type, definitions: dict[str, Json]) -> Json:
    hints = get_type_hints(record)
    fields = dataclasses.fields(record)
    optional, said = ABSENT.get(record, ()), attributes_of(record)
    about = (record.__doc__ or "").strip().splitlines()[0]
    return {
        "type": "object",
        "description": about,
        "properties": {
            field.name: {"description": said.get(field.name, about)}
            | (_special(record, field.name) or _of(hints[field.name], field.name, definitions))
            for field in fields
        },
        "required": [field.name for field in fields if _is_required(field) and field.name not in optional]
        + (["schema_version"] if record is Contract else []),
        "additionalProperties": False,
    }


def attributes_of(record: type) -> dict[str, str]:
    """What the docstring of a record says of each of its attributes, in the words of JSON."""
    said: dict[str, str] = {}
    name = ""
    for line in (inspect.getdoc(record) or "").partition("Attributes:\n")[2].splitlines():
        match = re.fullmatch(r" {4}(\w+): (.*)", line)
        if match is not None:
            name = match[1]
        said[name] = match[2] if match is not None else f"{said[name]} {line.strip()}"
    return {key: text.replace("None", "null").replace("``", "") for key, text in said.items()}


def _is_required(field: dataclasses.Field[object]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _special(record: type, name: str) -> Json | None:
    """Members whose form in JSON is not that of the record."""
    if record is Contract and name == "schema_version":
        return {"const": 1, "type": "integer"}
    if record is Contract and name == "capabilities":
        return _object({flag: {"type": "boolean", "description": words} for flag, words in FLAGS.items()})
    if record is Contract and name == "hyperparameters":
        words = {"description": "p such that it times s**p belongs to the parameter times s; null for none"}
        power = {"scale_power": words | _either([INTEGER, {"type": "null"}])}
        return {"type": "object", "propertyNames": TEXT, "additionalProperties": _object(power)}
    if record is ScaleEquation and name == "terms":
        return {"type": "object", "additionalProperties": INTEGER}
    return None


def _object(properties: Mapping[str, object]) -> Json:
    return {"type": "object", "properties": dict(properties), "additionalProperties": False}


def _of(hint: object, name: str, definitions: dict[str, Json]) -> Json:
    """The schema of a value by its type.

    Raises:
        TypeError: a type that no document has.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        kept = [one for one in arguments if one is not NoneType or name not in NEVER_NULL]
        schemas = [_of(one, name, definitions) for one in kept]
        return schemas[0] if len(schemas) == 1 else _either(schemas)
    if origin is tuple:
        return {"type": "array", "items": _of(arguments[0], name, definitions)}
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _define(hint, definitions)
    if hint is int:
        return INTEGER | ({"minimum": LEAST[name]} if name in LEAST else {})
    plain: Mapping[object, Json] = {str: TEXT, bool: {"type": "boolean"}, NoneType: {"type": "null"}}
    if hint not in plain:
        raise TypeError(f"{hint!r} is the type of nothing in a document")
    return plain[hint]


def _either(schemas: list[Json]) -> Json:
    return {"anyOf": schemas}
