"""`labs.write`: every lab as a program and as a notebook, the same cells, and no file of a student is lost."""

from __future__ import annotations

import json

import pytest

import haugmbd as mbd
from haugmbd.cli.main import main
from haugmbd.labs import hand_out, write
from haugmbd.labs.hand_out import program_of


def test_notebooks_hold_the_same_cells_as_programs(tmp_path):
    programs, notebooks = write(tmp_path, solutions=True), write(tmp_path, solutions=True, notebooks=True)
    assert [path.stem for path in programs] == [path.stem for path in notebooks] == [path.stem for path in hand_out.texts()]
    assert len(programs) == len(mbd.labs.LABS)
    for program, notebook in zip(programs, notebooks, strict=True):
        cells = json.loads(notebook.read_text())["cells"]
        assert len({cell["id"] for cell in cells}) == len(cells)
        heads = {"markdown": hand_out.TEXT, "code": "# %%\n"}
        again = []
        for cell in cells:
            lines = "".join(cell["source"]).split("\n")
            body = [f"# {line}".rstrip() for line in lines] if cell["cell_type"] == "markdown" else lines
            head = hand_out.SOLUTION if cell["metadata"].get("tags") else heads[cell["cell_type"]]
            again.append(head + "\n".join(body) + "\n")
        assert _written("\n".join(again)) == _written(program.read_text())
        compile(program_of(notebook.read_text()), notebook.name, "exec")


def _written(text: str) -> list[str]:
    """The lines of a program that are not blank."""
    return [line for line in text.splitlines() if line]


@pytest.mark.parametrize("notebooks", [False, True])
def test_students_get_no_solution(tmp_path, notebooks):
    for source, path in zip(hand_out.texts(), write(tmp_path / "new" / "folder", notebooks=notebooks), strict=True):
        assert 'solution"]' not in path.read_text().replace("\\", "")
        assert "# your answer" in path.read_text()
        assert '# %% tags=["solution"]' in source.read_text()


def test_a_file_with_answers_is_kept(tmp_path):
    first = write(tmp_path)[0]
    first.write_text("my answers")
    with pytest.raises(mbd.UsageError, match="'lab01_first_mechanism.py' already .(\\d+) of \\1 files.*nothing was written"):
        write(tmp_path)
    assert first.read_text() == "my answers"
    assert write(tmp_path, replace=True)[0].read_text() != "my answers"


def test_the_command_writes_them(tmp_path, capsys):
    assert main(["labs", "--to", str(tmp_path), "--notebooks", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == [str(path) for path in sorted(tmp_path.glob("*.ipynb"))]
    assert main(["labs", "--to", str(tmp_path), "--notebooks"]) == 2
    assert "--replace" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert main(["labs", "--to", str(tmp_path / "file")]) == 2
    assert "cannot make folder" in capsys.readouterr().err
    with pytest.raises(mbd.UsageError, match="notebooks = 1 must be True or False"):
        write(tmp_path, notebooks=1)
