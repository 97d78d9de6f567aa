"""The energy balance, element by element, recomputed from stored states; and friction in joints, as the accelerations find it.

    d(T + V)/dt = applied - dissipated                summed over all force elements, gravity in V, and joints that do no work

The power of friction depends on the multipliers: the states are accelerated for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import OK
from haugmbd.control.output_values import with_outputs
from haugmbd.forces.base import EnergyLedger, ForceElement
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.friction import columns as at
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack


def load_ledger(model: Model, t: npt.ArrayLike, y: npt.ArrayLike) -> dict[str, EnergyLedger]:
    """Return, by element name, (potential [J], dissipated power [W], applied power [W]), each (nt,), at states y (nt, ny).

    Functions of the user are called at every state; their exceptions are raised with a note that names the element.
    """
    times, states = np.asarray(t, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = model.nb + 1
    bodies = np.swapaxes(states[:, : WIDTH * n].reshape(len(times), n, WIDTH), 0, 1)
    friction = friction_over_time(model, times, states)
    return {
        entry.load.name: entry.load.dissipation(friction[entry.load.name].power)
        if isinstance(entry.load, JointFriction)
        else with_known_outputs(model, entry, times, states).ledger(
            times, bodies[list(entry.bodies)], own_states(model, entry, states)
        )
        for entry in model.loads
    }


def with_known_outputs(model: Model, entry: LoadEntry, t: Array, y: Array) -> ForceElement:
    """Return a force element with the values that outputs of blocks have at states y (nt, ny), in place of the outputs."""
    network = model.network
    return entry.load if network is None else with_outputs(entry.load, lambda output: network.output_over_time(t, y, output))


def own_states(model: Model, entry: LoadEntry, y: Array) -> Array:
    """Return the integrated angles of a load, or its internal states (nt, n), at states y (nt, ny); zeros (nt,) if it has neither."""
    n = len(entry.load.states())
    if n:
        first = y.shape[1] - model.n_states + entry.state
        return y[:, first : first + n]
    return entry.own_angles(y[:, WIDTH * (model.nb + 1) :])


class FrictionValues(NamedTuple):
    """Friction of one joint over time.

    force: (nt, channels) along the rates [N, N m];  rate: (nt, channels) [m/s, rad/s];  normal: (nt,) [N]
    limit: (nt,) largest friction at rest [N; N m in a bearing that only turns]
    """

    force: Array
    rate: Array
    normal: Array
    limit: Array

    @property
    def power(self) -> Array:
        """Return the power that the friction gives to the bodies (nt,) [W]."""
        power: Array = np.sum(self.force * self.rate, axis=1)
        return power


@entry
def friction_entry(P: Pack, t: Array, y: Array, out: Array) -> tuple[int, int]:
    """Write the terms of all joints with friction at states y (n, ny) to out (n, nf columns); return the code and the number done."""
    terms = ws.friction_terms(P)
    for n in range(t.shape[0]):
        code = accelerate(P, t[n], y[n])
        if code != OK:
            return code, n
        for k in range(terms.shape[0]):
            for a in range(terms.shape[1]):
                out[n, terms.shape[1] * k + a] = terms[k, a]
    return OK, t.shape[0]


def friction_over_time(model: Model, t: npt.ArrayLike, y: npt.ArrayLike) -> dict[str, FrictionValues]:
    """Return friction at states y (nt, ny), by name of the element.  Raise the errors of the accelerations."""
    loads = [entry.load for entry in model.loads if isinstance(entry.load, JointFriction)]
    if not loads:
        return {}
    times, states = np.asarray(t, dtype=np.float64), np.asarray(y, dtype=np.float64)
    pack = model.pack()
    out = np.zeros((len(times), len(loads) * at.TERM_COLUMNS))
    code, done = friction_entry(pack, for_kernels(times), for_kernels(states), out)
    if code != OK:
        model.raise_user_error(pack)
        raise explain(model, pack, code, float(times[done]))
    by_name = {}
    for load, terms in zip(loads, np.moveaxis(out.reshape(len(times), len(loads), -1), 1, 0), strict=True):
        n = load.channels
        arm = terms[:, at.ARM] if load.is_torque else 1.0
        force, rate = (terms[:, first : first + n].copy() for first in (at.FRICTION, at.RATE))
        by_name[load.name] = FrictionValues(force, rate, terms[:, at.NORMAL] + terms[:, at.PRESSED], terms[:, at.LIMIT] * arm)
    return by_name
