r"""The command `haugmbd view`: a picture of a mechanism in a browser, built again when its file is saved, with the mobility report.

Exit codes: 0 ended by Ctrl-C, 2 there is nothing to view, or the port is taken.
"""

from __future__ import annotations

import argparse
import html
import sys
import webbrowser
from pathlib import Path
from typing import Any

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.cli.model_argument import NothingToCheck, read_model, reading_of
from haugmbd.errors import HaugmbdError
from haugmbd.gallery import GALLERY
from haugmbd.viewer import picture
from haugmbd.viewer.live import LivePage, server_of


def run_view(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    given = arguments.model
    if not Path(given).is_file() and given not in {make.__name__ for make in GALLERY}:
        print(f"haugmbd: {given!r} is neither a file nor a mechanism of the gallery.", file=sys.stderr)
        return 2
    try:
        server = server_of(live_page(given, **reading_of(arguments)), arguments.port)
    except (OSError, OverflowError) as error:
        print(f"haugmbd: cannot serve at port {arguments.port}: {error}", file=sys.stderr)
        return 2
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    print(f"{address}  (Ctrl-C ends it)", flush=True)
    if not arguments.no_browser:
        webbrowser.open(address)
    with server:
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            print()
    return 0


def live_page(given: str, **how: Any) -> LivePage:
    """Return the page of a file, or of a name of the gallery;  how: keywords of `read_model`."""
    path = Path(given)
    return LivePage(lambda: built(given, **how), lambda: (path.stat().st_mtime_ns, path.stat().st_size) if path.is_file() else None)


def built(given: str, **how: Any) -> tuple[str, str]:
    """Return the page and the report; errors of the file are in both."""
    try:
        system = read_model(given, **how)
        page = picture(system).html
        return page, str(mobility(system))
    except (NothingToCheck, HaugmbdError) as error:
        return f"<!DOCTYPE html><title>haugmbd view</title><pre>{html.escape(str(error))}</pre>", str(error)
