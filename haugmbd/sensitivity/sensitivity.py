"""`sensitivity`: outputs of a run, and their derivatives by parameters.

dz/dp = z_y dY + z_p           z read from results on both sides of the states along (dY, dp), with the models of both sides

A `Problem` is outputs as a function of the parameters, x -> z(x), with z'(x): what optimizers, fits and studies of tolerances evaluate.
Values at a point are a run; derivatives there use its states again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.analysis.assembly.assemble import assemble
from haugmbd.analysis.equilibrium.equilibrium import equilibrium
from haugmbd.analysis.equilibrium.small_motions.linearize import linearize
from haugmbd.analysis.kinematics.kinematics import kinematics
from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.contact.contact import Contact
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.formulations.accelerations import accelerations
from haugmbd.math.body_columns import WIDTH
from haugmbd.model.inspection.constraint_rows import evaluate
from haugmbd.model.state import State
from haugmbd.plotting.style import set_title, side_legend, stacked_axes
from haugmbd.sensitivity.direct import Tangents, at_one_state, placed, refuse_locks
from haugmbd.sensitivity.outputs import read_outputs
from haugmbd.sensitivity.parameters import Builder, Built, Parameters, as_parameters, builder_of
from haugmbd.sensitivity.simulated import simulated
from haugmbd.sensitivity.statics import balanced, eigenvalues, ordered
from haugmbd.sensitivity.variations import Design, Known, arguments_of
from haugmbd.simulation.results.named_outputs import Names, Reader, names_of
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.results.study_data import Columns, StudyData, column
from haugmbd.simulation.simulate import simulate

CLOSED = 1e-9
"""Part of the size of the mechanism by which assembling may move a body where the derivative of one closing step is that of all."""
IMPACTS = "simulate_impacts"
"""The older name of a simulation whose contacts are an argument."""
RUNS = ("simulate", IMPACTS, "kinematics", "inverse_dynamics", "accelerations", "assemble", "equilibrium", "linearize")


class OverTime(NamedTuple):
    """Outputs at all times of a run.

    t: (nt,) [s];  values: (nt, outputs);  jacobian: (nt, outputs, parameters)
    """

    t: Array
    values: Array
    jacobian: Array


@public_class
@dataclass(frozen=True, eq=False)
class Sensitivity(StudyData):
    """Outputs of a run and their derivatives by parameters.

    Attributes
    ----------
    outputs, parameters : tuple of str
        Names of the rows and columns of `jacobian`.
    values : ndarray, (outputs,)
        Outputs at the last time.
    jacobian : ndarray, (outputs, parameters)
        Their derivatives; NaN where an output is not unique.
    unique : ndarray of bool, (outputs,)
        False for a reaction that depends on how redundant rows share their load: it has no derivative of its own.
    p : Parameters
        The values.
    """

    outputs: tuple[str, ...]
    p: Parameters
    values: Array
    jacobian: Array
    unique: npt.NDArray[np.bool_]
    _design: Design = field(repr=False)
    _tangents: Tangents | None = field(repr=False)

    @property
    def design(self) -> Design:
        """Return the design, with its model and the derivatives of its numbers."""
        return self._design

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        return self.p.names

    @cached_property
    def over_time(self) -> OverTime:
        """Return outputs and derivatives at all times of the run."""
        if self._tangents is None:
            return OverTime(np.zeros(1), self.values[None], self.jacobian[None])
        values, jacobian, _ = read_outputs(self._design, self._tangents)
        return OverTime(self._tangents.t, values, jacobian)

    def _columns(self) -> Columns:
        slopes = {f"d/d {name}": column(x) for name, x in zip(self.parameters, self.jacobian.T, strict=True)}
        return {"output": column(list(self.outputs)), "value": column(self.values), "unique": column(self.unique)} | slopes

    def table(self) -> str:
        """Return a text table: a line for each output, with its value and its derivatives."""
        lines = [["output", "value", *(f"d/d {name}" for name in self.parameters)]]
        for name, value, row, unique in zip(self.outputs, self.values, self.jacobian, self.unique, strict=True):
            lines.append([name, f"{value:.6g}", *(f"{x:.6g}" if unique else "not unique" for x in row)])
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        cells = [
            [text.rjust(w) if k else text.ljust(w) for k, (text, w) in enumerate(zip(line, widths, strict=True))] for line in lines
        ]
        return "\n".join("  ".join(line) for line in cells)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame: outputs by parameters, with the values in the first column."""
        try:
            import pandas  # noqa: PLC0415  only where it is asked for
        except ImportError:
            raise UsageError("to_pandas needs pandas, which is not installed: pip install pandas, or use to_csv.") from None
        frame = pandas.DataFrame(self.jacobian, index=list(self.outputs), columns=list(self.parameters))
        frame.insert(0, "value", self.values)
        return frame

    def plot(self, output: str | None = None) -> Any:
        """Draw the relative sensitivities p dz/dp of an output over time; return the Matplotlib figure."""
        k = 0 if output is None else self.outputs.index(output)
        figure, (axes,) = stacked_axes(1)
        over = self.over_time
        for j, (name, size) in enumerate(zip(self.parameters, self.p.sizes, strict=True)):
            axes.plot(over.t, over.jacobian[:, k, j] * size, label=name)
        axes.set(xlabel="t [s]", ylabel="change")
        set_title(axes, f"change of {self.outputs[k]} for the whole of a parameter")
        side_legend(axes)
        return figure

    def __repr__(self) -> str:
        return f"Sensitivity of {len(self.outputs)} outputs by {', '.join(self.parameters)}"


def sensitivity(build: Any, p: Any, outputs: Any, *, run: str = "simulate", **arguments: Any) -> Sensitivity:
    """Return outputs of a run, and their derivatives by parameters.

    Parameters
    ----------
    build : callable or System
        `build(**p)` returns a System, or (System, arguments of the run). Or a System, and p has paths of it, as of a batch.
    p : Parameters or mapping
        The parameters.
    outputs : str, sequence of str, or callable
        Names of quantities, such as "body.crank.r[0]", "reaction.A.force[1]", "joint.B.angle", "point.coupler(0.1, 0, 0).v[0]"; or a
        function of the parameters that returns names.
    run : {"simulate", "kinematics", "inverse_dynamics", "accelerations", "assemble", "equilibrium", "linearize"}
        What is differentiated; also "simulate_impacts", with contacts among the arguments that `build` returns.
    **arguments
        Those of that function, such as t_end=, h=, integrator=.

    Returns
    -------
    Sensitivity
        Values, Jacobian and uniqueness, at the last time; `over_time` has all.

    Raises
    ------
    UsageError
        If a parameter enters nothing, the model has another structure beside its value, it locks the mechanism, or the kind of run,
        method or model cannot be differentiated: nothing is replaced by zero.

    Notes
    -----
    The steps of the run are made again in dual numbers, by the kernels of the library, with tables that are differentiated by building.
    The derivative is that of the discrete solution, its steps and projections, to rounding; behind an event that moves, to the error of
    the method, since the steps that begin anew there move with it. Accelerations, reactions and what drivers take are solved for in the
    same dual numbers. Functions of Python, and forces of loads among the outputs, are differenced on both sides of each parameter, to
    about 1e-9.
    Sources: Haug, Wehage, Mani (1984); Griewank and Walther (2008).
    """
    parameters = as_parameters(p)
    builder, run = road_of(build, parameters, run)
    return differentiated(Design(builder, parameters, names_of(outputs)), run, arguments)


def road_of(build: Any, p: Parameters, run: Any) -> tuple[Builder, str]:
    """Return the function that builds the system of given values, and the kind of run; contacts that are arguments are parts of it."""
    run, builder = run_of(run), builder_of(build, p)
    if run != IMPACTS:
        return builder, run

    def with_contacts(values: Mapping[str, float]) -> Built:
        built = builder(values)
        contacts = built.arguments.pop("contacts", ())
        contacts = [contacts] if isinstance(contacts, Contact) else list(contacts)
        if not contacts or not all(isinstance(one, Contact) for one in contacts):
            raise UsageError(
                f"run={IMPACTS!r} needs contacts between the bodies that build(...) makes: let it return (system, {{'contacts': [...]}}), "
                "or system.add(contact), and take run='simulate'."
            )
        for one in contacts:
            built.system.add(one)
        return built

    return with_contacts, "simulate"


def run_of(run: Any) -> str:
    """Return the kind of run. Raise UsageError if there is none of this name."""
    if not is_one_of(run, RUNS):
        raise UsageError(f"run = {run!r} must be one of {', '.join(map(repr, RUNS))}.")
    return str(run)


def differentiated(design: Design, run: str, arguments: dict[str, Any], *, over_time: bool = False) -> Sensitivity:
    """Return the sensitivities of a design;  over_time: whether those at all times are wanted, too"""
    keywords = arguments_of(design.built, arguments)
    design.ran()
    if run in STATIC:
        values, jacobian = STATIC[run](design, keywords)
        unique = np.ones(len(values), dtype=bool)
        return _packed(design, values, jacobian, unique, None)
    tangents = ROADS[run](design, keywords)
    values, jacobian, unique = read_outputs(design, tangents if over_time else tangents.last())
    sensitivity = _packed(design, values[-1], jacobian[-1], unique, tangents)
    if over_time:
        sensitivity.__dict__["over_time"] = OverTime(tangents.t, values, jacobian)
    return sensitivity


def _packed(design: Design, values: Array, jacobian: Array, unique: Any, tangents: Tangents | None) -> Sensitivity:
    return Sensitivity(tuple(o.text for o in design.outputs), design.p, values, jacobian, unique, design, tangents)


def values_at_end(build: Builder, values: Mapping[str, float], names: Names, run: str, arguments: Mapping[str, Any]) -> Array:
    """Return the outputs (m,) at the end of one run, without derivatives."""
    built, outputs = build(values), names(values)
    keywords = arguments_of(built, arguments)
    if run == "linearize":
        start = equilibrium(built.system).state if keywords.pop("settle", False) else None
        eigenvalues = ordered(linearize(built.system, start, **keywords).eigenvalues)
        return np.array([getattr(eigenvalues[output.component[0]], output.what) for output in outputs])
    result: Any
    if run == "simulate":
        result = simulate(built.system, **keywords)
    elif run == "kinematics":
        result = kinematics(built.system, **keywords)
    elif run == "inverse_dynamics":
        times: Any = keywords.get("motion", keywords.get("t"))
        result = kinematics(built.system, times)
    else:
        model = built.system.compile()
        state = model.state()
        if run == "assemble":
            state = assemble(model).state
        elif run == "equilibrium":
            state = equilibrium(model, **keywords).state
        result = Result(model, np.array([state.t]), np.array(state.y)[None])
    reader = Reader(result)
    return np.array([reader.values(output)[-1] for output in outputs])


# ---------------------------------------------------------------------------------------------------------------- kinds of runs
def _simulate(design: Design, arguments: dict[str, Any]) -> Tangents:
    return simulated(design, arguments)


def _kinematics(design: Design, arguments: dict[str, Any]) -> Tangents:
    if arguments.get("state") is not None:
        raise UsageError(
            "sensitivity starts from the modelled state, which moves with the parameters: leave out state, and build it."
        )
    result = kinematics(design.model, **arguments)
    design.ran()
    dY = np.zeros((len(result.t), len(design.p), result.y.shape[1]))
    found = placed(design, result.t, result.y, dY)
    return found._replace(steps=found)


def _accelerations(design: Design, arguments: dict[str, Any]) -> Tangents:
    if arguments:
        raise UsageError(f"run='accelerations' is of the modelled state, and takes no {', '.join(map(repr, arguments))}.")
    refuse_locks(design, _opening(design))
    return at_one_state(design)


def _opening(design: Design) -> Array:
    """Return by how much accelerations of the modelled state, relative to the largest, violate dropped rows beside values, (n, 6 ne)."""
    model, opening = design.model, np.zeros((len(design.p), 6 * len(design.model.tables["EDGES"])))
    dropped = np.array(model.redundancy.dropped, dtype=np.int64)
    for line, name in zip(opening, design.p if len(dropped) else (), strict=False):
        residuals = []
        for side in design.sides(name):
            state = side.model.state()
            found, rows = accelerations(side.model, state), evaluate(side.model, state)
            u_dot = np.hstack([found.v_dot, found.omega_bar_dot])[1:].ravel()
            size = max(1.0, float(np.abs(u_dot).max(initial=0.0)))
            residuals.append((rows.Phi_q @ u_dot - rows.gamma)[dropped] / size)
        line[model.slot_of_row[dropped]] = np.abs(residuals[0] - residuals[1]) / (2.0 * design.sides(name)[0].step)
    return opening


def _inverse_dynamics(design: Design, arguments: dict[str, Any]) -> Tangents:
    """Return the motion that drivers prescribe, with the forces that it takes.  t: times [s], as of kinematics"""
    arguments = dict(arguments)
    motion = arguments.pop("motion", None)
    if motion is None:
        return _kinematics(design, arguments)
    if isinstance(motion, Result | State) or (isinstance(motion, list | tuple) and any(isinstance(x, State) for x in motion)):
        raise UsageError(
            "sensitivity of inverse dynamics is along the motion of the drivers: give times, t=np.linspace(0, 1, 101)."
        )
    return _kinematics(design, arguments | {"t": motion})


def _assemble(design: Design, arguments: dict[str, Any]) -> Tangents:
    if arguments:
        raise UsageError(f"sensitivity of assemble is from the modelled state, and takes no {', '.join(map(repr, arguments))}.")
    model = design.model
    found = assemble(model).state
    far = float(np.abs(found.y - model.y0)[: WIDTH * (model.nb + 1)].max())
    if far > CLOSED * max(1.0, model.length):
        raise UsageError(
            f"the modelled pose is open: assembling moves a body by {far:.2g} m or rad, and where it comes to depends on the way there. "
            "Let build(...) place the bodies by the parameters up to small gaps, or drive every freedom and take run='kinematics'."
        )
    return placed(design, np.array([found.t]), found.y[None], design.start[None].copy())


ROADS = {
    "simulate": _simulate,
    "kinematics": _kinematics,
    "inverse_dynamics": _inverse_dynamics,
    "accelerations": _accelerations,
    "assemble": _assemble,
    "equilibrium": balanced,
}
STATIC = {"linearize": eigenvalues}


class Problem:
    """Outputs of runs of a design at any values of its parameters.

    Attributes
    ----------
    p : Parameters
        The start.
    evaluations, derivatives : int
        Numbers of points at which values and derivatives were computed.
    """

    def __init__(
        self,
        build: Any,
        p: Any,
        outputs: Any,
        run: str,
        arguments: Mapping[str, Any],
        *,
        at_end: bool = False,
        goes_on: bool = False,
    ) -> None:
        """Keep what is evaluated.

        at_end: whether outputs at the last time are enough;  goes_on: whether there will be many points, of which one tells of the next
        """
        self.p: Parameters = as_parameters(p)
        (self._build, self.run), self.names = road_of(build, self.p, run), names_of(outputs)
        self.arguments = dict(arguments)
        self.evaluations = self.derivatives = 0
        self._of_one_run = np.inf
        self._costs: list[float] = []
        self._at_end, self._goes_on = at_end, goes_on
        self._known: Known | None = None
        self._last: tuple[bytes, Sensitivity | None, OverTime | None] = (b"", None, None)

    @property
    def runs(self) -> float:
        """Return the CPU time of all that was evaluated, in runs: the building, compiling and running of one.

        The first evaluation counts as the dearest of the others: on a new machine it waits for kernels to be compiled.
        """
        if not np.isfinite(self._of_one_run):
            return float(self.evaluations)
        first, *others = self._costs
        return (min([first, *([max(others)] if others else [])]) + sum(others)) / self._of_one_run

    def design(self) -> Design:
        """Return the design at the start."""
        return Design(self._build, self.p, self.names)

    def spent(self, design: Design) -> float:
        """Return the cost of what was done with a design since it was begun, in runs."""
        self._costs.append(time.process_time() - design.began)
        self._of_one_run = min(self._of_one_run, design.seconds)
        self.evaluations += 1
        self.derivatives += 1
        return self.runs

    def over_time(self, x: Array, *, is_rough: bool = False) -> OverTime:
        """Return outputs and their derivatives at x (n,): at all times of the run, or at its end;  is_rough: see `Design`"""
        key = np.asarray(x, dtype=np.float64).tobytes()
        if self._last[0] != key or (self._last[1] is not None and self._last[1].design.was_rough and not is_rough):
            began = time.process_time()
            design = Design(self._build, self.p.at(x), self.names, known=self._known, is_rough=is_rough, remembers=self._goes_on)
            found = differentiated(design, self.run, self.arguments, over_time=not self._at_end)
            ends = OverTime(np.zeros(1), found.values[None], found.jacobian[None])
            self._last = (key, found, ends if self._at_end else found.over_time)
            if self._goes_on:
                self._known = design.for_the_next() or self._known
            self._costs.append(time.process_time() - began)
            self._of_one_run = min(self._of_one_run, design.seconds)
            self.evaluations += 1
            self.derivatives += 1
        over = self._last[2]
        assert over is not None
        return over

    def sensitivity(self, x: Array, *, is_rough: bool = False) -> Sensitivity:
        """Return the sensitivities at x."""
        self.over_time(x, is_rough=is_rough)
        assert self._last[1] is not None
        return self._last[1]


def need_times(arguments: Mapping[str, Any], run: str, t: Any) -> dict[str, Any]:
    """Return the arguments of a run at the times t."""
    run = run_of(run)
    try:
        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
    except (TypeError, ValueError):
        times = np.zeros(0)
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        raise UsageError("t must be times [s], one-dimensional, finite and strictly increasing.")
    given = dict(arguments)
    if run in ("simulate", IMPACTS):
        given.setdefault("t_end", float(times[-1]))
        return given | {"t_eval": times}
    if run in ("kinematics", "inverse_dynamics"):
        return given | {"t": times}
    raise UsageError(f"run = {run!r} has no times: leave out t.")
