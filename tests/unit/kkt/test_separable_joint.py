"""Joints of which each row restricts the translation of a point, or the rotation, and screws, in the recursion over forests.

Against LAPACK, numbers in extended precision, and the block LDL^T: from either side, on and off their rows, driven, with masses far apart.
"""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.kkt.solver import BLOCK, TREE
from haugmbd.kkt.tree_arrays import BODY, EDGE, GENERAL, HELICAL, KIND, REVOLUTE, SEPARABLE
from haugmbd.workspace.layout import workspace_array
from joints import (
    CJ,
    RJ,
    SJ,
    TJ,
    UJ,
    ConstantVelocity,
    Coupling,
    Distance,
    Fixed,
    Parallel,
    Perpendicular,
    Planar,
    PointInPlane,
    PointOnLine,
    RotationDriver,
    Screw,
    TranslationDriver,
)
from tests.support.augmented_systems import GROWTH, condition, equilibrated, solution, solved_in_long_double
from tests.support.seeds import seeds

NO_WORSE = 10.0
"""Factor by which the recursion may be farther from the exact solution than blocks and LAPACK, by chance; beside a few roundings."""

FEW = 10.0 * float(np.finfo(float).eps)

RUN = 1e-9
"""[m, rad] of states after a run: 1e-13 is seen."""


def turning(f):
    """The driver of a joint that turns."""
    return lambda name, i, j, P, a, b: (joint := RJ(name, i, j, point=P, axis=a), RotationDriver(f"{name} drive", joint, f))


def joined(name, i, j, P, a, b):
    """A cylindrical joint whose rotation and displacement are driven."""
    joint = CJ(name, i, j, point=P, axis=a)
    return (
        joint,
        RotationDriver(f"{name} turn", joint, lambda t: 0.3 * t * t),
        TranslationDriver(f"{name} slide", joint, lambda t: t),
    )


def slid(name, i, j, P, a, b):
    """A translational joint that is driven."""
    joint = TJ(name, i, j, point=P, axis=a)
    return joint, TranslationDriver(f"{name} drive", joint, lambda t: 0.2 * t * t)


def threaded(pitch):
    """A screw of this pitch."""
    return lambda name, i, j, P, a, b: (joint := CJ(name, i, j, point=P, axis=a), Screw(f"{name} thread", joint, pitch=pitch))


def driven_screw(name, i, j, P, a, b):
    """A cylindrical joint whose displacement and angle have a prescribed sum."""
    joint = CJ(name, i, j, point=P, axis=a)
    terms = {joint.coordinate("angle"): 0.4, joint.coordinate("displacement"): -0.7}
    return joint, Coupling(f"{name} thread", terms, f=lambda t: 0.3 * t * t)


KINDS = {
    "SJ": lambda name, i, j, P, a, b: (SJ(name, i, j, point=P),),
    "UJ": lambda name, i, j, P, a, b: (UJ(name, i, j, point=P, axis_i=a, axis_j=np.cross(a, b)),),
    "CJ": lambda name, i, j, P, a, b: (CJ(name, i, j, point=P, axis=a),),
    "TJ": lambda name, i, j, P, a, b: (TJ(name, i, j, point=P, axis=a),),
    "Planar": lambda name, i, j, P, a, b: (Planar(name, i, j, point=P, normal=a),),
    "Fixed": lambda name, i, j, P, a, b: (Fixed(name, i, j, point=P),),
    "ConstantVelocity": lambda name, i, j, P, a, b: (ConstantVelocity(name, i, j, point=P, axis_i=a, axis_j=a + 0.2 * b),),
    "Parallel": lambda name, i, j, P, a, b: (Parallel(name, i, j, axis=a),),
    "Perpendicular": lambda name, i, j, P, a, b: (Perpendicular(name, i, j, axis_i=a, axis_j=np.cross(a, b)),),
    "PointOnLine": lambda name, i, j, P, a, b: (PointOnLine(name, i, j, point=P, axis=a),),
    "PointInPlane": lambda name, i, j, P, a, b: (PointInPlane(name, i, j, point=P, normal=a),),
    "RJ driven": turning(lambda t: 0.5 * t + 0.3 * t * t),
    "TJ driven": slid,
    "CJ driven": joined,
    "Screw": threaded(0.3),
    "Screw driven": driven_screw,
    "Screw, flat": threaded(-1e-4),
    "Screw, steep": threaded(1e4),
}
SCREWS = [kind for kind in KINDS if kind.startswith("Screw")]
OTHERS = {
    "RJ": lambda name, i, j, P, a, b: (RJ(name, i, j, point=P, axis=a),),
    "Distance": lambda name, i, j, P, a, b: (Distance(name, i, j, point_i=P, point_j=P + a),),
}


def tree(kinds: dict, n: int, seed: int, *, ratio: float = 1.0, free: bool = False) -> mbd.System:
    """n bodies, each on one of the two before it, by joints from either side; ratio: of the last mass to the first."""
    rng = np.random.default_rng(seed)
    system, bodies = mbd.System("tree", gravity=(0.3, -0.5, -9.81)), []
    for k in range(n):
        size, p = ratio ** (k / max(n - 1, 1)), rng.normal(size=4)
        J = size * (0.05 + 0.05 * rng.random(3))
        body = mbd.Body(f"b{k}", size, J, r=(k, *rng.normal(size=2)), p=p / np.linalg.norm(p), omega_bar=rng.normal(size=3))
        bodies.append(system.add(body))
        if k == 0 and free:
            continue
        parent = bodies[max(0, k - 1 - int(rng.integers(2)))] if k else system.ground
        pair = (parent, body) if rng.random() < 0.5 else (body, parent)
        make = tuple(kinds.values())[(seed + k) % len(kinds)]
        a, b = rng.normal(size=(2, 3))
        for joint in make(f"j{k}", *pair, body.r - 0.5 + rng.normal(size=3), a / np.linalg.norm(a), b):
            system.add(joint)
    return system


def off_its_rows(model: mbd.Model, seed: int) -> mbd.State:
    """The modelled state, with every body moved and turned by about a tenth."""
    rng, state = np.random.default_rng(seed), model.state()
    r, p = state.r + 0.1 * rng.normal(size=state.r.shape), state.p + 0.05 * rng.normal(size=state.p.shape)
    r[0], p[0] = state.r[0], state.p[0]
    return state.replace(r=r, p=p / np.linalg.norm(p, axis=1)[:, None], t=0.7)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_tree_of_each_kind_agrees_with_lapack(kind):
    """On its rows and off them: accelerations and all multipliers."""
    for seed in seeds(3):
        model = tree({kind: KINDS[kind]}, 5, seed, free=seed % 3 == 2).compile(solver=TREE, check_pose=False)
        carried = model.tables["TREE"][:, EDGE] >= 0
        assert set(model.tables["TREE"][carried, KIND].tolist()) == {HELICAL if kind in SCREWS else SEPARABLE}
        for state in (model.state(), off_its_rows(model, seed)):
            K, b, s = equilibrated(model, state)
            reference, x = np.linalg.solve(K, b), solution(model, state) / s
            bound = GROWTH * np.finfo(float).eps * condition(K)
            assert np.abs(x - reference).max() < bound * np.abs(reference).max(), seed


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(8))
def test_trees_of_all_kinds_agree_with_lapack(seed):
    """Revolute, separable, helical, and other joints in one tree."""
    model = tree(KINDS | OTHERS, 21, seed, free=seed % 2 == 0).compile(solver=TREE, check_pose=False)
    assert set(model.tables["TREE"][:, KIND].tolist()) == {GENERAL, REVOLUTE, SEPARABLE, HELICAL}
    state = off_its_rows(model, seed)
    K, b, s = equilibrated(model, state)
    reference, x = np.linalg.solve(K, b), solution(model, state) / s
    assert np.abs(x - reference).max() < GROWTH * np.finfo(float).eps * condition(K) * np.abs(reference).max()


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1e-12, 1e-6, 1e6, 1e12])
@pytest.mark.parametrize("kind", ["SJ", "UJ", "CJ", "TJ", "Planar", "Fixed", "Screw", "all"])
def test_mass_ratios_cost_no_more_digits_than_their_conditioning(kind, ratio):
    """Of accelerations and of multipliers, relative to the largest: as with blocks and LAPACK where masses decrease outward.

    Heavy bodies on light ones lose digits in articulated inertias, up to 30 times as many units as with blocks in one solution;
    they stay below the rounding unit times the condition number of the scaled matrix, which is 1e5 to 1e13.
    """
    kinds = KINDS if kind == "all" else {kind: KINDS[kind]}
    for seed in seeds(1):
        system = tree(kinds, 8, seed, ratio=ratio)
        model = system.compile(solver=TREE, check_pose=False)
        K, b, s = equilibrated(model, model.state())
        exact, n = solved_in_long_double(K, b) * s, 6 * model.nb
        found = {TREE: solution(model, model.state()), "LAPACK": np.linalg.solve(K, b) * s}
        if ratio < 1.0:
            found[BLOCK] = solution(system.compile(solver=BLOCK, check_pose=False), model.state())
        for part in (slice(n), slice(n, None)):
            size = np.abs(exact[part]).max()
            error = {name: float(np.abs(x - exact)[part].max() / size) for name, x in found.items()}
            by_tree = error.pop(TREE)
            if ratio < 1.0:
                assert by_tree < NO_WORSE * max(*error.values(), FEW), seed
            else:
                assert by_tree < np.finfo(float).eps * condition(K), seed


def test_rows_of_unequal_lengths_and_of_two_points_are_solved_as_any_others():
    """Volumes of rows compare with 1 where their vectors have the length 1 only; two points are no common one."""
    system = mbd.System("other", gravity=(0.3, -0.5, -9.81))
    for k, scale in enumerate((1.0, 2.0)):
        body = system.add(mbd.Body(f"b{k}", 1.0, (0.1, 0.2, 0.3), r=(k, 1.0, 0.0)))
        system.add(UJ.from_vectors(f"u{k}", system.ground, (k, 0, 0), (scale, 0, 0), body, (0, -1, 0), (0, 1, 0)))
    last = system.add(mbd.Body("last", 1.0, (0.1, 0.2, 0.3), r=(5.0, 0.0, 0.0)))
    system.add(PointInPlane("one", system.ground, last, point=(5, 1, 0), normal=(0, 0, 1)))
    system.add(PointInPlane("two", system.ground, last, point=(5, 0, 1), normal=(1, 0, 0)))
    model = system.compile(solver=TREE)
    assert sorted(model.tables["TREE"][:, KIND].tolist()) == [GENERAL, GENERAL, SEPARABLE]


@pytest.mark.parametrize("kind", ["UJ", "TJ", "Fixed", "CJ", "Parallel"])
def test_dependent_rows_are_reported_at_the_same_joint(kind):
    """A body turned by a quarter about the axis, or across it, where the gradient of a dot product vanishes."""
    for name in (BLOCK, TREE):
        system = mbd.System("turned", gravity=(0.0, 0.0, -9.81))
        arm = system.add(mbd.Body("arm", 1.0, (0.1, 0.2, 0.3), r=(1.0, 0.0, 0.0)))
        for joint in KINDS[kind]("pin", system.ground, arm, np.zeros(3), np.array((0.0, 0.0, 1.0)), np.array((1.0, 0.0, 0.0))):
            system.add(joint)
        model = system.compile(solver=name)
        axis = {"UJ": 1, "CJ": 2, "Parallel": 2}.get(kind, 3)
        turned = model.state().p.copy()
        turned[1, 0], turned[1, axis] = 0.5**0.5, 0.5**0.5
        if kind == "UJ":
            turned[1] = (0.5**0.5, 0.5**0.5, 0.0, 0.0)
        with pytest.raises(mbd.SimulationError, match="pin"):
            mbd.accelerations(model, model.state().replace(p=turned))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_volume_that_the_rows_span_decreases_as_that_of_blocks(kind):
    """The product of the pivots, which explicit steppers watch, is proportional to theirs where only this joint moves."""
    ratio = []
    for seed in seeds(2):
        volume = {}
        for name in (BLOCK, TREE):
            system = mbd.System("one")
            body = system.add(mbd.Body("body", 1.0, (1.0, 1.0, 1.0), r=(0.0, 0.0, 0.0)))
            for joint in KINDS[kind]("j", system.ground, body, np.zeros(3), np.array((0.0, 0.0, 1.0)), np.array((1.0, 0.3, 0.2))):
                system.add(joint)
            model = system.compile(solver=name)
            p = np.random.default_rng(seed).normal(size=4) * 0.2 + (1, 0, 0, 0)
            state = model.state().replace(p=np.array([(1, 0, 0, 0), p / np.linalg.norm(p)]))
            mbd.accelerations(model, state)
            d_inv = workspace_array(model.pack(), "D_INV")[2:]
            volume[name] = abs(np.prod(d_inv[d_inv != 0.0]))
        ratio.append(volume[TREE] / volume[BLOCK])
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["SJ", "UJ", "CJ", "TJ", "Planar", "Fixed", "ConstantVelocity", "RJ driven", "TJ driven", "CJ driven", "Screw"]
)
def test_chains_are_solved_by_the_recursion(kind):
    assert tree({kind: KINDS[kind]}, 10, 0).compile(check_pose=False).solver == TREE


def test_other_couplings_of_a_cylindrical_joint_are_solved_as_any_rows():
    """Of its angle alone, and two of them."""
    system = mbd.System("couplings", gravity=(0.3, -0.5, -9.81))
    joints = []
    for k in range(3):
        body = system.add(mbd.Body(f"b{k}", 1.0, (0.1, 0.2, 0.3), r=(k, 1.0, 0.0)))
        joints.append(system.add(CJ(f"c{k}", system.ground, body, point=(k, 0, 0), axis=(0, 1, 0))))
    angle, displacement = ([joint.coordinate(what) for joint in joints] for what in ("angle", "displacement"))
    system.add(Coupling("angle", {angle[0]: 1.0}, f=lambda t: 0.1 * t * t))
    system.add(Coupling("first", {angle[1]: 0.2, displacement[1]: 1.0}))
    system.add(Coupling("second", {angle[1]: 0.2, displacement[1]: -1.0}))
    system.add(Coupling("screw", {angle[2]: 0.2, displacement[2]: 1.0}))
    model = system.compile(solver=TREE)
    of_body = dict(zip(model.tables["TREE"][:, BODY].tolist(), model.tables["TREE"][:, KIND].tolist(), strict=True))
    assert [of_body[k] for k in (1, 2, 3)] == [GENERAL, GENERAL, HELICAL]
    K, b, s = equilibrated(model, model.state())
    reference = np.linalg.solve(K, b)
    bound = GROWTH * np.finfo(float).eps * condition(K)
    assert np.abs(solution(model, model.state()) / s - reference).max() < bound * np.abs(reference).max()


@pytest.mark.parametrize("kind", ["Parallel", "Perpendicular", "PointOnLine", "PointInPlane"])
def test_joints_of_one_and_two_rows_are_left_to_blocks(kind):
    assert tree({kind: KINDS[kind]}, 10, 0).compile(check_pose=False).solver == BLOCK


@pytest.mark.slow
def test_runs_end_in_the_same_state():
    """Projected at every step, with rows that are driven; from a state that the rows allow."""
    ends = []
    for name in (TREE, BLOCK):
        kinds = {kind: KINDS[kind] for kind in ("SJ", "UJ", "CJ", "TJ", "Planar", "RJ driven", "Screw", "Screw driven")}
        model = tree(kinds, 8, 1).compile(solver=name, check_pose=False)
        ends.append(mbd.simulate(model, 0.05, h=1e-3, state=mbd.assemble(model).state).y[-1])
    assert np.abs(ends[0] - ends[1]).max() < RUN
