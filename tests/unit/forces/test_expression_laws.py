"""Laws of joint coordinates, lengths and angles as expressions: the same motion as by a function, and through a file without code."""

import pickle

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, TJ

pytestmark = pytest.mark.slow


def system(law, kind="force", **parameters):
    s = mbd.System("law", gravity=(0, 0, -9.81), parameters=parameters or None)
    bar = s.add(mbd.Body("bar", 1.0, (0.01, 0.2, 0.2), r=(1, 0, 0)))
    pin = s.add(RJ("pin", s.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    if kind == "force":
        s.add(mbd.JointForce("law", pin, law))
    elif kind == "length":
        s.add(mbd.TSDA("law", s.ground, bar, point_i=(0, 0, 1), point_j=(1.5, 0, 0), actuator=law))
    else:
        s.add(mbd.RSDA("law", pin, actuator=law))
    return s


LAWS = {
    "force": ("-3*q - 0.4*qd + sin(5*t)", lambda t, q, qd: -3 * q - 0.4 * qd + np.sin(5 * t)),
    "length": ("20*(l - 1.2) + 0.3*l_dot", lambda t, l, l_dot: 20 * (l - 1.2) + 0.3 * l_dot),
    "angle": ("2*theta**3 + 0.1*theta_dot", lambda t, theta, theta_dot: 2 * theta**3 + 0.1 * theta_dot),
}


@pytest.mark.parametrize("kind", LAWS)
def test_an_expression_is_the_function_that_it_says(kind, tmp_path):
    text, function = LAWS[kind]
    by_text, by_function = (system(law, kind) for law in (mbd.Expression(text), function))
    one, two = (mbd.simulate(each, t_end=0.2, h=1e-2) for each in (by_text, by_function))
    np.testing.assert_allclose(one.y, two.y, rtol=1e-12, atol=1e-12)
    again = mbd.load_model(by_text.save(tmp_path / "law.json"))
    np.testing.assert_array_equal(mbd.simulate(again, t_end=0.2, h=1e-2).y, one.y)
    np.testing.assert_array_equal(mbd.simulate(pickle.loads(pickle.dumps(by_text)), t_end=0.2, h=1e-2).y, one.y)


def test_parameters_are_those_of_the_system_and_of_the_file(tmp_path):
    s = system(mbd.Expression("-k*q"), k=3.0)
    again = mbd.load_model(s.save(tmp_path / "law.json"))
    given = mbd.simulate(system(lambda t, q, qd: -3.0 * q), t_end=0.2, h=1e-2)
    own = system(mbd.Expression("-k*q", parameters={"k": 3.0}))
    for each in (s, again, own):
        np.testing.assert_allclose(mbd.simulate(each, t_end=0.2, h=1e-2).y, given.y, rtol=1e-12, atol=1e-12)
    text = (tmp_path / "law.json").read_text()
    assert "-k*q" in text
    assert "function" not in text.split('"loads"')[1]


def test_what_an_expression_cannot_read_is_refused_by_name(tmp_path):
    with pytest.raises(mbd.ModelError, match="'-k\\*q' reads 'k'"):
        system(mbd.Expression("-k*q")).compile()
    s = mbd.System("s")
    cart = s.add(mbd.Body("cart", 1.0, (1, 1, 1)))
    rail = s.add(TJ("rail", s.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    s.add(mbd.JointForce("law", rail, mbd.Expression("-3*theta")))
    with pytest.raises(mbd.ModelError, match="reads 'theta'"):
        s.compile()
    path = system(mbd.Expression("-3*q")).save(tmp_path / "law.json")
    path.write_text(path.read_text().replace("-3*q", "-3*qq"))
    with pytest.raises(mbd.ModelFileError, match="reads 'qq'"):
        mbd.load_model(path)
