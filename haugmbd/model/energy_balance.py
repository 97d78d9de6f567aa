r"""The energy balance, element by element, recomputed from stored states.

d(T + V)/dt = applied - dissipated                summed over all force elements, gravity in V, and joints that do no work
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from haugmbd.forces.base import EnergyLedger
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH


def load_ledger(model: Model, t: npt.ArrayLike, y: npt.ArrayLike) -> dict[str, EnergyLedger]:
    """Return, by element name, (potential [J], dissipated power [W], applied power [W]), each (nt,), at states y (nt, ny).

    Functions of the user are called at every state; their exceptions are raised with a note that names the element.
    """
    times, states = np.asarray(t, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = model.nb + 1
    bodies = np.swapaxes(states[:, : WIDTH * n].reshape(len(times), n, WIDTH), 0, 1)
    angles = states[:, WIDTH * n :]
    return {
        entry.load.name: entry.load.ledger(times, bodies[list(entry.bodies)], entry.own_angles(angles)) for entry in model.loads
    }
