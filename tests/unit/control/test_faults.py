"""What is wrong with blocks is said by name, all at once; blocks are pickled, and written to model files bit by bit."""

import copy
import pickle
import sys
import types

import numba
import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.modelfile.parts.blocks import CLASSES
from joints import CJ, RJ, TJ, UJ, Planar, RotationDriver, TranslationDriver

OWN = types.ModuleType("functions_of_blocks")
exec(  # a module that a file can name
    "def rate(t, x, signals):\n    return -x\n\n\ndef first(t, x, signals):\n    return x[0]\n\n\n"
    "def call(t, signals):\n    return signals['rail.rate']\n\n\ndef goal(t):\n    return 0.5 * t\n",
    OWN.__dict__,
)
sys.modules[OWN.__name__] = OWN


def cart(*blocks):
    """Return a mass on a rail with blocks."""
    system = mbd.System("cart")
    mass = system.add(mbd.Body("mass", 2.0, (0.1, 0.1, 0.1), v=(1.0, 0, 0)))
    system.add(TJ("rail", system.ground, mass, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.TSDA("strut", system.ground, mass, point_i=(-1, 0, 0), point_j=(0, 0, 0), k=10.0, l0=1.0))
    for block in blocks:
        system.add(block)
    return system, mass


def reads(name, signal):
    return mbd.Block(name, outputs={"u": lambda t, x, signals: signals[signal]})


def nothing(t, x, signals):
    return 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([reads("a", "rail.speed")], ["Block 'a'", "joint 'rail' (TJ) has no signal 'speed'", "it has displacement and rate"]),
        ([reads("a", "rail.angle")], ["Block 'a'", "'rail'", "displacement"]),
        ([reads("a", "b.v"), reads("b", "rail.rate")], ["Block 'a'", "Block 'b' has no output 'v'"]),
        (
            [reads("a", "b.u"), reads("b", "c.u"), reads("c", "a.u")],
            ["algebraic loop", "'a.u' needs 'b.u' needs 'c.u' needs 'a.u'"],
        ),
        ([reads("a", "a.u")], ["algebraic loop", "'a.u' needs 'a.u'"]),
        ([mbd.LowPass("a", "rail.rat", 1.0)], ["LowPass 'a'", "rate"]),
        ([mbd.LowPass("a", "nothing at all", 1.0)], ["LowPass 'a'", "no signal 'nothing at all'"]),
        ([mbd.Block("a", 1.0, derivative=lambda t, x, signals: np.nan)], ["Block 'a'", "derivative returns nan", "finite number"]),
        ([mbd.Block("a", (1.0, 2.0), derivative=lambda t, x, signals: 1.0)], ["derivative returns 1.0", "2 finite numbers"]),
        ([mbd.Block("a", outputs={"u": lambda t, x, signals: 1.0 / 0.0})], ["ZeroDivisionError", "output 'u' of Block 'a'"]),
        ([mbd.Block("a", outputs={"u": lambda t, x, signals: "text"})], ["output 'u' is 'text'", "finite number"]),
        ([mbd.Block("a", 1.0)], ["Block 'a'", "1 states and no derivative"]),
        ([mbd.Block("a", derivative=nothing)], ["derivative and no states"]),
        ([mbd.Block("a", np.inf, derivative=nothing)], ["x0 is inf"]),
        ([mbd.Block("a", outputs={"u": lambda t: 1.0})], ["function of 1 argument.", "t, x, signals"]),
        ([mbd.Block("a", outputs=3)], ["outputs is 3"]),
        ([mbd.Sampled("a", 0.0, lambda t, signals: 1.0)], ["Sampled 'a'", "period is 0 s, must be positive"]),
        ([mbd.Sampled("a", 1.0, lambda t: 1.0)], ["update is a function of 1 argument."]),
        ([mbd.Sampled("a", 1.0, lambda: 1.0)], ["update is a function of no arguments"]),
        ([mbd.Sampled("a", 1.0, lambda *given: 1.0)], ["update does not say how many arguments it needs"]),
        ([mbd.Block("a", (1.0, 2.0), derivative=lambda t, x, signals: [np.inf, 1.0])], ["derivative returns [inf, 1.0]"]),
        ([mbd.PID("a", "rail.rate", kd=1.0)], ["PID 'a'", "kd is 1", "time constant"]),
        ([mbd.PID("a", "rail.rate", lower=2.0, upper=1.0)], ["limits are 2 and 1"]),
        ([mbd.PID("a", "rail.rate", setpoint=[1])], ["setpoint is"]),
        ([mbd.TransferFunction("a", "rail.rate", (1, 0, 0), (1, 1))], ["degree 2", "denominator 1"]),
        ([mbd.TransferFunction("a", "rail.rate", 1.0, ())], ["denominator is"]),
        ([mbd.DelayLine("a", "rail.rate", -1.0)], ["delay is -1 s"]),
        ([mbd.Block("a"), mbd.Block("a")], ["block 'a'", "used 2 times"]),
        ([mbd.Block("")], ["empty"]),
        ([mbd.Block("rail", outputs={"rate": nothing})], ["block 'rail'", "used 2 times", "a block and a joint"]),
        ([mbd.Sampled("rail", 1.0, lambda t, signals: 1.0)], ["block 'rail'", "used 2 times", "a block and a joint"]),
        ([mbd.Block("strut", outputs={"rate": nothing})], ["signal 'strut.rate'", "the name of 2 things"]),
        ([mbd.Sensor("rail.rate", lambda t, state: 1.0)], ["signal 'rail.rate'", "the name of 2 things"]),
    ],
)
def test_faults_are_said_by_name(blocks, words):
    system, _ = cart(*blocks)
    with pytest.raises(mbd.ModelError) as found:
        system.compile()
    for word in words:
        assert word in str(found.value)


def test_all_faults_are_said_at_once():
    system, _ = cart(reads("a", "rail.speed"), reads("b", "strut.width"), mbd.LowPass("c", "d.u", 1.0))
    with pytest.raises(mbd.ModelError) as found:
        system.compile()
    assert len(found.value.faults) == 3


def test_an_output_that_needs_accelerations_drives_no_joint():
    system = mbd.System("driven")
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1)))
    outputs = {"u": lambda t, x, signals: 0.5 * signals["pin.angle"], "v": lambda t, x, signals: (1.0, 2.0)}
    block = system.add(mbd.Block("a", outputs=outputs))
    system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(RotationDriver("drive", system["pin"], block["u"]))
    for ask in (mbd.System.compile, mbd.assemble, lambda system: mbd.simulate(system, 0.1, h=0.01)):
        with pytest.raises(mbd.ModelError, match="joint 'drive'.*'a.u' needs the derivative of 'pin.angle'") as found:
            ask(system)
        assert len(found.value.faults) == 1
    assert "'a.u' needs the derivative of 'pin.angle'" in " ".join(str(mbd.mobility(system)).split())
    with pytest.raises(mbd.UsageError, match="has no output 'w'; its outputs are 'u', 'v'"):
        block["w"]


@pytest.mark.parametrize("number", [-1, 1.0, True, "x", None])
def test_a_number_of_an_output_is_a_count(number):
    block = mbd.Block("a", outputs={"f": lambda t, x, signals: (2.0 * t, 3.0, 0.0)})
    if number is None:
        assert block["f", None] is block["f"]
        with pytest.raises(mbd.UsageError, match=r"has no output \('f', 0, 0\)"):
            block["f", 0, 0]
        return
    with pytest.raises(mbd.UsageError, match="number .* of output 'f' is asked for. Give 0, 1, 2"):
        block["f", number]


def test_one_number_of_an_output_is_no_vector():
    """It was taken for all three."""
    block = mbd.Block("a", outputs={"f": lambda t, x, signals: (2.0, 3.0, 0.0)})
    system, mass = cart(block)
    system.add(mbd.PointForce("push", mass, point=(0, 0, 0), force=block["f", 0]))
    with pytest.raises(mbd.ModelError, match=r"PointForce 'push': force is a\.f\[0\] .*Give three numbers"):
        system.compile()


def test_a_vector_goes_to_a_force_number_by_number():
    block = mbd.Block("a", outputs={"f": lambda t, x, signals: (2.0 * t, 3.0, 0.0)})
    system, mass = cart(block)
    system.add(mbd.PointForce("push", mass, point=(0, 0, 0), force=(block["f", 0], block["f", 1], 0)))
    system.add(mbd.PointForce("whole", mass, point=(0, 0, 0), force=block["f"]))
    result = mbd.simulate(system, 0.1, h=0.05)
    np.testing.assert_array_equal(result.load("whole").force, result.load("push").force)
    np.testing.assert_allclose(result.load("push").force, np.stack([2.0 * result.t, 0 * result.t + 3.0, 0 * result.t], axis=1))
    system, mass = cart(block)
    system.add(mbd.PointForce("push", mass, point=(0, 0, 0), force=(block["f"], 0, 0)))
    with pytest.raises(mbd.ModelError, match="output 'f' is 3 numbers, and one number is needed"):
        system.compile()


def test_a_block_that_was_not_added_is_missed():
    system, mass = cart()
    system.add(mbd.PointForce("push", mass, point=(0, 0, 0), force=(mbd.Block("a", outputs={"u": nothing})["u"], 0, 0)))
    with pytest.raises(mbd.ModelError, match="uses 'a.u', and Block 'a' is not in the system"):
        system.compile()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: mbd.Block("a", outputs={"u": lambda t, x, signals: np.inf if t > 0.5 else 0.0}), "output 'u' is inf at t = 0.5"),
        (lambda: mbd.Sampled("a", 0.2, lambda t, signals: np.nan if t > 0.3 else 0.0), "update returns nan at t = 0.4 s"),
        (lambda: mbd.Sampled("a", 0.2, lambda t, signals: signals["nothing"]), "no signal 'nothing'"),
    ],
)
def test_errors_of_a_run_have_name_and_time(make, words):
    block = make()
    system, mass = cart(block)
    system.add(mbd.PointForce("push", mass, point=(0, 0, 0), force=(block[next(iter(block.outputs))], 0, 0)))
    with pytest.raises(mbd.SimulationError) as found:
        mbd.simulate(system, 1.0, h=0.05)
    assert words in str(found.value)
    assert f"{block.kind} 'a'" in str(found.value)


def test_names_that_a_function_puts_together_are_read_unless_turns_are_counted_for_them():
    system = mbd.System("wheel")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 2.0)))
    system.add(RJ("pin", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    joint = system["pin"].name
    system.add(mbd.Block("a", outputs={"u": lambda t, x, signals: signals[f"{joint}.rate"]}))
    np.testing.assert_allclose(mbd.simulate(system, 0.1, h=0.05).block("a")["u"], 2.0, atol=1e-12)
    system.add(mbd.Block("b", outputs={"u": lambda t, x, signals: signals[f"{joint}.angle"]}))
    with pytest.raises(mbd.ModelError, match="Block 'b'.*declare it, inputs=.'pin.angle',."):
        system.compile()


def test_exceptions_of_the_user_are_raised_as_they_are():
    def fails(t, x, signals):
        if t > 0.5:
            raise KeyError("own")
        return 0.0

    system, mass = cart(mbd.Block("a", outputs={"u": fails}))
    system.add(mbd.PointForce("push", mass, point=(0, 0, 0), force=(system["a"]["u"], 0, 0)))
    with pytest.raises(KeyError, match="own") as found:
        mbd.simulate(system, 1.0, h=0.05)
    assert "output 'u' of Block 'a'" in found.value.__notes__[0]


def test_signals_of_force_elements_and_joints_are_those_of_the_result():
    names = ("strut.length", "strut.rate", "strut.force", "rail.displacement", "rail.rate")
    system, _ = cart(*(reads(f"b{k}", name) for k, name in enumerate(names)))
    result = mbd.simulate(system, 1.0, h=0.05)
    strut, rail = result.load("strut"), result.joint("rail")
    for k, values in enumerate((strut.length, strut.rate, strut.force, rail.displacement, rail.rate)):
        np.testing.assert_allclose(result.block(f"b{k}")["u"], values, atol=1e-12)


@pytest.mark.slow
def test_every_coordinate_of_a_joint_and_quantity_of_a_contact_is_a_signal():
    """A universal joint has two angles, a planar one two displacements: signals say which by a number."""
    system = mbd.System("several", gravity=(0.0, 0.5, -9.81))
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.11, 0.12), r=(0.2, 0.1, -0.3)))
    system.add(UJ("cross", system.ground, rod, point=(0, 0, 0), axis_i=(1, 0, 0), axis_j=(0, 1, 0)))
    puck = system.add(mbd.Body("puck", 1.0, (0.1, 0.1, 0.1), r=(5, 0, 0), v=(0.5, 0.3, 0), omega_bar=(0, 0, 8.0)))
    table = system.add(Planar("table", system.ground, puck, point=(5, 0, 0), normal=(0, 0, 1)))
    system.add(mbd.JointForce("pull", [table.coordinate("angle"), table.coordinate("displacement", 2)], lambda t, q, qd: -q))
    shapes = {"shape_i": mbd.Sphere(0.1), "shape_j": mbd.Plane(point=(5, 0, -0.099))}
    system.add(mbd.ContactForce("rub", puck, system.ground, **shapes, K=1e3, restitution=0.5, mu=0.2))
    joints = {"angle": ("cross", (0, 1)), "displacement": ("table", (0, 1))}
    wanted = {
        f"{joint}.{what}_{k + 1}{end}": (joint, what, k, end)
        for what, (joint, ks) in joints.items()
        for k in ks
        for end in ("", "_rate")
    }
    loads = [
        "rub.indentation",
        "rub.normal_force",
        "rub.friction_force",
        "rub.slip",
        "pull.coordinates",
        "pull.rates",
        "pull.forces",
    ]
    for name in (*wanted, *loads, "table.angle_rate"):
        system.add(mbd.Block(name.replace(".", " "), outputs={"out": lambda t, x, s, name=name: s[name]}, inputs=[name]))
    result = mbd.simulate(system, 0.5, h=5e-3)
    for name, (joint, what, k, end) in wanted.items():
        history = result.joint(joint)
        values = (history.rate if end else getattr(history, what))[:, k]
        np.testing.assert_allclose(result.block(name.replace(".", " "))["out"], values, atol=1e-9)
    np.testing.assert_allclose(result.block("table angle_rate")["out"], result.joint("table").rate[:, 2], atol=1e-9)
    for name in loads:
        load, what = name.split(".")
        np.testing.assert_allclose(result.block(f"{load} {what}")["out"], getattr(result.load(load), what), atol=1e-9)


@pytest.mark.slow
def test_angles_are_counted_through_any_number_of_turns():
    system = mbd.System("wheel")
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0, 0, 40.0), v=(0, 0, 0.5)))
    system.add(CJ("screw", system.ground, wheel, point=(0, 0, 0), axis=(0, 0, 1)))
    for k, name in enumerate(("screw.angle", "screw.displacement", "screw.angle_rate", "screw.displacement_rate")):
        system.add(reads(f"b{k}", name))
    result = mbd.simulate(system, 2.0, h=0.01)
    values = [result.block(f"b{k}")["u"] for k in range(4)]
    np.testing.assert_allclose(values[0], result.joint("screw").angle, atol=1e-9)
    assert values[0][-1] > 79.0
    np.testing.assert_allclose(values[1], 0.5 * result.t, atol=1e-9)
    np.testing.assert_allclose(values[2], 40.0, atol=1e-9)
    np.testing.assert_allclose(values[3], 0.5, atol=1e-9)


def test_what_does_not_solve_for_the_states_refuses_them():
    system, _ = cart(mbd.LowPass("a", "rail.rate", 1.0))
    system.add(TranslationDriver("drive", system["rail"], lambda t: t))
    with pytest.raises(mbd.UsageError, match="LowPass 'a'"):
        mbd.kinematics(system, [0.0, 1.0])


def test_a_run_goes_on_from_a_state_of_another():
    system, _ = cart(mbd.LowPass("a", "rail.rate", 1.0), mbd.Sampled("b", 0.1, lambda t, x, signals: x + 1.0))
    model = system.compile()
    whole = mbd.simulate(model, 1.0, h=0.05)
    half = mbd.simulate(model, 0.5, h=0.05)
    rest = mbd.simulate(model, 1.0, h=0.05, state=half.state())
    np.testing.assert_allclose(rest.y[-1], whole.y[-1], atol=1e-12)


def test_blocks_are_pickled():
    system, _ = cart(
        mbd.PID("pid", "rail.rate", 1.0, kp=2.0, kd=1.0, tau=0.1, upper=5.0),
        mbd.LowPass("low", "pid.out", 0.1),
        mbd.TransferFunction("plant", "low.out", 1.0, (1, 1)),
        mbd.DelayLine("line", "plant.out", 0.2),
    )
    again = pickle.loads(pickle.dumps(system))
    one, other = (mbd.simulate(each, 0.5, h=0.05) for each in (system, again))
    assert one.y.tobytes() == other.y.tobytes()
    assert pickle.loads(pickle.dumps(one)).block("plant")["out"].tobytes() == one.block("plant")["out"].tobytes()


@pytest.mark.slow
def test_a_model_file_holds_blocks_bit_by_bit(tmp_path):
    system, mass = cart(
        mbd.PID("pid", "rail.rate", "low.out", kp=2.0, kd=1.0, tau=0.1, upper=5.0),
        mbd.PID("other", "rail.displacement", OWN.goal, kp=0.3),
        mbd.LowPass("low", "other.out", 0.1, x0=0.3),
        mbd.TransferFunction("plant", "low.out", (0.1, 1.0), (1.0, 0.7)),
        mbd.DelayLine("line", "plant.out", 0.2, before=0.1),
        mbd.Block("own", 0.7, derivative=OWN.rate, outputs={"x": OWN.first}),
        mbd.Sampled("sampled", 0.1, OWN.call),
    )
    system.add(mbd.PointForce("push", mass, point=(0, 0, 0), force=(system["pid"]["out"], system["sampled"]["out"], 0)))
    path = system.save(tmp_path / "cart.json")
    again = mbd.load_model(path, allow_code=True)
    assert again.save(tmp_path / "again.json").read_bytes() == path.read_bytes()
    one, other = (mbd.simulate(each, 0.5, h=0.05) for each in (system, again))
    assert one.y.tobytes() == other.y.tobytes()
    saved = mbd.load(one.save(tmp_path / "run.npz"), allow_code=True)
    np.testing.assert_array_equal(saved.block("plant")["out"], one.block("plant")["out"])
    with pytest.raises(mbd.ModelFileError, match="code is not allowed"):
        mbd.load_model(path)


def test_every_block_is_public_and_has_a_place_in_model_files():
    def below(kind):
        return {one for sub in kind.__subclasses__() for one in (sub, *below(sub))}

    kinds = {mbd.Block, *(one for one in below(mbd.Block) if one.__module__.startswith("haugmbd."))}
    assert {kind.__name__ for kind in kinds} == set(CLASSES)
    assert all(getattr(mbd, kind.__name__) is kind for kind in kinds)


def test_a_file_refuses_what_it_cannot_hold(tmp_path):
    system, _ = cart(reads("a", "rail.rate"))
    with pytest.raises(mbd.ModelFileError, match="Block 'a'.*lambda"):
        system.save(tmp_path / "cart.json")
    system, _ = cart()
    system.add(mbd.Sensor("speed", lambda t, state: 1.0))
    with pytest.raises(mbd.ModelFileError, match=r"sensor 'speed'.*lambda"):
        system.save(tmp_path / "cart.json")


def height(t, state):
    return state.r[1, 2] + t


def test_a_file_holds_sensors_with_a_name(tmp_path):
    system, _ = cart(reads("a", "height"))
    system.blocks.clear()
    system.add(mbd.Sensor("height", height, "m"))
    system.save(tmp_path / "cart.json")
    with pytest.raises(mbd.ModelFileError, match="allow_code"):
        mbd.load_model(tmp_path / "cart.json")
    again = mbd.load_model(tmp_path / "cart.json", allow_code=True)
    assert again.sensors == [mbd.Sensor("height", height, "m")]
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "cart.json").read_bytes()
    twice = (tmp_path / "cart.json").read_text().replace('"sensors": [', '"sensors": [{"name": "height", "function": "a:b"}, ')
    (tmp_path / "twice.json").write_text(twice)
    with pytest.raises(mbd.ModelFileError, match="height"):
        mbd.load_model(tmp_path / "twice.json", allow_code=True)


@pytest.mark.slow
def test_functions_compiled_by_the_user_run_without_python():
    @numba.njit
    def rate(t, x, signals):
        return signals["strut.length"] - x[0] ** 2, signals["pid.out"]

    @numba.njit
    def double(t, x, signals):
        return 2.0 * x[0] + signals["rail.displacement"] if t < 0.8 else np.inf

    def made(derivative, output):
        system, mass = cart(
            mbd.Block("a", (0.5, 0.0), derivative=derivative, outputs={"u": output}),
            mbd.PID("pid", "rail.displacement", 0.2, kp=2.0, ki=1.0, kd=0.5, tau=0.05, upper=0.3),
            mbd.Sampled("s", 0.1, lambda t, signals: signals["a.u"]),
        )
        system.add(mbd.PointForce("push", mass, point=(0, 0, 0), force=(system["a"]["u"], system["s"]["out"], 0)))
        return system.compile()

    compiled, plain = made(rate, double), made(rate.py_func, double.py_func)
    assert compiled.force_callbacks.compiled
    assert not plain.force_callbacks.compiled
    for method, h in ((None, 0.05), (mbd.RadauIIA(), 0.1)):
        one, two = (mbd.simulate(model, 0.5, h=h, integrator=method) for model in (compiled, plain))
        np.testing.assert_allclose(one.y, two.y, atol=1e-11)
        assert np.ptp(one.block("a").x[:, 1]) > 0.05
    with pytest.raises(mbd.SimulationError, match="Block 'a': output 'u' is inf at t = 0.8"):
        mbd.simulate(compiled, 1.0, h=0.05)


@pytest.mark.parametrize("limit", [None, "x", 1j, [1, 2], 10**400, float("nan")])
@pytest.mark.parametrize("label", ["lower", "upper"])
def test_a_limit_of_a_controller_that_is_no_number_is_a_fault(label, limit):
    pid = mbd.PID("pid", "rail.rate", kp=1.0, **{label: limit})
    with pytest.raises(mbd.ModelError, match=f"PID 'pid': {label} is .*one finite number"):
        cart(pid)[0].validate()


def test_a_setpoint_too_large_for_a_float_is_a_fault():
    with pytest.raises(mbd.ModelError, match="PID 'pid': setpoint is 1000"):
        cart(mbd.PID("pid", "rail.rate", 10**400, kp=1.0))[0].validate()


@pytest.mark.parametrize("inputs", [1.0, True, [1, 2], "rail.rate", b"x", [["rail.rate"]]])
def test_inputs_that_are_no_names_are_a_fault(inputs):
    block = mbd.Block("block", outputs={"u": lambda t, x, signals: 0.0}, inputs=inputs)
    with pytest.raises(mbd.ModelError, match="Block 'block': inputs is .*names of the signals"):
        cart(block)[0].validate()


@pytest.mark.parametrize("name", [[1], {}, np.zeros(2)])
def test_a_name_that_is_a_list_is_a_fault_of_every_part(name):
    system = cart(mbd.LowPass(name, "rail.rate", 0.1))[0]
    with pytest.raises(mbd.ModelError, match="the name is empty or not a string"):
        system.validate()
    system = cart()[0]
    system.add(RJ(name, system.ground, system.bodies[1], point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.Drag(name, system.bodies[1], mbd.Sphere(0.1), density=1.0, coefficient=1.0))
    with pytest.raises(mbd.ModelError, match="has 2 faults") as found:
        system.validate()
    assert [fault.where for fault in found.value.faults] == [f"joint {name!r}", f"load {name!r}"]


def three(t, x, signals):
    return np.array([1.0, 2.0, 3.0]) * signals["rail.rate"]


def two(t, x, signals):
    return np.array([1.0, -2.0]) * signals["rail.displacement"]


def test_a_file_holds_outputs_wherever_an_element_takes_them(tmp_path):
    """One number for a list of one joint, a vector for several joints, and one for a force."""
    system, mass = cart(
        mbd.LowPass("low", "rail.rate", 0.1),
        mbd.Block("own", outputs={"three": three, "two": two}),
    )
    other = system.add(mbd.Body("other", 1.0, (0.1, 0.1, 0.1), r=(0, 3, 0)))
    track = system.add(TJ("track", system.ground, other, point=(0, 3, 0), axis=(1, 0, 0)))
    system.add(mbd.JointForce("one", [system["rail"]], system["low"]["out"]))
    system.add(mbd.JointForce("both", [system["rail"], track], [system["own"]["two", 0], system["own"]["two", 1]]))
    system.add(mbd.PointForce("push", mass, force=system["own"]["three"]))
    again = mbd.load_model(system.save(tmp_path / "system.json"), allow_code=True)
    one, two_ = (mbd.simulate(each, 0.3, h=0.05) for each in (system, again))
    assert one.y.tobytes() == two_.y.tobytes()
    assert np.ptp(one["other"].r[:, 0]) > 0.0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_compiled_model_whose_blocks_read_joints_is_copied(copied):
    """The numbers of joints in the copy are those of its own joints."""
    system, _ = cart(mbd.PID("pid", "rail.displacement", 1.0, kp=2.0), mbd.LowPass("low", "rail.rate", 0.1))
    system.add(mbd.JointForce("push", system["rail"], system["pid"]["out"]))
    model = system.compile()
    assert mbd.simulate(copied(model), 0.3, h=0.05).y.tobytes() == mbd.simulate(model, 0.3, h=0.05).y.tobytes()


LATE = 0.3
"""Time from which outputs below are wrong [s]."""


@numba.njit
def compiled_late(t, x, signals):
    return np.nan if t > LATE else 1.0


WRONG = {
    "not finite": (lambda t, x, s: np.nan if t > LATE else 1.0, "output 'u' is nan"),
    "not finite, compiled": (compiled_late, "output 'u' is nan"),
    "a vector": (
        lambda t, x, s: (1.0, 2.0) if t > LATE else 1.0,
        r"output 'u' is a list of length 2 at t = .* must be a finite number, as at",
    ),
    "a longer vector": (
        lambda t, x, s: np.ones(3 if t > LATE else 2),
        r"output 'u' is a list of length 3 at t = .* must be 2 finite num",
    ),
    "no number": (lambda t, x, s: "late" if t > LATE else 1.0, "output 'u' is 'late'"),
}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"store_every": 3}, {"t_eval": np.linspace(0.0, 1.0, 14)}], ids=["all", "some", "wanted"])
@pytest.mark.parametrize("what", WRONG)
def test_an_output_that_nobody_reads_stops_the_run_when_it_is_wrong(what, options):
    function, words = WRONG[what]
    system, _ = cart(mbd.Block("a", outputs={"u": function}))
    with pytest.raises(mbd.SimulationError, match=f"Block 'a': {words}") as found:
        mbd.simulate(system, 1.0, h=0.05, **options)
    so_far = found.value.result
    assert not so_far.success
    assert 0.0 < so_far.t[-1] <= LATE + 1e-12
    assert np.isfinite(so_far.block("a")["u"]).all()


def test_an_output_that_nobody_reads_may_raise():
    system, _ = cart(mbd.Block("a", outputs={"u": lambda t, x, s: 1.0 if t <= LATE else 1.0 / 0.0}))
    with pytest.raises(ZeroDivisionError) as found:
        mbd.simulate(system, 1.0, h=0.05)
    assert "output 'u' of Block 'a'" in found.value.__notes__[0]
    assert found.value.result.block("a")["u"][-1] == 1.0


def test_an_output_that_is_read_keeps_its_shape():
    late = mbd.Block("a", outputs={"u": WRONG["a vector"][0]})
    reader = mbd.Block("b", 0.0, derivative=lambda t, x, s: np.sum(s["a.u"]), outputs={"x": lambda t, x, s: x[0]})
    system, _ = cart(late, reader)
    with pytest.raises(mbd.SimulationError, match=r"Block 'a': output 'u' is a list of length 2 at t = 0.3"):
        mbd.simulate(system, 1.0, h=0.05)


def test_outputs_that_are_read_are_not_called_for_the_stored_states():
    calls = []

    def output(t, x, signals):
        calls.append(t)
        return 1.0

    block = mbd.Block("a", outputs={"u": output})
    reader = mbd.Block("b", 0.0, derivative=lambda t, x, s: s["a.u"], outputs={"x": lambda t, x, s: x[0]})
    push = mbd.Block("push", outputs={"f": lambda t, x, s: s["b.x"]})
    system, mass = cart(block, reader, push)
    system.add(mbd.PointForce("push", mass, point=(0, 0, 0), force=(push["f"], 0, 0)))
    model = system.compile()
    calls.clear()
    result = mbd.simulate(model, 1.0, h=0.05)
    assert len(calls) == result.counters.evaluations  # and not before the run, where rows alone are examined
