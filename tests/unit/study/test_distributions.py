"""Random cells of distributions: their moments, Latin hypercubes, and grids beside them."""

import numpy as np
import pytest

import haugmbd as mbd


def column(cells, name):
    return np.array([cell[name] for cell in cells])


def test_moments_and_the_same_cells_again():
    cells = mbd.RandomCells({"m": mbd.normal(2.0, 0.1), "l": mbd.uniform(0.4, 0.6)}, n=2000, seed=3).cells()
    assert column(cells, "m").mean() == pytest.approx(2.0, abs=0.01)
    assert column(cells, "m").std() == pytest.approx(0.1, abs=0.01)
    assert 0.4 <= column(cells, "l").min()
    assert column(cells, "l").max() <= 0.6
    again = mbd.RandomCells({"l": mbd.uniform(0.4, 0.6)}, n=10, seed=3).cells()
    np.testing.assert_array_equal(column(again, "l"), column(cells[:10], "l"))


@pytest.mark.parametrize("n", [1, 7, 40])
def test_a_latin_hypercube_takes_each_part_once(n):
    cells = mbd.RandomCells(
        {"x": (0.0, 1.0), "y": mbd.uniform(-1.0, 3.0), "z": mbd.normal(0.0, 1.0)}, n=n, seed=1, latin=True
    ).cells()
    for name, parts in (("x", column(cells, "x")), ("y", (column(cells, "y") + 1.0) / 4.0)):
        assert sorted(np.floor(n * parts).astype(int)) == list(range(n)), name
    assert abs(column(cells, "z").mean()) <= 3.0 / n


def test_a_grid_beside_distributions():
    cells = mbd.RandomCells({"m": mbd.normal(2.0, 0.1)}, n=3, grid={"k": [10.0, 20.0], "kind": ["a", "b"]}).cells()
    assert len(cells) == 12
    assert [cell["m"] for cell in cells[:3]] == [cell["m"] for cell in cells[9:]]
    assert cells[-1]["k"] == 20.0
    assert cells[-1]["kind"] == "b"


@pytest.mark.parametrize(
    "make",
    [
        lambda: mbd.normal(0.0, 0.0),
        lambda: mbd.uniform(1.0, 1.0),
        lambda: mbd.uniform(0.0, np.inf),
        lambda: mbd.RandomCells({"m": (0, 1)}, n=2, grid={"m": [1]}).cells(),
        lambda: mbd.RandomCells({"m": (0, 1)}, n=2, grid={"k": 3}).cells(),
    ],
)
def test_what_is_no_distribution(make):
    with pytest.raises(mbd.UsageError):
        make()
