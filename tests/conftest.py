"""What every test may use: ``--bless`` rewrites goldens; a profile says how properties are drawn.

A change is judged by the same examples on every machine (profile ``fixed``). New ones are looked for with
``pytest -m hypothesis --hypothesis-profile=explore``; what they find is kept, as ``@example`` or corpus case.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

Golden = Callable[[str, str], None]

os.environ.pop("COLUMNS", None)  # reports are compared as they are where nobody says how wide they should be

_SLOW_IS_FINE = [HealthCheck.too_slow]
settings.register_profile(
    "fixed", derandomize=True, database=None, deadline=None, suppress_health_check=_SLOW_IS_FINE
)
settings.register_profile("explore", deadline=None, print_blob=True, suppress_health_check=_SLOW_IS_FINE)
settings.load_profile("fixed")


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
