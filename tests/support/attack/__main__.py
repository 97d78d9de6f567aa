"""Attack every method: print findings, one a line, progress, and at the end the count."""

from __future__ import annotations

import argparse
import time
from collections import Counter

from tests.support.attack.cases import cases
from tests.support.attack.families import FAMILIES

EVERY = 50
"""Cases between two lines of progress."""


def main() -> None:
    """Run the cases that the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.attack", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first case, to continue an attack that was ended")
    parser.add_argument("--only", type=int, nargs="+", help="these cases alone")
    parser.add_argument("--family", default="", choices=["", *FAMILIES])
    parser.add_argument("--print", nargs="+", default=["finding"], metavar="VERDICT", help="what to print (finding)")
    given = parser.parse_args()
    numbers = given.only or range(given.first, given.cases)
    count: Counter[str] = Counter()
    for done, (k, m, method, verdict) in enumerate(cases(given.seed, numbers, given.family), 1):
        count[verdict.kind] += 1
        if verdict.kind in given.print or given.only:
            why = " ".join(verdict.why.split())[:300]
            print(f"{verdict.kind} case {k}: {m.name}, t_end={m.t_end:.9g}: {method}: {why}", flush=True)  # noqa: T201
        if done % EVERY == 0 or done == len(numbers):
            told = ", ".join(f"{n} {kind}" for kind, n in sorted(count.items()))
            print(f"{done} of {len(numbers)} cases of seed {given.seed}: {told}; {time.process_time():.0f} s", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
