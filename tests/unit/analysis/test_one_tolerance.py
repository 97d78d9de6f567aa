"""One fact, one tolerance: redundant rows that contradict each other are closed as far as they fit in every function, or refused."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math.euler_parameters import exponential, product
from haugmbd.tolerances import rounding_of_inertia
from joints import RJ
from tests.support.perturbed_loops import FAMILIES, hinge_loop

Build = Callable[..., mbd.System]

FUNCTIONS: dict[str, Callable[[Build], np.ndarray]] = {
    "assemble": lambda f: mbd.assemble(f(driven=True)).state.r,
    "assemble without a driver": lambda f: mbd.assemble(f()).state.r,
    "assembly_modes": lambda f: mbd.assembly_modes(f(), starts=1)[0].state.r,
    "kinematics": lambda f: mbd.kinematics(f(driven=True), [0.0, 0.05]).r[-1],
    "inverse_dynamics": lambda f: mbd.inverse_dynamics(f(driven=True), [0.0, 0.05]).result.r[-1],
    "simulate": lambda f: mbd.simulate(f(), 0.02, h=0.01).r[-1],
    "simulate a driver": lambda f: mbd.simulate(f(driven=True), 0.02, h=0.01, project_velocity=True).r[-1],
    "continue": lambda f: mbd.simulate(mbd.assemble(f()).model, 0.02, h=0.01).r[-1],
    "accelerations": lambda f: mbd.accelerations(f()).v_dot,
    "impulse": lambda f: mbd.impulse(f()).state.r,
    "batch": lambda f: mbd.batch(f(), parameters={"link 0.mass": np.ones(1)}).accelerations().v_dot[0],
    "mobility": lambda f: np.array([float(mbd.mobility(f()).degrees_of_freedom)]),
}
"""A number of each function that meets a mechanism: positions, accelerations, degrees of freedom."""

LARGE = {
    "equilibrium": lambda f: mbd.equilibrium(f()).state.r,
    "linearize": lambda f: np.array([len(mbd.linearize(mbd.equilibrium(f())).M)]),
}
PLANAR = ("four-bar", "parallelogram", "slider-crank")
SAME = ("assemble without a driver", "accelerations")
SMALL, BEYOND = (1e-9, 1e-5, 4e-4), 2e-3


def verdict(function: Callable[[Build], np.ndarray], build: Build) -> np.ndarray | str:
    """The number that a function returns, or why it refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return function(build)
    except mbd.HaugmbdError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.parametrize("family", [*PLANAR, "sarrus", "bennett"])
def test_what_one_function_runs_all_run(family):
    """With errors of digits, results differ from the exact mechanism's in proportion to the error."""
    functions = FUNCTIONS | (LARGE if family == "four-bar" else {})
    exact = {name: verdict(f, lambda **how: FAMILIES[family](0.0, **how)) for name, f in functions.items()}
    for error in SMALL if family == "four-bar" else (1e-12, 1e-4):
        for name, function in functions.items():
            found = verdict(function, lambda error=error, **how: FAMILIES[family](error, **how))
            assert not isinstance(found, str), (name, error, found)
            assert np.abs(found - exact[name]).max() <= 50.0 * error + 1e-12, (name, error)


@pytest.mark.slow
@pytest.mark.parametrize("family", PLANAR)
def test_what_one_function_refuses_all_refuse_for_the_same_cause(family):
    for name, function in (FUNCTIONS | LARGE).items():
        if name == "mobility":  # reports faults, and raises none
            continue
        found = verdict(function, lambda **how: FAMILIES[family](BEYOND, **how))
        assert isinstance(found, str), name
        assert "redundant rows contradict each other by" in found, (name, found)
        assert "tolerance=0.001" in found
        assert all(f"'joint {k}'" in found for k in range(4))
        assert "singular" not in found.lower()


def random_loop(seed: int, **how: bool) -> mbd.System:
    """A planar loop of four to six hinges, turned in space, in mm, m or km, whose points or axes are off by 1e-11 to 2e-3."""
    rng = np.random.default_rng(seed)
    n, scale, error = int(rng.integers(4, 7)), 10.0 ** rng.choice([-3, 0, 3]), 10.0 ** rng.uniform(-11, -2.7)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    angles = np.zeros(n)
    while np.diff(np.append(angles, angles[0] + 2.0 * np.pi)).min() < 0.35:
        angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, n))
    points = [turn @ (r * np.cos(a), r * np.sin(a), 0.0) for r, a in zip(rng.uniform(0.5, 1.5, n), angles, strict=True)]
    kinds = rng.choice(["points", "axes", "points axes"])
    return hinge_loop(points, [turn[:, 2]] * n, error, seed=seed, scale=scale, kinds=kinds, **how)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [76, 143, 202])
def test_a_pose_that_is_refused_can_be_assembled_or_is_refused_for_what_its_assembly_is(seed):
    """Also where redundancy shows at the closest pose only. No loop that is nearly closed slides to where it happens to fit.

    The last one is beside a dead centre, and closes.
    """
    found = {name: verdict(FUNCTIONS[name], lambda **how: random_loop(seed, **how)) for name in SAME}
    causes = ["contradict each other by" in text for text in found.values() if isinstance(text, str)]
    assert len(causes) in (0, len(SAME)), found
    assert len(set(causes)) <= 1, found
    if not causes:
        start = random_loop(seed).compile(check_pose=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assembly = mbd.assemble(random_loop(seed))
        assert np.abs(assembly.state.r - start.state().r).max() <= 0.2 * start.length


DOORS = ("assemble without a driver", "simulate", "accelerations", "impulse")


def near_the_limit(seed: int, **how: bool) -> mbd.System:
    """A loop of one of the families whose points and axes are off by 1e-4 to 3e-3."""
    families = list(FAMILIES)
    error = 10.0 ** np.random.default_rng([7, seed]).uniform(-4.0, -2.5)
    return FAMILIES[families[seed % len(families)]](error, seed=seed, **how)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "seed"), [(random_loop, 455), (random_loop, 491), *((near_the_limit, seed) for seed in (10, 14, 17, 18, 26, 32))]
)
def test_a_contradiction_near_the_limit_has_the_same_numbers_everywhere(make, seed):
    """Where more than one set of rows could be the redundant ones, and Newton's method closes the independent ones from nearby or not."""
    found = {name: verdict(FUNCTIONS[name], lambda **how: make(seed, **how)) for name in DOORS}
    said = {re.search("contradict each other by .*?, more", text) for text in found.values() if isinstance(text, str)}
    numbers = {match.group() if match else "another cause" for match in said}
    refused = sum(isinstance(text, str) for text in found.values())
    assert refused in (0, len(DOORS)), found
    assert len(numbers) == (refused > 0), found
    assert "another cause" not in numbers, found


@pytest.mark.slow
def test_independent_rows_close_on_the_branch_of_all_rows():
    """From this far start they alone lead to another branch, where the redundant ones contradict them: the mechanism fits to 1e-6."""
    rng = np.random.default_rng(77)
    model = FAMILIES["slider-crank"](1e-6, seed=77).compile(check_pose=False)
    angle, start = rng.uniform(0.1, 0.6), model.state()
    r, p = start.r.copy(), start.p.copy()
    r[1:] += 0.3 * angle * model.length * rng.normal(size=(model.nb, 3))
    p[1:] = product(p[1:], exponential(angle * rng.normal(size=(model.nb, 3))))
    (one,) = mbd.assemble(model, start.replace(r=r, p=p)).contradictions
    assert one.part < 1e-5


@pytest.mark.slow
def test_one_tolerance_reaches_every_function():
    """What the default refuses runs with `tolerance=`, of the function or of the system; what it runs is refused by a smaller one."""
    wide = {
        "assemble": lambda s, t: mbd.assemble(s, tolerance=t),
        "assembly_modes": lambda s, t: mbd.assembly_modes(s, starts=1, tolerance=t),
        "simulate": lambda s, t: mbd.simulate(s, 0.02, h=0.01, tolerance=t),
        "equilibrium": lambda s, t: mbd.equilibrium(s, tolerance=t),
        "accelerations": lambda s, t: mbd.accelerations(s, tolerance=t),
        "impulse": lambda s, t: mbd.impulse(s, tolerance=t),
        "batch": lambda s, t: mbd.batch(s, parameters={"link 0.mass": np.ones(1)}, tolerance=t),
    }
    driven = {
        "kinematics": lambda s, t: mbd.kinematics(s, [0.0, 0.05], tolerance=t),
        "inverse_dynamics": lambda s, t: mbd.inverse_dynamics(s, [0.0, 0.05], tolerance=t),
    }
    make = FAMILIES["four-bar"]
    for name, call in (wide | driven).items():
        how = {"driven": name in driven}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            call(make(BEYOND, **how), 1e-2)
            with pytest.raises(mbd.HaugmbdError, match="contradict each other"):
                call(make(1e-5, **how), 1e-6)
        with pytest.raises(mbd.UsageError, match="tolerance"):
            call(make(0.0, **how), 1.0)
    mbd.simulate(make(BEYOND, tolerance=1e-2), 0.02, h=0.01)
    with pytest.raises(mbd.AssemblyError, match="contradict each other"):
        mbd.assemble(make(1e-5, tolerance=1e-6))
    with pytest.raises(mbd.UsageError, match="tolerance"):
        mbd.assemble(mbd.assemble(make(0.0)).model, tolerance=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_verdict_does_not_depend_on_the_unit(scale):
    for error, runs in ((1e-4, True), (3e-3, False)):
        for name in ("assemble", "simulate", "kinematics"):
            found = verdict(FUNCTIONS[name], lambda error=error, **how: FAMILIES["four-bar"](error, scale=scale, **how))
            assert isinstance(found, str) != runs, (name, error, scale)


@pytest.mark.slow
def test_what_is_left_is_measured_and_told():
    with pytest.warns(UserWarning, match="redundant rows of joints"):
        model = FAMILIES["four-bar"](1e-4).compile()
    found = mbd.assemble(FAMILIES["four-bar"](1e-4))
    (one,) = found.contradictions
    assert one.joints == ("joint 0", "joint 1", "joint 2", "joint 3")
    assert 1e-5 < one.part < 1e-3
    assert "contradict each other by" in str(found)
    assert found.after <= 1e-12
    assert any("redundant rows" in text for text in model.warnings)
    assert mbd.assemble(FAMILIES["four-bar"](0.0)).contradictions == ()


@pytest.mark.slow
def test_reactions_are_right_to_the_size_of_the_error():
    exact = mbd.simulate(FAMILIES["four-bar"](0.0), 0.3, h=1e-2)
    for error in (1e-6, 1e-5, 1e-4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = mbd.simulate(FAMILIES["four-bar"](error), 0.3, h=1e-2)
        a, b = (run.reaction("joint 0").force for run in (found, exact))
        assert np.abs(a - b)[:, :2].max() <= 300.0 * error * np.abs(b).max()


@pytest.mark.slow
def test_lengths_that_do_not_close_are_no_contradiction():
    """At its closest pose a loop that cannot close has dependent rows, too, but only there."""
    system = mbd.System("triangle")
    a, b = (system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=(x, 0, 0))) for name, x in (("a", 0.5), ("b", 1.5)))
    system.add(RJ.from_vectors("A", system.ground, (0, 0, 0), (1, 0, 0), (0, 1, 0), a, (-0.5, 0, 0), (0, 0, 1)))
    system.add(RJ.from_vectors("B", a, (0.5, 0, 0), (1, 0, 0), (0, 1, 0), b, (-0.5, 0, 0), (0, 0, 1)))
    system.add(RJ.from_vectors("C", b, (0.5, 0, 0), (1, 0, 0), (0, 1, 0), system.ground, (2.0004, 0, 0), (0, 0, 1)))
    with pytest.raises(mbd.AssemblyError, match="closest pose"):
        mbd.assemble(system)


def test_the_tolerance_is_kept_with_the_system(tmp_path):
    system = FAMILIES["four-bar"](2e-3, tolerance=5e-3)
    again = mbd.load_model(system.save(tmp_path / "loop.json"))
    assert again.tolerance == 5e-3
    assert mbd.load_model(tmp_path / "loop.json", tolerance=1e-2).tolerance == 1e-2
    text = (tmp_path / "loop.json").read_text().replace("0.005", "5.0")
    (tmp_path / "wrong.json").write_text(text)
    with pytest.raises(mbd.ModelFileError, match="tolerance"):
        mbd.load_model(tmp_path / "wrong.json")


def test_an_inertia_of_the_size_of_rounding_is_that_of_a_point():
    for J in (np.diag([-2e-35, 0.0, 2e-35]), np.diag([1e-18, 2e-19, 0.0]), np.diag([-5.4e-20, -5.4e-20, 0.0])):
        body = mbd.Body("a", 1.3, J)
        assert body.faults() == ()
        assert not body.J_bar.any()
    assert mbd.Body("a", 1.3, (-1e-9, 1.0, 1.0)).faults()
    assert mbd.Body("molecule", 1e-24, (-1e-42, 1e-42, 1e-42)).faults()
    assert rounding_of_inertia(1e-24) < 1e-50


def test_velocities_of_the_size_of_rounding_are_none():
    system = mbd.System("rest")
    body = system.add(mbd.Body("a", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0), v=(0, -3.17e-23, 1e-20), omega_bar=(2e-20, 0, 0)))
    system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    assert mbd.assemble(system).rate_after < 1e-20
    mbd.simulate(system, 0.02, h=0.01)
