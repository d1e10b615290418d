"""Domains in the nearest pyproject.toml: a table for each constructor under ``[tool.shardproof.gate]``.

    [tool.shardproof.gate]
    "pkg.layouts:cut_rows" = {over = {rows = "size", ranks = [1, 2, 4]}, where = "rows % ranks == 0"}
    "plans/qkv.py:qkv" = {over = {heads = "size"}, reference = "pkg.layouts:reference_qkv"}

Paths are relative to the file, and modules are found beside it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verifier.gate.declared import Declaration, DeclarationError
from verifier.gate.domain_text import domain_of_table
from verifier.gate.loading import PROJECT as NAME
from verifier.gate.loading import Loaded, load, place_of, project_file
from verifier.gate.predicate import predicate

KEYS = ("over", "where", "reference")


@dataclass(frozen=True, slots=True)
class Configuration:
    """The gate's part of a pyproject.toml.

    Attributes:
        file: it; None where there is none.
        tables: each constructor's, by its place as written.
    """

    file: Path | None = None
    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def places(self) -> list[str]:
        """The constructors that have a table, in their order, paths as seen from the current directory."""
        return [self._from_here(where) for where in self.tables]

    def declaration(self, loaded: Loaded) -> Declaration | None:
        """What is declared for a constructor, None without a table.

        Raises:
            DeclarationError: its table has an unknown key, or no ``over``.
            TextError: a text in it says nothing.
            DomainError: it describes no sizes.
            FunctionError: there is no such reference.
        """
        for where, table in self.tables.items():
            if self._is(where, loaded.where):
                return self._declared(where, table)
        return None

    def _declared(self, where: str, table: Mapping[str, Any]) -> Declaration:
        unknown = sorted(table.keys() - set(KEYS))
        if unknown:
            raise DeclarationError(f"{NAME}: {where!r} has a key {unknown[0]!r}; it has {', '.join(KEYS)}")
        if not isinstance(table.get("over"), dict):
            raise DeclarationError(f"{NAME}: {where!r} has no table 'over'; write over = {{rows = \"size\"}}")
        for key in ("where", "reference"):
            if not isinstance(table.get(key, ""), str):
                raise DeclarationError(f"{NAME}: {key} of {where!r} is no text")
        condition = predicate(table["where"]) if "where" in table else None
        reference = load(self._from_here(table["reference"])) if "reference" in table else None
        return Declaration(domain_of_table(table["over"], condition), reference)

    def _is(self, where: str, asked: str) -> bool:
        """Whether two places are the same."""
        ours, theirs = place_of(self._from_here(where)), place_of(asked)
        if ours.file is None or theirs.file is None:
            return ours == theirs
        return ours.name == theirs.name and ours.file.resolve() == theirs.file.resolve()

    def _from_here(self, where: str) -> str:
        """A place with its path relative to the current directory where that is shorter."""
        place = place_of(where)
        if place.file is None or self.file is None:
            return where
        path = (self.file.parent / place.file).resolve()
        here = Path.cwd()
        return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{place.name}"


def configuration(start: Path) -> Configuration:
    """The tables of the nearest pyproject.toml, from a folder upwards.

    Raises:
        DeclarationError: it cannot be read, or a table is none.
        FunctionError: a key names no function.
    """
    file = project_file(start)
    return Configuration() if file is None else _read(file)


def _read(file: Path) -> Configuration:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DeclarationError(f"{NAME} cannot be read: {error}") from error
    found: object = document
    for key in ("tool", "shardproof", "gate"):
        found = found.get(key, {}) if isinstance(found, dict) else {}
    if not isinstance(found, dict):
        raise DeclarationError(f"{NAME}: tool.shardproof.gate is no table")
    for where, table in found.items():
        place_of(where)
        if not isinstance(table, dict):
            raise DeclarationError(f'{NAME}: {where!r} is no table; write {{over = {{rows = "size"}}}}')
    return Configuration(file, found)
