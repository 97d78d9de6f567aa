"""An attack on every method: random mechanisms with random methods, each run held against a converged reference.

    python -m tests.support.attack --seed 1 --cases 2000 [--first 0] [--only 137] [--family windows]

mechanism   a mechanism and its reference
windows     four-bar windows beside, at and through their singular pose
families    all families of mechanisms
methods     formulation, integrator, stabilization, step or tolerance
verdicts    what a run is called
cases       mechanism, method and verdict of every number
__main__    the command: findings, progress, and the count
"""
