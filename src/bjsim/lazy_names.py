"""Names that a package imports when they are first used, as its `__init__.pyi` lists them."""

import re
from pathlib import Path


def read_homes(init: str) -> dict[str, str]:
    """The module of each name that the stub next to an `__init__.py` imports as `from MODULE import NAME as NAME`."""
    stub = Path(init).with_suffix(".pyi").read_text(encoding="utf-8")
    return {name: module for module, name in re.findall(r"^from (bjsim\S+) import (\w+) as \w+$", stub, re.MULTILINE)}
