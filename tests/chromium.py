"""A real browser for tests: headless Chromium, controlled through its debugging pipe."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from itertools import count
from pathlib import Path

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

AXE = Path(os.environ.get("BJSIM_AXE", Path(__file__).parents[1] / "build/axe/package/axe.min.js"))
KEYS = {"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, " ": 32,
        "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}  # fmt: skip


class Chromium:
    """One page of a browser, without a network unless online. problems: errors from its console and scripts."""

    def __init__(self, online: bool = False) -> None:
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # what it forked may still write there
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()

        def pipes() -> None:  # the browser reads from 3 and writes to 4
            os.dup2(to_browser, 100)
            os.dup2(from_browser, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(
            [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",  # type: ignore[list-item]
             "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pipes, close_fds=False,
            start_new_session=True,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._numbers = count(1)
        self._rest = b""
        self._events: list[dict] = []
        self.problems: list[str] = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        if not online:
            self.call(
                "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0
            )

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._in)
        os.close(self._out)
        self.folder.cleanup()

    def call(self, method: str, **params: object) -> dict:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self) -> dict:
        while b"\0" not in self._rest:
            part = os.read(self._in, 1 << 16)
            assert part, "the browser has gone"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        event = json.loads(message)
        if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded") or (
            event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning")
        ):
            self.problems.append(json.dumps(event["params"]))
        self._events.append(event)
        return event

    def open(self, url: str, width: int = 1000, height: int = 900, script: bool = True, dark: bool = False) -> None:
        """Open a page and wait until it has loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._events.clear()
        loader = self.call("Page.navigate", url=url)["loaderId"]
        began, name = False, ""  # the page before may end its loading only now, and this one may go on to another
        for number in count():
            while number == len(self._events):
                self._read()
            params = self._events[number].get("params", {})
            began, name = began or params.get("loaderId") == loader, params.get("name")
            if began and name == "load":
                break

    def run(self, script: str) -> object:
        """The value of a script's last expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, script: str, seconds: float = 120) -> None:
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

    def press(self, key: str) -> None:
        """Press and release a key."""
        code = KEYS.get(key) or ord(key.upper())
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def findings(self) -> list[object]:
        """What axe-core finds."""
        keep = "window.found = all.map(one => one.id + one.nodes[0].html);"
        self.run(AXE.read_text(encoding="utf-8") + "; window.found = null; true")
        self.run(f"axe.run().then(({{violations: all}}) => {{ {keep} }}); true")
        self.until("window.found")
        return self.run("window.found")  # type: ignore[return-value]

    def screenshot(self) -> bytes:
        """A screenshot of the window as PNG."""
        from base64 import b64decode

        return b64decode(self.call("Page.captureScreenshot", format="png")["data"])
