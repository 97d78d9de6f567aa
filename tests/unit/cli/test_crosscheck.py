"""The command `crosscheck`: its table, its exit code, and how it fails."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from haugmbd.cli import crosscheck as command
from haugmbd.cli import main
from haugmbd.cli.crosscheck import chain_of
from haugmbd.serial_chain.chain import KINDS


@pytest.mark.slow
def test_the_table_says_median_and_worst_and_how_to_repeat_the_worst(capsys):
    assert main.main(["crosscheck", "--links", "8", "--random", "6", "--seed", "40"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("6 random chains, ")
    rows = re.findall(r"^  (\w[\w ]+\w) +(\S+e\S+|0\.0) +(\S+) +(\d+)   ", said, flags=re.MULTILINE)
    assert {"joint accelerations", "joint wrenches", "joint impulses", "power balance"} <= {row[0] for row in rows}
    for _, median, worst, seed in rows:
        assert 0.0 <= float(median) <= float(worst) <= 1e-9
        assert 40 <= int(seed) < 46
    (seed,) = re.findall(r"the worst is the chain of seed (\d+); again, alone: haugmbd crosscheck --links 8 --random 1", said)
    assert main.main(["crosscheck", "--links", "8", "--random", "1", "--seed", seed]) == 0
    again = capsys.readouterr().out
    assert said[said.index("cross-check of") :] == again[again.index("cross-check of") :]


@pytest.mark.slow
def test_the_table_as_json(capsys):
    assert main.main(["crosscheck", "--links", "3", "--random", "4", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["ok"]
    assert data["chains"] == 4
    assert max(row["worst"] for row in data["differences"].values()) == data["worst"] <= 1e-9
    assert main.main(["crosscheck", "--links", "3", "--random", "1", "--tol", "1e-30", "--json"]) == 1
    assert not json.loads(capsys.readouterr().out)["ok"]


def test_joints_and_free_base_are_repeated_too(capsys):
    assert main.main(["crosscheck", "--links", "3", "--random", "2", "--joints", "revolute,universal", "--free"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"--seed [01] --joints revolute,universal --free", said)


@pytest.mark.slow
def test_the_chains_are_of_every_length_and_kind():
    chains = [chain_of(seed, 30, KINDS, False) for seed in range(50)]
    assert {chain.n for chain in chains} <= set(range(1, 31))
    assert len({chain.n for chain in chains}) >= 20
    assert {link.kind for chain in chains for link in chain.links} == set(KINDS)
    again = chain_of(7, 30, KINDS, False)
    assert np.array_equal(again.tables.reals, chains[7].tables.reals)


def test_after_ctrl_c_the_table_is_that_of_the_chains_so_far(capsys, monkeypatch):
    def struck(number):
        left = [number]

        def chain_or_ctrl_c(*given):
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
            return chain_of(*given)

        monkeypatch.setattr(command, "chain_of", chain_or_ctrl_c)

    struck(3)
    assert main.main(["crosscheck", "--links", "3", "--random", "5"]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("2 random chains, ")
    assert "interrupted by Ctrl-C after 2 of 5 chains" in said.err
    struck(3)
    assert main.main(["crosscheck", "--links", "3", "--random", "5", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["ok"], data["interrupted"], data["chains"]) == (False, True, 2)
    struck(1)
    with pytest.raises(KeyboardInterrupt):
        main.main(["crosscheck", "--links", "3", "--random", "5"])


def test_beyond_the_tolerance_is_exit_code_1(capsys):
    assert main.main(["crosscheck", "--links", "3", "--random", "2", "--tol", "1e-30"]) == 1
    assert "BEYOND 1e-30" in capsys.readouterr().out


def test_a_chain_of_fixed_links_has_nothing_to_move(capsys):
    assert main.main(["crosscheck", "--links", "2", "--random", "2", "--joints", "fixed"]) == 0
    assert "0 freedoms" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--links", "0"], "'0' is not a whole number from 1 to 1000"),
        (["--links", "2.5"], "'2.5' is not a whole number"),
        (["--random", "many"], "'many' is not a whole number from 1"),
        (["--seed", "-1"], "'-1' is not a whole number from 0"),
        (["--tol", "0"], "'0' is not a positive number"),
        (["--tol", "nan"], "'nan' is not a positive number"),
        (["--joints", "revolute,hinge"], "'hinge' is not a kind of joint; choose from revolute,prismatic"),
    ],
)
def test_bad_arguments_get_one_sentence_and_exit_code_2(argv, sentence, capsys):
    assert main.main(["crosscheck", *argv]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert sentence in said.err
