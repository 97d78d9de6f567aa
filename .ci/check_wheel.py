"""Install the wheel of a folder into an empty environment, and use it from outside the checkout: `python .ci/check_wheel.py dist`."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import pathlib
import sys

import haugmbd
import joints

for package in (haugmbd, joints):
    place = pathlib.Path(package.__file__).resolve()
    assert pathlib.Path(sys.prefix).resolve() in place.parents, f"{package.__name__} comes from {place}, not from the wheel"
    assert (place.parent / "py.typed").is_file(), f"{package.__name__}: the wheel lacks py.typed"
from haugmbd.viewer.animate import html_page

assert len(html_page({"name": "empty"}, "")) > 500_000, "the wheel lacks the files of the viewer"
assert len(haugmbd.labs.write("by name", notebooks=True)) == len(haugmbd.labs.LABS), "the wheel lacks labs"
print("both packages come from the wheel")
"""


ENGINE = """
import sys
import time

import haugmbd as mbd
from haugmbd.gallery import four_bar

begun = time.process_time()
result = mbd.simulate(four_bar(), 1.0, h=1e-3)
assert abs(result.energy().drift).max() < 1e-6
assert "numba" not in sys.modules, "the wheel needs Numba"
print(f"a simulation without Numba: {time.process_time():.2f} s of CPU from the start of the process")
"""


def main() -> None:
    """Check the one wheel of the folder that is named."""
    (wheel,) = Path(sys.argv[1]).resolve().glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
        scripts = Path(folder, "venv", "Scripts" if os.name == "nt" else "bin")
        python = str(scripts / ("python.exe" if os.name == "nt" else "python"))
        constraints = Path(__file__).resolve().with_name("constraints.txt")
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(constraints), str(wheel)]
        subprocess.run(install, check=True)
        has_engine = not wheel.name.endswith("none-any.whl")
        for command in (
            [python, "-c", PROGRAM],
            [python, "-c", ENGINE if has_engine else "import numba"],
            [python, "-m", "haugmbd", "info"],
            [python, "-m", "haugmbd", "labs", "--to", "labs"],
        ):
            subprocess.run(command, check=True, cwd=folder)


if __name__ == "__main__":
    main()
