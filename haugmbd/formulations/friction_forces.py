"""Friction in joints at given states, as the accelerations find it: forces and rates, normal forces and limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import OK
from haugmbd.forces.friction.joint_friction import JointFriction
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.model.friction import columns as at
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import Pack


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
    found = {}
    for load, own in zip(loads, np.moveaxis(out.reshape(len(times), len(loads), -1), 1, 0), strict=True):
        n = load.channels
        arm = own[:, at.ARM] if load.is_torque else 1.0
        force, rate = (own[:, first : first + n].copy() for first in (at.FRICTION, at.RATE))
        found[load.name] = FrictionValues(force, rate, own[:, at.NORMAL] + load.preload, own[:, at.LIMIT] * arm)
    return found
