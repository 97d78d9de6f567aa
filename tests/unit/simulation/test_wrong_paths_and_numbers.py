"""Paths that cannot be written, numbers of states that do not exist, and names that are none: one error that says what to do."""

from __future__ import annotations

import errno
import os
import pickle

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum
from haugmbd.simulation.results.io.atomic import replace_file
from tests.support.bouncing import ball
from tests.support.with_contacts import simulate_with

SPAN, H = 0.05, 1e-2


@pytest.fixture(scope="module")
def results():
    system, contacts = ball(0.5, z=0.01)
    return {
        "result": mbd.simulate(pendulum(), SPAN, h=H),
        "chain": mbd.simulate(mbd.random_chain(2, 1), SPAN, h=H),
        "impacts": simulate_with(system, SPAN, contacts=contacts, h=H),
    }


@pytest.fixture(scope="module")
def comparison():
    return mbd.compare(pendulum(), [mbd.Method(integrator=mbd.RK4(H)), mbd.Method(integrator=mbd.RK3(H))], SPAN)


KINDS = ["result", "chain", "impacts"]
WRITERS = {
    "save": (".npz", lambda results, path: results["result"].save(path)),
    "save of a chain": (".npz", lambda results, path: results["chain"].save(path)),
    "save of impacts": (".npz", lambda results, path: results["impacts"].save(path)),
    "to_csv": (".csv", lambda results, path: results["result"].to_csv(path)),
    "animate": (".html", lambda results, path: results["result"].animate(path)),
    "to_gltf": (".glb", lambda results, path: results["result"].to_gltf(path)),
    "film": (".gif", lambda results, path: results["result"].film(path, frames=2)),
    "snapshot": (".png", lambda results, path: results["result"].snapshot(0.0, path)),
    "picture": (".png", lambda results, path: mbd.picture(pendulum()).save(path)),
    "system": (".json", lambda results, path: pendulum().save(path)),
    "urdf": (".urdf", lambda results, path: mbd.write_urdf(pendulum(), path)),
}


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_that_cannot_be_written_is_one_error_of_both_kinds(results, tmp_path, writer):
    """It was a plain FileNotFoundError, IsADirectoryError or NotADirectoryError, without a remedy."""
    ending, write = WRITERS[writer]
    (tmp_path / f"folder{ending}").mkdir()
    (tmp_path / "file").write_text("old")
    for where, words in (
        (f"no/x{ending}", f"There is no folder '{tmp_path / 'no'}': create it"),
        (f"folder{ending}", "It is a folder: give the name of a file in it"),
        (f"file/x{ending}", f"'{tmp_path / 'file'}' is a file: give a path below a folder"),
    ):
        with pytest.raises(mbd.UsageError) as caught:
            write(results, tmp_path / where)
        said = str(caught.value)
        assert said.startswith(f"cannot write '{tmp_path / where}': ")
        assert words in said
        assert isinstance(caught.value, OSError)
        assert caught.value.filename == str(tmp_path / where)
        assert str(pickle.loads(pickle.dumps(caught.value))) == said
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("path", [3.0, None, "", b"x", "a\0b"], ids=repr)
def test_what_names_no_file_is_refused(results, writer, path):
    with pytest.raises(mbd.UsageError, match="path is .*(must be the path of a file|names no file)"):
        WRITERS[writer][1](results, path)


def test_tables_and_reports_of_studies_are_refused_alike(comparison, tmp_path):
    with pytest.raises(mbd.UsageError, match="There is no folder"):
        comparison.to_csv(tmp_path / "no" / "x.csv")
    for write in (comparison.to_csv, comparison.report):
        with pytest.raises(mbd.UsageError, match=r"path is 3\.0, must be"):
            write(3.0)
    with pytest.raises(mbd.UsageError, match="folder is None, must be"):
        mbd.labs.grade(None, "lab1")
    batch = mbd.batch(pendulum().compile(), parameters={"bar.mass": [1.0, 2.0]})
    with pytest.raises(mbd.UsageError, match=r"store is 3\.0, must be"):
        batch.simulate(SPAN, h=H, store=3.0)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "is unchanged: make room, or give"), (errno.EACCES, "Give a file in a folder that can be")]
)
def test_a_full_disk_and_missing_rights_have_remedies_of_their_own(tmp_path, number, words):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with pytest.raises(mbd.UsageError, match=words) as caught, replace_file(path):
        raise OSError(number, os.strerror(number))
    assert caught.value.errno == number
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_that_does_not_exist_is_refused_with_those_that_do(results, kind):
    result, n = results[kind], len(results[kind])
    for k in (n, 10**6, -n - 1, "a", None, True):
        with pytest.raises(mbd.UsageError) as caught:
            result.state(k)
        assert f"no state of the number {k!r}: the result has {n} states, of the numbers 0 to {n - 1}, or -{n} to -1" in str(
            caught.value
        )
    with pytest.raises(mbd.UsageError, match=r"number 0\.5: .*; result\.at\(t\) is the state at a time \[s\]"):
        result.state(0.5)
    for k in (0, n - 1, -1, -n, np.int64(1)):
        assert result.state(k).t == result.t[k]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["joint", "load", "driver", "sensor", "contact", "block", "reaction"])
def test_what_is_no_name_is_refused_as_an_unknown_name(results, kind, what):
    with pytest.raises(mbd.UsageError, match=r"is called \['x'\]"):
        getattr(results[kind], what)(["x"])


def test_an_object_in_place_of_its_name_is_told_the_name(results):
    system = pendulum()
    with pytest.raises(mbd.UsageError, match="no joint is called RJ.*; give the name, 'pin'"):
        results["result"].joint(system["pin"])
    with pytest.raises(mbd.UsageError, match="no body is called Body.*; give the name, 'bar'"):
        results["result"][system.bodies[1]]


def test_labels_and_checks_that_are_no_names_are_refused(comparison):
    with pytest.raises(mbd.UsageError, match="no method has the label 3"):
        comparison.row(3)
    with pytest.raises(mbd.UsageError, match="no check is called 3"):
        mbd.verify(pendulum(), states=1)[3]
