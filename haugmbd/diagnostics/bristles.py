r"""Bristles of LuGre friction beyond their range: a step that is too long for them.

sigma0 |z| <= mu_s        is never left by z' = s - sigma0 |s| z / g(s), g <= mu_s, from z = 0 on
"""

from __future__ import annotations

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.forces.friction_laws import BENT, LuGre, relaxation_text
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.friction import columns as at
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH


def bristle_notes(model: Model, t: Array, y: Array) -> list[RunNote]:
    """Return a note for each LuGre friction whose bristles bend beyond their range at states y (nt, ny) at t (nt,)."""
    notes, frictions = [], [entry.load for entry in model.loads if isinstance(entry.load, JointFriction)]
    for load, row in zip(frictions, model.tables["FRICTION_INTS"] if frictions else (), strict=True):
        if not isinstance(load.law, LuGre) or not len(t):
            continue
        first = WIDTH * (model.nb + 1) + int(row[at.STATE_Z])
        with np.errstate(all="ignore"):
            mu = load.law.sigma0 * np.linalg.norm(y[:, first : first + int(row[at.CHANNELS])], axis=1)
        k = int(np.nanargmax(mu)) if np.isfinite(mu).any() else 0
        if mu[k] > BENT * load.law.mu_s:
            text = (
                f"the bristles of friction {load.name!r} in joint {load.joint.name!r} bend to sigma0 |z| = {mu[k]:.3g} at "
                f"t = {t[k]:.6g} s, and the law keeps them within mu_s = {load.law.mu_s:g}: the steps are too long for them. They "
                f"{relaxation_text(load.law)}"
            )
            notes.append(RunNote(f"bristles of {load.name}", text, float(mu[k]), doubtful=True))
    return notes
