"""Structure-preserving methods, and the mechanisms that they are tried on."""

from __future__ import annotations

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, heavy_top, slider_crank
from tests.support.loops import stout_four_bar

CASES = {
    "double pendulum": (double_pendulum, 1.0, 200),
    "heavy top": (heavy_top, 0.1, 200),
    "closed loop": (stout_four_bar, 0.5, 60),
    "slider-crank": (slider_crank, 0.22, 160),
}

METHODS = {
    "RATTLE": (2, mbd.RATTLE, {}),
    "free": (4, mbd.HEM4, {"stabilization": None}),
    "projected": (4, mbd.HEM4, {"stabilization": mbd.Projection(tol=1e-16)}),
}
