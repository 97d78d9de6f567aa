"""Packages of extras that tests need: without one a test is skipped, in CI it fails, so that no door is left untried there."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

WANTED = "HAUGMBD_NO_SKIPS"
"""Set in CI, whose environment has the extras that `make` installs."""


def need(module: str) -> Any:
    """Return a module. Skip the test where it is not installed, and fail where no test may be skipped."""
    try:
        return importlib.import_module(module)
    except ImportError:
        if os.environ.get(WANTED):
            pytest.fail(f"{module} is not installed, and {WANTED} is set: the Makefile's EVERYTHING has to name its extra")
        pytest.skip(f"{module} is not installed")
