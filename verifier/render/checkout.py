"""Paths as services see them: from the root of the checked-out repository, wherever the tool was started."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True, slots=True)
class Checkout:
    """Where a repository lies.

    Attributes:
        root: the absolute directory that paths are shown from; empty where there is none to speak of, then
            relative paths are shown as they are.
        here: the absolute directory that the relative paths of a report start from.
    """

    root: str = ""
    here: str = ""

    def path(self, file: str) -> str | None:
        """``file`` from the root, with forward slashes; None when it lies outside."""
        try:
            found = os.path.relpath(os.path.join(self.here, file), self.root) if self.root else file
        except ValueError:  # on another drive
            return None
        path = PurePath(os.path.normpath(found)).as_posix()
        return None if os.path.isabs(path) or path == ".." or path.startswith("../") else path


def surroundings(environment: Mapping[str, str]) -> Checkout:
    """The checkout of a step of GitHub Actions, else the current directory."""
    here = os.getcwd()
    workspace = Checkout(environment.get("GITHUB_WORKSPACE", ""), here)
    inside = workspace.root and workspace.path(here) is not None
    return workspace if inside else Checkout(here, here)
