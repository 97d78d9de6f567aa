"""URDF with closed loops: each of three conventions closes them, and so do sidecar files of every kind; what is no sidecar is refused."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.modelfile.urdf.sidecar import read_sidecar
from tests.support import robots
from tests.support.robots import ENDS, axis, joint, leg, link, origin, read, robot

CLOSED = 1e-12
"""[m] What the loops are closed to; seen 1e-15."""
GRAVITY = 9.80665
ZERO = (0.0, 0.0, 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["<loop>", "<loop_joint>", "sidecar"])
def test_a_four_bar_leg_is_closed(convention, tmp_path):
    system = leg(tmp_path, convention)
    report = system.import_report
    (loop,) = report.loops
    assert loop.distance == pytest.approx(0.03, rel=0.01)
    assert report.closed
    assert report.iterations > 0
    assert report.degrees_of_freedom == 1
    rows = mbd.evaluate(system.compile())
    assert np.abs(rows.Phi).max() <= CLOSED
    frames = report.frames
    gap = frames["coupler_end"].point - frames["rocker_end"].point
    assert np.linalg.norm(gap) <= CLOSED
    for name, length in zip(("crank", "coupler", "rocker"), robots.LENGTHS, strict=True):
        tip = frames[name].point + length * frames[name].A[:, 0]
        other = {"crank": "coupler", "coupler": "rocker_end", "rocker": "coupler_end"}[name]
        np.testing.assert_allclose(tip, frames[other].point, rtol=0, atol=CLOSED)
    assert f"loop {loop.name!r}" in str(report)


@pytest.mark.slow
def test_the_three_conventions_are_one_mechanism(tmp_path):
    states = [leg(tmp_path, convention).compile() for convention in ("<loop>", "<loop_joint>", "sidecar")]
    for model in states[1:]:
        np.testing.assert_allclose(model.y0, states[0].y0, rtol=0, atol=1e-11)
        one, two = mbd.accelerations(states[0]), mbd.accelerations(model)
        np.testing.assert_allclose(two.v_dot, one.v_dot, rtol=0, atol=1e-9 * GRAVITY)


@pytest.mark.slow
@pytest.mark.parametrize("convention", ["<loop_joint>", "sidecar"])
def test_a_delta_is_closed(convention, tmp_path):
    pairs = []
    if convention == "sidecar":
        text = robots.delta(lambda rod, tip, platform, seat, n: pairs.append(n) or "")
        sidecar = tmp_path / "delta.yaml"
        blocks = "".join(f"  - - tip{n}\n    - seat{n}\n" for n in pairs)
        sidecar.write_text(f"# five loops\nclosed_loop:\n{blocks}type: 3d\nrotor_inertia: [1, 2]\n")
        system = read(tmp_path, text, loops=sidecar)
        assert any("'rotor_inertia'" in text for text in system.import_report.ignored)
    else:

        def write(rod, tip, platform, seat, n):
            return robots.loop_joint("spherical", (rod, tip, ZERO), (platform, seat, ZERO), name=f"s{n}")

        system = read(tmp_path, robots.delta(write))
    report = system.import_report
    assert len(report.loops) == 5
    assert min(loop.distance for loop in report.loops) > 0.01
    assert report.degrees_of_freedom == 3
    assert np.abs(mbd.evaluate(system.compile()).Phi).max() <= CLOSED
    for n in ("0b", "1a", "1b", "2a", "2b"):
        np.testing.assert_allclose(report.frames[f"tip{n}"].point, report.frames[f"seat{n}"].point, rtol=0, atol=CLOSED)
    turned = report.frames["platform"].A
    np.testing.assert_allclose(turned[2], (0.0, 0.0, 1.0), rtol=0, atol=0.2)  # near its modelled attitude


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "fixed", "spherical"])
def test_loops_of_every_kind_close_a_five_bar(kind, tmp_path):
    """Two arms of two bars on one base; the loop joins their tips, whose frames are turned against each other."""
    sizes = (0.4, 0.5, 0.5, 0.4)
    parts = [link("base"), *(robots.bar(f"b{k}", length) for k, length in enumerate(sizes))]
    turns = (2.0, -1.1, -2.0 + np.pi, 1.1)
    for k, (parent, x) in enumerate((("base", 0.0), ("b0", sizes[0]), ("base", 0.3), ("b2", sizes[2]))):
        place = origin((x, 0, 0), (0, 0, turns[k] - (0.2 if k == 3 else 0.0)))
        parts.append(joint(f"j{k}", "continuous", parent, f"b{k}", place, axis((0, 0, 1))))
    if kind in ("fixed", "prismatic"):
        parts.append(robots.loop_joint(kind, ("b1", (sizes[1], 0, 0), ZERO), ("b3", (sizes[3], 0, 0), (0, 0, -2.0)), (1, 0, 0)))
    else:
        parts.append(robots.loop_joint(kind, ("b1", (sizes[1], 0, 0), ZERO), ("b3", (sizes[3], 0, 0), ZERO)))
    system = read(tmp_path, robot(*parts))
    assert np.abs(mbd.evaluate(system.compile()).Phi).max() <= CLOSED
    assert system.import_report.degrees_of_freedom == {"revolute": 2, "prismatic": 2, "fixed": 1, "spherical": 2}[kind]
    assert system.import_report.loops[0].distance > 0.01


@pytest.mark.slow
def test_loops_may_be_left_open_and_closed_later(tmp_path):
    text = robots.four_bar_leg(robots.loop_joint("revolute", *ENDS))
    system = read(tmp_path, text, close=False)
    assert not system.import_report.closed
    assert "left open" in str(system.import_report)
    with pytest.raises(mbd.ModelError, match="'closure': its points are 0.0299944 m apart"):
        system.compile()
    closed = mbd.assemble(system)
    np.testing.assert_allclose(closed.model.y0, read(tmp_path, text).compile().y0, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("closed_loop: [[a, b], ['c d', \"e\"]]\ntype: ['3d', 6D]", [("spherical", "a", "b"), ("fixed", "c d", "e")]),
        ("---\ntype: ['6d']  # comment\nclosed_loop:\n  [\n  [a, b] # one\n  ]\n", [("fixed", "a", "b")]),
        ("closed_loop:\n- [a, b]\n- [c, d]\ntype:\n  - 3d\n  - 6d", [("spherical", "a", "b"), ("fixed", "c", "d")]),
        ("closed_loop:\n- - a\n  - b\ntype: 3d", [("spherical", "a", "b")]),
    ],
)
def test_sidecar_files(text, found):
    assert read_sidecar(text)[0] == found


NO_SIDECARS = [
    "",
    "a",
    "closed_loop: [[a]]\ntype: ['3d']",
    "closed_loop: [[a, b]]",
    "closed_loop: [[a, b]]\ntype: ['4d']",
    "closed_loop: [[a, b]\ntype: 3d",
    "closed_loop: ]\ntype: 3d",
    "closed_loop: [[[[[a]]]]]\ntype: 3d",
    "closed_loop: [[a, b]]\ntype: ['3d', '3d']",
    "type: 3d\ntype: 3d",
    "closed_loop: !!python/object:os.system [x]\ntype: 3d",
    "closed_loop: &a [*a]\ntype: 3d",
    "closed_loop:\n" + "- " * 50 + "a\ntype: 3d",
    "closed_loop: {a: b}\ntype: 3d",
    "x: '",
    "closed_loop: []\ntype: []\njoint_name: [a]",
    "closed_loop: []\ntype: []\njoint_name: [a, a]\njoint_type: [FIXED, FIXED]",
    "closed_loop: []\ntype: []\njoint_name: [a]\njoint_type: [UJOINT_XX]",
    "closed_loop: []\ntype: []\njoint_name: [[a]]\njoint_type: [FIXED]",
    "closed_loop: []\ntype: []\njoint_name: a\njoint_type: FIXED",
]


@pytest.mark.parametrize("text", NO_SIDECARS, ids=range(len(NO_SIDECARS)))
def test_sidecar_files_that_are_none(text):
    with pytest.raises(mbd.UsageError):
        read_sidecar(text)


def test_frames_of_a_sidecar_that_are_not_there(tmp_path):
    (tmp_path / "s.yaml").write_text("closed_loop: [[crank, nowhere]]\ntype: 3d")
    with pytest.raises(mbd.ModelFileError, match="no link or joint 'nowhere'"):
        read(tmp_path, robots.four_bar_leg(""), loops=tmp_path / "s.yaml")


def arm(wrist, *more):
    """An upper arm on a hinge, and a hand at its end on the joint `wrist`, turned against it."""
    rng = np.random.default_rng(3)
    return robot(
        link("base"),
        link("upper", robots.random_inertial(rng)),
        link("hand", robots.random_inertial(rng)),
        joint("shoulder", "continuous", "base", "upper", axis((0, 1, 0)), origin((0.1, 0.2, 0.3), (0.3, 0.2, 0.1))),
        wrist,
        *more,
    )


PLACE = origin((0.4, 0.1, 0.0), (0.5, -0.4, 0.3))
HINGE = joint("wrist", "revolute", "upper", "hand", axis((0, 0, 1)), PLACE, '<limit lower="-1" upper="1" effort="1" velocity="1"/>')
REPLACED = {
    "SPHERICAL": (joint("wrist", "spherical", "upper", "hand", PLACE),),
    "FIXED": (joint("wrist", "fixed", "upper", "hand", PLACE),),
    "UJOINT_ZX": (
        joint("first", "continuous", "upper", "between", axis((0, 0, 1)), PLACE),
        link("between"),
        joint("second", "continuous", "between", "hand", axis((1, 0, 0)), origin(ZERO)),
    ),
}
"""The joint that is meant, as a URDF says it."""


@pytest.mark.parametrize("kind", REPLACED)
def test_joints_that_a_sidecar_replaces_move_as_those_that_it_names(kind, tmp_path):
    """A hinge of the URDF, which has no word for a universal joint, is what joint_type says; its limits are told."""
    (tmp_path / "s.yaml").write_text(f"closed_loop: []\ntype: []\njoint_name: [\n  'wrist',\n]\njoint_type: [{kind}]\n")
    system = read(tmp_path, arm(HINGE), loops=tmp_path / "s.yaml", merge_fixed=False)
    meant = read(tmp_path, arm(*REPLACED[kind]), merge_fixed=False)
    report = system.import_report
    assert report.degrees_of_freedom == meant.import_report.degrees_of_freedom
    assert any("joint 'wrist' is" in text and "without its limits" in text for text in report.substituted)
    assert not system.loads
    found = [{b.name: mbd.accelerations(each).v_dot[k] for k, b in enumerate(each.bodies)} for each in (system, meant)]
    for body in ("upper", "hand"):
        np.testing.assert_allclose(found[0][body], found[1][body], rtol=0, atol=1e-10 * GRAVITY)


def test_joints_that_a_sidecar_replaces_are_there_and_not_followed(tmp_path):
    sidecar = tmp_path / "s.yaml"
    sidecar.write_text("closed_loop: []\ntype: []\njoint_name: [wrst]\njoint_type: [SPHERICAL]\n")
    report = read(tmp_path, arm(HINGE), loops=sidecar).import_report
    assert any("there is no joint 'wrst' (did you mean 'wrist'?)" in text for text in report.warnings)
    sidecar.write_text("closed_loop: []\ntype: []\njoint_name: [wrist]\njoint_type: [SPHERICAL]\n")
    finger = link("finger", robots.random_inertial(np.random.default_rng(4)))
    follows = joint("grip", "continuous", "hand", "finger", axis((1, 0, 0)), origin(ZERO), '<mimic joint="wrist"/>')
    with pytest.raises(mbd.ModelFileError, match="'grip' follows its coordinate"):
        read(tmp_path, arm(HINGE, finger, follows), loops=sidecar)
