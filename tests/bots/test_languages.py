"""How bots are recognised, compiled and cached, and what their authors are told."""

import os
import stat

import pytest
from bot_helpers import a_view, needs, needs_sandbox

from bjsim.bots import build as building
from bjsim.bots import languages
from bjsim.bots.build import build, cache_folder
from bjsim.bots.languages import BuildError, java_main_class, java_source_name, language_of, tool_of
from bjsim.bots.player import open_bot
from bjsim.sim.play import STAND


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
    found = language_of(path)
    assert (found and found.name) == language


def test_a_file_that_is_no_bot(tmp_path):
    path = tmp_path / "bot.txt"
    path.write_text("hit me")
    with pytest.raises(BuildError, match=r"\.py, \.c.*chmod"):
        build(path)
    with pytest.raises(BuildError, match="No such file"):
        build(tmp_path / "none.py")


@needs(".py")
def test_python_is_resolved_to_a_real_path():
    tool = tool_of(languages.ENDINGS[".py"])
    assert os.path.realpath(tool) == tool and os.stat(tool).st_mode & stat.S_IXUSR


def test_a_missing_tool_is_one_line_that_names_the_package(monkeypatch, tmp_path):
    monkeypatch.setattr(languages.shutil, "which", lambda name: None)
    tool_of.cache_clear()
    path = tmp_path / "x.lisp"
    path.write_text("(print 1)")
    try:
        with pytest.raises(BuildError, match=r"a bot in lisp needs sbcl .*apt install sbcl"):
            build(path)
    finally:
        tool_of.cache_clear()


ENDED = {
    "x.c": "int main(void) { return x; }",
    "x.cpp": "int main() { return x; }",
    "x.java": "class X { public static void main(String[] a) { x(); } }",
    "x.lisp": "(write-line",
    "x.py": "print(",
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name[1:])) for name in ENDED])
def test_the_author_sees_what_the_compiler_says(tmp_path, name):
    path = tmp_path / name
    path.write_text(ENDED[name])
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
        build(path)
    assert len(compiled) == 2
    assert not [file for file in cache_folder().iterdir() if file.suffix != ".tar"]


@needs(".c")
@needs_sandbox
def test_a_source_cannot_read_the_hosts_files_through_its_compiler(tmp_path):
    path = tmp_path / "x.c"
    path.write_text('#include "/etc/passwd"\nint main(void) { return 0; }\n')
    with pytest.raises(BuildError) as caught:
        build(path)
    assert "root:" not in caught.value.log and "No such file" in caught.value.log


@needs(".c")
def test_old_c_that_does_not_declare_what_it_calls_is_accepted(tmp_path):
    """As the longer bot of seed 003 does."""
    path = tmp_path / "x.c"
    path.write_text('#include <stdio.h>\nint main(int c, char **v) { puts(atoi(v[1]) < 12 ? "H" : "S"); }')
    with open_bot(path, sandbox="auto") as bot:
        assert bot.decide(a_view()) == STAND and not bot.faults


def test_the_name_of_a_java_source():
    assert java_source_name(b"// a\npublic final class Bot {}", "x") == "Bot.java"
    assert java_source_name(b"class Bot {}", "lim17") == "lim17.java"
    assert java_source_name(b"class Bot {}", "my-bot") == "Main.java"


def test_the_main_class_of_java():
    main = b"...\x00\x04main...([Ljava/lang/String;)V"
    assert java_main_class("x", {"A.class": b"", "p/B.class": main}) == "p.B"
    for classes in ({}, {"A.class": b""}, {"A.class": main, "B.class": main}):
        with pytest.raises(BuildError, match="one class with a main method"):
            java_main_class("x", classes)


@needs(".java")
def test_a_java_bot_may_have_several_classes(tmp_path):
    path = tmp_path / "my-bot.java"
    path.write_text(
        'class Move { String say() { return new Object() { String s() { return "S"; } }.s(); } }\n'
        "public class Player { public static void main(String[] a) { System.out.println(new Move().say()); } }"
    )
    with open_bot(path, sandbox="auto", timeout=20.0) as bot:
        assert bot.decide(a_view()) == STAND and not bot.faults
