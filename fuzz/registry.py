"""Targets by the names that ``--target`` takes, each imported only when it is asked for."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

from fuzz.cases import Selection, layout_named
from fuzz.layouts import LAYOUTS
from fuzz.mutants import MUTANTS, NUMBERS
from fuzz.target import Target

_TARGETS = {
    "prover": "fuzz.prover:ProverTarget",
    "deepspeed": "fuzz.consumers.deepspeed:DeepSpeedTarget",
    "torch-dcp": "fuzz.consumers.torch_dcp:TorchDcpTarget",
    "megatron": "fuzz.consumers.megatron:MegatronTarget",
}
NAMES = tuple(_TARGETS)
"""Every target but those of the user."""


class NoTargetError(Exception):
    """There is no such target, layout or mutant; the text says what there is."""


def target_named(name: str) -> Target:
    """A target; ``module:function`` and ``path/to/file.py:function`` are the user's own.

    Raises:
        NoTargetError: the name is none of these.
        ImportError: what is behind the name is not installed or cannot be loaded.
    """
    if name in _TARGETS:
        module, _, attribute = _TARGETS[name].partition(":")
        made: Target = getattr(import_module(module), attribute)()
        return made
    if ":" not in name:
        raise NoTargetError(f"no target {name!r}; there are {', '.join(NAMES)} and your own MODULE:FUNCTION")
    from fuzz.consumers.function import FunctionTarget

    return FunctionTarget(name)


def asked_about(target: Target, selection: Selection) -> Target:
    """The target, asked about other cases than it would be by default.

    Raises:
        NoTargetError: a layout or a mutant has no such name.
    """
    for layout in selection.layouts:
        try:
            layout_named(layout)
        except KeyError:
            raise NoTargetError(f"no layout {layout!r}; see shardproof fuzz --list") from None
    for mutant in selection.mutants:
        if mutant not in MUTANTS:
            raise NoTargetError(f"no mutant {mutant!r}; see shardproof fuzz --list")
    given: Any = target
    asked: Target = replace(given, selection=selection)
    return asked


def asked_closely(target: Target) -> Target:
    """The target with everything that is only sampled in a campaign asked of every case."""
    from fuzz.prover import ProverTarget

    if isinstance(target, ProverTarget):
        return replace(target, smt_every=1, oracle_every=1, tamper_every=1, drawing_every=1)
    return target


def layouts_of(words: str) -> tuple[str, ...]:
    """The layouts of a list such as ``row,column,ds-plain``; ``all`` are ours, ``ds-all`` DeepSpeed's."""
    from fuzz.in_tree import IN_TREE, PLAIN

    groups = {"all": tuple(LAYOUTS), "ds-all": tuple(IN_TREE), "ds-plain": PLAIN}
    names = [name for word in words.split(",") for name in groups.get(word.strip(), (word.strip(),))]
    return tuple(dict.fromkeys(names))


def mutants_of(words: str) -> tuple[str, ...]:
    """The mutants of a list; ``all``, or ``numbers`` for one offset or stride of one piece."""
    groups = {
        "all": tuple(MUTANTS),
        "numbers": NUMBERS,
        "others": tuple(n for n in MUTANTS if n not in NUMBERS),
    }
    names = [name for word in words.split(",") for name in groups.get(word.strip(), (word.strip(),))]
    return tuple(dict.fromkeys(names))
