"""compare with rigid contacts: event-driven methods and time stepping, with the residuals of the laws of contact."""

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.study.comparison import report

G = 9.81


def rod_on_floor():
    """Return a rod on a pin whose ball falls on a rough floor, and stays there: an impact, friction, and a reaction of the pin."""
    system = mbd.System("rod", gravity=(0, -G, 0))
    rod = system.add(mbd.Body("rod", 2.0, (0.01, 0.2, 0.2), r=(0.5, 0, 0)))
    system.add(joints.RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 0, 1)))
    floor, ball = mbd.Plane(point=(0, -0.3, 0), normal=(0, 1, 0)), mbd.Sphere(0.05, center=(0.5, 0, 0))
    system.add(mbd.Contact("floor", system.ground, rod, shape_i=floor, shape_j=ball, mu=0.4))
    return system


def compared(system, t_end, h):
    methods = [mbd.Method(integrator=mbd.DOP853(rtol=1e-9), label="events")]
    methods.append(mbd.Method(integrator=mbd.MoreauJean(h=h), label="steps"))
    return mbd.compare(system, methods, t_end, repeats=1)


@pytest.mark.slow
def test_events_and_time_stepping_stand_side_by_side(tmp_path, monkeypatch):
    found = compared(rod_on_floor(), 0.33, 5e-3)
    assert found.column("status") == ["completed"] * 2, found
    for label in found.labels:
        row, check = found.row(label), found.results[label].check_contacts()
        laws = {"signorini": check.signorini, "coulomb": check.coulomb, "newton_euler": check.newton_euler}
        for law, residual in laws.items():
            assert row[f"violation_{law}_max"] == residual.max()
        assert row["violation_contact_max"] == max(one.max() for one in laws.values()) <= 1e-10
        assert row["violation_overlap_max"] == check.overlap.max()
    events, steps = (found.row(label) for label in found.labels)
    groups = ("positions", "velocities", "multipliers", "reactions", "energy")
    assert max(events[f"error_{group}_max"] for group in groups) <= 1e-7, events  # reactions with the force of the contact
    assert 1e-6 < steps["error_positions_max"] < 1e-3  # of first order
    assert "contact" in str(found)
    monkeypatch.setattr(report, "_svg", lambda ax: "")  # the text is asked for
    assert "laws of contact" in found.report(tmp_path / "x.html").read_text()
    assert len(found.overlay("contact").lines) == 2


@pytest.mark.slow
def test_the_states_at_a_jump_are_not_compared():
    system = mbd.System("ball", gravity=(0, 0, -G))
    ball = system.add(mbd.Body("ball", 1.0, (0.01,) * 3, r=(0, 0, 0.3)))
    more = {"point": (0, 0, 0.3), "normal": (0, 0, 1), "plane_point": (0, 0, 0), "radius": 0.1}
    system.add(mbd.Contact("floor", system.ground, ball, restitution=0.5, **more))
    events = compared(system, 0.5, 1e-2).row("events")
    assert events["error_velocities_max"] <= 1e-9
    assert events["violation_contact_max"] <= 1e-10


def test_a_model_without_contacts_has_no_columns_of_them():
    system = mbd.System("ball")
    system.add(mbd.Body("ball", 1.0, (0.01,) * 3))
    found = mbd.compare(system, [mbd.Method(integrator=mbd.RK4(h=0.1))], 0.1, reference=False, repeats=1)
    assert not [name for name in found.columns if "contact" in name or "coulomb" in name]
    assert np.isfinite(found.row(found.labels[0])["violation_position_max"])
