r"""The characteristic length of a model: what every absolute tolerance is measured with, so that a mechanism of nanometres or of
thousands of kilometres moves like one of a metre.

    L = max(spread of the bodies, arms of the joints, 1e-4 of the distance from the origin)                                [m]
        where that is 0, as of one body on bars to its centre: the spread of body and ends of the bars, and the radius of gyration of all
        where that is 0, too: the distance from the origin;  1 if there is none
    Phi in m is divided by L,  in m2 by L^2,  an angle or a dot product by 1          (velocities of rows likewise, per second)
    r and v are measured by L,  p and omega_bar by 1

The distance from the origin counts because coordinates are rounded to 1e-16 of it, and no tolerance is met below that.
L is that of the pose of the compilation.  A tolerance that the user gives means metres and radians, and is not measured by it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.math.body_columns import OMEGA_BAR, VELOCITY
from haugmbd.model.immutable import once_per_model
from haugmbd.model.inspection.constraint_rows import Rows
from haugmbd.model.labels import units_of_labels
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

POWERS = {"m": 1, "m2": 2}
"""The power of a length in the unit of Phi; 0 for all others."""
FAR = 1e-4
"""Of the distance from the origin: a tolerance of 1e-10 L is then a hundred times the rounding of coordinates."""
SLOW = 1e-4
"""Of the fastest velocity of a model, by which its slow ones are measured: rows carry the rounding of the fast ones to them, and a
tolerance of 1e-10 is a hundred times that."""
ONE_PLACE = 1e-12
"""Of the distance from the origin and the radius of gyration: a spread below it is the rounding of a sum."""


def put_length(model: Model, rows: Rows) -> None:
    """Write the length at the pose of `rows`, and the weights of the kept rows, to a new model, before it is used."""
    reals, (length, kept, weight) = model.tables.reals, (model.tables.place(name)[0] for name in ("LENGTH", "KEPT", "ROW_WEIGHT"))
    reals[length] = characteristic_length(model, rows)
    reals[weight + model.slot_of_row] = reals[kept + model.slot_of_row] / units_of_rows(model)


def characteristic_length(model: Model, rows: Rows) -> float:
    """Return L [m] at the pose of `rows`; several checks of a system measure by it, and it is kept with the rows."""
    known = vars(rows).get("_characteristic_length")
    if known is None or known[0] is not model:
        known = vars(rows)["_characteristic_length"] = model, _length_at(model, rows)
    return float(known[1])


def _length_at(model: Model, rows: Rows) -> float:
    """Return L [m] at the pose of `rows`."""
    modelled, r = model.state().r[1:], rows.state.r[1:]
    spread = float(np.linalg.norm(np.ptp(modelled, axis=0))) if len(modelled) else 0.0
    size, distance = max(spread, float(rows.arms.max(initial=0.0))), float(np.abs(r).max(initial=0.0))
    if not size > ONE_PLACE * max(distance, radius_of_gyration(model)):
        size = max(_reach(model), radius_of_gyration(model))
    return max(size, FAR * distance) if size > ONE_PLACE * distance else distance or 1.0


def unit_of_turns(model: Model, rows: Rows) -> float:
    """Return the length [m] that makes displacements and rotations comparable: the root mean square of the arms of the rows.

    It is the radius of gyration of all bodies where no row has an arm; 1 where that is 0, too.
    """
    mean = float(np.sqrt(np.mean(np.square(rows.arms)))) if len(rows.arms) else 0.0
    return mean or radius_of_gyration(model) or 1.0


def _reach(model: Model) -> float:
    """Return the spread of the bodies and of the points of joints on the ground [m], at the modelled pose."""
    ends = [
        s_bar for joint in model.joints.values() for body, s_bar in ((joint.i, joint.s_bar_i), (joint.j, joint.s_bar_j)) if not body
    ]
    places = np.array([*model.state().r[1:], *ends]).reshape(-1, 3)
    return float(np.linalg.norm(np.ptp(places, axis=0))) if len(places) else 0.0


def radius_of_gyration(model: Model) -> float:
    """Return sqrt(sum tr J_bar / (2 sum m)) of all bodies together [m]; 0 without mass. NaN, of a J_bar with a fault, is left out.

    That of a single one is no length of the model where it has inertia and hardly any mass, as the rotor of a motor has.
    """
    inertia = model.tables["INERTIA"]
    mass, turning = float(inertia[:, 0].sum()), float(np.nansum(inertia[:, [1, 5, 9]]))
    return float(np.sqrt(turning / (2.0 * mass))) if mass > 0.0 else 0.0


def radii_of_gyration(model: Model) -> Array:
    """Return sqrt(tr J_bar / (2 m)) of each body (nb + 1,) [m]; 0 of points, of bodies without mass, and of the ground."""
    inertia = model.tables["INERTIA"]
    mass, turning = inertia[:, 0], inertia[:, [1, 5, 9]].sum(axis=1)
    found: Array = np.sqrt(turning / (2.0 * np.where(mass > 0.0, mass, np.inf)))
    return found


@once_per_model
def unit_names(model: Model) -> tuple[list[str], npt.NDArray[np.int8]]:
    """Return the units of Phi that occur, and the number of that of each row among them, (nc,)."""
    return units_of_labels(model.labels)


def units_of_rows(model: Model) -> Array:
    """Return the unit of Phi of each row, (nc,) [m, m2 or 1]."""
    units, number = unit_names(model)
    return np.array([model.length ** POWERS.get(unit, 0) for unit in units], dtype=np.float64)[number]


def rate_of(model: Model) -> float:
    """Return the rate [1/s] by which small velocities of a model are measured: 1 /s, or a third of sqrt(g / L) where that is larger.

    A mechanism that falls by its length in microseconds has velocities of 1e6 /s; those of a millionth of that are rounding.
    """
    g = float(np.linalg.norm(model.tables["GRAVITY"][0]))
    return max(1.0, float(np.sqrt(g / model.length)) / 3.0) if model.length > 0.0 else 1.0


def units_of_state(model: Model) -> Array:
    """Return the units of a flat state, (ny,): L for r and v, 1 for p, omega_bar and angles."""
    n, body = WIDTH * (model.nb + 1), np.ones(WIDTH)
    body[:3] = body[VELOCITY:OMEGA_BAR] = model.length
    return np.concatenate([np.tile(body, model.nb + 1), np.ones(len(model.y0) - n)])


def rounding_of_velocities(units: Array, y: Array, n_bodies: int) -> Array:
    """Return SLOW of the fastest velocity in the units of each (ny,), and 0 for what is no velocity, at a flat state (ny,).

    units: those of the state;  n_bodies: the ground counted
    """
    is_velocity = np.zeros(len(y), dtype=bool)
    is_velocity[: WIDTH * n_bodies].reshape(n_bodies, WIDTH)[:, 7:] = True
    fastest = np.abs(y[is_velocity] / units[is_velocity]).max(initial=0.0)
    return np.where(is_velocity, SLOW * fastest * units, 0.0)
