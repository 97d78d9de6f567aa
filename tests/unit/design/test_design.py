import warnings

import numpy as np
import pytest

import haugmbd as mbd
from tests.support.designs import four_bar, pendulum


def spring(k, m=2.0):
    """Return a mass on a spring that moves along x: x = x0 cos(omega t)."""
    system = mbd.System("spring")
    body = system.add(mbd.Body("body", m, (1, 1, 1), r=(1.0, 0, 0)))
    system.add(mbd.TSDA("spring", system.ground, body, point_i=(0, 0, 0), point_j=(1.0, 0, 0), k=k, l0=0.6))
    return system


RUN = {"t_end": 0.5, "integrator": mbd.DOP853(rtol=1e-11, atol=1e-12)}


def closed_form(k, m):
    """Return x(0.5) = 0.6 + 0.4 cos(w t) and its derivatives by k and m."""
    w, t = np.sqrt(k / m), 0.5
    by_w = -0.4 * t * np.sin(w * t)
    return 0.6 + 0.4 * np.cos(w * t), np.array([by_w * 0.5 * w / k, -by_w * 0.5 * w / m])


def test_first_order_scatter_and_its_contributions_in_closed_form_beside_samples():
    p = mbd.Parameters(k=mbd.Parameter(8.0, sd=0.1), m=mbd.Parameter(2.0, sd=0.05))
    found = mbd.tolerances(spring, ["body.body.r[0]"], p, samples=60, seed=4, **RUN)
    value, slopes = closed_form(8.0, 2.0)
    parts = (slopes * [0.1, 0.05]) ** 2
    assert abs(found.values[0] - value) < 1e-9
    assert abs(found.standard_deviations[0] - np.sqrt(parts.sum())) < 1e-8
    shares = found.contributions()["body.body.r[0]"]
    assert abs(shares["k"] - parts[0] / parts.sum()) < 1e-8
    assert sum(shares.values()) == pytest.approx(1.0)
    assert 0.6 < found.sampled_standard_deviations[0] / found.standard_deviations[0] < 1.5


def test_a_gradient_is_the_chain_of_objective_and_outputs():
    g = mbd.gradient(
        spring, {"k": 8.0, "m": 2.0}, lambda z: z[0] ** 2 + np.exp(z[1]), outputs=["body.body.r[0]", "body.body.r[1]"], **RUN
    )
    value, slopes = closed_form(8.0, 2.0)
    assert abs(g.value - value**2 - 1.0) < 1e-9
    assert np.abs(g.gradient - 2 * value * slopes).max() < 1e-9


@pytest.mark.parametrize("objective", [lambda z: abs(z[0] - 2.0), lambda z: float(np.real(z[0])), lambda z: max(z[0].real, 0.1)])
def test_an_objective_that_loses_imaginary_parts_is_refused(objective):
    with pytest.raises(mbd.UsageError, match="imaginary parts|complex"):
        mbd.gradient(spring, {"k": 8.0}, objective, outputs=["body.body.r[0]"], **RUN)


def test_an_optimum_within_a_constraint():
    p = mbd.Parameters(k=mbd.Parameter(6.0, lower=2.0, upper=20.0), m=mbd.Parameter(2.0, lower=1.0, upper=4.0))
    outputs, limit = ["body.body.r[0]", "body.body.v[0]"], -0.6
    found = mbd.optimize(spring, "body.body.r[0]", p, [("body.body.v[0]", limit, np.inf)], outputs=outputs, **RUN)
    assert found.success
    assert found.constraints[0] >= limit - 1e-6
    w = np.sqrt(found.values["k"] / found.values["m"])  # -0.4 w sin(w t) = limit at the optimum
    assert abs(-0.4 * w * np.sin(0.5 * w) - limit) < 1e-6


def test_a_search_goes_on_from_its_file_with_the_same_numbers(tmp_path):
    store, outputs = tmp_path / "search.jsonl", ["body.coupler.r[0]", "body.coupler.r[1]"]

    def search(most):
        return mbd.optimize(
            lambda l1: four_bar(l1=l1, speed=2.0),
            lambda z: ((z - np.array([0.7, 0.7])) ** 2).sum(),
            {"l1": 0.38},
            outputs=outputs,
            run="kinematics",
            t=[0.2, 0.4],
            store=store,
            most=most,
        )

    with pytest.warns(UserWarning, match="no optimum"):
        first = search(1)
    lines = store.read_text().splitlines()
    store.write_text("\n".join(lines) + '\n{"x": [0.3')  # killed while it was writing
    whole = search(50)
    assert whole.success
    assert np.array_equal(whole.history[0].x, first.history[0].x)
    assert whole.history[0].value == first.history[0].value
    assert search(50).runs == 0.0
    with pytest.raises(mbd.UsageError, match="another search"):
        mbd.optimize(spring, "body.body.r[0]", {"k": 8.0}, store=store, **RUN)


def test_a_search_that_was_killed_ends_with_the_numbers_of_one_that_was_not(tmp_path):
    def search(name, **more):
        return mbd.optimize(
            spring,
            lambda z: (z[0] - 0.8) ** 2 + (z[1] + 0.3) ** 2,
            mbd.Parameters(k=mbd.Parameter(6.0, lower=2.0, upper=20.0), m=mbd.Parameter(2.0, lower=1.0, upper=3.0)),
            outputs=["body.body.r[0]", "body.body.v[0]"],
            store=tmp_path / name,
            **RUN,
            **more,
        )

    whole = search("whole.jsonl")
    lines = (tmp_path / "whole.jsonl").read_text().splitlines()
    (tmp_path / "killed.jsonl").write_text("\n".join(lines[:4]) + "\n")
    goes_on = search("killed.jsonl")
    assert len(whole.history) > 4
    assert np.array_equal([one.x for one in goes_on.history], [one.x for one in whole.history])
    assert goes_on.value == whole.value


def test_a_search_of_another_model_or_objective_gets_no_numbers_from_a_file(tmp_path):
    """What the functions read is part of the search, as it is part of a study."""

    def search(name, c=1.0, wanted=0.5, most=2):
        build = lambda k: spring(k, m=c)  # noqa: E731  it reads c
        goal = lambda z: (z[0] - wanted) ** 2  # noqa: E731  it reads wanted
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return mbd.optimize(build, goal, {"k": 8.0}, outputs=["body.body.r[0]"], store=tmp_path / name, most=most, **RUN)

    first = search("one.jsonl")
    assert search("one.jsonl").value == first.value
    for other, told in (({"c": 2.0}, "'c' was 1.0, is 2.0"), ({"wanted": 0.1}, "'objective='")):
        with pytest.raises(mbd.UsageError, match=f"another search: .*{told}"):
            search("one.jsonl", **other)
    lines = (tmp_path / "one.jsonl").read_text().splitlines()
    assert len(lines) > 2
    lines[1] = lines[1].replace("1", "2", 1)
    (tmp_path / "two.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(mbd.UsageError, match="damaged in line 2"):
        search("two.jsonl")
    with pytest.raises(OSError, match="no folder"):
        search(tmp_path / "nowhere" / "three.jsonl")


def test_parameters_are_checked():
    for wrong in (
        lambda: mbd.Parameter(np.nan),
        lambda: mbd.Parameter(1.0, lower=2.0),
        lambda: mbd.Parameter(1.0, sd=0.0),
        mbd.Parameters,
        lambda: mbd.Parameters(L="long"),
        lambda: mbd.tolerances(pendulum, "joint.pin.angle", {"L": 0.5}, t_end=0.1),
    ):
        with pytest.raises(mbd.UsageError):
            wrong()
    p = mbd.Parameters(L=0.5, k=mbd.Parameter(120.0, lower=0.0, unit="N/m", sd=2.0))
    assert dict(p) == {"L": 0.5, "k": 120.0}
    assert p.at([0.6, -1.0])["k"] == 0.0
