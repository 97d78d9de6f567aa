"""Every study: its table for pandas, xarray and CSV, its file, and its page, with the machine, the date and the versions."""

import csv
import functools

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import four_bar
from haugmbd.modelfile.engines.report import EngineCheck
from haugmbd.simulation.results.study_data import StudyData
from joints import RJ

pytestmark = pytest.mark.slow


def build(m=2.0, l=0.5):
    system = mbd.System("pendulum", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", m, (0.01, 0.2, 0.2), r=(l, 0, 0)))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


T = 0.1
RK4 = mbd.Method(integrator=mbd.RK4(h=0.01))
GAINS = {"alpha": [1.0, 20.0], "beta": [1.0, 20.0, 30.0], "h": [0.01], "t_end": 1.0}
P = {"m": 2.0, "l": 0.5}
Z = "joint.pin.angle"


def ran(system):
    return {"E": mbd.simulate(system, T, h=0.01).energy().total[-1]}


def driven():
    system = build()
    system.add(mbd.Motor("motor", system["pin"], torque=0.0))
    return system


EXAMPLES = {
    "Comparison": lambda: mbd.compare(build(), [RK4], T),
    "Convergence": lambda: mbd.convergence(build(), [RK4], T, h=[0.02, 0.01], groups=["positions", "velocities"]),
    "WorkPrecision": lambda: mbd.work_precision(build(), [RK4], T, h=[0.02, 0.01], groups=["positions"], repeats=1),
    "DriftLaw": lambda: mbd.drift_law(mbd.simulate(build(), 1.0, h=0.01, stabilization=None)),
    "GainMap": lambda: mbd.gain_map(build(), **GAINS),
    "GainLimit": lambda: mbd.gain_limit(build(), ratio=1.0, h=0.01, t_end=1.0, rtol=0.3),
    "ProjectionInterval": lambda: mbd.projection_interval(build(), every=[1, 5], h=0.002, t_end=T),
    "ToleranceMap": lambda: mbd.tolerance_map(build(), t_end=T, rtol=[1e-4, 1e-6], atol=[1e-6, 1e-8]),
    "JointViolation": lambda: mbd.violation_by_joint(mbd.simulate(build(), T, h=0.01), intervals=5),
    "ViolationCondition": lambda: mbd.violation_condition(mbd.simulate(build(), T, h=0.01, stabilization=None)),
    "Sweep": lambda: mbd.sweep(build, {"m": [1.0, 2.0], "l": [0.4, 0.5, 0.6]}, ran),
    "Sensitivity": lambda: mbd.sensitivity(build, P, [Z, "body.bar.v[2]"], t_end=T, h=0.01),
    "Fit": lambda: mbd.fit(build, {Z: np.array([0.0, 0.03])}, {"l": 0.45}, t=[0.0, T], t_end=T, h=0.01),
    "Identifiability": lambda: mbd.identifiability(build, [Z, "joint.pin.rate"], P, t=[0.05, T], t_end=T, h=0.01),
    "Gradient": lambda: mbd.gradient(build, P, Z, t_end=T, h=0.01),
    "Optimum": lambda: mbd.optimize(build, Z, mbd.Parameters(l=mbd.Parameter(0.5, 0.4, 0.6)), t_end=T, h=0.01),
    "LoadTable": lambda: mbd.simulate(build(), T, h=0.01).load_table("bar"),
    "Linearization": lambda: mbd.linearize(build(), mbd.equilibrium(build()).state),
    "Verification": lambda: mbd.verify(mbd.RK4()),
    "CrossCheck": lambda: mbd.crosscheck(mbd.random_chain(3, seed=1, kinds=["revolute"]), np.ones(3), np.ones(3)),
    "StateSpace": lambda: mbd.linearize(mbd.equilibrium(driven()), inputs=["motor"], outputs=["pin.angle", "pin.force[2]"]),
    "Equilibrium": lambda: mbd.equilibrium(build()),
    "Mobility": lambda: mbd.mobility(four_bar()),
    "EngineCheck": lambda: EngineCheck("pendulum", "another 1.0", 3, {"bar": 1e-13, "bob": 2e-3}, 1e-9, ()),
    "Tolerances": lambda: mbd.tolerances(build, [Z], mbd.Parameters(l=mbd.Parameter(0.5, sd=0.01)), t_end=T, h=0.01),
}


@functools.cache
def example(name):
    return EXAMPLES[name]()


def studies():
    return {kind.__name__ for kind in StudyData.__subclasses__() if kind.__module__.startswith("haugmbd.")}


def test_every_study_has_an_example_here():
    for name in EXAMPLES:
        assert hasattr(mbd, name)
    assert studies() - {"StudyTable"} == set(EXAMPLES)


EXPORTS = ("to_pandas", "to_xarray", "to_csv", "to_parquet", "save", "report")
NO_STUDIES = {"Equations", "Picture", "Redundancy", "Result", "System"}
"""A page of formulas, a picture, a property, a run and a model: they have files of their own."""


def test_every_public_class_that_has_one_export_has_all_of_them():
    kinds = {name: getattr(mbd, name) for name in dir(mbd) if name[0].isupper() and isinstance(getattr(mbd, name), type)}
    some = {name for name, kind in kinds.items() if any(hasattr(kind, export) for export in EXPORTS)}
    assert some - NO_STUDIES == {name for name, kind in kinds.items() if issubclass(kind, StudyData)}


def test_a_mobility_report_is_a_table_of_counts_rows_motions_and_reactions():
    found = mbd.mobility(four_bar())
    table = found.to_pandas()
    counts = table[table.kind == "count"].set_index("quantity").value
    assert counts["degrees of freedom"] == found.degrees_of_freedom == 1
    assert counts["rows"] - counts["rank"] == sum(table.kind == "dependent row")
    assert {"motion 1", "reaction"} <= set(table.kind)
    assert set(table[table.kind == "reaction"].value.dropna()) <= {0.0, 1.0}
    locked = mbd.System("locked")
    bar = locked.add(mbd.Body("bar", 1.0, (0.1, 0.1, 0.1), r=(1, 0, 0)))
    for name, x in (("a", 0.0), ("b", 1.0)):
        locked.add(RJ(name, locked.ground, bar, point=(x, 0, 0), axis=(0, 1, 0)))
    table = mbd.mobility(locked).to_pandas()
    assert sum(table.kind == "dependent row") == 4
    assert "motion 1" not in set(table.kind)


def test_the_matrices_of_a_linear_system_are_in_its_table_by_the_names_of_rows_and_columns():
    plant = example("StateSpace")
    table = plant.to_pandas().set_index(["matrix", "row", "column"]).value
    assert table["A", f"rate of {plant.states[1]}", plant.states[0]] == plant.A[1, 0]
    assert table["B", f"rate of {plant.states[1]}", "motor"] == plant.B[1, 0]
    assert table["D", "pin.force[2]", "motor"] == plant.D[1, 0]
    assert len(table) == sum(getattr(plant, name).size for name in "ABCD")


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_table_goes_to_other_programs_and_back(name, tmp_path):
    study = example(name)
    frame = study.to_pandas()
    assert len(frame)
    data = study.to_xarray()
    sizes = 1
    for size in data.sizes.values():
        sizes *= size
    assert sizes == len(frame) or name == "Comparison"
    lines = list(csv.reader(open(study.to_csv(tmp_path / "x.csv"))))  # noqa: SIM115
    assert len(lines) == len(frame) + 1
    page = study.report(tmp_path / "x.html").read_text()
    assert "numpy" in page
    assert 'src="http' not in page
    loaded = mbd.load_study(study.save(tmp_path / "x.json"))
    assert loaded.study == name
    assert loaded.text == str(study)
    assert {"machine", "date", "versions"} <= loaded.facts.keys()
    again = mbd.load_study(loaded.save(tmp_path / "y.json"))
    assert again.facts == loaded.facts
    for column in loaded.columns:
        np.testing.assert_array_equal(again[column], loaded[column])
    numbers = [column for column in loaded.columns if loaded[column].dtype.kind == "f" and column in frame]
    for column in numbers:
        np.testing.assert_array_equal(loaded[column], frame[column].to_numpy())


def test_a_grid_is_a_grid():
    data = example("GainMap").to_xarray()
    assert dict(data.sizes) == {"h": 1, "alpha": 2, "beta": 3}
    np.testing.assert_array_equal(data["violation"].values, example("GainMap").violation)
    errors = example("Convergence").to_xarray()["error_max"].sel(label="RK4(h=0.01), Projection", group="velocities")
    np.testing.assert_array_equal(
        errors.sel(h=[0.02, 0.01]), example("Convergence").errors("RK4(h=0.01), Projection", "velocities")
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": "haugmbd study 2"}', '{"format": "haugmbd study 1", "columns": 3}', "[" * 100000]
)
def test_files_that_are_no_study(text, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(mbd.UsageError):
        mbd.load_study(path)
    with pytest.raises(mbd.UsageError):
        mbd.load_study(tmp_path / "missing.json")
