r"""A page that is built anew when a file is saved: served on the loopback address only, to nobody else.

/           a frame for the picture, with the report beside it; it asks every second whether there is something new
/picture    the page          /report    the report, as text          /version    a number that grows with every build

Any other path is not found; a request for another host than this one (as a foreign page would make by rebinding a name) is refused.
"""

from __future__ import annotations

import html
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOOPBACK = "127.0.0.1"

FRAME = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>haugmbd view</title><link rel="icon" href="data:,">
<style>
body { margin: 0; display: flex; height: 100vh; font: 14px system-ui, sans-serif; color-scheme: light dark; }
iframe { flex: 3; border: 0; min-width: 0; }
pre { flex: 1; min-width: 300px; margin: 0; padding: 12px; overflow: auto; white-space: pre-wrap; }
@media (max-width: 800px) { body { flex-direction: column; } pre { min-width: 0; } }
</style></head><body><iframe id="picture" title="picture"></iframe><pre id="report"></pre><script>
let shown = null;
async function look() {
  try {
    const version = await (await fetch("/version")).text();
    if (version !== shown) {
      shown = version;
      document.getElementById("picture").src = "/picture?" + version;
      document.getElementById("report").textContent = await (await fetch("/report")).text();
    }
  } catch (error) { document.getElementById("report").textContent = "haugmbd view has ended."; }
  setTimeout(look, 1000);
}
look();
</script></body></html>"""


class LivePage:
    """The served page, built by `build() -> (page, report)` whenever `stamp()` has another value than before.

    Where the build has no page, the last good one stays, and the report stands beside it.
    """

    def __init__(self, build: Callable[[], tuple[str | None, str]], stamp: Callable[[], object]) -> None:
        self._build, self._stamp = build, stamp
        self._lock, self._built = threading.Lock(), object()
        self.version, self.page, self.report = 0, "", ""

    def refresh(self) -> None:
        """Build again if the stamp has changed."""
        with self._lock:
            stamp = self._stamp()
            if stamp != self._built:
                page, self.report = self._build()
                if page is not None:
                    self.page = page
                elif self.page:
                    self.report += "\n\nThe picture is that of the last file without a fault."
                else:
                    self.page = f"<!DOCTYPE html><title>haugmbd view</title><pre>{html.escape(self.report)}</pre>"
                self._built = stamp
                self.version += 1

    def answer(self, path: str) -> tuple[str, str] | None:
        """Return the media type and the text of a path; None if there is nothing."""
        if path == "/":
            return "text/html", FRAME
        if path not in ("/picture", "/report", "/version"):
            return None
        self.refresh()
        texts = {"/picture": ("text/html", self.page), "/report": ("text/plain", self.report)}
        return texts.get(path, ("text/plain", str(self.version)))


def server_of(live: LivePage, port: int) -> ThreadingHTTPServer:
    """Return a server of the page at a port of the loopback address, 0 for a free one. Raise OSError if the port is taken."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here = server.server_port
            if self.headers.get("Host") not in (f"{LOOPBACK}:{here}", f"localhost:{here}"):
                self.send_error(403, "another host")
                return
            found = live.answer(self.path.split("?")[0])
            if found is None:
                self.send_error(404)
                return
            kind, text = found
            data = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  the name of the base class
            """Keep quiet."""

    server = ThreadingHTTPServer((LOOPBACK, port), Handler)
    return server
