"""FMUs: the description follows the rules of the standard, what the engine cannot do is refused, and the motion is that of a Stepper."""

from __future__ import annotations

import platform
import sys
import zipfile
from contextlib import nullcontext
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.cli.main import main
from haugmbd.fmu import LINEAR, _is_affine, _linear, _model_and_parameters
from haugmbd.fmu import Unit as Reader
from haugmbd.interactive import _value as value
from haugmbd.sensitivity.parameters import Parameters, builder_of
from joints import RJ, RotationDriver

VERSIONS = ("2.0", "3.0")
PLATFORM = {"2.0": "linux64", "3.0": "x86_64-linux"}


@pytest.fixture
def binary(tmp_path):
    """A library that is put into FMUs and never run."""
    file = tmp_path / "engine.so"
    file.write_bytes(b"not run")
    return {"linux64": file}


def crank():
    system = gallery.slider_crank()
    system.add(mbd.Motor("motor", system["R"], torque=0.0))
    system.add(mbd.RSDA("coil spring", system["R"], k=0.3, c=0.01))
    return system


def parts_of(file):
    with zipfile.ZipFile(file) as zipped:
        assert zipped.testzip() is None
        return {name: zipped.read(name) for name in zipped.namelist()}


def described(file):
    """The variables of an FMU by name: causality, variability, attributes of the type; and the root."""
    root = ElementTree.fromstring(parts_of(file)["modelDescription.xml"])
    found = {}
    for one in root.find("ModelVariables"):
        own = dict(one.attrib)
        real = one.find("Real")
        own |= {} if real is None else real.attrib
        found[own["name"]] = own
    return root, found


@pytest.mark.parametrize("version", VERSIONS)
def test_the_zip_has_what_the_standard_asks_for(binary, tmp_path, version):
    file = crank().to_fmu(tmp_path / "my crank.fmu", inputs=["motor"], version=version, platforms=binary)
    parts = parts_of(file)
    root, _ = described(file)
    own = root.find("CoSimulation").attrib["modelIdentifier"]
    assert own.isidentifier()
    assert parts[f"binaries/{PLATFORM[version]}/{own}.so"] == b"not run"
    assert root.attrib["fmiVersion"] == version
    assert {"resources/model.haug", "resources/model.json", "documentation/index.html"} <= set(parts)
    (tmp_path / "again.json").write_bytes(parts["resources/model.json"])
    assert [b.name for b in mbd.load_model(tmp_path / "again.json").bodies] == [b.name for b in crank().bodies]


@pytest.mark.parametrize("version", VERSIONS)
def test_variables_have_names_units_and_start_values(binary, tmp_path, version):
    file = crank().to_fmu(
        tmp_path / "x.fmu",
        inputs=["motor"],
        outputs=["R.angle", "R.rate", "slider.v", "R.force[2]", "crank.v_dot"],
        parameters=["crank.mass", "coil spring.k", "gravity[2]"],
        version=version,
        platforms=binary,
    )
    _, found = described(file)
    assert list(found)[:2] == ["time", "motor"]
    assert found["motor"] | {"causality": "input", "start": "0.0", "unit": "N.m"} == found["motor"]
    wanted = {"R.angle": "rad", "R.rate": "rad/s", "slider.v[1]": "m/s", "R.force[2]": "N", "crank.v_dot[0]": "m/s2"}
    assert {name: found[name]["unit"] for name in wanted} == wanted
    assert all(found[name]["causality"] == "output" for name in wanted)
    system = crank()
    assert float(found["crank.mass"]["start"]) == next(b.mass for b in system.bodies if b.name == "crank")
    assert float(found["coil spring.k"]["start"]) == 0.3
    assert float(found["crank.mass"]["min"]) > 0.0
    assert "min" not in found["gravity[2]"]


def test_every_output_is_an_unknown_of_the_structure(binary, tmp_path):
    for version, what in (("2.0", "index"), ("3.0", "valueReference")):
        root, found = described(crank().to_fmu(tmp_path / "x.fmu", version=version, platforms=binary))
        outputs = [k for k, one in enumerate(found.values()) if one["causality"] == "output"]
        structure = root.find("ModelStructure")
        shift = version == "2.0"
        for kind in ("Output", "InitialUnknown"):
            rows = structure.findall(f".//{kind}s/Unknown" if shift else kind)
            assert [int(row.attrib[what]) - shift for row in rows] == outputs


def test_the_same_system_has_the_same_bytes_and_another_one_another_token(binary, tmp_path):
    tokens = []
    for name, h in (("a", 1e-3), ("b", 1e-3), ("c", 2e-3)):
        file = crank().to_fmu(tmp_path / name / "x.fmu" if (tmp_path / name).mkdir() is None else "", h=h, platforms=binary)
        tokens.append((described(file)[0].attrib["instantiationToken"], file.read_bytes()))
    assert tokens[0] == tokens[1]
    assert tokens[0][0] != tokens[2][0]


def test_names_of_any_letters_stay_whole(binary, tmp_path):
    system = mbd.System('a "test" & <more>')
    bar = system.add(mbd.Body("bär <1>", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    system.add(RJ("A & B", system.ground, bar, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    for version in VERSIONS:
        root, found = described(system.to_fmu(tmp_path / "x.fmu", version=version, platforms=binary))
        assert root.attrib["modelName"] == system.name
        assert {"A & B.angle", "bär <1>.r[0]"} <= set(found)
        assert root.attrib["variableNamingConvention"] == "flat"


def pendulum():
    system = mbd.System("swing", gravity=(0.0, 0.0, -9.81))
    bar = system.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    return system, bar, pin


REFUSED = {
    "a function of Python": (lambda s, b, p: mbd.JointForce("engine", p, lambda t, angle, rate: -rate), "Python"),
    "a rigid stop": (lambda s, b, p: mbd.JointLimit("stop", p, lower=-0.2, upper=0.2, restitution=0.5), "stop"),
    "friction": (lambda s, b, p: mbd.JointFriction("rub", p, mbd.Coulomb(0.3), radius=0.1), "rub"),
    "a sampled block": (lambda s, b, p: mbd.Sampled("law", 0.01, lambda t, s: -s["pin.angle"]), "swing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_engine_cannot_do_is_refused_by_name(binary, tmp_path, name):
    make, told = REFUSED[name]
    system, bar, pin = pendulum()
    system.add(make(system, bar, pin))
    with pytest.raises(mbd.UsageError, match=told):
        system.to_fmu(tmp_path / "x.fmu", platforms=binary)
    assert not (tmp_path / "x.fmu").exists()


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"inputs": ["mottor"]}, "did you mean 'motor'"),
        ({"inputs": ["motor", "motor"]}, "each once"),
        ({"outputs": ["R.angel"]}, "'angle'"),
        ({"outputs": ["energy.total"]}, "energy.total.*Python"),
        ({"parameters": ["crank.masss"]}, "crank.mass"),
        ({"parameters": ["gravity"]}, r"gravity\[0\]"),
        ({"parameters": ["gravity[3]"]}, r"gravity\[3\]"),
        ({"parameters": ["R.point[0]"]}, "R.point"),
        ({"parameters": ["motor.torque"], "inputs": ["motor"]}, "motor"),
        ({"h": 0.0}, "h = 0.0"),
        ({"stop_time": float("inf")}, "stop_time"),
        ({"version": "1.0"}, "2.0"),
        ({"platforms": ["amiga"]}, "linux64"),
        ({"platforms": {"linux64": "nowhere.so"}}, "nowhere.so"),
        ({"integrator": mbd.BDF()}, "BDF"),
    ],
)
def test_bad_input_is_one_sentence(binary, tmp_path, how, told):
    with pytest.raises(mbd.UsageError, match=told) as error:
        crank().to_fmu(tmp_path / "x.fmu", **{"platforms": binary, **how})
    assert "\n" not in str(error.value)


def test_another_ending_is_refused(binary, tmp_path):
    with pytest.raises(mbd.UsageError, match=r"\.fmu"):
        crank().to_fmu(tmp_path / "x.zip", platforms=binary)


def test_redundant_joints_keep_their_motion_and_refuse_their_reactions(binary, tmp_path):
    name = next(iter(gallery.peaucellier().compile().joints))
    gallery.peaucellier().to_fmu(tmp_path / "x.fmu", platforms=binary)
    with pytest.raises(mbd.UsageError, match="redundant"):
        gallery.peaucellier().to_fmu(tmp_path / "x.fmu", outputs=[f"{name}.force"], platforms=binary)


def test_drivers_limit_the_time(binary, tmp_path):
    system, bar, pin = pendulum()
    system.add(RotationDriver("drive", pin, mbd.QuinticSpline([0.0, 0.5, 1.0], [0.0, 0.1, 0.0])))
    with pytest.raises(mbd.HaugmbdError, match="drive"):
        system.to_fmu(tmp_path / "x.fmu", platforms=binary, stop_time=1.0, h=0.5)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_run_that_is_proposed_begins_at_the_state(binary, tmp_path, version):
    """However late it is: the file says its time, and a run that would end before it is refused."""
    late = mbd.simulate(crank(), 0.2, h=1e-2).at(0.2)
    file = crank().to_fmu(tmp_path / "x.fmu", state=late, stop_time=0.5, version=version, platforms=binary)
    run = described(file)[0].find("DefaultExperiment").attrib
    assert (float(run["startTime"]), float(run["stopTime"])) == (0.2, 0.5)
    with pytest.raises(mbd.UsageError, match=r"after the start, t = 0\.2 s"):
        crank().to_fmu(tmp_path / "x.fmu", state=late, stop_time=0.1, version=version, platforms=binary)


def swung():
    """A pendulum with a torque whose expression reads parameters."""
    system, _, pin = pendulum()
    system.add(mbd.Motor("motor", pin, torque=mbd.Expression("k * sin(w * t)", parameters={"k": 0.5, "w": 2.0})))
    return system


def test_parameters_of_an_expression_have_their_own_values(binary, tmp_path):
    """And not that of gravity, which belongs to no part either."""
    variables = described(swung().to_fmu(tmp_path / "x.fmu", parameters=["k", "w", "gravity[2]"], platforms=binary))[1]
    assert [float(variables[name]["start"]) for name in ("k", "w")] == [0.5, 2.0]
    model = swung().compile()
    assert float(variables["gravity[2]"]["start"]) == model.gravity[2]
    assert [float(value(model, name)) for name in ("k", "w", "gravity[2]")] == [0.5, 2.0, model.gravity[2]]  # as sliders of a page


def test_drivers_that_are_evaluated_at_each_time_have_no_numbers_to_set():
    """Whatever the parameters: all numbers that they move are finite, and belong to what reads them."""
    _, linear = _model_and_parameters(swung(), (), ("k", "w", "bar.mass"))
    assert np.isfinite(linear.base).all()
    assert np.isfinite(linear.slopes).all()
    assert linear.slopes.any(axis=1).all()
    assert {kind for kind, _ in linear.places} == {0}


@pytest.mark.parametrize("seed", range(3))
def test_numbers_are_linear_functions_of_the_parameters_or_refused(seed):
    """For models of any numbers: what is taken gives them at every place; products and powers are refused."""
    rng = np.random.default_rng(seed)

    class Fake:
        def __init__(self, numbers):
            self.tables = type("T", (), {"reals": numbers})
            self.drivers, self.y0 = (), np.zeros(2)

    A, b = rng.normal(size=(5, 2)), rng.normal(size=5)
    A[0] = b[0] = 0.0
    values = rng.uniform(0.5, 2.0, 2)
    found = _linear(lambda p: Fake(A @ p + b), ("one", "two"), values)
    p = rng.uniform(-3.0, 3.0, 2)
    assert [place for _, place in found.places] == [1, 2, 3, 4]
    assert np.abs(found.base + found.slopes @ p - (A @ p + b)[1:]).max() < 100.0 * LINEAR
    itself = _linear(lambda p: Fake(np.array([p[1], p[0], 1.0])), ("one", "two"), values)
    assert (itself.base == 0.0).all()
    assert np.array_equal(itself.slopes, [[0.0, 1.0], [1.0, 0.0]])
    for wrong in (lambda p: p[0] * p[1], lambda p: p[0] ** 2 + p[1], lambda p: np.hypot(p[0], p[1])):
        with pytest.raises(mbd.UsageError, match="no linear function"):
            _linear(lambda p, wrong=wrong: Fake(np.array([wrong(p)])), ("one", "two"), values)


def test_convert_writes_an_fmu_or_says_what_is_missing(tmp_path, capsys):
    gallery.four_bar().save(tmp_path / "four_bar.json")
    code = main(["convert", str(tmp_path / "four_bar.json"), str(tmp_path / "four_bar.fmu")])
    if (tmp_path / "four_bar.fmu").exists():
        assert code == 0
        assert described(tmp_path / "four_bar.fmu")[0].attrib["modelName"]
    else:
        assert code != 0
        assert "make engine" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------------------------- where an engine is built
def library(name):
    """A library of these sources; None if there is none."""
    try:
        return mbd.engine.library_for(name)
    except mbd.UsageError:
        return None


EXACT, PORTABLE = library("exact"), library("fmu_linux_x86_64") or library("linux_x86_64")
built = pytest.mark.skipif(
    PORTABLE is None or platform.machine() != "x86_64" or sys.platform != "linux",
    reason="no engine is built for FMUs here: make engine",
)
H, DT, N = 1e-3, 1e-2, 40


class Unit:
    """An instance of an FMU by fmpy, with the text that it logs."""

    def __init__(self, file, folder):
        fmpy = pytest.importorskip("fmpy")
        fmi2, fmi3 = pytest.importorskip("fmpy.fmi2"), pytest.importorskip("fmpy.fmi3")
        self.description = fmpy.read_model_description(str(file))
        self.second = self.description.fmiVersion == "2.0"
        where = fmpy.extract(str(file), unzipdir=str(folder))
        self.numbers = {one.name: one.valueReference for one in self.description.modelVariables}
        self.outputs = [one.name for one in self.description.modelVariables if one.causality == "output"]
        kind = fmi2.FMU2Slave if self.second else fmi3.FMU3Slave
        self.slave = kind(
            guid=self.description.guid,
            unzipDirectory=where,
            modelIdentifier=self.description.coSimulation.modelIdentifier,
            instanceName="test",
        )
        self.log = []
        if self.second:
            back = fmi2.fmi2CallbackFunctions()
            back.logger = fmi2.fmi2CallbackLoggerTYPE(lambda *words: self.log.append(words[-1].decode()))
            self.back = back
            # "%s" and its text: the words behind are variadic, which ctypes does not pass on
            self.slave.instantiate(loggingOn=True)
        else:
            self.slave.instantiate(loggingOn=True, logMessage=lambda *words: self.log.append(words[-1].decode()))

    def begin(self, t=0.0, **start):
        if self.second:
            self.slave.setupExperiment(startTime=t)
        self.set(**start)
        if self.second:
            self.slave.enterInitializationMode()
        else:
            self.slave.enterInitializationMode(startTime=t)
        self.slave.exitInitializationMode()
        return self

    def set(self, **values):
        put = self.slave.setReal if self.second else self.slave.setFloat64
        put([self.numbers[name.replace("__", ".")] for name in values], list(values.values()))

    def get(self, *names):
        take = self.slave.getReal if self.second else self.slave.getFloat64
        return np.array(take([self.numbers[name] for name in names or self.outputs]))

    def keep(self):
        return self.slave.getFMUState()

    def go_back(self, state):
        self.slave.setFMUState(state)

    def play(self, first=0, u=lambda k: 0.0, inputs=("motor",)):
        rows = []
        for k in range(first, N):
            if inputs:
                self.set(**dict.fromkeys(inputs, u(k)))
            self.slave.doStep(DT * k, DT)
            rows.append(self.get())
        return np.array(rows)


def held(k):
    return float(0.05 * np.sin(0.2 * k))


OUTPUTS = ["crank.r", "R.angle", "R.rate", "R.force", "R.torque", "slider.v_dot", "rod.omega_bar"]


def stepped(system, inputs, u=held, outputs=OUTPUTS):
    stepper = mbd.Stepper(system, h=H, inputs=inputs, outputs=outputs)
    return np.array([stepper.step([u(k)] * len(stepper.input_names) or None, n=round(DT / H)).copy() for k in range(N)])


@built
@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_the_rules_of_the_standard(tmp_path, version):
    validation = pytest.importorskip("fmpy.validation")
    how = {"inputs": ["motor"], "outputs": OUTPUTS, "parameters": ["crank.mass", "coil spring.k"]}
    assert validation.validate_fmu(str(crank().to_fmu(tmp_path / "x.fmu", version=version, **how))) == []
    for name in ("four_bar", "stewart_platform", "peaucellier"):
        assert validation.validate_fmu(str(getattr(gallery, name)().to_fmu(tmp_path / "x.fmu", version=version))) == []


@built
@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_the_motion_is_that_of_a_stepper(tmp_path, version):
    wanted = stepped(crank(), ["motor"])
    size = np.abs(wanted).max(axis=0)
    for name in ("exact", "portable"):
        binary = EXACT if name == "exact" else PORTABLE
        if binary is None:
            continue
        file = crank().to_fmu(
            tmp_path / f"{name}.fmu", inputs=["motor"], outputs=OUTPUTS, version=version, platforms={"linux64": binary}
        )
        unit = Unit(file, tmp_path / name).begin()
        found = unit.play(u=held)
        if name == "exact":  # all but the torque, which NumPy sums in another order
            same = [not column.startswith("R.torque") for column in unit.outputs]
            assert np.array_equal(found[:, same], wanted[:, same])
        assert (np.abs(found - wanted) <= 1e-10 * np.maximum(size, 1.0)).all()


APART = ("andrews", "delta_robot", "scissor_lift", "governor")
"""Chaotic at this step; through singular poses, which a Stepper refuses; needs smaller steps."""


@built
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name in gallery.__all__ if name[0].islower() and name not in APART])
def test_mechanisms_of_the_gallery_move_as_in_a_stepper(tmp_path, name):
    """All default outputs, coordinates and places, of every mechanism that the engine does not refuse by its name."""
    make = getattr(gallery, name)
    try:
        file = make().to_fmu(tmp_path / "x.fmu")
    except mbd.UsageError as error:
        assert make().name in str(error)  # noqa: PT017  which models are refused is no matter here
        return
    unit = Unit(file, tmp_path / "x").begin()
    found = unit.play(inputs=())
    wanted = stepped(make(), [], outputs=list(dict.fromkeys(column.partition("[")[0] for column in unit.outputs)))
    assert np.abs(found - wanted).max() <= 1e-10 * max(1.0, np.abs(wanted).max())


@built
@pytest.mark.slow
def test_a_mechanism_that_tears_apart_names_its_joint(tmp_path):
    unit = Unit(gallery.governor().to_fmu(tmp_path / "x.fmu"), tmp_path / "x").begin()
    with pytest.raises(Exception, match="error"):
        unit.slave.doStep(0.0, 0.1)
    names = gallery.governor().compile().joints
    assert any(repr(name) in unit.log[-1] for name in names)


@built
@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_reset_kept_and_serialized_states_repeat_the_motion(tmp_path, version):
    file = crank().to_fmu(tmp_path / "x.fmu", inputs=["motor"], parameters=["crank.mass"], outputs=OUTPUTS, version=version)
    unit, other = (Unit(file, tmp_path / name).begin(crank__mass=0.2) for name in "ab")
    all_of_it = unit.play(u=held)
    unit.slave.reset()
    assert unit.begin(crank__mass=0.2).play(u=held).tobytes() == all_of_it.tobytes()
    unit.slave.reset()
    assert unit.get("crank.mass")[0] == next(b.mass for b in crank().bodies if b.name == "crank")
    unit.begin(crank__mass=0.2)
    for k in range(N // 2):
        unit.set(motor=held(k))
        unit.slave.doStep(DT * k, DT)
    kept = unit.keep()
    data = unit.slave.serializeFMUState(kept)
    rest = all_of_it[N // 2 :]
    for _ in range(2):
        assert np.array_equal(unit.play(N // 2, u=held), rest)
        unit.go_back(kept)
    other.go_back(other.slave.deserializeFMUState(data, None) if version == "3.0" else other.slave.deserializeFMUState(data))
    assert other.get("crank.mass")[0] == 0.2
    assert np.array_equal(other.play(N // 2, u=held), rest)
    with pytest.raises(Exception, match="error|failed"):
        other.go_back(
            other.slave.deserializeFMUState(data[:-8], None) if version == "3.0" else other.slave.deserializeFMUState(data[:-8])
        )


@built
@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_directional_derivatives_are_differences_of_accelerations(tmp_path, version):
    """By accelerations of the library with other torques; positions and rates do not depend on an input of now, and nothing has moved."""
    outputs = ["slider.v_dot", "crank.omega_bar_dot", "R.force", "crank.r", "R.rate"]
    unit = Unit(crank().to_fmu(tmp_path / "x.fmu", inputs=["motor"], outputs=outputs, version=version), tmp_path / "x").begin(
        motor=0.3
    )
    unit.slave.doStep(0.0, DT)
    before = unit.get()

    def twisted(torque):
        system = gallery.slider_crank()
        system.add(mbd.Motor("motor", system["R"], torque=torque))
        system.add(mbd.RSDA("coil spring", system["R"], k=0.3, c=0.01))
        return system.compile()

    state = mbd.simulate(twisted(0.3), DT, h=H).state(-1)
    less, more = (mbd.accelerations(twisted(torque), state) for torque in (0.0, 1.0))
    body = list(twisted(0.0).body_names).index
    wanted = [
        *(more.v_dot - less.v_dot)[body("slider")],
        *(more.omega_bar_dot - less.omega_bar_dot)[body("crank")],
    ]
    of = [unit.numbers[name] for name in unit.outputs]
    found = np.array(unit.slave.getDirectionalDerivative(of, [unit.numbers["motor"]], [2.0])) / 2.0
    assert np.allclose(found[:6], wanted, rtol=1e-11, atol=1e-11 * np.abs(wanted).max())
    assert np.abs(found[6:9]).max() > 0.0
    assert (found[9:] == 0.0).all()
    assert np.array_equal(unit.get(), before)
    with pytest.raises(Exception, match="error|failed"):
        unit.slave.getDirectionalDerivative(of, of[:1], [1.0])


@pytest.mark.parametrize(("law", "told"), [(None, True), (mbd.Viscous(0.1), True), (mbd.Coulomb(0.1), False)])
def test_an_fmu_with_dry_friction_declares_no_derivatives(law, told):
    system = crank()
    if law is not None:
        system.add(mbd.JointFriction("rubbing", system["R"], law, **({} if told else {"radius": 0.01})))
    assert _is_affine(system.compile()) is told


@built
@pytest.mark.slow
def test_parameters_are_those_of_another_model(tmp_path):
    how = {"parameters": ["crank.mass", "coil spring.k", "coil spring.c", "gravity[2]"], "outputs": OUTPUTS}
    unit = Unit(crank().to_fmu(tmp_path / "x.fmu", **how), tmp_path / "x")
    values = {"crank.mass": 0.4, "coil spring.k": 1.5, "coil spring.c": 0.2, "gravity[2]": -3.7}
    unit.begin(**values)
    found = unit.play(inputs=())
    changed = builder_of(crank(), Parameters(values))(values).system
    wanted = stepped(changed, [], outputs=OUTPUTS)
    assert np.abs(found - wanted).max() <= 1e-10 * max(1.0, np.abs(wanted).max())
    first = stepped(crank(), [], outputs=OUTPUTS)
    assert np.abs(found - first).max() > 1e-3


@built
@pytest.mark.slow
def test_communication_steps_of_any_size(tmp_path):
    """Steps that are no multiples of h end where they should, and agree to the order of the method."""
    unit = Unit(crank().to_fmu(tmp_path / "x.fmu", outputs=["crank.r", "R.angle"], h=H), tmp_path / "x").begin()
    rng = np.random.default_rng(1)
    t = 0.0
    while t < 0.3:
        span = float(rng.choice([3.7e-3, 1e-3, 2.5e-4, 1e-2, 7.77e-3]))
        unit.slave.doStep(t, span)
        t += span
        assert unit.get("time")[0] == pytest.approx(t, abs=1e-12)
    result = mbd.simulate(crank(), t, h=1e-4)
    assert np.abs(unit.get()[:3] - result["crank"].r[-1]).max() < 1e-8
    with pytest.raises(Exception, match="error"):
        unit.slave.doStep(t + 0.5, 1e-3)
    assert "was asked for" in unit.log[-1]


@built
@pytest.mark.slow
def test_angles_are_counted_over_long_steps(tmp_path):
    system = mbd.System("wheel", gravity=(0.0, 0.0, 0.0))
    wheel = system.add(mbd.Body("wheel", 1.0, (0.1, 0.1, 0.1), omega_bar=(0.0, 40.0, 0.0)))
    system.add(RJ("axle", system.ground, wheel, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    unit = Unit(system.to_fmu(tmp_path / "x.fmu", outputs=["axle.angle"]), tmp_path / "x").begin()
    unit.slave.doStep(0.0, 1.0)
    assert abs(unit.get()[0]) == pytest.approx(40.0, rel=1e-6)


@built
@pytest.mark.slow
def test_a_driven_joint_takes_its_acceleration(tmp_path):
    make = lambda: gallery.slider_crank(driven=True)  # noqa: E731
    outputs = ["R.angle", "R.rate", "slider.v"]
    file = make().to_fmu(tmp_path / "x.fmu", inputs=["drive"], outputs=outputs, platforms={"linux64": EXACT or PORTABLE})
    found = Unit(file, tmp_path / "x").begin().play(u=lambda k: 3.0 * held(k), inputs=("drive",))
    wanted = stepped(make(), ["drive"], u=lambda k: 3.0 * held(k), outputs=outputs)
    assert np.abs(found - wanted).max() <= 1e-11 * np.abs(wanted).max()
    if EXACT is not None:
        assert np.array_equal(found, wanted)


@built
@pytest.mark.slow
def test_errors_reach_the_logger_with_the_name_of_the_joint(tmp_path):
    """A spring that tears the mechanism apart in one step, a lever pulled beyond its reach."""
    system, _, pin = pendulum()
    system.add(mbd.Motor("motor", pin, torque=0.0))
    unit = Unit(system.to_fmu(tmp_path / "x.fmu", inputs=["motor"], outputs=["pin.angle"], h=0.01), tmp_path / "x").begin()
    unit.set(motor=1e9)
    with pytest.raises(Exception, match="error"):
        unit.slave.doStep(0.0, 0.5)
    assert "pin" in unit.log[-1] or "bar" in unit.log[-1]
    assert "t = " in unit.log[-1]
    with pytest.raises(Exception, match="error"):
        unit.slave.doStep(0.0, 0.01)
    assert "reset" in unit.log[-1]
    unit.slave.reset()
    unit.begin().slave.doStep(0.0, 0.01)


@built
@pytest.mark.slow
def test_what_cannot_be_set_is_an_error_and_the_log_says_why(tmp_path):
    unit = Unit(crank().to_fmu(tmp_path / "x.fmu", inputs=["motor"], parameters=["crank.mass"]), tmp_path / "x").begin()
    for values, told in (({"motor": np.nan}, "finite"), ({"crank__mass": -1.0}, "outside"), ({"R__angle": 1.0}, "cannot be set")):
        unit.slave.reset()
        unit.begin()
        with pytest.raises(Exception, match="error"):
            unit.set(**values)
        assert told in unit.log[-1]
    with pytest.raises(Exception, match="error"):
        unit.slave.getFloat64([10_000])


@built
@pytest.mark.slow
def test_an_fmu_goes_no_further_than_its_drivers_were_examined(tmp_path):
    unit = Unit(
        gallery.slider_crank(driven=True).to_fmu(tmp_path / "x.fmu", stop_time=0.1, outputs=["R.angle"]), tmp_path / "x"
    ).begin()
    unit.slave.doStep(0.0, 0.1)
    with pytest.raises(Exception, match="error"):
        unit.slave.doStep(0.1, 0.01)
    assert "stop_time" in unit.log[-1]


@built
@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_a_late_state_goes_on_as_simulate_does(tmp_path, version):
    late = mbd.simulate(crank(), 0.2, h=H).at(0.2)
    file = crank().to_fmu(tmp_path / "x.fmu", state=late, outputs=["slider.r"], h=H, version=version)
    unit = Unit(file, tmp_path / "x").begin(0.2)
    unit.slave.doStep(0.2, 0.1)
    on = mbd.simulate(crank(), 0.3, state=late, h=H)
    assert np.abs(unit.get() - on.at(0.3).r[on.model.body_names.index("slider")]).max() < 1e-12


@built
@pytest.mark.slow
def test_parameters_of_an_expression_move_the_torque(tmp_path):
    file = swung().to_fmu(tmp_path / "x.fmu", parameters=["k", "w"], outputs=["pin.angle"], h=H)
    unit = Unit(file, tmp_path / "x").begin(k=0.8, w=3.0)
    system, _, pin = pendulum()
    system.add(mbd.Motor("motor", pin, torque=mbd.Expression("k * sin(w * t)", parameters={"k": 0.8, "w": 3.0})))
    assert np.abs(unit.play(inputs=()) - stepped(system, [], outputs=["pin.angle"])).max() < 1e-12


@built
@pytest.mark.slow
def test_a_damaged_model_is_refused(tmp_path):
    fmpy = pytest.importorskip("fmpy")
    file = crank().to_fmu(tmp_path / "x.fmu")
    rng = np.random.default_rng(2)
    for k in range(20):
        unit = tmp_path / f"x{k}"
        fmpy.extract(str(file), unzipdir=str(unit))
        model = unit / "resources" / "model.haug"
        data = bytearray(model.read_bytes())
        if k % 2:
            data = data[: int(rng.integers(0, len(data)))]
        else:
            data[int(rng.integers(0, 32))] ^= 255
        model.write_bytes(data)
        description = fmpy.read_model_description(str(unit))
        slave = pytest.importorskip("fmpy.fmi3").FMU3Slave(
            guid=description.guid, unzipDirectory=str(unit), modelIdentifier="x", instanceName="x"
        )
        with pytest.raises(Exception, match="instantiate"):
            slave.instantiate(loggingOn=False)


@built
@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_an_fmu_as_a_sampled_block(tmp_path, version):
    """The unit is a pendulum of its own, whose angle is a torque in another mechanism: the same by a Stepper."""
    pytest.importorskip("fmpy")
    inner, _, pin = pendulum()
    inner.add(mbd.Motor("motor", pin, torque=0.0))
    file = inner.to_fmu(tmp_path / "x.fmu", inputs=["motor"], outputs=["pin.angle", "pin.rate"], version=version)

    def outer(make):
        system, _, pin = pendulum()
        block = system.add(make())
        system.add(mbd.Motor("drive", pin, torque=block["pin.angle"]))
        return mbd.simulate(system, 0.5, h=1e-3)

    class Same:
        stepper = None

        def __call__(self, t, signals):
            if self.stepper is None:
                self.stepper = mbd.Stepper(inner, h=1e-3, inputs=["motor"], outputs=["pin.angle", "pin.rate"])
            else:
                self.stepper.step(self.u, n=10)
            self.u = float(signals["pin.rate"])
            return self.stepper.outputs.copy()

    def of_stepper():
        own = {"pin.angle": lambda t, x, s: x[0], "pin.rate": lambda t, x, s: x[1]}
        return mbd.Sampled("law", 0.01, Same(), x0=np.zeros(2), outputs=own, inputs=["pin.rate"])

    block = mbd.read_fmu(file, "law", 0.01, inputs={"motor": "pin.rate"})
    found, wanted = outer(lambda: block), outer(of_stepper)
    assert np.abs(found.y - wanted.y).max() < 1e-10
    assert np.array_equal(outer(lambda: block).y, found.y)  # a run that begins anew resets the unit


def test_a_unit_that_ends_its_run_is_not_asked_on(tmp_path):
    """Of FMI 3.0: terminate and early return are answers of a step, and no status."""
    unit = object.__new__(Reader)
    unit.path = tmp_path / "x.fmu"
    for answer, ends in (((False, True, False, 0.1), True), ((False, False, True, 0.05), True), ((False,) * 3 + (0.1,), False)):
        unit._slave = SimpleNamespace(doStep=lambda t, h, answer=answer: answer)
        with pytest.raises(mbd.UsageError, match="ended its run") if ends else nullcontext():
            unit.step(0.0, 0.1)


@pytest.mark.parametrize(
    ("how", "told"), [({"inputs": {"moter": "a.b"}}, "moter"), ({"outputs": ["x"]}, "'x'"), ({"parameters": {"m": 1.0}}, "'m'")]
)
def test_names_that_an_fmu_does_not_have_are_refused(binary, tmp_path, how, told):
    pytest.importorskip("fmpy")
    file = crank().to_fmu(tmp_path / "x.fmu", inputs=["motor"], platforms=binary)
    with pytest.raises(mbd.UsageError, match=told):
        mbd.read_fmu(file, "unit", 0.01, **how)


def test_what_is_no_fmu_is_refused(tmp_path):
    pytest.importorskip("fmpy")
    with pytest.raises(mbd.UsageError, match="no file"):
        mbd.read_fmu(tmp_path / "none.fmu", "unit", 0.01)
    (tmp_path / "x.fmu").write_bytes(b"no zip")
    with pytest.raises(mbd.UsageError, match="no FMU"):
        mbd.read_fmu(tmp_path / "x.fmu", "unit", 0.01)


def test_the_mass_of_a_slender_rod_is_a_parameter(binary, tmp_path):
    """Its inertia about its axis is zero, and a number stands in for it that is no linear function of the mass."""
    file = gallery.four_bar().to_fmu(tmp_path / "x.fmu", parameters=["crank.mass", "coupler.mass"], platforms=binary)
    assert {"crank.mass", "coupler.mass"} <= set(described(file)[1])
