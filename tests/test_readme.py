"""The examples in the README work as shown."""

import doctest
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_readme_is_a_doctest():
    results = doctest.testfile(str(README), module_relative=False)
    assert results.attempted >= 10 and results.failed == 0
