r"""The command `haugmbd crosscheck`: random chains in joint and in maximal coordinates, and one table of the differences.

Chain k comes from seed + k alone: its number of links (1 to --links), its joints, inertia and motion.  Every chain can thus be repeated.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from haugmbd.cli.model_argument import json_line
from haugmbd.crosscheck import CrossCheck, crosscheck
from haugmbd.crosscheck.check import TOL
from haugmbd.errors import SimulationError
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.random_chain import KINDS, random_chain, random_motion
from haugmbd.simulation.stepping.progress import Progress

MOST_LINKS = 1000
"""Limit of links: the time of full matrices grows with the cube."""
MOST_CHAINS = 100_000
LARGEST_SEED = 2**32 - 1


class Run(NamedTuple):
    """A chain that was checked: its seed, and the result."""

    seed: int
    check: CrossCheck


def add_command(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to those of `haugmbd`."""
    command = add_parser("crosscheck", help="compare random chains in joint and in maximal coordinates")
    command.add_argument(
        "--links", type=_whole(1, MOST_LINKS), default=30, metavar="N", help="largest number of links of a chain (30)"
    )
    command.add_argument("--random", type=_whole(1, MOST_CHAINS), default=50, metavar="N", help="number of random chains (50)")
    command.add_argument("--seed", type=_whole(0, LARGEST_SEED), default=0, metavar="S", help="seed of the first chain (0)")
    command.add_argument(
        "--tol", type=_tolerance, default=TOL, metavar="TOL", help=f"largest relative difference allowed ({TOL:g})"
    )
    command.add_argument(
        "--joints", type=_joints, default=KINDS, metavar="A,B", help=f"kinds of joints, of {','.join(KINDS)} (all)"
    )
    command.add_argument("--free", action="store_true", help="use chains with a free base")
    command.add_argument("--json", action="store_true", help="print one JSON object for other programs")
    command.set_defaults(run=run_crosscheck)


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Return a reader of whole numbers."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return value

    return read


def _tolerance(text: str) -> float:
    """Return a positive number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def _joints(text: str) -> tuple[str, ...]:
    """Return kinds of joints."""
    kinds = tuple(kind.strip() for kind in text.split(","))
    strange = [kind for kind in kinds if kind not in KINDS]
    if strange:
        raise argparse.ArgumentTypeError(f"{strange[0]!r} is not a kind of joint; choose from {','.join(KINDS)}")
    return kinds


def chain_of(seed: int, most: int, kinds: tuple[str, ...], free: bool) -> SerialChain:
    """Return the random chain of a seed."""
    n = int(np.random.default_rng(seed).integers(1, most, endpoint=True))
    return random_chain(n, seed, kinds=kinds, free_base=free)


def run_crosscheck(arguments: argparse.Namespace) -> int:
    """Check the chains, print the table and the worst chain, and return 1 if a difference is beyond the tolerance.

    After Ctrl-C the table is that of the chains so far, and 1 is returned.
    """
    runs: list[Run] = []
    interrupted, seed = False, arguments.seed
    with Progress(True, 0, arguments.random, "chains") as bar:
        try:
            for seed in range(arguments.seed, arguments.seed + arguments.random):
                runs.append(_checked(arguments, seed))
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


def _checked(arguments: argparse.Namespace, seed: int) -> Run:
    """Check the chain of a seed."""
    chain = chain_of(seed, arguments.links, arguments.joints, arguments.free)
    q, qd, tau = random_motion(chain, seed)
    wrenches = np.random.default_rng(seed).normal(size=(chain.n, 6))
    return Run(seed, crosscheck(chain, q, qd, tau, wrenches=wrenches, tol=arguments.tol))


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
    joints = "" if arguments.joints == KINDS else f" --joints {','.join(arguments.joints)}"
    free = " --free" if arguments.free else ""
    return f"haugmbd crosscheck --links {arguments.links} --random 1 --seed {seed}{joints}{free}"
