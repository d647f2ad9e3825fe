"""The box of Landlock: what it refuses, and that each attack succeeds once what refuses it is removed.

The bot's user owns the files and the program that are attacked here, as where an ordinary user runs bjsim.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from bot_helpers import PROBE, change_inside, needs, needs_landlock

from bjsim.bots.sandbox import inside
from bjsim.bots.sandbox.inside import landlock
from bjsim.bots.sandbox.restrictions import LANDLOCK, SANDBOX_USER

pytestmark = [needs(".py"), needs_landlock]

# What is removed: (module, old text, new text)
REMOVED = {
    "rules": ("main.py", '    if settings["rules"]:', "    if False:"),
    "signals": ("landlock.py", "SCOPES = 1 | 2", "SCOPES = 1"),
    "owners": ("seccomp.py", "def supported()", "OWNERS.clear()\n\n\ndef supported()"),
}
# attack: (code, what refuses it)
ATTACKS = {
    "reading a file": ("open(FILE).read()", "rules"),
    "listing a folder": ("os.listdir(FOLDER)", "rules"),
    "running a program": ("subprocess.run([PROGRAM], check=True)", "rules"),
    "reading the host's users": ("open('/etc/passwd').read()", "rules"),
    "the command line of bjsim": ("open(f'/proc/{HOST}/cmdline').read()", "rules"),
    "the counters of its parent": ("open(f'/proc/{os.getppid()}/stat').read()", "rules"),
    "making a file": ("open(FOLDER + '/new', 'w')", "rules"),
    "making a file in /tmp": ("os.unlink(tempfile.mkstemp(dir='/tmp')[1])", "rules"),
    "writing to a file": ("open(FILE, 'r+')", "rules"),
    "cutting a file": ("os.truncate(FILE, 0)", "rules"),
    "removing a file": ("os.unlink(FILE)", "rules"),
    "renaming a file": ("os.rename(FILE, FILE + '2')", "rules"),
    "linking a file": ("os.link(FILE, FOLDER + '/link')", "rules"),
    "making a folder": ("os.mkdir(FOLDER + '/inner')", "rules"),
    "shared memory files": ("os.unlink(tempfile.mkstemp(dir='/dev/shm')[1])", "rules"),
    "shared memory of a device": ("mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096)", "rules"),
    "the mode of a file": ("os.chmod(FILE, 0o666)", "owners"),
    "the mode of an open file": ("os.fchmod(os.open(__file__, os.O_RDONLY), 0o555)", "owners"),
    "signalling a program": ("os.kill(VICTIM, 18)", "signals"),
}


@pytest.fixture
def attacked():
    """Names for the attacks."""
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as folder:
        file, program = Path(folder, "file"), Path(folder, "program")
        file.write_text("secret")
        program.write_text("#!/bin/sh\n")
        for path, mode in ((folder, 0o755), (file, 0o600), (program, 0o700)):
            os.chmod(path, mode)
            if root:
                os.chown(path, SANDBOX_USER, SANDBOX_USER)
        with subprocess.Popen(["sleep", "60"], user=SANDBOX_USER if root else None) as victim:
            names = {"FOLDER": folder, "FILE": str(file), "PROGRAM": str(program), "VICTIM": victim.pid}
            yield names | {"HOST": os.getpid()}
            victim.kill()


@pytest.mark.parametrize("removed", [False, True], ids=["refused", "control"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_succeeds_only_if_what_refuses_it_is_removed(bot, tmp_path, monkeypatch, attacked, attack, removed):
    code, by = ATTACKS[attack]
    if attack == "the mode of an open file" and os.geteuid() == 0:
        pytest.skip("the bot does not own its file where root runs bjsim")
    if removed:
        file, old, new = REMOVED[by]
        assert inside.source(file).count(old.encode()) == 1
        change_inside(tmp_path, monkeypatch, lambda name, text: text.replace(old, new) if name == file else text)
    setup = "import subprocess, tempfile\n" + "".join(f"{name} = {value!r}\n" for name, value in attacked.items())
    player = bot(
        "probe.py", PROBE.replace("exec(sys.argv[1])", f"exec({setup!r} + sys.argv[1])"), box=LANDLOCK, timeout=20
    )
    reply = player.run([code])
    assert reply.cause == "exit" and reply.stdout.startswith(b"H" if removed else b"S"), reply


@pytest.mark.parametrize(("known", "used"), [(-1, 0), (1, 0), (2, 0), (3, 3), (7, 7)])
def test_a_version_that_knows_too_little_is_none(monkeypatch, known, used):
    class Kernel:
        def syscall(self, *_):
            return known

    monkeypatch.setattr(landlock, "libc", Kernel())
    assert landlock.version() == used
