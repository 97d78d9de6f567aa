"""Two bodies with a joint, random states of them, and the generalized forces of the loads alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from haugmbd import Body, Model, System
from haugmbd.model.evaluate import rows_entry
from haugmbd.workspace.layout import workspace_array
from joints import RJ


class Rig(NamedTuple):
    """A system of two bodies (rows 1 and 2), hinged to each other at (0.4, 0.1, 0.3) about (1, 2, 2)."""

    system: System
    a: Body
    b: Body
    hinge: RJ


@pytest.fixture
def rig() -> Rig:
    system = System("rig")
    a = system.add(Body("a", 2.0, (0.4, 0.5, 0.6), r=(0.2, -0.1, 0.3), p=np.array([4.0, 1.0, -2.0, 2.0]) / 5.0))
    b = system.add(Body("b", 3.0, (0.7, 0.8, 0.9), r=(0.9, 0.5, -0.2), p=np.array([1.0, 1.0, 1.0, -1.0]) / 2.0))
    return Rig(system, a, b, system.add(RJ("hinge", a, b, point=(0.4, 0.1, 0.3), axis=(1.0, 2.0, 2.0))))


@pytest.fixture
def random_state(rng: np.random.Generator) -> Callable[[Model], np.ndarray]:
    def state(model: Model) -> np.ndarray:
        y = rng.normal(size=model.y0.size)
        bodies = y[: 13 * (model.nb + 1)].reshape(-1, 13)
        bodies[0] = model.y0[:13]
        bodies[:, 3:7] /= np.linalg.norm(bodies[:, 3:7], axis=1)[:, None]
        return y

    return state


@pytest.fixture
def forces() -> Callable[[Model, float, np.ndarray], np.ndarray]:
    def load_forces(model: Model, t: float, y: np.ndarray) -> np.ndarray:
        """Q (nb + 1, 6) of the loads: without gravity, which the rig has not, and gyroscopic torques, which are taken off."""
        pack = model.pack()
        code = rows_entry(pack, t, y)
        model.raise_user_error(pack)
        assert code == 0
        Q = workspace_array(pack, "Q").copy()
        omega_bar = y[: 13 * (model.nb + 1)].reshape(-1, 13)[:, 10:13]
        Q[:, 3:] += np.cross(omega_bar, np.einsum("kij,kj->ki", model.J_bar, omega_bar))
        return Q

    return load_forces
