r"""Chromium without a window, driven through a pipe by the DevTools protocol: no port is opened, and no other package is needed.

Messages are JSON, each ended by a zero byte; the browser reads from descriptor 3 and writes to descriptor 4.
Source: Chrome DevTools Protocol, --remote-debugging-pipe.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from haugmbd.errors import HaugmbdError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--remote-debugging-pipe",
)  # fmt: skip
STARTER = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(pipe), fcntl.F_DUPFD, 10) for pipe in sys.argv[1:3]]
for pipe, wanted in zip(pipes, (3, 4)):
    os.dup2(pipe, wanted)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""A program that becomes the browser with its pipes where it looks for them; they are lifted first, so that none is covered."""

PATIENCE = 60.0
"""[s] An answer that takes longer does not come."""


class BrowserError(HaugmbdError, RuntimeError):
    """The browser does not answer, or a script in its page failed."""

    page: ClassVar[str] = "docs/errors.md#browsererror"


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome, None if there is none; the variable HAUGMBD_CHROMIUM comes first."""
    named = os.environ.get("HAUGMBD_CHROMIUM")
    return named if named else next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A browser with one page; a context manager that ends the browser and removes its profile."""

    def __init__(
        self, executable: str, *, size: tuple[int, int] = (1280, 720), scale: float = 1.0, flags: tuple[str, ...] = ()
    ) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="haugmbd-chromium-", ignore_cleanup_errors=True)
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        command = [executable, *FLAGS, *flags, f"--user-data-dir={self._profile.name}", "about:blank"]
        starter = [sys.executable, "-I", "-S", "-c", STARTER, str(to_read), str(to_write), *command]
        null = subprocess.DEVNULL
        self._process = subprocess.Popen(starter, pass_fds=(to_read, to_write), stdin=null, stdout=null, stderr=null)
        os.close(to_read)
        os.close(to_write)
        self._buffer, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        with _ended_on_failure(self):
            targets = self.send("Target.getTargets")["targetInfos"]
            page = next(target["targetId"] for target in targets if target["type"] == "page")
            self._session = self.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.send(f"{domain}.enable")
            self.resize(*size, scale)

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result; BrowserError if it fails."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error'].get('message')}")
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _receive(self, deadline: float) -> dict[str, Any]:
        """Return the next message."""
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            data = os.read(self._from, 1 << 16) if ready else b""
            if not data:
                raise BrowserError("Chromium has ended." if ready else f"Chromium has not answered for {PATIENCE:g} s.")
            self._buffer += data
        text, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(text)
        return message

    def wait_for(self, event: str) -> dict[str, Any]:
        """Return the next event of this name, or one that has come already."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for k, message in enumerate(self.events):
                if message.get("method") == event:
                    return self.events.pop(k)
            self.events.append(self._receive(deadline))

    def open(self, url: str) -> None:
        """Load a page and wait until window.mechanism is ready."""
        if "loaderId" not in self.send("Page.navigate", url=url):  # only the part after # is another: the page is still there
            self.send("Page.reload")
        self.wait_for("Page.loadEventFired")
        look = "const look = () => window.mechanism && window.mechanism.ready ? done(true) : setTimeout(look, 20); look();"
        self.evaluate(f"new Promise((done) => {{ {look} }})")

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page, of a promise when it is kept. Raise BrowserError if it throws."""
        reply = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in reply:
            details = reply["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details["text"])
        return reply["result"].get("value")

    def resize(self, width: int, height: int, scale: float = 1.0, *, mobile: bool = False) -> None:
        """Give the page another size [CSS pixels]."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def screenshot(self) -> bytes:
        """Return the page as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def click(self, x: float, y: float) -> None:
        """Press and release the left button at a place of the page [CSS pixels]."""
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, key: str, code: str = "") -> None:
        """Press and release a key, such as " " or "ArrowRight"."""
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, text=text if kind == "keyDown" else "")

    def close(self) -> None:
        """End the browser."""
        for pipe in (self._to, self._from):
            with contextlib.suppress(OSError):
                os.close(pipe)
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._profile.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@contextlib.contextmanager
def _ended_on_failure(browser: Chromium) -> Iterator[None]:
    """Leave no browser behind that could not be reached."""
    try:
        yield
    except BaseException:
        browser.close()
        raise
