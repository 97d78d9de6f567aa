"""The page on benchmarks and the table of the README, from a record: no number on them is typed.

python -m tests.benchmarks.page         write docs/benchmarks.md, the table of README.md and the diagram from docs/benchmarks.json
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks import batches, calls, diagram, explicit, formulations, kamino, meshes, reduced, surroundings
from tests.benchmarks.ours_calls import CALLS
from tests.benchmarks.precision import OURS, Curve
from tests.benchmarks.recorded import Recorded, least
from tests.benchmarks.worker import REPOSITORY

README_HEAD = ["| task | haugmbd, by | peer, by | haugmbd / peer |", "|---|---|---|---|"]
DIAGRAMS = "<!-- the diagrams of the site stand here -->"
PICTURE = REPOSITORY / "examples" / "figures" / "windows.png"
"""The one diagram that the repository keeps; the site draws all of them from the record."""

HEAD = """# Benchmarks

CPU time, one thread; all tools in one run of `make bench`, taking turns; minima. Ratios below 1 mean that haugmbd is faster. `make bench`
measures your machine, `make bench-quick` the main figures in two minutes; all answers go to `benchmarks/results.json`.

This page shows the run of {date}. Its record is [benchmarks.json](benchmarks.json); tables and diagrams are written from it by
`python -m tests.benchmarks.page`.

* Machine: {machine}; {load} processes wanted to run at its beginning and end.
* Versions: {versions}.
"""


def number(x: float | None) -> str:
    """Return a time or a ratio with three digits, nothing for None."""
    if x is None:
        return ""
    return f"{x:.0f}" if x >= 99.5 else f"{x:.1f}" if x >= 9.95 else f"{x:.2f}" if x >= 0.0995 else f"{x:.2g}"  # noqa: PLR2004


def over(a: float | None, b: float | None) -> float | None:
    """Return a / b, None where one of them was not measured."""
    return None if a is None or b is None else a / b


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table, without lines that have nothing but their names, and without columns that have nothing."""
    filled = [k for k in range(len(head)) if k == 0 or any(line[k] for line in lines)]
    head, lines = [head[k] for k in filled], [[line[k] for k in filled] for line in lines]
    kept = [line for line in lines if any(line[1:])]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(line) + " |" for line in kept)])


def right_hand_sides(r: Recorded) -> str:
    """Accelerations and multipliers beside Pinocchio's ABA."""
    lines = []
    for shape, n in [("chain", n) for n in (1, 5, 10, 50, 100, 200, 1000)] + [("star", 100)]:
        mine, asked, evaluated = (r.value("ours", "rhs", what, shape=shape, n=n) for what in ("us", "accelerations", "evaluator"))
        called, loop = (r.value("peer_pinocchio", "rhs", what, shape=shape, n=n) for what in ("called", "us"))
        name = str(n) if shape == "chain" else f"{n}, all on one body"
        by_python = (asked, over(asked, called), evaluated, over(evaluated, called), called)
        lines.append((name, *map(number, (*by_python, mine, over(mine, loop), loop))))
    head = (
        "n",
        "`mbd.accelerations` [us]",
        "ratio",
        "`model.evaluator()` [us]",
        "ratio",
        "`pin.aba` [us]",
        "loop in compiled code [us]",
        "ratio",
        "Pinocchio's loop in C++ [us]",
    )
    return (
        "Accelerations **and all joint multipliers** of a spatial revolute chain of n links, beside Pinocchio's articulated-body\n"
        "algorithm, which works in joint angles and gives no multipliers. Each call from Python is set beside `pin.aba` from Python, the\n"
        "loop in compiled code beside `pin.abaInParallel` on one thread:\n\n" + table(head, lines)
    )


def single_calls(r: Recorded) -> str:
    """Calls from Python, and starts."""
    lines = [
        (f"`{what}`", *(number(r.value("ours_calls", "call", shape=shape, n=n, what=what)) for shape, n in calls.SHAPES))
        for what in CALLS
    ]
    starts = [(name, number(r.value("haugmbd", "start", "seconds", what=name))) for name in calls.STARTS]
    return (
        "One call from Python, checks included:\n\n"
        + table(("call [us]", "slider-crank", "chain of 10"), lines)
        + "\n\nCPU time of a whole process from its start; with an empty cache it compiles, and keeps what it has compiled on disk:\n\n"
        + table(("process", "[s]"), starts)
    )


def recursions(r: Recorded) -> str:
    """Reduced coordinates beside Pinocchio's functions."""
    lines = []
    for n in reduced.LENGTHS:
        cells = [str(n)]
        for algorithm in reduced.BARS:
            mine, theirs = (r.value(tool, "recursion", algorithm=algorithm, n=n) for tool in ("ours_reduced", "peer_pinocchio"))
            cells += [number(mine), number(over(mine, theirs))]
        lines.append((*cells, number(r.value("ours_reduced", "impact", n=n))))
    head = ("n", "`aba` [us]", "ratio", "`rnea` [us]", "ratio", "`crba` [us]", "ratio", "`articulated_impulse` in a loop [us]")
    return (
        "The same chain in its own coordinates, beside Pinocchio's functions of the same name, all called from Python:\n\n"
        + table(head, lines)
    )


def one_step(r: Recorded) -> str:
    """One step of a chain of 50 links."""
    given = {"n": 50, "steps": 1000, "h": 1e-3}
    ours = r.value("ours", "step", method="RK4", **given)
    asked = [
        ("haugmbd, RK4 with projection at every step", "ours", {"method": "RK4"}),
        ("haugmbd, generalized-alpha, index 3", "ours", {"method": "generalized-alpha"}),
        ("Exudyn, generalized-alpha, default tolerances", "peer_exudyn", {"method": "generalized-alpha"}),
        ("Exudyn, trapezoidal index 2, default tolerances", "peer_exudyn", {"method": "trapezoidal index 2"}),
        ("MuJoCo, RK4, joint angles", "peer_mujoco", {}),
    ]
    lines = []
    for name, tool, method in asked:
        us, energy = (r.value(tool, "step", what, **method, **given) for what in ("us", "energy"))
        ratio = over(ours, us) if tool != "ours" else None
        lines.append((name, number(us), number(ratio), "" if energy is None else f"{energy:.1e}"))
    head = ("", "step [us]", "haugmbd's RK4 / its time", "energy error / (n m g L)")
    return "One step of 1 ms, chain of 50 links falling from rest for 1 s:\n\n" + table(head, lines)


def explicit_steps(r: Recorded) -> str:
    """Steps of the explicit methods."""
    pairs = [(name, "Projection") for name in explicit.METHODS] + [
        ("RK4", name) for name in explicit.STABILIZATIONS if name != "Projection"
    ]
    lines = []
    for method, rule in pairs:
        us, evaluations = (r.value("explicit", "step", what, method=method, stabilization=rule) for what in ("us", "evaluations"))
        lines.append((f"`{method}`, {rule}", number(us), number(evaluations)))
    return "Explicit methods on this chain, a step of 1 ms:\n\n" + table(
        ("method and stabilization", "step [us]", "evaluations a step"), lines
    )


def formulation_costs(r: Recorded) -> str:
    """One evaluation by each formulation."""
    lines = [("`NewtonEuler`, compiled", *(number(r.value("ours", "rhs", shape="chain", n=n)) for n in formulations.SIZES))]
    for name in formulations.IN_PYTHON:
        lines.append((f"`{name}`", *(number(r.value("ours", "formulation", name=name, n=n)) for n in formulations.SIZES)))
    head = ("", *(f"n = {n}" for n in formulations.SIZES))
    return "One evaluation by the formulations that are written in Python, chain of n links [us]:\n\n" + table(head, lines)


def nets(r: Recorded) -> str:
    """Nets and trusses beside SuperLU."""
    lines = []
    for kind, shapes, _, _ in meshes.CASES:
        for shape in shapes:
            given = {"kind": kind, "shape": list(shape)}
            mine = r.value("ours", "mesh", solver="ours", **given)
            found = [r.value("SuperLU", "mesh", solver=f"SuperLU {one}", **given) for one in meshes.THRESHOLDS]
            theirs = min((x for x in found if x is not None), default=None)
            cells = (over(mine, 1e3), over(theirs, 1e3), over(mine, theirs), r.value("ours_calls", "room", "gigabytes", **given))
            lines.append((f"{kind}, {' x '.join(map(str, shape))}", *map(number, cells)))
    return (
        "Factorization and solution of the augmented matrix of nets and trusses, beside SciPy's SuperLU of the same matrix:\n\n"
        + table(("mesh", "haugmbd [ms]", "SuperLU [ms]", "ratio", "memory [GB]"), lines)
    )


def many(r: Recorded) -> str:
    """Batches on one thread and on two."""
    lines = []
    for what, words in batches.WORDS.items():
        one, cpu, two, of_two = (
            r.value("ours_batch", "batch", quantity, n=batches.LINKS, what=what, threads=threads)
            for threads in (1, 2)
            for quantity in ("us", "cpu")
        )
        lines.append((words, *map(number, (one, cpu, two, of_two, over(one, two)))))
    head = ("chain of 5 links [us]", "one thread, elapsed", "CPU", "two threads, elapsed", "CPU", "one / two, elapsed")
    return "Many variants at once, `mbd.batch`, for each member:\n\n" + table(head, lines)


def long_chains(r: Recorded) -> str:
    """Chains of very many links."""
    lines = []
    for n in calls.LENGTHS:
        whats = ("build", "compile", "first", "start", "us", "gigabytes")
        found = (r.value("ours_calls", "large", what, n=n, steps=calls.STEPS) for what in whats)
        lines.append((f"{n:,}", *map(number, found)))
    head = ("links", "build [s]", "compile [s]", "start of the first run", "of a later one", "step", "memory of the process [GB]")
    said = "Long chains, RK4 with projection; what a run does once, and a step, of each link [us]:\n\n"
    ratios = []
    for n in calls.WITH_MOBILITY:
        mobility, compiled = (r.value("ours_calls", "mobility", what, n=n) for what in ("mobility", "compile"))
        if mobility is not None:
            ratios.append(f"{number(over(mobility, compiled))} times with {n:,} links")
    return said + table(head, lines) + (f"\n\n`mbd.mobility` takes, relative to compiling: {', '.join(ratios)}." if ratios else "")


def around(r: Recorded) -> str:
    """What an event, an impact, a sticking joint, a member of a batch, a stored state costs, and how it grows."""
    lines = []
    for name, row in surroundings.ROWS.items():
        costs = [r.value("surroundings", "cost", "cost", row=name, n=n) for n in row.sizes]
        known = [(n, x) for n, x in zip(row.sizes, costs, strict=True) if x is not None]
        sizes = ", ".join(f"{number(x)} ({n:,})" if len(row.sizes) > 1 else number(x) for n, x in known)
        grown = surroundings.exponent(row.sizes, [x for _, x in known]) if row.growth and len(known) == len(row.sizes) else None
        lines.append((row.call, f"{sizes} {row.unit}".rstrip() if known else "", "" if grown is None else f"{grown:.2f}"))
    return "What surrounds the kernels; sizes in brackets, exponents of growth between them:\n\n" + table(
        ("a call, as a user makes it", "cost", "exponent"), lines
    )


def work_and_precision(r: Recorded) -> str:
    """Least CPU time of each tool to the wanted error of each study."""
    lines, tools = [], ("Exudyn", "MuJoCo", "Pinocchio")
    for task in r.tasks().values():
        curves = r.curves(task)
        if not curves:
            continue
        best = least(curves, OURS, task.study.enough)
        mine = "not reached" if best is None else f"{number(1e3 * best[1])} ({best[0]})"
        lines.append(
            (task.study.title, f"{task.study.enough:g}", mine, *(_of_peer(curves, tool, task.study.enough) for tool in tools))
        )
    return (
        "Least CPU time [ms] to a wanted error, of the settings in `make bench`. haugmbd looks through all runs of closed loops for\n"
        "singular configurations, and crosses them where the continuation is unique; this search is part of its times.\n\n"
        + table(("task", "error", "haugmbd, best", *tools), lines)
        + f"\n\n{DIAGRAMS}"
    )


def andrews(r: Recorded) -> str:
    """CPU time and error of every method and setting on Andrews' mechanism."""
    lines = []
    for curve in r.curves(r.tasks()["andrews.png"]):
        cells = [f"{number(1e3 * s)}, {error:.0e}" for s, error in zip(curve.seconds, curve.errors, strict=True)]
        lines.append((curve.method.label, *cells, *[""] * (4 - len(cells))))
    return (
        "Andrews' squeezing mechanism to 0.03 s, CPU time [ms] and error of the crank angle [rad] at each setting, compiled and warm:\n\n"
        + table(("", "loose", "", "", "sharp"), lines)
    )


def four_bar_of_kamino(r: Recorded) -> str:
    """Gap and energy of a four-bar, beside cited figures."""
    found = {name: r.value("ours", "kamino", name) for name in kamino.CITED}
    lines = [
        ("haugmbd, RK4 with projection", *("" if x is None else f"{x:.0e}" for x in found.values())),
        ("Kamino (newton 1.8.0), defaults, cited", *("" if None in found.values() else f"{x:.1e}" for x in kamino.CITED.values())),
    ]
    return (
        "A four-bar of 0.1 m links (`fourbar` of the tests of Newton Physics), 1 s in steps of 1 ms. Kamino computes in single\n"
        "precision on a GPU, many mechanisms at once; its figures are cited, and not timed:\n\n"
        + table(("", "largest gap of a joint [m]", "largest energy error [J]"), lines)
    )


def _of_peer(curves: Sequence[Curve], tool: str, enough: float) -> str:
    """Return the least CPU time of a peer, or the longest that was not enough."""
    best, times = least(curves, tool, enough), [s for curve in curves if curve.method.tool == tool for s in curve.seconds]
    if best is not None:
        return number(1e3 * best[1])
    return f"more than {number(1e3 * max(times))}" if times else ""


SECTIONS: tuple[Callable[[Recorded], str], ...] = (
    right_hand_sides,
    single_calls,
    around,
    recursions,
    one_step,
    explicit_steps,
    formulation_costs,
    nets,
    long_chains,
    many,
    andrews,
    work_and_precision,
    four_bar_of_kamino,
)


def page(r: Recorded) -> str:
    """Return the page; tables of which nothing was measured are left out."""
    about, made = r.about, [section(r) for section in SECTIONS]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    machine = f"{about['machine']['processor']}, {about['machine']['cores']} cores, {about['machine']['system']}"
    head = HEAD.format(date=about["date"][:10], machine=machine, load=" and ".join(map(str, about["load"])), versions=versions)
    if "earlier" in about:
        head += f"* From the run of {about['earlier']['date'][:10]}: {about['earlier']['what']}.\n"
    picture = f"![Energy error against CPU time on 40 four-bar windows](../{PICTURE.relative_to(REPOSITORY)})\n"
    return "\n\n".join([head.rstrip("\n"), *(text for text in made if "---|\n|" in text)]) + "\n\n" + picture


def readme_table(r: Recorded) -> list[str]:
    """Return the table of the README."""
    ours = {what: r.value("ours", "rhs", what, shape="chain", n=100) for what in ("accelerations", "evaluator", "us")}
    called, loop = (r.value("peer_pinocchio", "rhs", what, shape="chain", n=100) for what in ("called", "us"))
    aba = tuple(r.value(tool, "recursion", algorithm="aba", n=100) for tool in ("ours_reduced", "peer_pinocchio"))
    given = {"n": 50, "steps": 1000, "h": 1e-3}
    step = (r.value("ours", "step", method="RK4", **given), r.value("peer_exudyn", "step", method="generalized-alpha", **given))
    lines = [
        (HUNDRED, "a call, `mbd.accelerations`", ABA_CALLED, over(ours["accelerations"], called)),
        (HUNDRED, "a call of `model.evaluator()`", ABA_CALLED, over(ours["evaluator"], called)),
        (HUNDRED, "a loop in compiled code", "Pinocchio, `pin.abaInParallel`: a loop in C++, one thread", over(ours["us"], loop)),
        ("articulated-body algorithm, chain of 100 links", "a call, `mbd.aba`", "Pinocchio, a call, `pin.aba`", over(*aba)),
        ("chain of 50 links, 1 s, h = 1 ms", "`mbd.simulate`, RK4 with projection", f"{EXUDYN}, generalized-alpha", over(*step)),
        ("the same at equal energy error", "`mbd.simulate`, generalized-alpha", f"{EXUDYN}, generalized-alpha", _at_equal_error(r)),
        ("Andrews' mechanism to 1e-6 rad", BEST, "Pinocchio, RK4 written in Python", _ratio(r, "andrews.png", "Pinocchio")),
        ("40 four-bar windows to 5e-3 J", BEST, "MuJoCo, `mj_step`, RK4", _ratio(r, "windows-40.png", "MuJoCo")),
    ]
    return [*README_HEAD, *(f"| {' | '.join(words)} | {ratio:.2f} |" for *words, ratio in lines if ratio is not None)]


HUNDRED = "accelerations and multipliers, chain of 100 links"
ABA_CALLED = "Pinocchio, a call, `pin.aba` (no multipliers)"
EXUDYN = "Exudyn, `SolveDynamic`"
BEST = "`mbd.simulate`, the fastest of its methods"


def _ratio(r: Recorded, file: str, tool: str) -> float | None:
    """Return our least CPU time over that of a tool."""
    task = r.tasks()[file]
    curves = r.curves(task)
    mine, theirs = (least(curves, name, task.study.enough) for name in (OURS, tool))
    return None if mine is None or theirs is None else mine[1] / theirs[1]


def _at_equal_error(r: Recorded) -> float | None:
    """Return the largest ratio of generalized-alpha's times at equal error on the chain."""
    curves = {curve.method.label: curve for curve in r.curves(r.tasks()["chain.png"])}
    name = "generalized-alpha"
    if f"{OURS}, {name}" not in curves or f"Exudyn, {name}" not in curves:
        return None
    ours, other = curves[f"{OURS}, {name}"], curves[f"Exudyn, {name}"]
    found = [mine / s for error, s in zip(other.errors, other.seconds, strict=True) if (mine := ours.at(error)) is not None]
    return max(found, default=None)


def diagrams(r: Recorded, folder: Path) -> list[tuple[str, str]]:
    """Draw the studies, and return the title and the file of each."""
    made = []
    for file, task in r.tasks().items():
        curves = r.curves(task)
        if any(curve.seconds for curve in curves):
            diagram.draw(task.study.title, f"bench-{file}", task.study.error, task.study.enough, curves, folder, dpi=90)
            made.append((task.study.title, f"bench-{file}"))
    return made


def main() -> None:
    """Write the page, the table of the README, and the diagram."""
    r = Recorded()
    (REPOSITORY / "docs" / "benchmarks.md").write_text(page(r))
    readme = REPOSITORY / "README.md"
    pattern = re.escape("\n".join(README_HEAD)) + r"\n(?:\|.*\n)*"
    readme.write_text(re.sub(pattern, lambda _: "\n".join(readme_table(r)) + "\n", readme.read_text()))
    for title, file in diagrams(r, PICTURE.parent):
        if file == "bench-windows-40.png":
            (PICTURE.parent / file).replace(PICTURE)
        else:
            (PICTURE.parent / file).unlink()
        print(title)


if __name__ == "__main__":
    main()
