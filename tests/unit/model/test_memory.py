"""A model that is too large for the memory is refused before its arrays are made."""

from __future__ import annotations

import pytest

import haugmbd as mbd
from haugmbd.gallery import slider_crank
from haugmbd.model import memory

LARGEST_RATIO = 4.0
"""Of the estimate to the arrays of a model and one run: the estimate counts what is held for a moment, too."""


def test_a_model_too_large_is_refused_with_the_estimate(monkeypatch):
    monkeypatch.setattr(memory, "ALWAYS_THERE", 0.0)
    monkeypatch.setattr(memory, "available_memory", lambda: 1000.0)
    with pytest.raises(mbd.UsageError, match=r"3 bodies and \d+ rows needs about [\d.e-]+ GB, and 1e-06 GB are free"):
        slider_crank().compile()


def test_the_estimate_covers_the_arrays(monkeypatch):
    found = []

    def kept(*arguments):
        found.append(estimated(*arguments))
        return found[-1]

    estimated = memory.estimated_bytes
    monkeypatch.setattr(memory, "estimated_bytes", kept)
    model = slider_crank().compile()
    held = sum(array.nbytes for array in model.pack()[:3])
    assert held < found[-1] < LARGEST_RATIO * held


def test_a_system_that_does_not_tell_its_memory_refuses_nothing(monkeypatch):
    def fails(_):
        raise OSError

    monkeypatch.setattr(memory.Path, "exists", lambda _: False)
    monkeypatch.setattr(memory.os, "sysconf", fails, raising=False)
    assert memory.available_memory() == float("inf")
