"""Write the labs without their solutions, as programs or as notebooks, for students.

python examples/labs/hand_out.py FOLDER              programs, lab01_first_mechanism.py ...
python examples/labs/hand_out.py FOLDER --notebooks  notebooks, if jupytext is installed
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
CELL = re.compile(r"^(?=# %%)", flags=re.MULTILINE)
SOLUTION = '# %% tags=["solution"]\n'
ANSWER = re.compile(r'^(answers\["[^"]+"\]) = ', flags=re.MULTILINE)


def labs() -> list[Path]:
    """Return the files of the labs, in their order."""
    return sorted(HERE.glob("lab[0-9][0-9]_*.py"))


def student_version(text: str) -> str:
    """Return a lab in which cells with solutions only name the answers that are asked for."""
    return "".join(without_solution(cell) if cell.startswith(SOLUTION) else cell for cell in CELL.split(text))


def without_solution(cell: str) -> str:
    """Return the cell that a student fills in."""
    wanted = "\n".join(f"{name} = ...  # your answer" for name in ANSWER.findall(cell))
    return f"# %%\n# Your work stands here.\n{wanted}\n\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the labs without their solutions.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notebooks", action="store_true", help="as .ipynb, by jupytext")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for path in labs():
        text = student_version(path.read_text(encoding="utf-8"))
        if given.notebooks:
            import jupytext

            jupytext.write(jupytext.reads(text, fmt="py:percent"), given.folder / f"{path.stem}.ipynb")
        else:
            (given.folder / path.name).write_text(text, encoding="utf-8")
    print(f"{len(labs())} labs in {given.folder}")


if __name__ == "__main__":
    main()
