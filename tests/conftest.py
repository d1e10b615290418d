"""What every test may use: ``--bless`` rewrites goldens instead of comparing with them."""

from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="rewrite goldens with what the tests produce")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """``golden(name, text)`` compares ``text`` with ``goldens/name`` beside the test file."""
    folder = Path(request.path).parent / "goldens"

    def compare(name: str, text: str) -> None:
        path = folder / name
        if request.config.getoption("--bless"):
            path.write_text(text, encoding="ascii", newline="\n")
        assert path.is_file(), f"{path} is missing; write it with pytest --bless"
        assert text == path.read_text(encoding="ascii")

    return compare
