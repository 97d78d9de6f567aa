"""The command `haugmbd crosscheck`: random chains in joint and in maximal coordinates, and one table of the differences.

Chain k comes from seed + k alone: its number of links (1 to --links), its joints, inertia and motion.  Every chain can thus be repeated.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any, NamedTuple

import numpy as np

from haugmbd.cli.answers import CommandError, json_line
from haugmbd.crosscheck import TOL, CrossCheck, crosscheck
from haugmbd.errors import SimulationError
from haugmbd.serial_chain.chain import KINDS, SerialChain, random_chain, random_motion
from haugmbd.simulation.stepping.progress import Progress


class Run(NamedTuple):
    """A chain that was checked: its seed, and the result."""

    seed: int
    check: CrossCheck


def kinds_of(text: str | None) -> tuple[str, ...]:
    """Return kinds of joints that are joined by commas; all without a text. Raise CommandError for another word."""
    kinds = KINDS if text is None else tuple(kind.strip() for kind in text.split(","))
    strange = [kind for kind in kinds if kind not in KINDS]
    if strange:
        raise CommandError(f"argument --joints: {strange[0]!r} is not a kind of joint; choose from {','.join(KINDS)}")
    return kinds


def chain_of(seed: int, most: int, kinds: tuple[str, ...], free: bool) -> SerialChain:
    """Return the random chain of a seed."""
    n = int(np.random.default_rng(seed).integers(1, most, endpoint=True))
    return random_chain(n, seed, kinds=kinds, free_base=free)


def run_crosscheck(arguments: argparse.Namespace) -> int:
    """Check the chains, print the table and the worst chain, and return 1 if a difference is beyond the tolerance.

    After Ctrl-C the table is that of the chains so far, and 1 is returned.
    """
    kinds, tol = kinds_of(arguments.joints), TOL if arguments.tol is None else arguments.tol
    runs: list[Run] = []
    interrupted, seed = False, arguments.seed
    with Progress(True, 0, arguments.random, "chains") as bar:
        try:
            for seed in range(arguments.seed, arguments.seed + arguments.random):
                runs.append(_checked(arguments, kinds, tol, seed))
                bar.reach(len(runs))
        except SimulationError as error:
            print(f"haugmbd: the chain of seed {seed} cannot be compared: {error}", file=sys.stderr)
            if arguments.json:
                print(json_line({"ok": False, "error": str(error), "seed": seed}))
            return 1
        except KeyboardInterrupt:
            if not runs:
                raise
            interrupted = True
    worst = max(runs, key=lambda run: (math.isnan(run.check.worst), run.check.worst))
    good = worst.check.ok and not interrupted
    if arguments.json:
        print(json_line({**_data(runs, worst), "ok": good, "interrupted": interrupted}))
        return 0 if good else 1
    if interrupted:
        print(f"haugmbd: interrupted by Ctrl-C after {len(runs)} of {arguments.random} chains", file=sys.stderr)
    _print_table(runs)
    print(f"\nthe worst is the chain of seed {worst.seed}; again, alone: {_repeat_command(arguments, worst.seed)}\n")
    print(worst.check)
    return 0 if good else 1


def _checked(arguments: argparse.Namespace, kinds: tuple[str, ...], tol: float, seed: int) -> Run:
    """Check the chain of a seed."""
    chain = chain_of(seed, arguments.links, kinds, arguments.free)
    q, qd, tau = random_motion(chain, seed)
    wrenches = np.random.default_rng(seed).normal(size=(chain.n, 6))
    return Run(seed, crosscheck(chain, q, qd, tau, wrenches=wrenches, tol=tol))


def _data(runs: list[Run], worst: Run) -> dict[str, Any]:
    """Return the table as data."""
    table = np.array([[d.relative for d in run.check] for run in runs])
    rows = {
        d.name: {"median": float(np.median(column)), "worst": float(column.max()), "seed": runs[int(np.argmax(column))].seed}
        for d, column in zip(runs[0].check, table.T, strict=True)
    }
    return {"ok": False, "chains": len(runs), "differences": rows, "worst": worst.check.worst, "seed": worst.seed}


def _print_table(runs: list[Run]) -> None:
    """Print median and worst relative difference of every quantity."""
    table = np.array([[d.relative for d in run.check] for run in runs])
    print(f"{len(runs)} random chains, {sum(run.check.links for run in runs)} links: relative differences\n")
    print(f"  {'':<20}  {'median':>8}  {'worst':>8}  {'seed':>6}")
    for d, column in zip(runs[0].check, table.T, strict=True):
        k = int(np.argmax(column))
        print(f"  {d.name:<20}  {np.median(column):8.1e}  {column[k]:8.1e}  {runs[k].seed:6d}   {d.what}")


def _repeat_command(arguments: argparse.Namespace, seed: int) -> str:
    """Return the command that checks one chain."""
    joints = "" if arguments.joints is None else f" --joints {','.join(kinds_of(arguments.joints))}"
    free = " --free" if arguments.free else ""
    return f"haugmbd crosscheck --links {arguments.links} --random 1 --seed {seed}{joints}{free}"
