"""The page on benchmarks, and the table of the README, say what the record says."""

from __future__ import annotations

import json

import pytest

from tests.benchmarks import page, record, surroundings
from tests.benchmarks.recorded import Recorded
from tests.benchmarks.worker import REPOSITORY


@pytest.fixture(scope="module")
def recorded():
    return Recorded()


@pytest.mark.slow
def test_the_page_is_written_from_the_record(recorded):
    assert (REPOSITORY / "docs" / "benchmarks.md").read_text() == page.page(recorded), "run python -m tests.benchmarks.page"


@pytest.mark.slow
def test_the_table_of_the_readme_is_written_from_the_record(recorded):
    table = "\n".join(page.readme_table(recorded))
    assert table in (REPOSITORY / "README.md").read_text(), "run python -m tests.benchmarks.page"
    assert table.count("\n") == 9


@pytest.mark.slow
def test_a_record_names_machine_date_and_versions_and_keeps_minima(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "_answers", {})
    for us in (3.0, 2.0, 5.0):
        called = {"accelerations": 4.0 * us, "evaluator": us + 1.0}
        record.keep("ours", "rhs", {"shape": "chain", "n": 100}, {"us": us, **called, "acceleration": [1.0]})
    record.keep("peer_pinocchio", "rhs", {"shape": "chain", "n": 100}, {"us": 1.0, "called": 4.0, "said": "words"})
    record.write(tmp_path / "results.json")
    about = json.loads((tmp_path / "results.json").read_text())
    assert {"date", "machine", "load", "versions", "measured"} == set(about)
    assert "numpy" in about["versions"]
    found = Recorded(tmp_path / "results.json")
    assert found.value("ours", "rhs", shape="chain", n=100) == 2.0
    assert found.value("ours", "rhs", shape="chain", n=10) is None
    assert page.readme_table(found)[2:] == [
        f"| {page.HUNDRED} | a call, `mbd.accelerations` | {page.ABA_CALLED} | 2.00 |",
        f"| {page.HUNDRED} | a call of `model.evaluator()` | {page.ABA_CALLED} | 0.75 |",
        f"| {page.HUNDRED} | a loop in compiled code | Pinocchio, `pin.abaInParallel`: a loop in C++, one thread | 2.00 |",
    ]
    assert "| 100 | 8.00 | 2.00 | 3.00 | 0.75 | 4.00 | 2.00 | 2.00 | 1.00 |" in page.right_hand_sides(found)
    assert "Andrews" not in page.page(found)


@pytest.mark.slow
def test_batches_on_one_thread_and_on_two_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "_answers", {})
    for threads, us, cpu in ((1, 4.0, 5.0), (2, 2.0, 6.0)):
        record.keep("ours_batch", "batch", {"n": 5, "what": "states", "threads": threads}, {"us": us, "cpu": cpu})
    record.write(tmp_path / "results.json")
    assert "| 4.00 | 5.00 | 2.00 | 6.00 | 2.00 |" in page.many(Recorded(tmp_path / "results.json"))


@pytest.mark.slow
def test_costs_around_the_kernels_are_shown_with_their_growth(tmp_path, monkeypatch):
    monkeypatch.setattr(record, "_answers", {})
    for n in (12, 24, 48):
        record.keep("surroundings", "cost", {"row": "planets", "n": n}, {"cost": 2.0 * n**2})
    record.keep("surroundings", "cost", {"row": "event", "n": 10}, {"cost": 40.0})
    record.write(tmp_path / "results.json")
    found = page.around(Recorded(tmp_path / "results.json"))
    assert "| `accelerations`, planetary gear | 288 (12), 1152 (24), 4608 (48) us | 2.00 |" in found
    assert "40.0 (10) us" in found
    assert "scissor" not in found


@pytest.mark.slow
def test_every_row_around_the_kernels_is_measured_by_its_own_call():
    assert surroundings.ROWS.keys() == surroundings.MEASURES.keys()
    for name in ("one step", "stepper", "compile"):
        assert surroundings.cost(name, surroundings.ROWS[name].sizes[0])["cost"] > 0.0
