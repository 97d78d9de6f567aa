"""Sections of `make bench`: calls from Python, the first start and all later ones, large models."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from haugmbd.model.memory import available_memory
from tests.benchmarks import meshes, record
from tests.benchmarks.ours_calls import CALLS
from tests.benchmarks.turns import best, in_turn, median, verdict
from tests.benchmarks.worker import ONE_THREAD, REPOSITORY, Worker

BARS = {"accelerations": 15.0, "evaluate": 15.0, "evaluator": 5.0, "impulse": 60.0, "simulate, one step": 500.0, "compile": 2000.0}
"""[us]"""
SHAPES = (("slider-crank", 3), ("chain", 10))
REPEATS = 7
TIME = "import time; import atexit; atexit.register(lambda: print(time.process_time())); "
FOUR_BAR = "from haugmbd.gallery import four_bar; import haugmbd as mbd; mbd.simulate(four_bar(), 0.1, h=1e-3{more})"
"""The process prints the CPU time of all that it did; the gallery's four-bar has the joints RJ, SJ and CJ, as that of the README."""
STARTS = {
    "import haugmbd, warm": ("import haugmbd", True, 0.4),
    "first result of a script, warm": (FOUR_BAR.format(more=""), True, 0.8),
    "first result of a script, empty cache": (FOUR_BAR.format(more=""), False, 6.0),
    "the same, generalized-alpha": (FOUR_BAR.format(more=", integrator=mbd.GeneralizedAlpha()"), False, None),
    "the same, energy projection": (FOUR_BAR.format(more=", stabilization=mbd.EnergyProjection()"), False, None),
}


def from_python(repeats: int = REPEATS) -> None:
    """Single calls."""
    worker = Worker("ours_calls", sys.executable, "haugmbd")
    print("\nOne call from Python [us], checks included; `evaluator` is the object that Model.evaluator() returns:")
    print(f"{'':>22} {'slider-crank':>14} {'chain of 10':>14}")
    for what in CALLS:
        asks = {shape: lambda shape=shape, n=n, what=what: worker.ask("call", shape=shape, n=n, what=what) for shape, n in SHAPES}
        answers = in_turn(asks, repeats)
        times = [best(answers[shape]) for shape, _ in SHAPES]
        print(f"{what:>22} {times[0]:>14.1f} {times[1]:>14.1f}   {verdict(max(times), BARS[what])}")
    worker.close()


def starts(repeats: int = 3) -> None:
    """Processes from their start: with an empty cache, and with a full one."""
    print("\nCPU time of a whole process, from its start [s]: minimum and median")
    for name, (program, warm, bar) in STARTS.items():
        answers = [{"seconds": _seconds(program, warm)} for _ in range(repeats + warm)][warm:]
        for answer in answers:
            record.keep("haugmbd", "start", {"what": name}, answer)
        least = best(answers, "seconds")
        print(f"{name:>42} {least:>7.2f} {median(answers, 'seconds'):>7.2f}   {'' if bar is None else verdict(least, bar)}")


def _seconds(program: str, warm: bool) -> float:
    """CPU time [s] of a process, with the usual cache or with an empty one."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, **ONE_THREAD, "HAUGMBD_QUIET": "1"} | ({} if warm else {"NUMBA_CACHE_DIR": folder})
        command = [sys.executable, "-c", TIME + program]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY, env=env)
    return float(done.stdout.split()[-1])


def memories() -> None:
    """Nets and trusses: the memory that a model and a step take, each in a process of its own."""
    print("\nMemory that a net or truss takes, compiled, with one step of RK4 [GB]")
    for kind, shapes, _, _ in meshes.CASES:
        for shape in shapes:
            worker = Worker("ours_calls", sys.executable, "haugmbd")
            found = worker.ask("room", kind=kind, shape=list(shape))
            worker.close()
            print(f"{kind:>16} {' x '.join(map(str, shape)):>12} {found['rows']:>6} rows {found['gigabytes']:>7.3f}", flush=True)


LENGTHS, STEPS = (20_000, 100_000, 1_000_000), 10
WITH_MOBILITY = (3_000, 30_000, 100_000)
BYTES_A_LINK = 10_000.0
"""More than a link takes."""
COMPILE_US, STEP_US, KILOBYTES, MOBILITY = 30.0, 1.5, 6.0, 3.0
"""Bars: [us] a link to compile and to step, [kB] a link with interpreter and machine code, and mobility / compile."""


def large(sizes: tuple[int, ...] = LENGTHS) -> None:
    """Chains of many links; each in a process of its own, so that its memory is its own."""
    print(
        "\nLong chains: CPU time to build and to compile [s]; RK4 with projection: what the first run and a later one do once, and a"
    )
    print("step [us a link]; memory of the process [GB]")
    print(f"{'links':>9} {'build':>8} {'compile':>8} {'first':>6} {'later':>6} {'step':>6} {'memory':>7}")
    for n in sizes:
        if available_memory() < BYTES_A_LINK * n:
            print(f"{n:>9} left out: it may need {1e-9 * BYTES_A_LINK * n:.0f} GB")
            continue
        worker = Worker("ours_calls", sys.executable, "haugmbd")
        found = worker.ask("large", n=n, steps=STEPS)
        worker.close()
        compiled, kilobytes = found["compile"] / n * 1e6, found["gigabytes"] / n * 1e6
        text = f"{n:>9} {found['build']:>8.1f} {found['compile']:>8.1f} {found['first']:>6.2f} {found['start']:>6.2f}"
        text += f" {found['us']:>6.2f} {found['gigabytes']:>7.2f}"
        text += f"   compile: {compiled:.1f} us a link, {verdict(compiled, COMPILE_US)}; step: {verdict(found['us'], STEP_US)}"
        print(text + (f"; {kilobytes:.2f} kB a link: {verdict(kilobytes, KILOBYTES)}" if n == max(LENGTHS) else ""), flush=True)
    for n in WITH_MOBILITY if sizes == LENGTHS else ():
        worker = Worker("ours_calls", sys.executable, "haugmbd")
        found = worker.ask("mobility", n=n)
        worker.close()
        ratio = found["mobility"] / found["compile"]
        print(f"{n:>9} links: mobility takes {ratio:.2f} times as long as compile: {verdict(ratio, MOBILITY)}", flush=True)
