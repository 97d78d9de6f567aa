"""Mutated files of every format: a system or a UsageError, never another exception. By hand: python -m tests.support.mutations 5000."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support import mutations
from tests.support.needed import need
from tests.support.seeds import seeds

FILES = {
    "json": 80,
    "toml": 80,
    "urdf": 25,
    "sidecar": 10,
    "simengine3d": 40,
    "asmt": 40,
    "sdf": 25,
    "fcstd": 25,
    "usd": 16,
    "mjcf": 16,
}
"""Mutated files of each kind here."""
NEEDS = {"mjcf": "mujoco", "usd": "pxr"}
"""Packages by which a kind is read."""


@pytest.mark.slow
@pytest.mark.parametrize("name", mutations.KINDS)
def test_mutated_files_are_read_or_refused(name, tmp_path):
    if name in NEEDS:
        need(NEEDS[name])
    kind, counts = mutations.KINDS[name], Counter()
    for k, text in mutations.files(kind, len(seeds(FILES[name]))):
        path = tmp_path / f"mutated{kind.ending}"
        path.write_text(text, errors="replace")
        counts[mutations.answered(kind, path, k)] += 1
    assert counts["refused"] > 0
    assert counts["read"] > 0
