"""Motion with impacts: smooth pieces between instants at which velocities jump, contacts close, or contacts open."""

from haugmbd.hybrid.face import simulate_impacts
from haugmbd.hybrid.result import ContactHistory, Impact, ImpactResult

__all__ = ["ContactHistory", "Impact", "ImpactResult", "simulate_impacts"]
