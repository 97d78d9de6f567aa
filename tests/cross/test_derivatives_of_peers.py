"""Derivatives against other engines: constrained accelerations by Pinocchio, transitions by MuJoCo, parameters found in data of Exudyn."""

import numpy as np
import pytest

import haugmbd as mbd
from joints import RJ, SJ
from tests.support.designs import pendulum, worst

POINTS = np.array([[0.0, 0.0, 0.0], [0.4, 0.1, 0.0], [0.9, 0.0, 0.2], [1.3, -0.2, 0.1], [1.6, 0.1, 0.3]])
AXES = np.array([[0.1, 0.2, 1.0], [0.9, 0.1, 0.3], [0.2, 1.0, -0.1], [0.5, -0.4, 0.8]])
AXES /= np.linalg.norm(AXES, axis=1)[:, None]
MASSES, INERTIA = (1.1, 0.8, 0.7, 0.6), np.array([0.02, 0.03, 0.025])


def centres():
    return 0.5 * (POINTS[:-1] + POINTS[1:])


def motion_of_loop():
    """Return the rates (4,) of the one motion of four revolute joints whose tip is held."""
    J = np.array([np.cross(axis, POINTS[-1] - point) for axis, point in zip(AXES, POINTS[:-1], strict=True)]).T
    return np.linalg.svd(J)[2][-1]


def held_arm(w, **tau):
    """Return an arm of four revolute joints with the rates w of its one motion, whose tip a ball joint holds."""
    rates, system = w * motion_of_loop(), mbd.System("arm", gravity=(0, 0, -9.81))
    omega, v, before, joints = np.zeros(3), np.zeros(3), system.ground, []
    for k, (centre, mass) in enumerate(zip(centres(), MASSES, strict=True)):
        omega = omega + rates[k] * AXES[k]
        of_centre = v + np.cross(omega, centre - POINTS[k])
        body = system.add(mbd.Body(f"b{k}", mass, INERTIA, r=centre, v=of_centre, omega_bar=omega))
        joints.append(system.add(RJ(f"j{k}", before, body, point=POINTS[k], axis=AXES[k])))
        system.add(mbd.JointForce(f"motor {k}", joints[k], tau[f"tau{k}"]))
        v, before = v + np.cross(omega, POINTS[k + 1] - POINTS[k]), body
    system.add(SJ("tip", system.ground, before, point=POINTS[-1]))
    return system


@pytest.mark.slow
def test_constrained_accelerations_by_torques_and_rates_are_those_of_pinocchio():
    pin = pytest.importorskip("pinocchio")
    model, parent = pin.Model(), 0
    model.gravity.linear = np.array([0, 0, -9.81])
    for k in range(4):
        step = POINTS[k] - (POINTS[k - 1] if k else 0.0)
        parent = model.addJoint(parent, pin.JointModelRevoluteUnaligned(AXES[k]), pin.SE3(np.eye(3), step), f"j{k}")
        model.appendBodyToJoint(parent, pin.Inertia(MASSES[k], centres()[k] - POINTS[k], np.diag(INERTIA)), pin.SE3.Identity())
    tip = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D,
        model,
        parent,
        pin.SE3(np.eye(3), POINTS[-1] - POINTS[-2]),
        0,
        pin.SE3(np.eye(3), POINTS[-1]),
        pin.ReferenceFrame.LOCAL,
    )
    data, tips, datas = model.createData(), pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    tips.append(tip)
    datas.append(tip.createData())
    pin.initConstraintDynamics(model, data, tips, datas)
    w, tau = 0.7, {f"tau{k}": 4.0 - k for k in range(4)}
    direction = motion_of_loop()
    accelerations = pin.constraintDynamics(
        model, data, np.zeros(4), w * direction, np.array(list(tau.values())), tips, datas, pin.ProximalSettings(1e-14, 0.0, 10)
    ).copy()
    pin.computeConstraintDynamicsDerivatives(model, data, tips, datas, pin.ProximalSettings(1e-14, 0.0, 10))
    exact = np.column_stack([data.ddq_dv @ direction, data.ddq_dtau])
    outputs = [f"joint.j{k}.acceleration" for k in range(4)]
    S = mbd.sensitivity(held_arm, {"w": w} | tau, outputs, run="accelerations")
    assert np.abs(S.values - accelerations).max() < 1e-9 * np.abs(accelerations).max()
    assert worst(S.jacobian, exact) < 1e-8


HINGED = """
<mujoco><option timestep="1e-3" gravity="0 0 -9.81" integrator="Euler"><flag contact="disable" eulerdamp="disable"/></option>
<worldbody><body><joint name="j0" axis="0 1 0"/><inertial pos="0.2 0 0.05" mass="1.1" diaginertia="0.02 0.03 0.025"/>
<body pos="0.4 0.1 0"><joint name="j1" axis="0 0 1"/><inertial pos="0.25 0 0" mass="0.8" diaginertia="0.02 0.03 0.025"/></body>
</body></worldbody><actuator><motor joint="j0"/><motor joint="j1"/></actuator></mujoco>"""


def hinged_arm(w0, w1, tau0, tau1):
    """Return the arm of `HINGED` at its modelled pose, with rates and torques."""
    system, tip = mbd.System("arm", gravity=(0, 0, -9.81)), np.array([0.4, 0.1, 0.0])
    at, on = np.array([0.2, 0.0, 0.05]), tip + [0.25, 0.0, 0.0]
    first, second = np.array([0.0, w0, 0.0]), np.array([0.0, w0, w1])
    upper = system.add(mbd.Body("upper", 1.1, INERTIA, r=at, v=np.cross(first, at), omega_bar=first))
    v = np.cross(first, tip) + np.cross(second, on - tip)
    lower = system.add(mbd.Body("lower", 0.8, INERTIA, r=on, v=v, omega_bar=second))
    j0 = system.add(RJ("j0", system.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    j1 = system.add(RJ("j1", upper, lower, point=tip, axis=(0, 0, 1)))
    system.add(mbd.JointForce("motor 0", j0, tau0))
    system.add(mbd.JointForce("motor 1", j1, tau1))
    return system


def test_accelerations_by_rates_and_torques_are_those_of_the_transitions_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(HINGED)
    data, (A, B) = mujoco.MjData(model), (np.zeros((4, 4)), np.zeros((4, 2)))
    data.qvel[:], data.ctrl[:] = (0.7, -1.9), (2.0, -1.0)
    mujoco.mjd_transitionFD(model, data, 1e-6, True, A, B, None, None)
    h = model.opt.timestep  # v+ = v + h a
    exact = np.column_stack([(A[2:, 2:] - np.eye(2)) / h, B[2:] / h])
    p = {"w0": 0.7, "w1": -1.9, "tau0": 2.0, "tau1": -1.0}
    S = mbd.sensitivity(hinged_arm, p, [f"joint.j{k}.acceleration" for k in range(2)], run="accelerations")
    assert worst(S.jacobian, exact) < 1e-6  # its differences


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_parameters_are_found_again_in_noisy_data_of_exudyn():
    exu = pytest.importorskip("exudyn")
    from exudyn.utilities import RigidBodyInertia, SensorBody  # noqa: PLC0415

    true, angle, L, J, t_end, steps = {"m": 1.3, "k": 2.2, "c": 0.15}, -0.4, 0.5, 0.05, 2.0, 2000
    mbs = exu.SystemContainer().AddSystem()
    ground = mbs.CreateGround()
    bob = mbs.CreateRigidBody(
        inertia=RigidBodyInertia(mass=true["m"], inertiaTensor=J * np.eye(3)),
        referencePosition=[L * np.cos(angle), L * np.sin(angle), 0.0],
        gravity=[0.0, -9.81, 0.0],
    )
    mbs.CreateRevoluteJoint(itemNumbers=[ground, bob], position=[0, 0, 0], axis=[0, 0, 1], useGlobalFrame=True)
    mbs.CreateTorsionalSpringDamper(
        itemNumbers=[ground, bob], position=[0, 0, 0], axis=[0, 0, 1], stiffness=true["k"], damping=true["c"]
    )
    sensor = mbs.AddSensor(SensorBody(bodyNumber=bob, storeInternal=True, outputVariableType=exu.OutputVariableType.Position))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = steps, t_end
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = t_end / steps
    settings.timeIntegration.verboseMode = 0
    mbs.SolveDynamic(settings)
    stored = mbs.GetSensorStoredData(sensor)
    t, sd = np.linspace(0.1, t_end, 20), 1e-3
    rng = np.random.default_rng(3)
    measured = {f"body.bob.r[{k}]": np.interp(t, stored[:, 0], stored[:, 1 + k]) + sd * rng.normal(size=len(t)) for k in range(2)}

    def build(m, k, c):
        return pendulum(m=m, L=L, J=J, k=k, c=c, angle=angle, rate=0.0)

    found = mbd.fit(build, measured, {"m": 1.0, "k": 1.5, "c": 0.05}, t=t, sigma=sd, h=1e-2)
    assert found.rank == 3
    for name, error in found.standard_errors.items():
        assert 0.0 < abs(found.values[name] - true[name]) < 4.0 * error
        assert error < 0.05 * true[name]
