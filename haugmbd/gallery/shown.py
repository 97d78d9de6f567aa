"""How each mechanism is shown where it has a name only, on its page and by `haugmbd demo NAME`: for how long, and what drives it."""

from __future__ import annotations

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np

from haugmbd.gallery.robots import digging
from haugmbd.system.system import System

SHOWN = {
    "pendulum": 6.0,
    "double_pendulum": 8.0,
    "heavy_top": 1.0,
    "four_bar": 8.0,
    "slider_crank": 5.0,
    "chain": 3.0,
    "andrews": 0.03,
    "governor": 10.0,
    "dzhanibekov": 18.0,
    "gyroscope": 6.0,
    "planar_slider_crank": 2.0,
    "windows": 6.0,
    "bennett": 6.0,
    "bricard": 6.0,
    "bricard_cube": 10.0,
    "peaucellier": 0.48,
    "jansen_leg": 4.0,
    "scissor_lift": 0.45,
    "hoberman_ring": 0.6,
    "universal_shaft": 2.0,
    "indexing_cam": 6.0,
    "planetary_gear": 5.0,
    "differential": 4.0,
    "piston_engine": 0.15,
    "double_wishbone": 2.0,
    "stewart_platform": 2.0,
    "delta_robot": 0.28,
    "excavator": 6.0,
    "rolling_disc": 6.0,
    "bouncing_toy": 2.0,
    "trebuchet": 1.6,
    "net": 2.0,
    "rattleback": 6.0,
    "tippe_top": 4.0,
    "woodpecker": 0.8,
    "incline_block": 2.0,
    "stack": 1.0,
    "tumbling_box": 1.5,
    "gripper": 0.4,
    "jumping_follower": 0.42,
    "rimless_wheel": 3.0,
    "dominoes": 0.7,
    "ratchet": 1.9,
    "geneva_drive": 2.0,
}
"""Time by name [s]: a few turns, or the part of the motion that is worth seeing."""
STEPPED = {"dominoes": 1e-3, "ratchet": 1e-3, "geneva_drive": 1e-3}
"""Step of `MoreauJean` [s], by name, of those that are shown by it: their contacts come and go all the time."""


def _turning(t: Any) -> Any:
    """Return the angle of a crank that starts from rest, and soon turns once in 1.5 s [rad]."""
    return -2.0 * pi / 1.5 * (t - 0.2 * (1.0 - np.exp(-t / 0.2)))


DRIVEN: dict[str, dict[str, Any]] = {
    "jansen_leg": {"drive": _turning},
    "excavator": {"strokes": {name: digging(name) for name in ("boom", "stick", "bucket")}},
    "incline_block": {"share": 1.05},
}
"""Arguments of the builders of mechanisms that only fall if nothing drives them, or would stay where they are."""


def shown_system(build: Callable[..., System]) -> System:
    """Return a mechanism as it is shown: what would only fall is driven, and what would stay is let go."""
    return build(**DRIVEN.get(build.__name__, {}))
