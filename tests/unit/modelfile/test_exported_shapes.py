"""Shapes of bodies come back from the formats that have them."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.math import euler_parameters
from tests.support import mechanisms

SHAPES = (
    mbd.Box((0.1, 0.2, 0.3), center=(0.1, 0, -0.2), p=(0.5, 0.5, -0.5, 0.5), color="#33aa66"),
    mbd.Sphere(0.05, center=(0, 0.1, 0.2)),
    mbd.Cylinder(0.03, 0.4, center=(0.2, 0, 0), axis=(1, 2, 2)),
)


def shown(system, name):
    """Corners of boxes and ends of axes of the shapes of a body, global, and their sizes and colours."""
    body, found = system[name], []
    for shape in body.shape:
        A = body.A @ euler_parameters.rotation_matrix(shape.p)
        middle = body.r + body.A @ shape.center
        mark = middle if shape.kind == "sphere" else middle + A[:, 2] * shape.size[2]
        found.append((shape.kind, np.concatenate([middle, mark, shape.size]), shape.color))
    return found


def test_shapes_come_back(tmp_path):
    system = mechanisms.random_tree(1, ("RJ", "TJ"), n=2)
    mesh = mbd.Mesh.from_arrays(
        [(0, 0, 0), (1, 0, 0), (0, 1, 0.5)], [(0, 1, 2)], scale=0.3, center=(0.1, 0.2, 0.3), p=(0.6, 0, 0.8, 0)
    )
    plate = mbd.Box((0.1, 0.2, 0.0))
    body = system.bodies[2]
    body.__setstate__(body.__getstate__() | {"shape": (*SHAPES, mesh, plate)})
    exact = shown(system, body.name)
    done = mbd.write_urdf(system, tmp_path / "x.urdf")
    assert f"shapes of body {body.name!r}: 1 Box" in done.left_out
    assert done.files[1].suffix == ".obj"
    again = mbd.read_urdf(tmp_path / "x.urdf", merge_fixed=False)
    for (kind, x, color), (other, y, color_2) in zip(exact, shown(again, body.name), strict=False):
        assert (kind, color) == (other, color_2)
        if kind != "mesh":
            np.testing.assert_allclose(y, x, rtol=0, atol=1e-12)
    read_mesh = again[body.name].shape[3]
    one, two = (
        b.A @ (s.center[:, None] + euler_parameters.rotation_matrix(s.p) @ s.vertices.T)
        for b, s in ((body, mesh), (again[body.name], read_mesh))
    )
    np.testing.assert_allclose(two + again[body.name].r[:, None], one + body.r[:, None], rtol=0, atol=1e-12)
    done = mbd.write_asmt(system, tmp_path / "x.asmt")
    assert "shapes" in done.left_out


def test_shapes_come_back_from_mjcf(tmp_path):
    pytest.importorskip("mujoco")
    system = mechanisms.random_tree(1, ("RJ", "TJ"), n=2)
    body = system.bodies[2]
    rounded = (mbd.Capsule(0.03, 0.4, center=(0.2, 0, 0), axis=(1, 2, 2)), mbd.Ellipsoid((0.1, 0.2, 0.3), p=(0.5, 0.5, -0.5, 0.5)))
    body.__setstate__(body.__getstate__() | {"shape": (*SHAPES, *rounded, mbd.Cone(0.1, 0.2))})
    done = mbd.write_mjcf(system, tmp_path / "x.xml")
    assert done.left_out == (f"shapes of body {body.name!r}: 1 Cone",)
    again = shown(mbd.read_mjcf(tmp_path / "x.xml"), body.name)
    for (kind, x, color), (other, y, color_2) in zip(shown(system, body.name)[:5], again, strict=True):
        assert kind == other
        assert color in (None, color_2)
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-9)
    report = mbd.read_mjcf(tmp_path / "x.xml").import_report
    assert not any("contacts" in text for text in report.ignored)
