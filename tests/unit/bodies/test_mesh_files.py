"""Meshes: files written here, read back, by volume and numbers; and files that are damaged or hostile."""

from __future__ import annotations

import pickle
import struct

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.bodies.shapes import files
from haugmbd.viewer.shapes import reduced, unit_mesh

CORNERS = np.array([(x, y, z) for x in (0.0, 1.0) for y in (0.0, 2.0) for z in (0.0, 3.0)])
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
"""A box of 1 x 2 x 3, faces counterclockwise from outside."""
TRIANGLES = np.array([(f[0], f[k], f[k + 1]) for f in FACES for k in (1, 2)])


def text_stl(corners=CORNERS[TRIANGLES]):
    """The triangles as text."""
    lines = ["solid box with a name"]
    for triangle in corners:
        lines += ["  facet normal 0 0 0", "    outer loop"]
        lines += [f"      vertex {x:.9e} {y:.9e} {z:.9e}" for x, y, z in triangle]
        lines += ["    endloop", "  endfacet"]
    return "\n".join([*lines, "endsolid box with a name", ""]).encode()


def binary_stl(corners=CORNERS[TRIANGLES], head=b"solid binary"):
    """The triangles in binary; many programs begin it with the word of text files."""
    facets = [struct.pack("<12fH", 0.0, 0.0, 0.0, *triangle.ravel(), 0) for triangle in corners]
    return head.ljust(80) + struct.pack("<I", len(facets)) + b"".join(facets)


def text_obj(separator="/7/7"):
    """The box as polygons of four corners, with some of what is passed over."""
    lines = ["# a box", "mtllib box.mtl", "o box", *(f"v {x} {y} {z}" for x, y, z in CORNERS), "vn 0 0 1", "s off", "usemtl red"]
    lines += ["f " + " ".join(f"{k + 1}{separator}" for k in face) for face in FACES]
    return "\n".join(lines).encode()


def volume(mesh):
    """By tetrahedra to the origin; positive if the triangles face outwards."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    return np.sum(a * np.cross(b, c)) / 6.0


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.stl", text_stl()),
        ("A.STL", text_stl().replace(b"\n", b"\r\n").upper()),
        ("b.stl", binary_stl()),
        ("c.obj", text_obj()),
        ("d.obj", text_obj(separator="")),
        ("e.obj", text_obj(separator="//1").replace(b" 2//1", b" \\\n 2//1")),
    ],
    ids=["text", "capitals", "binary", "obj", "bare obj", "obj over two lines"],
)
def test_a_box_is_read_as_it_was_written(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    mesh = mbd.Mesh(tmp_path / name, scale=0.5)
    assert mesh.vertices.shape == (8, 3)  # each vertex once
    assert mesh.triangles.shape == (12, 3)
    assert volume(mesh) == pytest.approx(6.0 / 8.0, rel=1e-14)
    np.testing.assert_array_equal(mesh.size, [0.5, 1.0, 1.5])


def test_all_ways_give_the_same_mesh(tmp_path):
    (tmp_path / "a.stl").write_bytes(text_stl())
    (tmp_path / "b.stl").write_bytes(binary_stl())
    arrays = mbd.Mesh.from_arrays(CORNERS, TRIANGLES)
    assert {mbd.Mesh(tmp_path / name).data.digest for name in ("a.stl", "b.stl")} == {arrays.data.digest}
    assert arrays.data.digest != mbd.Mesh.from_arrays(CORNERS, TRIANGLES[:, ::-1]).data.digest


def test_numbers_below_zero_count_from_the_end(tmp_path):
    (tmp_path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 1\nf 1 2 -1\n")
    mesh = mbd.Mesh(tmp_path / "t.obj")
    assert mesh.triangles.shape == (2, 3)
    areas = [np.cross(b - a, c - a).tolist() for a, b, c in mesh.vertices[mesh.triangles]]
    assert sorted(areas) == [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]


def test_a_file_is_read_once_until_it_is_changed(tmp_path):
    path = tmp_path / "b.stl"
    path.write_bytes(binary_stl())
    first, second = mbd.Mesh(path), mbd.Mesh(path, scale=2.0)
    assert first.data is second.data
    path.write_bytes(binary_stl(CORNERS[TRIANGLES[:6]]))
    assert len(mbd.Mesh(path).triangles) == 6
    assert len(first.triangles) == 12
    assert pickle.loads(pickle.dumps(first)).data.digest == first.data.digest


def test_triangles_without_area_and_lonely_vertices_are_left_out():
    mesh = mbd.Mesh.from_arrays([*CORNERS, (9.0, 9.0, 9.0)], [*TRIANGLES, (0, 0, 1), (2, 2, 2)])
    assert mesh.vertices.shape == (8, 3)
    assert mesh.triangles.shape == (12, 3)


BROKEN = {
    "no file": ("x.stl", None, "no file"),
    "folder": (".stl", None, "ends with"),
    "ending": ("x.step", b"solid", "ends with '.step'"),
    "empty": ("x.stl", b"", "not an STL file"),
    "short binary": ("x.stl", binary_stl(head=b"exported")[:-7], "for 12 triangles"),
    "binary NaN": ("x.stl", binary_stl(np.where(CORNERS[TRIANGLES] == 3.0, np.nan, CORNERS[TRIANGLES])), "triangle 1 of 12"),
    "cut text": ("x.stl", text_stl()[: len(text_stl()) // 2], "line 44: the file ends"),
    "two numbers": ("x.stl", text_stl().replace(b"3.000000000e+00\n", b"\n", 1), "line 5: a vertex needs three numbers"),
    "infinite": ("x.stl", text_stl().replace(b"3.000000000e+00", b"inf", 1), "line 5: the vertex"),
    "word": ("x.stl", text_stl().replace(b"endfacet", b"<script>", 1), "line 8: '<script>'"),
    "corner outside": ("x.stl", b"solid\nvertex 0 0 0\nendsolid", "line 2: a vertex stands outside"),
    "four corners": ("x.stl", b"solid\nouter loop" + b"\nvertex 0 0 0" * 4 + b"\nendloop\nendsolid", "line 7: a loop ends with 4"),
    "nothing": ("x.stl", b"solid a\nendsolid a\n", "no triangle"),
    "zero bytes": ("x.obj", b"v 0 0 0\n\0\0", "line 2: it has a zero byte"),
    "obj index": ("x.obj", b"v 0 0 0\nv 1 0 0\nf 1 2 3\n", "line 3: a face has the vertex 3"),
    "obj index 0": ("x.obj", b"v 0 0 0\nf 0 0 0\n", "line 2: a face has the vertex 0"),
    "obj index far": ("x.obj", b"v 0 0 0\nf -2 1 1\n", "line 2: a face has the vertex -2"),
    "obj word": ("x.obj", b"v 0 0 0\nf a b c\n", "line 2: a corner of a face is 'a'"),
    "obj digits": ("x.obj", b"v 0 0 0\nf " + b"9" * 5000 + b" 1 1\n", "line 2: a corner of a face is"),
    "obj edge": ("x.obj", b"v 0 0 0\nv 1 0 0\nf 1 2\n", "line 3: a face has 2 corners"),
    "obj surface": ("x.obj", b"v 0 0 0\ncstype bezier\n", "line 2: 'cstype'"),
    "obj nothing": ("x.obj", b"v 0 0 0\n", "no triangle"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_named_with_the_line(tmp_path, case):
    name, data, words = BROKEN[case]
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(mbd.UsageError, match=words):
        mbd.Mesh(tmp_path / name)


def test_files_that_are_too_large_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "b.stl"
    path.write_bytes(binary_stl())
    monkeypatch.setattr(files, "MOST_TRIANGLES", 11)
    with pytest.raises(mbd.UsageError, match="more than 11 triangles"):
        mbd.Mesh(path)
    monkeypatch.setattr(files, "MOST_BYTES", 500)
    with pytest.raises(mbd.UsageError, match="684 bytes, more than 500"):
        mbd.Mesh(path)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mbd.Mesh(3), "path is 3"),
        (lambda: mbd.Mesh("x.stl", scale=0.0), "scale is 0"),
        (lambda: mbd.Mesh.from_arrays([(0, 0)], [(0, 0, 0)]), "vertices are of shape"),
        (lambda: mbd.Mesh.from_arrays([("a", 0, 0)], [(0, 0, 0)]), "vertices are not of numbers"),
        (lambda: mbd.Mesh.from_arrays(CORNERS, [(0, 1, 8)]), "from 0 to 8"),
        (lambda: mbd.Mesh.from_arrays(CORNERS, [(0.0, 1.0, 2.0)]), "triangles are of float64"),
        (lambda: mbd.Mesh.from_arrays(CORNERS, np.zeros((0, 3), int)), "triangles are of"),
        (lambda: mbd.Mesh.from_arrays(CORNERS, [(0, 0, 1)]), "no triangle has an area"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(mbd.UsageError, match=words):
        call()


def test_pictures_show_fewer_triangles_of_the_same_solid():
    vertices, triangles = unit_mesh("sphere")
    fine = mbd.Mesh.from_arrays(vertices, triangles)
    few, corners = reduced(fine.vertices, fine.triangles, 150)
    assert 50 <= len(corners) <= 250 < len(fine.triangles)
    coarse = mbd.Mesh.from_arrays(few, corners)
    assert volume(coarse) == pytest.approx(volume(fine), rel=0.25)
