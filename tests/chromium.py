"""A real browser for tests: headless Chromium, controlled through its debugging pipe."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
from itertools import count

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


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
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self._events):
            self._read()

    def run(self, script: str) -> object:
        """The value of a script's last expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key."""
        code = {"Enter": 13, "Tab": 9, " ": 32, "ArrowDown": 40, "ArrowUp": 38, "Backspace": 8}.get(key)
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        code = ord(key.upper()) if code is None else code
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self) -> bytes:
        """A screenshot of the window as PNG."""
        from base64 import b64decode

        return b64decode(self.call("Page.captureScreenshot", format="png")["data"])
