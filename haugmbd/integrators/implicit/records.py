"""The numbers that an implicit method, its Newton iteration and its step control share, by name."""

from __future__ import annotations

from haugmbd.compiled.records import record_dtype, record_type


class Step:
    """One step, and the data that a method keeps from step to step."""

    h: float  # [s]
    h_before: float  # of the step before [s]; 0 at the start
    t: float  # where the step starts [s]
    factor: float  # proposed change of the step
    # the generalized-alpha family
    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float
    # BDF
    order: float
    n_points: float  # true points known
    n_equal: float  # steps since order or size changed;  of fixed steps: how parts of the first may grow
    max_order: float
    n_failed: float  # refused in a row
    # Radau
    estimates_error: float  # 1 where the error is wanted


class Newton:
    """Newton's iteration of a step, and the matrix that it factors: M + c_u C + c_q K."""

    c_q: float
    c_u: float
    curved: float  # 1 for the curvature of the constraints
    constraint_form: float  # KEEP_POSITIONS, KEEP_VELOCITIES or KEEP_BOTH
    tolerance: float  # what may be left [length, rad; their rates: of rate + |u|]
    length: float  # by which lengths are measured [m]
    rate: float  # by which small velocities are measured [1/s]
    max_iterations: float
    lags: float  # 1 where forces read lam, which is that of the iteration before


class Control:
    """The progress of a run to its end."""

    t: float  # where the run is [s]
    t_end: float
    h_next: float
    rtol: float
    atol: float  # of turns and their rates
    atol_length: float  # of lengths and their rates
    h_max: float
    n_rejected: float
    h_fixed: float  # the fixed step [s]; 0 for error control
    t_first: float  # from where fixed steps are counted [s]
    n_done: float  # fixed steps done
    newton_tol: float  # tolerance of Newton's iteration in a whole step


STEP, NEWTON, CONTROL = record_dtype(Step), record_dtype(Newton), record_dtype(Control)
STEP_TYPE, NEWTON_TYPE, CONTROL_TYPE = record_type(STEP), record_type(NEWTON), record_type(CONTROL)
