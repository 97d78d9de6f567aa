"""Reads the reference files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def table() -> Callable[[str], np.ndarray]:
    """Make `table(name)`: a CSV file as a structured array."""
    return lambda name: np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True, dtype=None, encoding="ascii", deletechars="")


@pytest.fixture(scope="session")
def parameters() -> Callable[[str], dict[str, Any]]:
    """Make `parameters(name)`: a JSON file."""
    return lambda name: json.loads((DATA / f"{name}.json").read_text())
