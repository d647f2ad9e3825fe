"""A real server of `bjsim app`, and a browser that acts as a person does."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from chromium import Chromium

AXE = Path(__file__).parents[2] / "build/axe/package/axe.min.js"


class Served:
    """`bjsim app` in a process of its own."""

    def __init__(self, *args: str, home: Path) -> None:
        command = [sys.executable, "-m", "bjsim", "app", "--no-browser", *args]
        environment = {**os.environ, "XDG_DATA_HOME": str(home)}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True)
        assert self.process.stdout
        self.address: str = re.search(r"http\S+", self.process.stdout.readline())[0]  # type: ignore[index]
        self.base: str = self.address.partition("/?token=")[0]
        self.token: str = self.address.partition("/?token=")[2]
        self.port = int(self.base.rpartition(":")[2])

    def workers(self) -> list[int]:
        """The processes that compute for it."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()]

    def memory(self) -> int:
        """Bytes of the server itself."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def stop(self) -> None:
        """As Ctrl-C does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Person(Chromium):
    """A browser with a network, and what a person does in it."""

    def __init__(self, served: Served) -> None:
        super().__init__(online=True)
        self.served = served
        self.open(served.address)

    def visit(self, path: str, width: int = 1280, dark: bool = False) -> None:
        """Open a page, and wait for its report."""
        self.problems.clear()
        self.open(self.served.base + path, width, 800, dark=dark)
        self.until("!document.getElementById('report') || document.querySelector('#report h1')")

    def until(self, script: str, seconds: float = 40) -> None:
        """Wait until a script has a true value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(f"Boolean(document.body && ({script}))"):
                return
            time.sleep(0.05)
        raise AssertionError(f"{script}; the page says {self.text('body')[:1500]}; {self.problems}")

    def text(self, selector: str) -> str:
        """The text of an element."""
        return str(self.run(f"document.querySelector({selector!r})?.innerText ?? ''"))

    def _middle(self, selector: str) -> list[float]:
        found = self.run(
            f"(() => {{ const one = document.querySelector({selector!r}); one.scrollIntoView({{block: 'center'}}); "
            "const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        assert isinstance(found, list), f"there is no {selector}"
        return found

    def click(self, selector: str) -> None:
        """Click with the mouse."""
        x, y = self._middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, selector: str) -> None:
        """Touch with a finger."""
        x, y = self._middle(selector)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def tab_to(self, selector: str) -> None:
        """Press Tab until an element has the focus."""
        for _ in range(90):
            if self.run(f"document.activeElement.matches({selector!r})"):
                return
            self.press("Tab")
        raise AssertionError(f"Tab does not reach {selector}")

    def write(self, text: str) -> None:
        """Type in place of what a field holds."""
        self.run("document.activeElement.select()")
        self.call("Input.insertText", text=text)

    def findings(self) -> list[object]:
        """What axe-core finds."""
        self.run(AXE.read_text(encoding="utf-8"))
        self.run(
            "axe.run().then(({violations: all}) => { window.found = all.map(one => one.id + one.nodes[0].html); })"
        )
        self.until("window.found")
        return self.run("window.found")  # type: ignore[return-value]
