from __future__ import annotations

import pickle
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.counting import calls_at_most
from tests.formats.documents import HERE, LIMITS, refusal_of, rows_map
from verifier.formats.pickles.records import PLAIN, Call, Grammar, Name
from verifier.formats.pickles.tree import read_pickle
from verifier.formats.reading.limits import Limits
from verifier.formats.reading.refusal import FormatError

REFUSALS = {"SM001", "SM003", "SM006", "SM007"}
SIZE = Name("torch", "Size")
WITH_SIZE = Grammar(calls=frozenset({SIZE}), stateful=frozenset({SIZE}), mappings=PLAIN.mappings)

keys = st.text(max_size=5) | st.integers(-(2**63) + 1, 2**63 - 1) | st.binary(max_size=3)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**100), 2**100)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=4)
        | st.dictionaries(keys, inner, max_size=3).map(OrderedDict)
        | st.tuples(inner, inner)
        | st.tuples(inner)
    ),
    max_leaves=15,
)


def read(data: bytes, grammar: Grammar = PLAIN, limits: Limits = LIMITS) -> object:
    return read_pickle(data, grammar, HERE, limits)


def code_of(data: bytes, grammar: Grammar = PLAIN, limits: Limits = LIMITS) -> str:
    with pytest.raises(FormatError) as caught:
        read(data, grammar, limits)
    assert caught.value.message.isprintable()
    return caught.value.code


@settings(max_examples=60, deadline=None)
@given(plain, st.sampled_from([2, 3, 4, 5]))
def test_plain_objects_are_read_as_python_reads_them(value: object, protocol: int) -> None:
    if protocol == 2 and _holds_bytes(value):
        return  # protocol 2 has no opcode for bytes and calls _codecs.encode
    assert read(pickle.dumps(value, protocol)) == value


def _holds_bytes(value: object) -> bool:
    if isinstance(value, dict):
        return any(_holds_bytes(part) for item in value.items() for part in item)
    if isinstance(value, list | tuple):
        return any(_holds_bytes(part) for part in value)
    return isinstance(value, bytes)


@settings(max_examples=50, deadline=None)
@given(
    st.recursive(
        st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False), st.lists, max_leaves=8
    )
)
def test_the_text_protocol_is_read_too(value: object) -> None:
    assert read(pickle.dumps(value, 0)) == value


SEEDS = [pickle.dumps({"version": 1, "params": {"^w$": rows_map()}}, protocol) for protocol in (0, 2, 4)] + [
    pickle.dumps([OrderedDict(a=(1, 2.5, None, True)), b"xy", -3, 2**40, {"k": [()]}], protocol)
    for protocol in (2, 5)
]

mutations = st.lists(
    st.tuples(
        st.integers(0, 2**16), st.sampled_from(["set", "delete", "insert", "cut"]), st.integers(0, 255)
    ),
    min_size=1,
    max_size=4,
)


def mutated(data: bytes, changes: list[tuple[int, str, int]]) -> bytes:
    """``data`` after a few changes of single bytes, or cut."""
    result = bytearray(data)
    for place, kind, byte in changes:
        at = place % (len(result) + 1)
        match kind:
            case "set" if at < len(result):
                result[at] = byte
            case "delete":
                del result[at : at + 1]
            case "insert":
                result.insert(at, byte)
            case "cut":
                del result[at:]
    return bytes(result)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(SEEDS), mutations)
@example(SEEDS[1], [(0, "cut", 0)])
def test_a_mutated_pickle_is_read_or_refused_and_soon(
    seed: bytes, changes: list[tuple[int, str, int]]
) -> None:
    with calls_at_most(50_000):  # the largest of the seeds takes 2,500
        refusal = refusal_of(lambda: read(mutated(seed, changes)))
    if refusal is not None:
        assert refusal.code in REFUSALS
        assert refusal.message.isprintable()


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=40), st.booleans())
def test_any_bytes_are_read_or_refused(data: bytes, stop: bool) -> None:
    refusal = refusal_of(lambda: read(b"\x80\x04" + data + b"." * stop, WITH_SIZE))
    assert refusal is None or refusal.code in REFUSALS


def test_calls_of_the_grammar_become_records_and_keep_their_state() -> None:
    value = read(b"\x80\x02ctorch\nSize\nK\x03K\x04\x86\x85R}U\x01aK\x01sb.", WITH_SIZE)
    assert isinstance(value, Call)
    assert (value.function, value.args, value.state) == (SIZE, ((3, 4),), {"a": 1})


@pytest.mark.parametrize(
    "program",
    [
        b"ctorch\nSize\n.",
        b"ctorch\nSize.__init__\n.",
        b"\x8c\x05torch\x8c\x04Size\x93.",
        b"cos\nsystem\n(S'true'\ntR.",
        b"ccollections\nOrderedDict\n}b.",
        b"ccollections\nOrderedDict\n)R]a.",
        b"]}s.",
        b"K\x01}b.",
        b"(K\x01cos\nsystem\no.",
        b"(ios\nsystem\n.",
        b"\x82\x01.",
        b"Px\n.",
        b"K\x01Q.",
    ],
)
def test_programs_that_act_are_refused(program: bytes) -> None:
    assert code_of(program) in {"SM007", "SM001"}


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (b"ctorch\nSize\n)Rb.", "SM001"),
        (b"ctorch\nSize\n)R)R.", "SM007"),
        (b"ctorch\nSize\n}b.", "SM007"),
        (b"ctorch\nSize\n)R}b}b.", "SM007"),
        (b"ctorch\nSize\n)RK\x01K\x02s.", "SM007"),
        (b"ctorch\nSize\n]R.", "SM001"),
        (b"ccollections\nOrderedDict\n}\x85R.", "SM001"),
        (b"ccollections\nOrderedDict\nctorch\nSize\n\x85R.", "SM001"),
    ],
)
def test_records_cannot_be_made_to_act(program: bytes, code: str) -> None:
    assert code_of(program, WITH_SIZE) == code


@pytest.mark.parametrize(
    "program",
    [b"]\x94h\x00a.", b"}\x94K\x00h\x00s.", b"]\x94]h\x00aa.", b"]\x94h\x00\x85a.", b"]\x94}K\x01h\x00sa."],
)
def test_values_that_contain_themselves_are_refused(program: bytes) -> None:
    assert code_of(b"\x80\x04" + program) == "SM007"


def test_a_shared_value_is_no_cycle() -> None:
    assert read(pickle.dumps([shared := [1], shared, {"a": shared}])) == [[1], [1], {"a": [1]}]


def test_a_small_pickle_of_a_huge_tree_is_refused_at_once() -> None:
    value: Any = []
    for _ in range(90):
        value = [value, value]
    with calls_at_most(5000):
        assert code_of(pickle.dumps(value)) == "SM006"


@pytest.mark.parametrize(
    ("program", "limits"),
    [
        (b"]" * 200 + b"a" * 199 + b".", LIMITS),
        (b"N0" * 60 + b"N.", Limits(pickle_ops=100)),
        (b"Nr\xff\xff\xff\x7f.", LIMITS),
        (b"\x8b\xff\xff\xff\x7f.", LIMITS),
        (b"L" + b"9" * 200 + b"L\n.", LIMITS),
        (b"N.", Limits(pickle_bytes=1)),
    ],
)
def test_pickles_over_a_limit_are_refused(program: bytes, limits: Limits) -> None:
    assert code_of(program, limits=limits) == "SM006"


@pytest.mark.parametrize(
    ("program", "code"),
    [
        (b"", "SM001"),
        (b".", "SM001"),
        (b"NN.", "SM001"),
        (b"(N.", "SM001"),
        (b"N.N", "SM001"),
        (b"(.", "SM001"),
        (b"t.", "SM001"),
        (b"\x80\x06N.", "SM001"),
        (b"\x97.", "SM001"),
        (b"X\x04\x00\x00\x00abc.", "SM001"),
        (b"\x8c\x01\xff.", "SM001"),
        (b"h\x00.", "SM001"),
        (b"}]Ns.", "SM001"),
        (b"}(Nu.", "SM001"),
        (b"}K\x01Ns\x88Ns.", "SM003"),
        (b"}(X\x01\x00\x00\x00aNX\x01\x00\x00\x00aNu.", "SM003"),
        (b"I1_0\n.", "SM001"),
        (b"I--1\n.", "SM001"),
    ],
)
def test_broken_programs_are_refused(program: bytes, code: str) -> None:
    assert code_of(program) == code


def test_integer_keys_that_share_a_hash_are_refused() -> None:
    assert code_of(pickle.dumps({k * (2**61 - 1): 0 for k in range(1000)})) == "SM001"


@pytest.mark.parametrize("called", [b"]", b"}", b"N", b"K\x01", b"X\x01\x00\x00\x00a"])
def test_values_are_not_called(called: bytes) -> None:
    assert code_of(b"\x80\x02" + called + b")R.") == "SM007"


INNER = Name("torch", "Outer.Inner")
NESTED = Grammar(
    names=frozenset({Name("torch", "Outer")}), calls=frozenset({INNER}), nested=frozenset({INNER})
)


def reached(attribute: bytes, module: bytes = b"__builtin__") -> bytes:
    """A pickle that calls what it reaches by getattr."""
    name = b"X" + len(attribute).to_bytes(4, "little") + attribute
    return b"\x80\x02c" + module + b"\ngetattr\nctorch\nOuter\n" + name + b"\x86R)R."


@pytest.mark.parametrize("module", [b"__builtin__", b"builtins"])
def test_a_listed_inner_class_is_reached_by_getattr_without_a_look_up(module: bytes) -> None:
    found = read_pickle(reached(b"Inner", module), NESTED, HERE, LIMITS)
    assert isinstance(found, Call)
    assert found.function == INNER


@pytest.mark.parametrize("attribute", [b"__init__", b"Inner.__init__", b"Other", b""])
def test_no_other_attribute_is_reached(attribute: bytes) -> None:
    assert code_of(reached(attribute), NESTED) == "SM007"


def test_getattr_is_unknown_where_no_inner_class_is_listed() -> None:
    assert code_of(reached(b"Inner"), WITH_SIZE) == "SM007"


def test_a_call_is_a_key_only_where_the_grammar_says_so() -> None:
    program = b"\x80\x02}(ctorch\nSize\n)RK\x01ctorch\nSize\n)RK\x02u."
    assert code_of(program, WITH_SIZE) == "SM001"
    found = read_pickle(program, WITH_SIZE | Grammar(keys=frozenset({SIZE})), HERE, LIMITS)
    assert isinstance(found, dict)
    assert list(found.values()) == [1, 2]
