"""Stabilizations: gains by the step, plain against weighted projection, projection by turns and by threshold, energy; their orders."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum, four_bar, heavy_top, slider_crank
from haugmbd.integrators.stabilization.projection import farthest_row, put_position_residual, put_velocity_residual
from haugmbd.integrators.stabilization.unweighted_projection import radii_of_gyration
from haugmbd.model.evaluate import evaluate_rows
from haugmbd.workspace.layout import workspace_array
from joints import RJ, SJ, TJ
from tests.support.models import model_of

ON = 1e-12
"""|Phi| and |Phi_q u - nu| after a projection: a tenth is its tolerance, the rest is for numbers of size 10."""
PROJECTIONS = {"weighted": mbd.Projection(), "plain": mbd.UnweightedProjection(), "energy": mbd.EnergyProjection()}


def gaps(result) -> tuple[np.ndarray, np.ndarray]:
    """Largest |Phi| and |Phi_q u - nu| of each state, in the rows' own units."""
    position, velocity = [], []
    for k in range(len(result)):
        rows = mbd.evaluate(result.model, result.state(k))
        u = np.hstack([result.v[k], result.omega_bar[k]])[1:].ravel()
        position.append(np.abs(rows.Phi).max())
        velocity.append(np.abs(rows.Phi_q @ u - rows.nu).max())
    return np.array(position), np.array(velocity)


def test_residuals_are_those_of_the_rows_and_the_farthest_row_is_named(rng):
    """Against the rows that `evaluate` returns; a row that is not a number is the farthest, and the residual is not a number either."""
    model = slider_crank().compile()
    for _ in range(20):
        state, moved = model.state(), np.arange(model.nb + 1)[:, None] > 0
        state = state.replace(r=state.r + 0.1 * moved * rng.normal(size=state.r.shape), v=moved * rng.normal(size=state.v.shape))
        rows, pack = mbd.evaluate(model, state), model.pack()
        evaluate_rows(pack, 0.0, state.y)
        weight = np.array(model.tables["KEPT"])
        assert put_position_residual(pack, weight) == np.abs(rows.Phi).max()
        assert list(model.slot_of_row).index(farthest_row(pack, weight)) == int(np.abs(rows.Phi).argmax())
        u = np.hstack([state.v, state.omega_bar])[1:].ravel()
        speed = put_velocity_residual(pack, state.y[: 13 * (model.nb + 1)].reshape(-1, 13), weight)
        np.testing.assert_allclose(speed, np.abs(rows.Phi_q @ u - rows.nu).max(), rtol=1e-13)
    for row in rng.permutation(model.nc)[:3].tolist():
        Phi = workspace_array(pack, "LEVEL")[:, 0]
        Phi[model.slot_of_row[row]] = np.nan
        assert np.isnan(put_position_residual(pack, weight))
        assert farthest_row(pack, weight) == int(np.isnan(Phi).argmax())


@pytest.mark.parametrize("make", [double_pendulum, heavy_top, slider_crank])
def test_dimensionless_gains_are_gains_times_the_step(make):
    h = 2e-3
    plain = mbd.simulate(model_of(make), 0.1, h=h, stabilization=mbd.Baumgarte(0.1 / h, 0.05 / h))
    scaled = mbd.simulate(model_of(make), 0.1, h=h, stabilization=mbd.Baumgarte.scaled(alpha_h=0.1, beta_h=0.05))
    np.testing.assert_array_equal(scaled.y, plain.y)
    assert "Baumgarte.scaled(alpha_h=" in scaled.settings["stabilization"]


@pytest.mark.slow
def test_drift_under_dimensionless_gains_falls_with_the_second_power():
    """The stages are off the constraints by h^2, and gains / h make accelerations of that: small ones, but of order two."""
    drifts = [
        gaps(mbd.simulate(model_of(double_pendulum), 0.5, h=h, stabilization=mbd.Baumgarte.scaled(0.1, 0.1)))[0].max()
        for h in (1e-3, 5e-4)
    ]
    assert np.log2(drifts[0] / drifts[1]) == pytest.approx(2.0, abs=0.15)


def test_critical_damping():
    """A velocity error alone: Phi = (Phi_dot_0) t exp(-alpha t), its largest value after one time constant."""
    assert mbd.Baumgarte.critical(0.1) == mbd.Baumgarte(10.0, 10.0)
    system = mbd.System("loose")
    body = system.add(mbd.Body("body", 1.0, (1.0, 1.0, 1.0), v=(1e-7, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    model = system.compile()
    rule = mbd.Baumgarte.critical(0.1)
    y, y_dot, pack, options = model.state().y, np.zeros(26), model.pack(), rule.options()
    t, h = 0.0, 1e-3
    for _ in range(100):  # RK2 by hand, on a start that the callback would refuse
        assert rule.rates(pack, options, t, y, y_dot) == 0
        half = y + 0.5 * h * y_dot
        assert rule.rates(pack, options, t + 0.5 * h, half, y_dot) == 0
        y, t = y + h * y_dot, t + h
    assert y[13] == pytest.approx(1e-7 * 0.1 * np.exp(-1.0), rel=1e-4)


@pytest.mark.parametrize("time", [0.0, -1.0, np.nan, np.inf, "0.1", True])
def test_critical_damping_needs_a_time(time):
    with pytest.raises(mbd.UsageError, match="must be finite and positive"):
        mbd.Baumgarte.critical(time)


@pytest.mark.slow
@pytest.mark.parametrize("rule", PROJECTIONS.values(), ids=PROJECTIONS)
@pytest.mark.parametrize("make", [double_pendulum, heavy_top, four_bar, slider_crank])
def test_projections_reach_the_constraints(make, rule):
    result = mbd.simulate(model_of(make), 0.2, h=1e-3, stabilization=rule)
    position, velocity = gaps(result)
    assert position.max() <= ON
    assert velocity.max() <= ON
    exact = mbd.simulate(model_of(make), 0.2, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(result.r[-1], exact.r[-1], rtol=0.0, atol=1e-4)


@pytest.mark.parametrize("kind", [mbd.Projection, mbd.UnweightedProjection])
@pytest.mark.parametrize("make", [four_bar, slider_crank])
def test_a_projection_is_the_least_change(make, kind):
    """A disturbed state: the change is the least one, by dense linear algebra (massless axes of the four-bar's rods included)."""
    model = make().compile()
    rng, state = np.random.default_rng(2), model.state()
    y, size = state.y, 1e-5
    disturbed = y.reshape(-1, 13)
    disturbed[1:, :3] += size * rng.standard_normal((model.nb, 3))
    disturbed[1:, 7:] += size * rng.standard_normal((model.nb, 6))
    before = disturbed.copy()
    rule, pack = kind(), model.pack()
    pack = rule.fitted(model, pack)
    assert rule.post_step(pack, rule.options(), 0.0, y, np.zeros_like(y)) == 0
    after = y.reshape(-1, 13)
    rows = mbd.evaluate(model, mbd.State.from_y(0.0, before.ravel(), model.nb + 1))
    settled = mbd.evaluate(model, mbd.State.from_y(0.0, y, model.nb + 1))
    W = np.zeros((6 * model.nb, 6 * model.nb))
    sizes, inertia = radii_of_gyration(model), model.tables["INERTIA"]
    for k in range(1, model.nb + 1):
        at = 6 * (k - 1)
        W[at : at + 3, at : at + 3] = np.eye(3) * (inertia[k, 0] if kind is mbd.Projection else 1.0)
        W[at + 3 : at + 6, at + 3 : at + 6] = inertia[k, 1:].reshape(3, 3) if kind is mbd.Projection else sizes[k] ** 2 * np.eye(3)

    def least(rows, wanted):
        J, nc = rows.Phi_q.toarray(), len(rows.Phi)
        K = np.block([[W, J.T], [J, np.zeros((nc, nc))]])
        return np.linalg.solve(K, np.concatenate([np.zeros(len(W)), wanted]))[: len(W)].reshape(-1, 6)

    np.testing.assert_allclose((after - before)[1:, :3], least(rows, -rows.Phi)[:, :3], rtol=0.0, atol=20.0 * size**2)
    u = before[1:, 7:].ravel()
    np.testing.assert_allclose((after - before)[1:, 7:], least(settled, settled.nu - settled.Phi_q @ u), rtol=0.0, atol=1e-12)


def test_the_size_of_a_turn_is_a_choice():
    """The larger a turn counts, the less a plain projection turns."""
    turned = []
    for size in (0.01, 100.0):
        model, rule = four_bar().compile(), mbd.UnweightedProjection(size=size)
        y = model.state().y
        before = y.reshape(-1, 13).copy()
        y[13] += 1e-6
        assert rule.post_step(rule.fitted(model, model.pack()), rule.options(), 0.0, y, np.zeros_like(y)) == 0
        turned.append(np.abs((y.reshape(-1, 13) - before)[:, 3:7]).max())
    assert turned[1] < 1e-2 * turned[0]


@pytest.mark.parametrize("kind", [mbd.Projection, mbd.UnweightedProjection])
def test_every_so_many_steps(kind):
    """Of 100 steps every tenth is projected, and the start; in between the constraints drift."""
    result = mbd.simulate(model_of(heavy_top), 0.1, h=1e-3, stabilization=kind(every=10))
    position, _ = gaps(result)
    on = position <= ON
    assert on[::10].all()
    assert not on[np.arange(101) % 10 != 0].any()
    assert result.counters.projections == 10
    each = mbd.simulate(model_of(heavy_top), 0.1, h=1e-3, stabilization=kind())
    assert each.counters.projections == 100
    assert each.counters.factorizations > result.counters.factorizations


def test_every_counts_accepted_steps():
    """Error control that refuses steps does not spend their turns."""
    result = mbd.simulate(model_of(double_pendulum), 10.0, rtol=1e-5, atol=1e-5, stabilization=mbd.Projection(every=7))
    assert result.counters.rejected > 10
    position, _ = gaps(result)
    assert (position[::7] <= ON).all()
    assert (position[1::7] > ON).any()


@pytest.mark.slow
def test_a_threshold():
    """Nothing is done below it, and all beyond it is brought back: no state is further off, and few steps are corrected."""
    threshold = 1e-7
    result = mbd.simulate(model_of(heavy_top), 0.2, h=2e-4, stabilization=mbd.Projection(threshold=threshold))
    position, velocity = gaps(result)
    worst = np.maximum(position, velocity)
    assert worst.max() <= threshold
    assert worst.max() > 0.1 * threshold
    assert 0 < result.counters.projections < 0.7 * result.counters.steps
    assert result.counters.projections == np.count_nonzero(worst[1:] <= ON)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [mbd.Projection, mbd.UnweightedProjection])
def test_one_level_alone(kind):
    position, velocity = gaps(mbd.simulate(model_of(heavy_top), 0.05, h=1e-3, stabilization=kind(velocities=False)))
    assert position.max() <= ON < 1e-6 < velocity.max()
    position, velocity = gaps(mbd.simulate(model_of(heavy_top), 0.05, h=1e-3, stabilization=kind(positions=False)))
    assert velocity.max() <= ON < 1e-8 < position.max()


def test_wanted_times_and_events_are_projected_whatever_the_turn():
    rule = mbd.Projection(every=1000)
    low = mbd.Event("low", lambda t, state: state.r[1, 2] - 0.0001)
    result = mbd.simulate(model_of(heavy_top), 0.1, h=1e-3, stabilization=rule, t_eval=np.linspace(0.0123, 0.0987, 9), events=[low])
    assert gaps(result)[0].max() <= ON
    free = mbd.simulate(model_of(heavy_top), 0.1, h=1e-3, stabilization=rule)
    assert gaps(free)[0][1:].min() > ON  # the run itself is not disturbed by them
    for record in result.events:
        assert np.abs(mbd.evaluate(result.model, record.state).Phi).max() <= ON


def sprung() -> mbd.System:
    """A double pendulum with a spring at its tip and one in its joint, that turns over."""
    system = double_pendulum()
    tip, pin = system["bar 2"], system["pin 2"]
    system.add(mbd.TSDA("line", system.ground, tip, point_i=(0, 3, 0), point_j=tip.r, k=300.0, l0=1.0))
    system.add(mbd.RSDA("coil", pin, k=40.0, theta0=0.3))
    return system


@pytest.mark.slow
@pytest.mark.parametrize(("make", "h"), [(double_pendulum, 2e-3), (heavy_top, 2e-4), (four_bar, 1e-3), (sprung, 1e-3)])
def test_energy_is_kept(make, h):
    """10 000 steps: energy to 1e-12 of its parts, by the ledger of the diagnostics, and the constraints as before."""
    result = mbd.simulate(model_of(make), 1e4 * h, h=h, stabilization=mbd.EnergyProjection(), store_every=50)
    energy = result.energy()
    assert result.counters.steps == 10_000
    kept = energy.kinetic + energy.potential
    scale = max(np.abs(energy.kinetic).max(), np.abs(energy.potential).max())
    assert np.abs(kept - kept[0]).max() <= 1e-12 * scale
    position, velocity = gaps(result)
    assert position.max() <= ON
    assert velocity.max() <= 10.0 * ON  # speeds of 10 to 150
    plain = mbd.simulate(model_of(make), 1e4 * h, h=h, store_every=50).energy()
    assert np.abs((plain.kinetic + plain.potential) - kept[0]).max() > 1e-12 * scale


@pytest.mark.slow
@pytest.mark.parametrize("rule", [mbd.UnweightedProjection(tol=1e-16), mbd.EnergyProjection(tol=1e-16)], ids=["plain", "energy"])
@pytest.mark.parametrize(
    ("make", "t_end", "steps"),
    [(double_pendulum, 1.0, (320, 640)), (heavy_top, 0.1, (160, 320)), (four_bar, 0.5, (80, 160)), (sprung, 0.5, (160, 320))],
)
def test_the_order_of_rk4_stays(make, t_end, steps, rule):
    """Not lower: the correction of energy may take the leading error away, as it does in the heavy top's velocities."""
    exact = mbd.simulate(model_of(make), t_end, integrator=mbd.DOP853(rtol=1e-14, atol=1e-15, h_max=t_end / 20))
    errors = []
    for n in steps:
        found = mbd.simulate(model_of(make), t_end, h=t_end / n, stabilization=rule)
        pairs = [[(found.r, exact.r), (found.p, exact.p)], [(found.v, exact.v), (found.omega_bar, exact.omega_bar)]]
        errors.append([np.linalg.norm([np.linalg.norm(a[-1] - b[-1]) for a, b in level]) for level in pairs])
    orders = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert orders.min() > 4.0 - 0.15


@pytest.mark.slow
def test_energy_projection_refuses_what_does_work():
    working = {
        "brake": lambda s: mbd.RSDA("brake", s["pin 1"], c=1.0),
        "shock": lambda s: mbd.TSDA("shock", s.ground, s["bar 1"], point_i=(0, 0, 3), point_j=s["bar 1"].r, k=1.0, c=0.1, l0=1.0),
        "motor": lambda s: mbd.RSDA("motor", s["pin 2"], k=1.0, theta0=0.0, actuator=2.0),
        "piston": lambda s: mbd.TSDA("piston", s.ground, s["bar 1"], point_i=(0, 0, 3), point_j=s["bar 1"].r, actuator=lambda t: t),
        "push": lambda s: mbd.PointForce("push", s["bar 1"], force=(0, 0, 1.0)),
        "twist": lambda s: mbd.Torque("twist", s["bar 1"], torque=lambda t: (0.0, t, 0.0)),
    }
    for name, load in working.items():
        system = double_pendulum()
        system.add(load(system))
        with pytest.raises(mbd.UsageError, match=rf"'{name}' takes or gives energy, .* use Projection\(\)"):
            mbd.simulate(system, 0.1, h=1e-3, stabilization=mbd.EnergyProjection())
        assert np.abs(mbd.simulate(system, 0.1, h=1e-3).energy().drift).max() < 1e-6  # what it is sent to does account for the work
    with pytest.raises(mbd.UsageError, match=r"'drive' is driven, .* use Projection\(\)"):
        mbd.simulate(slider_crank(driven=True), 0.1, h=1e-3, stabilization=mbd.EnergyProjection())


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (mbd.Projection(every=0), "every = 0 must be a whole number"),
        (mbd.Projection(every=2.5), "every = 2.5 must be a whole number"),
        (mbd.Projection(positions=False, velocities=False), "projects nothing"),
        (mbd.Projection(threshold=-1.0), "finite and not negative"),
        (mbd.UnweightedProjection(size=0.0), "size = 0.0 m must be finite and positive"),
        (mbd.EnergyProjection(velocities=False), "leave both True"),
        (mbd.Baumgarte(np.nan, 1.0), "finite and not negative"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(rule, text):
    with pytest.raises(mbd.UsageError, match=text):
        mbd.simulate(model_of(double_pendulum), 0.1, h=1e-2, stabilization=rule)


def crank_and_piston(small_end):
    """A slider-crank in the plane x = 0, on two bearings; with an RJ at its small end more rows across the plane are redundant."""
    system = mbd.System("slider-crank", gravity=(0, 0, -9.81))
    crank = system.add(mbd.Body("crank", 20.0, (0.1, 0.3, 0.3)))
    rod = system.add(mbd.Body("rod", *mbd.inertia.rod(0.15, mass=0.5, axis=(0, 0, 1)), r=(0, 0, 0.12)))
    piston = system.add(mbd.Body("piston", 0.4, (1e-3, 1e-3, 1e-3), r=(0, 0, 0.195)))
    main = system.add(RJ("main", system.ground, crank, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("second bearing", system.ground, crank, point=(0.3, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("big end", crank, rod, point=(0, 0, 0.045), axis=(1, 0, 0)))
    system.add(small_end(rod, piston))
    system.add(TJ("bore", system.ground, piston, point=(0, 0, 0.195), axis=(0, 0, 1)))
    start = mbd.assemble(system, hold=mbd.FixedCoordinates(main, value=0.0, rate=200.0))
    return mbd.simulate(start.model, 0.01, h=1e-4)


def test_what_projections_leave_across_a_plane_does_not_become_denormal():
    """It fell by sixteen digits in every step; a third of the numbers was denormal, and steps took ten times as long."""
    hinged = crank_and_piston(lambda rod, piston: RJ("small end", rod, piston, point=(0, 0, 0.195), axis=(1, 0, 0)))
    plain = crank_and_piston(lambda rod, piston: SJ("small end", rod, piston, point=(0, 0, 0.195)))
    size = np.abs(hinged.y)
    assert np.count_nonzero((size > 0.0) & (size < np.finfo(float).tiny)) < 1e-3 * size.size
    np.testing.assert_allclose(hinged.r, plain.r, rtol=0.0, atol=1e-13)
