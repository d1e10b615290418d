"""The fast way to read a large pickle of known classes: Python's own unpickler over stubs.

``find_class`` looks nothing up. It returns classes made for this one load, for listed names only, compared
whole; they hold what they are given and do nothing. So the pickle finds nothing to call but stubs. All names
are classes with ``__setstate__``: giving state to a stub class itself raises instead of changing it. What is
left to an attacker are memory, time and faults of the C code; hence this runs in a child process only
(``child``). Unlike the inert machine it keeps the last of two equal keys, as torch does, and
does not look at what no map needs.
"""

from __future__ import annotations

import pickle
from typing import IO, ClassVar

from verifier.formats.pickles.machine import refused
from verifier.formats.pickles.records import Grammar, Name
from verifier.formats.pickles.torch_zip import SIZE
from verifier.formats.reading.refusal import FormatError, shown
from verifier.model.origin import Origin


class Stub(list[object]):
    """An instance of a class that is not there, and the states it was given: one, if the file is right.

    It is a list because the method that keeps a state then is C code: a file has millions of these.
    """

    __slots__ = ()
    function: ClassVar[Name]
    __setstate__ = list.append
    __hash__ = object.__hash__  # type: ignore[assignment]  # keys are told apart by identity
    __eq__ = object.__eq__
    __ne__ = object.__ne__


class _Called(Stub):
    """The result of a call with arguments, which nobody looks at."""

    __slots__ = ()

    def __new__(cls, *args: object) -> _Called:
        return list.__new__(cls)

    def __init__(self, *args: object) -> None:
        pass


class _Size(tuple[int, ...]):
    """A torch.Size: the tuple it is made of."""

    __slots__ = ()

    def __setstate__(self, state: object) -> None:
        raise TypeError("state is set on a size")


class _Mapping(dict[object, object]):
    """An ordered mapping. State given to it is dropped."""

    __slots__ = ()

    def __setstate__(self, state: object) -> None:
        pass


class _StubUnpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], grammar: Grammar, origin: Origin) -> None:
        super().__init__(file)
        self.origin = origin
        self.classes: dict[tuple[str, str], type] = {}
        for name in grammar.calls | grammar.names:
            base = Stub if name in grammar.stateful else _Called
            self.classes[name.module, name.name] = type(
                name.name, (base,), {"__slots__": (), "function": name}
            )
        for name in grammar.mappings:
            self.classes[name.module, name.name] = type(name.name, (_Mapping,), {"__slots__": ()})
        self.classes[SIZE.module, SIZE.name] = type(SIZE.name, (_Size,), {"__slots__": ()})

    def find_class(self, module_name: str, global_name: str, /) -> type:
        found = self.classes.get((module_name, global_name))
        if found is None:
            asked = shown(f"{module_name}.{global_name}")
            raise refused("SM007", f"the pickle asks for {asked}, which no map needs", self.origin)
        return found


def load_stubs(file: IO[bytes], grammar: Grammar, origin: Origin) -> object:
    """The value of a pickle, with a ``Stub`` for each record. Call it only where memory and time are bounded.

    Raises:
        FormatError: SM001, SM007; whatever else is wrong comes as an exception of the unpickler in SM001.
        MemoryError: it does not fit.
    """
    try:
        value: object = _StubUnpickler(file, grammar, origin).load()
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # a hostile program can make the unpickler raise anything
        raise refused(
            "SM001", f"not a readable pickle: {type(error).__name__}: {shown(str(error))}", origin
        ) from None
    if file.read(1):
        raise refused("SM001", "there are bytes after the end of the pickle", origin)
    return value
