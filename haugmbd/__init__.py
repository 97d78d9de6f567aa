"""haugmbd: define a mechanism in Python, simulate it fast, and see that it is right.

A constraint is one scalar equation between two bodies; a joint is a tuple of constraints; a model is the constraints in tables; a
kernel computes Phi_r and PiBar of each row; a formulation solves the equations of motion on those rows; an integrator advances the state;
a result stores states; reactions, energies and violations are recomputed from them in the same way for every method.
Importing this package compiles nothing, prints nothing, and loads nothing but the list of its names, `__init__.pyi`: each is imported
when it is first used.
"""

import sys

from haugmbd.public_names import PUBLIC, LazyPackage, say_what_hides_the_joints

__version__ = "0.2.0"
__all__ = ["__version__", *PUBLIC]  # noqa: PLE0604  names are strings

sys.modules[__name__].__class__ = LazyPackage
say_what_hides_the_joints()
