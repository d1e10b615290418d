"""The process that fuzzes: a target under atheris, started by ``fuzz.targets.session``.

python -m fuzz.targets.child NAME [libFuzzer options and corpus folders]
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from pkgutil import walk_packages

import atheris

LEFT_OUT = ("verifier.cli", "verifier.oracle.")
"""Not needed by any target; the oracle would load torch."""


def main(arguments: Sequence[str]) -> None:
    """Fuzz until libFuzzer ends the process."""
    name, *options = arguments
    with atheris.instrument_imports(include=["verifier", "fuzz"]):
        from fuzz.targets.catalogue import one_input_of

        one_input = one_input_of(name)
        # What is imported later, when something is wrong for the first time, would not be instrumented.
        for module in walk_packages(import_module("verifier").__path__, "verifier."):
            if not module.name.startswith(LEFT_OUT):
                import_module(module.name)
    # libFuzzer starts itself again when it merges corpora, through a shell.
    program = shlex.join([sys.executable, "-m", "fuzz.targets.child", name])
    atheris.Setup([program, *options], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
