"""Gains of Baumgarte stabilization: where they are stable, and what they leave.

stability_function   stability of Baumgarte's equation under explicit methods
gain_runs            runs with Baumgarte stabilization, stable or not
gain_drawing         the drawing of a gain map
gain_map             stability and violation over the gains
gain_limit           the largest stable gains
"""
