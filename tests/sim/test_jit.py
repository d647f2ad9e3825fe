"""The disk cache of compiled functions, its invalidation and its location, and the notice that they are compiled."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from support.kernels import from_python

from bjsim.sim.engine import jit
from bjsim.sim.engine.compile_notice import on_compile
from bjsim.sim.game import actions

CALLER = """\
from jit import compiled
from kernels.callee import LIMIT, Number, doubled

@compiled()
def answer(number):
    return doubled(number.value)

print(answer(Number(LIMIT)), sum(answer.stats.cache_hits.values()), answer.stats.cache_path)
"""
CALLEE = """\
from typing import NamedTuple
from jit import compiled
LIMIT = 10

class Number(NamedTuple):
    value: int

@compiled(inline="always")
def doubled(x):
    return 2 * x
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the decorator, with two kernel modules."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "jit.py").write_text(Path(jit.__file__).read_text())
    (tmp_path / "kernels" / "caller.py").write_text(CALLER)
    (tmp_path / "kernels" / "callee.py").write_text(CALLEE)
    return tmp_path


@pytest.fixture
def nowhere(package: Path) -> dict[str, str]:
    """An environment without a folder for the cache: files block the folders, which stops even root."""
    (package / "kernels" / "__pycache__").touch()
    return {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "LOCALAPPDATA": os.devnull}


def ran(package: Path, **environment: str) -> tuple[int, int, str, str]:
    """The answer of `CALLER`, whether it came from the cache, the cache's folder, and what was written to stderr."""
    inherited = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    run = subprocess.run(
        [sys.executable, "-B", "-c", "import kernels.caller"],  # an edit may keep the size and the second
        cwd=package, env=inherited | environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer, hits, folder = run.stdout.split()
    return int(answer), int(hits), folder, run.stderr


def test_an_edit_in_another_kernel_module_is_noticed(package: Path) -> None:
    callee = package / "kernels" / "callee.py"
    assert ran(package)[:2] == (20, 0)
    callee.write_text(CALLEE.replace("2 * x", "3 * x").replace("10", "11"))
    assert ran(package)[:2] == (33, 0)
    assert ran(package)[:2] == (33, 1)


def test_a_class_that_the_cache_knows_may_go(package: Path) -> None:
    assert ran(package)[:2] == (20, 0)
    for file in (package / "kernels").glob("*.py"):
        file.write_text(file.read_text().replace("Number", "Whole"))
    assert ran(package)[:2] == (20, 0)
    assert ran(package)[:2] == (20, 1)


def test_the_stamp_is_the_content_and_not_the_date(package: Path) -> None:
    file, kernels = str(package / "jit.py"), package / "kernels"
    stamp = jit.source_stamp.__wrapped__
    before = stamp(file, kernels)
    os.utime(kernels / "callee.py", (1, 1))
    assert stamp(file, kernels) == before
    (kernels / "new.py").touch()
    assert stamp(file, kernels) != before


def test_numba_s_environment_variable_names_the_folder(package: Path) -> None:
    folder = ran(package, NUMBA_CACHE_DIR=str(package / "elsewhere"))[2]
    assert Path(folder).parent == package / "elsewhere"


def test_without_a_writable_folder_it_is_a_temporary_one(package: Path, nowhere: dict[str, str]) -> None:
    temporary = package / "temporary"
    temporary.mkdir()
    answer, hits, folder, said = ran(package, TMPDIR=str(temporary), TEMP=str(temporary), **nowhere)
    assert (answer, hits, said) == (20, 0, f"{jit.NO_FOLDER}\n")
    assert Path(folder).parents[1] == temporary
    assert not list(temporary.iterdir())  # it is gone afterwards


def test_without_any_folder_it_compiles_in_memory(package: Path, nowhere: dict[str, str]) -> None:
    (package / "kernels" / "caller.py").write_text(f"import tempfile; tempfile.tempdir = {os.devnull!r}\n{CALLER}")
    assert ran(package, **nowhere) == (20, 0, "None", f"{jit.NO_FOLDER}\n")


def test_kernels_import_only_what_is_stamped() -> None:
    """numba inlines constants and callees, so one from elsewhere could change without changing the stamp."""
    imports = [
        (path.name, match[1])
        for path in jit.KERNELS.glob("*.py")
        for match in re.finditer(r"^ *(?:from|import) +(bjsim[\w.]*)", path.read_text(), re.MULTILINE)
    ]
    allowed = (jit.__name__, f"{jit.__package__}.kernels", actions.__name__, "bjsim.arrays")  # types are not inlined
    assert len(imports) > 10
    assert [found for found in imports if not found[1].startswith(allowed)] == []


def test_every_compiled_function_has_this_cache() -> None:
    """numba's own stops every command of a user with no folder to write to, and takes no notice of edits elsewhere."""
    package = Path(jit.__file__).parents[2]
    bare = re.compile(r"\bnjit\(|\bcache=True|@(?:numba|nb)\.")
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "numba" in (text := path.read_text(encoding="utf-8")) and bare.search(text)
    }
    assert found == {"sim/engine/jit.py"}


def test_a_folder_does_not_choose_where_compiled_code_comes_from(tmp_path: Path) -> None:
    """Finding 5: with PyYAML, numba reads this file, and then unpickles a cache of the folder's choice."""
    (tmp_path / ".numba_config.yaml").write_text("cache_dir: c\n")
    code = """if True:
        import sys
        from bjsim.errors import InputError
        try:
            import bjsim.sim.engine.jit
        except InputError as error:
            print("numba" in sys.modules, error)
    """
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("False the current folder has a .numba_config.yaml")


def test_python_cannot_call_what_only_kernels_call() -> None:
    @jit.inner()
    def twice(x: int) -> int:
        return 2 * x

    once = from_python(twice)
    for _ in range(2):  # before it is compiled, and after
        with pytest.raises(TypeError, match="only compiled functions call twice"):
            twice(3)
        assert once(3) == 6


def test_code_that_makes_arrays_is_loaded_with_numba_s_runtime(package: Path) -> None:
    """Without it, a process that compiles nothing itself would end at the first array."""
    source = CALLER.replace("doubled(number.value)", "np.arange(number.value).sum()")
    (package / "kernels" / "caller.py").write_text(f"import numpy as np\n{source}")
    assert ran(package)[:2] == (45, 0)
    assert ran(package)[:2] == (45, 1)


def test_the_notice_comes_once_before_anything_is_compiled_and_only_then() -> None:
    one, other = numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)
    said: list[object] = []
    with on_compile(lambda: said.append(not one.signatures)):
        assert one(1) == 2 and other(1) == 3
    assert said == [True]  # and before it was compiled
    with on_compile(lambda: said.append("again")):
        assert one(1) == 2 and other(1) == 3
    other(1.5)
    assert said == [True]
