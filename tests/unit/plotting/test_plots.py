"""Every plot returns Axes, draws the numbers that the result gives, and says what they are."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd

plt = pytest.importorskip("matplotlib.pyplot")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def line(ax, label):
    return next(x for x in ax.lines if x.get_label() == label)


@pytest.mark.slow
def test_violation_by_joint_of_rows_of_several_units_is_relative(driven):
    """Rows in m, m2, 1 and rad: gaps relative to the size of the model, or in rad."""
    ax = mbd.plot.violation(driven, level="velocity")
    model, rows = driven.model, np.abs(driven.violation("velocity"))
    assert labels(ax) == list(model.joints)
    assert ax.get_yscale() == "log"
    assert "velocity" in ax.get_title(loc="left")
    assert "rad, or relative to" in ax.get_ylabel()
    assert ax.get_xlabel() == "t [s]"
    length = {"m": model.length, "1": 1.0, "rad": 1.0}
    for name, entry in model.joints.items():
        units = [model.labels[k].unit for k in entry.rows]
        if "m2" in units:
            continue  # divided by the slope of a squared distance
        gaps = np.linalg.norm(rows[:, entry.rows] / [length[unit] for unit in units], axis=1)
        np.testing.assert_allclose(line(ax, name).get_ydata().max(), max(gaps.max(), 1e-17), rtol=1e-9)


def test_violation_of_rows_of_one_unit_has_this_unit():
    from joints import SJ  # noqa: PLC0415

    system = mbd.System("ball", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("body", 1.0, (1, 1, 1), r=(1, 0, 0)))
    system.add(SJ("hip", system.ground, body, point=(0, 0, 0)))
    result = mbd.simulate(system, 0.1, h=1e-2, stabilization=None)
    ax = mbd.plot.violation(result)
    assert ax.get_ylabel().endswith("[m]")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), np.maximum(result.violation(by="joint")["hip"], 1e-17))


def test_exact_zeros_lie_on_the_floor(driven):
    ax = mbd.plot.violation(driven)
    still = line(ax, "T")  # the slider moves along its axis, and hardly anything is rounded there
    assert driven.violation(by="joint")["T"].max() < 1e-17
    np.testing.assert_array_equal(still.get_ydata(), 1e-17)


def test_of_many_rows_the_largest_are_drawn(driven):
    ax = mbd.plot.violation(driven, by="row")
    rows = (np.abs(driven.violation()) / mbd.plotting.over_time.row_scales(driven.model)).max(axis=0)
    assert len(ax.lines) == 10
    assert f"the 10 largest of {driven.model.nc}" in ax.get_title(loc="left")
    largest = int(np.argmax(rows))
    assert labels(ax)[0] == f"{driven.model.labels[largest].joint}, row {largest} {driven.model.labels[largest].kind}"
    assert ax.lines[0].get_ydata().max() == rows.max()


def test_peaks_of_many_states_are_kept(driven):
    t, peaks = mbd.plotting.style.envelope(driven.t, driven["crank"].r[:, 2])
    assert len(t) == len(peaks) == 400
    assert peaks.max() == driven["crank"].r[:, 2].max()
    assert set(t) <= set(driven.t)
    few = driven.t[:700]
    np.testing.assert_array_equal(mbd.plotting.style.envelope(few, few)[0], few)


@pytest.mark.slow
def test_energy(driven):
    ax, e = mbd.plot.energy(driven), driven.energy()
    assert labels(ax) == ["kinetic", "potential", "applied work", "total"]
    np.testing.assert_array_equal(line(ax, "total").get_ydata(), e.total)
    np.testing.assert_array_equal(line(ax, "applied work").get_ydata(), e.applied_work)
    assert ax.get_ylabel() == "energy [J]"


@pytest.mark.slow
def test_a_run_in_joint_coordinates_is_drawn_as_its_twin():
    chain = mbd.random_chain(3, 1)
    push = np.linspace(1.0, 2.0, chain.nv)
    reduced = mbd.simulate(chain, 0.1, h=1e-3, tau=push)
    twin, e = reduced.maximal(), reduced.energy()
    assert e.applied_work.any()
    for ax in (mbd.plot.energy(reduced), mbd.plot.energy(mbd.simulate(chain, 0.1, h=1e-3, tau=lambda t, q, qd: push))):
        assert chain.name in ax.get_title(loc="left")
        for name in ("kinetic", "potential", "applied work", "total"):
            np.testing.assert_array_equal(line(ax, name).get_ydata(), getattr(e, name.replace(" ", "_")))
    body, joint = twin.names.bodies[1], twin.names.joints[0]
    drawn = mbd.plot.coordinates(reduced, body).lines[2].get_ydata()
    np.testing.assert_allclose(drawn, reduced[0].r[:, 2], rtol=0.0, atol=1e-14)
    for make in (mbd.plot.violation, lambda result: mbd.plot.reactions(result, joint)):
        np.testing.assert_array_equal(make(reduced).lines[0].get_ydata(), make(twin).lines[0].get_ydata())


def test_what_is_no_result_is_refused():
    for draw in (mbd.plot.energy, mbd.plot.violation, lambda x: mbd.plot.coordinates(x, "a"), lambda x: mbd.plot.reactions(x, "a")):
        with pytest.raises(mbd.UsageError, match="list is not a result to draw"):
            draw([1, 2])


@pytest.mark.slow
@pytest.mark.parametrize(("what", "n", "unit"), [("r", 3, "[m]"), ("p", 4, "[1]"), ("v", 3, "[m/s]"), ("omega_bar", 3, "[rad/s]")])
def test_coordinates(driven, what, n, unit):
    ax = mbd.plot.coordinates(driven, "slider", what=what)
    assert len(ax.lines) == n
    assert ax.get_ylabel() == f"{what} {unit}"
    assert ax.get_title(loc="left").startswith("slider: ")
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), getattr(driven["slider"], what)[:, 1])


def test_reactions(driven):
    ax = mbd.plot.reactions(driven, "R", quantity="torque", on="i", frame="joint")
    torque = driven.reaction("R", on="i", frame="joint").torque
    assert labels(ax) == ["x", "y", "z", "magnitude"]
    assert ax.get_ylabel() == "torque [N m]"
    assert ax.get_title(loc="left") == "R: torque on ground, joint frame"
    np.testing.assert_array_equal(line(ax, "z").get_ydata(), torque[:, 2])
    np.testing.assert_allclose(line(ax, "magnitude").get_ydata() ** 2, np.sum(torque**2, axis=1), rtol=1e-13, atol=1e-30)


def test_given_axes_are_drawn_in(driven):
    _, (left, right) = plt.subplots(1, 2)
    assert mbd.plot.energy(driven, ax=left) is left
    assert mbd.plot.reactions(driven, "S", ax=right) is right
    assert len(plt.get_fignums()) == 1


def test_bad_arguments_are_told(driven):
    with pytest.raises(mbd.UsageError, match="'r', 'p', 'v', 'omega', 'omega_bar', 'a'"):
        mbd.plot.coordinates(driven, "slider", what="q")
    with pytest.raises(mbd.UsageError, match="no body is called 'x'"):
        mbd.plot.coordinates(driven, "x")
    with pytest.raises(mbd.UsageError, match="'force' or 'torque'"):
        mbd.plot.reactions(driven, "R", quantity="power")
    with pytest.raises(AttributeError, match="no attribute 'plots'"):
        mbd.plots  # noqa: B018


@pytest.mark.slow
def test_names_are_shown_letter_by_letter():
    """Two $ would begin a formula, or raise where it is none; a _ at the start would hide a line from the legend."""
    from joints import RJ  # noqa: PLC0415

    system = mbd.System(r"$\frac$", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("_a$_^$", 1.0, (1, 1, 1), r=(1, 0, 0)))
    pin = system.add(RJ(r"_pin $\sqrt$", system.ground, body, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("_$^$", pin, k=1.0))
    result = mbd.simulate(system, 0.1, h=1e-2)
    plots = [
        mbd.plot.joint(result, pin.name),
        mbd.plot.reactions(result, pin.name),
        mbd.plot.load(result, "_$^$"),
        mbd.plot.energy(result),
        mbd.plot.path(result),
        mbd.plot.violation(result),
        mbd.plot.phase(result, pin.name),
        mbd.plot.coordinates(result, body.name),
        mbd.violation_by_joint(result).plot(),
    ]
    for ax in plots:
        ax.figure.set_layout_engine("none")  # names are drawn alike wherever they stand
        ax.figure.canvas.draw()
        plt.close(ax.figure)
    assert plots[5].lines[0].get_label() == r" _pin \$\sqrt\$"
    assert plots[4].lines[0].get_label() == r" _a\$_^\$"


def test_columns_of_loads_have_the_names_of_coordinates_bodies_and_points():
    """A box has eight corners, of which the first three are no x, y, z; a load of two joints has two columns."""
    from joints import RJ, TJ  # noqa: PLC0415

    system = mbd.System("loads", gravity=(0, 0, -9.81))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1)))
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), r=(0, 0, 0.49)))
    axle = system.add(RJ("axle", system.ground, wheel, point=(0, 0, 0), axis=(0, 1, 0)))
    rail = system.add(TJ("rail", system.ground, block, point=(0, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.JointForce("both", [axle, rail], lambda t, q, qd: np.array([2.0, 3.0])))
    system.add(mbd.StateForce("pair", [wheel, block], force=lambda t, r, p, v, w: np.arange(12.0).reshape(2, 6)))
    system.add(
        mbd.ContactForce("floor", block, system.ground, shape_i=mbd.Box((1, 1, 1)), shape_j=mbd.Plane(), K=1e4, restitution=0.5)
    )
    result = mbd.simulate(system, 0.02, h=1e-2)

    def lines(*which, **options):
        drawn = mbd.plot.load(result, *which, **options).lines
        return {line.get_label().split(" (on ")[0]: line.get_ydata()[0] for line in drawn}  # equal lines say on which they are

    assert lines("both") == {"axle.angle": 2.0, "rail.displacement": 3.0}
    assert lines("pair", what="torque")["block, z"] == 11.0
    points = lines("floor", what="normal_force")
    assert list(points) == [f"point {k}" for k in range(8)]
    assert sum(points.values()) == pytest.approx(result.load("floor").normal_force[0].sum())


def test_the_axis_of_a_load_in_two_units_says_which_belongs_to_which_line():
    from joints import RJ, TJ  # noqa: PLC0415

    system = mbd.System("turns and slides")
    bodies = [system.add(mbd.Body(name, 1.0, (0.1, 0.1, 0.1), r=(x, 0, 0))) for name, x in (("a", 0.0), ("b", 1.0))]
    pin = system.add(RJ("pin", system.ground, bodies[0], point=(0, 0, 0), axis=(0, 0, 1)))
    rail = system.add(TJ("rail", system.ground, bodies[1], point=(1, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointForce("both", [pin, rail], lambda t, q, qd: (0.1 - q[0], 5.0 - 100.0 * q[1])))
    system.add(mbd.JointForce("one", [rail], lambda t, q, qd: (1.0,)))
    result = mbd.simulate(system, 0.1, h=0.01)
    for what, units in (("forces", ("N m", "N")), ("coordinates", ("rad", "m")), ("rates", ("rad/s", "m/s"))):
        ax = mbd.plot.load(result, "both", what=what)
        assert [line.get_label() for line in ax.lines] == ["pin.angle", "rail.displacement"]
        assert ax.get_ylabel() == f"{what} [{units[0]}, of displacements {units[1]}]"
        assert mbd.plot.load(result, "one", what=what).get_ylabel() == f"{what} [{units[1]}]"
    plt.close("all")
