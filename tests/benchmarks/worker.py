r"""One process for each tool: it keeps its models, and answers one measurement at a time, so that they can take turns (A B A B ...).

A request is a line of JSON, {"task": name, ...arguments}; so is the answer.  Threads are limited to one before anything is loaded.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks import record

REPOSITORY = Path(__file__).resolve().parents[2]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def serve(**tasks: Callable[..., dict[str, Any]]) -> None:
    """Answer requests until the input ends; what the tools themselves print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        answer = tasks[request.pop("task")](**request)
        print(json.dumps(answer), file=answers, flush=True)


class Worker:
    """The parent's end of one such process; `missing` where the tool is not installed."""

    def __init__(self, module: str, python: str, needs: str, **environment: str) -> None:
        self.missing = subprocess.run([python, "-c", f"import {needs}"], capture_output=True, cwd=REPOSITORY).returncode != 0
        self._tool = module
        command = [python, "-m", f"tests.benchmarks.{module}"]
        env = {**os.environ, **ONE_THREAD, **environment}
        self._process = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-3, text=True, cwd=REPOSITORY, env=env)

    def ask(self, task: str, **arguments: Any) -> dict[str, Any]:
        """One measurement."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"task": task, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        while line and not line.startswith("{"):  # some tools greet on standard output when they are imported
            line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended in the middle of {task} {arguments}")
        answer: dict[str, Any] = json.loads(line)
        record.keep(self._tool, task, arguments, answer)
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
