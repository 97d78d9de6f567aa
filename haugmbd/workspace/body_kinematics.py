r"""Kinematics of the bodies at a state, as rows and forces read it: rotation matrices, markers, drivers.

    A = ((e0^2 - e.e) I + 2 (e e^T + e0 e~)) / |p|^2                    the division keeps A a rotation between normalisations
    X[marker] = ( A x,  w x A x,  w x (w x A x) )                    w = A omega_bar
    p_dot = G^T omega_bar / 2

Source: Haug (2021), spatial kinematics: Euler parameters.
"""

from __future__ import annotations

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.array_views import borrow, borrow_line
from haugmbd.compiled.function_pointers import Routine
from haugmbd.compiled.jit import inlined, kernel, routine
from haugmbd.constraints.base import Motion
from haugmbd.drivers.tables import evaluate_with_room
from haugmbd.math.body_columns import OMEGA_BAR
from haugmbd.math.euler_kernels import put_rotation
from haugmbd.math.vec3 import cross, load, store, to_global
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import DRIVE_SIGNATURE, WIDTH, Pack


@kernel
def update_kinematics(P: Pack, t: float, y: Array) -> Motion:
    """Return the run's A, X and F with the state `y`, as kernels read them, without computing them."""
    n = ws.n_bodies(P)
    return Motion(
        t,
        borrow(y, 0, n, WIDTH),
        ws.rotation_matrices(P),
        borrow_line(y, WIDTH * n, y.size - WIDTH * n),
        ws.marker_body(P),
        ws.markers(P),
        ws.driver_values(P),
    )


@inlined
def move(P: Pack, t: float, y: Array) -> Motion:
    """Compute A, X and F for the state `y` at time `t`."""
    m, omega = update_kinematics(P, t, y), ws.angular_velocities(P)
    for k in range(1, m.bodies.shape[0]):
        put_rotation(m.A, k, m.bodies[k, 3], m.bodies[k, 4], m.bodies[k, 5], m.bodies[k, 6])
        put_angular_velocity(m.bodies, m.A, omega, k)
    put_markers(m.body_of, ws.marker_coordinates(P), omega, m.A, m.X)
    if ws.n_drivers(P) > 0:
        P.drive(t, P, m.F)
    return m


@routine
def drive(t: float, P: Pack, F: Array) -> int:
    """Evaluate tapes and splines. It is a routine of its own, so that a model with constant drivers never compiles it."""
    evaluate_with_room(t, ws.driver_table(P), ws.driver_operations(P), ws.driver_numbers(P), ws.tape_room(P), F)
    return 0


DRIVE = Routine(drive, DRIVE_SIGNATURE)
NO_DRIVE = Routine(None, DRIVE_SIGNATURE)


@inlined
def put_angular_velocities(bodies: Array, A: Array, omega: Array) -> None:
    """Write omega = A omega_bar of every body but the ground."""
    for k in range(1, bodies.shape[0]):
        put_angular_velocity(bodies, A, omega, k)


@inlined
def put_angular_velocity(bodies: Array, A: Array, omega: Array, k: int) -> None:
    """Write omega = A omega_bar of body k."""
    store(omega, k, 0, to_global(A, k, load(bodies, k, OMEGA_BAR)))


@inlined
def put_markers(body_of: Ints, x_bar: Array, omega: Array, A: Array, X: Array) -> None:
    """Write value, rate and centripetal part of every marker."""
    for k in range(body_of.shape[0]):
        b = body_of[k]
        x, w = to_global(A, b, load(x_bar, k, 0)), load(omega, b, 0)
        rate = cross(w, x)
        store(X, k, 0, x)
        store(X, k, 3, rate)
        store(X, k, 6, cross(w, rate))
