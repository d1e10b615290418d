"""Functions by their places, what their results depend on, and places where there is none."""

import sys
from pathlib import Path

import pytest

from fuzz.consumers.function_loading import FunctionError, load
from verifier.gate import loading

SOURCE = """
import functools

def three(a, b, c):
    pass

def by_name(entry, *, shards):
    pass

async def waits(entry):
    return False

async def generates_async(entry):
    yield False

def generates(entry):
    yield False

class Waiting:
    async def __call__(self, entry):
        return False

class Checker:
    def check(self, entry):
        pass

waiting = Waiting()
waits_with_one = functools.partial(waits)
check = Checker().check
NUMBER = 4
"""


def test_a_file_may_import_its_neighbours_and_leaves_the_path_alone(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_tool.py").write_text("def check(entry): raise ValueError('no')\n")
    (tmp_path / "tool.py").write_text("from neighbour_of_tool import check\n")
    before = list(sys.path)
    assert load(f"{tmp_path}/tool.py:check").parameters == 1
    assert sys.path == before


def test_a_module_is_looked_for_in_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tool_of_this_directory.py").write_text("def check(entry, strict=True): pass\n")
    monkeypatch.chdir(tmp_path)
    assert load("tool_of_this_directory:check").parameters == 1
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("check", "write module:function or path/to/file.py:function"),
        (":check", "write module:function"),
        ("no_such_module_of_ours:check", "cannot be imported .*No module named"),
        ("{folder}/absent.py:check", "there is no file"),
        ("{folder}/broken.py:check", "cannot be imported .SyntaxError"),
        ("{folder}/missing.py:check", "cannot be imported .*missing.py:1: .*ModuleNotFoundError"),
        ("{source}:chek", r"tool.py has no 'chek'; its functions are by_name, generates, generates_async, "),
        ("{source}:NUMBER", "is a int, no function; it must take a map"),
        ("{source}:three", r"takes \(a, b, c\); it must take a map, or a map and the shards"),
        ("{source}:by_name", r"takes \(entry, shards\); it must"),
        ("{source}:waits", "is async: to call it runs none of its lines; name a function that runs it"),
        ("{source}:waiting", "is async"),
        ("{source}:waits_with_one", "is async"),
        ("{source}:generates_async", "is async"),
        ("{source}:generates", "is a generator function: to call it runs none of its lines; name"),
        ("{source}:Checker", r"takes \(\) and is a class; give the method of an object a name in the file"),
        ("{source}:Checker.check", r"takes \(self, entry\), a method without its object; give"),
        ("builtins:dict", "does not say what it takes"),
    ],
)
def test_places_where_there_is_no_such_function(tmp_path: Path, place: str, words: str) -> None:
    source = tmp_path / "tool.py"
    source.write_text(SOURCE, encoding="ascii")
    (tmp_path / "broken.py").write_text("def check(:\n")
    (tmp_path / "missing.py").write_text("import no_such_module_of_ours\n")
    with pytest.raises(FunctionError, match=words):
        load(place.format(folder=tmp_path, source=source))


def test_methods_of_objects_are_functions(tmp_path: Path) -> None:
    (tmp_path / "tool.py").write_text(SOURCE, encoding="ascii")
    assert load(f"{tmp_path}/tool.py:check").parameters == 1


def test_what_a_module_prints_goes_to_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tool.py").write_text("print('hello')\ndef check(entry): pass\n")
    load(f"{tmp_path}/tool.py:check")
    assert tuple(capsys.readouterr()) == ("", "hello\n")


FILES = {
    "tool.py": "import neighbour_of_digest\nimport package_of_digest.impl\ndef check(entry): pass\n",
    "neighbour_of_digest.py": "LIMIT = 3\n",
    "package_of_digest/__init__.py": "from package_of_digest.impl import check\n",
    "package_of_digest/impl.py": "def check(entry): from package_of_digest import late\n",
    "package_of_digest/late.py": "LIMIT = 3\n",
    "unrelated.py": "LIMIT = 3\n",
}


def digest(folder: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of a function loaded anew, as in a new process."""
    monkeypatch.chdir(folder)
    for name in [name for name in sys.modules if "of_digest" in name or name.startswith("tool_")]:
        monkeypatch.delitem(sys.modules, name)
    load.cache_clear()
    loading._load_from.cache_clear()
    return load(place).digest


@pytest.mark.parametrize(
    ("place", "covered"),
    [
        ("tool.py:check", {"tool.py", "neighbour_of_digest.py", "package_of_digest/impl.py"}),
        ("package_of_digest:check", {name for name in FILES if "package" in name}),
    ],
)
def test_the_digest_changes_with_every_file_of_the_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, covered: set[str]
) -> None:
    (tmp_path / "package_of_digest").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    before = digest(tmp_path, place, monkeypatch)
    assert digest(tmp_path, place, monkeypatch) == before
    for name, text in FILES.items():
        (tmp_path / name).write_text(f"{text}# repaired\n")
        if name in covered:
            assert digest(tmp_path, place, monkeypatch) != before
        elif name == "unrelated.py":
            assert digest(tmp_path, place, monkeypatch) == before
        (tmp_path / name).write_text(text)


def test_the_digest_does_not_depend_on_where_the_files_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        (folder / "package_of_digest").mkdir(parents=True)
        for name, text in FILES.items():
            (folder / name).write_text(text)
        found.append(digest(folder, f"{folder}/tool.py:check", monkeypatch))
    assert found[0] == found[1]
