"""The assertions in suites of others: what passes, and that a failure shows the terminal message alone."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from textwrap import dedent

import pytest

from tests.cli.command import CORPUS, ROOT, shardproof
from verifier.pytest_plugin import assert_constructor, assert_proved

pytest_plugins = ["pytester"]

WRONG = CORPUS / "maps" / "dest-collision-columns.json"
CUTS = '''
def cut(rows, ranks):
    """Equal parts of a vector; what does not divide is forgotten."""
    part = rows // ranks
    piece = lambda r: {"shape": [part], "source": [r * part, [1]], "dest": [0, [1]], "locations": [r]}
    shards = {str(r): {"shard_shape": [part], "pieces": [piece(r)]} for r in range(ranks)}
    return {"logical_shape": [rows], "ranks": shards}

def reversed_cut(rows, ranks):
    """The same parts on the other ranks."""
    made = cut(rows, ranks)
    for r in range(ranks):
        made["ranks"][str(r)]["pieces"][0]["source"] = [(ranks - 1 - r) * (rows // ranks), [1]]
    return made

def picky(rows, ranks):
    if rows > 7:
        {}["missing"]
    return cut(rows, ranks)

def even(rows, ranks):
    return rows % ranks == 0
'''


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A suite of somebody else, without the options of this one."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    pytester.makepyfile(cuts=CUTS)
    pytester.makeini("[pytest]\n")
    return pytester


def outcome(suite: pytest.Pytester, *tests: str) -> pytest.RunResult:
    head = "from cuts import *\nfrom functools import partial\nfrom verifier import Sizes, load, size\n"
    suite.makepyfile(test_them=head + "".join(dedent(test) for test in tests))
    return suite.runpytest_inprocess("-p", "no:cacheprovider")


def test_the_entry_point_names_the_plugin() -> None:
    (found,) = entry_points(group="pytest11", name="shardproof")
    assert found.value == "verifier.pytest_plugin"


def test_the_plugin_costs_a_run_without_it_nothing() -> None:
    """It is imported in every run of pytest: nothing of the prover, and nothing that may be missing."""
    code = (
        "import pytest, sys; before = set(sys.modules); import verifier.pytest_plugin;"
        "print(*sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout.split() == ["verifier", "verifier.pytest_plugin"]


def test_assertions_work_where_torch_is_absent(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_them="""
        import sys

        sys.modules["torch"] = None
        from cuts import *
        from verifier import Sizes, size

        def test_both(assert_proved, assert_constructor):
            assert_proved(cut(6, 3))
            assert_constructor(cut, over=Sizes(rows=size(), ranks=[1, 2], where=even))
        """
    )
    suite.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_what_is_right_passes(suite: pytest.Pytester) -> None:
    outcome(
        suite,
        """
        def test_map(assert_proved):
            assert_proved(cut(6, 3))

        def test_constructor(assert_constructor):
            over = Sizes(rows=size(), ranks=[1, 2, 4], where=even)
            assert_constructor(cut, over=over)
            assert_constructor(cut, over=over, reference=cut)
        """,
    ).assert_outcomes(passed=2)


def test_a_wrong_map_fails_with_what_audit_prints(suite: pytest.Pytester) -> None:
    ran = outcome(suite, f"def test_map(assert_proved):\n    assert_proved(load({str(WRONG)!r})[0])\n")
    ran.assert_outcomes(failed=1)
    printed = shardproof("audit", WRONG).out
    assert printed in ran.stdout.str() + "\n"
    assert "assert_proved" not in ran.stdout.str()  # no source of the test, no trace


def test_an_expectation_is_the_callers() -> None:
    from verifier import Expectation, map_from_affine

    half = {
        "shard_shape": [2],
        "pieces": [{"shape": [2], "source": [0, [1]], "dest": [0, [1]], "locations": [0]}],
    }
    document = {"logical_shape": [4], "ranks": {"0": half}}
    for form in (document, map_from_affine(document)):
        with pytest.raises(pytest.fail.Exception, match="SM301"):
            assert_proved(form)
        assert_proved(form, Expectation(gaps=(2, 3)))


def test_declared_padding_may_stay_unwritten() -> None:
    from verifier.layouts import Padded, vocabulary

    padded = vocabulary(10, 4, 3)
    assert isinstance(padded, Padded)
    assert_proved(padded)
    with pytest.raises(pytest.fail.Exception, match="SM203"):
        assert_proved(padded.shard_map)


def test_what_is_no_map_fails() -> None:
    with pytest.raises(pytest.fail.Exception, match="there is no map to prove: a NoneType is no map"):
        assert_proved(None)


def test_a_wrong_constructor_fails_with_the_smallest_sizes_and_a_test(suite: pytest.Pytester) -> None:
    ran = outcome(
        suite,
        "def test_cut(assert_constructor):\n    assert_constructor(cut, Sizes(rows=size(), ranks=[2]))\n",
    )
    ran.assert_outcomes(failed=1)
    shown = ran.stdout.str()
    assert "error[SM601] fails-at-size: cut makes a wrong map at rows=1, ranks=2" in shown
    assert "--> cuts.py:1:5" in shown
    assert "from cuts import cut as constructor" in shown
    assert "the test below shows it; keep it beside this one" in shown
    assert "--write-tests" not in shown
    assert "Traceback" not in shown
    written = shown[shown.index('"""cut fails') :].partition("\n====")[0]
    suite.makepyfile(test_written=written)
    again = suite.runpytest_inprocess("-p", "no:cacheprovider", "test_written.py")
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["*NotProved*SM301*"])


def test_a_reference_that_is_another_function_fails(suite: pytest.Pytester) -> None:
    ran = outcome(
        suite,
        """
        def test_cut(assert_constructor):
            over = Sizes(rows=size(), ranks=[2], where=even)
            assert_constructor(reversed_cut, over=over)
            assert_constructor(reversed_cut, over=over, reference=cut)
        """,
    )
    ran.assert_outcomes(failed=1)
    assert "reversed_cut makes a wrong map at rows=2, ranks=2" in ran.stdout.str()
    assert "error[SM501] not-the-reference" in ran.stdout.str()


def test_no_test_is_shown_for_what_cannot_be_imported(suite: pytest.Pytester) -> None:
    ran = outcome(
        suite,
        """
        def test_lambda(assert_constructor):
            assert_constructor(lambda rows: cut(rows, 2), over=Sizes(rows=size()))

        def test_partial(assert_constructor):
            assert_constructor(partial(cut, ranks=2), over=Sizes(rows=size()))
        """,
    )
    ran.assert_outcomes(failed=2)
    assert "SM601" in ran.stdout.str()
    assert "as constructor" not in ran.stdout.str()


def test_the_declared_domain_counts_where_none_is_given(suite: pytest.Pytester) -> None:
    ran = outcome(
        suite,
        """
        from verifier import constructor

        def test_declared(assert_constructor):
            assert_constructor(constructor(over=Sizes(rows=size(), ranks=[3], where=even))(cut))

        def test_undeclared(assert_constructor):
            assert_constructor(reversed_cut)

        def test_another_domain(assert_constructor):
            assert_constructor(cut, over=Sizes(columns=size()))
        """,
    )
    ran.assert_outcomes(passed=1, failed=2)
    assert "cuts:reversed_cut has no domain; pass over=Sizes(...)" in ran.stdout.str()
    assert "its domain names columns" in ran.stdout.str()
    assert "During handling" not in ran.stdout.str()


def test_sizes_on_which_it_raises_by_accident_are_a_warning(suite: pytest.Pytester) -> None:
    ran = outcome(
        suite,
        """
        def test_picky(assert_constructor):
            assert_constructor(picky, over=Sizes(rows=size(), ranks=[2], where=even))
        """,
    )
    ran.assert_outcomes(passed=1)
    assert ran.stdout.str().count("ShardproofWarning: SM605: ") == 1


def test_they_are_functions_too() -> None:
    with pytest.raises(pytest.fail.Exception, match="SM301"):
        assert_proved(
            json.loads('{"logical_shape": [1], "ranks": {"0": {"shard_shape": [0], "pieces": []}}}')
        )
    with pytest.raises(pytest.fail.Exception, match="no domain"):
        assert_constructor(dict)
