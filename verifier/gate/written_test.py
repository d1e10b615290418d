"""A refutation as a test for the user's own suite: it fails until the constructor is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress

from verifier.gate.declared import WAIVERS, Declaration
from verifier.gate.literals import NoLiteralError, call_text, literal
from verifier.gate.loading import FunctionError, Loaded, load, place_of

_WIDTH = 100


def written_test(
    loaded: Loaded, declaration: Declaration, sizes: Mapping[str, object], complaint: str
) -> str | None:
    """A test that makes the map of these sizes and proves it.

    None where an argument cannot be written, or no import leads to the constructor: it is a lambda, a partial
    one, or stands inside of another function.
    """
    imports: set[tuple[str, str]] = set()
    reference = None
    if not _leads_to(loaded.where, loaded.call):
        return None
    try:
        arguments = [f"{name}={literal(value, imports)}" for name, value in sizes.items()]
        if declaration.reference is not None:
            reference = _place_of_reference(declaration.reference, loaded)
    except NoLiteralError:
        return None
    names = ["constructor"] if reference is None else ["constructor", "reference"]
    places = [loaded.where] if reference is None else [loaded.where, reference]
    expectation = "made.expectation"
    waived = [
        f"{one}={getattr(declaration.expectation, one)}"
        for one in WAIVERS
        if getattr(declaration.expectation, one) != (one == "cover")
    ]
    if waived:
        expectation = f"replace({expectation}, {', '.join(waived)})"
        imports.add(("dataclasses", "replace"))
    imports |= {("verifier", "check_map"), ("verifier.gate.returned", "returned_map")}
    bound = [_bound(name, place, imports) for name, place in zip(names, places, strict=True)]
    given = (
        "constructor(**SIZES)" if reference is None else "constructor(**SIZES), reference=reference(**SIZES)"
    )
    name = re.sub(r"\W", "_", place_of(loaded.where).name)
    return "\n".join(
        [
            *_docstring(loaded, sizes, complaint),
            "",
            *_imports(imports),
            "",
            *filter(None, bound),
            *_sizes(arguments),
            "",
            "",
            f"def test_{name}_makes_a_right_map() -> None:",
            f"    made = returned_map({given})",
            f"    check_map(made.shard_map, expectation={expectation}).raise_if_not_proved()",
            "",
        ]
    )


def test_name(where: str) -> str:
    """The name of the file for the test of a constructor."""
    place = place_of(where)
    source = place.source if place.file is None else place.file.stem
    return f"test_gate_{re.sub(r'[^A-Za-z0-9]+', '_', f'{source}_{place.name}')}.py"


def _docstring(loaded: Loaded, sizes: Mapping[str, object], complaint: str) -> list[str]:
    text = f"{place_of(loaded.where).name} fails at {call_text(sizes)}: {complaint}."
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return [f'"""{line}' if not number else line for number, line in enumerate(_lines(escaped))] + [
        "",
        "Written by shardproof gate; it fails until the constructor is right.",
        '"""',
    ]


def _lines(text: str) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + len(word) + 1 > _WIDTH - 3:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return lines


def _imports(imports: set[tuple[str, str]]) -> list[str]:
    return [f"from {module} import {name}" for module, name in sorted(imports)]


def _sizes(arguments: list[str]) -> list[str]:
    line = f"SIZES = dict({', '.join(arguments)})"
    if len(line) <= _WIDTH:
        return [line]
    return ["SIZES = dict(", *[f"    {one}," for one in arguments], ")"]


def _bound(name: str, where: str, imports: set[tuple[str, str]]) -> str | None:
    """The line that binds a name to the function at a place; None where an import does."""
    place = place_of(where)
    if place.file is None and "." not in place.name:
        imports.add((place.source, f"{place.name} as {name}"))
        return None
    imports.add(("verifier.gate.loading", "load_beside"))
    return f"{name} = load_beside({where!r}, __file__).call"


def _place_of_reference(reference: Loaded | Callable[..., object], loaded: Loaded) -> str:
    """Where the reference can be loaded from.

    Raises:
        NoLiteralError: nowhere.
    """
    if isinstance(reference, Loaded):
        return reference.where
    name = getattr(reference, "__qualname__", "")
    for source in (place_of(loaded.where).source, getattr(reference, "__module__", "")):
        if _leads_to(f"{source}:{name}", reference):
            return f"{source}:{name}"
    raise NoLiteralError("a reference that no place holds")


def _leads_to(where: str, function: Callable[..., object]) -> bool:
    """Whether a function is what is found at a place."""
    with suppress(FunctionError):
        return load(where).call is function
    return False
