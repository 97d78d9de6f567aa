r"""What the engine is compiled of: runs that reach every entry, in the process that keeps the LLVM code.

    python -m haugmbd.engine.workload FILE        the collection, pickled

An entry is compiled for the types that it is called with.  Routines have their signature; the others get theirs here, from short runs
of each kind of question.  An entry that no run reaches is named at the end, with the reason why it is not in the engine.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LEFT_OUT: dict[str, str] = {
    "haugmbd.kkt.minimum_degree.minimum_degree": "returns arrays that it makes: plain Python orders the fronts of a net",
    "haugmbd.kkt.minimum_degree.bisection_levels": "returns arrays that it makes",
    "haugmbd.kkt.front_plan.lay_out": "returns arrays that it makes",
    "haugmbd.kkt.front_plan.fold": "returns arrays that it makes",
}
"""Entries that are not in the engine, and why."""


def main() -> int:
    """Write the collection of this source tree."""
    from haugmbd.engine import collect  # noqa: PLC0415  with the environment of this process

    texts = collect.keep_modules()
    for name, run in runs():
        print(name, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    import haugmbd  # noqa: PLC0415
    from haugmbd.engine.doors import compile_doors  # noqa: PLC0415

    compile_doors()
    collect.import_everything(haugmbd)
    file = Path(sys.argv[1])
    found = collect.collection(texts, LEFT_OUT, lambda text: print(text, flush=True))
    new = file.with_suffix(f".{os.getpid()}")
    new.write_bytes(pickle.dumps(found))
    os.replace(new, file)
    return 0


def runs() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the runs by name."""
    from haugmbd.study.comparison.runs import warm

    yield from warm.default_methods()
    yield from warm.other_methods()


if __name__ == "__main__":
    sys.exit(main())
