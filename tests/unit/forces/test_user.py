"""The one callback to the user's callables: the same force as numbers, Python and @njit; and errors that name the element."""

import signal
from functools import cache

import numba
import numpy as np
import pytest

from haugmbd import RSDA, TSDA, Body, Driver, PointForce, SimulationError, StateForce, System, Torque
from haugmbd.compiled.jit import entry
from haugmbd.constraints.base import Motion
from haugmbd.drivers import TimeFunction
from haugmbd.forces import point_force, rsda, torque, tsda
from haugmbd.model.evaluate import rows_entry
from haugmbd.model.generalized_forces import add_loads_to_forces
from haugmbd.workspace.body_kinematics import update_kinematics
from haugmbd.workspace.layout import place_in, workspace_array
from joints import RJ
from tests.support.plain import user_forces

SAME = 1e-14  # relative: the compiler may fuse a product and a sum


def push(t, r, p, v, omega_bar):
    return np.array([r[0] * v[1] + t, p[0], omega_bar[2]])


def push_tuple(t, r, p, v, omega_bar):
    return (r[0] * v[1] + t, p[0], omega_bar[2])


def pull(t, x, x_dot):
    return 3.0 * x - x_dot * t


def step_in_time(t):
    if t < 0.5:
        return np.array([1.0, 2.0, 3.0])
    return np.array([0.0, 2.0, 0.0])


def step_scalar(t):
    return 1.0 if t < 0.5 else 4.0


def all_forces(t, r, p, v, omega_bar):
    Q = np.zeros((2, 6))
    for k in range(2):
        for a in range(3):
            Q[k, a] = r[1 - k, a] - r[k, a]
            Q[k, 3 + a] = omega_bar[k, a] * p[k, 0] + v[k, a]
    return Q


def load_everything(rig, wrap):
    ends = {"point_i": (0.0, 0.3, 0.1), "point_j": (1.0, 1.0, 0.0)}
    rig.system.add(PointForce("push", rig.a, point=(1, 0, 0), force=wrap(push)))
    rig.system.add(PointForce("tuple", rig.b, point=(1, 0, 0), force=wrap(push_tuple)))
    rig.system.add(Torque("turn", rig.b, torque=wrap(push), frame="body"))
    rig.system.add(Torque("step", rig.b, torque=wrap(step_in_time)))
    rig.system.add(TSDA("spring", rig.a, rig.b, k=1.0, l0=0.5, actuator=wrap(pull), **ends))
    rig.system.add(TSDA("second", rig.b, rig.system.ground, actuator=wrap(pull), **ends))
    rig.system.add(TSDA("stepped", rig.b, rig.system.ground, actuator=wrap(step_scalar), **ends))
    rig.system.add(RSDA("torsion", rig.hinge, k=1.0, actuator=wrap(pull)))
    rig.system.add(StateForce("all", [rig.b, rig.a], force=wrap(all_forces)))
    return rig.system.compile()


@pytest.fixture
def second_rig(rig):
    """The same rig once more."""
    system = System("rig")
    a, b = (system.add(Body(x.name, x.mass, x.J_bar, r=x.r, p=x.p)) for x in (rig.a, rig.b))
    return type(rig)(system, a, b, system.add(RJ("hinge", a, b, point=(0.4, 0.1, 0.3), axis=(1.0, 2.0, 2.0))))


@pytest.mark.slow
def test_python_and_njit_give_the_same_forces(rig, second_rig, random_state, forces):
    python, compiled = load_everything(rig, lambda f: f), load_everything(second_rig, cache(numba.njit(cache=True)))
    assert not python.force_callbacks.compiled
    assert compiled.force_callbacks.compiled or numba.config.DISABLE_JIT
    for t in (0.3, 0.7):
        for _ in range(5):
            y = random_state(python)
            Q = forces(python, t, y)
            np.testing.assert_allclose(forces(compiled, t, y), Q, rtol=0, atol=SAME * np.abs(Q).max())


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler all functions are Python")
def test_models_with_the_same_calls_share_their_machine_code():
    """A variant of a sweep has other numbers, but the same functions in the same places."""
    compiled = numba.njit(cache=True)(push_tuple)

    def address(mass, loaded):
        system = System("two")
        bodies = [system.add(Body(name, mass, (1, 1, 1))) for name in "ab"]
        system.add(PointForce("push", bodies[loaded], force=compiled))
        return system.compile().force_callbacks.callback().address

    assert address(1.0, 0) == address(2.0, 0)
    assert address(1.0, 0) != address(1.0, 1)


@pytest.mark.slow
def test_number_and_functions_of_the_same_force(rig, random_state, forces):
    constant = (1.0, -2.0, 3.0)
    ways = [
        constant,
        lambda t: constant,
        lambda t: np.array(constant) if t < 1e9 else None,
        lambda t, r, p, v, omega_bar: constant,
        numba.njit(lambda t, r, p, v, omega_bar: np.array([1.0, -2.0, 3.0])),
        numba.njit(lambda t, r, p, v, omega_bar: (1.0, -2.0, 3.0)),
    ]
    found = []
    y = None
    for way in ways:
        rig.system.loads[:] = [PointForce("push", rig.b, point=(1, 1, 0), force=way, frame="body")]
        model = rig.system.compile()
        y = random_state(model) if y is None else y
        found.append(forces(model, 0.3, y))
    for Q in found[1:]:
        np.testing.assert_allclose(Q, found[0], rtol=0, atol=SAME * np.abs(found[0]).max())


@pytest.mark.slow
def test_one_python_callable_takes_all_through_python(rig, random_state, forces):
    rig.system.add(PointForce("push", rig.a, force=numba.njit(cache=True)(push)))
    rig.system.add(PointForce("other", rig.a, force=push))
    model = rig.system.compile()
    assert not model.force_callbacks.compiled
    y = random_state(model)
    np.testing.assert_allclose(forces(model, 0.3, y)[1, :3], 2.0 * push(0.3, *np.split(y[13:26], [3, 7, 10])), rtol=SAME)


def test_callables_get_copies(rig, random_state, forces):
    kept = []

    def greedy(t, r, p, v, omega_bar):
        kept.append(r)
        r += 1e3
        return (0.0, 0.0, 0.0)

    rig.system.add(PointForce("push", rig.a, force=greedy))
    model = rig.system.compile()
    y = random_state(model)
    before = y.copy()
    forces(model, 0.0, y)
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(kept[-1], before[13:16] + 1e3)


def late(after, bad):
    """A force that is right until t = 0.1 s."""
    return lambda t, r, p, v, omega_bar: (0.0, 0.0, 1.0) if t < after else bad()


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda: None, "returns None"),
        (lambda: (1.0, np.nan, 0.0), "returns [1.0, nan, 0.0]"),
        (lambda: np.zeros(2), "returns an array of shape (2,)"),
        (lambda: "abc", "returns 'abc' (str)"),
        (lambda: [1.0, [2.0, 3.0]], "returns [1.0, [2.0, 3.0]]"),
        (lambda: (0.0, None, 1.0), "returns (0.0, None, 1.0)"),
    ],
)
def test_a_bad_answer_at_run_time_names_element_time_and_value(rig, forces, bad, words):
    rig.system.add(PointForce("push", rig.a, force=late(0.1, bad)))
    model = rig.system.compile()
    with pytest.raises(SimulationError) as caught:
        forces(model, 0.25, model.y0.copy())
    text = str(caught.value)
    assert text.startswith("PointForce 'push': force(t, r, p, v, omega_bar) returns ")
    assert words in text
    assert "at t = 0.25 s, must be finite numbers of shape (3,)" in text


def test_an_exception_comes_out_as_it_is_with_a_note(rig, forces):
    rig.system.add(PointForce("push", rig.a, force=late(0.1, lambda: {}["key"])))
    model = rig.system.compile()
    with pytest.raises(KeyError, match="key") as caught:
        forces(model, 0.25, model.y0.copy())
    assert caught.value.__notes__ == ["raised by force(t, r, p, v, omega_bar) of PointForce 'push' at t = 0.25 s"]


def test_ctrl_c_inside_a_callable(rig, forces):
    def interrupted():
        raise KeyboardInterrupt

    rig.system.add(PointForce("push", rig.a, force=late(0.1, interrupted)))
    model = rig.system.compile()
    with pytest.raises(KeyboardInterrupt):
        forces(model, 0.25, model.y0.copy())


@entry
def many_times(P, t, y, n):
    """Ask again and again, until somebody stops it."""
    for k in range(n):
        code = add_loads_to_forces(P, update_kinematics(P, t, y), y)
        if code != 0:
            return k
    return n


def ask_until_stopped(model, pack, y):
    assert many_times(pack, 0.0, y, 10**7) < 10**7
    model.raise_user_error(pack)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_moment_of_a_loop_stops_it(rig):
    """A signal that arrives in compiled code is raised on the way into Python, where C loses it: the loop must stop all the same."""
    rig.system.add(PointForce("push", rig.a, force=push))
    model = rig.system.compile()
    pack, y = model.pack(), model.y0.copy()
    many_times(pack, 0.0, y, 1)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for delay in np.linspace(0.01, 0.03, 10):
            pack = model.pack()
            signal.setitimer(signal.ITIMER_REAL, delay)
            with pytest.raises(KeyboardInterrupt):
                ask_until_stopped(model, pack, y)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler all functions are Python")
def test_compiled_functions_name_themselves_too(rig, second_rig, forces, capfd):
    def nan_later(t, x, x_dot):
        return x if t < 0.1 else x * np.nan

    def raise_later(t, x, x_dot):
        if t > 0.1:
            raise ValueError("too late")
        return x

    ends = {"point_i": (0.0, 0.3, 0.1), "point_j": (1.0, 1.0, 0.0)}
    rig.system.add(TSDA("good", rig.a, rig.b, actuator=numba.njit(cache=True)(pull), **ends))
    rig.system.add(TSDA("bad", rig.a, rig.b, actuator=numba.njit(cache=True)(nan_later), **ends))
    model = rig.system.compile()
    assert model.force_callbacks.compiled
    with pytest.raises(SimulationError, match=r"TSDA 'bad': actuator\(t, l, l_dot\) returns nan at t = 0.25 s"):
        forces(model, 0.25, model.y0.copy())
    second_rig.system.add(TSDA("bad", second_rig.a, second_rig.b, actuator=numba.njit(cache=True)(raise_later), **ends))
    model = second_rig.system.compile()
    with pytest.raises(ValueError, match="too late") as caught:
        forces(model, 0.25, model.y0.copy())
    assert "TSDA 'bad' at t = 0.25 s" in caught.value.__notes__[0]
    capfd.readouterr()  # C says on stderr that it lost an exception


def test_a_state_that_is_not_finite_is_not_the_callables_fault(rig, forces):
    rig.system.add(PointForce("push", rig.a, force=push))
    model = rig.system.compile()
    y = model.y0.copy()
    y[13] = np.nan
    with pytest.raises(SimulationError, match="the state is not finite at t = 0.25 s"):
        forces(model, 0.25, y)


class Stamp(Driver):
    """A driver that only Python can evaluate, and that fails later."""

    def values(self, t):
        if np.any(np.asarray(t) > 0.2):
            raise ZeroDivisionError("no more")
        return np.array([2.0 * t, 2.0, 0.0])

    def faults(self):
        return ()


def test_python_drivers_go_through_the_same_door(rig, forces):
    rig.system.add(PointForce("push", rig.a, force=(0.0, 0.0, Stamp())))
    model = rig.system.compile()
    assert model.force_callbacks.any
    assert forces(model, 0.1, model.y0.copy())[1, 2] == 0.2
    with pytest.raises(ZeroDivisionError) as caught:
        forces(model, 0.3, model.y0.copy())
    assert caught.value.__notes__ == ["raised by the driver of PointForce 'push' at t = 0.3 s"]


def test_a_function_driver_raises_its_own_exception(rig, forces):
    def broken(t):
        if t > 0.2 and t < 1e9:
            raise KeyError("lost")
        return 1.0 if t < 0.1 else 2.0

    rig.system.add(PointForce("push", rig.a, force=(0.0, 0.0, TimeFunction(broken, check=(0.0, 0.15)))))
    model = rig.system.compile()
    with pytest.raises(KeyError, match="lost") as caught:
        forces(model, 0.3, model.y0.copy())
    assert "PointForce 'push' at t = 0.3 s" in caught.value.__notes__[0]


def test_nobody_is_asked_where_there_is_nobody(rig):
    rig.system.add(PointForce("push", rig.a, force=lambda t: (0.0, 0.0, np.sin(t))))
    model = rig.system.compile()
    assert not model.force_callbacks.any
    assert model.tables["FLAGS"][0, 1] == 0


@entry
def add_tsdas(ints, reals, first, last, motion, Q):
    tsda.add_forces(ints, reals, first, last, motion, Q)


@entry
def add_rsdas(ints, reals, first, last, motion, Q):
    rsda.add_forces(ints, reals, first, last, motion, Q)


@entry
def add_point_forces(ints, reals, first, last, motion, Q):
    point_force.add_forces(ints, reals, first, last, motion, Q)


@entry
def add_torques(ints, reals, first, last, motion, Q):
    torque.add_forces(ints, reals, first, last, motion, Q)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "compiled", "kind"),
    [(tsda, add_tsdas, 0), (rsda, add_rsdas, 1), (point_force, add_point_forces, 2), (torque, add_torques, 3)],
)
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="there is only the plain Python")
def test_kernels_against_their_plain_python(rig, random_state, forces, module, compiled, kind):
    model = load_everything(rig, lambda f: f)
    y = random_state(model)
    pack = model.pack()
    assert rows_entry(pack, 0.3, y) == 0
    m = motion(pack, 0.3, y)
    at = model.tables["FORCE_KIND_STARTS"][0]
    results = []
    for add_forces in (compiled, module.add_forces.py_func):
        Q = np.zeros((3, 6))
        add_forces(model.tables["FORCE_INTS"], model.tables["FORCE_REALS"], at[kind], at[kind + 1], m, Q)
        results.append(Q)
    assert np.abs(results[0]).max() > 0.0
    np.testing.assert_allclose(*results, rtol=0, atol=SAME * np.abs(results[0]).max())


def motion(pack, t, y):
    """The motion that kernels read, from the rooms of a pack."""
    n = 3
    return Motion(
        t, y[: 13 * n].reshape(n, 13), workspace_array(pack, "A").reshape(-1, 3, 3), y[13 * n :],
        np.ascontiguousarray(body_of(pack)), workspace_array(pack, "X"), workspace_array(pack, "F"),
    )  # fmt: skip


def body_of(pack):
    start, rows, _ = place_in(pack.ints, "BODY_OF")
    return pack.ints[start : start + rows]


@pytest.mark.slow
def test_the_same_without_the_compiler(plain):
    found = user_forces()
    assert np.abs(found).max() > 1.0
    np.testing.assert_allclose(plain["user forces"], found, rtol=0, atol=SAME * np.abs(found).max())
