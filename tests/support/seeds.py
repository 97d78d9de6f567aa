"""Seeds of random tests: some in every run, and as many times more as the environment variable HAUGMBD_SEEDS says."""

from __future__ import annotations

import os

MORE = int(os.environ.get("HAUGMBD_SEEDS", "1"))
"""A run finds what has changed; ten times the seeds find what has never been tried, and take hours."""


def seeds(count: int, first: int = 0) -> range:
    """Return seeds, or numbers of blocks of seeds; count: how many of them run by default."""
    return range(first, first + count * MORE)
