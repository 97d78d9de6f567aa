r"""Energy and momentum of stored states.

    T = sum m v.v / 2 + omega_bar . J_bar omega_bar / 2          V = sum -m g.r  +  potentials of the force elements
    applied work    = int ( powers of forces and actuators - lam . nu ) dt         a driven row does the power -lam nu
    dissipated work = int ( powers of dampers, and of friction at rigid contacts ) dt + energy lost in their impacts
    total           = T + V - applied work + dissipated work     constant on an exact solution
    P = sum m v          L = sum r x m v + A J_bar omega_bar     about the origin of the ground

The work is integrated along the steps of the method, whatever a result stores of them, see `work`. Kinetic and potential energy need no
integral.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import NamesMeant, public_class
from haugmbd.diagnostics.work import Work, load_ledger
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Energy(NamesMeant):
    """Energies and work over time.

    Attributes
    ----------
    t : ndarray, (nt,)
        Times [s].
    kinetic : ndarray, (nt,)
        Kinetic energy [J].
    potential : ndarray, (nt,)
        Potential energy of gravity (zero at the origin of the ground) and springs [J].
    applied_work : ndarray, (nt,)
        Work of forces, actuators and driven rows since the first state [J].
    dissipated_work : ndarray, (nt,)
        Work of dampers since the first state [J], positive if energy is lost. In event-driven runs with friction, or shapes, at rigid
        contacts with what their friction and impacts take.
    work_error : ndarray, (nt,), or None
        Measured error of the work [J], where it was integrated between stored states alone; None where it was along the steps of the run.

    Notes
    -----
    Work is integrated along the steps of the run, with an error of order six in them. Of a run that stores only some of them (`t_eval`,
    `store_every`, `resample`) these steps are made again, once, when the work is asked for: functions of the user are called again.
    Where the run is not known, or does not come out again, the work is integrated between the stored states alone, and `work_error` is
    its measured error.
    """

    t: Array
    kinetic: Array
    potential: Array
    applied_work: Array
    dissipated_work: Array
    work_error: Array | None = None

    @property
    def total(self) -> Array:
        """Return kinetic + potential - applied_work + dissipated_work: constant on an exact solution."""
        return self.kinetic + self.potential - self.applied_work + self.dissipated_work

    @property
    def drift(self) -> Array:
        """Return the total less the total at the first state; impacts without friction are not counted: it falls by the energy lost there.

        Those of event-driven runs with friction, or shapes, at rigid contacts are in the dissipated work.
        """
        return self.total - self.total[:1]

    def __repr__(self) -> str:
        largest = float(np.abs(self.drift).max(initial=0.0))
        return (
            f"Energy: kinetic, potential, applied_work, dissipated_work, total, drift (up to {largest:.2g} J), {len(self.t)} states"
        )


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Momentum(NamesMeant):
    """Linear and angular momentum over time, global.

    Attributes
    ----------
    t : ndarray, (nt,)
        Times [s].
    linear : ndarray, (nt, 3)
        Linear momentum [kg m/s].
    angular : ndarray, (nt, 3)
        Angular momentum about the origin of the ground [kg m2/s].
    """

    t: Array
    linear: Array
    angular: Array

    def __repr__(self) -> str:
        return f"Momentum: linear, angular, {len(self.t)} states"


def energy_over_time(model: Model, t: Array, y: Array, work: Callable[[], Work]) -> Energy:
    """Return the energies of states y (nt, ny) with their work."""
    kinetic, potential = kinetic_and_potential(model, t, y)
    done = work()
    return Energy(t, kinetic, potential, done.all_applied, done.all_dissipated, done.error)


def kinetic_and_potential(model: Model, t: Array, y: Array) -> tuple[Array, Array]:
    """Return kinetic and potential energy of states y (nt, ny), (nt,) each [J]."""
    bodies = _bodies(model, y)
    if model.masses_in_time:
        mass, J_bar = model.inertia_over_time(np.asarray(t), y)
        u = bodies[..., VELOCITY:]
        kinetic = 0.5 * np.einsum("tk,tka,tka->t", mass, u[..., :3], u[..., :3])
        kinetic = kinetic + 0.5 * np.einsum("tka,tkab,tkb->t", u[..., 3:], J_bar, u[..., 3:])
        potential = -np.einsum("tk,tka,a->t", mass, bodies[..., 0:3], model.gravity)
    else:
        kinetic = kinetic_energy(model, bodies[..., VELOCITY:])
        potential = -np.einsum("k,tka,a->t", model.mass, bodies[..., 0:3], model.tables["GRAVITY"][0])
    for element in load_ledger(model, t, y).values():
        potential = potential + element.potential
    return kinetic, potential


def kinetic_energy(model: Model, u: Array) -> Array:
    """Return the kinetic energy of velocities u = (v, omega_bar), (nt, nb + 1, 6), as (nt,) [J]."""
    v, omega_bar = u[..., :3], u[..., 3:]
    kinetic: Array = 0.5 * np.einsum("k,tka,tka->t", model.mass, v, v)
    kinetic = kinetic + 0.5 * np.einsum("tka,kab,tkb->t", omega_bar, model.J_bar, omega_bar)
    return kinetic


def momentum_over_time(model: Model, t: Array, y: Array) -> Momentum:
    """Return the momenta of states y (nt, ny)."""
    bodies = _bodies(model, y)
    mass, J_bar = model.inertia_over_time(np.asarray(t), y) if model.masses_in_time else (model.mass, model.J_bar)
    of_bodies = "tkbc" if model.masses_in_time else "kbc"
    linear = mass[..., None] * bodies[..., VELOCITY:OMEGA_BAR]
    spin = np.einsum(
        f"tkab,{of_bodies},tkc->tka", rotation_matrix(bodies[..., EULER:VELOCITY]), J_bar, bodies[..., OMEGA_BAR:WIDTH]
    )
    angular = np.sum(cross(bodies[..., 0:3], linear) + spin, axis=1)
    return Momentum(t, linear.sum(axis=1), angular)


def _bodies(model: Model, y: Array) -> Array:
    """Return the bodies (nt, nb + 1, 13) of the flat states."""
    n = model.nb + 1
    return y[:, : WIDTH * n].reshape(len(y), n, WIDTH)
