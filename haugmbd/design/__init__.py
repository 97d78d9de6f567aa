"""Optima of designs, and the scatter of outputs by tolerances."""
