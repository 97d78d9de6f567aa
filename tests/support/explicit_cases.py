"""Explicit methods, and the orders that are seen on each mechanism."""

from __future__ import annotations

from collections.abc import Iterator

from haugmbd.integrators.explicit.embedded import EmbeddedRungeKutta
from haugmbd.integrators.explicit.runge_kutta import Explicit

SEEN = {
    "double pendulum": {
        1: (1.0, (320, 640)),
        2: (1.0, (320, 640)),
        3: (1.0, (160, 320)),
        4: (1.0, (320, 640)),
        5: (2.0, (640, 1000)),
        8: (0.42, (8, 14)),
    },
    "heavy top": {
        1: (0.1, (1280, 2560)),
        2: (0.1, (160, 320)),
        3: (0.1, (2560, 5120)),
        4: (0.1, (160, 320)),
        5: (0.1, (160, 320)),
        8: (0.1, (32, 40)),
    },
    "four-bar": {
        1: (0.5, (160, 320)),
        2: (0.5, (160, 320)),
        3: (0.5, (160, 320)),
        4: (0.5, (80, 160)),
        5: (0.5, (30, 40)),
        8: (0.75, (28, 36)),
    },
    "slider-crank": {
        1: (0.2, (80, 160)),
        2: (0.2, (160, 320)),
        3: (0.2, (160, 320)),
        4: (0.22, (160, 320)),
        5: (0.35, (480, 800)),
        8: (0.2, (11, 18)),
    },
}
"""By order: interval [s] and numbers of steps.  At 0.5 s the slider-crank has passed its fastest pose, and the leading error has almost
gone by again: methods of order four seem to have five, until a thousand steps; at 0.2 s each has its own."""


def found(base: type) -> Iterator[type]:
    """All methods of the package below `base`: its classes that no other of its classes is made from."""
    ours = [kind for kind in base.__subclasses__() if kind.__module__.startswith("haugmbd.")]
    for kind in ours:
        below = list(found(kind))
        yield from below or [kind]


METHODS = {kind.__name__: kind for base in (Explicit, EmbeddedRungeKutta) for kind in found(base)}
