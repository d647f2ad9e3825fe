"""How bots are recognised, compiled and cached, and the messages for their authors."""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from bot_helpers import BOX, SAMPLES, a_view, lim17, needs, needs_sandbox

from bjsim.bots.player import open_bot
from bjsim.bots.sandbox import build as building
from bjsim.bots.sandbox import languages, session
from bjsim.bots.sandbox.build import build, cache_folder
from bjsim.bots.sandbox.folders import read_bot
from bjsim.bots.sandbox.languages import (
    ENDINGS,
    LANGUAGES,
    BuildError,
    find_binds,
    find_tool,
    java_main,
    java_source,
)
from bjsim.sim.game.actions import HIT, STAND


@pytest.mark.parametrize(
    ("name", "content", "mode", "language"),
    [
        ("a.py", "", 0o644, "python"),
        ("A.PY", "", 0o644, "python"),
        ("a.c", "", 0o644, "c"),
        ("a.cc", "", 0o755, "c++"),
        ("a.java", "", 0o644, "java"),
        ("a.lisp", "", 0o644, "lisp"),
        ("a", "#!/usr/bin/env python3\n", 0o755, "python"),
        ("a", "#!/usr/bin/python3.11 -I\n", 0o644, "python"),
        ("a", "#!/bin/sh\n", 0o755, None),
        ("a", "\x7fELF", 0o755, None),
    ],
)
def test_the_language_of_a_file(tmp_path, name, content, mode, language):
    path = tmp_path / name
    path.write_text(content)
    path.chmod(mode)
    result = read_bot(path).language
    assert (result and result.name) == language


def test_a_file_that_is_not_a_bot(tmp_path):
    path = tmp_path / "bot.txt"
    path.write_text("hit me")
    with pytest.raises(BuildError, match=r"\.py, \.c.*chmod"):
        build(path, box=BOX)
    with pytest.raises(BuildError, match="No such file"):
        build(tmp_path / "none.py", box=BOX)


@needs(".py")
def test_python_is_resolved_to_a_real_path():
    tool = find_tool(ENDINGS[".py"])
    assert os.path.realpath(tool) == tool and os.stat(tool).st_mode & stat.S_IXUSR


def test_a_missing_tool_is_one_line_that_names_the_package(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    find_tool.cache_clear()
    path = tmp_path / "x.lisp"
    path.write_text("(print 1)")
    try:
        with pytest.raises(BuildError, match=r"a bot in lisp needs sbcl .*apt install sbcl"):
            build(path, box=BOX)
    finally:
        find_tool.cache_clear()


@pytest.fixture
def prefix():
    """A folder that anyone can read, such as a home folder, to install tools in. The cache of tools is cleared.

    It is not in /tmp, because compilers have a /tmp of their own.
    """
    find_tool.cache_clear()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        (Path(folder) / "secret").write_text("secret")
        yield Path(folder)
    find_tool.cache_clear()


def install(prefix, tool, *parts):
    """Copy a tool into the folder, and link parts of its own folder next to it."""
    source = Path(tool).resolve()
    (prefix / "bin").mkdir(exist_ok=True)
    shutil.copy(source, prefix / "bin")
    for part in parts:
        (prefix / part).parent.mkdir(exist_ok=True)
        (prefix / part).symlink_to(source.parents[1] / part)
    return str(prefix / "bin" / source.name)


def whole_prefix(tool):
    return (str(Path(tool).parents[1]),)


def test_a_tool_is_bound_with_what_it_needs_and_never_with_all_of_its_folder(tmp_path):
    for name in ("bin", "conf", "lib", "man", "Documents", ".ssh"):
        (tmp_path / name).mkdir()
    (tmp_path / "share").write_text("a file")
    assert find_binds(str(tmp_path / "bin" / "javac")) == tuple(str(tmp_path / name) for name in ("bin", "conf", "lib"))
    assert find_binds(str(tmp_path / "sbcl")) == (str(tmp_path / "sbcl"),)
    assert find_binds("/usr/bin/cc") == find_binds("/usr/lib/jvm/java/bin/javac") == find_binds("/bin/cc") == ()


@needs(".py")
@needs_sandbox
@pytest.mark.parametrize("binds", [find_binds, whole_prefix])
def test_a_bot_cannot_read_other_files_of_its_interpreters_folder(prefix, tmp_path, monkeypatch, binds):
    """Control: with the whole folder bound it can."""
    version = "python{}.{}".format(*sys.version_info)
    library = Path(os.__file__).parent.relative_to(sys.base_prefix)
    python = install(prefix, find_tool(ENDINGS[".py"]), *([library] if library.name == version else []))
    find_tool.cache_clear()
    monkeypatch.setattr(sys, "_base_executable", python)
    monkeypatch.setattr(languages, "find_binds", binds)
    monkeypatch.setattr(session, "find_binds", binds)
    path = tmp_path / "spy.py"
    secret = str(prefix / "secret")  # Landlock does not keep from a bot that there is one
    reading = f"try:\n    open({secret!r})\nexcept OSError:\n    print('S')\nelse:\n    print('H')"
    path.write_text(f"import sys\nassert sys.executable == {python!r}\n{reading}")
    with open_bot(path, sandbox="required", timeout=20.0) as bot:
        assert bot.decide(a_view()) == (STAND if binds is find_binds else HIT) and not bot.faults, bot.kept_faults


@needs(".lisp")
@needs_sandbox
def test_a_tool_plays_from_its_own_folder(prefix, monkeypatch):
    """Lisp's core is in lib/sbcl, next to bin."""
    core = next(Path(find_tool(ENDINGS[".lisp"])).parents[1].glob("lib*/sbcl/sbcl.core"), None)
    if core is None:
        pytest.skip("no lib/sbcl next to bin")
    sbcl = install(prefix, find_tool(ENDINGS[".lisp"]), core.parent.relative_to(core.parents[2]))
    find_tool.cache_clear()
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: sbcl if name == "sbcl" else which(name))
    with open_bot(SAMPLES / "lim17.lisp", sandbox="required", timeout=20.0) as bot:
        assert bot.program.command[0] == sbcl
        assert bot.decide(a_view()) == lim17(a_view()) and not bot.faults, bot.kept_faults


BROKEN = {
    "x.c": "int main(void) { return x; }",
    "x.cpp": "int main() { return x; }",
    "x.java": "class X { public static void main(String[] a) { x(); } }",
    "x.lisp": "(write-line",
    "x.py": "print(",
    "x.js": "let x = (",
    "x.go": "package main\nfunc main() { x() }",
    "x.rs": "fn main() { x() }",
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[needs(name[1:]), *([pytest.mark.slow] if name in ("x.go", "x.java") else [])])
        for name in BROKEN
    ],
)
def test_the_author_sees_the_compilers_messages(tmp_path, name):
    path = tmp_path / name
    path.write_text(BROKEN[name])
    with pytest.raises(BuildError) as caught:
        open_bot(path, sandbox="auto").close()
    assert "\n" not in str(caught.value)
    assert len(caught.value.log.splitlines()) > 1


@needs(".c")
@needs_sandbox
def test_a_bot_is_compiled_once_and_again_when_it_changes(tmp_path, monkeypatch):
    compiled = []
    real = building._compile
    monkeypatch.setattr(building, "_compile", lambda *args: compiled.append(args) or real(*args))
    path = tmp_path / "x.c"
    for number in (1, 1, 2):
        path.write_text(f"int main(void) {{ return {number}; }} /* {tmp_path} */")
        build(path, box=BOX)
    assert len(compiled) == 2
    assert not [file for file in cache_folder().iterdir() if file.suffix != ".made"]


@needs(".c")
@needs_sandbox
def test_a_source_cannot_read_the_hosts_files_through_its_compiler(tmp_path):
    path = tmp_path / "x.c"
    path.write_text('#include "/etc/passwd"\nint main(void) { return 0; }\n')
    with pytest.raises(BuildError) as caught:
        build(path, box=BOX)
    assert "root:" not in caught.value.log
    assert re.search("No such file|Permission denied", caught.value.log)  # in bubblewrap, and with Landlock


@needs(".c")
def test_old_c_that_does_not_declare_what_it_calls_is_accepted(tmp_path):
    """As the longer bot of [CardShark] does."""
    path = tmp_path / "x.c"
    path.write_text('#include <stdio.h>\nint main(int c, char **v) { puts(atoi(v[1]) < 12 ? "H" : "S"); }')
    with open_bot(path, sandbox="auto") as bot:
        assert bot.decide(a_view()) == STAND and not bot.faults


@needs(".c")
@needs_sandbox
def test_a_c_bot_is_linked_dynamically_where_it_cannot_be_statically(prefix, monkeypatch):
    """As on Fedora without glibc-static. The control is refused for its own fault."""
    compiler = prefix / "cc"
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *-static*) exit 1; esac\nexec {find_tool(ENDINGS[".c"])} "$@"\n')
    compiler.chmod(0o755)
    find_tool.cache_clear()
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: str(compiler) if name == "cc" else which(name))
    with open_bot(SAMPLES / "lim17.c", sandbox="required", timeout=20.0) as bot:
        assert b"ld-linux" in bot.program.files["bot"]
        assert bot.decide(a_view()) == lim17(a_view()) and not bot.faults, bot.kept_faults
    (prefix / "x.c").write_text("int mian(void) { return 0; }")
    with pytest.raises(BuildError) as caught:
        build(prefix / "x.c", box=BOX)
    assert "main" in caught.value.log


def test_continuous_integration_installs_every_language():
    """It reads the rows before bjsim is installed."""
    root = Path(__file__).parents[2]
    lines = (root / ".ci/run").read_text().splitlines()
    script = next(line for line in lines if line.startswith("mapfile -t languages"))
    done = subprocess.run(["bash", "-c", script + '; echo "${languages[@]}"'], cwd=root, capture_output=True, text=True)
    assert done.stdout.split() == sorted({language.package for language in LANGUAGES})


def test_the_name_of_a_java_source():
    assert java_source(b"// a\npublic final class Bot {}", "x") == "Bot.java"
    assert java_source(b"class Bot {}", "lim17") == "lim17.java"
    assert java_source(b"class Bot {}", "my-bot") == "Main.java"


def test_the_main_class_of_java():
    main = b"...\x00\x04main...([Ljava/lang/String;)V"
    assert java_main("x", {"A.class": b"", "p/B.class": main}) == "p.B"
    for classes in ({}, {"A.class": b""}, {"A.class": main, "B.class": main}):
        with pytest.raises(BuildError, match="one class with a main method"):
            java_main("x", classes)


@needs(".java")
def test_a_java_bot_may_have_several_classes(tmp_path):
    path = tmp_path / "my-bot.java"
    path.write_text(
        'class Move { String say() { return new Object() { String s() { return "S"; } }.s(); } }\n'
        "public class Player { public static void main(String[] a) { System.out.println(new Move().say()); } }"
    )
    with open_bot(path, sandbox="auto", timeout=20.0) as bot:
        assert bot.decide(a_view()) == STAND and not bot.faults
