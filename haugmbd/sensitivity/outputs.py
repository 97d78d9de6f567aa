r"""Derivatives of outputs at states with tangents.

    dz/dp = z_y dY + z_t dt + z_p
    W = int P dt        dW/dp of all states of the motion at once, by the quadrature that gives W

Places, velocities and angles are functions of the states of a few bodies alone: all parameters are differenced at once, by the nominal
model.  Accelerations, reactions and drivers follow from the solution in duals, see `solved_outputs`.  For others, such as forces of loads,
both sides of each parameter are read, with the models of both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.joint_coordinates import coordinates_within_a_turn
from haugmbd.diagnostics.turns import principal
from haugmbd.errors import UsageError
from haugmbd.math.body_columns import EULER, OMEGA_BAR, POSITION, VELOCITY, WIDTH
from haugmbd.model.model import Model
from haugmbd.sensitivity.direct import Tangents
from haugmbd.sensitivity.variations import Design, Variation
from haugmbd.simulation.results.named_outputs import Output, Reader
from haugmbd.simulation.results.result import Result

NOTHING = 1e-9
"""Change of outputs and states for the whole of a parameter, relative to the largest output, that is rounding."""
TIMES = ("event", "impact")
"""Kinds of outputs that are times, and not quantities of a state."""
INTEGRALS = {"load": ("work",), "driver": ("work",), "energy": ("applied_work", "dissipated_work", "total", "drift")}
"""Outputs that are integrals over the motion before: functions of all its states."""
OF_STATES = {
    "body": ("r", "p", "v", "omega", "omega_bar"),
    "point": ("r", "v"),
    "joint": ("angle", "displacement", "rate"),
}
"""Outputs that are functions of the states of their bodies."""
STEP = 2e-4
"""Of differences of fourth order of such outputs [m, rad and their rates]."""
FOURTH = ((1.0, 2.0 / 3.0), (-1.0, -2.0 / 3.0), (2.0, -1.0 / 12.0), (-2.0, 1.0 / 12.0))
"""Points and weights of differences of fourth order."""
MANY = 4096
"""States that are read at once."""


def is_of_states(output: Output) -> bool:
    """Return whether an output is a function of the states of its bodies."""
    return output.what in OF_STATES.get(output.kind, ())


def is_integral(output: Output) -> bool:
    """Return whether an output is an integral over the motion."""
    return output.what in INTEGRALS.get(output.kind, ())


def moves_by_itself(design: Design, name: str, j: int) -> bool:
    """Return whether an output of states changes with a parameter at a state that does not: a point, or the zero of an angle, moves."""
    output = design.outputs[j]
    if output.kind == "point":
        return design.outputs_at(name, 1.0)[j] != output
    return output.kind == "joint" and design.moves_joint(name, output.owner)


def change_of_outputs(design: Design, name: str, t: Array, y: Array, some: Sequence[int]) -> Array:
    """Return the derivatives (nt, .) of outputs of the numbers `some` by a parameter, at states that do not move.

    The bodies are those of the nominal model: what moves are the points, or the frames of joints.
    """
    found, reader = np.zeros((len(t), len(some))), Reader(Result(design.model, t, y))
    step = design.step(name)
    for k, j in enumerate(some):
        if design.outputs[j].kind == "point":
            high, low = (reader.values(design.outputs_at(name, sign)[j]) for sign in (1.0, -1.0))
        else:
            high, low = (_of_moved_joint(design, name, sign * step, design.outputs[j], y) for sign in (1.0, -1.0))
        change = high - low
        found[:, k] = (principal(change) if design.outputs[j].what == "angle" else change) / (2.0 * step)
    return found


def _of_moved_joint(design: Design, name: str, step: float, output: Output, y: Array) -> Array:
    """Return the coordinate of a joint, or its rate, (nt,), whose frames and modelled pose are those of a parameter beside its value."""
    entry = design.model.joints[output.owner]
    *frames, zero = design.frames_beside(name, output.owner, step)
    moved = entry._replace(s_bar_i=frames[0], A_bar_i=frames[1], s_bar_j=frames[2], A_bar_j=frames[3])
    y0 = design.numbers[2] + step * design.all_slopes[name][2]
    values = coordinates_within_a_turn(moved, y, y0)
    return _picked(values, output) if output.what == "rate" else _picked(values, output) + float(zero)


COLUMNS = {"r": POSITION, "p": EULER, "v": VELOCITY, "omega_bar": OMEGA_BAR}
"""Quantities of a body that are numbers of its state, and the first of them."""


def along_states(model: Model, outputs: Sequence[Output], t: Array, y: Array, dY: Array) -> Array:
    """Return z_y dY (nt, m, n) of outputs of states, by tangents dY (nt, n, ny)."""
    nt, n, ny = dY.shape
    derivatives = np.zeros((nt, len(outputs), n))
    far = np.abs(dY).max(axis=2)
    d = np.where(far > 0.0, STEP / np.where(far > 0.0, far, 1.0), 0.0)
    inverse = np.where(d > 0.0, 1.0 / np.where(d > 0.0, d, 1.0), 0.0)
    rest = list[int]()
    for j, output in enumerate(outputs):
        if output.kind == "body" and output.what in COLUMNS and len(output.component) == 1:
            derivatives[:, j] = dY[..., WIDTH * model.body_names.index(output.owner) + COLUMNS[output.what] + output.component[0]]
        elif output.kind == "joint":
            derivatives[:, j] = _along_joint(model, output, y, dY, d, inverse)
        else:
            rest.append(j)
    if not rest:
        return derivatives
    times = np.full(n * nt, t[0])  # they do not matter, but may not fall
    for point, weight in FOURTH:
        moved = y[:, None] + point * d[..., None] * dY
        reader = Reader(Result(model, times, moved.reshape(n * nt, ny)))
        for j in rest:
            derivatives[:, j] += weight * inverse * reader.values(outputs[j]).reshape(nt, n)
    return derivatives


def _along_joint(model: Model, output: Output, y: Array, dY: Array, d: Array, inverse: Array) -> Array:
    """Return the derivatives (nt, n) of a coordinate of a joint, or of its rate, along tangents dY (nt, n, ny).

    That of a coordinate is its rate, at the velocities (dr, 2 G dp).  d, inverse: (nt, n) steps of differences
    """
    entry, (nt, n, ny) = model.joints[output.owner], dY.shape
    places = [WIDTH * body for body in {entry.i, entry.j} if body]
    if output.what == "rate":
        rates: Array = np.zeros((nt, n))
        for point, weight in FOURTH:
            moved = y[:, None] + point * d[..., None] * dY
            values = coordinates_within_a_turn(entry, moved.reshape(n * nt, ny), model.y0)
            rates += weight * inverse * _picked(values, output).reshape(nt, n)
        return rates
    moving = np.repeat(y[:, None], n, axis=1)
    for at in places:
        e, dp = y[:, None, at + EULER : at + VELOCITY], dY[..., at + EULER : at + VELOCITY]
        moving[..., at + VELOCITY : at + OMEGA_BAR] = dY[..., at : at + EULER]
        vector = e[..., :1] * dp[..., 1:] - dp[..., :1] * e[..., 1:] - np.cross(e[..., 1:], dp[..., 1:])
        moving[..., at + OMEGA_BAR : at + WIDTH] = 2.0 * vector
    found = coordinates_within_a_turn(entry, moving.reshape(nt * n, ny), model.y0)
    return _picked(found, output, of_rates=True).reshape(nt, n)


def _picked(coordinates: Sequence[tuple[str, Array, Array]], output: Output, *, of_rates: bool = False) -> Array:
    """Return the coordinate that an output names, or its rate if it names that;  of_rates: the rate of a coordinate"""
    own = [each for each in coordinates if output.what in ("rate", each[0])]
    _, value, rate = own[output.component[0] if output.component else 0]
    return rate if of_rates or output.what == "rate" else value


def bodies_of(model: Model, output: Output) -> set[int]:
    """Return the numbers of the bodies that an output of states belongs to, without the ground."""
    if output.kind == "joint":
        return {model.joints[output.owner].i, model.joints[output.owner].j} - {0}
    return {model.body_names.index(output.owner)} - {0}


def by_states(model: Model, outputs: Sequence[Output], t: Array, y: Array, bar: Array) -> Array:
    """Return the derivatives by the states, (nt, ny), of the sum of outputs of states with weights bar (nt, m)."""
    found = np.zeros_like(y)
    for j, output in enumerate(outputs):
        columns = [WIDTH * body + a for body in bodies_of(model, output) for a in range(WIDTH)]
        if not columns:
            continue
        unit = np.zeros((len(t), len(columns), y.shape[1]))
        unit[:, np.arange(len(columns)), columns] = 1.0
        found[:, columns] += bar[:, j, None] * along_states(model, [output], t, y, unit)[:, 0]
    return found


def read_outputs(design: Design, tangents: Tangents) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Return values (nt, m), Jacobians (nt, m, n) and uniqueness (m,) of the outputs at states with tangents."""
    for output in design.outputs:
        if output.kind == "eigenvalue" or (output.kind in TIMES and output.text not in tangents.times):
            raise UsageError(f"output {output.text!r}: its derivative in this kind of run is not there yet.")
    size = len(tangents.t), len(design.outputs)
    values, jacobian, unique = np.zeros(size), np.zeros((*size, len(design.p))), np.ones(len(design.outputs), dtype=np.bool_)
    for piece, some in tangents.pieces or ((design, slice(0, len(tangents.t))),):
        if some.stop > some.start:
            unique &= _read_piece(piece, tangents, some, values, jacobian)
    for k, output in enumerate(design.outputs):
        if output.kind in TIMES:
            values[:, k], jacobian[:, k] = tangents.times[output.text]
    _read_integrals(design, tangents, values, jacobian)
    may_enter_nothing = design.calls_python or tangents.pieces or design.model.parts is not None
    for k, name in enumerate(design.p if may_enter_nothing else ()):
        still = max(float(np.abs(x[:, :, k] if x is jacobian else x[:, k]).max(initial=0.0)) for x in (jacobian, tangents.dY))
        if not design.enters(name) and still * design.p.sizes[k] <= NOTHING * (1.0 + float(np.abs(values).max(initial=0.0))):
            raise UsageError(
                f"parameter {name!r} enters nothing: no number of the model, no function or part that acts in this run and no output "
                "changes with it. Leave it out, or use it in build(...)."
            )
    jacobian[:, ~unique] = np.nan
    return values, jacobian, unique


def _read_piece(design: Design, tangents: Tangents, some: slice, values: Array, jacobian: Array) -> npt.NDArray[np.bool_]:
    """Write values and Jacobians of the outputs at the states of one structure, and return which are unique there.

    What belongs to a joint or load that is off is zero.
    """
    t, y, dY, dt = tangents.t[some], tangents.y[some], tangents.dY[some], tangents.dt[some]
    reader = Reader(Result(design.model, t, y))
    on = {"reaction": design.model.joints, "load": {entry.load.name for entry in design.model.loads}}
    is_known = [design.is_whole or quantity.owner in on.get(quantity.kind, [quantity.owner]) for quantity in design.outputs]
    apart = tangents.steps is not None
    read = [
        k
        for k, quantity in enumerate(design.outputs)
        if quantity.kind not in TIMES and is_known[k] and not (apart and is_integral(quantity))
    ]
    values[some, read] = np.array([reader.values(design.outputs[k]) for k in read]).reshape(len(read), len(t)).T
    plain = [k for k in read if is_of_states(design.outputs[k])]
    others = [k for k in read if k not in plain]
    if plain:
        outputs, n = [design.outputs[k] for k in plain], len(design.p)
        at_once = n if len(t) * n <= MANY else 1
        for first in range(0, n, at_once):
            lanes = range(first, first + at_once)
            derivatives = along_states(design.model, outputs, t, y, dY[:, first : first + at_once])
            for column, k in enumerate(plain):
                jacobian[some, k, first : first + at_once] = derivatives[:, column]
            for lane in lanes:
                moving = [k for k in plain if moves_by_itself(design, design.p.names[lane], k)]
                if moving:
                    jacobian[some, moving, lane] += change_of_outputs(design, design.p.names[lane], t, y, moving)
    if tangents.kept is not None and design.is_whole:
        for k in [k for k in others if k in design.solved.reads]:
            kept = tangents.kept[some]
            jacobian[some, k] = design.solved.slopes(k, design.outputs[k], y, dY, kept, design.points_beside(k))
        others = [k for k in others if k not in design.solved.reads]
    for k, name in enumerate(design.p if others else ()):
        jacobian[some, others, k] = _slope_of_outputs(design, name, (t, y, dt[:, k], dY[:, k]), others)
    return np.array([not (k in read or is_integral(output)) or reader.unique(output) for k, output in enumerate(design.outputs)])


def _read_integrals(design: Design, tangents: Tangents, values: Array, jacobian: Array) -> None:
    """Write values and Jacobians of the integrals over the motion.  Raise UsageError for one over events."""
    read = [k for k, one in enumerate(design.outputs) if is_integral(one)]
    whole = tangents.steps
    if not read or whole is None or len(whole.t) < 2:  # noqa: PLR2004
        return
    if whole.pieces:
        raise UsageError(
            f"output {design.outputs[read[0]].text!r} is an integral over the run, and events change its law: the derivative through "
            "them is not there yet. Difference whole runs."
        )
    here = np.searchsorted(whole.t, tangents.t)
    values[:, read] = _read_along(design.model, [design.outputs[k] for k in read], whole.t, whole.y)[here]
    for k, name in enumerate(design.p):

        def of(side: Variation) -> Any:
            return partial(_read_along, side.model, [side.outputs[k] for k in read])

        jacobian[:, read, k] = design.along(name, (whole.t, whole.y, whole.dt[:, k], whole.dY[:, k]), of)[here]


def _read_along(model: Any, outputs: Sequence[Output], t: Array, y: Array) -> Array:
    """Return outputs (nt, m) along the steps of a motion."""
    reader = Reader(Result(model, t, y, _all_steps=True))
    return np.array([reader.values(output) for output in outputs]).T


def _slope_of_outputs(design: Design, name: str, motion: tuple[Array, Array, Array, Array], read: list[int]) -> Array:
    """Return the derivatives of the outputs of the numbers `read` (nt, .) along a parameter.  motion: t, y, dt and dy"""
    if not read:
        return np.zeros((len(motion[0]), 0))

    def of(side: Variation) -> Any:
        return partial(_read, side.model, [side.outputs[k] for k in read])

    return design.along(name, motion, of)


def _read(model: Any, outputs: Sequence[Output], t: Array, y: Array) -> Array:
    """Return outputs (nt, m) of states."""
    reader = Reader(Result(model, t, y))
    return np.array([reader.values(output) for output in outputs]).T
