"""A program's own file `joints.py`: its joints are its own, and the catalogue is `haugmbd.joints`."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import haugmbd as mbd
import haugmbd.joints
import joints

OWN = "from haugmbd.joints import RJ\n\nclass Hinge(RJ):\n    '''A hinge of one's own.'''\n"
PROGRAM = """
import pickle
import haugmbd as mbd
from haugmbd import gallery
from haugmbd.joints import RJ
from joints import Hinge

system = gallery.four_bar()
run = mbd.simulate(system, 0.01, h=1e-3)
system.save("four_bar.json")
read = mbd.load_model("four_bar.json")
assert (mbd.simulate(read, 0.01, h=1e-3).r == run.r).all()
assert type(read["A"]) is RJ is mbd.joints.RJ and pickle.loads(pickle.dumps(RJ)) is RJ
mbd.simulate(pickle.loads(pickle.dumps(system.compile())), 0.01, h=1e-3)
own = mbd.System("own")
own.add(Hinge("pin", own.ground, own.add(mbd.Body("rod", 1.0, (1, 1, 1), r=(1, 0, 0))), point=(0, 0, 0), axis=(0, 1, 0)))
print(mbd.simulate(own, 0.01, h=1e-3).r[-1, 1].tolist())
"""


def test_there_is_one_class_of_each_joint():
    assert mbd.joints is haugmbd.joints is joints
    assert all(getattr(haugmbd.joints, name) is getattr(joints, name) for name in joints.__all__)
    by_the_other_name = pickle.dumps(joints.RJ, protocol=0).replace(b"joints.revolute", b"haugmbd.joints.revolute")
    assert pickle.loads(by_the_other_name) is joints.RJ  # a file that was written where a joints.py was in the way


@pytest.mark.slow
@pytest.mark.parametrize("name", ["joints.py", "joints/__init__.py"])
def test_a_file_of_that_name_is_in_nobodys_way(tmp_path, name):
    """Gallery, model files, pickles and the catalogue work beside it, and it is told how to import them."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(OWN)
    (tmp_path / "program.py").write_text(PROGRAM)
    path = {"PYTHONPATH": str(Path(mbd.__file__).parents[1])}
    run = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env=path, capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[1.0, 0.0, 0.0]"
    assert str(tmp_path / name) in run.stderr
    assert "from haugmbd.joints import RJ" in run.stderr
