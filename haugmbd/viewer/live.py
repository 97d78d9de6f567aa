r"""A page that is built anew when a file is saved: served on the loopback address only, to nobody else.

/           a frame for the picture, with the report beside it; it asks every second whether there is something new
/picture    the page          /report    the report, or the fault of a wrong file      /version    a number that grows with every build
/freedoms   the sliders       /pose?VERSION&x,y,...    the poses of the bodies with the sliders at x, y, ... , as far as they can be closed

Any other path is not found; a request for another host than this one (as a foreign page would make by rebinding a name) is refused.
"""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.viewer.drag import Drag

LOOPBACK = "127.0.0.1"

FRAME = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>haugmbd view</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width, initial-scale=1"><style>
body { margin: 0; display: flex; height: 100vh; font: 14px/1.4 system-ui, sans-serif; color-scheme: light dark; }
iframe { flex: 3; border: 0; min-width: 0; }
aside { flex: 1; min-width: 300px; max-width: 32rem; padding: 12px; overflow: auto; border-left: 1px solid #8884; }
h2 { font-size: 14px; margin: 0 0 6px; } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font-size: 12.5px; }
label { display: grid; grid-template-columns: minmax(5em, 1fr) 3fr 6.5em; gap: 8px; align-items: center; margin: 2px 0; }
label span { overflow-wrap: anywhere; } output { text-align: right; font-variant-numeric: tabular-nums; } input { min-width: 0; }
#freedoms { margin-bottom: 14px; } #said { color: #b3261e; min-height: 1.4em; }
.wrong { color: #b3261e; border-left: 3px solid; padding-left: 8px; }
@media (prefers-color-scheme: dark) { #said, .wrong { color: #ff8a80; } }
@media (max-width: 800px) { body { flex-direction: column; }
  aside { min-width: 0; max-width: none; border-left: 0; border-top: 1px solid #8884; } }
</style></head><body><iframe id="picture" title="picture"></iframe><aside>
<div id="freedoms" hidden><h2>Freedoms <button id="back">modelled pose</button></h2><div id="sliders"></div><div id="said"></div></div>
<pre id="report"></pre></aside><script>
const $ = (id) => document.getElementById(id);
let shown = null, sliders = [], goes = false;
const units = (x, unit) => (unit === "rad" ? `${(x * 180 / Math.PI).toFixed(1)}\u00b0` : `${x.toPrecision(4)} m`);
async function drag(target) {
  if (goes) return;
  goes = true;
  try {
    for (let last = null; ;) {
      const wanted = sliders.map(({ input }) => Number(input.value));
      const answer = await (await fetch(target || `/pose?${shown}&${wanted.join(",")}`)).json();
      if (answer.version !== shown) break;
      $("picture").contentWindow.player.stand(answer.r, answer.p);
      $("said").textContent = answer.said;
      const now = answer.values.join(), far = answer.values.some((x, k) => Math.abs(x - wanted[k]) > 1e-9 * (1 + Math.abs(x)));
      answer.values.forEach((x, k) => {
        sliders[k].output.textContent = units(x, sliders[k].unit);
        if (target || answer.said) sliders[k].input.value = x;
      });
      if (target || answer.said || !far || now === last) break;
      last = now;
    }
  } catch (error) { $("said").textContent = "The picture cannot be moved now."; }
  goes = false;
}
async function freedoms() {
  const { version, sliders: found } = await (await fetch(`/freedoms?${shown}`)).json();
  if (version !== shown) return;
  sliders = found.map(({ name, low, high, value, unit }) => {
    const [label, span, input, output] = ["label", "span", "input", "output"].map((tag) => document.createElement(tag));
    span.textContent = name;
    Object.assign(input, { type: "range", min: low, max: high, step: "any", value });
    output.textContent = units(value, unit);
    input.addEventListener("input", () => drag());
    label.append(span, input, output);
    return { label, input, output, unit };
  });
  $("sliders").replaceChildren(...sliders.map(({ label }) => label));
  $("said").textContent = "";
  $("freedoms").hidden = !sliders.length;
}
$("back").addEventListener("click", () => drag(`/pose?${shown}&`));
async function look() {
  try {
    const version = await (await fetch("/version")).text();
    if (version !== shown) {
      const { report, wrong, picture } = await (await fetch("/report")).json(), before = $("picture").src;
      shown = version;
      if (!before.endsWith(`?${picture}`)) $("picture").src = `/picture?${picture}`;
      $("report").textContent = report;
      $("report").className = wrong ? "wrong" : "";
      await freedoms();
    }
  } catch (error) { $("report").textContent = "haugmbd view has ended."; $("freedoms").hidden = true; }
  setTimeout(look, 1000);
}
look();
</script></body></html>"""


class Built(NamedTuple):
    """What a file gives: the page, None for a wrong file; the report, or its fault; and what makes its sliders, None for none."""

    page: str | None
    report: str
    drag: Callable[[], Drag] | None = None


class LivePage:
    """The served page, built by `build()` whenever `stamp()` has another value than before.

    Where the build has no page, the last good one stays, without its sliders, and the fault stands beside it.
    """

    def __init__(self, build: Callable[[], Built], stamp: Callable[[], object]) -> None:
        self._build, self._stamp = build, stamp
        self._lock, self._built = threading.Lock(), object()
        self.version, self.page, self.report = 0, "", ""
        self._picture, self._wrong = 0, False
        self._make: Callable[[], Drag] | None = None
        self._drag: Drag | None = None

    def refresh(self) -> None:
        """Build again if the stamp has changed."""
        with self._lock:
            stamp = self._stamp()
            if stamp != self._built:
                page, self.report, self._make = self._build()
                self._drag, self._wrong = None, page is None
                self.version += 1
                if page is not None:
                    self.page, self._picture = page, self.version
                elif self.page:
                    self.report += "\n\nThe picture is that of the last file without a fault."
                else:
                    self.page = f"<!DOCTYPE html><title>haugmbd view</title><pre>{html.escape(self.report)}</pre>"
                self._built = stamp

    def answer(self, path: str) -> tuple[str, str] | None:
        """Return the media type and the text of a path; None if there is nothing."""
        path, _, query = path.partition("?")
        if path == "/":
            return "text/html", FRAME
        if path in ("/freedoms", "/pose"):
            return "application/json", json.dumps({"version": str(self.version), **self._moved(path, query)})
        if path not in ("/picture", "/report", "/version"):
            return None
        self.refresh()
        told = {"report": self.report, "wrong": self._wrong, "picture": str(self._picture)}
        texts = {"/picture": ("text/html", self.page), "/report": ("application/json", json.dumps(told))}
        return texts.get(path, ("text/plain", str(self.version)))

    def _moved(self, path: str, query: str) -> dict[str, Any]:
        """Return the sliders, or the pose at their values:  version & x, y, ...  ; without values, the modelled pose."""
        with self._lock:
            drag = self._sliders()
            if path == "/freedoms":
                found = [] if drag is None else zip(drag.sliders, drag.values.tolist(), strict=True)
                keys = ("name", "low", "high", "unit")
                return {"sliders": [{key: getattr(s, key) for key in keys} | {"value": x} for s, x in found]}
            if drag is None:
                return {"said": "It has no freedom that can be dragged.", "values": [], "r": [], "p": []}
            version, _, text = query.partition("&")
            said = ""
            if not text:
                drag.reset()
            elif version == str(self.version):
                try:
                    said = drag.to([float(word) for word in text.split(",")])
                except (UsageError, ValueError) as error:
                    said = str(error)
            state = drag.state
            return {"said": said, "values": drag.values.tolist(), "r": state.r.tolist(), "p": state.p.tolist()}

    def _sliders(self) -> Drag | None:
        """Return the freedoms of the picture; None where they cannot be found."""
        if self._drag is None and self._make is not None:
            make, self._make = self._make, None
            try:
                self._drag = make()
            except HaugmbdError:
                self._drag = None
        return self._drag


def server_of(live: LivePage, port: int) -> ThreadingHTTPServer:
    """Return a server of the page at a port of the loopback address, 0 for a free one. Raise OSError if the port is taken."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here = server.server_port
            if self.headers.get("Host") not in (f"{LOOPBACK}:{here}", f"localhost:{here}"):
                self.send_error(403, "another host")
                return
            found = live.answer(self.path)
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
