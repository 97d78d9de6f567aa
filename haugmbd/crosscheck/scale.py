r"""Relative differences: the largest magnitude of a difference over the largest of its kind.

wrenches (F, N)      N is measured against  max |N|, L |F|            L: how large the chain is
twists (v, omega)    omega against  max |omega|, |v| / L;   v against  max |v|, L |omega|
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.crosscheck.maximal import MaximalChain


def largest(*arrays: Any) -> float:
    """Return the largest magnitude; 0 for nothing."""
    return float(np.max([np.max(np.abs(a), initial=0.0) for a in arrays]))


def relative(difference: Any, scale: float) -> float:
    """Return the largest magnitude over `scale`; the magnitude itself if the scale is 0."""
    size = largest(difference)
    return size / scale if scale > 0.0 else size


def length_of(maximal: MaximalChain) -> float:
    """Return the length of the chain [m]: its extent, or a radius of gyration."""
    points = np.vstack([maximal.motion.P, maximal.motion.r])
    gyration = np.sqrt(np.trace(maximal.model.J_bar[1:], axis1=1, axis2=2) / maximal.model.mass[1:])
    return largest(np.ptp(points, axis=0), gyration)


def per(length: float) -> float:
    """Return 1 / length [1/m]; 0 for a chain of points, where nothing turns."""
    return 1.0 / length if length > 0.0 else 0.0


def relative_wrench(a: Array, b: Array, force: float, length: float) -> tuple[float, float]:
    """Return the relative difference of wrenches (n, 6), and the scale of the forces: `force` or larger."""
    force = max(force, largest(a[:, :3], b[:, :3]))
    moment = max(force * length, largest(a[:, 3:], b[:, 3:]))
    return max(relative(a[:, :3] - b[:, :3], force), relative(a[:, 3:] - b[:, 3:], moment)), force


def relative_twist(a: Array, b: Array, known: Array, length: float) -> tuple[float, float]:
    """Return the relative difference of velocities or accelerations (n, 6), and the scale of the linear part.

    known: (k, 6) other magnitudes of the kind, which enter the scale
    """
    angular = largest(a[:, 3:], b[:, 3:], known[:, 3:])
    linear = max(largest(a[:, :3], b[:, :3], known[:, :3]), length * angular)
    angular = max(angular, linear * per(length))
    return max(relative(a[:, :3] - b[:, :3], linear), relative(a[:, 3:] - b[:, 3:], angular)), linear
