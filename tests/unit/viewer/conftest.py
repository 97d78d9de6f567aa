"""A real Chromium without a window, one for all tests; where there is none, its tests are skipped, but not in CI."""

from __future__ import annotations

import os

import pytest

from haugmbd.viewer.chromium import Chromium, find_chromium

WANTED = "HAUGMBD_NO_SKIPS"
"""Set in CI: a test that finds no browser fails there."""


@pytest.fixture(scope="session")
def chromium():
    executable = find_chromium()
    if executable is None:
        if os.environ.get(WANTED):
            pytest.fail(f"no Chromium is installed, and {WANTED} is set: apt-get install chromium")
        pytest.skip("no Chromium is installed: apt-get install chromium, or set HAUGMBD_CHROMIUM to its path")
    with Chromium(executable) as browser:
        offline = {"latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        browser.send("Network.emulateNetworkConditions", offline=True, **offline)
        yield browser
