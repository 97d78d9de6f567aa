"""Random trains of gears, belts, racks, screws, differentials and cams on trees of joints, and the same in joint coordinates.

Bodies have any pose, joints any axis and direction, wheels may be body i or body j, axes of gears and belts are parallel or antiparallel,
and some joints have a q0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd import Body, Model, State, System
from haugmbd.math.euler_parameters import exponential, from_rotation_matrix
from joints import CJ, RJ, TJ, UJ, Belt, Cam, CoordinateFunction, Coupling, Gear, RackPinion, Screw
from joints.gear import axis_point, wheel_axis
from tests.support.joint_space import JointSpace, Law, Motion

ANGLE, DISPLACEMENT = "angle", "displacement"
INDEPENDENT = 0.05
"""Least singular value of the gradients of couplings, of which each has length 1."""


class Way(NamedTuple):
    """A coordinate: its number in joint coordinates; what couplings take; its kind; the carrier, and its axis if it is a wheel's."""

    number: int
    coordinate: Any
    kind: str
    q0: float
    carrier: Body
    axis: np.ndarray | None


class RandomTrain:
    """A random system, the same in joint coordinates, and their coordinates.  kinds: of joints;  most: number of bodies."""

    def __init__(self, seed: int, kinds: tuple[Any, ...] = (RJ, RJ, RJ, TJ, CJ, UJ), most: int = 9) -> None:
        self.rng = rng = np.random.default_rng(seed)
        gravity = 3.0 * rng.normal(size=3)
        self.system, self.space = System(f"train {seed}", gravity=gravity), JointSpace(gravity)
        self.ways: list[Way] = []
        self.main = self.unit()
        self.gradients = np.zeros((0, 0))
        bodies = [self.system.ground]
        for k in range(int(rng.integers(2, most + 1))):
            parent = bodies[int(rng.integers(max(0, k - 3), k + 1))] if rng.random() < 0.8 else bodies[0]
            bodies.append(self.add_body(k, parent, kinds[int(rng.integers(len(kinds)))]))
        n = len(self.space.motions)
        self.gradients = np.zeros((0, n))
        couple = (self.gear, self.teeth, self.belt, self.rack, self.screw, self.sum, self.driven, self.function)
        for k in range(int(rng.integers(1, max(2, n)))):
            couple[int(rng.integers(len(couple)))](f"coupling {k}")

    def unit(self) -> np.ndarray:
        """Return a random direction."""
        a = self.rng.normal(size=3)
        return a / np.linalg.norm(a)

    def add_body(self, k: int, parent: Body, kind: Any) -> Body:
        """Add a body on a joint of this kind, in either order of its bodies."""
        rng = self.rng
        place = (np.zeros(3) if parent.is_ground else parent.r) + rng.normal(size=3)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        J_bar = turn @ np.diag(rng.uniform(0.1, 0.15, size=3)) @ turn.T
        p = exponential(2.0 * rng.normal(size=3))
        body = self.system.add(Body(f"body {k}", rng.uniform(0.5, 2.0), (J_bar + J_bar.T) / 2.0, r=place, p=p / np.linalg.norm(p)))
        i, j, sign = (parent, body, 1.0) if rng.random() < 0.5 else (body, parent, -1.0)
        point, name = place + 0.4 * rng.normal(size=3), f"joint {k}"
        axis = rng.choice([-1.0, 1.0]) * self.main if rng.random() < 0.5 else self.unit()
        q0 = 5.0 * rng.normal() if kind in (RJ, TJ) and rng.random() < 0.3 else 0.0
        if kind is UJ:
            other = np.cross(axis, self.unit())
            other /= np.linalg.norm(other)
            joint = self.system.add(UJ(name, i, j, point=point, axis_i=axis, axis_j=other))
            motions = [Motion(axis, point, False, sign), Motion(other, point, False, sign)][:: int(sign)]
            numbers = self.space.add(body, parent, motions, 0.0)[:: int(sign)]
            self.ways += [Way(x, joint.coordinate(ANGLE, m + 1), ANGLE, 0.0, parent, None) for m, x in enumerate(numbers)]
            return body
        at = {"point": point, "axis": rng.uniform(0.5, 2.0) * axis}
        joint = self.system.add(kind(name, i, j, **at) if kind is CJ else kind(name, i, j, **at, q0=q0))
        kinds = {RJ: (ANGLE,), TJ: (DISPLACEMENT,), CJ: (DISPLACEMENT, ANGLE)}[kind]
        numbers = self.space.add(body, parent, [Motion(axis, point, what is DISPLACEMENT, sign) for what in kinds], q0)
        self.ways += [
            Way(x, joint.coordinate(what), what, q0, parent, axis if what is ANGLE else None)
            for x, what in zip(numbers, kinds, strict=True)
        ]
        return body

    def admit(self, name: str, parts: dict[int, float], f: Any = None, ends: tuple[int, int] | None = None) -> bool:
        """Add a law, constant by default, unless it nearly depends on those before, or takes the last freedom;  parts: its gradient."""
        c = np.zeros(len(self.space.motions))
        for number, part in parts.items():
            c[number] = part
        together = np.vstack([self.gradients, c / np.linalg.norm(c)])
        if len(together) >= len(c) or np.linalg.svd(together, compute_uv=False)[-1] < INDEPENDENT:
            return False
        self.gradients = together
        start = c @ self.space.q0
        f = f or (lambda x: start, lambda x: 0.0, lambda x: 0.0)
        self.space.laws.append(Law(name, f, None if ends else c, ends))
        return True

    def two(self, kinds: tuple[str, str]) -> tuple[Way, Way] | None:
        """Return two coordinates of these kinds."""
        first, second = ([way for way in self.ways if way.kind == kind] for kind in kinds)
        pairs = [(a, b) for a in first for b in second if a is not b]
        return pairs[int(self.rng.integers(len(pairs)))] if pairs else None

    def gear(self, name: str) -> None:
        """A ratio between two angles."""
        ratio, found = float(self.rng.choice([-1, 1]) * self.rng.uniform(0.3, 3.0)), self.two((ANGLE, ANGLE))
        if found and self.admit(name, {found[0].number: -ratio, found[1].number: 1.0}):
            self.system.add(Gear(name, found[0].coordinate, found[1].coordinate, ratio=ratio))

    def wheels(self) -> tuple[Way, Way] | None:
        """Return two wheels of one carrier with parallel or antiparallel axes."""
        wheels = [way for way in self.ways if way.axis is not None and abs(way.axis @ self.main) > 1.0 - 1e-12]
        pairs = [(a, b) for a in wheels for b in wheels if a is not b and a.carrier is b.carrier]
        return pairs[int(self.rng.integers(len(pairs)))] if pairs else None

    def sense(self, way: Way) -> float:
        """Return how a wheel turns about the main direction, against its carrier, if its coordinate grows: 1 or -1."""
        motion = self.space.motions[way.number]
        return float(np.sign(motion.sign * (motion.a @ self.main)))

    def teeth(self, name: str) -> None:
        """External wheels turn against each other, a wheel in a ring as the ring does: z_a w_a = -z_b w_b, or z_b w_b."""
        z, internal, found = self.rng.integers(10, 40, size=2).tolist(), bool(self.rng.random() < 0.5), self.wheels()
        if found is None:
            return
        a, b = found
        if self.admit(name, {a.number: (-1.0 if internal else 1.0) * z[0] / z[1] * self.sense(a) * self.sense(b), b.number: 1.0}):
            self.system.add(Gear(name, a.coordinate, b.coordinate, teeth=tuple(z), internal=internal))

    def belt(self, name: str) -> None:
        """Pulleys turn the same way, or against each other if the belt is crossed: r_a w_a = r_b w_b."""
        radii, crossed, found = self.rng.uniform(0.1, 0.4, size=2).tolist(), bool(self.rng.random() < 0.5), self.wheels()
        if found is None:
            return
        a, b = found
        between = axis_point(b.coordinate) - axis_point(a.coordinate)
        apart = float(np.linalg.norm(np.cross(between, wheel_axis(a.coordinate, b.coordinate))))
        if apart < 1e-3:  # [m] on one axis no belt goes round both
            return
        radii = [r * min(1.0, 0.9 * apart / sum(radii)) for r in radii]
        if self.admit(name, {a.number: (1.0 if crossed else -1.0) * radii[0] * self.sense(a) * self.sense(b), b.number: radii[1]}):
            self.system.add(Belt(name, a.coordinate, b.coordinate, radii=tuple(radii), crossed=crossed))

    def rack(self, name: str) -> None:
        """A pinion and a rack anywhere."""
        radius, found = float(self.rng.normal()), self.two((ANGLE, DISPLACEMENT))
        if found and self.admit(name, {found[0].number: -radius, found[1].number: 1.0}):
            self.system.add(RackPinion(name, found[0].coordinate, found[1].coordinate, radius=radius))

    def screw(self, name: str) -> None:
        """A cylindrical joint with a pitch."""
        pitch, pool = float(self.rng.normal()), [way for way in self.ways if isinstance(way.coordinate.joint, CJ)]
        if not pool:
            return
        joint = pool[int(self.rng.integers(len(pool)))].coordinate.joint
        x, angle = (way.number for way in self.ways if way.coordinate.joint is joint)
        if self.admit(name, {x: 1.0, angle: -pitch / (2.0 * np.pi)}):
            self.system.add(Screw(name, joint, pitch=pitch))

    def sum(self, name: str, f: Any = None) -> None:
        """A linear combination of one to four coordinates."""
        chosen = self.rng.choice(len(self.ways), min(len(self.ways), int(self.rng.integers(1, 5))), replace=False)
        parts = [(self.ways[k], float(self.rng.choice([-1, 1]) * self.rng.uniform(0.3, 2.0))) for k in chosen.tolist()]
        start = sum(c * way.q0 for way, c in parts)
        law = f(start) if f else None
        if self.admit(name, {way.number: c for way, c in parts}, law):
            self.system.add(Coupling(name, {way.coordinate: c for way, c in parts}, f=law[0] if law else start))

    def driven(self, name: str) -> None:
        """The same, as a function of time."""

        def law(start: float) -> Any:
            return (
                lambda t: start + 0.5 * np.sin(3.0 * t),
                lambda t: 1.5 * np.cos(3.0 * t),
                lambda t: -4.5 * np.sin(3.0 * t),
            )

        self.sum(name, law)

    def function(self, name: str) -> None:
        """A periodic function of any coordinate; a cam where this is an angle."""
        a, b = (self.ways[k] for k in self.rng.choice(len(self.ways), 2, replace=False)) if len(self.ways) > 1 else (None, None)
        if a is None:
            return
        size, n = float(self.rng.uniform(0.05, 0.4)), int(self.rng.integers(1, 4))
        start = b.q0 - size * np.sin(n * a.q0 + 0.3)
        f = (
            lambda q: start + size * np.sin(n * q + 0.3),
            lambda q: size * n * np.cos(n * q + 0.3),
            lambda q: -size * n * n * np.sin(n * q + 0.3),
        )
        if self.admit(name, {a.number: -f[1](a.q0), b.number: 1.0}, f, (a.number, b.number)):
            cls = Cam if a.kind == ANGLE else CoordinateFunction
            self.system.add(cls(name, a.coordinate, b.coordinate, f[0] if self.rng.random() < 0.5 else f))

    def state(self, model: Model, q: np.ndarray, rates: np.ndarray, t: float) -> State:
        """Return the state of the model with these joint coordinates, all turns of its angles included."""
        state = model.state()
        r, p, v, omega_bar, angles = (np.array(x) for x in (state.r, state.p, state.v, state.omega_bar, state.angles))
        for body, (R, center, J) in zip(self.space.bodies, self.space.poses(q), strict=True):
            k, A, u = model.body(body.name), R @ body.A, J @ rates
            r[k], p[k], v[k], omega_bar[k] = center, from_rotation_matrix(A), u[:3], A.T @ u[3:]
        number = {way.coordinate.key: way.number for way in self.ways}
        for coordinate, k in model.angles:
            angles[k] = q[number[coordinate.key]]
        return state.replace(t=t, r=r, p=p, v=v, omega_bar=omega_bar, angles=angles)
