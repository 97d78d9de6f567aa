r"""The command `haugmbd check`: the mobility report of a mechanism.

Exit codes: 0 no faults, 1 faults or contradictions, 2 there is nothing to check.
"""

from __future__ import annotations

import argparse
from typing import Any

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.cli.answers import FAILED, OK
from haugmbd.cli.model_argument import with_model
from haugmbd.system.system import System


def run_check(arguments: argparse.Namespace) -> int:
    """Print the report, and return the exit code."""
    return with_model(arguments, _report)


def _report(system: System) -> tuple[int, dict[str, Any], str]:
    """Return exit code, data and text of the report."""
    report = mobility(system)
    data = {
        "degrees_of_freedom": report.degrees_of_freedom,
        "rows": report.rows,
        "rank": report.rank,
        "gruebler": report.gruebler,
        "consistent": report.consistent,
        "faults": [str(fault) for fault in report.faults],
        "warnings": [str(fault) for fault in report.warnings],
    }
    return OK if report.ok else FAILED, data, str(report)
