"""A model that is too large for the memory is refused before its arrays are made."""

from __future__ import annotations

import tracemalloc

import pytest

import haugmbd as mbd
from haugmbd.gallery import chain, net, slider_crank
from haugmbd.model import memory
from joints import RJ

LARGEST_RATIO = 4.0
"""Of the estimate to the arrays of a model and one run: the estimate counts what is held for a moment, too."""


def test_a_model_too_large_is_refused_with_the_estimate(monkeypatch):
    monkeypatch.setattr(memory, "ALWAYS_THERE", 0.0)
    monkeypatch.setattr(memory, "available_memory", lambda: 20_000.0)
    with pytest.raises(mbd.UsageError, match=r"3 bodies and \d+ rows needs about [\d.e-]+ GB, and 2e-05 GB are free"):
        slider_crank().compile()


def test_a_model_whose_least_is_too_large_is_refused_before_its_joints_are_asked(monkeypatch):
    system, asked = slider_crank(), []
    monkeypatch.setattr(memory, "ALWAYS_THERE", 0.0)
    monkeypatch.setattr(memory, "available_memory", lambda: 1000.0)
    monkeypatch.setattr(type(system.joints[0]), "primitives", lambda joint: asked.append(joint) or ())
    with pytest.raises(mbd.UsageError, match=r"3 bodies and 4 joints needs at least [\d.e-]+ GB, and 1e-06 GB are free"):
        system.compile()
    assert not asked


@pytest.mark.slow
@pytest.mark.parametrize("make", [slider_crank, chain, net])
@pytest.mark.parametrize("solver", ["block LDL^T", "multifrontal", "dense"])
def test_the_least_is_less_than_the_arrays_take(make, solver, monkeypatch):
    found = []
    monkeypatch.setattr(memory, "_is_there", lambda needed: found.append(needed) or True)
    make().compile(solver=solver)
    assert 0.0 < found[0] < min(found[1:])


def test_the_estimate_covers_the_arrays(monkeypatch):
    found = []

    def kept(*arguments, **more):
        found.append(estimated(*arguments, **more))
        return found[-1]

    estimated = memory.estimated_bytes
    monkeypatch.setattr(memory, "estimated_bytes", kept)
    model = slider_crank().compile()
    held = sum(array.nbytes for array in model.pack()[:3])
    assert held < found[-1] < LARGEST_RATIO * held


def ladder(n):
    """A chain of n links, each with two joints to the next one, of which one is redundant."""
    system = mbd.System("doubled")
    before = system.ground
    for k in range(n):
        body = system.add(mbd.Body(f"b{k}", 1.0, (0.1, 0.2, 0.25), r=(k + 0.5, 0, 0)))
        for side in (0, 1):
            system.add(RJ(f"j{k}, {side}", before, body, point=(k, 0, side), axis=(0, 0, 1)))
        before = body
    return system


def hub(n):
    """A body with n spokes."""
    system = mbd.System("hub")
    center = system.add(mbd.Body("hub", 1.0, (1.0, 1.0, 1.0)))
    for k in range(n):
        body = system.add(mbd.Body(f"b{k}", 1.0, (0.1, 0.2, 0.25), r=(1, k, 0)))
        system.add(RJ(f"j{k}", center, body, point=(0, k, 0), axis=(0, 0, 1)))
    return system


FACTOR = 2.0
"""By which the estimate may be larger or smaller than the largest memory that is measured."""


@pytest.mark.slow
@pytest.mark.parametrize(("make", "small", "large"), [(chain, 20, 1000), (ladder, 20, 60), (hub, 20, 500), (net, 5, 10)])
def test_the_estimate_agrees_with_the_largest_memory_of_compiling_and_a_run(make, small, large, monkeypatch):
    def measured(size):
        system = make(size)
        tracemalloc.start()
        mbd.simulate(system.compile(), 3e-4, h=1e-4, store_every=3)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    found, estimated = [], memory.estimated_bytes
    monkeypatch.setattr(memory, "estimated_bytes", lambda *given, **more: found.append(estimated(*given, **more)) or found[-1])
    measured(small)  # loads machine code
    peak = measured(large)
    assert peak / FACTOR < found[-1] < FACTOR * peak


def test_a_system_that_does_not_tell_its_memory_refuses_nothing(monkeypatch):
    def fails(_):
        raise OSError

    monkeypatch.setattr(memory.Path, "exists", lambda _: False)
    monkeypatch.setattr(memory.os, "sysconf", fails, raising=False)
    monkeypatch.setattr(memory, "groups", lambda: ())
    assert memory.available_memory() == float("inf")


@pytest.mark.parametrize(("limit", "left"), [("3000000", 3e6 - 1e6 + 2e5), ("max", None)])
def test_the_limit_of_a_container_counts(monkeypatch, tmp_path, limit, left):
    """What it uses for files can be dropped."""
    for name, text in (("max", limit), ("current", "1000000"), ("stat", "anon 800000\ninactive_file 200000")):
        (tmp_path / f"memory.{name}").write_text(text + "\n")
    group = memory.ControlGroup(*(tmp_path / f"memory.{name}" for name in ("max", "current", "stat")), "inactive_file")
    missing = memory.ControlGroup(*3 * (tmp_path / "none",), "inactive_file")
    monkeypatch.setattr(memory, "groups", lambda: (missing, group))
    free = memory.available_memory()
    assert free == left if left else free > 1e7


def test_the_groups_of_both_versions_are_looked_at(monkeypatch):
    monkeypatch.setattr(memory.Path, "read_text", lambda _: "4:memory,pids:/user\n3:cpu:/user\n0::/\n")
    found = [str(group.limit) for group in memory.groups()]
    assert sorted(found[:2]) == ["/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/user/memory.limit_in_bytes"]
    assert found[2:] == ["/sys/fs/cgroup/memory.max"]
