"""How bots are recognised, compiled and cached, and the messages for their authors."""

import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import tempfile
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from bot_helpers import BOX, BOXES, COUNTED, SAMPLES, a_view, lim17, needs, needs_bubblewrap, needs_sandbox, use_box

from bjsim.bots.player import open_bot
from bjsim.bots.protocol import Reply
from bjsim.bots.sandbox import build as building
from bjsim.bots.sandbox import languages, restrictions, session
from bjsim.bots.sandbox.build import LIMITS, build, cache_folder
from bjsim.bots.sandbox.folders import read_bot
from bjsim.bots.sandbox.languages import (
    ENDINGS,
    LANGUAGES,
    BuildError,
    Program,
    find_binds,
    find_tool,
    java_main,
    java_source,
)
from bjsim.bots.sandbox.restrictions import make_box
from bjsim.bots.sandbox.session import Limits, SandboxError, SandboxSession
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


@needs(".py")
def test_python_is_resolved_to_a_real_path():
    tool = find_tool(ENDINGS[".py"])
    assert os.path.realpath(tool) == tool and os.stat(tool).st_mode & stat.S_IXUSR


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


@pytest.mark.parametrize("status, found", [(0, ["/opt/rust/bin/rustc"]), (1, [])])
def test_a_link_to_rustup_without_a_toolchain_is_no_compiler(tmp_path, monkeypatch, status, found):
    (tmp_path / "rustc").write_text(f"#!/bin/sh\necho /opt/rust\nexit {status}\n")
    (tmp_path / "rustc").chmod(0o755)
    monkeypatch.setattr(os.path, "exists", lambda _: False)  # that of the package
    assert languages.rust_compilers([str(tmp_path / "rustc")]) == found


def test_a_tool_is_run_where_no_file_of_a_stranger_chooses_it(tmp_path, monkeypatch):
    """rustup obeys rust-toolchain.toml, and go go.mod, of the working folder."""
    (tmp_path / "tool").write_text("#!/bin/sh\npwd\n")
    (tmp_path / "tool").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert languages.rust_compilers([str(tmp_path / "tool")])[0] == "//bin/rustc"
    assert building._version(str(tmp_path / "tool"), "--version") == "/\n"


def test_a_link_that_loses_its_meaning_is_not_the_compiler(tmp_path, monkeypatch):
    """As on Fedora with ccache, or of a snap: the program that it leads to is another one by its own name."""
    for folder, name in (("first", "ccache"), ("second", "cc")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / folder / name).chmod(0o755)
    (tmp_path / "first" / "cc").symlink_to("ccache")
    monkeypatch.setenv("PATH", f"{tmp_path}/first:{tmp_path}/second")
    assert ENDINGS[".c"].find_tools() == [str(tmp_path / "second" / "cc")]
    monkeypatch.setenv("PATH", f"{tmp_path}/first")
    assert ENDINGS[".c"].find_tools() == []


@needs_sandbox
def test_what_a_folder_runs_is_bound_if_the_machine_names_it(prefix, tmp_path, monkeypatch):
    """An interpreter in /opt, say, by a link in /usr/local/bin. By its path, a bot could have any file bound."""
    greet = install(prefix, shutil.which("echo"))
    (prefix / "links").mkdir()
    (prefix / "links" / "greet").symlink_to(greet)
    monkeypatch.setattr(languages, "PATH", str(prefix / "links"))
    for run, bound in (("greet H", (str(prefix / "bin"),)), (f"{greet} H", ())):
        (tmp_path / "bot.toml").write_text(f"run = '{run}'")
        with open_bot(tmp_path, sandbox="required", timeout=20.0) as bot:
            assert bot.program.binds == bound and bot.run(["12"]).stdout == (b"H 12\n" if bound else b"")


def test_a_compiler_that_does_not_start_is_not_the_bots_fault(tmp_path, monkeypatch):
    """A contest then asks whether another session opens; else the bot would stand on every hand."""
    lost = SimpleNamespace(ask=lambda _: Reply("start", 0, 0, b"", b"it does not stay open"), close=lambda: None)
    monkeypatch.setattr(building, "SandboxSession", lambda *_, **__: lost)
    path = tmp_path / "x.js"
    path.write_text(f"// {tmp_path}")
    monkeypatch.setattr(building, "find_tool", lambda _: "/bin/true")
    with pytest.raises(SandboxError, match="x is not compiled: it does not stay open"):
        build(path, box=BOX)


def test_a_tool_is_bound_with_what_it_needs_and_never_with_all_of_its_folder(tmp_path):
    for name in ("bin", "conf", "lib", "man", "share", "Documents", ".ssh"):
        (tmp_path / name).mkdir()
    (tmp_path / "include").write_text("a file")
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
        assert bot.decide(a_view()) == (STAND if binds is find_binds else HIT) and not bot.faults, bot.first_faults


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
    monkeypatch.setattr(shutil, "which", lambda name, path=None: sbcl if name == "sbcl" else which(name, path=path))
    with open_bot(SAMPLES / "lim17.lisp", sandbox="required", timeout=20.0) as bot:
        assert bot.program.command[0] == sbcl
        assert bot.decide(a_view()) == lim17(a_view()) and not bot.faults, bot.first_faults


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


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name[1:])) for name in BROKEN])
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
    monkeypatch.setattr(shutil, "which", lambda name, path=None: str(compiler) if name == "cc" else which(name))
    with open_bot(SAMPLES / "lim17.c", sandbox="required", timeout=20.0) as bot:
        assert b"ld-linux" in bot.program.files["bot"]
        assert bot.decide(a_view()) == lim17(a_view()) and not bot.faults, bot.first_faults
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
    assert java_source("public sealed class Bôt permits A {}".encode(), "x") == "Bôt.java"
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


# --- The output of a compiler's session is not trusted: it cannot write other files or use the host's memory.


INSIDE = "bjsim/bots/sandbox/inside/main.py"
PATHS = ("../../oldroot{path}", "{path}", "./main.py", "main.py", f"/run/{INSIDE}", INSIDE, "bot", "")

# The compile script once ended in `tar -cf - *`, so the name of a file could be an option of tar. MEMBERS is replaced.
ARCHIVE = """
import io, os, tarfile
os.chdir(os.environ['TMP'] + '/made')
t = tarfile.open('p', 'w')
for name, data in MEMBERS:
    i = tarfile.TarInfo(name); i.size = len(data); t.addfile(i, io.BytesIO(data))
t.close()
open('r', 'w').write('cat >/dev/null; cat p')
open('--use-compress-program=sh r', 'w')
"""

# Prints before the script does, into whatever pipes the shell that runs it has open. PRINTED is replaced.
FORGED = """
import os
for pid in filter(str.isdigit, os.listdir('/proc')):
    if open(f'/proc/{pid}/comm').read() == 'sh\\n':
        folder = f'/proc/{pid}/fd/'
        pipes = {os.readlink(folder + name): folder + name for name in os.listdir(folder)}
        for link, path in pipes.items():
            if link.startswith('pipe:'):
                os.write(os.open(path, os.O_WRONLY), PRINTED)
"""


def while_compiled(folder, lisp):
    """The file of a bot that evaluates this Lisp while it is compiled."""
    path = folder / "evil.lisp"
    path.write_text(f'(eval-when (:compile-toplevel) {lisp})\n(write-line "S")\n')
    return path


def in_python(code):
    """Lisp that runs a program in Python."""
    quoted = code.replace("\\", "\\\\").replace('"', '\\"')
    return f'(sb-ext:run-program "{find_tool(ENDINGS[".py"])}" (list "-c" "{quoted}") :output *error-output*)'


@pytest.fixture
def outside():
    """A path that anyone may write to, for a bot that escapes from its sandbox."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o777)
        yield Path(folder) / "escaped"


def answer_or_error(path):
    """The bot's output, or the error if it cannot be compiled."""
    try:
        with open_bot(path, sandbox="required", timeout=9.0) as bot:
            return bot.ask(a_view()).stdout.decode()
    except BuildError as error:
        return str(error)


REFUSED = "is not a file that lisp compiles to"
RUNNER = """import os, struct
def reply(out): os.write(1, struct.pack('<BiQII', 0, 0, 0, len(out), 0) + out)
reply(b'')
while os.read(0, 4096): reply(b'S I am the runner')
"""


@needs(".lisp")
@needs(".py")
@pytest.mark.parametrize("mode", BOXES)
def test_no_archive_of_a_lisp_bot_writes_the_hosts_files_or_replaces_the_runner(tmp_path, monkeypatch, outside, mode):
    use_box(mode, monkeypatch)
    out = f"../../oldroot{outside}" if mode == "bubblewrap" else str(outside)
    members = [(name, RUNNER.encode()) for name in ("bot.fasl", INSIDE, f"../run/{INSIDE}", out)]
    answer = answer_or_error(while_compiled(tmp_path, in_python(ARCHIVE.replace("MEMBERS", repr(members)))))
    assert not outside.exists() and "I am the runner" not in answer and REFUSED in answer


@needs(".lisp")
@needs(".py")
@needs_bubblewrap
@pytest.mark.parametrize("name", PATHS)
def test_a_compiler_cannot_name_any_other_file(tmp_path, outside, name):
    attack = FORGED.replace("PRINTED", repr(f"3 {name.format(path=outside)}\nout".encode()))
    answer = answer_or_error(while_compiled(tmp_path, in_python(attack)))
    assert not outside.exists() and REFUSED in answer


@needs(".lisp")
@needs(".py")
@needs_bubblewrap
def test_what_the_shell_prints_is_what_the_host_reads(tmp_path):
    """Control of the test above: a forged file with the right name is read, and then the true one is a duplicate."""
    attack = FORGED.replace("PRINTED", repr(b"3 bot.fasl\nout"))
    answer = answer_or_error(while_compiled(tmp_path, in_python(attack)))
    assert " bot.fasl' " + REFUSED in answer


@pytest.mark.parametrize(
    "printed",
    [
        b"",
        b"\0" * 5000,
        b"\xff" * 5000,
        b"3 bot.fasl",
        b"4 bot.fasl\nout",
        b"3221225472 bot.fasl\nout",
        b"-3 bot.fasl\nout",
        b"3 bot.fasl\nout3 bot.fasl\nout",
        b"3 bot.fasl\x00\nout",
        b"3 \xff\nout",
        b"9" * 400 + b" bot.fasl\nout",
        b"9" * 5000 + b" bot.fasl\nout",
    ],
)
def test_garbage_is_no_compiled_program(printed):
    with pytest.raises(ValueError):
        building._parse_files(printed, ENDINGS[".lisp"])


def test_compiled_files_are_read():
    assert building._parse_files(b"3 bot.fasl\n\n1\n", ENDINGS[".lisp"]) == {"bot.fasl": b"\n1\n"}
    two = building._parse_files(b"1 p/A$1.class\nx0 \xc3\x89t\xc3\xa9.class\n", ENDINGS[".java"])
    assert two == {"p/A$1.class": b"x", "Été.class": b""}
    for name in (b"../A.class", b"/A.class", b"p/../A.class", b"-A.class", b"@A.class", b"A.jar", b"p//A.class"):
        with pytest.raises(ValueError):
            building._parse_files(b"1 " + name + b"\nx", ENDINGS[".java"])
    many = b"".join(b"0 A%d.class\n" % number for number in range(999))
    with pytest.raises(ValueError, match="999 files"):
        building._parse_files(many, ENDINGS[".java"])


@pytest.mark.parametrize("kind", BOXES)
@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "./x", "a//x", "..", "", "x\0"])
def test_no_file_of_a_sandbox_leaves_its_folder(kind, name):
    with pytest.raises(ValueError, match="plain file name"):
        make_box(kind, {name: b""}, {})


@needs(".py")
@pytest.mark.parametrize("kind", BOXES)
def test_a_file_name_of_any_length_is_refused_or_works(kind):
    """Of letters of one byte and of two, and of several parts."""
    names = [letter * length for letter in "xé" for length in (1, 127, 128, 254, 255, 256, 300, 999, 1000, 1001)]
    names += ["/".join([part * 249] * 4) + "z" * more for part in "yö" for more in (0, 1, 2)]
    names += [f"{letter * length}/x" for letter in "vü" for length in (127, 128, 255, 256, 998, 999)]
    files = {}
    for name in names:
        with suppress(ValueError):
            make_box(kind, {name: b""}, {}).close()
            files[name] = b""
    assert set(names) - set(files) == {
        name for name in names
        if len(name.encode()) > 1000 or any(len(part.encode()) > 255 for part in name.split("/"))
    }  # fmt: skip
    files["bot"] = b"#!/bin/sh\nexec find . -type f"
    program = Program("x", "executable", files, ("./bot",))
    with closing(SandboxSession(program, Limits(timeout=9.0, output=1 << 16), box=kind)) as session:
        assert set(session.ask([]).stdout.decode().split()) == {f"./{name}" for name in files}


def test_a_box_that_cannot_be_made_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Path, "chmod", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_box("none", {"x": b""}, {})
    assert not os.listdir(tmp_path)


def test_a_box_that_cannot_be_made_leaves_no_open_file_and_is_a_fault_of_the_sandbox(monkeypatch):
    made = []

    def memory(name):
        if len(made) == 2:
            raise OSError(24, "Too many open files")
        made.append(os.memfd_create(name))
        return made[-1]

    monkeypatch.setattr(restrictions, "os", SimpleNamespace(**{**vars(os), "memfd_create": memory}))
    program = Program("x", "executable", {"bot": b"", "other": b""}, ("./bot",))
    with pytest.raises(SandboxError, match=r"session of x does not open: .*Too many open files"):
        SandboxSession(program, Limits(), box="bubblewrap")
    for each in made:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(each)


@needs(".py")
@pytest.mark.parametrize("mode", BOXES)
def test_no_file_of_a_bot_is_the_runner(mode):
    """A file with the name of one of the runner's modules does not replace it, even without a sandbox."""
    stops = dict.fromkeys(("bjsim.py", "main.py", "ctypes.py", "bjsim/__init__.py", INSIDE), b"raise SystemExit")
    files = {**stops, "bot": b"#!/bin/sh\necho S"}
    program = Program("x", "executable", files, ("./bot",))
    with closing(SandboxSession(program, Limits(timeout=9.0), box=mode)) as session:
        assert session.ask(["12"]).stdout == b"S\n"


@needs(".lisp")
@needs_sandbox
def test_a_compiler_that_prints_costs_the_host_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "LIMITS", replace(LIMITS, timeout=3.0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    path = while_compiled(tmp_path, "(loop (write-line (make-string 9999 :initial-element #\\y) *error-output*))")
    with pytest.raises(BuildError, match="longer than") as caught:
        build(path, box=BOX)
    assert 60_000 < len(caught.value.log) <= LIMITS.errors
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


FILLS = """
import os
for number in range(45):
    open(f'{os.environ["TMP"]}/{number}', 'wb').write(bytes(10 << 20))
"""
FORKS = """
import subprocess
started = 0
for number in range(300):
    try:
        subprocess.Popen(['/bin/sleep', '40'])
        started += 1
    except OSError:
        pass
print('there are', started, 'processes')
"""


@needs(".lisp")
@needs(".py")
@pytest.mark.parametrize("box", BOXES)
def test_a_compiler_has_limits(tmp_path, monkeypatch, box):
    monkeypatch.setattr(building, "LIMITS", replace(LIMITS, memory=400 << 20))
    with pytest.raises(BuildError, match="takes more than 1024 MiB"):
        build(while_compiled(tmp_path, in_python(FILLS)), box=box)
    with pytest.raises(BuildError, match="leaves a process running" if COUNTED else "or 64 processes") as caught:
        build(while_compiled(tmp_path, in_python(FORKS)), box=box)
    assert not COUNTED or int(re.search("there are ([0-9]+) processes", caught.value.log)[1]) <= LIMITS.processes


@needs(".lisp")
@needs_sandbox
@pytest.mark.parametrize("damage", [b"", b"1", b"99999999 bot.fasl\nx", b"\0" * 4096])
def test_a_damaged_cache_is_compiled_again(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "x.lisp"
    path.write_text('(write-line "S")')
    build(path, box=BOX)
    [cached] = cache_folder().iterdir()
    cached.write_bytes(damage)
    with open_bot(path, sandbox="required", timeout=9.0) as bot:
        assert bot.decide(a_view()) == STAND and not bot.faults
    assert set(building._parse_files(cached.read_bytes(), ENDINGS[".lisp"])) == {"bot.fasl"}


@needs(".c")
@needs_sandbox
def test_a_cache_that_cannot_be_written_is_done_without(bot, tmp_path, monkeypatch):
    (tmp_path / "cache").write_text("a file, which no user can make a folder in")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    player = bot("x.c", "int main(void) { return 0; }", timeout=9.0)
    assert player.decide(a_view()) == STAND and player.faults == {"bad-reply": 1}


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    """As in a container whose user has a number only: no HOME, and no entry in /etc/passwd."""
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it returns there
    with pytest.raises(OSError):
        cache_folder().mkdir(parents=True)
    with pytest.raises(OSError):
        (cache_folder() / "any.made").read_bytes()


@needs(".lisp")
@pytest.mark.parametrize("box", BOXES)
def test_a_compiled_file_does_not_name_the_folder_where_it_was_compiled(tmp_path, monkeypatch, box):
    """SBCL writes the path of the source into what it makes."""
    use_box(box, monkeypatch)
    path = tmp_path / f"{box}.lisp"
    path.write_text((SAMPLES / "lim17.lisp").read_text() + f"; {box}\n")
    with open_bot(path, sandbox="required", timeout=20.0) as bot:
        assert bot.decide(a_view("K2")) == HIT and not bot.faults
        assert b"box/bot.lisp" in bot.program.files["bot.fasl"] and b"bjsim-bot-" not in bot.program.files["bot.fasl"]


@needs(".c")
def test_what_was_compiled_without_a_sandbox_is_not_used_in_one(tmp_path, monkeypatch):
    """It may contain files of the host that the compiler read."""
    calls = []
    monkeypatch.setattr(building, "_compile", lambda *arguments: calls.append(arguments[-1]) or b"1 bot\nx")
    path = tmp_path / "x.c"
    path.write_text(f"int main(void) {{ return 0; }} /* {tmp_path} */")
    for box in ("none", "Landlock", "Landlock", "none"):
        build(path, box=box)
    assert calls == ["none", "Landlock"]
