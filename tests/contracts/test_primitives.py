"""What every primitive must keep to; the primitives are found in `haugmbd.constraints.KINDS`, and samples made by argument names."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from haugmbd import Body, Driver, Fault, Primitive, Rotation, System, evaluate
from haugmbd.constraints import KINDS
from haugmbd.math import euler_parameters
from tests.support.plain import levels
from tests.support.samples import SIDES, driven, jacobian, make_primitive, model_of, primitive_values, random_body, random_state

DIFFERENCE_TOL = 1e-9  # eighth-order differences with h = 0.005: some 1e-12
ROUNDING = 1e-12  # some dozen products of numbers of size 1 to 10
COMPILED_TOL = 1e-13  # a fused multiply-add rounds once less

by_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind)


@pytest.mark.slow
@pytest.mark.parametrize("quantity", ["Phi_q", "nu", "gamma"])
@pytest.mark.parametrize("driver", ["constant", "driven"])
@pytest.mark.parametrize("side", SIDES)
@by_kind
def test_derivatives_are_those_of_Phi(report, kind, side, driver, quantity):
    rows = report.rows[f"{kind.kind} {driver} {side}"]
    assert len(rows) == 1
    assert report.errors[quantity][rows].max() < DIFFERENCE_TOL


def all_levels(model, state):
    rows = evaluate(model, state)
    return rows.Phi, rows.nu, rows.gamma, jacobian(rows)


@by_kind
def test_bodies_may_be_numbered_in_either_order(kind, rng):
    primitive = make_primitive(kind, random_body("i", rng), random_body("j", rng), driven, primitive_values(rng))
    model, turned = model_of(primitive), model_of(primitive, reverse=True)
    state = random_state(model, rng, t=0.4)
    swapped = state.replace(**{name: getattr(state, name)[[0, 2, 1]] for name in ("r", "p", "v", "omega_bar")})
    for a, b in zip(all_levels(model, state), all_levels(turned, swapped), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.slow
@by_kind
@pytest.mark.parametrize("side", [0, 1], ids=["i", "j"])
def test_the_ground_is_a_body_at_rest_in_the_global_frame(kind, side, rng):
    values, other, rest = primitive_values(rng), random_body("other", rng), Body("rest", 1.0, (1, 1, 1))
    on_ground, on_rest = System("on ground"), System("on rest")
    for system, bodies in ((on_ground, [on_ground.ground, other]), (on_rest, [rest, other])):
        for body in bodies:
            if not body.is_ground:
                system.add(body)
        system.add(make_primitive(kind, *(bodies if side == 0 else bodies[::-1]), driven, values))
    model = on_ground.compile(check_pose=False)
    state = random_state(model, rng, t=0.4)
    still = {name: getattr(state, name)[[0, 0, 1]] for name in ("r", "p", "v", "omega_bar")}
    a, b = evaluate(model, state), evaluate(on_rest.compile(check_pose=False), state.replace(**still))
    for name in ("Phi", "nu", "gamma"):
        assert np.abs(getattr(a, name) - getattr(b, name)).max() < ROUNDING
    assert np.abs(jacobian(a)[:, 1 - side] - jacobian(b)[:, 1 - side]).max() < ROUNDING


@by_kind
def test_a_rigid_motion_of_everything_changes_no_value_and_turns_the_forces(kind, rng):
    i, j, values = random_body("i", rng), random_body("j", rng), primitive_values(rng)
    q, shift = euler_parameters.normalized(rng.normal(size=4)), rng.normal(size=3)
    R = euler_parameters.rotation_matrix(q)
    turned = values | dict(c=R @ values["c"])
    before = model_of(make_primitive(kind, i, j, driven, values))
    after = model_of(make_primitive(kind, i, j, driven, turned))
    state = random_state(before, rng, t=0.4)
    moved = state.replace(r=state.r @ R.T + shift, p=euler_parameters.product(q, state.p), v=state.v @ R.T)
    a, b = evaluate(before, state), evaluate(after, moved)
    for name in ("Phi", "nu", "gamma", "PiBar"):
        assert np.abs(getattr(a, name) - getattr(b, name)).max() < ROUNDING
    assert np.abs(a.Phi_r @ R.T - b.Phi_r).max() < ROUNDING


@by_kind
def test_forces_on_the_two_bodies_balance(kind, rng):
    """Newton's third law: -Phi_q^T lam on both bodies has no resultant force, and no moment about the origin.

    A primitive along a global direction c has the moment d_ij x c: the frame that holds c carries it.
    """
    primitive = make_primitive(kind, random_body("i", rng), random_body("j", rng), driven, primitive_values(rng))
    model = model_of(primitive)
    state = random_state(model, rng, t=0.4)
    rows = evaluate(model, state)
    bodies = rows.bodies[0]
    A = euler_parameters.rotation_matrix(state.p)
    moment = sum(np.cross(state.r[b], rows.Phi_r[0, k]) + A[b] @ rows.PiBar[0, k] for k, b in enumerate(bodies))
    assert np.abs(rows.Phi_r[0].sum(axis=0)).max() < ROUNDING
    if "c" not in inspect.signature(kind).parameters:
        assert np.abs(moment).max() < ROUNDING


@pytest.mark.slow
def test_compiled_kernels_are_their_plain_python(plain):
    for name, compiled in levels().items():
        assert np.abs(compiled - plain[name]).max() <= COMPILED_TOL * max(1.0, np.abs(compiled).max()), name


BAD_VECTORS = {"text": "up", "None": None, "short": (1.0, 2.0), "NaN": (0.0, np.nan, 1.0), "infinite": (np.inf, 0.0, 0.0)}
BAD_DRIVERS = {"text": "fast", "None": None, "NaN": np.nan, "list": [1.0, 2.0], "function of nothing": lambda: 1.0}


def cases():
    for kind in KINDS:
        for name in inspect.signature(kind).parameters:
            if name not in ("i", "j"):
                bad = BAD_DRIVERS if name == "f" else BAD_VECTORS | ({} if name.startswith("s_") else {"zero": (0.0, 0.0, 0.0)})
                yield from (pytest.param(kind, name, value, id=f"{kind.kind}-{name}-{label}") for label, value in bad.items())


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name", "bad"), list(cases()))
def test_bad_input_is_a_fault_and_never_raises(kind, name, bad, rng):
    values = primitive_values(rng) | {"f": 1.0}
    values[name] = bad
    f = values.pop("f")
    faults = make_primitive(kind, random_body("crank", rng), random_body("rod", rng), f, values).faults()
    assert faults
    for fault in faults:
        assert isinstance(fault, Fault)
        assert "'crank'" in fault.where
        assert fault.what
        assert fault.remedy.endswith(".")


@by_kind
def test_a_good_primitive_has_no_faults_and_says_what_it_is(kind, rng):
    primitive = make_primitive(kind, random_body("crank", rng), random_body("rod", rng), 1.0, primitive_values(rng))
    assert primitive.faults() == ()
    assert isinstance(primitive, Primitive)
    assert isinstance(primitive.f, Driver)
    assert primitive.kind in repr(primitive)
    assert "crank" in primitive.words()
    assert "rod" in primitive.words()
    assert primitive.unit
    for _, x_bar in primitive.markers():
        assert not x_bar.flags.writeable


def test_kinds_are_named_apart():
    assert len({kind.kind for kind in KINDS}) == len(KINDS)


@pytest.mark.parametrize(
    ("e", "n"), [((2, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 2, 0)), ((1, 0, 0), (0.6, 0.8, 0)), ((1, 0, 0), (1, 0, 0))]
)
def test_rotation_refuses_vectors_that_would_make_another_angle(e, n, rng):
    (fault,) = Rotation(random_body("i", rng), e, n, random_body("j", rng), (1, 0, 0)).faults()
    assert "e_bar_i and n_bar_i" in fault.what
