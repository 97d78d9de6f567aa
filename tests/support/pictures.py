"""Pictures that are written but not looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

COARSE = 25
"""Dots per inch: what is drawn is the same, and most of the time goes into points, and into places of labels that nobody looks at."""


@contextmanager
def coarse_pictures() -> Iterator[None]:
    """Save figures of matplotlib with few points, and without a layout of their Axes."""
    figure_class = pytest.importorskip("matplotlib.figure").Figure
    savefig = figure_class.savefig

    def coarse(figure, where, **how):
        figure.set_layout_engine("none")
        savefig(figure, where, **how | {"dpi": COARSE})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure_class, "savefig", coarse)
        yield
