"""The medium of MJCF files against MuJoCo: drag of boxes of the inertia, with density, viscosity and wind."""

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math.euler_parameters import rotation_matrix

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.slow

INERTIAL = '<inertial pos="0.03 0.02 -0.2" quat="0.9 0.1 0.3 -0.2" mass="1.3" diaginertia="0.03 0.028 0.01"/>'
INNER = f'<body name="b" pos="0 0 -0.5"><joint axis="0 1 0"/>{INERTIAL}</body>'
TREE = f'<body name="a" pos="0 0 1"><joint type="free"/>{INERTIAL}{INNER}</body>'


@pytest.mark.parametrize("option", ['density="1.2"', 'viscosity="0.3"', 'density="900" viscosity="1e-3" wind="1 -2 0.5"'])
def test_accelerations_in_a_medium_are_those_of_mujoco(option, tmp_path):
    text = f"<mujoco><option {option}/><worldbody>{TREE}</worldbody></mujoco>"
    (tmp_path / "x.xml").write_text(text)
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    d.qvel[:] = np.random.default_rng(3).normal(size=m.nv)
    mujoco.mj_forward(m, d)
    mujoco.mj_rnePostConstraint(m, d)
    system = mbd.read_mjcf(tmp_path / "x.xml")
    model = system.compile()
    state = model.state()
    v, omega = state.v.copy(), state.omega_bar.copy()
    names = [body.name for body in system.bodies]
    A = rotation_matrix(state.p)
    want = np.zeros((2, 3))
    for k in (1, 2):
        i, six = names.index(m.body(k).name), np.zeros(6)
        mujoco.mj_objectVelocity(m, d, mujoco.mjtObj.mjOBJ_BODY, k, six, 0)
        omega[i], v[i] = A[i].T @ six[:3], six[3:]
        mujoco.mj_objectAcceleration(m, d, mujoco.mjtObj.mjOBJ_BODY, k, six, 0)
        want[k - 1] = six[:3]
    for k in (1, 2):
        i = names.index(m.body(k).name)
        v[i] = v[i] + np.cross(A[i] @ omega[i], state.r[i] - d.xipos[k])
    found = mbd.accelerations(model, state.replace(v=v, omega_bar=omega))
    got = np.array([A[i] @ found.omega_bar_dot[i] for i in (names.index("a"), names.index("b"))])
    np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-8)
    again = mbd.load_model(system.save(tmp_path / "x.json"), allow_code=True)
    np.testing.assert_allclose(
        mbd.accelerations(again.compile(), state.replace(v=v, omega_bar=omega)).v_dot, found.v_dot, rtol=1e-12, atol=1e-12
    )


def test_what_is_no_box_is_refused(tmp_path):
    geom = '<geom type="sphere" size="0.1" fluidshape="ellipsoid"/>'
    text = f'<mujoco><option density="1.2"/><worldbody><body><joint type="free"/>{geom}</body></worldbody></mujoco>'
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(mbd.ModelFileError, match="fluidshape"):
        mbd.read_mjcf(tmp_path / "x.xml")
