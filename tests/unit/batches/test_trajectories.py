"""Trajectories of batches: the bits of single runs, in memory and in files, whatever interrupts them."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.batches import member_runs as module
from haugmbd.batches.direct_tables import direct_model, direct_tables
from haugmbd.batches.parameters import read_parameters
from haugmbd.gallery import double_pendulum
from haugmbd.simulation.stepping.progress import Progress
from joints import RJ
from tests.support.variants import bouncing, controlled, driven, geared, spinning_top, states_of, swinging, trains

N = 4
METHODS = {
    "RK4": {"h": 1e-2},
    "DormandPrince": {"rtol": 1e-6, "t_eval": np.linspace(0.0, 0.3, 7)},
    "DOP853": {"integrator": mbd.DOP853(rtol=1e-8, atol=1e-8)},
    "GeneralizedAlpha": {"integrator": mbd.GeneralizedAlpha(h=1e-2)},
    "Baumgarte": {"h": 1e-2, "stabilization": mbd.Baumgarte(5.0, 5.0), "integrator": mbd.Heun()},
}


@pytest.fixture(scope="module")
def model():
    return swinging().compile()


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_runs_have_the_bits_of_single_runs_of_systems_built_with_the_values(model, rng, name):
    mass, axis, k = rng.uniform(0.5, 2.0, N), rng.normal(size=(N, 3)), rng.uniform(1.0, 5.0, N)
    batch = mbd.batch(model, parameters={"link 2.mass": mass, "second.axis": axis, "coil.k": k})
    found = batch.simulate(0.3, **METHODS[name])
    assert found.success.all(), found.failures
    for member in range(N):
        single = mbd.simulate(swinging(mass=mass[member], axis=axis[member], k=k[member]), 0.3, **METHODS[name])
        np.testing.assert_array_equal(found[member].t, single.t)
        np.testing.assert_array_equal(found[member].y, single.y)
        np.testing.assert_array_equal(found.y_end[member], single.y[-1])
        np.testing.assert_array_equal(found[member].lam, single.lam)
        np.testing.assert_array_equal(found[member].load("coil").torque, single.load("coil").torque)


def test_initial_states_and_threads_do_not_change_the_bits(model):
    states = states_of(model, N)
    one, two = (mbd.batch(model, states, threads=threads).simulate(0.2, h=1e-2) for threads in (1, 2))
    for k, y in enumerate(states):
        single = mbd.simulate(model, 0.2, h=1e-2, state=mbd.State.from_y(0.0, y, model.nb + 1))
        np.testing.assert_array_equal(one[k].y, single.y)
        np.testing.assert_array_equal(two[k].y, single.y)


@pytest.mark.parametrize("in_one_place", [False, True])
def test_a_member_with_other_numbers_is_what_its_system_compiles_to(rng, in_one_place):
    """Where all bodies and joints are in one place, the masses decide the characteristic length."""
    model = spinning_top().compile() if in_one_place else swinging().compile()
    body = model.bodies[-1]
    parameters = {
        f"{body.name}.mass": [0.7, 3.0],
        f"{body.name}.J_bar": [[0.06, 0.07, 0.08]] * 2,
        "gravity": rng.normal(size=(2, 3)),
    }
    batch = mbd.batch(model, parameters=parameters)
    tables = direct_tables(model, batch._parameters)
    for k in range(2):
        direct, compiled = direct_model(tables, k), batch.member_model(k)
        np.testing.assert_array_equal(direct.tables.reals, compiled.tables.reals)
        np.testing.assert_array_equal(direct.tables.ints, compiled.tables.ints)
        assert direct.length == compiled.length
        assert direct.body_names == compiled.body_names
        assert [b.mass for b in direct.bodies] == [b.mass for b in compiled.bodies]
        assert all(label.primitive.i in direct.bodies for label in direct.labels)
    assert (len({batch.member_model(k).length for k in range(2)}) == 2) == in_one_place


def test_the_energy_of_a_member_is_that_of_its_own_parts(model):
    found = mbd.batch(model, parameters={"link 2.mass": [1.0, 5.0], "spring.k": [5.0, 50.0]}).simulate(0.3, h=1e-3)
    for k, (mass, stiffness) in enumerate(((1.0, 5.0), (5.0, 50.0))):
        single = mbd.simulate(swinging(mass=mass, stiffness=stiffness), 0.3, h=1e-3)
        np.testing.assert_array_equal(found[k].energy().total, single.energy().total)


@pytest.mark.slow
def test_joint_loads_and_motors_with_rotors_vary(rng):
    model = geared().compile()
    given = {"k": rng.uniform(1.0, 5.0, 3), "upper": rng.uniform(0.1, 0.5, 3)}
    parameters = {"spring.k": given["k"], "stop.upper": given["upper"]}
    assert direct_tables(model, read_parameters(model, parameters, None)) is not None
    batch = mbd.batch(model, parameters=parameters)
    found, runs = batch.accelerations(), batch.simulate(0.5, h=1e-2)
    assert runs.success.all(), runs.failures
    for k in range(3):
        own = geared(**{name: x[k] for name, x in given.items()}).compile()
        np.testing.assert_array_equal(found.lam[k], mbd.accelerations(own).lam)
        np.testing.assert_array_equal(runs[k].y, mbd.simulate(own, 0.5, h=1e-2).y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("second.axis", [(0, 0, 1), (0, 0, -1)]),
        ("second.point", [(0.3, 0, 0), (0, 0.3, 0)]),
        ("guide.axis", [(0, 1, 0), (0.2, -1, 0)]),
    ],
)
def test_gears_and_belts_follow_the_joints_that_vary(path, values):
    """The sign of a ratio, and where teeth touch, are those of the joints of the member."""
    runs = mbd.batch(trains(), parameters={path: values}).simulate(0.05, h=1e-2)
    assert not runs.failures
    for run, value in zip(runs, values, strict=True):
        single = mbd.simulate(trains(**{path.replace(".", "_"): value}), 0.05, h=1e-2)
        np.testing.assert_array_equal(run.y, single.y)
        for name in single.model.joints:
            np.testing.assert_array_equal(run.reaction(name).force, single.reaction(name).force)


@pytest.mark.parametrize("name", ["axis", "point"])
def test_the_place_of_a_motor_with_a_rotor_is_refused(name):
    """Its rotor would stay on the old axis, and its centre at the old point."""
    with pytest.raises(mbd.UsageError, match=f"'pin.{name}': Motor 'motor' has its rotor on this {name}"):
        mbd.batch(geared(), parameters={f"pin.{name}": [(0, 1, 0), (0, 1, 0.1)]})


@pytest.mark.slow
def test_members_with_rigid_stops_bounce_as_single_runs_do(tmp_path):
    """Masses are numbers in the tables of one model; a limit changes them, too, and both give an ImpactResult."""
    for name, path in (("mass", "bar.mass"), ("lower", "stop.lower")):
        values = [1.0, 2.5] if name == "mass" else [-0.6, -0.3]
        batch = mbd.batch(bouncing(), parameters={path: values})
        runs, stored = batch.simulate(0.8, h=1e-2), batch.simulate(0.8, h=1e-2, store=tmp_path / name)
        assert runs.success.all(), runs.failures
        for k, x in enumerate(values):
            single = mbd.simulate(bouncing(**{name: x}), 0.8, h=1e-2)
            assert [hit.t for hit in runs[k].impacts] == [hit.t for hit in single.impacts] != []
            np.testing.assert_array_equal(runs[k].y, single.y)
            np.testing.assert_array_equal(stored[k].y, single.y)
            np.testing.assert_array_equal(runs[k].joint("pin").angle, single.joint("pin").angle)
            np.testing.assert_array_equal(runs[k].energy().total, single.energy().total)


@pytest.mark.slow
def test_members_with_controllers_have_blocks_of_their_own(rng):
    model = controlled().compile()
    given = {"mass": rng.uniform(0.5, 2.0, 3), "k": rng.uniform(1.0, 5.0, 3), "axis": rng.normal(size=(3, 3))}
    batch = mbd.batch(model, parameters={"bar.mass": given["mass"], "coil.k": given["k"], "pin.axis": given["axis"]})
    found, runs = batch.accelerations(), batch.simulate(0.2, h=1e-2)
    assert runs.success.all(), runs.failures
    for k in range(3):
        own = controlled(**{name: x[k] for name, x in given.items()}).compile()
        np.testing.assert_array_equal(found.lam[k], mbd.accelerations(own).lam)
        single = mbd.simulate(own, 0.2, h=1e-2)
        np.testing.assert_array_equal(runs[k].y, single.y)
        np.testing.assert_array_equal(runs[k].block("lag")["torque"], single.block("lag")["torque"])
    states = mbd.simulate(model, 0.2, h=1e-2).y[::5]
    found = mbd.batch(model, states).accelerations()
    for k, y in enumerate(states):
        np.testing.assert_array_equal(found.lam[k], mbd.accelerations(model, mbd.State.from_y(0.0, y, 2)).lam)
    with pytest.raises(mbd.UsageError, match="blocks of model 'controlled' read the sensors 'height'"):
        mbd.batch(controlled(sensor=True), parameters={"bar.mass": [1.0]})


@pytest.mark.slow
def test_named_parameters_drive_the_members():
    model, length = driven().compile(), np.array([0.5, 2.0])
    found = mbd.batch(model, parameters={"length": length}).simulate(0.5, h=1e-2)
    for k, x in enumerate(length):
        np.testing.assert_array_equal(found[k].y, mbd.simulate(driven(length=x), 0.5, h=1e-2).y)


def test_a_member_that_fails_is_a_flag_with_its_reason_and_its_part(model):
    def stop(t):
        if t > 0.15:
            raise ArithmeticError("broken")
        return 0.0

    system = mbd.System("stopped")
    body = system.add(mbd.Body("body", 1.0, (1.0, 1.0, 1.0)))
    system.add(mbd.Torque("stop", body, torque=lambda t: (0.0, 0.0, 0.0)))
    found = mbd.batch(system, parameters={"body.mass": [1.0, -1.0, 2.0]}).simulate(0.2, h=1e-2)
    assert found.success.tolist() == [True, False, True]
    assert "mass is -1.0 kg" in found.failures[1]
    with pytest.raises(mbd.UsageError, match="member 1 has no states: .*mass is -1.0 kg"):
        found[1]
    assert np.isnan(found.t_end[1])
    assert len(list(found)) == 2
    system = mbd.System("stopped")
    body = system.add(mbd.Body("body", 1.0, (1.0, 1.0, 1.0)))
    system.add(mbd.PointForce("stop", body, force=lambda t, r, p, v, w: (stop(t), 0.0, 0.0)))
    found = mbd.batch(system, parameters={"body.mass": [1.0, 2.0]}).simulate(0.2, h=1e-2)
    assert not found.success.any()
    assert found.failures[0].startswith("ArithmeticError: broken (raised by force(t, r, p, v, omega_bar) of PointForce 'stop'")
    assert 0.1 < found[0].t[-1] <= 0.15


def test_warnings_of_runs_are_kept_and_not_issued(recwarn):
    system = mbd.System("spinning")
    system.add(mbd.Body("top", 1.0, (1.0, 2.0, 2.5), omega_bar=(0.1, 300.0, 0.1)))
    found = mbd.batch(system, parameters={"top.mass": [1.0, 2.0]}).simulate(0.05, h=1e-2)
    assert set(found.warnings) == {0, 1}
    assert "turns" in str(found.warnings[0][0])
    assert not [one for one in recwarn if issubclass(one.category, mbd.RunWarning)]


@pytest.mark.slow
def test_a_store_keeps_results_and_goes_on_where_it_ended(model, tmp_path, monkeypatch):
    mass = np.array([1.0, 2.0, -1.0, 3.0])
    batch = mbd.batch(model, parameters={"link 2.mass": mass}, threads=1)
    in_memory = batch.simulate(0.2, h=1e-2)
    ran, run_system = [], module.run_system

    def counted(*arguments, **options):
        ran.append(1)
        if len(ran) == 2:
            raise KeyboardInterrupt
        return run_system(*arguments, **options)

    monkeypatch.setattr(module, "run_system", counted)
    first = batch.simulate(0.2, h=1e-2, store=tmp_path / "runs")
    assert first.interrupted
    assert first.success.tolist() == [True, False, False, False]
    assert first.failures[3] == "not run: the batch was interrupted"
    again = batch.simulate(0.2, h=1e-2, store=tmp_path / "runs")
    assert len(ran) == 2 + 2  # members 1 and 3; member 2 has no model
    assert again.success.tolist() == [True, True, False, True]
    for k in (0, 1, 3):
        np.testing.assert_array_equal(again[k].y, in_memory[k].y)
        assert again[k].load("coil").power.tolist() == in_memory[k].load("coil").power.tolist()
    third = batch.simulate(0.2, h=1e-2, store=tmp_path / "runs")
    assert len(ran) == 4
    assert third.failures == again.failures == in_memory.failures
    np.testing.assert_array_equal(third.y_end, in_memory.y_end)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [
        "batch.json", "member_00000000.npz", "member_00000001.npz", "member_00000002.txt", "member_00000003.npz",
    ]  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_in_a_run_ends_the_batch_and_not_only_the_run(threads, tmp_path):
    def press(t, r, p, v, omega_bar):
        if v[0] > 0.0 and t > 0.05:
            raise KeyboardInterrupt
        return (0.0, 0.0, 0.0)

    system = mbd.System("pressed")
    body = system.add(mbd.Body("body", 1.0, (1.0, 1.0, 1.0)))
    system.add(mbd.PointForce("press", body, force=press))
    model = system.compile()
    states = np.tile(model.y0, (30, 1))
    states[1, 20] = 1.0
    found = mbd.batch(model, states, threads=threads).simulate(0.1, h=1e-2, store=tmp_path / "runs")
    assert found.interrupted
    assert found.success[0]
    assert not found.success[1]
    assert not found.success[-1]
    assert not (tmp_path / "runs" / "member_00000001.npz").exists()


@pytest.mark.slow
def test_stored_members_have_models_that_no_file_can_hold(tmp_path):
    """The output of a block is a lambda."""
    batch = mbd.batch(controlled(), parameters={"bar.mass": [1.0, 2.0]})
    found = batch.simulate(0.1, h=1e-2, store=tmp_path / "runs")
    for k, mass in enumerate((1.0, 2.0)):
        single = mbd.simulate(controlled(mass=mass), 0.1, h=1e-2)
        assert found[k].model.mass[1] == mass
        np.testing.assert_array_equal(found[k].lam, single.lam)


@pytest.mark.slow
def test_a_store_of_impacts_goes_on_with_a_model_that_no_file_can_hold(tmp_path):
    """The pieces between impacts have the model, which is that of the batch."""
    system = mbd.System("door", gravity=(0, 0, 0))
    leaf = system.add(mbd.Body("leaf", 10.0, (0.5, 1.0, 0.6), r=(0.4, 0, 0), v=(0, 0.8, 0), omega_bar=(0, 0, 2.0)))
    hinge = system.add(RJ("hinge", system.ground, leaf, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointLimit("stop", hinge, lower=-0.1, upper=0.5, restitution=0.5))
    system.add(mbd.RSDA("closer", hinge, actuator=lambda t: 0.1 * t))
    batch = mbd.batch(system.compile(), parameters={"leaf.mass": [10.0, 12.0]})
    runs = [batch.simulate(0.5, h=1e-2, store=tmp_path / "runs") for _ in range(2)]
    assert runs[1].success.all()
    np.testing.assert_array_equal(runs[1].y_end, runs[0].y_end)
    assert len(runs[1][1].impacts) == len(runs[0][1].impacts) > 0


def test_a_store_of_another_batch_is_refused(model, tmp_path):
    batch = mbd.batch(model, parameters={"link 2.mass": [1.0]})
    batch.simulate(0.05, h=1e-2, store=tmp_path / "runs")
    for other, arguments in (
        (mbd.batch(model, parameters={"link 2.mass": [2.0]}), {"h": 1e-2}),
        (batch, {"h": 5e-3}),
        (mbd.batch(model, parameters={"link 2.mass": [1.0, 2.0]}), {"h": 1e-2}),
    ):
        with pytest.raises(mbd.UsageError, match="is that of another batch"):
            other.simulate(0.05, store=tmp_path / "runs", **arguments)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(mbd.UsageError, match="holds other files"):
        batch.simulate(0.05, h=1e-2, store=tmp_path)
    with pytest.raises(mbd.UsageError, match="is a file"):
        batch.simulate(0.05, h=1e-2, store=tmp_path / "notes.txt")
    (tmp_path / "runs" / "batch.json").write_text("{")
    with pytest.raises(mbd.UsageError, match="is damaged"):
        batch.simulate(0.05, h=1e-2, store=tmp_path / "runs")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"t_end": -1.0, "h": 1e-2}, "t_end"),
        ({"t_end": 0.1, "h": 1e-2, "rtol": 1e-6}, "rtol"),
        ({"t_end": 0.1, "h": 1e-2, "store_every": 0}, "store_every"),
        ({"t_end": 0.1, "h": 1e-2, "t_eval": [0.2]}, "t_eval"),
        ({"t_end": 0.1, "h": 1e-2, "budget": -1.0}, "budget"),
        ({"t_end": 0.1, "integrator": mbd.GeneralizedAlpha(h=1e-2), "formulation": mbd.NullSpace()}, "NewtonEuler"),
    ],
)
def test_bad_arguments_are_errors_and_no_flags(model, arguments, words):
    batch = mbd.batch(model, parameters={"link 2.mass": [1.0]})
    with pytest.raises(mbd.UsageError, match=words):
        batch.simulate(**arguments)


def test_progress_is_shown_member_by_member(model, monkeypatch):
    shown, reach = [], Progress.reach
    monkeypatch.setattr(Progress, "reach", lambda self, now: shown.append((now, self._stop, self._unit)) or reach(self, now))
    batch = mbd.batch(model, parameters={"link 2.mass": [1.0, -1.0, 2.0]}, threads=2)
    batch.simulate(0.02, h=1e-2, progress=True)
    assert [one for one in shown if one[2] == "members"] == [(k, 3, "members") for k in (1, 2, 3)]
    with pytest.raises(mbd.UsageError, match="progress = 1 must be True or False"):
        batch.simulate(0.02, h=1e-2, progress=1)


@pytest.mark.slow
def test_a_quantity_of_all_members_is_a_table():
    model = double_pendulum().compile()
    runs = mbd.batch(model, parameters={f"{model.body_names[1]}.mass": [1.0, 1.5, 2.0]}).simulate(t_end=0.05, h=1e-2)
    joint = next(iter(model.joints))
    table = runs.history(f"joint.{joint}.angle")
    assert table.shape == (3, len(runs[0].t))
    np.testing.assert_array_equal(table[1], runs[1].joint(joint).angle)
    with pytest.raises(mbd.UsageError, match="vector of 3"):
        runs.history(f"reaction.{joint}.force")
    with pytest.raises(mbd.UsageError):
        runs.history("joint.nowhere.angle")
