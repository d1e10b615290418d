"""Which entries of a folder belong to a checkpoint in it; the others are looked at one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate

from verifier.formats.reading.sight import Sight

Claims = Callable[[Sight], Iterable[str]]
"""The names in a folder of which a format's reader takes care."""


def everything(sight: Sight) -> Iterable[str]:
    """For formats that do not say what is theirs."""
    return sight.names


def named(*patterns: str, folders: bool = False) -> Claims:
    """The names of these patterns, as ``fnmatch`` knows them; ``folders``: and every folder."""
    return matching(re.compile("|".join(map(translate, patterns))), folders=folders)


def matching(wanted: re.Pattern[str], *, folders: bool = False) -> Claims:
    """The names that a regular expression matches as a whole; ``folders``: and every folder."""

    def claims(sight: Sight) -> Iterable[str]:
        return [
            name
            for name in sight.names
            if wanted.fullmatch(name) or (folders and (sight.path / name).is_dir())
        ]

    return claims
