"""`bjsim doctor` names what is missing, and the command that fixes it."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from bot_helpers import needs_sandbox
from support.command import bjsim

from bjsim.bots.sandbox import restrictions
from bjsim.bots.sandbox.inside import landlock
from bjsim.bots.sandbox.languages import LANGUAGES
from bjsim.cli import doctor

linux = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")


@needs_sandbox
def test_a_machine_that_has_everything():
    done = bjsim("doctor")
    lines = done.out.splitlines()
    assert done.status == 0 and len(lines) == 2 + len(LANGUAGES)
    assert lines[0].startswith("ok        compiled code") and lines[1].startswith("ok        sandbox: bots run in a ")
    checks = json.loads(bjsim("doctor", "--json", "-").out)
    assert checks["ok"] and [check["name"] for check in checks["checks"]] == [
        line[10:].partition(":")[0] for line in lines
    ]


def with_programs(*programs, bots=()):
    """The result of `bjsim doctor` where only these programs are installed."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # for the sandbox's user
        for program in programs:
            Path(folder, program).symlink_to(f"/usr/bin/{program}")
        words = [sys.executable, "-m", "bjsim", "doctor", *bots]
        return subprocess.run(words, env={**os.environ, "PATH": folder}, capture_output=True, text=True)


@linux
def test_nothing_is_installed():
    done = with_programs("apt")
    lines = done.stdout.splitlines()
    assert not done.stderr
    if landlock.version() >= landlock.WHOLE:
        assert lines[1].startswith(
            "ok        sandbox: bots run in a Landlock sandbox: they can read programs and their own"
        )
    else:
        assert lines[1].endswith("; fix: sudo apt install bubblewrap")
    assert "optional  bots in lisp: a bot in lisp needs sbcl; fix: sudo apt install sbcl" in lines


@needs_sandbox
def test_only_the_languages_of_bots_are_needed(tmp_path):
    (tmp_path / "notes.txt").write_text("not a bot\n")
    assert with_programs("bwrap", bots=[tmp_path]).returncode == 0
    (tmp_path / "mine.lisp").write_text("(print 'S)\n")
    done = with_programs("bwrap", bots=[tmp_path])
    assert done.returncode == 1
    assert (
        "missing   bots in lisp: a bot in lisp needs sbcl; fix: on Debian and Ubuntu: sudo apt install sbcl"
        in done.stdout
    )
    assert "optional  bots in java" in done.stdout


@linux
def test_the_run_command_of_a_folder(tmp_path):
    for name, run in {"ready": "sh play.sh", "lost": "no-such-program play"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "bot.toml").write_text(f'run = "{run}"\n')
    lines = bjsim("doctor", tmp_path).out.splitlines()
    assert lines[-2:] == [
        "missing   run command: lost runs no-such-program, which is not installed in /usr/local/bin, /usr/bin, /bin",
        "ok        run command: ready runs sh",
    ]
    assert bjsim("doctor", tmp_path / "lost").status == 1


@linux
@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("kernel/apparmor_restrict_unprivileged_userns", 1, "kernel.apparmor_restrict_unprivileged_userns=0"),
        ("kernel/unprivileged_userns_clone", 0, "kernel.unprivileged_userns_clone=1"),
        ("user/max_user_namespaces", 0, "user.max_user_namespaces=15000"),
    ],
)
def test_settings_of_linux_that_forbid_the_sandbox(tmp_path, monkeypatch, name, value, fix):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    setting = tmp_path / "proc/sys" / name
    setting.parent.mkdir(parents=True)
    setting.write_text(f"{1 - value}\n")
    assert restrictions.find_sandbox_fix(tmp_path) == ""
    setting.write_text(f"{value}\n")
    assert restrictions.find_sandbox_fix(tmp_path) == f"sudo sysctl -w {fix}"


@linux
def test_a_sandbox_that_is_forbidden(monkeypatch):
    refused = "bubblewrap does not work here: bwrap: setting up uid map: Permission denied"
    held = restrictions.Held("none", False, "bots cannot be isolated", refused)
    monkeypatch.setattr(restrictions, "find_box", lambda: held)
    fix = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    monkeypatch.setattr(restrictions, "find_sandbox_fix", lambda: fix)
    done = bjsim("doctor")
    assert done.status == 1 and f"missing   sandbox: bots cannot be isolated; {refused}; fix: {fix}\n" in done.out


def test_no_folder_for_compiled_code(monkeypatch):
    monkeypatch.setattr("bjsim.sim.engine.jit.is_cache_temporary", lambda: True)
    check = doctor.check_cache()
    assert not check.ok and "NUMBA_CACHE_DIR" in check.fix


def test_a_file_that_does_not_exist():
    done = bjsim("doctor", "gone.c")
    assert (done.status, done.err) == (2, "bjsim: no such file: gone.c\n")
