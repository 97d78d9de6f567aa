import numpy as np
import pytest

import haugmbd as mbd
from tests.support.designs import four_bar, pendulum

T = np.linspace(0.05, 1.0, 20)
TRUE = {"k": 1.5, "c": 0.12, "L": 0.5}


@pytest.fixture(scope="module")
def measured():
    result = mbd.simulate(pendulum(**TRUE), 1.0, integrator=mbd.DormandPrince(rtol=1e-9, atol=1e-10), t_eval=T)
    return result.joint("pin").angle + 1e-3 * np.random.default_rng(3).normal(size=len(T))


def fitted(data, p, build=pendulum, **arguments):
    return mbd.fit(build, {"joint.pin.angle": data}, p, t=T, integrator=mbd.DormandPrince(rtol=1e-9, atol=1e-10), **arguments)


def test_a_fit_recovers_parameters_within_its_errors(measured):
    f = fitted(measured, {"k": 1.2, "c": 0.2, "L": 0.55}, sigma=1e-3)
    assert f.success
    assert f.rank == 3
    for name, value in TRUE.items():
        assert abs(f.values[name] - value) < 4 * f.standard_errors[name]
    assert 0.3 < f.sum_of_squares / (len(T) - 3) < 3.0
    assert np.allclose(np.diag(f.correlation), 1.0)
    assert f.evaluations <= 8
    without = fitted(measured, {"k": 1.2, "c": 0.2, "L": 0.55})
    assert 0.5 < without.standard_errors["k"] / f.standard_errors["k"] < 2.0


def test_mass_and_inertia_of_a_pendulum_are_told_only_together_and_masses_stay_positive(measured):
    with pytest.warns(UserWarning, match="do not tell m, J, k and c scaled together"):
        f = fitted(measured, {"m": 1.0, "J": 0.06, "k": 1.5, "c": 0.12}, sigma=1e-3)
    assert f.rank == 3
    assert [d.text for d in f.null_directions] == ["m, J, k and c scaled together"]
    assert np.isinf(list(f.standard_errors.values())).all()
    assert f.values["m"] > 0.0


def test_a_parameter_that_nothing_tells_stays_as_it_is_given_also_at_a_bound_of_another():
    def thrown(g, v, m):
        system = mbd.System("thrown", gravity=(0, -g, 0))
        system.add(mbd.Body("ball", m, (0.1, 0.1, 0.1), v=(0, v, 0)))
        return system

    d = 3.0 * T - 0.5 * 9.81 * T**2
    for lower in (-np.inf, 3.1):
        p = mbd.Parameters(g=8.0, v=mbd.Parameter(3.4, lower=lower), m=1.0)
        with pytest.warns(UserWarning, match="do not tell m has no influence"):
            f = mbd.fit(thrown, {"body.ball.r[1]": d}, p, t=T, h=5e-2)
        assert f.success
        assert f.evaluations <= 4
        assert f.values["m"] == 1.0
        v = max(3.0, lower)  # the best g of this v
        assert abs(f.values["v"] - v) < 1e-9
        assert abs(f.values["g"] - (0.5 * T**2 @ (v * T - d)) / (0.5 * T**2 @ (0.5 * T**2))) < 1e-9
        assert f.at_bounds == (("v",) if lower > 0 else ())


def test_null_directions_have_small_whole_numbers_where_they_can():
    build = lambda m, J, L, k: pendulum(m=m, J=J, L=L, k=k, c=0.0)  # noqa: E731
    i = mbd.identifiability(build, "joint.pin.angle", {"m": 1.2, "J": 0.05, "L": 0.5, "k": 1.5}, t=T, h=2e-2)
    assert i.rank == 2
    assert i.null_directions[0].text == "m, J and k scaled together"
    assert "m L / k" in i.base_parameters()


def test_identifiability_names_null_directions_and_what_is_told_before_data():
    i = mbd.identifiability(lambda m, J: pendulum(m=m, J=J, k=0.0, c=0.0), "joint.pin.angle", {"m": 1.2, "J": 0.05}, t=T, h=2e-2)
    assert i.rank == 1
    assert [d.text for d in i.null_directions] == ["m and J scaled together"]
    assert i.base_parameters() in (("m / J",), ("J / m",))
    whole = mbd.identifiability(
        pendulum, ["joint.pin.angle", "reaction.pin.force[1]"], {"m": 1.2, "J": 0.05, "L": 0.5}, t=T, h=2e-2
    )
    assert whole.rank == 3
    assert whole.base_parameters() == ("m", "J", "L")


def test_a_wanted_curve_is_data_and_its_point_may_move_with_the_parameters():
    t, names = np.linspace(0.0, 0.8, 9), [lambda n=0.2, k=k, **p: f"point.coupler(0.1, {n!r}, 0.0).r[{k}]" for k in (0, 1)]

    def curve(l1, n):
        return mbd.kinematics(four_bar(l1=l1, speed=2.0), t)["coupler"].point((0.1, n, 0.0)).r[:, :2]

    wanted = curve(0.4, 0.2)
    data = dict(zip(names, wanted.T, strict=True))
    f = mbd.fit(lambda l1, n: four_bar(l1=l1, speed=2.0), data, {"l1": 0.36, "n": 0.15}, t=t, run="kinematics")
    assert abs(f.values["l1"] - 0.4) < 1e-8
    assert abs(f.values["n"] - 0.2) < 1e-8


@pytest.mark.parametrize(
    ("data", "more", "words"),
    [
        ({}, {}, "data"),
        ({"joint.pin.angle": [1.0]}, {}, "20 times"),
        ({"joint.pin.angle": np.zeros(20)}, {"sigma": -1.0}, "sigma"),
        ({"joint.pin.angle": np.full(20, np.nan)}, {}, "all are NaN"),
        ({"joint.pin.angle": np.full(20, np.inf)}, {}, "infinite"),
    ],
)
def test_wrong_data_are_refused(data, more, words):
    with pytest.raises(mbd.UsageError, match=words):
        mbd.fit(pendulum, data, {"k": 1.0}, t=T, h=1e-2, **more)
