r"""What a simulation leaves: the states, and the counters of the work done.  Everything else is computed from them when asked.

t (nt,)   r (nt, nb+1, 3)   p (nt, nb+1, 4)   v (nt, nb+1, 3)   omega_bar (nt, nb+1, 3)   lam (nt, nc)        ground in row 0

The exception are the multipliers of implicit methods, which no state tells: `lam_of_method`.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import need_unmasked, read_only
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.diagnostics.energy import Energy, Momentum, energy_over_time, momentum_over_time
from haugmbd.diagnostics.joint_wrench import Axes, Side
from haugmbd.diagnostics.method_multipliers import multipliers_of_method
from haugmbd.diagnostics.reactions import Reaction, reactions_over_time
from haugmbd.diagnostics.resample import resample_states
from haugmbd.diagnostics.run_warnings import HasOutcome, Outcome, RunNote, RunStatus
from haugmbd.diagnostics.violation import Level, euler_violation, joint_violation, row_violation
from haugmbd.errors import UsageError, warn_user
from haugmbd.formulations.accelerations import solve_states
from haugmbd.integrators.base import methods_below
from haugmbd.integrators.events import EventRecord
from haugmbd.integrators.state_space import SingularCrossing
from haugmbd.model.model import Model
from haugmbd.model.pickling import refusal
from haugmbd.model.state import State
from haugmbd.model.views import Animated
from haugmbd.simulation.io.checksums import check_seal
from haugmbd.simulation.io.results import reader_of
from haugmbd.simulation.io.schema import result_of
from haugmbd.simulation.records import BodyHistory, Counters, Names
from haugmbd.workspace.layout import WIDTH

if TYPE_CHECKING:
    import xarray
if TYPE_CHECKING:
    import xarray


@check_keywords
def load(path: str | Path, *, model: Model | None = None) -> Result:
    """Read a result that `save` wrote.

    model: the compiled model it came from: with it reactions, violation and energies can be asked for; it is compared.
    Raises UsageError, with the path, where there is no such file, the file is damaged or no result, or `model` is another one.
    """
    path = Path(path)
    read = reader_of(path)
    try:
        data = path.read_bytes()
        check_seal(data)
        return result_of(read(data), model, str(path), Result)
    except UsageError as error:
        raise UsageError(f"{path}: {str(error).rstrip('.')}.") from error.__cause__
    except Exception as error:  # noqa: BLE001  a broken file lets NumPy, zipfile, zlib, HDF5 and json raise anything
        raise UsageError(f"{path} cannot be read as a result: {type(error).__name__}: {error}.") from error


@public_class
@dataclass(frozen=True, eq=False)
class Result(Animated, HasOutcome):
    """States of a run, by time.  `result["crank"].r` is one body's history; methods recompute everything else from the states.

    Its arrays are read-only, since everything else is computed from them: change a copy, `result.r.copy()`.

    model: the compiled model (None in a file that was loaded without it, see `load`);  t: (nt,) [s];  y: (nt, ny) flat states;
    counters;  settings: what was asked for, as text;  interrupted: stopped by Ctrl-C;  names: of the model, bodies, joints, rows
    events: what happened, in the order of time;  passed: singular configurations that the run has crossed
    outcome: how the run ended, and its notes: `status`, `success`, `message`, `warnings` say it
    """

    _model: Model | None
    t: Array
    y: Array
    counters: Counters = field(default_factory=Counters)
    settings: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    _names: Names | None = None
    events: tuple[EventRecord, ...] = ()
    singular_crossings: tuple[SingularCrossing, ...] = ()
    _own: Array | None = None
    _model_numbers: Mapping[str, Array] | None = None
    """What a file says of its model, by which it is recognized, where the result was loaded without it."""
    outcome: Outcome = Outcome()

    def __post_init__(self) -> None:
        for name in ("t", "y", "_own"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(getattr(self, name)))

    def __setstate__(self, stored: dict[str, Any]) -> None:
        """Copies and unpickled results are read-only, too; what was computed from the states is computed anew."""
        for name in self.__dataclass_fields__:
            object.__setattr__(self, name, stored[name])
        self.__post_init__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What pickle keeps: all; of a run that has failed, which its error carries, all but a model that cannot be pickled."""
        state, model = dict(vars(self)), self._model
        why = "" if model is None else refusal(model)
        if model is not None and why and self.outcome.status is RunStatus.FAILED:
            note = RunNote("model", f"the model {model.name!r} was left behind when this result was pickled: it {why}")
            state |= {"_model": None, "_names": self.names, "outcome": self.outcome._replace(notes=(*self.outcome.notes, note))}
        return copyreg.__newobj__, (type(self),), state  # type: ignore[attr-defined]

    @property
    def model(self) -> Model:
        """The compiled model; UsageError where the result was loaded without it."""
        if self._model is None:
            raise UsageError(
                f"this result of {self.names.model!r} was loaded without its model, which this question needs. "
                "Pass it: mbd.load(path, model=system.compile())."
            )
        return self._model

    @property
    def has_model(self) -> bool:
        """Whether the model is at hand."""
        return self._model is not None

    @cached_property
    def names(self) -> Names:
        """The names of the model, its bodies, joints and rows."""
        return Names.of(self.model) if self._names is None else self._names

    @property
    def _bodies(self) -> Array:
        n = len(self.names.bodies)
        return self.y[:, : WIDTH * n].reshape(len(self.t), n, WIDTH)

    @property
    def angles(self) -> Array:
        """Integrated joint angles [rad], (nt, na)."""
        return self.y[:, WIDTH * len(self.names.bodies) :]

    @property
    def r(self) -> Array:
        """Centres of mass, global [m], (nt, nb + 1, 3)."""
        return self._bodies[..., 0:3]

    @property
    def p(self) -> Array:
        """Euler parameters, scalar first, (nt, nb + 1, 4)."""
        return self._bodies[..., 3:7]

    @property
    def v(self) -> Array:
        """Velocities of the centres of mass, global [m/s], (nt, nb + 1, 3)."""
        return self._bodies[..., 7:10]

    @property
    def omega_bar(self) -> Array:
        """Angular velocities, body frames [rad/s], (nt, nb + 1, 3)."""
        return self._bodies[..., 10:13]

    @cached_property
    def _solutions(self) -> Array:
        """(u_dot, lam) by nodes at every state, (nt, nn, 6)."""
        return read_only(solve_states(self.model, self.t, self.y))

    @property
    def v_dot(self) -> Array:
        """Accelerations of the centres of mass, global [m/s2], (nt, nb + 1, 3)."""
        return self._solutions[:, : self.model.nb + 1, :3]

    @property
    def omega_bar_dot(self) -> Array:
        """Angular accelerations, body frames [rad/s2], (nt, nb + 1, 3)."""
        return self._solutions[:, : self.model.nb + 1, 3:]

    @cached_property
    def lam(self) -> Array:
        """Lagrange multipliers at every state, by rows, (nt, nc)."""
        slots = self._solutions[:, self.model.nb + 1 :]
        flat = slots.reshape(len(self.t), 6 * slots.shape[1])
        return read_only(flat[:, self.model.slot_of_row])

    @cached_property
    def lam_of_method(self) -> Array:
        """The multipliers that an implicit method has solved for at its steps, by rows, (nt, nc).

        M u' + Phi_q^T lam = Q with the u' of the method; those in `lam` belong to the accelerations at the same states.  At the start they
        are the same; NaN where a state is no step of the method: the end at a terminal event, a leap over a singular configuration.
        Dependent rows share them as in `lam`, after `DropDependentRows` or `MinimumNorm`.
        Raises UsageError where the method has none, or where the states are at wanted times (`t_eval`, `resample`).
        """
        if self._own is None:
            have = ", ".join(sorted(kind.__name__ for kind in methods_below() if kind.own_multipliers))
            raise UsageError(
                f"this result (integrator {self.settings.get('integrator', 'unknown')}) has no multipliers of the method's own: "
                f"{have} have them, at the steps of a run without t_eval. `lam` has those of the accelerations, at every state."
            )
        if not self.has_model:
            return self._own
        return read_only(multipliers_of_method(self.model, self.t, self.y, self._own))

    @property
    def has_lam_of_method(self) -> bool:
        """Whether there are multipliers of the method's own."""
        return self._own is not None

    def reaction(self, joint: str, *, on: Side = "j", frame: Axes = "ground") -> Reaction:
        """The force and torque that `joint` exerts on its body j (or i), at the joint's point on that body, at every state.

        frame: in which they are written: "ground", "body" or "joint";  raises UsageError for what does not exist.
        """
        return reactions_over_time(self.model, self.t, self.y, lambda: self._solutions, joint, on=on, frame=frame)

    @overload
    def violation(self, level: Level = ..., by: Literal["row"] = ...) -> Array: ...
    @overload
    def violation(self, level: Level = ..., *, by: Literal["joint"]) -> dict[str, Array]: ...
    def violation(self, level: Level = "position", by: str = "row") -> Array | dict[str, Array]:
        """How far the constraints are violated: Phi, Phi_q u - nu, or Phi_q u_dot - gamma, at every state.

        by: "row" gives signed values (nt, nc);  "joint" the Euclidean norm over each joint's rows, by name, (nt,)
        Raises UsageError for an unknown level.
        """
        if by not in ("row", "joint"):
            raise UsageError(f"by is {by!r}: give 'row' or 'joint'.")
        rows = row_violation(self.model, self.t, self.y, level, lambda: self._solutions)
        return rows if by == "row" else joint_violation(self.model, rows)

    def euler_violation(self) -> Array:
        """How far the stored Euler parameters are from unit length: | |p| - 1 |, (nt, nb + 1)."""
        return euler_violation(self.p)

    def energy(self) -> Energy:
        """Kinetic and potential energy, applied and dissipated work, and the total that should stay, (nt,) [J].

        Work is integrated over dense states between the stored ones, where functions of the user are asked again: twenty states a turn
        give it to a part in 1e5 or better.
        """
        return energy_over_time(self.model, self.t, self.y, lambda: self._solutions)

    def momentum(self) -> Momentum:
        """Linear momentum and angular momentum about the ground's origin, (nt, 3), global."""
        return momentum_over_time(self.model, self.t, self.y)

    def resample(self, t_new: npt.ArrayLike, *, kind: Literal["dense", "linear", "cubic"] = "dense") -> Result:
        """The result at other times (k,) [s] within its own, exact at the stored ones.

        kind: "dense" by the dense output of the integrators, of order six in r and p and five in v and omega_bar, after any method (five
        and four where the model is not at hand); constraints that the stored states fulfil hold between them, too.  "linear" by straight
        lines, and p by slerp.  ("cubic", of earlier versions, is "dense".)
        Methods of high order make long steps, and theirs are the more accurate states between them: `t_eval=` of `simulate`.
        Raises UsageError for times outside, SimulationError, after a warning, where the stored states are too far apart.
        """
        need_unmasked("t_new", t_new)
        if kind == "cubic":
            warn_user("kind='cubic' is now kind='dense', the default: leave it out.", DeprecationWarning)
            kind = "dense"
        times = np.atleast_1d(np.asarray(t_new, dtype=np.float64))
        y = resample_states(self._model, self.t, self.y, len(self.names.bodies), times, kind, lambda: self._solutions)
        rest = (self.counters, self.settings, self.interrupted, self._names, self.events, self.singular_crossings)
        return Result(self._model, times, y, *rest, _model_numbers=self._model_numbers, outcome=self.outcome)

    def save(self, path: str | Path) -> Path:
        """Write states, names, counters and settings to `path`: .npz, or .nc (NetCDF-4, needs the extra `io`)."""
        from haugmbd.simulation.io.results import save  # noqa: PLC0415  imported only where a result is written

        return save(self, path)

    def to_csv(self, path: str | Path) -> Path:
        """Write one line for each state, with columns such as `crank.r.x`."""
        from haugmbd.simulation.io.results import to_csv  # noqa: PLC0415  imported only where a result is written

        return to_csv(self, path)

    def to_xarray(self) -> xarray.Dataset:
        """The result as an xarray Dataset (needs the extra `xarray`)."""
        from haugmbd.simulation.io.results import to_xarray  # noqa: PLC0415  imported only where a result is written

        return to_xarray(self)

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, body: str) -> BodyHistory:
        if body not in self.names.bodies:
            raise UsageError(f"no body is called {body!r}; the bodies are {', '.join(map(repr, self.names.bodies))}.")
        k = self.names.bodies.index(body)
        return BodyHistory(body, self.t, self.r[:, k], self.p[:, k], self.v[:, k], self.omega_bar[:, k])

    def state(self, k: int = -1) -> State:
        """The k-th state, by default the last."""
        return State.from_y(float(self.t[k]), self.y[k], len(self.names.bodies))

    def __repr__(self) -> str:
        span = f", t = {self.t[0]:g} .. {self.t[-1]:g} s" if len(self.t) else ""
        return f"Result({self.names.model!r}, {len(self.t)} states{span}, {self.counters.steps} steps)"
