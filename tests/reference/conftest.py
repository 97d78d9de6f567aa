"""Reads the reference files, and records what is compared with published values, for the table in the documentation."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

DATA = Path(__file__).parent / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that compare with published values: `make docs` runs these."""
    for item in items:
        if "published" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.published)


@pytest.fixture
def published(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Make `published(problem, quantity, found, expected, tolerance)`: assert that they agree, and record by how much."""

    def compare(problem: str, quantity: str, found: object, expected: object, tolerance: float) -> None:
        x, right = np.broadcast_arrays(np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64))
        difference = float(np.abs(x - right).max())
        record = {"problem": problem, "quantity": quantity, "values": right.size, "difference": difference, "tolerance": tolerance}
        request.node.user_properties.append(("published", json.dumps(record)))
        assert difference <= tolerance, f"{problem}, {quantity}: off by {difference:.2e}, and {tolerance:.0e} is allowed"

    return compare


@pytest.fixture(scope="session")
def table() -> Callable[[str], np.ndarray]:
    """Make `table(name)`: a CSV file as a structured array."""
    return lambda name: np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True, dtype=None, encoding="ascii", deletechars="")


@pytest.fixture(scope="session")
def parameters() -> Callable[[str], dict[str, Any]]:
    """Make `parameters(name)`: a JSON file."""
    return lambda name: json.loads((DATA / f"{name}.json").read_text())
