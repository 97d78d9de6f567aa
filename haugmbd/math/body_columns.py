"""Where the parts of a body's state start in its row of numbers: (r, p, v, omega_bar), 3 + 4 + 3 + 3."""

POSITION, EULER, VELOCITY, OMEGA_BAR, WIDTH = 0, 3, 7, 10, 13
"""r, p, v and omega_bar; WIDTH is the length of the row. Velocities u = (v, omega_bar) are the columns from VELOCITY on."""

PARTS = ((POSITION, EULER), (EULER, VELOCITY), (VELOCITY, OMEGA_BAR), (OMEGA_BAR, WIDTH))
"""First and end columns of r, p, v and omega_bar."""
