"""Studies of methods: one mechanism through many methods, measured in the same way.

method          a formulation, an integrator and a stabilization, with a label
error_groups    errors of a result against a reference: positions, orientations, velocities, multipliers, reactions, energy, outputs
"""
