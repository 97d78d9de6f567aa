"""The pages of the labs: the student's version of each, as a notebook that runs when the site is built, and as files to download."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from haugmbd.labs import hand_out

PAGES = tuple(f"generated/labs/{path.stem}" for path in hand_out.texts())
FOLDER = "lab_files"
"""Where the files to download stand, beside the pages that are made."""
ALL = "labs.zip"
DOWNLOADS = "<!-- on the site, the labs to download stand here -->"


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return a notebook for each lab, without solutions, and write the files to download."""
    files = generated / FOLDER
    files.mkdir(parents=True, exist_ok=True)
    made, listed = {}, []
    for path in hand_out.texts():
        program = hand_out.student_version(path.read_text(encoding="utf-8"))
        notebook = hand_out.notebook(program, path.stem)
        (files / path.name).write_text(program, encoding="utf-8")
        (files / f"{path.stem}.ipynb").write_text(notebook, encoding="utf-8")
        made[f"labs/{path.stem}.ipynb"] = with_links(notebook, path.stem)
        title = program.splitlines()[1].removeprefix("# # ").removeprefix("Lab ")
        listed.append(f"* [{title}](/generated/labs/{path.stem}.ipynb): {links(path.stem, f'/generated/{FOLDER}/')}")
    zipped(files)
    listed.append(f"* all of them: {{download}}`{ALL} </generated/{FOLDER}/{ALL}>`")
    made["lab_downloads.inc"] = "\n".join(listed)
    return made


def links(name: str, folder: str) -> str:
    """Return links to the notebook and to the program of a lab."""
    return f"{{download}}`notebook <{folder}{name}.ipynb>`, {{download}}`program <{folder}{name}.py>`"


def with_links(notebook: str, name: str) -> str:
    """Return the notebook of the page: the links stand below its title."""
    cells = json.loads(notebook)
    first = cells["cells"][0]
    title, *rest = first["source"]
    first["source"] = [title, f"\nTo download: {links(name, f'../{FOLDER}/')}.\n\n", *rest]
    return json.dumps(cells, indent=1)


def zipped(folder: Path) -> None:
    """Write all files of the labs into one, the same in every build."""
    with zipfile.ZipFile(folder / ALL, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.glob("lab*_*.*")):
            archive.writestr(zipfile.ZipInfo(f"labs/{path.name}", (2020, 1, 1, 0, 0, 0)), path.read_bytes())
