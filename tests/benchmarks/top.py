"""The heavy top as numbers, without the library: a disc 1 m from the spherical joint at the origin, spinning about y.

Source: Bruels and Cardona (2010); the end is that of minimal coordinates, DOP853 at 1e-13.
"""

from __future__ import annotations

import numpy as np

MASS, MOMENTS, GRAVITY, T_END = 15.0, (0.234375, 0.46875, 0.234375), 9.81, 0.5
CENTRE, OMEGA = np.array([0.0, 1.0, 0.0]), np.array([0.0, 150.0, -4.61538])
VELOCITY = np.cross(OMEGA, CENTRE)
END = np.array([-0.7024682970565845, -0.02116518470192263, -0.7114002576517354])
"""Centre of mass after T_END [m]."""
